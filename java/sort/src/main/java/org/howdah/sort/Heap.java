package org.howdah.sort;

/** Whether the heap of the task has room for more records, beside what the mapper holds itself. */
interface Heap {
  /** One that is never asked: the memory of the records is what a user said. */
  Heap ANY =
      new Heap() {
        @Override
        public boolean hasRoom(long bytes) {
          return true;
        }

        @Override
        public boolean isTight(long bytes) {
          return false;
        }
      };

  /** Whether {@code bytes} more can be taken. May be slow: asked once per many records. */
  boolean hasRoom(long bytes);

  /**
   * Whether so little is left, when {@code bytes} more are taken for a while, that memory that was
   * taken should be given back.
   */
  boolean isTight(long bytes);
}
