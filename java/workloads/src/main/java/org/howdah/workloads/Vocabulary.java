package org.howdah.workloads;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

/**
 * Words of 2 to 12 letters, all different, the same for the same seed. Word 0 is the most frequent.
 */
final class Vocabulary {
  static final int SHORTEST = 2;
  static final int LONGEST = 12;

  /**
   * All words, one after the other; word {@code i} begins at {@code starts[i]} and ends before
   * {@code starts[i + 1]}.
   */
  final byte[] letters;

  final int[] starts;

  Vocabulary(int words, long seed) {
    RandomBits random = new RandomBits(seed, -1);
    StringBuilder all = new StringBuilder(words * (LONGEST + 1));
    Set<String> known = new HashSet<>();
    starts = new int[words + 1];
    while (known.size() < words) {
      String word = word(random);
      if (known.add(word)) {
        all.append(word);
        starts[known.size()] = all.length();
      }
    }
    letters = all.toString().getBytes(StandardCharsets.US_ASCII);
  }

  int size() {
    return starts.length - 1;
  }

  String word(int index) {
    int start = starts[index];
    return new String(letters, start, starts[index + 1] - start, StandardCharsets.US_ASCII);
  }

  /**
   * A word that ends early ends with a letter from a to y: what fills a block up consists of z
   * alone.
   */
  private static String word(RandomBits random) {
    int length = SHORTEST + random.below(LONGEST - SHORTEST + 1);
    StringBuilder word = new StringBuilder(length);
    for (int letter = 1; letter < length; letter++) {
      word.append((char) ('a' + random.below(26)));
    }
    return word.append((char) ('a' + random.below(25))).toString();
  }
}
