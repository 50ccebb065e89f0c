package org.howdah.security;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.ShuffleHandler;
import org.apache.hadoop.util.ApplicationClassLoader;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;
import org.apache.hadoop.yarn.server.api.ApplicationTerminationContext;
import org.apache.hadoop.yarn.server.api.AuxiliaryLocalPathHandler;
import org.apache.hadoop.yarn.server.api.AuxiliaryService;
import org.apache.hadoop.yarn.server.api.ContainerInitializationContext;
import org.apache.hadoop.yarn.server.api.ContainerTerminationContext;

/**
 * Hadoop's own shuffle service for NodeManagers without Hadoop's native code, where security is on.
 *
 * <p>It is Hadoop's {@link ShuffleHandler}, loaded once more with the classes of MapReduce: so
 * these find the {@code SecureIOUtils} of our jar, and the rest of the NodeManager finds Hadoop's.
 * YARN could load a service apart by itself ({@code yarn.nodemanager.aux-services.*.classpath}),
 * but then does not tell it where the local directories are.
 */
public final class SecureShuffle extends AuxiliaryService {
  /** The variable with the place of our jar. */
  static final String JAR = "HOWDAH_SECURE_IO";

  /** What is loaded once more; the minus is that of {@link ApplicationClassLoader}. */
  private static final List<String> SHARED =
      Arrays.asList(
          "-org.apache.hadoop.io.SecureIOUtils",
          "-org.apache.hadoop.mapred.",
          "-org.apache.hadoop.mapreduce.",
          "java.",
          "javax.",
          "org.apache.hadoop.");

  private final AuxiliaryService shuffle;

  /** As YARN makes it. */
  public SecureShuffle() throws ReflectiveOperationException, MalformedURLException {
    this(new File(System.getenv(JAR)));
  }

  SecureShuffle(File jar) throws ReflectiveOperationException, MalformedURLException {
    super(ShuffleHandler.MAPREDUCE_SHUFFLE_SERVICEID);
    URL[] places = {jar.toURI().toURL(), placeOf(ShuffleHandler.class), placeOf(JobConf.class)};
    ClassLoader apart =
        new ApplicationClassLoader(places, SecureShuffle.class.getClassLoader(), SHARED);
    shuffle =
        (AuxiliaryService)
            Class.forName(ShuffleHandler.class.getName(), true, apart)
                .getDeclaredConstructor()
                .newInstance();
  }

  private static URL placeOf(Class<?> type) {
    return type.getProtectionDomain().getCodeSource().getLocation();
  }

  /** The service that does the work. */
  AuxiliaryService shuffle() {
    return shuffle;
  }

  @Override
  protected void serviceInit(Configuration conf) throws Exception {
    shuffle.setAuxiliaryLocalPathHandler(getAuxiliaryLocalPathHandler());
    shuffle.init(conf);
    super.serviceInit(conf);
  }

  @Override
  protected void serviceStart() throws Exception {
    shuffle.start();
    super.serviceStart();
  }

  @Override
  protected void serviceStop() throws Exception {
    shuffle.stop();
    super.serviceStop();
  }

  @Override
  public void setAuxiliaryLocalPathHandler(AuxiliaryLocalPathHandler handler) {
    super.setAuxiliaryLocalPathHandler(handler);
    shuffle.setAuxiliaryLocalPathHandler(handler);
  }

  @Override
  public void setRecoveryPath(Path path) {
    super.setRecoveryPath(path);
    shuffle.setRecoveryPath(path);
  }

  @Override
  public void initializeApplication(ApplicationInitializationContext context) {
    shuffle.initializeApplication(context);
  }

  @Override
  public void stopApplication(ApplicationTerminationContext context) {
    shuffle.stopApplication(context);
  }

  @Override
  public void initializeContainer(ContainerInitializationContext context) {
    shuffle.initializeContainer(context);
  }

  @Override
  public void stopContainer(ContainerTerminationContext context) {
    shuffle.stopContainer(context);
  }

  @Override
  public ByteBuffer getMetaData() {
    return shuffle.getMetaData();
  }
}
