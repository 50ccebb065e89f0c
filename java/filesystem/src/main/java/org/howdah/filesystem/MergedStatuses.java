package org.howdah.filesystem;

import java.io.IOException;
import java.util.NoSuchElementException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.RemoteIterator;

/** Two sorted sequences of statuses as one: those that are there, and those still to be made. */
final class MergedStatuses implements RemoteIterator<FileStatus> {
  private final FileStatus[] made;
  private final RemoteIterator<FileStatus> later;
  private int given;

  /** The first of the later ones; null if it is not known. */
  private FileStatus next;

  MergedStatuses(FileStatus[] made, RemoteIterator<FileStatus> later) {
    this.made = made;
    this.later = later;
  }

  @Override
  public boolean hasNext() throws IOException {
    return given < made.length || next != null || later.hasNext();
  }

  @Override
  public FileStatus next() throws IOException {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    if (next == null && later.hasNext()) {
      next = later.next();
    }
    if (next == null || given < made.length && NameOrder.compare(made[given], next) < 0) {
      return made[given++];
    }
    FileStatus first = next;
    next = null;
    return first;
  }
}
