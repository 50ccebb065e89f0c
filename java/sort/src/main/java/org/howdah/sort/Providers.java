package org.howdah.sort;

import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Function;

/** What others' jars on the class path of the task provide. */
public final class Providers {
  private Providers() {}

  /** One of them cannot be loaded, or fails. Not an error: Hadoop's own classes do without. */
  public static final class Broken extends RuntimeException {
    private static final long serialVersionUID = 1;

    Broken(Class<?> type, Throwable cause) {
      super("a provider of " + type.getSimpleName() + " is broken: " + cause, cause);
    }
  }

  /**
   * The first answer of a {@code type}, or null where none has one. Throws {@link Broken} where one
   * of those that were to be asked is.
   */
  static <P, A> A ask(Class<P> type, Function<P, A> question) {
    try {
      for (P provider : ServiceLoader.load(type)) {
        A answer = question.apply(provider);
        if (answer != null) {
          return answer;
        }
      }
      return null;
    } catch (ServiceConfigurationError | LinkageError | RuntimeException failure) {
      throw new Broken(type, failure);
    }
  }
}
