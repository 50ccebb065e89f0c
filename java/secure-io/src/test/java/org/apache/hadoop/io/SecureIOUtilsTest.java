package org.apache.hadoop.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SecureIOUtilsTest {
  @TempDir Path directory;

  private File file(String content) throws IOException {
    return Files.write(directory.resolve("file"), content.getBytes()).toFile();
  }

  @Test
  void whatIsOursIsOpenedWhomeverTheJobBelongsTo() throws IOException {
    File file = file("content");
    assertThat(SecureIOUtils.openForRandomRead(file, "r", "another", null))
        .satisfies(one -> assertThat(one.length()).isEqualTo(7));
    assertThat(SecureIOUtils.openForRead(file, "another", null)).hasContent("content");
    assertThat(SecureIOUtils.openFSDataInputStream(file, "another", null)).hasContent("content");
  }

  @Test
  void linksAreRefused() throws IOException {
    File file = file("secret");
    File link = Files.createSymbolicLink(directory.resolve("link"), file.toPath()).toFile();
    assertThatThrownBy(() -> SecureIOUtils.openForRandomRead(link, "r", null, null))
        .hasMessageContaining("is a link");
    assertThatThrownBy(() -> SecureIOUtils.openForRead(link, null, null))
        .hasMessageContaining("is a link");
    assertThatThrownBy(() -> SecureIOUtils.openFSDataInputStream(link, null, null))
        .hasMessageContaining("is a link");
  }

  @Test
  void filesOfAnotherUserAreRefused() throws IOException {
    assumeTrue(System.getProperty("user.name").equals("root"), "only root gives files away");
    File file = file("of another");
    Files.setAttribute(file.toPath(), "unix:uid", 12345);
    assertThatThrownBy(() -> SecureIOUtils.openForRead(file, null, null))
        .hasMessageContaining("belongs to another user: 12345");
  }

  @Test
  void newFilesAreNewAndHaveTheirPermissions() throws IOException {
    File file = directory.resolve("new").toFile();
    try (FileOutputStream out = SecureIOUtils.createForWrite(file, 0640)) {
      out.write(1);
    }
    assertThat(Files.getPosixFilePermissions(file.toPath()))
        .isEqualTo(PosixFilePermissions.fromString("rw-r-----"));
    assertThatThrownBy(() -> SecureIOUtils.createForWrite(file, 0640))
        .isInstanceOf(SecureIOUtils.AlreadyExistsException.class);
  }

  /** A release in which it has more would fail in the middle of a job. */
  @Test
  void itHasAllThatHadoopsClassHas() throws Exception {
    URL hadoop = Configuration.class.getProtectionDomain().getCodeSource().getLocation();
    ClassLoader rest = getClass().getClassLoader();
    ClassLoader first =
        new URLClassLoader(new URL[] {hadoop}, rest) {
          @Override
          protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            return name.startsWith(SecureIOUtils.class.getName())
                ? findClass(name)
                : super.loadClass(name, resolve);
          }
        };
    Class<?> theirs = Class.forName(SecureIOUtils.class.getName(), false, first);
    assertThat(theirs).isNotSameAs(SecureIOUtils.class);
    assertThat(methods(SecureIOUtils.class)).containsAll(methods(theirs));
  }

  private static Set<String> methods(Class<?> type) {
    Set<String> found = new TreeSet<>();
    for (Method method : type.getDeclaredMethods()) {
      if (Modifier.isPublic(method.getModifiers())) {
        found.add(
            method.getName()
                + Arrays.toString(method.getParameterTypes())
                + method.getReturnType());
      }
    }
    return found;
  }
}
