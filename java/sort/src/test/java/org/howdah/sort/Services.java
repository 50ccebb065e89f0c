package org.howdah.sort;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;

/** A jar that names a provider, on the class path of this thread and of those that it starts. */
final class Services implements AutoCloseable {
  private final ClassLoader usual = Thread.currentThread().getContextClassLoader();
  private final URLClassLoader withProvider;

  /** {@code directory} becomes the jar. */
  Services(Path directory, Class<?> type, String provider) throws IOException {
    Path services = Files.createDirectories(directory.resolve("META-INF/services"));
    Files.write(services.resolve(type.getName()), Collections.singletonList(provider));
    withProvider = new URLClassLoader(new URL[] {directory.toUri().toURL()}, usual);
    Thread.currentThread().setContextClassLoader(withProvider);
  }

  @Override
  public void close() throws IOException {
    Thread.currentThread().setContextClassLoader(usual);
    withProvider.close();
  }
}
