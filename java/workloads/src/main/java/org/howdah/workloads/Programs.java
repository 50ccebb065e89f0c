package org.howdah.workloads;

import org.apache.hadoop.util.ProgramDriver;

/** The jar's main class: runs the program that its first argument names. */
public final class Programs {
  private Programs() {}

  /** Ends the JVM with the program's exit code. */
  public static void main(String[] arguments) throws Throwable {
    ProgramDriver driver = new ProgramDriver();
    driver.addClass("textgen", TextGenerator.class, "Generates text of Zipf-distributed words.");
    driver.addClass("pairgen", PairGenerator.class, "Generates pairs for SecondarySort.");
    driver.addClass("paircheck", PairCheck.class, "Checks the output of SecondarySort.");
    driver.addClass("sortcheck", SortCheck.class, "Checks the output of Sort.");
    driver.addClass("joincheck", JoinCheck.class, "Checks the output of Join.");
    driver.addClass("shuffle", ShuffleLoad.class, "Shuffles generated records and discards them.");
    System.exit(driver.run(arguments));
  }
}
