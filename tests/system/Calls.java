import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.*;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Makes one call of a file system for each line, CALL PATH [MORE], and says in a line what came of it: "ok" or the class
 * of the exception, a tab, and more.
 */
class Calls {
  static FileSystem files;
  static FileSystem careful;

  public static void main(String[] arguments) throws Exception {
    files = FileSystem.newInstance(new Configuration());
    Configuration conf = new Configuration();
    for (String key : new String[] {"create.atomic", "sync.directories", "checksum"}) {
      conf.setBoolean("fs.posixfs." + key, true);
    }
    conf.set("dfs.checksum.combine.mode", "COMPOSITE_CRC");
    careful = FileSystem.newInstance(conf);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ");
      try {
        System.out.println("ok\t" + call(words[0], new Path(words[1]), words.length > 2 ? words[2] : ""));
      } catch (Exception e) {
        System.out.println(e.getClass().getSimpleName() + "\t" + String.valueOf(e.getMessage()).replace('\n', ' '));
      }
    }
  }

  static Object call(String call, Path path, String more) throws Exception {
    switch (call) {
      case "write":
        return write(files.create(path));
      case "write-once":
        return write(files.create(path, false));
      case "write-atomically":
        return write(careful.create(path));
      case "halt":
        FSDataOutputStream cut = careful.create(path);
        cut.write(new byte[1 << 20]);
        cut.hsync();
        Runtime.getRuntime().halt(9);
      case "append":
        return write(files.append(path));
      case "hsync":
        try (FSDataOutputStream out = files.create(path)) {
          out.write(1);
          out.hsync();
        }
        return "";
      case "read":
        try (FSDataInputStream in = files.open(path)) {
          return in.read(new byte[100]);
        }
      case "read-at":
        try (FSDataInputStream in = files.open(path)) {
          in.readFully(10, new byte[10]);
          return 10;
        }
      case "read-ranges":
        try (FSDataInputStream in = files.open(path)) {
          FileRange range = FileRange.createFileRange(10, 10);
          in.readVectored(Arrays.asList(range), ByteBuffer::allocate);
          try {
            return range.getData().get().remaining();
          } catch (java.util.concurrent.ExecutionException e) {
            throw (Exception) e.getCause();
          }
        }
      case "list":
        return files.listStatus(path).length;
      case "walk":
        int count = 0;
        for (RemoteIterator<LocatedFileStatus> found = files.listFiles(path, true); found.hasNext(); count++) {
          found.next();
        }
        return count;
      case "glob":
        return files.globStatus(path).length;
      case "status":
        return files.getFileStatus(path).getLen();
      case "exists":
        return files.exists(path);
      case "access":
        files.access(path, FsAction.READ_WRITE);
        return "";
      case "mkdirs":
        return files.mkdirs(path);
      case "mkdirs-synced":
        return careful.mkdirs(path);
      case "rename":
        return files.rename(path, new Path(more));
      case "delete":
        return files.delete(path, true);
      case "truncate":
        return files.truncate(path, 1);
      case "chmod":
        files.setPermission(path, new FsPermission((short) 0600));
        return "";
      case "touch":
        files.setTimes(path, 1000, 1000);
        return "";
      case "set":
        files.setXAttr(path, "user.a", new byte[] {1});
        return "";
      case "get":
        return files.getXAttrs(path).size();
      case "read-compared":
        try (FSDataInputStream in = careful.open(path)) {
          return in.read(new byte[100]);
        }
      case "checksum":
        return careful.getFileChecksum(path);
      case "space":
        return files.getStatus().getCapacity() > 0;
      default:
        throw new IllegalArgumentException(call);
    }
  }

  static Object write(FSDataOutputStream out) throws Exception {
    byte[] bytes = new byte[1 << 20];
    try {
      out.write(bytes);
    } catch (Exception e) {
      try {
        out.close();
      } catch (Exception ignored) {
        // The first is what the test is about.
      }
      throw e;
    }
    out.close();
    return "";
  }
}
