package org.howdah.filesystem;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.fs.ClusterStorageCapacityExceededException;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.ParentNotDirectoryException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathIOException;
import org.apache.hadoop.fs.PathIsNotEmptyDirectoryException;
import org.apache.hadoop.security.AccessControlException;

/** Java's exceptions of files in Hadoop's classes, with path and operation. */
final class Errors {
  /**
   * What the C library says where a storage, the way to it or this process cannot go on: EIO and
   * EREMOTEIO, ETIMEDOUT, ESTALE, EHOSTDOWN, ENOTCONN, ESHUTDOWN, ECONNABORTED and ECONNRESET,
   * ECONNREFUSED, EHOSTUNREACH, ENETDOWN and ENETUNREACH, ECOMM, EPROTO, EUCLEAN, EBADMSG, ENODEV
   * and ENXIO, EINTR, EAGAIN, ENOMEM, EMFILE and ENFILE.
   */
  private static final List<String> FAILURES =
      Arrays.asList(
          "i/o error",
          "input/output",
          "timed out",
          "stale",
          "host is down",
          "not connected",
          "endpoint shutdown",
          "connection abort",
          "connection reset",
          "connection refused",
          "no route to host",
          "network is",
          "communication error",
          "protocol error",
          "needs cleaning",
          "bad message",
          "no such device",
          "interrupted",
          "temporarily unavailable",
          "cannot allocate memory",
          "too many open files");

  private Errors() {}

  /**
   * @param operation as a verb, such as "create"
   * @return what to throw; the very exception where it already is one of Hadoop's or of ours
   */
  static IOException of(IOException thrown, String operation, Path path) {
    String what = operation + " " + path;
    if (thrown instanceof NoSuchFileException) {
      String more = ((FileSystemException) thrown).getReason();
      String why = more == null ? "" : "; " + more;
      return caused(new FileNotFoundException(what + ": no such file or directory" + why), thrown);
    }
    if (thrown instanceof java.nio.file.FileAlreadyExistsException) {
      return caused(new FileAlreadyExistsException(what + ": it exists already"), thrown);
    }
    if (thrown instanceof AccessDeniedException) {
      return caused(
          new AccessControlException(what + ": permission denied" + whose(thrown)), thrown);
    }
    if (thrown instanceof DirectoryNotEmptyException) {
      return caused(new PathIsNotEmptyDirectoryException(path.toString()), thrown);
    }
    if (thrown instanceof NotDirectoryException) {
      return caused(new ParentNotDirectoryException(what + ": not a directory"), thrown);
    }
    if (thrown instanceof ClosedByInterruptException) {
      return caused(new InterruptedIOException(what + ": interrupted"), thrown);
    }
    if (thrown instanceof InterruptedIOException
        || !thrown.getClass().getName().startsWith("java.")
        || thrown instanceof FileNotFoundException) {
      return thrown;
    }
    return ofReason(thrown, what, operation, path);
  }

  /**
   * What was thrown without being declared: Java's views of attributes do so, with an exception of
   * their own, where a file cannot be closed.
   */
  static IOException declared(Exception thrown) {
    return thrown instanceof IOException
        ? (IOException) thrown
        : new IOException(thrown.getMessage(), thrown);
  }

  /** Whether the system was sure to have done nothing, by what it said. */
  static boolean isRefusal(IOException thrown) {
    if (thrown instanceof AccessDeniedException) {
      return true;
    }
    String lower = reason(thrown).toLowerCase(Locale.ROOT);
    return lower.contains("operation not permitted")
        || lower.contains("read-only file system")
        || lower.contains("resource busy");
  }

  /** Whether the storage failed, so that nobody knows what it has done. */
  static boolean isFailure(IOException thrown) {
    String lower = reason(thrown).toLowerCase(Locale.ROOT);
    return FAILURES.stream().anyMatch(lower::contains);
  }

  /** What the system said, for people. */
  static String said(IOException thrown) {
    String reason = reason(thrown);
    return reason.isEmpty() ? thrown.toString() : reason;
  }

  /** Empty where Java has a class of its own for it. */
  private static String reason(IOException thrown) {
    String reason =
        thrown instanceof FileSystemException
            ? ((FileSystemException) thrown).getReason()
            : thrown.getMessage();
    return reason == null ? "" : reason;
  }

  /** Of system calls that Java gives no class of their own. */
  private static IOException ofReason(
      IOException thrown, String what, String operation, Path path) {
    String reason = reason(thrown);
    String lower = reason.toLowerCase(Locale.ROOT);
    if (lower.contains("no space left") || lower.contains("quota exceeded")) {
      // MapReduce ends a job early for this class where it is told to, as with HDFS's quotas.
      return caused(new ClusterStorageCapacityExceededException(what + ": " + reason), thrown);
    }
    if (lower.contains("not a directory")) {
      return caused(new ParentNotDirectoryException(what + ": not a directory"), thrown);
    }
    if (lower.contains("operation not permitted")) {
      return caused(new AccessControlException(what + ": " + reason), thrown);
    }
    if (lower.contains("too many levels of symbolic links")) {
      return caused(new FileNotFoundException(what + ": " + reason), thrown);
    }
    // Hadoop adds what the cause says.
    String before = reason.isEmpty() ? thrown.toString() : "the system says";
    PathIOException general = new PathIOException(path.toString(), before, thrown);
    general.setOperation(operation);
    return general;
  }

  private static String whose(IOException thrown) {
    FileSystemException refused = (FileSystemException) thrown;
    String other = refused.getOtherFile();
    String reason = refused.getReason();
    return " to user "
        + System.getProperty("user.name")
        + (other == null ? "" : ", who wants it at " + other)
        + (reason == null ? "" : ": " + reason);
  }

  private static IOException caused(IOException made, IOException thrown) {
    made.initCause(thrown);
    return made;
  }
}
