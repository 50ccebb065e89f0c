package org.howdah.shuffle;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import javax.net.ssl.SSLContext;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.security.SecureShuffleUtils;
import org.apache.hadoop.mapreduce.task.reduce.ShuffleHeader;

/** Has outputs of maps, and serves them by Hadoop's protocol, unless told to misbehave. */
final class MapOutputServer {
  /** What is done with one request. */
  interface Answer {
    void give(HttpExchange request, List<String> maps) throws IOException;
  }

  private static final SecretKey SECRET = new SecretKeySpec(new byte[20], "HmacSHA1");

  final Map<String, byte[]> segments = new ConcurrentHashMap<>();
  final Map<String, Long> rawLengths = new ConcurrentHashMap<>();

  /** The maps that have been asked for, as often as they were. */
  final List<String> asked = new CopyOnWriteArrayList<>();

  volatile Answer answer = this::all;

  /** With which it serves TLS; null where it does not. */
  SSLContext tls;

  private HttpServer server;
  private int port;

  /** Serves, at the port where it was before, if it was. */
  void start() throws IOException {
    InetSocketAddress here = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    if (tls == null) {
      server = HttpServer.create(here, 0);
    } else {
      HttpsServer secured = HttpsServer.create(here, 0);
      secured.setHttpsConfigurator(new HttpsConfigurator(tls));
      server = secured;
    }
    port = server.getAddress().getPort();
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/mapOutput", this::handle);
    server.start();
  }

  void stop() {
    server.stop(0);
  }

  String url() {
    return (tls == null ? "http" : "https") + "://127.0.0.1:" + port;
  }

  void put(TaskAttemptID map, byte[] segment, long rawLength) {
    segments.put(map.toString(), segment);
    rawLengths.put(map.toString(), rawLength);
  }

  private void handle(HttpExchange request) throws IOException {
    String query = request.getRequestURI().getQuery();
    List<String> maps = Arrays.asList(query.substring(query.indexOf("map=") + 4).split(","));
    asked.addAll(maps);
    String hash = request.getRequestHeaders().getFirst(SecureShuffleUtils.HTTP_HEADER_URL_HASH);
    // As Hadoop's: the signature is of the port and what follows, the reply is signed in turn.
    String signed = SecureShuffleUtils.hashFromString(port + "/mapOutput?" + query, SECRET);
    String reply = SecureShuffleUtils.generateHash(hash.getBytes(StandardCharsets.UTF_8), SECRET);
    Map<String, List<String>> headers = request.getResponseHeaders();
    headers.put(SecureShuffleUtils.HTTP_HEADER_REPLY_URL_HASH, Collections.singletonList(reply));
    headers.put(
        ShuffleHeader.HTTP_HEADER_NAME,
        Collections.singletonList(ShuffleHeader.DEFAULT_HTTP_HEADER_NAME));
    headers.put(
        ShuffleHeader.HTTP_HEADER_VERSION,
        Collections.singletonList(ShuffleHeader.DEFAULT_HTTP_HEADER_VERSION));
    try {
      assertThat(signed).isEqualTo(hash);
      answer.give(request, maps);
    } finally {
      request.close();
    }
  }

  /** The answer of a server that behaves. */
  void all(HttpExchange request, List<String> maps) throws IOException {
    DataOutputStream out = begin(request);
    for (String map : maps) {
      send(out, map);
    }
    out.flush();
  }

  static DataOutputStream begin(HttpExchange request) throws IOException {
    request.sendResponseHeaders(200, 0);
    return new DataOutputStream(request.getResponseBody());
  }

  void send(DataOutputStream out, String map) throws IOException {
    send(out, map, segments.get(map), rawLengths.get(map), 0);
  }

  static void send(DataOutputStream out, String map, byte[] segment, long rawLength, int reduce)
      throws IOException {
    new ShuffleHeader(map, segment.length, rawLength, reduce).write(out);
    out.write(segment);
  }

  /** Announces an output, and sends the first half of it. */
  void sendHalf(DataOutputStream out, String map) throws IOException {
    byte[] segment = segments.get(map);
    new ShuffleHeader(map, segment.length, rawLengths.get(map), 0).write(out);
    out.write(segment, 0, segment.length / 2);
    out.flush();
  }
}
