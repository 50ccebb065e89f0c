package org.howdah.workloads;

/**
 * SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014): a
 * stream of 64 random bits at a time that any number may seed.
 */
final class RandomBits {
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;
  private long state;

  /** Streams of different {@code seed} or {@code stream} have nothing in common. */
  RandomBits(long seed, long stream) {
    state = mix(seed + GOLDEN) ^ mix(stream * GOLDEN + 1);
  }

  long next() {
    state += GOLDEN;
    return mix(state);
  }

  /** A number from 0 to {@code bound} - 1; the bias is below {@code bound} / 2^32. */
  int below(int bound) {
    return (int) (((next() >>> 32) * bound) >>> 32);
  }

  /** A bijection whose every bit of output depends on every bit of input. */
  static long mix(long value) {
    long z = value;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
