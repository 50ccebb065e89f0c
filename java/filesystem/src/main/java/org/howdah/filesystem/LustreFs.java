package org.howdah.filesystem;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;

/** Set as {@code fs.AbstractFileSystem.lustrefs.impl}. */
public final class LustreFs extends MountedFs {
  /** Called by Hadoop. */
  public LustreFs(URI uri, Configuration conf) throws IOException, URISyntaxException {
    super(uri, new LustreFileSystem(), conf, LustreFileSystem.SCHEME);
  }
}
