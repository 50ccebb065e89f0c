package org.howdah.filesystem;

import java.io.IOException;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIOException;

/**
 * What {@code createFile} and {@code appendFile} give: Hadoop's builder with the options of atomic
 * creation and of a layout.
 */
final class FileBuilder extends FSDataOutputStreamBuilder<FSDataOutputStream, FileBuilder> {
  private final MountedFileSystem files;

  FileBuilder(MountedFileSystem files, Path path) {
    super(files, path);
    this.files = files;
  }

  @Override
  public FileBuilder getThisBuilder() {
    return this;
  }

  /**
   * @throws IllegalArgumentException for an option that must be kept and is not known, and for a
   *     layout that is none
   */
  @Override
  public FSDataOutputStream build() throws IOException {
    Set<String> known = new HashSet<>();
    Creation.Wish wish = files.wish(getPermission(), isRecursive());
    for (String key : getOptions().getPropsWithPrefix("").keySet()) {
      if (Settings.isOption(key, Key.CREATE_ATOMIC)) {
        known.add(key);
        wish.atomic = getOptions().getBoolean(key, wish.atomic);
      } else if (Settings.isOption(key, Key.LAYOUT)) {
        known.add(key);
        wish.layout = Layout.of(getOptions().get(key));
      }
    }
    rejectUnknownMandatoryKeys(known, " for " + getPath());
    EnumSet<CreateFlag> flags = getFlags();
    if (flags.contains(CreateFlag.CREATE) || flags.contains(CreateFlag.OVERWRITE)) {
      return files.make(getPath(), flags, wish);
    }
    if (flags.contains(CreateFlag.APPEND)) {
      return files.append(getPath(), flags);
    }
    throw new PathIOException(
        getPath().toString(), "create, overwrite or append has to be asked for");
  }

  /** Those of a file that is made, and may replace another. */
  static EnumSet<CreateFlag> flags(boolean overwrite) {
    return overwrite
        ? EnumSet.of(CreateFlag.CREATE, CreateFlag.OVERWRITE)
        : EnumSet.of(CreateFlag.CREATE);
  }
}
