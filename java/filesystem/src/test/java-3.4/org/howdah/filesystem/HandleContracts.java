package org.howdah.filesystem;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.contract.AbstractContractPathHandleTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;

/** The suite with parameters, which JUnit 4 gives to constructors: Hadoop 3.4. */
final class HandleContracts {
  private HandleContracts() {}

  /** See the suite. */
  public static class PathHandle extends AbstractContractPathHandleTest {
    /** Called by JUnit. */
    public PathHandle(String name, Options.HandleOpt[] options, boolean serialized) {
      super(name, options, serialized);
    }

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
      return new Contracts.Posix(conf);
    }
  }
}
