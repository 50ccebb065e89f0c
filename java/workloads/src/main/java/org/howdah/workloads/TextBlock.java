package org.howdah.workloads;

/**
 * Fills blocks with lines of words and counts the words. Every block has the size that was asked
 * for, to the byte.
 */
final class TextBlock {
  private static final int WORDS_A_LINE = 12;

  private final Vocabulary vocabulary;
  private final Zipf zipf;
  private final long seed;
  private final long[] counts;
  private final long[] fillers = new long[Vocabulary.LONGEST + 2];

  TextBlock(Vocabulary vocabulary, double exponent, long seed) {
    this.vocabulary = vocabulary;
    this.zipf = new Zipf(vocabulary.size(), exponent);
    this.seed = seed;
    this.counts = new long[vocabulary.size()];
  }

  /** How often each word was written. */
  long[] counts() {
    return counts;
  }

  /** How often a word of so many z was written to fill a block up. */
  long[] fillers() {
    return fillers;
  }

  /**
   * Fills {@code length} bytes of {@code block}, the last of which is a line feed. The content
   * depends on the vocabulary, the seed and {@code number} alone.
   */
  void fill(byte[] block, int length, long number) {
    RandomBits random = new RandomBits(seed, number);
    byte[] letters = vocabulary.letters;
    int[] starts = vocabulary.starts;
    int at = 0;
    int inLine = 0;
    // As long as the longest word fits with its separator.
    int last = length - Vocabulary.LONGEST - 1;
    while (at <= last) {
      int word = zipf.draw(random);
      counts[word]++;
      int start = starts[word];
      int size = starts[word + 1] - start;
      System.arraycopy(letters, start, block, at, size);
      at += size;
      inLine++;
      if (inLine == WORDS_A_LINE) {
        block[at++] = '\n';
        inLine = 0;
      } else {
        block[at++] = ' ';
      }
    }
    int missing = length - 1 - at;
    if (missing > 0) {
      fillers[missing]++;
      for (int letter = 0; letter < missing; letter++) {
        block[at++] = 'z';
      }
    } else if (at == length) {
      at--; // The separator of the last word becomes the line feed.
    }
    block[at] = '\n';
  }
}
