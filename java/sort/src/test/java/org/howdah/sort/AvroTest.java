package org.howdah.sort;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.hadoop.io.AvroKeyComparator;
import org.apache.avro.mapred.AvroKey;
import org.apache.avro.mapreduce.AvroJob;
import org.apache.avro.util.Utf8;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.RawComparator;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys of Avro: in the order of Avro's comparator, or of their bytes where a provider says how. */
class AvroTest {
  private static final String SCHEMA = "test.schema";
  private static final String RECORDS =
      "{'type': 'record', 'name': 'Visit', 'fields': ["
          + "{'name': 'when', 'type': 'long', 'order': 'descending'},"
          + "{'name': 'agent', 'type': 'string', 'order': 'ignore'},"
          + "{'name': 'page', 'type': ['null', 'string']}]}";

  @TempDir Path directory;
  @RegisterExtension final Services services = new Services();
  private Jobs jobs;

  @BeforeEach
  void open() {
    jobs = new Jobs(directory);
  }

  /** Few keys and many, short and long. */
  public static class Visits extends Mapper<LongWritable, Text, AvroKey<Object>, LongWritable> {
    @Override
    protected void map(LongWritable offset, Text line, Context context)
        throws IOException, InterruptedException {
      Random random = Jobs.random(line);
      Schema schema = new Schema.Parser().parse(context.getConfiguration().get(SCHEMA));
      AvroKey<Object> key = new AvroKey<>();
      for (int number = 0; number < context.getConfiguration().getInt(Jobs.RECORDS, 0); number++) {
        key.datum(drawn(schema, random));
        context.write(key, new LongWritable(random.nextInt(1000)));
      }
    }

    private static Object drawn(Schema schema, Random random) {
      switch (schema.getType()) {
        case RECORD:
          GenericData.Record record = new GenericData.Record(schema);
          record.put("when", (long) random.nextInt(300) - 150);
          // As it has no part in the order, any of those of equal keys may be what a reduce is
          // given.
          record.put("agent", new Utf8("any"));
          record.put("page", random.nextInt(5) == 0 ? null : text(random));
          return record;
        case LONG:
          return random.nextLong() >> random.nextInt(64);
        default:
          return text(random);
      }
    }

    private static Utf8 text(Random random) {
      byte[] letters = new byte[random.nextInt(random.nextInt(20) == 0 ? 300 : 12)];
      for (int at = 0; at < letters.length; at++) {
        letters[at] = (byte) (random.nextBoolean() ? 'a' : 'b');
      }
      return new Utf8(letters);
    }
  }

  /** Writes each key with its values in order. */
  public static class Listed extends Reducer<AvroKey<Object>, LongWritable, Text, NullWritable> {
    @Override
    protected void reduce(AvroKey<Object> key, Iterable<LongWritable> values, Context context)
        throws IOException, InterruptedException {
      List<Long> found = new ArrayList<>();
      values.forEach(value -> found.add(value.get()));
      found.sort(null);
      context.write(new Text(key.datum() + " " + found), NullWritable.get());
    }
  }

  private void sameWith(String schema) throws Exception {
    Schema parsed = new Schema.Parser().parse(schema.replace('\'', '"'));
    for (int megabytes : new int[] {1, 64}) {
      jobs.same(
          parsed.getName() + megabytes,
          2,
          3,
          job -> {
            job.getConfiguration().set(SCHEMA, parsed.toString());
            job.getConfiguration().setInt(Jobs.RECORDS, 50_000);
            job.getConfiguration().setInt(SortingCollector.MEMORY_MB, megabytes);
            job.setMapperClass(Visits.class);
            AvroJob.setMapOutputKeySchema(job, parsed);
            job.setMapOutputValueClass(LongWritable.class);
            job.setReducerClass(Listed.class);
          });
    }
  }

  // Promise (how-to/accelerate): Avro keys are sorted by their comparator, or by their bytes
  // through a provider
  @ParameterizedTest
  @ValueSource(strings = {"'string'", "'long'", RECORDS})
  void areSortedByItsComparator(String schema) throws Exception {
    sameWith(schema);
  }

  /** Strings: their length in an Avro long of one byte for each seven bits, and their bytes. */
  public static class Strings implements KeyOrderProvider {
    static final List<KeyOrder> GIVEN = new ArrayList<>();

    private static final KeyOrder ORDER =
        new KeyOrder.Bytes() {
          @Override
          public int contentStart(byte[] data, int start) {
            int at = start;
            while (data[at++] < 0) {}
            return at;
          }
        };

    @Override
    public KeyOrder orderOf(Class<?> keyClass, RawComparator<?> comparator) {
      if (comparator.getClass() != AvroKeyComparator.class) {
        return null;
      }
      Schema schema = AvroJob.getMapOutputKeySchema(((AvroKeyComparator<?>) comparator).getConf());
      if (schema.getType() != Schema.Type.STRING) {
        return null;
      }
      GIVEN.add(ORDER);
      return ORDER;
    }
  }

  // Promise (how-to/accelerate): Avro keys are sorted by their comparator, or by their bytes
  // through a provider
  @Test
  void areSortedByTheirBytesWhereAProviderSaysHow() throws Exception {
    Strings.GIVEN.clear();
    services.provide(directory.resolve("jar"), KeyOrderProvider.class, Strings.class.getName());
    sameWith("'string'");
    assertThat(Strings.GIVEN).hasSizeGreaterThanOrEqualTo(2 * 2);
    Strings.GIVEN.clear();
    for (String other : Arrays.asList("'long'", RECORDS)) {
      sameWith(other);
    }
    assertThat(Strings.GIVEN).isEmpty();
  }
}
