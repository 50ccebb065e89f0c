package org.howdah.shuffle;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.security.GeneralSecurityException;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLSocketFactory;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRConfig;
import org.apache.hadoop.security.ssl.SSLFactory;

/**
 * How one reduce connects to NodeManagers that serve map outputs over TLS: it trusts whom the
 * {@code ssl-client.xml} of the cluster trusts, as Hadoop's own fetchers do.
 */
final class Tls {
  private final SSLFactory factory;
  // One for all, so that connections are used again.
  private final SSLSocketFactory sockets;

  private Tls(JobConf job) throws IOException {
    factory = new SSLFactory(SSLFactory.Mode.CLIENT, job);
    try {
      factory.init();
      sockets = factory.createSSLSocketFactory();
    } catch (GeneralSecurityException | IOException e) {
      factory.destroy();
      throw new IOException("map outputs are served over TLS, and whom to trust is not known", e);
    }
  }

  /** That of a job, or null where map outputs are served without. */
  static Tls of(JobConf job) throws IOException {
    boolean asked =
        job.getBoolean(MRConfig.SHUFFLE_SSL_ENABLED_KEY, MRConfig.SHUFFLE_SSL_ENABLED_DEFAULT);
    return asked ? new Tls(job) : null;
  }

  /** Prepares a connection that is not open yet. */
  void secure(HttpURLConnection connection) {
    HttpsURLConnection secured = (HttpsURLConnection) connection;
    secured.setSSLSocketFactory(sockets);
    secured.setHostnameVerifier(factory.getHostnameVerifier());
  }

  /** Ends the thread that looks for new certificates. */
  void close() {
    factory.destroy();
  }
}
