package org.howdah.filesystem;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file open for reading by any number of threads. Java closes a channel when one of its readers
 * is interrupted; the others go on here, on the same file.
 */
final class ReadChannel implements Closeable {
  private final Path file;
  private final long device;
  private final long inode;
  private volatile FileChannel channel;
  private volatile boolean closed;

  /**
   * @param entry what a stat of the file said
   */
  ReadChannel(Path file, Entry entry) throws IOException {
    this.file = file;
    device = entry.device;
    inode = entry.inode;
    channel = FileChannel.open(file, StandardOpenOption.READ);
  }

  /**
   * @throws ClosedByInterruptException if this very thread is interrupted
   * @throws ClosedChannelException if the file was closed by whom it belongs to
   */
  int read(ByteBuffer into, long from) throws IOException {
    while (true) {
      FileChannel open = channel;
      try {
        return open.read(into, from);
      } catch (ClosedByInterruptException e) {
        throw e;
      } catch (ClosedChannelException e) {
        replace(open, e);
      }
    }
  }

  long size() throws IOException {
    while (true) {
      FileChannel open = channel;
      try {
        return open.size();
      } catch (ClosedByInterruptException e) {
        throw e;
      } catch (ClosedChannelException e) {
        replace(open, e);
      }
    }
  }

  boolean isOpen() {
    return !closed;
  }

  @Override
  public void close() throws IOException {
    closed = true;
    synchronized (this) {
      channel.close();
    }
  }

  private synchronized void replace(FileChannel broken, ClosedChannelException why)
      throws IOException {
    if (closed) {
      throw why;
    }
    if (channel != broken) {
      return;
    }
    FileChannel fresh = FileChannel.open(file, StandardOpenOption.READ);
    try {
      Entry now = Entry.followed(file);
      if (now.device != device || now.inode != inode) {
        throw new Refusal(file + " was replaced by another file while it was read", why);
      }
    } catch (IOException e) {
      fresh.close();
      throw e;
    }
    channel = fresh;
  }
}
