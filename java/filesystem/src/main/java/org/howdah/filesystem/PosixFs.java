package org.howdah.filesystem;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;

/** Set as {@code fs.AbstractFileSystem.posixfs.impl}. */
public final class PosixFs extends MountedFs {
  /** Called by Hadoop. */
  public PosixFs(URI uri, Configuration conf) throws IOException, URISyntaxException {
    super(uri, new PosixFileSystem(), conf, PosixFileSystem.SCHEME);
  }
}
