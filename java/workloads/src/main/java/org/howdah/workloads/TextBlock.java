package org.howdah.workloads;

/**
 * Fills blocks with lines of words and counts the words. Every block has the size that was asked
 * for, to the byte.
 *
 * <p>Of eight draws, seven are passages of eight lines from a stock, on average, and one is a line
 * that is drawn word by word. A passage is one copy, at a fraction of the time. Over all seeds
 * every word has the probability of Zipf's law; for one seed, the rarest come more often if the
 * stock happens to have them, and less often if not.
 */
final class TextBlock {
  private static final int WORDS_A_LINE = 12;
  private static final int LONGEST_LINE = WORDS_A_LINE * (Vocabulary.LONGEST + 1);
  private static final int LINES_A_PASSAGE = 8;
  private static final int WORDS_A_PASSAGE = LINES_A_PASSAGE * WORDS_A_LINE;
  private static final int LONGEST_PASSAGE = LINES_A_PASSAGE * LONGEST_LINE;
  private static final int STOCK = 1 << 12;

  /** One draw in so many is a fresh line, on average. */
  private static final int FRESH = 1 << 3;

  private static final long STOCK_STREAM = -2;

  private final Vocabulary vocabulary;
  private final Zipf zipf;
  private final long seed;
  private final long[] counts;
  private final long[] fillers = new long[Vocabulary.LONGEST + 2];
  // Passage i of the stock is the bytes from starts[i] to starts[i + 1]; its words stand together
  // too.
  private final byte[] stock = new byte[STOCK * LONGEST_PASSAGE];
  private final int[] starts = new int[STOCK + 1];
  private final int[] words = new int[STOCK * WORDS_A_PASSAGE];
  private final long[] used = new long[STOCK];

  TextBlock(Vocabulary vocabulary, double exponent, long seed) {
    this.vocabulary = vocabulary;
    this.zipf = new Zipf(vocabulary.size(), exponent);
    this.seed = seed;
    this.counts = new long[vocabulary.size()];
    RandomBits random = new RandomBits(seed, STOCK_STREAM);
    int at = 0;
    for (int word = 0; word < words.length; word++) {
      words[word] = zipf.draw(random);
      at = write(words[word], stock, at);
      stock[at++] = (byte) (word % WORDS_A_LINE == WORDS_A_LINE - 1 ? '\n' : ' ');
      if (word % WORDS_A_PASSAGE == WORDS_A_PASSAGE - 1) {
        starts[word / WORDS_A_PASSAGE + 1] = at;
      }
    }
  }

  /** How often each word was written. */
  long[] counts() {
    long[] all = counts.clone();
    for (int word = 0; word < words.length; word++) {
      all[words[word]] += used[word / WORDS_A_PASSAGE];
    }
    return all;
  }

  /** How often a word of so many z was written to fill a block up. */
  long[] fillers() {
    return fillers;
  }

  /**
   * Fills {@code length} bytes of {@code block}, the last of which is a line feed. The content
   * depends on the vocabulary, the exponent, the seed and {@code number} alone.
   */
  void fill(byte[] block, int length, long number) {
    RandomBits random = new RandomBits(seed, number);
    int at = 0;
    while (at <= length - LONGEST_PASSAGE) {
      long bits = random.next();
      if (bits >>> 32 < (1L << 32) / FRESH) {
        at = freshLine(random, block, at);
      } else {
        int passage = (int) bits & STOCK - 1;
        used[passage]++;
        int size = starts[passage + 1] - starts[passage];
        System.arraycopy(stock, starts[passage], block, at, size);
        at += size;
      }
    }
    while (at <= length - LONGEST_LINE) {
      at = freshLine(random, block, at);
    }
    end(random, block, at, length);
  }

  private int freshLine(RandomBits random, byte[] block, int from) {
    int at = from;
    for (int word = 0; word < WORDS_A_LINE; word++) {
      at = draw(random, block, at);
      block[at++] = ' ';
    }
    block[at - 1] = '\n';
    return at;
  }

  private int draw(RandomBits random, byte[] block, int at) {
    int word = zipf.draw(random);
    counts[word]++;
    return write(word, block, at);
  }

  private int write(int word, byte[] to, int at) {
    int start = vocabulary.starts[word];
    int size = vocabulary.starts[word + 1] - start;
    System.arraycopy(vocabulary.letters, start, to, at, size);
    return at + size;
  }

  /** The rest of a block, with less room than for the longest line. */
  private void end(RandomBits random, byte[] block, int from, int length) {
    int at = from;
    while (at <= length - Vocabulary.LONGEST - 1) {
      at = draw(random, block, at);
      block[at++] = ' ';
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
