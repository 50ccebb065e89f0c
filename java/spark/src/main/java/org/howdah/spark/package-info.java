/** Programs for Howdah's workloads on Apache Spark. */
package org.howdah.spark;
