package org.howdah.security;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.ShuffleHandler;
import org.apache.hadoop.yarn.server.api.AuxiliaryLocalPathHandler;
import org.apache.hadoop.yarn.server.api.AuxiliaryService;
import org.junit.jupiter.api.Test;

class SecureShuffleTest {
  private static final File OURS = new File("../secure-io/target/classes");

  private static final AuxiliaryLocalPathHandler DIRECTORIES =
      new AuxiliaryLocalPathHandler() {
        @Override
        public Path getLocalPathForRead(String path) {
          return new Path("/local", path);
        }

        @Override
        public Path getLocalPathForWrite(String path) {
          return new Path("/local", path);
        }

        @Override
        public Path getLocalPathForWrite(String path, long size) {
          return new Path("/local", path);
        }

        @Override
        public Iterable<Path> getAllLocalPathsForRead(String path) {
          return java.util.Collections.singleton(new Path("/local", path));
        }
      };

  @Test
  void itIsHadoopsShuffleWithOurWayToOpenFiles() throws Exception {
    AuxiliaryService inner = new SecureShuffle(OURS).shuffle();
    assertThat(inner.getClass()).isNotSameAs(ShuffleHandler.class);
    assertThat(inner.getClass().getName()).isEqualTo(ShuffleHandler.class.getName());
    ClassLoader apart = inner.getClass().getClassLoader();
    Class<?> ours = apart.loadClass("org.apache.hadoop.io.SecureIOUtils");
    assertThat(ours.getProtectionDomain().getCodeSource().getLocation().getPath())
        .contains("secure-io");
    assertThat(apart.loadClass("org.apache.hadoop.conf.Configuration"))
        .isSameAs(Configuration.class);
  }

  @Test
  void itLivesAsItsInnerOneAndTellsItWhereFilesAre() throws Exception {
    Configuration conf = new Configuration();
    conf.set(ShuffleHandler.SHUFFLE_PORT_CONFIG_KEY, "0");
    SecureShuffle shuffle = new SecureShuffle(OURS);
    assertThat(shuffle.getName()).isEqualTo(ShuffleHandler.MAPREDUCE_SHUFFLE_SERVICEID);
    shuffle.setAuxiliaryLocalPathHandler(DIRECTORIES);
    shuffle.init(conf);
    shuffle.start();
    try {
      assertThat(shuffle.shuffle().getAuxiliaryLocalPathHandler()).isSameAs(DIRECTORIES);
      assertThat(ShuffleHandler.deserializeMetaData(shuffle.getMetaData())).isPositive();
    } finally {
      shuffle.stop();
    }
    assertThat(shuffle.shuffle().isInState(org.apache.hadoop.service.Service.STATE.STOPPED))
        .isTrue();
  }
}
