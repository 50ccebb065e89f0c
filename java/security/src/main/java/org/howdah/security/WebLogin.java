package org.howdah.security;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URL;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.PrivilegedExceptionAction;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.Collections;
import java.util.Date;
import javax.security.auth.Subject;
import javax.security.auth.kerberos.KerberosTicket;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.authentication.client.AuthenticatedURL;
import org.apache.hadoop.security.authentication.client.ConnectionConfigurator;
import org.apache.hadoop.security.ssl.SSLFactory;

/**
 * Logs the user in at the web servers of a cluster, as SPNEGO has it, and says by which cookies
 * they know the user then.
 *
 * <p>It prints lines of words: {@code user NAME}, {@code until SECONDS} (when the ticket ends),
 * {@code trusted BASE64} for each certificate that clients of the cluster trust, and for each URL
 * {@code cookie URL VALUE}, {@code open URL}, where nobody asks who one is, {@code away URL WHY},
 * where nobody answers, or {@code failed URL WHY}.
 */
public final class WebLogin {
  private WebLogin() {}

  /**
   * Entry, with the configuration of the cluster on the class path.
   *
   * @param urls one of each filter of each server
   * @throws Exception where the user cannot log in at all; the process ends
   */
  public static void main(String[] urls) throws Exception {
    Configuration conf = new Configuration();
    UserGroupInformation.setConfiguration(conf);
    UserGroupInformation user = UserGroupInformation.getLoginUser();
    say("user", user.getShortUserName());
    for (KerberosTicket ticket : ticketsOf(user)) {
      Date end = ticket.getEndTime();
      if (end != null && ticket.getServer().getName().startsWith("krbtgt/")) {
        say("until", Long.toString(end.getTime() / 1000));
      }
    }
    ConnectionConfigurator secure = null;
    for (String url : urls) {
      if (secure == null && url.startsWith("https:")) {
        trust(conf);
        secure = new SSLFactory(SSLFactory.Mode.CLIENT, conf);
        ((SSLFactory) secure).init();
      }
    }
    ConnectionConfigurator configurator = secure;
    for (String url : urls) {
      user.doAs((PrivilegedExceptionAction<Void>) () -> logIn(url, configurator));
    }
  }

  private static Void logIn(String url, ConnectionConfigurator configurator) {
    AuthenticatedURL.Token token = new AuthenticatedURL.Token();
    try {
      HttpURLConnection connection =
          new AuthenticatedURL(null, configurator).openConnection(new URL(url), token);
      connection.getResponseCode();
      connection.disconnect();
      if (token.isSet()) {
        say("cookie", url, token.toString());
      } else {
        say("open", url);
      }
    } catch (Exception e) { // Of this server alone; the others are asked all the same.
      Throwable cause = e.getCause() == null ? e : e.getCause();
      String why = String.valueOf(cause.getMessage()).replace('\n', ' ');
      say(isAway(e) ? "away" : "failed", url, why);
    }
    return null;
  }

  /** Returns whether nobody has answered, so that the server may have let the user in. */
  private static boolean isAway(Throwable thrown) {
    for (Throwable one = thrown; one != null; one = one.getCause()) {
      if (one instanceof SocketException
          || one instanceof SocketTimeoutException
          || one instanceof UnknownHostException) {
        return true;
      }
    }
    return false;
  }

  private static Iterable<KerberosTicket> ticketsOf(UserGroupInformation user) throws Exception {
    return user.doAs(
        (PrivilegedExceptionAction<Iterable<KerberosTicket>>)
            () -> current().getPrivateCredentials(KerberosTicket.class));
  }

  /** Returns the subject of this thread, of which Java 24 and later no longer tell the old way. */
  private static Subject current() throws ReflectiveOperationException {
    try {
      return (Subject) Subject.class.getMethod("current").invoke(null);
    } catch (NoSuchMethodException e) { // Before Java 18.
      @SuppressWarnings("removal")
      Subject subject = Subject.getSubject(java.security.AccessController.getContext());
      return subject;
    }
  }

  /** Says what the trust store of clients has; the control plane trusts the same. */
  private static void trust(Configuration conf) throws Exception {
    Configuration ssl = new Configuration(false);
    ssl.addResource(conf.get(SSLFactory.SSL_CLIENT_CONF_KEY, "ssl-client.xml"));
    String place = ssl.get("ssl.client.truststore.location", "");
    if (place.isEmpty()) {
      return;
    }
    char[] password = ssl.getPassword("ssl.client.truststore.password");
    KeyStore store = KeyStore.getInstance(ssl.get("ssl.client.truststore.type", "jks"));
    try (java.io.InputStream in =
        java.nio.file.Files.newInputStream(java.nio.file.Paths.get(place))) {
      store.load(in, password);
    } catch (IOException e) {
      throw new IOException("the trust store " + place + " cannot be read: " + e.getMessage(), e);
    }
    for (String alias : Collections.list(store.aliases())) {
      Certificate certificate = store.getCertificate(alias);
      if (certificate != null) {
        say("trusted", Base64.getEncoder().encodeToString(certificate.getEncoded()));
      }
    }
  }

  private static void say(String... words) {
    byte[] line = (String.join(" ", words) + "\n").getBytes(StandardCharsets.UTF_8);
    System.out.write(line, 0, line.length);
    System.out.flush();
  }
}
