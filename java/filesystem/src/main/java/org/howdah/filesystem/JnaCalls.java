package org.howdah.filesystem;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * The C library through JNA. Numbers are those of Linux, the same on every architecture that Hadoop
 * runs on.
 */
final class JnaCalls implements org.howdah.filesystem.Native {
  private static final int AT_FDCWD = -100;
  private static final int RENAME_NOREPLACE = 1;
  private static final int O_WRONLY = 1;
  private static final int O_CLOEXEC = 02000000;
  private static final int FALLOC_FL_KEEP_SIZE = 1;
  private static final int SEEK_END = 2;

  /** {@code QCMD(Q_GETQUOTA, USRQUOTA)}. */
  private static final int GET_USER_QUOTA = 0x800007 << 8;

  /** {@code struct if_dqblk}: limits in KiB, hard before soft, then bytes used, and more. */
  private static final int QUOTA_BYTES = 72;

  private static final int EPERM = 1;
  private static final int ENOENT = 2;
  private static final int EACCES = 13;
  private static final int EEXIST = 17;
  private static final int EINVAL = 22;
  private static final int ENOSPC = 28;
  private static final int ERANGE = 34;
  private static final int ENOSYS = 38;
  private static final int ENODATA = 61;
  private static final int EOPNOTSUPP = 95;
  private static final int EDQUOT = 122;

  private static final Calls C = Native.load("c", Calls.class);

  private final Calls calls = C;

  /** As the C library declares them; {@code ssize_t} and {@code size_t} are 64 bits wide. */
  interface Calls extends Library {
    int renameat2(int fromDirectory, byte[] from, int toDirectory, byte[] to, int flags);

    int open(byte[] path, int flags);

    int close(int descriptor);

    int fallocate(int descriptor, int mode, long offset, long length);

    int ftruncate(int descriptor, long length);

    long lseek(int descriptor, long offset, int from);

    String strerror(int error);

    long getxattr(byte[] path, byte[] name, byte[] value, long size);

    int setxattr(byte[] path, byte[] name, byte[] value, long size, int flags);

    int removexattr(byte[] path, byte[] name);

    int quotactl(int command, byte[] device, int id, byte[] quota);

    int geteuid();

    Pointer getpwnam(String name);

    Pointer getgrnam(String name);

    Pointer getpwuid(int id);

    Pointer getgrgid(int id);
  }

  @Override
  public boolean renameNoReplace(Path from, Path to) throws IOException {
    try {
      if (calls.renameat2(AT_FDCWD, bytes(from), AT_FDCWD, bytes(to), RENAME_NOREPLACE) == 0) {
        return true;
      }
    } catch (UnsatisfiedLinkError older) {
      // The C library has it since 2.28.
      return false;
    }
    int error = Native.getLastError();
    if (error == ENOSYS || error == EINVAL || error == EOPNOTSUPP) {
      return false;
    }
    throw thrown(error, error == EEXIST ? to : from, "rename");
  }

  @Override
  public Reservation allocate(Path file, long bytes) throws IOException {
    int descriptor = calls.open(bytes(file), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) {
      int error = Native.getLastError();
      if (error == EACCES) {
        return null;
      }
      throw thrown(error, file, "open");
    }
    if (calls.fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, bytes) == 0) {
      return new Held(file, descriptor);
    }
    int error = Native.getLastError();
    calls.close(descriptor);
    if (error == ENOSYS || error == EOPNOTSUPP) {
      return null;
    }
    throw thrown(error, file, "fallocate");
  }

  private final class Held implements Reservation {
    private final Path file;
    private int descriptor;

    Held(Path file, int descriptor) {
      this.file = file;
      this.descriptor = descriptor;
    }

    @Override
    public void giveBack(long length) throws IOException {
      // Another may have appended to it.
      if (calls.lseek(descriptor, 0, SEEK_END) == length
          && calls.ftruncate(descriptor, length) != 0) {
        throw thrown(Native.getLastError(), file, "ftruncate");
      }
    }

    @Override
    public void close() {
      if (descriptor >= 0) {
        calls.close(descriptor);
        descriptor = -1;
      }
    }
  }

  @Override
  public byte[] attribute(Path path, String name) throws IOException {
    byte[] value = new byte[1024];
    while (true) {
      long length = calls.getxattr(bytes(path), bytes(name), value, value.length);
      if (length >= 0) {
        return java.util.Arrays.copyOf(value, (int) length);
      }
      int error = Native.getLastError();
      if (error == ENODATA) {
        return null;
      }
      if (error != ERANGE || value.length >= 1 << 20) {
        throw thrown(error, path, "getxattr " + name);
      }
      value = new byte[value.length * 8];
    }
  }

  @Override
  public void setAttribute(Path path, String name, byte[] value) throws IOException {
    if (calls.setxattr(bytes(path), bytes(name), value, value.length, 0) != 0) {
      throw thrown(Native.getLastError(), path, "setxattr " + name);
    }
  }

  @Override
  public void removeAttribute(Path path, String name) throws IOException {
    if (calls.removexattr(bytes(path), bytes(name)) != 0 && Native.getLastError() != ENODATA) {
      throw thrown(Native.getLastError(), path, "removexattr " + name);
    }
  }

  @Override
  public Quota quota(String device) {
    byte[] answer = new byte[QUOTA_BYTES];
    boolean isThere = calls.quotactl(GET_USER_QUOTA, bytes(device), calls.geteuid(), answer) == 0;
    return isThere ? quota(answer) : null;
  }

  static Quota quota(byte[] answer) {
    ByteBuffer fields = ByteBuffer.wrap(answer).order(ByteOrder.nativeOrder());
    long hard = fields.getLong();
    long soft = fields.getLong();
    long used = fields.getLong();
    long limit = hard > 0 ? hard : soft;
    return limit > 0 ? new Quota(limit << 10, used) : null;
  }

  @Override
  public int userId(String name) throws IOException {
    synchronized (calls) {
      return id(calls.getpwnam(name), "user", name);
    }
  }

  @Override
  public int groupId(String name) throws IOException {
    synchronized (calls) {
      return id(calls.getgrnam(name), "group", name);
    }
  }

  @Override
  public String userName(int id) {
    synchronized (calls) {
      return name(calls.getpwuid(id), id);
    }
  }

  @Override
  public String groupName(int id) {
    synchronized (calls) {
      return name(calls.getgrgid(id), id);
    }
  }

  /** {@code struct passwd} and {@code struct group} begin alike: two strings, then the number. */
  private static int id(Pointer found, String kind, String name) throws IOException {
    if (found != null) {
      return found.getInt(2L * Native.POINTER_SIZE);
    }
    if (name.matches("[0-9]{1,9}")) {
      return Integer.parseInt(name);
    }
    throw new Refusal("this machine knows no " + kind + " " + name);
  }

  private static String name(Pointer found, int id) {
    return found == null ? Integer.toUnsignedString(id) : found.getPointer(0).getString(0);
  }

  static byte[] bytes(Path path) {
    return bytes(path.toString());
  }

  /**
   * With the zero at its end. In the encoding of the JVM's own file names, which is what made the
   * path.
   */
  private static byte[] bytes(String text) {
    String encoding = System.getProperty("sun.jnu.encoding", "UTF-8");
    return Native.toByteArray(text, encoding);
  }

  static IOException thrown(int error, Path path, String call) {
    switch (error) {
      case ENOENT:
        return new NoSuchFileException(path.toString());
      case EEXIST:
        return new FileAlreadyExistsException(path.toString());
      case EACCES:
      case EPERM:
        return new AccessDeniedException(path.toString(), null, call);
      case EOPNOTSUPP:
        return new FileSystemException(
            path.toString(), null, call + ": this file system does not support it");
      case ENOSPC:
        return new FileSystemException(path.toString(), null, call + ": no space left on device");
      case EDQUOT:
        return new FileSystemException(path.toString(), null, call + ": disk quota exceeded");
      default:
        return new FileSystemException(path.toString(), null, call + ": " + C.strerror(error));
    }
  }
}
