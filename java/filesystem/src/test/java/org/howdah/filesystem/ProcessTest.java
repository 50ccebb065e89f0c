package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.test.GenericTestUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** What the process that uses the file system is and has: its user, its libraries. */
class ProcessTest {
  @TempDir Path root;

  // Promise (how-to/filesystem): Without Kerberos, another Hadoop user is logged once
  @Test
  void anotherHadoopUserIsToldOfOnce() throws Exception {
    GenericTestUtils.LogCapturer log =
        GenericTestUtils.LogCapturer.captureLogs(LoggerFactory.getLogger(MountedBase.class));
    try {
      asAnn().close();
      asAnn().close();
    } finally {
      log.stopCapturing();
    }
    assertThat(log.getOutput())
        .containsOnlyOnce(
            "posixfs acts with the rights of this process's user, "
                + System.getProperty("user.name")
                + ", not of the Hadoop user ann");
  }

  // Promise (how-to/filesystem): Under Kerberos, a Hadoop user of another name is refused
  @Test
  void whereKerberosProvesTheNameAnotherUserIsRefused() {
    System.setProperty("java.security.krb5.realm", "EXAMPLE.COM");
    System.setProperty("java.security.krb5.kdc", "localhost");
    Configuration secure = new Configuration();
    secure.set("hadoop.security.authentication", "kerberos");
    UserGroupInformation.setConfiguration(secure);
    try {
      assertThatThrownBy(this::asAnn)
          .isInstanceOf(AccessControlException.class)
          .hasMessageContaining("not of the Hadoop user ann; run the process as ann");
    } finally {
      UserGroupInformation.setConfiguration(new Configuration());
      System.clearProperty("java.security.krb5.realm");
      System.clearProperty("java.security.krb5.kdc");
    }
  }

  private FileSystem asAnn() throws IOException, InterruptedException {
    PrivilegedExceptionAction<FileSystem> opened = () -> TemporaryMount.open(root);
    return UserGroupInformation.createRemoteUser("ann").doAs(opened);
  }

  // Promise (how-to/filesystem): Without JNA, what needs it is absent, and `hasPathCapability` says
  // so
  @Test
  void withoutJnaWhatNeedsItIsAbsentAndTheRestIsThere() throws Exception {
    List<URL> jars = new ArrayList<>();
    for (String jar : System.getProperty("java.class.path").split(File.pathSeparator)) {
      if (!new File(jar).getName().startsWith("jna-")) {
        jars.add(new File(jar).toURI().toURL());
      }
    }
    ClassLoader platform = ClassLoader.getSystemClassLoader().getParent();
    Thread thread = Thread.currentThread();
    ClassLoader usual = thread.getContextClassLoader();
    // Not closed: a hook of Hadoop's at the end of the JVM comes from it.
    ClassLoader without = new URLClassLoader(jars.toArray(new URL[0]), platform);
    try {
      thread.setContextClassLoader(without);
      Class<?> here = without.loadClass(WithoutJna.class.getName());
      here.getMethod("look", Path.class).invoke(null, root);
    } finally {
      thread.setContextClassLoader(usual);
    }
    assertThat(Native.get()).as("this class path has it").isNotNull();
  }

  /** Loaded anew, so that nothing of it is shared with the classes of the other tests. */
  public static final class WithoutJna {
    private WithoutJna() {}

    public static void look(Path root) throws IOException {
      assertThat(Native.get()).isNull();
      GenericTestUtils.LogCapturer log =
          GenericTestUtils.LogCapturer.captureLogs(LoggerFactory.getLogger(MountedBase.class));
      FileSystem files =
          TemporaryMount.open(
              root, "rename.native", "true", "preallocate", "1m", "checksum", "true");
      log.stopCapturing();
      assertThat(log.getOutput())
          .containsOnlyOnce("fs.posixfs.preallocate and fs.posixfs.rename.native need JNA");
      org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path("/file");
      org.apache.hadoop.fs.Path other = new org.apache.hadoop.fs.Path("/other");
      files.create(file).close();
      files.create(other).close();
      assertThat(files.rename(file, other)).isFalse();
      assertThat(files.rename(file, new org.apache.hadoop.fs.Path("/renamed"))).isTrue();
      assertThat(Files.exists(root.resolve("renamed"))).isTrue();
      assertThat(files.getFileStatus(other).getOwner()).isEqualTo(System.getProperty("user.name"));
      assertThat(files.getFileStatus(other).hasAcl()).isFalse();
      assertThat(files.hasPathCapability(other, CommonPathCapabilities.FS_ACLS)).isFalse();
      for (String one : StatusTest.NEED_JNA) {
        assertThat(files.hasPathCapability(other, "fs.posixfs." + one)).as(one).isFalse();
      }
      assertThatThrownBy(() -> files.setAcl(other, Collections.emptyList()))
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining("need JNA");
      assertThatThrownBy(() -> files.getXAttr(other, "trusted.colour"))
          .hasMessageContaining("without JNA");
    }
  }
}
