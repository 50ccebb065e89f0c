package org.howdah.filesystem;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FCStatisticsBaseTest;
import org.apache.hadoop.fs.FSMainOperationsBaseTest;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileContextCreateMkdirBaseTest;
import org.apache.hadoop.fs.FileContextMainOperationsBaseTest;
import org.apache.hadoop.fs.FileContextPermissionBase;
import org.apache.hadoop.fs.FileContextTestWrapper;
import org.apache.hadoop.fs.FileContextURIBase;
import org.apache.hadoop.fs.FileContextUtilBase;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileSystemContractBaseTest;
import org.apache.hadoop.fs.FileSystemTestWrapper;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.SymlinkBaseTest;
import org.apache.hadoop.fs.contract.AbstractContractAppendTest;
import org.apache.hadoop.fs.contract.AbstractContractBulkDeleteTest;
import org.apache.hadoop.fs.contract.AbstractContractConcatTest;
import org.apache.hadoop.fs.contract.AbstractContractContentSummaryTest;
import org.apache.hadoop.fs.contract.AbstractContractCopyFromLocalTest;
import org.apache.hadoop.fs.contract.AbstractContractCreateTest;
import org.apache.hadoop.fs.contract.AbstractContractDeleteTest;
import org.apache.hadoop.fs.contract.AbstractContractGetEnclosingRoot;
import org.apache.hadoop.fs.contract.AbstractContractGetFileStatusTest;
import org.apache.hadoop.fs.contract.AbstractContractMkdirTest;
import org.apache.hadoop.fs.contract.AbstractContractMultipartUploaderTest;
import org.apache.hadoop.fs.contract.AbstractContractOpenTest;
import org.apache.hadoop.fs.contract.AbstractContractRenameTest;
import org.apache.hadoop.fs.contract.AbstractContractRootDirectoryTest;
import org.apache.hadoop.fs.contract.AbstractContractSeekTest;
import org.apache.hadoop.fs.contract.AbstractContractSetTimesTest;
import org.apache.hadoop.fs.contract.AbstractContractStreamIOStatisticsTest;
import org.apache.hadoop.fs.contract.AbstractContractUnbufferTest;
import org.apache.hadoop.fs.contract.AbstractContractVectoredReadTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;

/**
 * Hadoop's own suites, unchanged, over a mount of its own; all but those of safe mode, lease
 * recovery and etags, which it does not have. Nothing here overrides a method that JUnit calls, so
 * that the same source serves the suites of Hadoop 3.4 (JUnit 4) and 3.5 (JUnit 5).
 */
// Promise (how-to/filesystem): Hadoop's contract suites pass, on MooseFS and `lustrefs:` too
final class Contracts {
  /** The property {@code howdah.scheme}: both go through the suites. */
  private static final String SCHEME = System.getProperty("howdah.scheme", "posixfs");

  private static final String URI_TEXT = SCHEME + ":///";

  private Contracts() {}

  /** Where the suites have their files: the property {@code howdah.mounts}, or the build's own. */
  private static java.nio.file.Path place() {
    return java.nio.file.Paths.get(System.getProperty("howdah.mounts", "target")).toAbsolutePath();
  }

  /** Of a mount that is a new directory of this test run. */
  static Configuration configured(Configuration conf) {
    try {
      java.nio.file.Path place = Files.createDirectories(place());
      conf.set("fs." + SCHEME + ".mount", Files.createTempDirectory(place, "mount").toString());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    conf.set("fs.posixfs.impl", PosixFileSystem.class.getName());
    conf.set("fs.AbstractFileSystem.posixfs.impl", PosixFs.class.getName());
    conf.set("fs.lustrefs.impl", LustreFileSystem.class.getName());
    conf.set("fs.AbstractFileSystem.lustrefs.impl", LustreFs.class.getName());
    conf.setBoolean("fs." + SCHEME + ".impl.disable.cache", true);
    return conf;
  }

  private static FileSystem files() {
    try {
      return FileSystem.newInstance(URI.create(URI_TEXT), configured(new Configuration()));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static FileContext context() {
    try {
      return FileContext.getFileContext(URI.create(URI_TEXT), configured(new Configuration()));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  static final class Posix extends AbstractFSContract {
    private FileSystem files;

    Posix(Configuration conf) {
      super(conf);
      addConfResource("contract/posixfs.xml");
    }

    @Override
    public void init() throws IOException {
      super.init();
      files = FileSystem.newInstance(URI.create(URI_TEXT), configured(getConf()));
    }

    @Override
    public FileSystem getTestFileSystem() {
      return files;
    }

    @Override
    public String getScheme() {
      return SCHEME;
    }

    @Override
    public Path getTestPath() {
      return new Path("/test");
    }
  }

  /** See the suite. */
  public static class Append extends AbstractContractAppendTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** See the suite. */
  public static class BulkDelete extends AbstractContractBulkDeleteTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }

    @Override
    protected int getExpectedPageSize() {
      return 1000;
    }
  }

  /** See the suite. */
  public static class Concat extends AbstractContractConcatTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** See the suite. */
  public static class ContentSummary extends AbstractContractContentSummaryTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** See the suite. */
  public static class CopyFromLocal extends AbstractContractCopyFromLocalTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** See the suite. */
  public static class Create extends AbstractContractCreateTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** See the suite. */
  public static class Delete extends AbstractContractDeleteTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** See the suite. */
  public static class GetFileStatus extends AbstractContractGetFileStatusTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** See the suite. */
  public static class Mkdir extends AbstractContractMkdirTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** See the suite. */
  public static class MultipartUploader extends AbstractContractMultipartUploaderTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }

    @Override
    protected int partSizeInBytes() {
      return 1024;
    }

    @Override
    protected boolean finalizeConsumesUploadIdImmediately() {
      return true;
    }

    @Override
    protected boolean supportsConcurrentUploadsToSamePath() {
      return true;
    }
  }

  /** See the suite. */
  public static class Open extends AbstractContractOpenTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** See the suite. */
  public static class Rename extends AbstractContractRenameTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** See the suite. */
  public static class RootDirectory extends AbstractContractRootDirectoryTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** See the suite. */
  public static class Seek extends AbstractContractSeekTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** See the suite. */
  public static class SetTimes extends AbstractContractSetTimesTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** See the suite. */
  public static class StreamIOStatistics extends AbstractContractStreamIOStatisticsTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** See the suite. */
  public static class Unbuffer extends AbstractContractUnbufferTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** See the suite. */
  public static class GetEnclosingRoot extends AbstractContractGetEnclosingRoot {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** With buffers on the heap and outside of it. */
  public static class VectoredRead extends AbstractContractVectoredReadTest {
    /** Called by JUnit. */
    public VectoredRead(String buffers) {
      super(buffers);
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Posix(conf);
    }
  }

  /** The suite of every file system. */
  public static class Common extends FileSystemContractBaseTest {
    /** Called by JUnit. */
    public Common() {
      fs = files();
    }

    @Override
    public String getDefaultWorkingDirectory() {
      return fs.getHomeDirectory().toUri().getPath();
    }
  }

  /** See the suite. */
  public static class MainOperations extends FSMainOperationsBaseTest {
    @Override
    protected FileSystem createFileSystem() {
      return files();
    }
  }

  /** See the suite. */
  public static class ContextOperations extends FileContextMainOperationsBaseTest {
    /** Called by JUnit. */
    public ContextOperations() {
      fc = context();
    }

    @Override
    protected boolean listCorruptedBlocksSupported() {
      return true;
    }
  }

  /** See the suite. */
  public static class ContextDirectories extends FileContextCreateMkdirBaseTest {
    /** Called by JUnit. */
    public ContextDirectories() {
      fc = context();
    }
  }

  /** See the suite. */
  public static class ContextPermissions extends FileContextPermissionBase {
    @Override
    protected FileContext getFileContext() {
      return context();
    }
  }

  /** See the suite. */
  public static class ContextNames extends FileContextURIBase {
    /** Called by JUnit. */
    public ContextNames() {
      fc1 = context();
      fc2 = fc1;
    }
  }

  /** See the suite. */
  public static class ContextCopies extends FileContextUtilBase {
    /** Called by JUnit. */
    public ContextCopies() {
      fc = context();
    }
  }

  /** See the suite. */
  public static class ContextStatistics extends FCStatisticsBaseTest {
    /** Of its own, as statistics are those of the whole JVM. */
    private static final URI STATISTICS = URI.create(SCHEME + "://statistics/");

    /** Called by JUnit. */
    public ContextStatistics() throws IOException {
      Configuration conf = configured(new Configuration());
      String mount = "fs." + SCHEME + ".mount";
      conf.set(mount + ".statistics", conf.get(mount));
      fc = FileContext.getFileContext(STATISTICS, conf);
      fc.mkdir(fileContextTestHelper.getTestRootPath(fc, "test"), FileContext.DEFAULT_PERM, true);
    }

    @Override
    protected void verifyReadBytes(FileSystem.Statistics statistics) {
      org.assertj.core.api.Assertions.assertThat(statistics.getBytesRead())
          .isEqualTo(2L * blockSize);
    }

    @Override
    protected void verifyWrittenBytes(FileSystem.Statistics statistics) {
      org.assertj.core.api.Assertions.assertThat(statistics.getBytesWritten()).isEqualTo(blockSize);
    }

    @Override
    protected URI getFsUri() {
      return STATISTICS;
    }
  }

  /**
   * The file system under the name of Hadoop's local one: the suite expects of any other what HDFS
   * does, whose clients resolve links themselves. Here the kernel does, as under the local one.
   */
  public static final class File extends MountedFileSystem {
    /** Called by Hadoop. */
    public File() {
      super("file");
    }
  }

  /** The same for {@code FileContext}. */
  public static final class FileFs extends MountedFs {
    /** Called by Hadoop. */
    public FileFs(URI uri, Configuration conf) throws IOException, java.net.URISyntaxException {
      super(uri, new File(), conf, "file");
    }
  }

  private static final URI FILE = URI.create("file:///");

  private static Configuration links() {
    FileSystem.enableSymlinks();
    // Without Hadoop's own keys of the local file system, which are unknown here.
    Configuration conf = new Configuration(false);
    conf.set("fs.file.impl", File.class.getName());
    conf.set("fs.AbstractFileSystem.file.impl", FileFs.class.getName());
    conf.set("fs.file.mount", "/");
    return conf;
  }

  /** Of both interfaces. */
  private abstract static class Links extends SymlinkBaseTest {
    @Override
    protected String getScheme() {
      return FILE.getScheme();
    }

    @Override
    protected String testBaseDir1() {
      return place().resolve("links/test1").toString();
    }

    @Override
    protected String testBaseDir2() {
      return place().resolve("links/test2").toString();
    }

    @Override
    protected URI testURI() {
      return FILE;
    }
  }

  /** See the suite. */
  public static class ContextLinks extends Links {
    /** Called by JUnit. */
    public ContextLinks() throws IOException {
      wrapper = new FileContextTestWrapper(FileContext.getFileContext(FILE, links()));
    }
  }

  /** See the suite. */
  public static class FileSystemLinks extends Links {
    /** Called by JUnit. */
    public FileSystemLinks() throws IOException {
      wrapper = new FileSystemTestWrapper(FileSystem.newInstance(FILE, links()));
    }
  }
}
