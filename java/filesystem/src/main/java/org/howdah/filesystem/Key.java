package org.howdah.filesystem;

/** What can be set, as {@code fs.lustrefs.NAME} and {@code fs.posixfs.NAME}. */
enum Key {
  MOUNT(
      "mount",
      "",
      "Directory that is the root of the file system; `/` for posixfs unless set, and must be set for lustrefs."
          + " `mount.NAME` is the root of `posixfs://NAME/`."),
  MOUNT_REQUIRED(
      "mount.required",
      "",
      "Whether a file system has to be mounted at the root or above it, other than the machine's own root file system, which"
          + " can be told of another root than `/` only;"
          + " `true` for lustrefs and `false` for posixfs unless set."),
  MOUNT_TYPE(
      "mount.type",
      "",
      "Types of file system, as `df -T` names them, that the root may be on; any if empty."),
  BLOCK_SIZE(
      "block.size",
      "128m",
      "Block size that files report, by which jobs split them; rounded up to a multiple of the stripe on Lustre."),
  BLOCK_HOSTS(
      "block.hosts",
      "",
      "Hosts that every block is said to be on, separated by commas; none if empty, so that a scheduler has no reason to"
          + " prefer any."),
  BUFFER_SIZE("buffer.size", "1m", "Size of one read or write."),
  READ_AHEAD(
      "read.ahead",
      "4m",
      "Bytes that are read ahead of a sequential reader in the background while the storage is slow; 0 reads when"
          + " asked."),
  WRITE_BEHIND(
      "write.behind",
      "4m",
      "Bytes that may wait to be written in the background while the storage is slow; 0 writes when asked."),
  BACKGROUND_BELOW(
      "background.below",
      "500m",
      "Bytes per second of waiting below which the storage counts as slow: what is faster comes from memory, and a second"
          + " thread would only cost."),
  SYNC_ON_CLOSE(
      "sync.on.close",
      "",
      "Whether closing a file waits until it is on the storage; then the storage is kept busy while the file is written."
          + " Unless set, `true` where the root is on Lustre, CephFS or GPFS (type `lustre`, `ceph`, `fuse.ceph-fuse` or"
          + " `gpfs`), where a file that is only closed may still be in this machine's memory alone, and `false` elsewhere."),
  SYNC_DIRECTORIES(
      "sync.directories",
      "false",
      "Whether creating and renaming wait until the directory is on the storage too."),
  CREATE_ATOMIC(
      "create.atomic",
      "false",
      "Whether a file appears under its name only when it is closed without error, and is on the storage by then; what is"
          + " flushed before cannot be found. For one file:"
          + " `createFile(path).opt(\"fs.posixfs.create.atomic\", true)`."),
  CHECKSUM(
      "checksum",
      "false",
      "Whether files written get checksums, kept in their extended attribute `user.howdah.crc`, and sequential readers"
          + " compare them."),
  PREALLOCATE(
      "preallocate",
      "0",
      "Bytes that are reserved for a new file, given back when it is closed, unless another has appended to it; needs JNA."),
  RENAME_NATIVE(
      "rename.native",
      "false",
      "Whether renames use `renameat2`, by which directories never replace one that appears meanwhile either; needs JNA,"
          + " which takes some 100 ms to load."),
  LIST_PARALLEL(
      "list.parallel",
      "1000",
      "Entries of a directory from which on their attributes are read by several threads, if reading the first ones shows"
          + " that each has to be waited for."),
  THREADS(
      "threads",
      "8",
      "Threads of one JVM that read and write in the background, for all its file systems: where one of them hangs, so may"
          + " what is read ahead, in ranges or from directories, and what is written in the background, of another. What waits for the storage has threads of its own."),
  LAYOUT(
      "layout",
      "",
      "Lustre only: options of `lfs setstripe` that every directory made here gets, such as `-c 4 -S 4M -p flash`. For one"
          + " file: `createFile(path).opt(\"fs.lustrefs.layout\", \"-E 1G -c 1 -E -1 -c 8\")`, of `-c`, `-S`, `-p` and `-E`;"
          + " needs JNA and Lustre's `liblustreapi.so`."),
  LFS("lfs", "lfs", "Lustre only: the program that reads and sets layouts, once per directory.");

  final String suffix;
  final String usual;
  final String meaning;

  Key(String suffix, String usual, String meaning) {
    this.suffix = suffix;
    this.usual = usual;
    this.meaning = meaning;
  }
}
