package org.howdah.filesystem;

import java.io.IOException;

/** What becomes of a file that was written, at the end. */
interface OutputEnd {
  /**
   * The bytes are written, and the channel is closed.
   *
   * @param length bytes that the stream has written
   * @param checksums of the file, or null
   */
  void complete(long length, Checksums checksums) throws IOException;

  /**
   * The file is not to be seen, if it is one that appears only when it is complete; the channel is
   * closed.
   */
  void abandon() throws IOException;
}
