/**
 * A shuffle for stock Hadoop MapReduce: a {@link org.apache.hadoop.mapred.ShuffleConsumerPlugin}
 * that merges map outputs where they lie when they are on this node, and fetches the others over
 * Hadoop's own protocol.
 */
package org.howdah.shuffle;
