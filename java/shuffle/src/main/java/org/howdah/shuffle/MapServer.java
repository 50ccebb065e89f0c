package org.howdah.shuffle;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URL;
import java.net.UnknownHostException;
import java.util.Collection;
import java.util.Iterator;
import javax.crypto.SecretKey;
import org.apache.hadoop.io.WritableUtils;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.security.SecureShuffleUtils;
import org.apache.hadoop.mapreduce.task.reduce.MapHost;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleHeader;

/**
 * Asks a NodeManager for map outputs, over Hadoop's protocol and with its signatures in both
 * directions.
 */
final class MapServer {
  static final int USUAL_TIMEOUT_MS = 3 * 60 * 1000;

  private static final int TOO_MANY_REQUESTS = 429;
  private static final long USUAL_BACKOFF_MS = 1000;
  // Between two attempts the fetcher looks whether the maps are still wanted.
  private static final int ATTEMPT_MS = 15_000;
  private static final int MOST_ID = 1000;

  private final SecretKey secret;
  private final Tls tls;
  private final int attemptMs;
  private final int readTimeoutMs;
  private HttpURLConnection connection;
  private boolean ended;

  /** {@code tls} is null where outputs are served without. */
  MapServer(JobConf job, SecretKey secret, Tls tls) {
    this.secret = secret;
    this.tls = tls;
    // 0 is no limit, as it is to the connection.
    attemptMs = Math.min(ATTEMPT_MS, job.getInt(MRJobConfig.SHUFFLE_CONNECT_TIMEOUT, ATTEMPT_MS));
    readTimeoutMs = job.getInt(MRJobConfig.SHUFFLE_READ_TIMEOUT, USUAL_TIMEOUT_MS);
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
  DataInputStream open(MapHost host, Collection<TaskAttemptID> maps) throws FetchFailure {
    StringBuilder address = new StringBuilder(host.getBaseUrl());
    for (Iterator<TaskAttemptID> each = maps.iterator(); each.hasNext(); ) {
      address.append(each.next()).append(each.hasNext() ? "," : "");
    }
    try {
      URL url = new URL(address.toString());
      String signed =
          SecureShuffleUtils.hashFromString(SecureShuffleUtils.buildMsgFrom(url), secret);
      HttpURLConnection made = connect(url, signed);
      verify(made, url, signed, maps);
      return new DataInputStream(made.getInputStream());
    } catch (FetchFailure known) {
      throw known;
    } catch (ConnectException silent) {
      // The connection was an old one, kept for the next request, and there was no new one.
      throw FetchFailure.of(FetchFailure.Kind.UNANSWERED, silent);
    } catch (IOException refused) {
      throw FetchFailure.of(FetchFailure.Kind.REFUSED, refused);
    }
  }

  private HttpURLConnection connect(URL url, String signed) throws IOException {
    HttpURLConnection made = (HttpURLConnection) url.openConnection();
    if (tls != null) {
      tls.secure(made);
    }
    made.addRequestProperty(SecureShuffleUtils.HTTP_HEADER_URL_HASH, signed);
    made.addRequestProperty(ShuffleHeader.HTTP_HEADER_NAME, ShuffleHeader.DEFAULT_HTTP_HEADER_NAME);
    made.addRequestProperty(
        ShuffleHeader.HTTP_HEADER_VERSION, ShuffleHeader.DEFAULT_HTTP_HEADER_VERSION);
    made.setConnectTimeout(attemptMs);
    made.setReadTimeout(readTimeoutMs);
    synchronized (this) {
      if (ended) {
        throw FetchFailure.of(FetchFailure.Kind.UNANSWERED, new IOException("no longer wanted"));
      }
      connection = made;
    }
    try {
      made.connect();
    } catch (SocketException | SocketTimeoutException | UnknownHostException silent) {
      throw FetchFailure.of(FetchFailure.Kind.UNANSWERED, silent);
    } catch (IOException untrusted) {
      // Somebody has answered who is not the one.
      throw FetchFailure.of(FetchFailure.Kind.REFUSED, untrusted);
    }
    return made;
  }

  private void verify(
      HttpURLConnection answer, URL url, String signed, Collection<TaskAttemptID> maps)
      throws IOException {
    int code = answer.getResponseCode();
    if (code == TOO_MANY_REQUESTS) {
      long backoffMs = answer.getHeaderFieldLong("Retry-After", USUAL_BACKOFF_MS);
      throw FetchFailure.busy(backoffMs < 0 ? USUAL_BACKOFF_MS : backoffMs);
    }
    if (code != HttpURLConnection.HTTP_OK) {
      String what = "Got invalid response code " + code + " from " + url + ": ";
      IOException refused = new IOException(what + answer.getResponseMessage());
      if (maps.size() == 1) {
        // Its output is lost, or its index: of the master, that it be run again is to be asked.
        throw FetchFailure.unread(maps.iterator().next(), refused);
      }
      throw refused;
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

  /** Called by another thread: frees the one that is here, and opens no more connections. */
  synchronized void end() {
    ended = true;
    if (connection != null) {
      // Java's connection opens once more if this comes between two of its steps.
      connection.setConnectTimeout(1);
      connection.setReadTimeout(1);
      connection.disconnect();
    }
  }
}
