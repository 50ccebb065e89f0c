package org.howdah.shuffle;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.util.Progressable;

/**
 * A local file system that is full once {@link #ROOM} bytes of what a reduce has fetched and merged
 * are written.
 */
public final class FullMergeDisk extends LocalFileSystem {
  static final AtomicLong ROOM = new AtomicLong(Long.MAX_VALUE);

  public FullMergeDisk() {
    super(new Raw());
  }

  private static final class Raw extends RawLocalFileSystem {
    @Override
    public FSDataOutputStream create(
        Path file,
        boolean overwrite,
        int buffer,
        short replication,
        long block,
        Progressable progress)
        throws IOException {
      FSDataOutputStream out = super.create(file, overwrite, buffer, replication, block, progress);
      boolean isBounded = file.getName().contains(".out.");
      return isBounded ? new FSDataOutputStream(new Bounded(out), null) : out;
    }
  }

  private static final class Bounded extends FilterOutputStream {
    Bounded(OutputStream out) {
      super(out);
    }

    @Override
    public void write(int value) throws IOException {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int count) throws IOException {
      if (ROOM.addAndGet(-count) < 0) {
        throw full();
      }
      out.write(bytes, offset, count);
    }

    /** As Hadoop's local file system says it. */
    private static FSError full() {
      try {
        java.lang.reflect.Constructor<FSError> made =
            FSError.class.getDeclaredConstructor(Throwable.class);
        made.setAccessible(true);
        return made.newInstance(new IOException("No space left on device"));
      } catch (ReflectiveOperationException changed) {
        throw new AssertionError(changed);
      }
    }
  }
}
