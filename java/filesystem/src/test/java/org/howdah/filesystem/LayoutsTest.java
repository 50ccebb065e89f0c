package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LayoutsTest {
  @TempDir Path root;

  // Promise (how-to/filesystem): Layouts of Lustre are read and set as `lfs` does
  @Test
  void layoutsAreReadAsLustreWritesThem() throws IOException {
    assertThat(Layouts.stripe(plain(0x0BD10BD0, 4 << 20))).isEqualTo(4 << 20);
    assertThat(Layouts.stripe(plain(0x0BD30BD0, 3 << 20))).isEqualTo(3 << 20);
    ByteBuffer composite = ByteBuffer.allocate(32 + 2 * 48 + 2 * 32).order(ByteOrder.nativeOrder());
    composite.putInt(0, 0x0BD60BD0).putShort(14, (short) 2);
    for (int i = 0; i < 2; i++) {
      int offset = 32 + 2 * 48 + i * 32;
      composite
          .putInt(32 + i * 48 + 24, offset)
          .putInt(offset, 0x0BD10BD0)
          .putInt(offset + 24, (i + 2) << 20);
    }
    assertThat(Layouts.stripe(composite.array())).isEqualTo(6 << 20);
    assertThatThrownBy(() -> Layouts.stripe(plain(0x0BD40BD0, 1))).hasMessageContaining("bd40bd0");
    assertThatThrownBy(() -> Layouts.stripe(java.util.Arrays.copyOf(plain(0x0BD10BD0, 1), 20)))
        .hasMessageContaining("ends too early");
  }

  private static byte[] plain(int magic, int stripe) {
    return ByteBuffer.allocate(32)
        .order(ByteOrder.nativeOrder())
        .putInt(0, magic)
        .putInt(24, stripe)
        .array();
  }

  /** With a script in the place of {@code lfs}: there is no Lustre here. */
  private Settings lustre(String script, String layout) throws IOException {
    Path lfs = root.resolve("lfs");
    Files.write(lfs, ("#!/bin/sh\n" + script).getBytes("UTF-8"));
    Files.setPosixFilePermissions(
        lfs, java.nio.file.attribute.PosixFilePermissions.fromString("rwx------"));
    org.apache.hadoop.conf.Configuration conf = new org.apache.hadoop.conf.Configuration(false);
    conf.set("fs.lustrefs.lfs", lfs.toString());
    conf.set("fs.lustrefs.layout", layout);
    return new Settings("lustrefs", conf);
  }

  @Test
  void theProgramLfsIsAskedOncePerDirectory() throws IOException {
    Path log = root.resolve("log");
    Settings settings =
        lustre(
            "echo \"$@\" >> " + log + "\n[ \"$1\" = getstripe ] && echo '" + PLAIN + "'\nexit 0\n",
            "-c 4 -S 3M");
    Layouts layouts = new Layouts(settings, "lustre");
    Path made = Files.createDirectories(root.resolve("made/inner"));

    layouts.made(made.getParent());
    layouts.made(made);

    assertThat(layouts.blockSize(made.resolve("file"))).isEqualTo(129L << 20);
    assertThat(layouts.blockSize(made.resolve("other"))).isEqualTo(129L << 20);
    assertThat(Files.readAllLines(log))
        .containsExactly("setstripe -c 4 -S 3M " + made.getParent(), "getstripe -d " + made);
  }

  @Test
  void ofADirectoryThatIsMadeAnewTheStripeIsAskedAgain() throws IOException {
    Path stripe = root.resolve("stripe");
    Files.write(stripe, "stripe_size: 3145728".getBytes("UTF-8"));
    Layouts layouts = new Layouts(lustre("cat " + stripe + "\n", ""), "lustre");
    Path directory = Files.createDirectory(root.resolve("again"));
    assertThat(layouts.blockSize(directory.resolve("file"))).isEqualTo(129L << 20);

    Files.write(stripe, "stripe_size: 50331648".getBytes("UTF-8"));
    assertThat(layouts.blockSize(directory.resolve("file"))).isEqualTo(129L << 20);
    layouts.made(directory);
    assertThat(layouts.blockSize(directory.resolve("file"))).isEqualTo(144L << 20);
  }

  /** What {@code lfs} of Lustre 2.15 prints of a directory. */
  private static final String PLAIN =
      "stripe_count:  1 stripe_size:   3145728 pattern:       0 stripe_offset: -1";

  /** The same of one whose files are laid out in two parts, without what says which. */
  private static final String COMPOSITE =
      String.join(
          "\n",
          "  lcm_layout_gen:    0",
          "  lcm_entry_count:   2",
          "    lcme_extent.e_start: 0",
          "    lcme_extent.e_end:   104857600",
          "      stripe_count:  1       stripe_size:   2097152       pattern:       raid0"
              + "       stripe_offset: -1",
          "",
          "    lcme_extent.e_start: 104857600",
          "    lcme_extent.e_end:   EOF",
          "      stripe_count:  4       stripe_size:   3145728       pattern:       raid0"
              + "       stripe_offset: -1");

  // Promise (how-to/filesystem): On Lustre, no block ends within a stripe
  @Test
  void noBlockEndsWithinAStripeOfAnyPartOfAFile() throws IOException {
    Layouts layouts = new Layouts(lustre("echo '" + COMPOSITE + "'\n", ""), "lustre");
    assertThat(layouts.blockSize(root.resolve("parts/file"))).isEqualTo(132L << 20);
  }

  /** Another file system of this process knows it, too; what cannot be found out is left alone. */
  @Test
  void theProgramLfsIsNotAskedAgainAtOnceWhereItFails() throws IOException {
    Path log = root.resolve("log");
    Settings settings = lustre("echo asked >> " + log + "\nexit 1\n", "");
    for (int times = 0; times < 3; times++) {
      Layouts layouts = new Layouts(settings, "lustre");
      assertThat(layouts.blockSize(root.resolve("file"))).isEqualTo(128L << 20);
    }
    assertThat(Files.readAllLines(log)).containsExactly("asked");
  }

  @Test
  void aDirectoryThatAnotherHasMadeAnewGetsTheLayoutOfWhatIsMadeHere() throws IOException {
    Path log = root.resolve("log");
    Layouts layouts = new Layouts(lustre("echo \"$@\" >> " + log + "\n", "-c 4"), "lustre");
    Path parent = Files.createDirectory(root.resolve("parent"));
    layouts.made(parent);
    Files.move(parent, root.resolve("elsewhere"));
    Files.createDirectory(parent);
    Path child = Files.createDirectory(parent.resolve("child"));
    layouts.made(child);
    assertThat(Files.readAllLines(log))
        .containsExactly("setstripe -c 4 " + parent, "setstripe -c 4 " + child);
  }

  /** As through {@code FileContext}, which makes a file system for a single call. */
  @Test
  void whatIsMadeInADirectoryOfThisProcessInheritsItsLayoutWithoutAskingForIt() throws IOException {
    Path log = root.resolve("log");
    String lfs = "echo \"$@\" >> " + log + "\n";
    Path parent = Files.createDirectory(root.resolve("parent"));
    new Layouts(lustre(lfs, "-c 4"), "lustre").made(parent);
    Path child = Files.createDirectory(parent.resolve("child"));
    new Layouts(lustre(lfs, "-c 4"), "lustre").made(child);
    Path other = Files.createDirectory(parent.resolve("other"));
    new Layouts(lustre(lfs, "-c 8"), "lustre").made(other);
    assertThat(Files.readAllLines(log))
        .containsExactly("setstripe -c 4 " + parent, "setstripe -c 8 " + other);
  }
}
