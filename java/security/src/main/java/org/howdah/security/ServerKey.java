package org.howdah.security;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * The key with which all web servers of one cluster serve TLS, and its certificate, which signs
 * itself.
 */
final class ServerKey {
  private static final String ALIAS = "howdah";
  private static final long A_DAY = 24L * 3600 * 1000;

  /** Longer than any cluster lives. */
  private static final long DAYS = 3650;

  private final KeyPair pair;
  private final X509Certificate certificate;

  /** A new one for servers at these addresses. */
  ServerKey(String name, List<String> addresses)
      throws GeneralSecurityException, IOException, OperatorCreationException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec("secp256r1"));
    pair = generator.generateKeyPair();
    long now = System.currentTimeMillis();
    X500Name subject = new X500Name("CN=" + name);
    GeneralName[] names = new GeneralName[addresses.size()];
    for (int i = 0; i < names.length; i++) {
      names[i] = new GeneralName(GeneralName.iPAddress, addresses.get(i));
    }
    // Clocks of hosts differ: it is good since yesterday.
    JcaX509v3CertificateBuilder builder =
        new JcaX509v3CertificateBuilder(
            subject,
            new BigInteger(120, new SecureRandom()),
            new Date(now - A_DAY),
            new Date(now + DAYS * A_DAY),
            subject,
            pair.getPublic());
    builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(true));
    builder.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(names));
    certificate =
        new JcaX509CertificateConverter()
            .getCertificate(
                builder.build(
                    new JcaContentSignerBuilder("SHA256withECDSA").build(pair.getPrivate())));
  }

  /**
   * Leaves {@code server.p12}, its {@code passphrase}, {@code trust.jks}, which needs none, and
   * {@code certificate.pem} in a directory.
   */
  void write(Path directory) throws GeneralSecurityException, IOException {
    byte[] random = new byte[32];
    new SecureRandom().nextBytes(random);
    String passphrase = Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    KeyStore own = KeyStore.getInstance("PKCS12");
    own.load(null, null);
    own.setKeyEntry(
        ALIAS, pair.getPrivate(), passphrase.toCharArray(), new Certificate[] {certificate});
    Realm.write(directory.resolve("server.p12"), stored(own, passphrase));
    Realm.write(directory.resolve("passphrase"), passphrase.getBytes(StandardCharsets.US_ASCII));
    KeyStore trust = KeyStore.getInstance("JKS");
    trust.load(null, null);
    trust.setCertificateEntry(ALIAS, certificate);
    Realm.write(directory.resolve("trust.jks"), stored(trust, "none"));
    String encoded =
        Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(certificate.getEncoded());
    String pem = "-----BEGIN CERTIFICATE-----\n" + encoded + "\n-----END CERTIFICATE-----\n";
    Realm.write(directory.resolve("certificate.pem"), pem.getBytes(StandardCharsets.US_ASCII));
  }

  private static byte[] stored(KeyStore store, String passphrase)
      throws GeneralSecurityException, IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    store.store(out, passphrase.toCharArray());
    return out.toByteArray();
  }
}
