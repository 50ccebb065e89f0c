package org.howdah.sort;

import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.apache.hadoop.io.compress.GzipCodec;
import org.apache.hadoop.io.compress.Lz4Codec;
import org.apache.hadoop.io.compress.SnappyCodec;

/** What files cost that are compressed and open at once: each has a decompressor with buffers. */
public final class CodecStreams {
  /** The most at once, whatever the memory. */
  public static final int MOST = 100;

  private static final Set<Class<?>> SMALL_CODECS =
      Collections.unmodifiableSet(
          new HashSet<>(
              Arrays.asList(
                  DefaultCodec.class, GzipCodec.class, SnappyCodec.class, Lz4Codec.class)));
  private static final long SMALL_STREAM = 1L << 20;
  // BZip2 takes 4.5 MB.
  private static final long LARGE_STREAM = 6L << 20;
  private static final int SHARE_OF_HEAP = 8;

  private CodecStreams() {}

  /** How many have room in a share of {@code heap} bytes, {@link #MOST} at most. */
  public static int fitting(CompressionCodec codec, long heap) {
    long stream = SMALL_CODECS.contains(codec.getClass()) ? SMALL_STREAM : LARGE_STREAM;
    return (int) Math.min(MOST, heap / SHARE_OF_HEAP / stream);
  }
}
