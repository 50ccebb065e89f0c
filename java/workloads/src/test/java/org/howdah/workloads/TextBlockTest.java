package org.howdah.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.StringTokenizer;
import org.junit.jupiter.api.Test;

class TextBlockTest {
  private static final Vocabulary WORDS = new Vocabulary(1000, 7);

  private static byte[] filled(TextBlock text, int length, long number) {
    byte[] block = new byte[length];
    text.fill(block, length, number);
    return block;
  }

  @Test
  void everySizeIsFilledToTheByteWithWholeLines() {
    TextBlock text = new TextBlock(WORDS, 1, 1);
    for (int length = 1; length < 3000; length++) {
      byte[] block = filled(text, length, length);
      assertThat(block[length - 1]).isEqualTo((byte) '\n');
      for (byte letter : block) {
        assertThat(letter == '\n' || letter == ' ' || letter >= 'a' && letter <= 'z').isTrue();
      }
    }
  }

  @Test
  void countsAreThoseOfTheWordsThatAreThere() {
    TextBlock text = new TextBlock(WORDS, 1, 1);
    Map<String, Long> found = new HashMap<>();
    for (int number = 0; number < 50; number++) {
      String block = new String(filled(text, 8000 + number, number), StandardCharsets.US_ASCII);
      StringTokenizer tokens = new StringTokenizer(block);
      while (tokens.hasMoreTokens()) {
        found.merge(tokens.nextToken(), 1L, Long::sum);
      }
    }
    Map<String, Long> counted = new HashMap<>();
    for (int word = 0; word < WORDS.size(); word++) {
      if (text.counts()[word] > 0) {
        counted.put(WORDS.word(word), text.counts()[word]);
      }
    }
    StringBuilder filler = new StringBuilder();
    for (long count : text.fillers()) {
      if (count > 0) {
        counted.put(filler.toString(), count);
      }
      filler.append('z');
    }
    assertThat(found).isEqualTo(counted);
  }

  @Test
  void aBlockDependsOnItsNumberAndTheSeedAlone() {
    TextBlock one = new TextBlock(WORDS, 1, 1);
    byte[] first = filled(one, 5000, 3);
    filled(one, 5000, 4);
    assertThat(filled(one, 5000, 3)).isEqualTo(first);
    assertThat(filled(new TextBlock(WORDS, 1, 1), 5000, 3)).isEqualTo(first);
    assertThat(filled(new TextBlock(WORDS, 1, 2), 5000, 3)).isNotEqualTo(first);
    assertThat(filled(one, 5000, 5)).isNotEqualTo(first);
  }

  /** Passages repeat words in the same proportions; the lines between have all of them. */
  @Test
  void wordsComeAsOftenAsTheLawSaysAndRareOnesToo() {
    TextBlock text = new TextBlock(WORDS, 1, 1);
    for (int number = 0; number < 100; number++) {
      filled(text, 1 << 18, number);
    }
    double sum = 0;
    long all = 0;
    for (int word = 0; word < WORDS.size(); word++) {
      sum += 1.0 / (word + 1);
      all += text.counts()[word];
      assertThat(text.counts()[word]).isPositive();
    }
    for (int word : new int[] {0, 1, 9, 99}) {
      double expected = all / sum / (word + 1);
      assertThat(text.counts()[word] / expected).isBetween(0.9, 1.1);
    }
  }

  @Test
  void wordsAreDifferentAndOfLetters() {
    Map<String, Integer> known = new HashMap<>();
    for (int word = 0; word < WORDS.size(); word++) {
      assertThat(WORDS.word(word)).matches("[a-z]{1,11}[a-y]");
      assertThat(known.put(WORDS.word(word), word)).isNull();
    }
  }
}
