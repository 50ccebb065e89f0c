package org.howdah.filesystem;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;

/** File systems over a directory of a test. */
final class TemporaryMount {
  private TemporaryMount() {}

  /**
   * @param settings names of keys, without scheme, and their values
   */
  static FileSystem open(Path root, String... settings) throws IOException {
    return FileSystem.newInstance(URI.create("posixfs:///"), configured(root, settings));
  }

  static Configuration configured(Path root, String... settings) {
    Configuration conf = new Configuration();
    conf.set("fs.posixfs.impl", PosixFileSystem.class.getName());
    conf.set("fs.posixfs.mount", root.toString());
    for (int i = 0; i < settings.length; i += 2) {
      conf.set("fs.posixfs." + settings[i], settings[i + 1]);
    }
    return conf;
  }
}
