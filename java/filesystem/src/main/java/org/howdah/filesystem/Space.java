package org.howdah.filesystem;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.fs.FsStatus;

/** How much of a device is used and free. */
final class Space {
  private Space() {}

  /** Of the whole device, or, where this process's user has a quota there, of that. */
  static FsStatus of(Path located) throws IOException {
    FileStore store = Files.getFileStore(located);
    long total = store.getTotalSpace();
    long usable = store.getUsableSpace();
    Native calls = Native.get();
    Native.Quota quota = calls == null ? null : calls.quota(store.name());
    if (quota == null) {
      return new FsStatus(total, total - store.getUnallocatedSpace(), usable);
    }
    long left = Math.min(usable, Math.max(0, quota.limit - quota.used));
    return new FsStatus(Math.min(total, quota.limit), quota.used, left);
  }
}
