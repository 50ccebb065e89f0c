/**
 * MapReduce programs that generate data and load for Howdah's workloads; {@code hadoop jar} runs
 * them by name.
 */
package org.howdah.workloads;
