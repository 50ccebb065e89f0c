package org.howdah.shuffle;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.Collection;
import java.util.Iterator;
import java.util.function.BooleanSupplier;
import javax.crypto.SecretKey;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.security.SecureShuffleUtils;
import org.apache.hadoop.mapreduce.task.reduce.MapHost;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleHeader;
import org.apache.hadoop.util.Time;

/**
 * Asks a NodeManager for map outputs, over Hadoop's protocol and with its signatures in both
 * directions.
 */
final class MapServer {
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int USUAL_TIMEOUT_MS = 3 * 60 * 1000;
  private static final long USUAL_BACKOFF_MS = 1000;
  // Hadoop waits for three minutes; until then no map of a node that is gone runs again.
  private static final long PATIENCE_MS = 15_000;
  private static final long AGAIN_MS = 3_000;
  private static final int MOST_ID = 1000;

  private final SecretKey secret;
  private final int connectTimeoutMs;
  private final int readTimeoutMs;
  private HttpURLConnection connection;

  MapServer(JobConf job, SecretKey secret) {
    this.secret = secret;
    connectTimeoutMs = job.getInt(MRJobConfig.SHUFFLE_CONNECT_TIMEOUT, USUAL_TIMEOUT_MS);
    readTimeoutMs = job.getInt(MRJobConfig.SHUFFLE_READ_TIMEOUT, USUAL_TIMEOUT_MS);
  }

  /** The NodeManager serves as many as it can, and asks to come again. */
  static final class Busy extends IOException {
    private static final long serialVersionUID = 1;
    private final long backoffMs;

    Busy(long backoffMs) {
      super("busy");
      this.backoffMs = backoffMs;
    }

    long backoffMs() {
      return backoffMs;
    }
  }

  /** What an answer says of the output that follows. */
  static final class Announced {
    final String map;
    final long partLength;
    final long rawLength;
    final int reduce;

    private Announced(String map, long partLength, long rawLength, int reduce) {
      this.map = map;
      this.partLength = partLength;
      this.rawLength = rawLength;
      this.reduce = reduce;
    }

    /** Reads what {@link ShuffleHeader} writes, whose fields are its package's. */
    static Announced read(DataInputStream in) throws IOException {
      String map;
      try {
        map = WritableUtils.readStringSafely(in, MOST_ID);
      } catch (IllegalArgumentException length) {
        throw new IOException("an answer that does not begin with the id of a map", length);
      }
      long partLength = WritableUtils.readVLong(in);
      long rawLength = WritableUtils.readVLong(in);
      return new Announced(map, partLength, rawLength, WritableUtils.readVInt(in));
    }
  }

  /** The answer of {@code host} for {@code maps}: a header and an output for each, in any order. */
  DataInputStream open(MapHost host, Collection<TaskAttemptID> maps, BooleanSupplier stopped)
      throws IOException, InterruptedException {
    StringBuilder address = new StringBuilder(host.getBaseUrl());
    for (Iterator<TaskAttemptID> each = maps.iterator(); each.hasNext(); ) {
      address.append(each.next()).append(each.hasNext() ? "," : "");
    }
    URL url = new URL(address.toString());
    String signed = SecureShuffleUtils.hashFromString(SecureShuffleUtils.buildMsgFrom(url), secret);
    HttpURLConnection made = connect(url, signed, stopped);
    verify(made, url, signed);
    return new DataInputStream(made.getInputStream());
  }

  /**
   * A NodeManager may be restarting: it is given some time to come back before that counts as a
   * failure.
   */
  private HttpURLConnection connect(URL url, String signed, BooleanSupplier stopped)
      throws IOException, InterruptedException {
    long end = Time.monotonicNow() + Math.min(connectTimeoutMs, PATIENCE_MS);
    while (true) {
      HttpURLConnection made = (HttpURLConnection) url.openConnection();
      synchronized (this) {
        connection = made;
      }
      made.addRequestProperty(SecureShuffleUtils.HTTP_HEADER_URL_HASH, signed);
      made.addRequestProperty(
          ShuffleHeader.HTTP_HEADER_NAME, ShuffleHeader.DEFAULT_HTTP_HEADER_NAME);
      made.addRequestProperty(
          ShuffleHeader.HTTP_HEADER_VERSION, ShuffleHeader.DEFAULT_HTTP_HEADER_VERSION);
      made.setConnectTimeout((int) Math.max(1, end - Time.monotonicNow()));
      made.setReadTimeout(readTimeoutMs);
      try {
        made.connect();
        return made;
      } catch (IOException refused) {
        if (stopped.getAsBoolean() || Time.monotonicNow() + AGAIN_MS >= end) {
          throw refused;
        }
      }
      Thread.sleep(AGAIN_MS);
    }
  }

  private void verify(HttpURLConnection answer, URL url, String signed) throws IOException {
    int code = answer.getResponseCode();
    if (code == TOO_MANY_REQUESTS) {
      throw new Busy(Math.max(0, answer.getHeaderFieldLong("Retry-After", USUAL_BACKOFF_MS)));
    }
    if (code != HttpURLConnection.HTTP_OK) {
      throw new IOException(
          "Got invalid response code "
              + code
              + " from "
              + url
              + ": "
              + answer.getResponseMessage());
    }
    if (!ShuffleHeader.DEFAULT_HTTP_HEADER_NAME.equals(
            answer.getHeaderField(ShuffleHeader.HTTP_HEADER_NAME))
        || !ShuffleHeader.DEFAULT_HTTP_HEADER_VERSION.equals(
            answer.getHeaderField(ShuffleHeader.HTTP_HEADER_VERSION))) {
      throw new IOException("Incompatible shuffle response version");
    }
    String reply = answer.getHeaderField(SecureShuffleUtils.HTTP_HEADER_REPLY_URL_HASH);
    if (reply == null) {
      throw new IOException("security validation of TT Map output failed");
    }
    SecureShuffleUtils.verifyReply(reply, signed, secret);
  }

  synchronized void disconnect() {
    if (connection != null) {
      connection.disconnect();
    }
  }
}
