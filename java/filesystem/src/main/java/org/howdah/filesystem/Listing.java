package org.howdah.filesystem;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import org.apache.hadoop.fs.FileStatus;

/**
 * Statuses of names in one directory, made while more names are read. Who asks for them then, in
 * the thread that has the directory open, gets attributes with the names or ahead from NFS, Lustre
 * and FUSE (MooseFS, CephFS). Only where they come slowly all the same, other threads help.
 */
final class Listing {
  /** Names that one thread takes at a time. */
  private static final int PIECE = 128;

  /** Of one status. From a cache it takes 2 to 15 µs, over a network 100 and more. */
  private static final long SLOW_NANOSECONDS = 80_000;

  /** So many pieces in a row: one may wait for the processor, or for a collection. */
  private static final int SLOW_PIECES = 4;

  /** Of one name; null if it is gone. */
  interface Maker {
    FileStatus make(java.nio.file.Path located) throws IOException;
  }

  private final Maker maker;
  private final Semaphore helpers;
  private final int parallelFrom;
  private final List<FileStatus[]> pieces = new ArrayList<>();
  private final List<Future<?>> running = new ArrayList<>();
  private java.nio.file.Path[] names = new java.nio.file.Path[PIECE];
  private int count;
  private int seen;
  private int slow;

  /**
   * @param known entries that the directory has at least
   */
  Listing(Settings settings, int known, Maker maker) {
    this.maker = maker;
    helpers = new Semaphore(settings.threads);
    parallelFrom = settings.listParallel;
    seen = known;
  }

  /** Entries that the directory has at least, by what is known so far. */
  int seen() {
    return seen;
  }

  void add(java.nio.file.Path name) throws IOException {
    names[count++] = name;
    seen++;
    if (count == PIECE) {
      fill();
    }
  }

  /** Waits for all; in the order of names, without those that are gone. */
  FileStatus[] finish() throws IOException {
    fill();
    for (Future<?> piece : running) {
      await(piece);
    }
    List<FileStatus> found = new ArrayList<>();
    for (FileStatus[] piece : pieces) {
      for (FileStatus status : piece) {
        if (status != null) {
          found.add(status);
        }
      }
    }
    return found.toArray(new FileStatus[0]);
  }

  private void fill() throws IOException {
    java.nio.file.Path[] piece = names;
    FileStatus[] made = new FileStatus[count];
    pieces.add(made);
    if (seen < parallelFrom || slow < SLOW_PIECES || !helpers.tryAcquire()) {
      long began = System.nanoTime();
      fill(made, piece);
      slow = System.nanoTime() - began > count * SLOW_NANOSECONDS ? slow + 1 : 0;
    } else {
      names = new java.nio.file.Path[PIECE];
      running.add(
          Background.pool()
              .submit(
                  () -> {
                    try {
                      fill(made, piece);
                      return null;
                    } finally {
                      helpers.release();
                    }
                  }));
    }
    count = 0;
  }

  private void fill(FileStatus[] made, java.nio.file.Path[] piece) throws IOException {
    for (int i = 0; i < made.length; i++) {
      made[i] = maker.make(piece[i]);
    }
  }

  private static void await(Future<?> piece) throws IOException {
    try {
      piece.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while a directory was listed");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException) {
        throw (IOException) e.getCause();
      }
      throw new IOException(e.getCause());
    }
  }
}
