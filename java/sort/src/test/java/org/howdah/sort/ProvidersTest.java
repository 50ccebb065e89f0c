package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.WritableComparator;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.MapOutputCollector;
import org.apache.hadoop.mapred.MapTask;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.util.HeapSort;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Others' providers, good and bad, and what is left to Hadoop's own sort. */
class ProvidersTest {
  private static final int MAPS = 2;

  @TempDir Path directory;
  @RegisterExtension final Services services = new Services();
  private Jobs jobs;

  @BeforeEach
  void open() {
    jobs = new Jobs(directory);
  }

  private void provide(Class<?> type, String provider) throws IOException {
    services.provide(directory.resolve("jar"), type, provider);
  }

  private void leaves(LeftToHadoop.Reason reason, Jobs.Setting setting) throws Exception {
    leaves(reason, SortingCollector.class, setting);
  }

  private void leaves(LeftToHadoop.Reason reason, Class<?> collector, Jobs.Setting setting)
      throws Exception {
    Jobs.Setting some =
        job -> {
          job.getConfiguration().setInt(Jobs.RECORDS, 1000);
          setting.apply(job);
        };
    List<String> stock = jobs.run("left", false, MAPS, 2, some);
    String both = collector.getName() + "," + MapTask.MapOutputBuffer.class.getName();
    assertThat(jobs.run("left", both, MAPS, 2, some)).isEqualTo(stock);
    assertThat(jobs.counter("FALLBACKS")).isEqualTo(MAPS);
    assertThat(jobs.counter("FALLBACKS_" + reason)).isEqualTo(MAPS);
    assertThat(jobs.counter("RECORDS")).isZero();
    assertThat(jobs.counter(TaskCounter.MAP_OUTPUT_RECORDS)).isEqualTo(MAPS * 1000);
  }

  // Promise (how-to/accelerate): Maps that the stock sort served are counted, with the reason
  @Test
  void whatIsLeftToHadoopIsCounted() throws Exception {
    leaves(
        LeftToHadoop.Reason.SORT_CLASS,
        job -> job.getConfiguration().set("map.sort.class", HeapSort.class.getName()));
  }

  // Promise (how-to/accelerate): Maps that the stock sort served are counted, with the reason
  @Test
  void settingsThatAreNotValidAreLeftToHadoop() throws Exception {
    leaves(
        LeftToHadoop.Reason.SETTINGS,
        job -> job.getConfiguration().setInt(SortingCollector.MEMORY_MB, 0));
  }

  /** Told of more reduces than it can tell apart, which no test can run. */
  public static class Wide<K, V> implements MapOutputCollector<K, V> {
    private final SortingCollector<K, V> real = new SortingCollector<>();

    @Override
    public void init(Context context) throws IOException {
      JobConf job = new JobConf(context.getJobConf());
      job.setNumReduceTasks(RecordBuffer.MOST_PARTITIONS + 1);
      real.init(new Context(context.getMapTask(), job, context.getReporter()));
    }

    @Override
    public void collect(K key, V value, int partition) throws IOException {
      real.collect(key, value, partition);
    }

    @Override
    public void flush() throws IOException, InterruptedException, ClassNotFoundException {
      real.flush();
    }

    @Override
    public void close() {
      real.close();
    }
  }

  // Promise (how-to/accelerate): Maps that the stock sort served are counted, with the reason
  @Test
  void morePartitionsThanItCanTellApartAreLeftToHadoop() throws Exception {
    leaves(LeftToHadoop.Reason.PARTITIONS, Wide.class, job -> {});
  }

  @Test
  void whateverElsePreventsTheSortIsLeftToHadoop() throws Exception {
    leaves(
        LeftToHadoop.Reason.OTHER,
        job -> job.getConfiguration().set(SortingCollector.MEMORY_MB, "much"));
  }

  /** A provider for an order that cannot be. */
  public static class NoBytes implements KeyOrderProvider {
    @Override
    public KeyOrder orderOf(Class<?> keyClass, RawComparator<?> comparator) {
      return new KeyOrder(KeyOrder.Kind.BYTES) {
        @Override
        public long prefix(byte[] data, int start, int length) {
          return 0;
        }
      };
    }
  }

  /** A provider that was compiled with something that is not there. */
  public static class Unlinked implements KeyOrderProvider {
    @Override
    public KeyOrder orderOf(Class<?> keyClass, RawComparator<?> comparator) {
      throw new NoClassDefFoundError("as expected");
    }
  }

  // Promise (how-to/accelerate): A provider that is broken leaves the job to the stock classes
  @ParameterizedTest
  @ValueSource(
      strings = {
        "no.such.Provider",
        "org.apache.hadoop.io.Text",
        "org.howdah.sort.ProvidersTest$NoBytes",
        "org.howdah.sort.ProvidersTest$Unlinked"
      })
  void aBrokenProviderOfOrdersLeavesMapsToHadoop(String provider) throws Exception {
    provide(KeyOrderProvider.class, provider);
    leaves(LeftToHadoop.Reason.PROVIDER, job -> {});
    assertThatThrownBy(() -> KeyOrders.of(Text.class, WritableComparator.get(Text.class)))
        .isInstanceOf(RuntimeException.class);
  }

  // Promise (how-to/accelerate): A provider that is broken leaves the job to the stock classes
  @Test
  void aBrokenProviderOfFoldsLeavesMapsToHadoop() throws Exception {
    provide(FoldProvider.class, "no.such.Provider");
    leaves(LeftToHadoop.Reason.PROVIDER, job -> job.setCombinerClass(Jobs.Distinct.class));
  }

  /** As Text's own, which is not known of it. */
  public static class Own extends WritableComparator {
    private final Text.Comparator texts = new Text.Comparator();

    public Own() {
      super(Text.class, true);
    }

    @Override
    public int compare(
        byte[] one, int start, int length, byte[] other, int otherStart, int otherLength) {
      return texts.compare(one, start, length, other, otherStart, otherLength);
    }
  }

  /** Knows it. */
  public static class Knowing implements KeyOrderProvider {
    @Override
    public KeyOrder orderOf(Class<?> keyClass, RawComparator<?> comparator) {
      if (!(comparator instanceof Own)) {
        return null;
      }
      return new KeyOrder.Bytes() {
        @Override
        public int contentStart(byte[] data, int start) {
          return start + WritableUtils.decodeVIntSize(data[start]);
        }
      };
    }
  }

  // Promise (how-to/accelerate): A key order or a combiner of your own is used through a provider
  @Test
  void anOrderThatAProviderKnowsIsTaken() throws Exception {
    assertThat(KeyOrders.of(Text.class, new Own()).kind()).isEqualTo(KeyOrder.Kind.UNKNOWN);
    provide(KeyOrderProvider.class, Knowing.class.getName());
    assertThat(KeyOrders.of(Text.class, new Own()).kind()).isEqualTo(KeyOrder.Kind.BYTES);
    for (int megabytes : new int[] {1, 64}) {
      jobs.same(
          "known" + megabytes,
          MAPS,
          2,
          job -> {
            job.setSortComparatorClass(Own.class);
            job.getConfiguration().setInt(Jobs.RECORDS, 50_000);
            job.getConfiguration().setInt(SortingCollector.MEMORY_MB, megabytes);
          });
    }
  }

  /** Sums of numbers of eight bytes. */
  public static class Sums implements FoldProvider {
    @Override
    public Fold foldOf(Class<?> combiner, JobConf job) {
      if (combiner != Jobs.TextSum.class) {
        return null;
      }
      return (target, into, intoLength, data, from, length) -> {
        ByteBuffer sum = ByteBuffer.wrap(target);
        sum.putLong(into, sum.getLong(into) + ByteBuffer.wrap(data).getLong(from));
        return true;
      };
    }
  }

  // Promise (how-to/accelerate): A key order or a combiner of your own is used through a provider
  @Test
  void aCombinerThatAProviderKnowsIsFolded() throws Exception {
    jobs.same("not yet", MAPS, 2, Jobs.counting(Jobs.TextSum.class, 1));
    assertThat(jobs.counter("FOLDED")).isZero();
    provide(FoldProvider.class, Sums.class.getName());
    for (int megabytes : new int[] {1, 64}) {
      jobs.same("folded" + megabytes, MAPS, 2, Jobs.counting(Jobs.TextSum.class, megabytes));
      assertThat(jobs.counter("FOLDED")).isPositive();
    }
  }

  /** An order that is right, until it fails. */
  public static class Failing implements KeyOrderProvider {
    @Override
    public KeyOrder orderOf(Class<?> keyClass, RawComparator<?> comparator) {
      return new KeyOrder(KeyOrder.Kind.UNKNOWN) {
        private int calls;

        @Override
        public long prefix(byte[] data, int start, int length) {
          if (++calls == 500) {
            throw new IllegalStateException("as expected");
          }
          return 0;
        }
      };
    }
  }

  /** A fold that fails after some time, with an error. */
  public static class FailingFold implements FoldProvider {
    @Override
    public Fold foldOf(Class<?> combiner, JobConf job) {
      int[] calls = new int[1];
      return (target, into, intoLength, data, from, length) -> {
        if (++calls[0] == 500) {
          throw new StackOverflowError("as expected");
        }
        return false;
      };
    }
  }

  /** Few keys, and deaf to whatever happens. */
  public static class Deaf extends Jobs.Count {
    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws InterruptedException {
      for (int number = 0; number < 10_000; number++) {
        try {
          context.write(new Text("key" + number % 10), new LongWritable(number));
        } catch (IOException | RuntimeException | Error ignored) {
          continue;
        }
      }
    }
  }

  private void failsWith(Class<?> type, Class<?> provider) throws IOException {
    provide(type, provider.getName());
    assertThatThrownBy(
            () ->
                jobs.run(
                    "deaf",
                    true,
                    1,
                    1,
                    job -> {
                      Jobs.counting(Jobs.TextSum.class, 64).apply(job);
                      job.setMapperClass(Deaf.class);
                    }))
        .isInstanceOf(AssertionError.class);
  }

  @Test
  void aRecordThatIsLostAfterItWasWrittenFailsTheMapWhateverItsMapperIgnores() throws Exception {
    failsWith(KeyOrderProvider.class, Failing.class);
  }

  @Test
  void soDoesOneThatCouldNotBeFolded() throws Exception {
    failsWith(FoldProvider.class, FailingFold.class);
  }
}
