package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MountTest {
  @TempDir Path base;
  private Path root;
  private Path outside;

  @BeforeEach
  void make() throws IOException {
    root = Files.createDirectory(base.resolve("root"));
    outside = Files.createDirectory(base.resolve("outside"));
    Files.write(outside.resolve("secret"), "secret".getBytes(StandardCharsets.UTF_8));
  }

  // Promise (how-to/filesystem): No path leads above the root
  @Test
  void noPathLeadsAboveTheRoot() throws IOException {
    FileSystem files = TemporaryMount.open(root);
    for (String path : new String[] {"/../outside/secret", "/a/../../outside/secret"}) {
      org.apache.hadoop.fs.Path up = new org.apache.hadoop.fs.Path(path);
      assertThatThrownBy(() -> files.open(up))
          .isInstanceOf(PathIOException.class)
          .hasMessageContaining("above the root");
      assertThatThrownBy(() -> files.delete(up, true)).isInstanceOf(PathIOException.class);
    }
    assertThat(outside.resolve("secret")).exists();
  }

  @Test
  void homesAreWhereHdfsHasThem() throws IOException {
    String user = UserGroupInformation.getCurrentUser().getShortUserName();
    assertThat(TemporaryMount.open(root).getHomeDirectory()).hasToString("posixfs:/user/" + user);
    Configuration conf = TemporaryMount.configured(root);
    conf.set("dfs.user.home.dir.prefix", "/run/home");
    FileSystem files = FileSystem.newInstance(URI.create("posixfs:///"), conf);
    assertThat(files.getHomeDirectory()).hasToString("posixfs:/run/home/" + user);
    files.create(new org.apache.hadoop.fs.Path("grep-temp-1")).close();
    assertThat(root.resolve("run/home").resolve(user).resolve("grep-temp-1")).exists();
  }

  // Promise (how-to/filesystem): No symbolic link that leads out of the root is followed
  @Test
  void noLinkLeadsOut() throws IOException {
    FileSystem files = TemporaryMount.open(root);
    Files.createSymbolicLink(root.resolve("way"), outside);
    Files.createSymbolicLink(root.resolve("file"), outside.resolve("secret"));
    Files.createSymbolicLink(root.resolve("new"), outside.resolve("new"));
    org.apache.hadoop.fs.Path through = new org.apache.hadoop.fs.Path("/way/secret");
    org.apache.hadoop.fs.Path direct = new org.apache.hadoop.fs.Path("/file");

    for (org.apache.hadoop.fs.Path path : new org.apache.hadoop.fs.Path[] {through, direct}) {
      assertThatThrownBy(() -> files.open(path)).isInstanceOf(AccessControlException.class);
      assertThatThrownBy(() -> files.append(path)).isInstanceOf(AccessControlException.class);
      assertThatThrownBy(() -> files.create(path, true)).isInstanceOf(AccessControlException.class);
      assertThatThrownBy(() -> files.getFileStatus(path))
          .isInstanceOf(AccessControlException.class);
      assertThatThrownBy(() -> files.setTimes(path, 0, 0))
          .isInstanceOf(AccessControlException.class);
    }
    assertThatThrownBy(() -> files.mkdirs(new org.apache.hadoop.fs.Path("/way/made")))
        .isInstanceOf(AccessControlException.class);
    assertThatThrownBy(() -> files.rename(direct, new org.apache.hadoop.fs.Path("/way/moved")))
        .isInstanceOf(AccessControlException.class);
    assertThatThrownBy(() -> files.create(new org.apache.hadoop.fs.Path("/new"), true))
        .isInstanceOf(IOException.class);
    assertThat(outside.toFile().list()).containsExactly("secret");
  }

  @Test
  void noLinkLeadsToADirectoryWhoseNameBeginsWithTheRoots() throws IOException {
    Path other = Files.createDirectory(base.resolve("root-of-others"));
    Files.write(other.resolve("secret"), "secret".getBytes(StandardCharsets.UTF_8));
    Files.createSymbolicLink(root.resolve("way"), other);
    FileSystem files = TemporaryMount.open(root);
    assertThatThrownBy(() -> files.open(new org.apache.hadoop.fs.Path("/way/secret")))
        .isInstanceOf(AccessControlException.class);
  }

  @Test
  void aDirectoryInWhosePlaceALinkIsLeadsOutForStatusesOfAMomentAlone() throws Exception {
    FileSystem files = TemporaryMount.open(root);
    org.apache.hadoop.fs.Path name = new org.apache.hadoop.fs.Path("/way/secret");
    files.create(name).close();
    assertThat(files.getFileStatus(name).getLen()).isZero();
    Files.delete(root.resolve("way/secret"));
    Files.delete(root.resolve("way"));
    Files.createSymbolicLink(root.resolve("way"), outside);

    assertThatThrownBy(() -> files.open(name)).isInstanceOf(AccessControlException.class);
    assertThatThrownBy(() -> files.delete(name, false)).isInstanceOf(AccessControlException.class);
    Thread.sleep(25);
    assertThatThrownBy(() -> files.getFileStatus(name)).isInstanceOf(AccessControlException.class);
  }

  // Promise (how-to/filesystem): No symbolic link that leads out of the root is followed
  @Test
  void nothingIsRenamedIntoADirectoryOutside() throws IOException {
    FileSystem files = TemporaryMount.open(root);
    Files.createSymbolicLink(root.resolve("way"), outside);
    files.create(new org.apache.hadoop.fs.Path("/a")).close();

    assertThatThrownBy(
            () ->
                files.rename(
                    new org.apache.hadoop.fs.Path("/a"), new org.apache.hadoop.fs.Path("/way")))
        .isInstanceOf(AccessControlException.class);
    assertThat(root.resolve("a")).exists();
  }

  // Promise (how-to/filesystem): A link that leads out is listed and deleted as itself
  @Test
  void aLinkThatLeadsOutIsListedAndDeletedAsItself() throws IOException {
    FileSystem files = TemporaryMount.open(root);
    Files.createSymbolicLink(root.resolve("way"), outside);

    FileStatus[] found = files.listStatus(new org.apache.hadoop.fs.Path("/"));

    assertThat(found).hasSize(1);
    assertThat(found[0].isSymlink()).isTrue();
    assertThat(files.delete(found[0].getPath(), true)).isTrue();
    assertThat(outside.resolve("secret")).exists();
  }

  @Test
  void whatLeadsNowhereHasPlacesAllTheSame() throws IOException {
    FileSystem files = TemporaryMount.open(root);
    Files.createSymbolicLink(root.resolve("way"), root.resolve("nowhere"));
    RemoteIterator<LocatedFileStatus> found =
        files.listLocatedStatus(new org.apache.hadoop.fs.Path("/"));
    assertThat(found.next().getBlockLocations()).isNotEmpty();
  }

  // Promise (how-to/filesystem): No symbolic link that leads out of the root is followed
  @Test
  void deletingATreeLeavesWhatItsLinksLeadTo() throws IOException {
    FileSystem files = TemporaryMount.open(root);
    Files.createDirectories(root.resolve("tree/deep"));
    Files.createSymbolicLink(root.resolve("tree/deep/way"), outside);
    Files.write(root.resolve("tree/file"), new byte[1]);

    assertThat(files.delete(new org.apache.hadoop.fs.Path("/tree"), true)).isTrue();

    assertThat(root.resolve("tree")).doesNotExist();
    assertThat(outside.resolve("secret")).exists();
  }

  @Test
  void linksInsideAreFollowed() throws IOException {
    FileSystem files = TemporaryMount.open(root);
    Files.createDirectory(root.resolve("real"));
    Files.write(root.resolve("real/file"), new byte[5]);
    Files.createSymbolicLink(root.resolve("link"), root.resolve("real"));

    assertThat(files.getFileStatus(new org.apache.hadoop.fs.Path("/link/file")).getLen())
        .isEqualTo(5);
    assertThat(files.listStatus(new org.apache.hadoop.fs.Path("/")))
        .allMatch(FileStatus::isDirectory);
  }

  @Test
  void whereNothingIsMountedAMountIsRefusedWhenOneIsRequired() {
    assertThatThrownBy(() -> TemporaryMount.open(root, "mount.required", "true"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(root.toString())
        .hasMessageContaining("fs.posixfs.mount.required");
  }

  @Test
  void ofTheMachinesOwnRootNoMountCanBeRequired() {
    assertThatThrownBy(() -> TemporaryMount.open(base.getRoot(), "mount.required", "true").getUri())
        .hasMessageContaining("fs.posixfs.mount.required");
  }

  // Promise (how-to/filesystem): The root is never made
  @Test
  void aRootThatIsGoneIsNotMadeAgain() throws IOException {
    FileSystem files = TemporaryMount.open(root);
    Files.delete(root);

    assertThatThrownBy(() -> files.mkdirs(new org.apache.hadoop.fs.Path("/a/b")))
        .hasMessageContaining("cannot be reached");
    assertThatThrownBy(() -> files.create(new org.apache.hadoop.fs.Path("/a")))
        .hasMessageContaining("cannot be reached");
    assertThat(root).doesNotExist();
  }

  // Promise (how-to/filesystem): The root is never made
  @Test
  void aRootThatIsNotThereIsAnError() {
    assertThatThrownBy(() -> TemporaryMount.open(base.resolve("none")))
        .isInstanceOf(FileNotFoundException.class)
        .hasMessageContaining(base.resolve("none").toString());
  }

  // Promise (how-to/filesystem): `lustrefs:` needs a mounted file system
  @Test
  void lustrefsNeedsARootAndAMount() {
    Configuration conf = new Configuration();
    conf.set("fs.lustrefs.impl", LustreFileSystem.class.getName());
    assertThatThrownBy(() -> FileSystem.newInstance(URI.create("lustrefs:///"), conf))
        .hasMessageContaining("fs.lustrefs.mount is not set");

    conf.set("fs.lustrefs.mount", root.toString());
    assertThatThrownBy(() -> FileSystem.newInstance(URI.create("lustrefs:///"), conf))
        .hasMessageContaining("no file system is mounted there");
  }

  @Test
  void anAuthorityNamesAnotherRoot() throws IOException {
    Configuration conf = TemporaryMount.configured(root);
    conf.set("fs.posixfs.mount.scratch", outside.toString());
    FileSystem scratch = FileSystem.newInstance(URI.create("posixfs://scratch/"), conf);

    FileStatus secret = scratch.getFileStatus(new org.apache.hadoop.fs.Path("/secret"));

    assertThat(secret.getPath()).hasToString("posixfs://scratch/secret");
    assertThatThrownBy(() -> FileSystem.newInstance(URI.create("posixfs://other/"), conf))
        .hasMessageContaining("fs.posixfs.mount.other is not set");
  }

  @Test
  void wrongKeysAndValuesAreErrors() {
    assertThatThrownBy(() -> TemporaryMount.open(root, "bufer.size", "1m"))
        .hasMessageContaining("fs.posixfs.bufer.size")
        .hasMessageContaining("buffer.size");
    assertThatThrownBy(() -> TemporaryMount.open(root, "buffer.size", "1"))
        .hasMessageContaining("at least 4096");
    assertThatThrownBy(() -> TemporaryMount.open(root, "buffer.size", "large"))
        .hasMessageContaining("large");
    assertThatThrownBy(() -> TemporaryMount.open(root, "checksum", "yes"))
        .hasMessageContaining("true or false");
    assertThatThrownBy(() -> TemporaryMount.open(root, "mount.requird", "true"))
        .hasMessageContaining("fs.posixfs.mount.requird")
        .hasMessageContaining("nor an absolute path")
        .hasMessageContaining("mount.required");
    assertThatThrownBy(() -> TemporaryMount.open(root, "mount.type", "lustre"))
        .hasMessageContaining("demands lustre");
  }

  @Test
  void ofSeveralMountsTheDeepestAndLastHasTheType() {
    MountTable table =
        new MountTable(
            Arrays.asList(
                "22 1 0:21 / / rw shared:1 - ext4 /dev/vda rw",
                "23 22 0:22 / /data rw - xfs /dev/vdb rw",
                "24 23 0:23 / /data/auto rw - autofs systemd-1 rw",
                "25 24 0:24 / /data/auto rw shared:2 master:1 - lustre mgs@tcp:/one rw",
                "26 22 0:25 / /a\\040b\\134c rw - nfs4 server:/a rw"));
    assertThat(table.type(Paths.get("/data/auto/x"))).isEqualTo("lustre");
    assertThat(table.type(Paths.get("/data/automatic"))).isEqualTo("xfs");
    assertThat(table.type(Paths.get("/a b\\c"))).isEqualTo("nfs4");
    assertThat(table.type(Paths.get("/else"))).isEqualTo("ext4");
    assertThat(new MountTable(Arrays.asList("", "cut")).type(Paths.get("/"))).isNull();
  }

  // Promise (how-to/filesystem): On Lustre, CephFS and GPFS, `close` waits until the file is on the
  // storage
  @Test
  void closingWaitsForTheStorageWhereClientsKeepWhatIsClosed() {
    Configuration conf = new Configuration(false);
    for (String scheme : new String[] {"posixfs", "lustrefs"}) {
      Settings unset = new Settings(scheme, conf);
      for (String type : new String[] {"lustre", "ceph", "fuse.ceph-fuse", "gpfs"}) {
        assertThat(unset.syncOnClose(type)).as(type).isTrue();
      }
      for (String type : new String[] {"ext4", "xfs", "tmpfs", "nfs4", "beegfs", "fuse.mfs"}) {
        assertThat(unset.syncOnClose(type)).as(type).isFalse();
      }
      conf.set("fs." + scheme + ".sync.on.close", "false");
      assertThat(new Settings(scheme, conf).syncOnClose("lustre")).isFalse();
      conf.set("fs." + scheme + ".sync.on.close", "true");
      assertThat(new Settings(scheme, conf).syncOnClose("ext4")).isTrue();
    }
    assertThatThrownBy(() -> TemporaryMount.open(root, "sync.on.close", "always"))
        .hasMessageContaining("true or false");
  }

  /** What the automounter makes: itself, and on it what was asked for. Only root can try it. */
  @Test
  void ofTwoMountsAtOnePlaceTheUpperOneIsMeant() throws Exception {
    Assumptions.assumeTrue(
        run("mount", "-t", "tmpfs", "howdah-test", root.toString()) == 0, "not allowed to mount");
    try {
      assertThat(run("mount", "-t", "ramfs", "howdah-test", root.toString())).isZero();
      try {
        TemporaryMount.open(root, "mount.required", "true", "mount.type", "ramfs").close();
      } finally {
        run("umount", root.toString());
      }
    } finally {
      run("umount", root.toString());
    }
  }

  /**
   * The disk below the mount point must not take what was meant for the mount. Only root can try
   * it.
   */
  // Promise (how-to/filesystem): When the mount is lost, nothing is written to the disk below it
  @Test
  void whenTheMountIsLostNothingIsWrittenToTheDiskBelowIt() throws Exception {
    Assumptions.assumeTrue(
        run("mount", "-t", "tmpfs", "howdah-test", root.toString()) == 0, "not allowed to mount");
    FileSystem files;
    org.apache.hadoop.fs.FSDataOutputStream open;
    try {
      files = TemporaryMount.open(root, "mount.required", "true", "mount.type", "tmpfs");
      files.create(new org.apache.hadoop.fs.Path("/before")).close();
      open = files.create(new org.apache.hadoop.fs.Path("/open"));
    } finally {
      run("umount", "-l", root.toString());
    }
    for (String path : new String[] {"/after", "/new/after"}) {
      org.apache.hadoop.fs.Path after = new org.apache.hadoop.fs.Path(path);
      assertThatThrownBy(() -> files.create(after)).hasMessageContaining("no longer is");
      assertThatThrownBy(() -> files.mkdirs(after)).hasMessageContaining("no longer is");
    }
    org.apache.hadoop.fs.Path before = new org.apache.hadoop.fs.Path("/before");
    org.apache.hadoop.fs.Path top = new org.apache.hadoop.fs.Path("/");
    assertThatThrownBy(() -> files.open(before)).hasMessageContaining("no longer is");
    assertThatThrownBy(() -> files.listStatus(top)).hasMessageContaining("no longer is");
    assertThatThrownBy(() -> files.listStatusIterator(top)).hasMessageContaining("no longer is");
    assertThatThrownBy(() -> files.exists(before)).hasMessageContaining("no longer is");
    assertThatThrownBy(() -> files.getStatus(top)).hasMessageContaining("no longer is");
    assertThatThrownBy(() -> files.delete(before, true)).hasMessageContaining("no longer is");
    assertThatThrownBy(() -> files.setTimes(before, 0, 0)).hasMessageContaining("no longer is");
    assertThatThrownBy(() -> files.rename(before, new org.apache.hadoop.fs.Path("/after")))
        .hasMessageContaining("no longer is");
    open.close();
    assertThat(root.toFile().list()).isEmpty();
  }

  /** As after a failed boot of a storage: something is mounted there, but not what is meant. */
  // Promise (how-to/filesystem): Nothing is written to a mount of another type in the place of the
  // first
  @Test
  void nothingIsWrittenToAMountOfAnotherTypeThatTookItsPlace() throws Exception {
    Assumptions.assumeTrue(
        run("mount", "-t", "tmpfs", "howdah-test", root.toString()) == 0, "not allowed to mount");
    FileSystem files;
    org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path("/file");
    try {
      files = TemporaryMount.open(root, "mount.required", "true", "mount.type", "tmpfs");
    } finally {
      run("umount", root.toString());
    }
    for (String type : new String[] {"ramfs", "tmpfs", "ramfs"}) {
      assertThat(run("mount", "-t", type, "howdah-test", root.toString())).isZero();
      try {
        if (type.equals("tmpfs")) {
          files.create(path).close();
          assertThat(files.exists(path)).isTrue();
        } else {
          assertThatThrownBy(() -> files.create(path)).hasMessageContaining("demands tmpfs");
          assertThat(root.toFile().list()).isEmpty();
        }
      } finally {
        // A file that should not have been made is open there.
        run("umount", "-l", root.toString());
      }
    }
  }

  /** A file system of 1 MiB that is full. Only root can make one. */
  // Promise (how-to/filesystem): A full disk is an exception of its own, with operation and path
  @Test
  void aFullDiskIsSaidWithPathAndOperationAndLeavesNoAtomicFile() throws Exception {
    Assumptions.assumeTrue(
        run("mount", "-t", "tmpfs", "-o", "size=1m", "howdah-test", root.toString()) == 0,
        "not allowed to mount");
    try {
      FileSystem files = TemporaryMount.open(root, "create.atomic", "true");
      org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path("/large");
      assertThatThrownBy(
              () -> {
                try (org.apache.hadoop.fs.FSDataOutputStream out = files.create(path)) {
                  out.write(new byte[4 << 20]);
                }
              })
          .isInstanceOf(org.apache.hadoop.fs.ClusterStorageCapacityExceededException.class)
          .hasMessageContaining("posixfs:/large: No space left on device");
      assertThat(root.toFile().list()).isEmpty();
    } finally {
      run("umount", "-l", root.toString());
    }
  }

  /** What the kernel answers, as its headers say: few kernels of test machines have quotas. */
  @Test
  void theUsersQuotaIsReadFromTheKernelsAnswer() {
    java.nio.ByteBuffer answer =
        java.nio.ByteBuffer.allocate(72).order(java.nio.ByteOrder.nativeOrder());
    assertThat(JnaCalls.quota(answer.array())).isNull();
    answer.putLong(0, 8 << 10).putLong(8, 4 << 10).putLong(16, 3 << 20);
    assertThat(JnaCalls.quota(answer.array()).limit).isEqualTo(8 << 20);
    assertThat(JnaCalls.quota(answer.array()).used).isEqualTo(3 << 20);
    answer.putLong(0, 0);
    assertThat(JnaCalls.quota(answer.array()).limit).isEqualTo(4 << 20);
  }

  @Test
  void aFileForWhichThereIsNoRoomIsNotMadeNorReplacesAnother() throws Exception {
    Assumptions.assumeTrue(
        run("mount", "-t", "tmpfs", "-o", "size=1m", "howdah-test", root.toString()) == 0,
        "not allowed to mount");
    try {
      FileSystem files = TemporaryMount.open(root, "preallocate", "8m");
      assertThatThrownBy(() -> files.create(new org.apache.hadoop.fs.Path("/large")))
          .isInstanceOf(org.apache.hadoop.fs.ClusterStorageCapacityExceededException.class);
      assertThat(root.toFile().list()).isEmpty();
      java.nio.file.Path kept = root.resolve("kept");
      java.nio.file.Files.write(kept, new byte[] {1});
      assertThatThrownBy(() -> files.create(new org.apache.hadoop.fs.Path("/kept"), true))
          .isInstanceOf(org.apache.hadoop.fs.ClusterStorageCapacityExceededException.class);
      assertThat(root.toFile().list()).containsExactly("kept");
      assertThat(java.nio.file.Files.readAllBytes(kept)).containsExactly(1);
    } finally {
      run("umount", "-l", root.toString());
    }
  }

  @Test
  void withoutQuotaTheSpaceIsThatOfTheDevice() throws Exception {
    java.nio.file.FileStore store = java.nio.file.Files.getFileStore(root);
    assertThat(Native.get().quota(store.name())).isNull();
    FileSystem files = TemporaryMount.open(root);
    assertThat(files.getStatus().getCapacity()).isEqualTo(store.getTotalSpace());
  }

  private static int run(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor();
  }
}
