package org.howdah.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileInputStream;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import javax.security.auth.Subject;
import javax.security.auth.kerberos.KerberosTicket;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import javax.security.auth.login.LoginContext;
import javax.security.auth.login.LoginException;
import org.apache.kerby.kerberos.kerb.server.KdcServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RealmTest {
  private static final String KRB5 = "java.security.krb5.conf";

  @TempDir Path directory;
  private KdcServer server;

  @BeforeEach
  void serve() throws Exception {
    Realm realm = new Realm("TEST");
    realm.add("nn", "nn/cluster");
    realm.add("web", "HTTP/cluster");
    realm.add("web", "HTTP/127.0.0.1");
    realm.add("owner", "ann");
    realm.writeKeytabs(directory);
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    server = realm.serve("127.0.0.1", port);
    List<String> lines =
        Arrays.asList(
            "[libdefaults]",
            "default_realm = TEST",
            "udp_preference_limit = 1",
            "[realms]",
            "TEST = {",
            "kdc = 127.0.0.1:" + port,
            "}");
    System.setProperty(KRB5, Files.write(directory.resolve("krb5.conf"), lines).toString());
  }

  @AfterEach
  void end() throws Exception {
    server.stop();
    System.clearProperty(KRB5);
  }

  private Subject login(String principal, String keytab) throws LoginException {
    Map<String, String> options = new HashMap<>();
    options.put("useKeyTab", "true");
    options.put("keyTab", directory.resolve(keytab + ".keytab").toString());
    options.put("principal", principal + "@TEST");
    options.put("doNotPrompt", "true");
    options.put("refreshKrb5Config", "true");
    Configuration one =
        new Configuration() {
          @Override
          public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
            return new AppConfigurationEntry[] {
              new AppConfigurationEntry(
                  "com.sun.security.auth.module.Krb5LoginModule",
                  AppConfigurationEntry.LoginModuleControlFlag.REQUIRED,
                  options)
            };
          }
        };
    LoginContext context = new LoginContext("test", new Subject(), null, one);
    context.login();
    return context.getSubject();
  }

  @Test
  void keytabsLogInAndTicketsLastADay() throws Exception {
    for (String[] who :
        new String[][] {
          {"ann", "owner"}, {"nn/cluster", "nn"}, {"HTTP/127.0.0.1", "web"}, {"HTTP/cluster", "web"}
        }) {
      Subject subject = login(who[0], who[1]);
      assertThat(subject.getPrincipals()).extracting(Object::toString).contains(who[0] + "@TEST");
      KerberosTicket ticket = subject.getPrivateCredentials(KerberosTicket.class).iterator().next();
      long seconds = (ticket.getEndTime().getTime() - ticket.getStartTime().getTime()) / 1000;
      assertThat(seconds).isEqualTo(Realm.TICKET_SECONDS);
    }
  }

  @Test
  void keytabsOfOthersAndOfOtherRealmsDoNot() throws Exception {
    assertThatThrownBy(() -> login("ann", "nn")).isInstanceOf(LoginException.class);
    assertThatThrownBy(() -> login("eve", "owner")).isInstanceOf(LoginException.class);
    Realm other = new Realm("TEST");
    other.add("owner", "ann");
    other.writeKeytabs(directory);
    assertThatThrownBy(() -> login("ann", "owner")).isInstanceOf(LoginException.class);
  }

  @Test
  void whatItLeavesIsItsOwnersAlone() throws Exception {
    new ServerKey("TEST", Collections.singletonList("127.0.0.1")).write(directory);
    for (String name : Arrays.asList("owner.keytab", "server.p12", "passphrase", "trust.jks")) {
      assertThat(Files.getPosixFilePermissions(directory.resolve(name)))
          .isEqualTo(PosixFilePermissions.fromString("rw-------"));
    }
  }

  @Test
  void inTheRealmOfASiteItMakesTheKeyForTlsAloneAndEnds(@TempDir Path site) throws Exception {
    Files.write(site.resolve("request"), Collections.singletonList("address 127.0.0.1"));
    Realm.main(new String[] {site.toString(), "SITE", "127.0.0.1", "1"});
    assertThat(site.toFile().list())
        .containsExactlyInAnyOrder(
            "request", "ready", "server.p12", "passphrase", "trust.jks", "certificate.pem");
  }

  @Test
  void itsKeyServesTlsToWhoeverTrustsItsCertificate() throws Exception {
    new ServerKey("TEST", Arrays.asList("10.1.2.3", "127.0.0.1")).write(directory);
    char[] passphrase =
        new String(Files.readAllBytes(directory.resolve("passphrase"))).toCharArray();
    KeyManagerFactory own = KeyManagerFactory.getInstance("PKIX");
    own.init(store("PKCS12", "server.p12", passphrase), passphrase);
    TrustManagerFactory trusting = TrustManagerFactory.getInstance("PKIX");
    trusting.init(store("JKS", "trust.jks", null));
    SSLContext serving = SSLContext.getInstance("TLS");
    serving.init(own.getKeyManagers(), null, null);
    SSLContext asking = SSLContext.getInstance("TLS");
    asking.init(null, trusting.getTrustManagers(), null);
    ExecutorService pool = Executors.newSingleThreadExecutor();
    InetAddress here = InetAddress.getByName("127.0.0.1");
    try (SSLServerSocket listening =
        (SSLServerSocket) serving.getServerSocketFactory().createServerSocket(0, 1, here)) {
      Callable<Integer> serve =
          () -> {
            try (SSLSocket one = (SSLSocket) listening.accept()) {
              return one.getInputStream().read();
            }
          };
      Future<Integer> read = pool.submit(serve);
      try (SSLSocket one =
          (SSLSocket)
              asking.getSocketFactory().createSocket("127.0.0.1", listening.getLocalPort())) {
        SSLParameters strict = one.getSSLParameters();
        strict.setEndpointIdentificationAlgorithm("HTTPS");
        one.setSSLParameters(strict);
        one.getOutputStream().write(7);
        one.getOutputStream().flush();
        assertThat(read.get()).isEqualTo(7);
      }
    } finally {
      pool.shutdownNow();
    }
    try (InputStream pem = Files.newInputStream(directory.resolve("certificate.pem"))) {
      X509Certificate certificate =
          (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(pem);
      assertThat(certificate.getSubjectAlternativeNames().toString()).contains("10.1.2.3");
    }
  }

  private KeyStore store(String type, String name, char[] passphrase) throws Exception {
    KeyStore store = KeyStore.getInstance(type);
    try (InputStream in = new FileInputStream(directory.resolve(name).toFile())) {
      store.load(in, passphrase);
    }
    return store;
  }
}
