/** Micro-benchmarks; in the package of what they measure, which is its own. */
package org.howdah.sort;
