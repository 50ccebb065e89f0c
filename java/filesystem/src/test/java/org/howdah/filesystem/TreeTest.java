package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.AccessControlException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TreeTest {
  @TempDir Path root;

  private static org.apache.hadoop.fs.Path name(String path) {
    return new org.apache.hadoop.fs.Path(path);
  }

  /** Of many who rename to one name at once, one does. */
  // Promise (how-to/filesystem): A rename replaces nothing
  @ParameterizedTest
  @ValueSource(strings = {"false", "true"})
  void aRenameNeverReplaces(String natively) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try (FileSystem files = TemporaryMount.open(root, "rename.native", natively)) {
      for (int round = 0; round < 100; round++) {
        List<Callable<Boolean>> renames = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
          Path source = root.resolve("source" + i);
          Files.write(source, new byte[i + 1]);
          org.apache.hadoop.fs.Path from = name("/source" + i);
          renames.add(() -> files.rename(from, name("/target")));
        }
        int done = 0;
        for (Future<Boolean> rename : pool.invokeAll(renames)) {
          done += rename.get() ? 1 : 0;
        }
        assertThat(done).isEqualTo(1);
        assertThat(root.toFile().list()).hasSize(8).contains("target");
        files.delete(name("/target"), false);
      }
    } finally {
      pool.shutdownNow();
    }
  }

  /** As {@code rename} alone does with one that is empty. */
  // Promise (how-to/filesystem): With `rename.native`, two renames of directories at once never
  // replace one
  @Test
  void aDirectoryThatTheKernelRenamesNeverReplacesAnother() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(2);
    Path target = root.resolve("target");
    try (FileSystem files = TemporaryMount.open(root, "rename.native", "true")) {
      for (int round = 0; round < 1000; round++) {
        files.mkdirs(name("/source/child"));
        List<Callable<Boolean>> both = new ArrayList<>();
        both.add(() -> files.rename(name("/source"), name("/target")));
        both.add(() -> target.toFile().mkdir());
        List<Future<Boolean>> done = pool.invokeAll(both);
        if (done.get(1).get()) {
          assertThat(target.resolve("child")).doesNotExist();
          Path child = root.resolve(done.get(0).get() ? "target/source/child" : "source/child");
          assertThat(child).exists();
        } else {
          assertThat(done.get(0).get()).isTrue();
          assertThat(target.resolve("child")).exists();
        }
        files.delete(name("/target"), true);
        files.delete(name("/source"), true);
      }
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  void whereNamesAreToBeSynchronisedButMayNotBeReadNothingIsChanged() throws IOException {
    try (FileSystem files = TemporaryMount.open(root, "sync.directories", "true")) {
      files.create(name("/file")).close();
      files.mkdirs(name("/closed"), new FsPermission("300"));
      List<Callable<?>> changes = new ArrayList<>();
      changes.add(() -> files.create(name("/closed/new")));
      changes.add(() -> files.mkdirs(name("/closed/new")));
      changes.add(() -> files.rename(name("/file"), name("/closed/new")));
      changes.add(() -> files.rename(name("/file"), name("/closed")));
      for (Callable<?> change : changes) {
        assertThatThrownBy(change::call)
            .isInstanceOf(AccessControlException.class)
            .hasMessageContaining("only where one may read");
      }
      files.setPermission(name("/closed"), new FsPermission("700"));
      assertThat(files.listStatus(name("/closed"))).isEmpty();
      assertThat(files.exists(name("/file"))).isTrue();
    }
  }

  // Promise (how-to/filesystem): Permissions are exactly those asked for
  @Test
  void permissionsAreExactlyThoseAskedFor() throws IOException {
    org.apache.hadoop.conf.Configuration conf = TemporaryMount.configured(root);
    conf.set("fs.permissions.umask-mode", "000");
    try (FileSystem files = FileSystem.newInstance(java.net.URI.create("posixfs:///"), conf)) {
      files.mkdirs(name("/open"), new FsPermission("1777"));
      assertThat(Files.getAttribute(root.resolve("open"), "unix:mode")).isEqualTo(041777);
      files.create(name("/file")).close();
      assertThat(Files.getPosixFilePermissions(root.resolve("file")))
          .contains(PosixFilePermission.OTHERS_WRITE, PosixFilePermission.GROUP_WRITE);
    }
  }

  @Test
  void theStickyBitIsThatOfTheLastDirectoryAlone() throws IOException {
    try (FileSystem files = TemporaryMount.open(root)) {
      files.mkdirs(name("/a/b/c"), new FsPermission("1777"));
      assertThat(Files.getAttribute(root.resolve("a/b/c"), "unix:mode")).isEqualTo(041755);
      assertThat(Files.getAttribute(root.resolve("a/b"), "unix:mode")).isEqualTo(040755);
    }
  }

  /** Of a server whose answer was lost nobody knows whether it has done what it was asked for. */
  @Test
  void aFileThatIsRenamedKeepsANameWhateverFails() throws IOException {
    Path from = root.resolve("from");
    Path to = root.resolve("to");
    IOException lost = new FileSystemException(from.toString(), null, "Connection timed out");
    Files.write(to, new byte[] {1});
    Tree.undo(from, to, lost);
    assertThat(to).exists();

    Files.createLink(from, to);
    assertThatThrownBy(() -> Tree.undo(from, to, lost))
        .hasMessageContaining("second name")
        .hasMessageContaining("timed out");
    assertThat(to).exists();
    assertThat(from).exists();

    IOException refused = new AccessDeniedException(from.toString());
    assertThatThrownBy(() -> Tree.undo(from, to, refused)).isSameAs(refused);
    assertThat(to).doesNotExist();
    assertThat(from).exists();
  }

  @Test
  void whatMayNotBeRemovedUnderItsOldNameGetsNoNewOne() throws IOException {
    try (FileSystem files = TemporaryMount.open(root)) {
      files.create(name("/d/file")).close();
      files.setPermission(name("/d"), new FsPermission("555"));
      assertThatThrownBy(() -> files.rename(name("/d/file"), name("/file")))
          .isInstanceOf(AccessControlException.class);
      files.setPermission(name("/d"), new FsPermission("755"));
      assertThat(root.resolve("file")).doesNotExist();
      assertThat(root.resolve("d/file")).exists();
    }
  }

  /** Lustre and NFS say that the parent may not be written to, of what is there already, too. */
  @Test
  void aDirectoryThatIsThereNeedsNoRightToMakeIt() throws IOException {
    Path file = Files.createFile(root.resolve("file"));
    for (IOException why :
        new IOException[] {
          new AccessDeniedException("d"),
          new FileSystemException("d", null, "Read-only file system"),
          new FileAlreadyExistsException("d")
        }) {
      Creation.requireDirectory(root, why);
      assertThatThrownBy(() -> Creation.requireDirectory(file, why)).isSameAs(why);
    }
    IOException refused = new AccessDeniedException("d");
    assertThatThrownBy(() -> Creation.requireDirectory(root.resolve("d"), refused))
        .isSameAs(refused);
  }

  @ParameterizedTest
  @ValueSource(strings = {"false", "true"})
  void whatMayNotBeWrittenToIsNotOverwritten(String atomic) throws IOException {
    try (FileSystem files = TemporaryMount.open(root, "create.atomic", atomic)) {
      Path file = Files.write(root.resolve("file"), new byte[] {1});
      files.setPermission(name("/file"), new FsPermission("444"));
      assertThatThrownBy(() -> files.create(name("/file"), true))
          .isInstanceOf(AccessControlException.class)
          .hasMessageContaining("may not be overwritten");
      assertThat(Files.readAllBytes(file)).containsExactly(1);
      assertThat(root.toFile().list()).containsExactly("file");
    }
  }

  @Test
  void aTreeIsDeletedFromADirectoryThatMayNotBeRead() throws IOException {
    try (FileSystem files = TemporaryMount.open(root)) {
      files.create(name("/box/mine/inner/file")).close();
      files.setPermission(name("/box"), new FsPermission("333"));
      assertThat(files.delete(name("/box/mine"), true)).isTrue();
      files.setPermission(name("/box"), new FsPermission("755"));
      assertThat(root.resolve("box").toFile().list()).isEmpty();
    }
  }

  @Test
  void whoGivesNeitherUserNorGroupIsTold() throws IOException {
    try (FileSystem files = TemporaryMount.open(root)) {
      files.create(name("/file")).close();
      assertThatThrownBy(() -> files.setOwner(name("/file"), null, null))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("neither user nor group");
    }
  }

  @Test
  void ownersAreSetByNameOrNumber() throws IOException {
    Assumptions.assumeTrue(System.getProperty("user.name").equals("root"), "only root may");
    try (FileSystem files = TemporaryMount.open(root)) {
      files.create(name("/file")).close();
      String[][] given = {
        {"daemon", null, "daemon:root"},
        {null, "daemon", "daemon:daemon"},
        {"123456", "654321", "123456:654321"},
        {"root", "654321", "root:654321"}
      };
      for (String[] one : given) {
        files.setOwner(name("/file"), one[0], one[1]);
        FileStatus status = files.getFileStatus(name("/file"));
        assertThat(status.getOwner() + ":" + status.getGroup()).isEqualTo(one[2]);
      }
      assertThatThrownBy(() -> files.setOwner(name("/file"), "daemon", "no such group"))
          .hasMessageContaining("knows no group no such group");
      assertThat(files.getFileStatus(name("/file")).getOwner()).isEqualTo("root");
    }
  }

  @Test
  void aDirectoryKeepsTheBitThatHandsItsGroupOn() throws IOException {
    try (FileSystem files = TemporaryMount.open(root)) {
      files.mkdirs(name("/group"));
      Files.setAttribute(root.resolve("group"), "unix:mode", 02775);
      files.setPermission(name("/group"), new FsPermission("770"));
      assertThat(Files.getAttribute(root.resolve("group"), "unix:mode")).isEqualTo(042770);
    }
  }

  // Promise (how-to/filesystem): A large directory is listed whole
  @Test
  void aLargeDirectoryIsListedWhole() throws IOException {
    for (int i = 0; i < 3000; i++) {
      Files.createFile(root.resolve("file" + i));
    }
    try (FileSystem files = TemporaryMount.open(root, "list.parallel", "100")) {
      List<String> expected =
          Stream.of(root.toFile().list())
              .map(file -> "posixfs:/" + file)
              .sorted()
              .collect(Collectors.toList());
      List<String> listed =
          Stream.of(files.listStatus(name("/")))
              .map(file -> file.getPath().toString())
              .sorted()
              .collect(Collectors.toList());
      List<String> iterated = new ArrayList<>();
      RemoteIterator<org.apache.hadoop.fs.FileStatus> all = files.listStatusIterator(name("/"));
      while (all.hasNext()) {
        iterated.add(all.next().getPath().toString());
      }
      Collections.sort(iterated);
      assertThat(listed).isEqualTo(expected);
      assertThat(iterated).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"a b", "a:b", "%41", "[a]", "ü–語", "#?", "-", "a\\b", "...", "'\"$"})
  void oddNamesAreNames(String odd) throws IOException {
    Assumptions.assumeTrue(
        odd.chars().allMatch(letter -> letter < 128)
            || !System.getProperty("sun.jnu.encoding").startsWith("ANSI"));
    try (FileSystem files = TemporaryMount.open(root)) {
      org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(null, null, "/" + odd);
      files.create(path).close();
      assertThat(root.toFile().list()).containsExactly(odd);
      org.apache.hadoop.fs.FileStatus[] found = files.listStatus(name("/"));
      assertThat(found[0].getPath().getName()).isEqualTo(odd);
      assertThat(files.open(found[0].getPath()).read()).isEqualTo(-1);
      assertThat(files.delete(found[0].getPath(), false)).isTrue();
    }
  }

  @Test
  void aListOfAccessRightsIsKeptByTheKernel() throws IOException {
    Assumptions.assumeTrue(Acls.areSupported(root), "no access control lists here");
    try (FileSystem files = TemporaryMount.open(root)) {
      files.mkdirs(name("/dir"), new FsPermission("750"));
      files.modifyAclEntries(
          name("/dir"), AclEntry.parseAclSpec("user:nobody:rwx,default:user:nobody:r-x", true));

      assertThat(files.getAclStatus(name("/dir")).getEntries().toString())
          .isEqualTo(
              "[user:nobody:rwx, group::r-x, default:user::rwx, default:user:nobody:r-x, default:group::r-x,"
                  + " default:mask::r-x, default:other::---]");
      files.mkdirs(name("/dir/inner"));
      assertThat(files.getAclStatus(name("/dir/inner")).getEntries().toString())
          .contains("user:nobody:r-x");

      files.modifyAclEntries(name("/dir"), AclEntry.parseAclSpec("default:user:nobody:rwx", true));
      files.mkdirs(name("/dir/shared"));
      files.create(name("/dir/shared/file")).close();
      assertThat(Files.getAttribute(root.resolve("dir/shared"), "unix:mode")).isEqualTo(040770);
      assertThat(Files.getAttribute(root.resolve("dir/shared/file"), "unix:mode"))
          .as("the mask, which the umask leaves as it is")
          .isEqualTo(0100660);

      files.removeAclEntries(name("/dir"), AclEntry.parseAclSpec("user:nobody", false));
      files.removeDefaultAcl(name("/dir"));
      assertThat(files.getAclStatus(name("/dir")).getEntries()).isEmpty();
      files.create(name("/file")).close();
      files.setPermission(name("/file"), new FsPermission("640"));
      files.modifyAclEntries(name("/file"), AclEntry.parseAclSpec("user:nobody:rwx", true));
      files.removeAcl(name("/file"));
      assertThat(files.getFileStatus(name("/file")).getPermission().toString())
          .isEqualTo("rw-r-----");
      files.setAcl(name("/dir"), AclEntry.parseAclSpec("default:user:nobody:rwx", true));
      files.setAcl(name("/dir"), AclEntry.parseAclSpec("user::rwx,group::r-x,other::---", true));
      assertThat(files.getAclStatus(name("/dir")).getEntries().toString())
          .contains("default:user:nobody:rwx");
      files.removeDefaultAcl(name("/dir"));
      files.removeAcl(name("/dir/inner"));
      assertThat(files.getAclStatus(name("/dir/inner")).getEntries()).isEmpty();
      assertThatThrownBy(
              () ->
                  files.modifyAclEntries(
                      name("/dir"), AclEntry.parseAclSpec("user:no such:rwx", true)))
          .hasMessageContaining("no such");
    }
  }

  @Test
  void reservedSpaceIsGivenBack() throws IOException {
    Assumptions.assumeTrue(Native.get() != null);
    try (FileSystem files = TemporaryMount.open(root, "preallocate", "64m")) {
      try (org.apache.hadoop.fs.FSDataOutputStream out = files.create(name("/file"))) {
        out.write(new byte[10]);
      }
      assertThat(files.getFileStatus(name("/file")).getLen()).isEqualTo(10);
      Process du = new ProcessBuilder("du", "-k", root.resolve("file").toString()).start();
      try (java.util.Scanner said = new java.util.Scanner(du.getInputStream(), "UTF-8")) {
        assertThat(said.nextInt()).isLessThan(64);
      }
    }
  }
}
