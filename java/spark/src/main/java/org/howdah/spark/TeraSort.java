package org.howdah.spark;

import static org.apache.spark.sql.functions.call_udf;
import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.substring;
import static org.apache.spark.sql.functions.udf;

import java.io.IOException;
import java.util.Iterator;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.examples.terasort.TeraOutputFormat;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.Text;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;
import scala.Tuple2;

/**
 * Sorts TeraGen's rows as Spark does it best: rows in its own binary form, sorted by pointer and
 * key prefix outside the heap's objects. The partitions are found as Hadoop's TeraSort finds them,
 * from a sample that the driver reads, because Spark's own range partitioning reads all rows twice.
 */
public final class TeraSort {
  static final int ROW = 100;
  static final int KEY = 10;

  private static final int SAMPLE = 100_000;

  private TeraSort() {}

  /** Arguments: the directory with the rows, the directory to make, the number of partitions. */
  public static void main(String[] arguments) throws IOException {
    if (arguments.length != 3) {
      throw new IllegalArgumentException("INPUT OUTPUT PARTITIONS");
    }
    SparkSession session = SparkSession.builder().appName("TeraSort on Spark").getOrCreate();
    try {
      sort(session, new Path(arguments[0]), arguments[1], Integer.parseInt(arguments[2]));
    } finally {
      session.stop();
    }
  }

  private static void sort(SparkSession session, Path input, String output, int partitions)
      throws IOException {
    JavaSparkContext context = new JavaSparkContext(session.sparkContext());
    Configuration conf = context.hadoopConfiguration();
    Boundaries boundaries =
        new Boundaries(Sampler.sample(input.getFileSystem(conf), input, SAMPLE), partitions);
    UDF1<byte[], Integer> partition = boundaries::partition;
    session.udf().register("partition_of", udf(partition, DataTypes.IntegerType));

    JavaRDD<byte[]> rows = context.binaryRecords(input.toString(), ROW);
    Dataset<Row> sorted =
        session
            .createDataset(rows.rdd(), Encoders.BINARY())
            .select(
                substring(col("value"), 1, KEY).as("key"),
                substring(col("value"), KEY + 1, ROW - KEY).as("rest"))
            .repartitionById(partitions, call_udf("partition_of", col("key")))
            .sortWithinPartitions("key");
    JavaPairRDD<Text, Text> pairs =
        sorted.queryExecution().toRdd().toJavaRDD().mapPartitionsToPair(TeraSort::pairs);
    pairs.saveAsNewAPIHadoopFile(output, Text.class, Text.class, TeraOutputFormat.class, conf);
  }

  /** Every row's key and value in the same two objects: the writer is done with them at once. */
  private static Iterator<Tuple2<Text, Text>> pairs(Iterator<InternalRow> rows) {
    Tuple2<Text, Text> pair = new Tuple2<>(new Text(), new Text());
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public Tuple2<Text, Text> next() {
        InternalRow row = rows.next();
        pair._1().set(row.getBinary(0));
        pair._2().set(row.getBinary(1));
        return pair;
      }
    };
  }
}
