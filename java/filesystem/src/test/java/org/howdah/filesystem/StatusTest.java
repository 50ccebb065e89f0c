package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.InvalidPathHandleException;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathHandle;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.FsPermission;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is told of files, and of what can be done with them. */
class StatusTest {
  static final List<String> NEED_JNA =
      Arrays.asList("attributes", "preallocate", "quotas", "rename.native");

  private static final List<AclEntry> ACL =
      AclEntry.parseAclSpec("user::rw-,user:1234:r--,group::r--,mask::r--,other::---", true);

  @TempDir java.nio.file.Path root;
  private final Path file = new Path("/file");
  private FileSystem files;

  @BeforeEach
  void open() throws IOException {
    files = TemporaryMount.open(root);
  }

  private FileContext context() throws IOException {
    Configuration conf = TemporaryMount.configured(root);
    conf.set("fs.AbstractFileSystem.posixfs.impl", PosixFs.class.getName());
    return FileContext.getFileContext(URI.create("posixfs:///"), conf);
  }

  private void write(Path path, int... bytes) throws IOException {
    try (FSDataOutputStream out = files.create(path, true)) {
      for (int one : bytes) {
        out.write(one);
      }
    }
  }

  @Test
  void aListSaysWhichFilesHaveAccessControlLists() throws IOException {
    write(file);
    write(new Path("/plain"));
    Assumptions.assumeTrue(files.hasPathCapability(file, CommonPathCapabilities.FS_ACLS));
    files.setAcl(file, ACL);

    assertThat(files.getFileStatus(file).hasAcl()).isTrue();
    assertThat(files.getFileStatus(new Path("/plain")).hasAcl()).isFalse();
    for (FileStatus status : files.listStatus(new Path("/"))) {
      assertThat(status.hasAcl()).isEqualTo(status.getPath().getName().equals("file"));
    }
  }

  @Test
  void itIsSaidWhatTheSystemIsAskedForThatJavaCannot() throws IOException {
    for (String one : NEED_JNA) {
      assertThat(files.hasPathCapability(file, "fs.posixfs." + one)).as(one).isTrue();
      assertThat(context().getDefaultFileSystem().hasPathCapability(file, "fs.posixfs." + one))
          .as(one)
          .isTrue();
      assertThat(files.hasPathCapability(file, "fs.lustrefs." + one)).as(one).isFalse();
    }
    assertThat(files.hasPathCapability(file, "fs.posixfs.layout")).as("not on Lustre").isFalse();
    assertThat(files.hasPathCapability(file, "fs.posixfs.nonsense")).isFalse();
  }

  @Test
  void splitsAreMadeFromStatusesThatHaveLocations() throws IOException {
    write(file, 1, 2, 3);
    LocatedFileStatus found = files.listLocatedStatus(new Path("/")).next();
    assertThat(found.getLen()).isEqualTo(3);
    assertThat(found.getPath()).isEqualTo(files.makeQualified(file));
    assertThat(found.getBlockLocations()).hasSize(1);
  }

  @Test
  void everyBlockIsOnTheHostsThatAreSet() throws IOException {
    FileSystem located =
        TemporaryMount.open(root, "block.size", "1m", "block.hosts", "node1, node2");
    try (FSDataOutputStream out = located.create(file, true)) {
      out.write(new byte[(1 << 20) + 1]);
    }
    BlockLocation[] blocks = located.getFileBlockLocations(file, 0, Long.MAX_VALUE);
    assertThat(blocks).hasSize(2);
    for (BlockLocation block : blocks) {
      assertThat(block.getHosts()).containsExactly("node1", "node2");
    }
    assertThat(files.getFileBlockLocations(file, 0, 1)[0].getHosts()).isEmpty();
  }

  /** As some programs make them; Hadoop's own file systems look at no block size for this. */
  @Test
  void aStatusWithoutABlockSizeHasLocations() throws IOException {
    FileStatus made = new FileStatus(10, false, 1, 0, 0, file);
    assertThat(files.getFileBlockLocations(made, 0, 10)).hasSize(1);
  }

  @Test
  void aLinkLeadsToItsOwnFileSystem() {
    FileSystem.enableSymlinks();
    Path elsewhere = new Path("posixfs://scratch/data");
    assertThatThrownBy(() -> files.createSymlink(elsewhere, new Path("/link"), false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("posixfs://scratch/data");
  }

  @Test
  void onlyADirectoryHasDefaultEntries() throws IOException {
    write(file);
    Assumptions.assumeTrue(files.hasPathCapability(file, CommonPathCapabilities.FS_ACLS));
    List<AclEntry> entries = AclEntry.parseAclSpec("default:user:1234:rwx", true);
    assertThatThrownBy(() -> files.modifyAclEntries(file, entries))
        .hasMessageContaining("only directories have default entries");
  }

  @Test
  void aFileContextHasListsAndAttributesToo() throws IOException {
    FileContext context = context();
    write(file);
    context.setXAttr(file, "user.colour", new byte[] {7});
    assertThat(context.getXAttr(file, "user.colour")).containsExactly(7);
    assertThat(context.listXAttrs(file)).containsExactly("user.colour");
    assertThat(context.getXAttrs(file)).containsOnlyKeys("user.colour");
    context.removeXAttr(file, "user.colour");
    assertThat(context.listXAttrs(file)).isEmpty();
    if (files.hasPathCapability(file, CommonPathCapabilities.FS_ACLS)) {
      context.setAcl(file, ACL);
      assertThat(context.getAclStatus(file).getEntries()).hasSize(2);
      context.removeAcl(file);
      assertThat(context.getAclStatus(file).getEntries()).isEmpty();
    }
  }

  @Test
  void aFileContextTakesTheMaskAwayOnce() throws IOException {
    FileContext context = context();
    context.setUMask(new FsPermission((short) 0));
    context.mkdir(new Path("/open"), new FsPermission((short) 0777), false);
    assertThat(files.getFileStatus(new Path("/open")).getPermission().toShort())
        .isEqualTo((short) 0777);
  }

  @Test
  void onlyAttributesOfUsersAreListed() throws IOException {
    write(file);
    files.setXAttr(file, "user.colour", new byte[] {7});
    try {
      files.setXAttr(file, "trusted.place", new byte[] {1});
      assertThat(files.getXAttr(file, "trusted.place")).containsExactly(1);
    } catch (IOException e) {
      // For root alone, where the file system has them.
    }
    assertThat(files.listXAttrs(file)).containsExactly("user.colour");
  }

  @Test
  void ofALinksTargetTheOwnerIsToldByName() throws IOException {
    write(file);
    Files.createSymbolicLink(root.resolve("link"), root.resolve("file"));
    assertThat(files.getFileStatus(new Path("/link")).getOwner())
        .isEqualTo(files.getFileStatus(file).getOwner())
        .isEqualTo(Files.getOwner(root.resolve("file")).getName());
  }

  @Test
  void whatIsFlushedOfAnAtomicFileCannotBeFound() throws IOException {
    FileSystem atomic = TemporaryMount.open(root, "create.atomic", "true");
    try (FSDataOutputStream out = atomic.create(file)) {
      assertThat(out.hasCapability(StreamCapabilities.HSYNC)).isFalse();
    }
    try (FSDataOutputStream out = files.create(new Path("/other"))) {
      assertThat(out.hasCapability(StreamCapabilities.HSYNC)).isTrue();
    }
  }

  @Test
  void aHandleFollowsAFileThatIsRenamedInItsDirectory() throws IOException {
    write(file, 1, 2, 3);
    PathHandle handle = files.getPathHandle(files.getFileStatus(file), Options.HandleOpt.content());
    files.rename(file, new Path("/renamed"));
    write(file, 4);
    try (FSDataInputStream in = files.open(new Handle(handle.bytes()))) {
      assertThat(in.read()).isEqualTo(1);
    }
    write(new Path("/renamed"), 5);
    assertThatThrownBy(() -> files.open(handle)).isInstanceOf(InvalidPathHandleException.class);
  }

  @Test
  void aHandleDoesNotTakeAnotherFileForTheOneThatIsGone() throws Exception {
    write(file, 1);
    PathHandle handle =
        files.getPathHandle(files.getFileStatus(file), Options.HandleOpt.reference());
    files.delete(file, false);
    Thread.sleep(20);
    write(file, 2); // May well have the number of the first.
    assertThatThrownBy(() -> files.open(handle)).isInstanceOf(InvalidPathHandleException.class);
    assertThatThrownBy(() -> new Handle(java.nio.ByteBuffer.wrap(new byte[9])))
        .isInstanceOf(InvalidPathHandleException.class);
  }

  @Test
  void aHandleIsInvalidOnceItsDirectoryIsGone() throws IOException {
    Path deep = new Path("/deep/file");
    write(deep, 1);
    Files.createSymbolicLink(root.resolve("deep/loop"), root.resolve("deep/loop"));
    PathHandle handle = files.getPathHandle(files.getFileStatus(deep), Options.HandleOpt.content());
    files.rename(deep, new Path("/deep/renamed"));
    try (FSDataInputStream in = files.open(handle)) {
      assertThat(in.read()).isEqualTo(1);
    }
    files.delete(new Path("/deep"), true);
    assertThatThrownBy(() -> files.open(handle)).isInstanceOf(InvalidPathHandleException.class);
  }

  @Test
  void aReadIntoTheHeapThatIsLargerThanABufferIsWhole() throws IOException {
    FileSystem small = TemporaryMount.open(root, "buffer.size", "4096");
    byte[] bytes = new byte[100_001];
    new java.util.Random(1).nextBytes(bytes);
    try (FSDataOutputStream out = small.create(file, true)) {
      out.write(bytes);
    }
    java.nio.ByteBuffer into = java.nio.ByteBuffer.allocate(bytes.length + 10);
    into.position(7);
    try (FSDataInputStream in = small.open(file)) {
      assertThat(in.read(0, into)).isEqualTo(bytes.length);
      assertThat(in.read(bytes.length, into)).isEqualTo(-1);
    }
    assertThat(into.position()).isEqualTo(7 + bytes.length);
    assertThat(into.limit()).isEqualTo(bytes.length + 10);
    assertThat(java.util.Arrays.copyOfRange(into.array(), 7, 7 + bytes.length)).isEqualTo(bytes);
  }

  @Test
  void aDirectoryHasNoHandle() {
    assertThatThrownBy(
            () ->
                files.getPathHandle(files.getFileStatus(new Path("/")), Options.HandleOpt.exact()))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
