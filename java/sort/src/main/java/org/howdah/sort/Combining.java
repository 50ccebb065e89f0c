package org.howdah.sort;

import java.io.IOException;
import org.apache.hadoop.io.DataOutputBuffer;
import org.apache.hadoop.io.serializer.SerializationFactory;
import org.apache.hadoop.io.serializer.Serializer;
import org.apache.hadoop.mapred.Counters;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.OutputCollector;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.Task.CombinerRunner;
import org.apache.hadoop.util.Progressable;

/** Runs the job's combiner over sorted records, into a segment. */
final class Combining<K, V> implements OutputCollector<K, V> {
  private final CombinerRunner<K, V> runner;
  private final Counters.Counter output;
  private final StepProgress progress;
  private final DataOutputBuffer record = new DataOutputBuffer();
  private final Class<K> keyClass;
  private final Class<V> valueClass;
  private final Serializer<K> keys;
  private final Serializer<V> values;
  private SegmentWriter writer;

  Combining(
      CombinerRunner<K, V> runner,
      JobConf job,
      Class<K> keyClass,
      Class<V> valueClass,
      Counters.Counter output,
      Progressable progress)
      throws IOException {
    this.keyClass = keyClass;
    this.valueClass = valueClass;
    this.runner = runner;
    this.output = output;
    this.progress = new StepProgress(progress);
    SerializationFactory factory = new SerializationFactory(job);
    keys = factory.getSerializer(keyClass);
    values = factory.getSerializer(valueClass);
    keys.open(record);
    values.open(record);
  }

  void run(RawKeyValueIterator input, SegmentWriter to) throws IOException {
    writer = to;
    try {
      runner.combine(input, this);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while combining", stop);
    } catch (ClassNotFoundException missing) {
      throw new IOException("a class of the combiner is missing", missing);
    }
  }

  @Override
  public void collect(K key, V value) throws IOException {
    if (key.getClass() != keyClass) {
      throw new IOException("wrong key class: " + key.getClass() + " is not " + keyClass);
    }
    if (value.getClass() != valueClass) {
      throw new IOException("wrong value class: " + value.getClass() + " is not " + valueClass);
    }
    record.reset();
    keys.serialize(key);
    int keyLength = record.getLength();
    values.serialize(value);
    writer.append(record.getData(), 0, keyLength, record.getLength() - keyLength);
    output.increment(1);
    progress.step();
  }
}
