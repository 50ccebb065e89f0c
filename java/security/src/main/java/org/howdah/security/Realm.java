package org.howdah.security;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kerby.kerberos.kerb.KrbException;
import org.apache.kerby.kerberos.kerb.crypto.EncryptionHandler;
import org.apache.kerby.kerberos.kerb.identity.backend.BackendConfig;
import org.apache.kerby.kerberos.kerb.keytab.Keytab;
import org.apache.kerby.kerberos.kerb.keytab.KeytabEntry;
import org.apache.kerby.kerberos.kerb.request.KrbIdentity;
import org.apache.kerby.kerberos.kerb.server.KdcConfig;
import org.apache.kerby.kerberos.kerb.server.KdcConfigKey;
import org.apache.kerby.kerberos.kerb.server.KdcServer;
import org.apache.kerby.kerberos.kerb.type.KerberosTime;
import org.apache.kerby.kerberos.kerb.type.base.EncryptionKey;
import org.apache.kerby.kerberos.kerb.type.base.EncryptionType;
import org.apache.kerby.kerberos.kerb.type.base.NameType;
import org.apache.kerby.kerberos.kerb.type.base.PrincipalName;

/**
 * A Kerberos realm that lives as long as this process: its principals have random keys and are in
 * memory alone.
 *
 * <p>It is told by the file {@code request} of a directory, in which it leaves a keytab for each
 * name, and a key for TLS. The file {@code ready} is the last one: whoever sees it can log in.
 * Without any principal in the request, the realm is that of a site: then it makes the key for TLS
 * alone, and ends.
 */
public final class Realm {
  /** A ticket is good for so long; daemons get new ones by their keytabs. */
  static final long TICKET_SECONDS = 24 * 3600;

  private static final List<EncryptionType> TYPES =
      Arrays.asList(EncryptionType.AES256_CTS_HMAC_SHA1_96, EncryptionType.AES128_CTS_HMAC_SHA1_96);

  private final String name;
  private final Map<String, KrbIdentity> identities = new TreeMap<>();
  private final Map<String, Keytab> keytabs = new TreeMap<>();

  Realm(String name) throws KrbException {
    this.name = name;
    identities.put("krbtgt", identity("krbtgt/" + name + "@" + name));
  }

  /**
   * Entry: the directory, the name of the realm, and where it listens.
   *
   * @param arguments {@code DIRECTORY REALM ADDRESS PORT}
   * @throws Exception whatever stands in the way; the process ends
   */
  public static void main(String[] arguments) throws Exception {
    Path directory = Paths.get(arguments[0]);
    Realm realm = new Realm(arguments[1]);
    List<String> addresses = new ArrayList<>();
    for (String line : Files.readAllLines(directory.resolve("request"))) {
      String[] words = line.split(" ");
      if (words[0].equals("principal")) {
        realm.add(words[1], words[2]);
      } else {
        addresses.add(words[1]);
      }
    }
    realm.writeKeytabs(directory);
    new ServerKey(realm.name, addresses).write(directory);
    if (realm.keytabs.isEmpty()) {
      write(directory.resolve("ready"), new byte[0]);
      return;
    }
    realm.serve(
        InetAddress.getByName(arguments[2]).getHostAddress(), Integer.parseInt(arguments[3]));
    write(directory.resolve("ready"), new byte[0]);
    Thread.currentThread().join();
  }

  /** Adds a principal, whose key goes into the keytab of this name, too. */
  void add(String keytab, String principal) throws KrbException {
    String full = principal + "@" + name;
    if (!identities.containsKey(principal)) {
      identities.put(principal, identity(full));
    }
    KrbIdentity identity = identities.get(principal);
    Keytab entries = keytabs.computeIfAbsent(keytab, unused -> new Keytab());
    PrincipalName who = new PrincipalName(full, NameType.NT_PRINCIPAL);
    for (EncryptionKey key : identity.getKeys().values()) {
      entries.addEntry(new KeytabEntry(who, KerberosTime.now(), identity.getKeyVersion(), key));
    }
  }

  private static KrbIdentity identity(String principal) throws KrbException {
    KrbIdentity made = new KrbIdentity(principal);
    for (EncryptionType type : TYPES) {
      EncryptionKey key = EncryptionHandler.random2Key(type);
      key.setKvno(1);
      made.addKey(key);
    }
    made.setKeyVersion(1);
    return made;
  }

  void writeKeytabs(Path directory) throws IOException {
    for (Map.Entry<String, Keytab> keytab : keytabs.entrySet()) {
      Path file = directory.resolve(keytab.getKey() + ".keytab");
      write(file, new byte[0]);
      keytab.getValue().store(file.toFile());
    }
  }

  /** Listens on one address, by TCP alone: no answer is too long for that. */
  KdcServer serve(String address, int port) throws KrbException {
    KdcConfig config = new KdcConfig();
    config.setString(KdcConfigKey.KDC_REALM, name);
    config.setLong(KdcConfigKey.MAXIMUM_TICKET_LIFETIME, TICKET_SECONDS);
    config.setBoolean(KdcConfigKey.PREAUTH_REQUIRED, true);
    KdcServer server = new KdcServer(config, new BackendConfig());
    server.setKdcRealm(name);
    server.setKdcHost(address);
    server.setAllowUdp(false);
    server.setAllowTcp(true);
    server.setKdcTcpPort(port);
    server.setWorkDir(new File("."));
    server.init();
    for (KrbIdentity identity : identities.values()) {
      server.getIdentityService().addIdentity(identity);
    }
    server.start();
    return server;
  }

  /** Writes a file whole that its owner alone may read. */
  static void write(Path file, byte[] content) throws IOException {
    Path fresh =
        Files.createTempFile(
            file.getParent(),
            ".new",
            null,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.write(fresh, content);
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
