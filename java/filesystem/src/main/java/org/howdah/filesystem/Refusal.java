package org.howdah.filesystem;

import java.io.IOException;

/** What this file system itself says is wrong, in a sentence that needs nothing added. */
final class Refusal extends IOException {
  private static final long serialVersionUID = 1L;

  Refusal(String message) {
    super(message);
  }

  Refusal(String message, Throwable cause) {
    super(message, cause);
  }
}
