package org.howdah.sort;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Jars that name providers, on the class path of a test's thread and of those that it starts. */
final class Services implements AfterEachCallback {
  private final ClassLoader usual = Thread.currentThread().getContextClassLoader();
  private URLClassLoader withProvider;

  /** {@code directory} becomes the jar. */
  void provide(Path directory, Class<?> type, String provider) throws IOException {
    Path services = Files.createDirectories(directory.resolve("META-INF/services"));
    Files.write(services.resolve(type.getName()), Collections.singletonList(provider));
    withProvider = new URLClassLoader(new URL[] {directory.toUri().toURL()}, usual);
    Thread.currentThread().setContextClassLoader(withProvider);
  }

  @Override
  public void afterEach(ExtensionContext context) throws IOException {
    Thread.currentThread().setContextClassLoader(usual);
    if (withProvider != null) {
      withProvider.close();
    }
  }
}
