package org.howdah.filesystem;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractContractPathHandleTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;

/** The suite with parameters, which JUnit 5 gives to methods: Hadoop 3.5. */
final class HandleContracts {
  private HandleContracts() {}

  /** See the suite. */
  public static class PathHandle extends AbstractContractPathHandleTest {
    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Contracts.Posix(conf);
    }
  }
}
