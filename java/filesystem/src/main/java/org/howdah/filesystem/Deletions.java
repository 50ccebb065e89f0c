package org.howdah.filesystem;

import java.io.IOException;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.BulkDelete;
import org.apache.hadoop.fs.BulkDeleteUtils;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/** Deletes many files at a time, one call each. */
final class Deletions implements BulkDelete {
  private static final int PAGE = 1000;

  private final FileSystem files;
  private final Path base;

  Deletions(FileSystem files, Path base) {
    this.files = files;
    this.base = base;
  }

  @Override
  public int pageSize() {
    return PAGE;
  }

  @Override
  public Path basePath() {
    return base;
  }

  @Override
  public List<Map.Entry<Path, String>> bulkDelete(Collection<Path> paths) throws IOException {
    BulkDeleteUtils.validateBulkDeletePaths(paths, PAGE, base);
    List<Map.Entry<Path, String>> failed = new ArrayList<>();
    List<Path> deepestFirst = new ArrayList<>(paths);
    deepestFirst.sort(Comparator.comparingInt(Path::depth).reversed());
    for (Path path : deepestFirst) {
      try {
        files.delete(path, false);
      } catch (IOException e) {
        failed.add(new AbstractMap.SimpleImmutableEntry<>(path, e.toString()));
      }
    }
    return failed;
  }

  @Override
  public void close() {
    // Nothing is held.
  }
}
