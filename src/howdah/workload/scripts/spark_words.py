"""WordCount on Spark: INPUT OUTPUT. The driver of an application; the work on words is done in the JVMs."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

source, target = sys.argv[1:]
session = SparkSession.builder.appName("WordCount on Spark").getOrCreate()
words = session.read.text(source).select(f.explode(f.split("value", " ")).alias("word")).where("word <> ''")
counts = words.groupBy("word").count()
counts.select(f.concat_ws("\t", "word", "count")).write.text(target)
session.stop()
