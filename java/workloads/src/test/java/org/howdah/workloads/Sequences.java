package org.howdah.workloads;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.Writable;

/** Sequence files of a few records with readable keys. */
final class Sequences {
  private Sequences() {}

  static BytesWritable bytes(String text) {
    return new BytesWritable(text.getBytes(StandardCharsets.US_ASCII));
  }

  /** A file whose values are of one class. */
  static void write(Path file, Class<? extends Writable> values, Writable... keysAndValues)
      throws IOException {
    try (SequenceFile.Writer writer =
        SequenceFile.createWriter(
            new Configuration(),
            SequenceFile.Writer.file(new org.apache.hadoop.fs.Path(file.toUri())),
            SequenceFile.Writer.keyClass(BytesWritable.class),
            SequenceFile.Writer.valueClass(values))) {
      for (int at = 0; at < keysAndValues.length; at += 2) {
        writer.append(keysAndValues[at], keysAndValues[at + 1]);
      }
    }
  }

  /** Records as {@code KEY=VALUE}, with a space between them. */
  static void write(Path file, String records) throws IOException {
    String[] words = records.isEmpty() ? new String[0] : records.split("[ =]");
    Writable[] all = new Writable[words.length];
    for (int at = 0; at < words.length; at++) {
      all[at] = bytes(words[at]);
    }
    write(file, BytesWritable.class, all);
  }
}
