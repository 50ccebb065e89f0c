/**
 * A map-side sort for stock Hadoop MapReduce: a {@link org.apache.hadoop.mapred.MapOutputCollector}
 * that sorts by the first bytes of the keys instead of comparing whole keys, and moves records in
 * bulk. It writes what Hadoop's own collector writes.
 */
package org.howdah.sort;
