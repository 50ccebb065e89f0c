package org.howdah.hdfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.crypto.key.JavaKeyStoreProvider;
import org.apache.hadoop.crypto.key.KeyProviderCryptoExtension;
import org.apache.hadoop.fs.CommonConfigurationKeysPublic;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.hdfs.DFSTestUtil;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.client.CreateEncryptionZoneFlag;
import org.apache.hadoop.hdfs.client.HdfsAdmin;
import org.apache.hadoop.hdfs.client.HdfsDataInputStream;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Against Hadoop's own client, on a real HDFS in this JVM. */
class BufferedFileSystemTest {
  private static final Path FILE = new Path("/file");
  private static final Path CODED = new Path("/coded/file");
  private static final Path SECRET = new Path("/secret/file");
  private static final String POLICY = "XOR-2-1-1024k";
  private static final String KEY = "key";
  private static final byte[] CONTENT = new byte[(3 << 20) + 12_345];

  @TempDir static File directory;

  private static MiniDFSCluster cluster;
  private static FileSystem ours;
  private static FileSystem stock;

  @BeforeAll
  static void start() throws Exception {
    Configuration conf = new HdfsConfiguration();
    conf.set("fs.hdfs.impl", BufferedFileSystem.class.getName());
    conf.setLong("dfs.blocksize", 1 << 20);
    conf.set(
        CommonConfigurationKeysPublic.HADOOP_SECURITY_KEY_PROVIDER_PATH,
        JavaKeyStoreProvider.SCHEME_NAME + "://file" + new Path(directory.getPath(), "keys"));
    cluster = new MiniDFSCluster.Builder(conf, directory).numDataNodes(3).build();
    ours = FileSystem.newInstance(cluster.getURI(), conf);
    conf.set("fs.hdfs.impl", DistributedFileSystem.class.getName());
    stock = FileSystem.newInstance(cluster.getURI(), conf);
    new Random(1).nextBytes(CONTENT);
    DistributedFileSystem hdfs = (DistributedFileSystem) stock;
    hdfs.mkdirs(CODED.getParent());
    hdfs.enableErasureCodingPolicy(POLICY);
    hdfs.setErasureCodingPolicy(CODED.getParent(), POLICY);
    encrypt(SECRET.getParent(), conf);
    for (Path file : new Path[] {FILE, CODED, SECRET}) {
      try (FSDataOutputStream out = stock.create(file)) {
        out.write(CONTENT);
      }
    }
  }

  /** Makes a zone in which all files are encrypted, whose key both clients can have. */
  private static void encrypt(Path zone, Configuration conf) throws Exception {
    KeyProviderCryptoExtension keys = cluster.getNamesystem().getProvider();
    for (FileSystem client : new FileSystem[] {ours, stock}) {
      // Each would have its own copy of the keys, as they were when it started.
      ((DistributedFileSystem) client).getClient().setKeyProvider(keys);
    }
    DFSTestUtil.createKey(KEY, cluster, conf);
    stock.mkdirs(zone);
    new HdfsAdmin(cluster.getURI(), conf)
        .createEncryptionZone(zone, KEY, EnumSet.of(CreateEncryptionZoneFlag.NO_TRASH));
  }

  @AfterAll
  static void stop() throws IOException {
    ours.close();
    stock.close();
    cluster.shutdown();
  }

  @SuppressWarnings("deprecation") // What Hadoop makes counters of.
  private static FileSystem.Statistics statistics(Class<? extends FileSystem> kind) {
    return FileSystem.getStatistics("hdfs", kind);
  }

  // Promise (how-to/accelerate): The buffer before HDFS changes neither what is read nor the
  // counters
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void readsAndCountsLikeHadoopsOwn(long seed) throws IOException {
    Random random = new Random(seed);
    statistics(BufferedFileSystem.class).reset();
    statistics(DistributedFileSystem.class).reset();
    for (int round = 0; round < 20; round++) {
      try (FSDataInputStream in = ours.open(FILE);
          FSDataInputStream other = stock.open(FILE)) {
        for (int step = 0; step < 100; step++) {
          Step.values()[random.nextInt(Step.values().length)].take(in, other, random);
          assertThat(in.getPos()).isEqualTo(other.getPos());
          assertThat(in.available()).isEqualTo(other.available());
        }
      }
      assertThat(statistics(BufferedFileSystem.class).getBytesRead())
          .as("bytes counted")
          .isEqualTo(statistics(DistributedFileSystem.class).getBytesRead());
    }
  }

  /** Something that a program does with a stream, done with both. */
  private enum Step {
    BYTE {
      @Override
      void take(FSDataInputStream in, FSDataInputStream other, Random random) throws IOException {
        assertThat(in.read()).isEqualTo(other.read());
      }
    },
    SOME {
      @Override
      void take(FSDataInputStream in, FSDataInputStream other, Random random) throws IOException {
        byte[] read = new byte[size(random)];
        same(read, in.read(read, 0, read.length), other);
      }
    },
    BUFFER {
      @Override
      void take(FSDataInputStream in, FSDataInputStream other, Random random) throws IOException {
        ByteBuffer read = ByteBuffer.allocate(size(random));
        same(read.array(), in.read(read), other);
      }
    },
    ALL {
      @Override
      void take(FSDataInputStream in, FSDataInputStream other, Random random) throws IOException {
        byte[] read = new byte[(int) Math.min(size(random), CONTENT.length - in.getPos())];
        byte[] expected = new byte[read.length];
        in.readFully(read);
        other.readFully(expected);
        assertThat(read).isEqualTo(expected);
      }
    },
    AT {
      @Override
      void take(FSDataInputStream in, FSDataInputStream other, Random random) throws IOException {
        byte[] read = new byte[size(random)];
        byte[] expected = new byte[read.length];
        long position = random.nextInt(CONTENT.length - read.length);
        in.readFully(position, read);
        other.readFully(position, expected);
        assertThat(read).isEqualTo(expected);
      }
    },
    RANGES {
      @Override
      void take(FSDataInputStream in, FSDataInputStream other, Random random) throws IOException {
        int at = random.nextInt(1 << 20);
        for (FSDataInputStream one : new FSDataInputStream[] {in, other}) {
          List<FileRange> ranges =
              Arrays.asList(
                  FileRange.createFileRange(at, 100), FileRange.createFileRange(at + 70_000, 5000));
          one.readVectored(ranges, ByteBuffer::allocate);
          for (FileRange range : ranges) {
            assertThat(range.getData().join())
                .isEqualTo(ByteBuffer.wrap(CONTENT, (int) range.getOffset(), range.getLength()));
          }
        }
      }
    },
    SEEK {
      @Override
      void take(FSDataInputStream in, FSDataInputStream other, Random random) throws IOException {
        long to = random.nextInt(CONTENT.length + 1);
        in.seek(to);
        other.seek(to);
      }
    },
    SEEK_NEAR {
      @Override
      void take(FSDataInputStream in, FSDataInputStream other, Random random) throws IOException {
        long to = in.getPos() + random.nextInt(4000) - 2000;
        to = Math.max(0, Math.min(CONTENT.length, to));
        in.seek(to);
        other.seek(to);
      }
    },
    SKIP {
      @Override
      void take(FSDataInputStream in, FSDataInputStream other, Random random) throws IOException {
        int bytes = size(random) - 10;
        assertThat(in.skip(bytes)).isEqualTo(other.skip(bytes));
      }
    },
    WRAPPED {
      @Override
      void take(FSDataInputStream in, FSDataInputStream other, Random random) throws IOException {
        assertThat(in.getWrappedStream().read()).isEqualTo(other.read());
      }
    },
    UNBUFFER {
      @Override
      void take(FSDataInputStream in, FSDataInputStream other, Random random) {
        in.unbuffer();
        other.unbuffer();
      }
    },
    TOO_FAR {
      @Override
      void take(FSDataInputStream in, FSDataInputStream other, Random random) {
        assertThatThrownBy(() -> in.seek(CONTENT.length + 1L)).isInstanceOf(EOFException.class);
        assertThatThrownBy(() -> in.seek(-1)).isInstanceOf(EOFException.class);
      }
    };

    abstract void take(FSDataInputStream in, FSDataInputStream other, Random random)
        throws IOException;

    /** Mostly small, sometimes more than a buffer. */
    private static int size(Random random) {
      return random.nextInt(random.nextInt(10) == 0 ? 200_000 : 300);
    }

    /** A stream may give less than is asked for, and both need not give as much. */
    private static void same(byte[] read, int count, FSDataInputStream other) throws IOException {
      if (count < 0) {
        assertThat(other.read()).isEqualTo(-1);
        return;
      }
      assertThat(count > 0).isEqualTo(read.length > 0);
      byte[] expected = new byte[count];
      other.readFully(expected);
      assertThat(ByteBuffer.wrap(read, 0, count)).isEqualTo(ByteBuffer.wrap(expected));
    }
  }

  @Test
  void asksHadoopsOwnForManyRecordsAtOnce() throws IOException {
    int records = 1000;
    byte[] record = new byte[100];
    try (FSDataInputStream in = ours.open(FILE)) {
      HdfsDataInputStream hdfs = (HdfsDataInputStream) in;
      for (int i = 0; i < records; i++) {
        in.readFully(record);
      }
      long read = hdfs.getReadStatistics().getTotalBytesRead();
      assertThat(read).isGreaterThan(100L * records).isLessThan((100L * records) + (1 << 17));
    }
  }

  @Test
  void isAStreamOfHdfs() throws IOException {
    try (FSDataInputStream in = ours.open(FILE);
        FSDataInputStream other = stock.open(FILE)) {
      assertThat(in).isInstanceOf(BufferedInput.class);
      assertThat(other).isNotInstanceOf(BufferedInput.class);
      in.readByte();
      other.readByte();
      HdfsDataInputStream hdfs = (HdfsDataInputStream) in;
      HdfsDataInputStream its = (HdfsDataInputStream) other;
      assertThat(hdfs.getVisibleLength()).isEqualTo(CONTENT.length);
      assertThat(hdfs.getAllBlocks()).hasSameSizeAs(its.getAllBlocks());
      assertThat(hdfs.getCurrentBlock()).isEqualTo(its.getCurrentBlock());
      // Any of those that have the block.
      assertThat(its.getAllBlocks().get(0).getLocations())
          .extracting(DatanodeInfo::getDatanodeUuid)
          .contains(hdfs.getCurrentDatanode().getDatanodeUuid());
      for (String capability :
          new String[] {
            StreamCapabilities.READBYTEBUFFER,
            StreamCapabilities.PREADBYTEBUFFER,
            StreamCapabilities.UNBUFFER,
            StreamCapabilities.VECTOREDIO,
            "in:none"
          }) {
        assertThat(in.hasCapability(capability)).isEqualTo(other.hasCapability(capability));
      }
    }
  }

  // Promise (how-to/accelerate): Encrypted and erasure-coded files are left to Hadoop's client of
  // HDFS
  @Test
  void leavesCodedFilesToHadoop() throws IOException {
    leavesToHadoop(CODED);
  }

  // Promise (how-to/accelerate): Encrypted and erasure-coded files are left to Hadoop's client of
  // HDFS
  @Test
  void leavesEncryptedFilesToHadoop() throws IOException {
    assertThat(stock.getFileStatus(SECRET).isEncrypted()).isTrue();
    leavesToHadoop(SECRET);
  }

  private static void leavesToHadoop(Path file) throws IOException {
    try (FSDataInputStream in = ours.open(file)) {
      assertThat(in).isNotInstanceOf(BufferedInput.class);
      byte[] read = new byte[CONTENT.length];
      in.readFully(read);
      assertThat(read).isEqualTo(CONTENT);
    }
  }

  @Test
  void isOverWhenItIsClosed() throws IOException {
    FSDataInputStream in = ours.open(FILE);
    in.readInt();
    in.close();
    in.close();
    assertThatThrownBy(in::read).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> in.seek(0)).isInstanceOf(IOException.class);
  }
}
