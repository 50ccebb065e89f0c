package org.howdah.workloads;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * {@code textgen BYTES DIRECTORY}: text of exactly so many bytes, its words distributed by Zipf's
 * law.
 *
 * <p>All files together are the same for the same size, seed, vocabulary and exponent, whatever the
 * number of maps. Beside each file, {@code _counts-m-NNNNN} says how often each word is in it;
 * programs that read the directory leave out such names.
 */
public final class TextGenerator extends Configured implements Tool {
  static final String SEED = "howdah.text.seed";
  static final String WORDS = "howdah.text.words";
  static final String EXPONENT = "howdah.text.exponent";

  private static final int BLOCK_BYTES = 1 << 18;

  /** What was generated, over all maps. */
  enum Generated {
    BYTES,
    WORDS
  }

  public static void main(String[] arguments) throws Exception {
    System.exit(ToolRunner.run(new Configuration(), new TextGenerator(), arguments));
  }

  @Override
  public int run(String[] arguments) throws Exception {
    if (arguments.length != 2) {
      System.err.println(
          "Usage: textgen [-D"
              + SEED
              + "=N] [-D"
              + WORDS
              + "=N] [-D"
              + EXPONENT
              + "=X] BYTES DIRECTORY");
      return 2;
    }
    Job job =
        TextJob.of(
            getConf(),
            "textgen",
            Long.parseLong(arguments[0]),
            BLOCK_BYTES,
            Blocks.class,
            arguments[1]);
    return TextJob.run(job, Generated.values());
  }

  /** Fills one block for each record. */
  static final class Blocks extends Mapper<LongWritable, LongWritable, NullWritable, Text> {
    private final Text text = new Text(new byte[BLOCK_BYTES]);
    private Vocabulary vocabulary;
    private TextBlock filled;
    private long bytes;

    @Override
    protected void setup(Context context) {
      Configuration conf = context.getConfiguration();
      long seed = conf.getLong(SEED, 1);
      vocabulary = new Vocabulary(conf.getInt(WORDS, 100_000), seed);
      filled = new TextBlock(vocabulary, conf.getDouble(EXPONENT, 1), seed);
    }

    @Override
    protected void map(LongWritable first, LongWritable length, Context context)
        throws IOException, InterruptedException {
      int size = (int) length.get();
      // Filled where it is written from: a text keeps its array when it gets shorter.
      filled.fill(text.getBytes(), size, first.get() / BLOCK_BYTES);
      if (text.getLength() != size - 1) {
        // The output format ends every record with the line feed that the block ends with.
        text.set(text.getBytes(), 0, size - 1);
      }
      context.write(NullWritable.get(), text);
      bytes += size;
    }

    @Override
    protected void cleanup(Context context) throws IOException, InterruptedException {
      Path file = new Path(FileOutputFormat.getWorkOutputPath(context), name(context));
      FileSystem storage = file.getFileSystem(context.getConfiguration());
      long words;
      try (Writer out =
          new BufferedWriter(
              new OutputStreamWriter(storage.create(file), StandardCharsets.US_ASCII))) {
        words = writeCounts(out);
      }
      context.getCounter(Generated.BYTES).increment(bytes);
      context.getCounter(Generated.WORDS).increment(words);
    }

    private static String name(Context context) {
      return FileOutputFormat.getUniqueFile(context, "_counts", "");
    }

    private long writeCounts(Writer out) throws IOException {
      long sum = 0;
      long[] counts = filled.counts();
      for (int word = 0; word < counts.length; word++) {
        sum += write(out, vocabulary.word(word), counts[word]);
      }
      StringBuilder filler = new StringBuilder();
      for (long count : filled.fillers()) {
        sum += write(out, filler.toString(), count);
        filler.append('z');
      }
      return sum;
    }

    private static long write(Writer out, String word, long count) throws IOException {
      if (count > 0) {
        out.write(word + '\t' + count + '\n');
      }
      return count;
    }
  }
}
