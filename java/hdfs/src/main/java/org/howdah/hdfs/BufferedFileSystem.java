package org.howdah.hdfs;

import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DFSInputStream;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/**
 * Hadoop's client of HDFS, with a buffer for programs that read little at a time: set as {@code
 * fs.hdfs.impl} of a job.
 *
 * <p>Hadoop's own stream makes objects, looks at the clock twice and counts in three places for
 * each call, whatever little it reads. Streams that are encrypted or erasure coded have a buffer
 * already, and stay as they are. So do those that are written, which are not slow in this way.
 */
public final class BufferedFileSystem extends DistributedFileSystem {

  @Override
  public FSDataInputStream open(Path file, int bufferSize) throws IOException {
    FSDataInputStream in = super.open(file, bufferSize);
    InputStream wrapped = in.getWrappedStream();
    // Not a stream that is encrypted, nor a striped one.
    return wrapped.getClass() == DFSInputStream.class
        ? new BufferedInput((DFSInputStream) wrapped, statistics)
        : in;
  }
}
