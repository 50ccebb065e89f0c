package org.howdah.shuffle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.apache.hadoop.mapred.JobConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Map outputs that are served over TLS. */
class TlsTest extends ReduceFixture {
  private static final char[] PASSWORD = "changeit".toCharArray();

  private final ClassLoader before = Thread.currentThread().getContextClassLoader();

  @Override
  @BeforeEach
  void serve() throws IOException {
    try {
      Path keys = key("server", "ip:127.0.0.1");
      server.tls = serving(keys);
      trusts(keys);
    } catch (Exception e) {
      throw new IOException(e);
    }
    super.serve();
  }

  @AfterEach
  void forget() {
    Thread.currentThread().setContextClassLoader(before);
  }

  /** A key store with a key for a server of these names. */
  private Path key(String name, String names) throws Exception {
    Path store = directory.resolve(name + ".p12");
    List<String> command = new ArrayList<>();
    command.add(Paths.get(System.getProperty("java.home"), "bin", "keytool").toString());
    Collections.addAll(command, "-genkeypair", "-keyalg", "EC", "-dname", "CN=" + name);
    Collections.addAll(command, "-ext", "san=" + names, "-keystore", store.toString());
    Collections.addAll(command, "-storetype", "PKCS12", "-storepass", new String(PASSWORD));
    Process made = new ProcessBuilder(command).redirectErrorStream(true).start();
    made.getInputStream().close();
    assertThat(made.waitFor()).isZero();
    return store;
  }

  private static SSLContext serving(Path keys) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(keys)) {
      store.load(in, PASSWORD);
    }
    KeyManagerFactory managers = KeyManagerFactory.getInstance("PKIX");
    managers.init(store, PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return context;
  }

  /** Has clients trust the certificate of that key, by the file where Hadoop looks for it. */
  private void trusts(Path keys) throws IOException {
    String[][] settings = {
      {"location", keys.toString()}, {"type", "PKCS12"}, {"password", new String(PASSWORD)}
    };
    StringBuilder text = new StringBuilder("<configuration>");
    for (String[] one : settings) {
      text.append("<property><name>ssl.client.truststore.").append(one[0]).append("</name><value>");
      text.append(one[1]).append("</value></property>");
    }
    Files.write(
        directory.resolve("ssl-client.xml"),
        text.append("</configuration>").toString().getBytes(StandardCharsets.UTF_8));
    URL[] place = {directory.toUri().toURL()};
    Thread.currentThread().setContextClassLoader(new URLClassLoader(place, before));
  }

  private JobConf secured() {
    JobConf job = job();
    job.setClassLoader(Thread.currentThread().getContextClassLoader());
    job.setBoolean("mapreduce.shuffle.ssl.enabled", true);
    job.setInt("mapreduce.reduce.shuffle.maxfetchfailures", 3);
    return job;
  }

  // Promise (how-to/accelerate): Map outputs over TLS are fetched by our shuffle
  @Test
  void outputsAreFetchedFromWhomIsTrusted() throws Exception {
    assertThat(shuffle(secured())).isEqualTo(expected);
    assertThat(counted("SEGMENTS_HTTP")).isEqualTo(MAPS);
    assertThat(counted("FALLBACKS")).isZero();
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .noneMatch(name -> name.contains("Truststore"));
  }

  @Test
  void aServerWithAnotherKeyIsNotBelieved() throws Exception {
    trusts(key("other", "ip:127.0.0.1"));
    assertThatThrownBy(() -> shuffle(secured())).isInstanceOf(IOException.class);
    assertThat(server.asked).isEmpty();
  }

  @Test
  void aServerOfAnotherNameIsNotBelieved() throws Exception {
    Path keys = key("elsewhere", "ip:10.0.0.1");
    server.stop();
    server.tls = serving(keys);
    server.start();
    trusts(keys);
    assertThatThrownBy(() -> shuffle(secured())).isInstanceOf(IOException.class);
    assertThat(server.asked).isEmpty();
  }

  @Test
  void aTrustStoreThatCannotBeReadIsAnErrorOfTheReduce() throws Exception {
    trusts(directory.resolve("missing.p12"));
    assertThatThrownBy(() -> shuffle(secured()))
        .isInstanceOfAny(IOException.class, UncheckedIOException.class)
        .hasMessageContaining("whom to trust is not known");
    assertThat(Arrays.asList(server.asked.toArray())).isEmpty();
  }
}
