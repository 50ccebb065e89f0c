package org.howdah.filesystem;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of one file system that are being written. As in HDFS, they are closed with it: at the
 * end of a process, Hadoop closes the file systems that it has not closed itself.
 */
final class OpenFiles {
  private static final Logger LOG = LoggerFactory.getLogger(OpenFiles.class);

  private final Set<FileOutput> all = ConcurrentHashMap.newKeySet();

  void add(FileOutput file) {
    all.add(file);
  }

  void remove(FileOutput file) {
    all.remove(file);
  }

  /** Ends all: what was to appear when complete does not. */
  void end() {
    for (FileOutput file : all) {
      try {
        file.closeOrAbort();
      } catch (IOException e) {
        LOG.error("{}: what was written and not closed may be lost", file, e);
      }
    }
  }
}
