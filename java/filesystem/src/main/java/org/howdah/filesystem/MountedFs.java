package org.howdah.filesystem;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.Path;

/** The same file system for {@code FileContext}, which YARN and the job history use. */
abstract class MountedFs extends DelegateToFileSystem {
  private final MountedFileSystem files;

  MountedFs(URI uri, MountedFileSystem files, Configuration conf, String scheme)
      throws IOException, URISyntaxException {
    super(uri, files, conf, scheme, false);
    this.files = files;
  }

  /** In one step, where Hadoop's own way deletes the destination first. */
  @Override
  public void renameInternal(Path source, Path destination, boolean overwrite) throws IOException {
    checkPath(source);
    checkPath(destination);
    files.rename(source, destination, overwrite);
  }

  @Override
  public boolean isValidName(String source) {
    // Every name that a directory can hold; the default refuses colons.
    return true;
  }
}
