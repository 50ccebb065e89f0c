package org.howdah.sort;

/**
 * Adds a value to another of the same key, in place, where that is exactly what the job's combiner
 * does. Then equal keys are folded into one record as they arrive, and are neither sorted nor
 * combined later.
 */
public interface Fold {
  /**
   * Adds the serialized value of {@code length} bytes at {@code from} in {@code data} to the one at
   * {@code into} in {@code target}. False where they cannot be added without a change in length:
   * both records then stay.
   */
  boolean add(byte[] target, int into, int intoLength, byte[] data, int from, int length);
}
