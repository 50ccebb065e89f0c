/**
 * MapReduce programs that generate data and load for Howdah's workloads, and check what Hadoop's
 * own made of it; {@code hadoop jar} runs them by name.
 */
package org.howdah.workloads;
