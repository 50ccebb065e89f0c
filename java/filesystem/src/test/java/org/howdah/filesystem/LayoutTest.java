package org.howdah.filesystem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.test.GenericTestUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

class LayoutTest {
  @TempDir Path root;

  // Promise (how-to/filesystem): Layouts of Lustre are read and set as `lfs` does
  @ParameterizedTest
  @CsvSource({
    "-c 4 -S 4M, 0 eof 4 4194304 null",
    "-S 65536 -c -1 -p flash, 0 eof -1 65536 flash",
    "-E eof -c 2, 0 eof 2 null null",
    "-E 1G -c 1 -E -1 -c 8, 0 1073741824 1 null null; 1073741824 eof 8 null null",
    "-E 4m -p flash -E 1t -S 2k -E EOF -c 3,"
        + " 0 4194304 null null flash; 4194304 1099511627776 null 2048 flash; 1099511627776 eof 3 2048 flash",
  })
  void optionsAreReadAsLfsReadsThem(String options, String expected) {
    assertThat(
            Layout.of(options).components.stream()
                .map(
                    one ->
                        one.start
                            + (one.end == Layout.END_OF_FILE ? " eof " : " " + one.end + " ")
                            + one.count
                            + " "
                            + one.size
                            + " "
                            + one.pool)
                .collect(Collectors.joining("; ")))
        .isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "-c, '-c is not -c, -S, -p or -E with a value'",
    "-i 3, '-i is not -c'",
    "'', 'is not -c'",
    "-c 0, -c 0 is no number of stripes",
    "-S 4X, '4X is no size, such as 4M'",
    "-c 2 -E 4M, -E 4M comes too late",
    "-E -1 -c 1 -E 4M, -E 4M comes too late",
    "-E 4M -E 4M, -E 4M is not behind the end before it",
  })
  void whatIsNoLayoutIsRefused(String options, String message) {
    assertThatThrownBy(() -> Layout.of(options))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("layout \"" + options + "\": ")
        .hasMessageContaining(message);
  }

  @Test
  void whereThereIsNoLustreAFileIsMadeWithoutItsLayoutAndTheLogSaysSo() throws IOException {
    GenericTestUtils.LogCapturer log =
        GenericTestUtils.LogCapturer.captureLogs(LoggerFactory.getLogger(Layouts.class));
    FileSystem files = TemporaryMount.open(root, "layout", "-c 2");
    org.apache.hadoop.fs.Path name = new org.apache.hadoop.fs.Path("/file");
    ((FSDataOutputStream) files.createFile(name).must("fs.posixfs.layout", "-c 4").build()).close();
    log.stopCapturing();
    assertThat(log.getOutput())
        .contains("fs.posixfs.layout is set to \"-c 2\", but the file system is of type ")
        .contains("a layout was asked for in " + root + ", which is not on Lustre: there is none");
    assertThat(root.resolve("file")).exists();
    assertThatThrownBy(() -> files.createFile(name).opt("fs.lustrefs.layout", "wide").build())
        .hasMessageContaining("layout \"wide\"");
  }

  /**
   * With a library in the place of Lustre's that writes down what it is told, of the functions and
   * types of {@code lustreapi.h}: there is no Lustre here.
   */
  @Test
  void aFileIsMadeByLustresLibrary() throws Exception {
    Path source = root.resolve("lustreapi.c");
    Path log = root.resolve("log");
    Files.write(source, LIBRARY.replace("LOG", log.toString()).getBytes(StandardCharsets.UTF_8));
    Process compiler =
        new ProcessBuilder(
                "cc", "-shared", "-fPIC", "-o", root + "/liblustreapi.so", source.toString())
            .inheritIO()
            .start();
    assertThat(compiler.waitFor()).isZero();
    NativeLibrary.addSearchPath("lustreapi", root.toString());
    Configuration conf = new Configuration(false);
    Layouts layouts = new Layouts(new Settings("lustrefs", conf), "lustre");
    Path file = root.resolve("file");

    layouts
        .makeFile(
            file,
            new FsPermission((short) 0666),
            Layout.of("-E 1M -c 1 -p flash -E -1 -c -1 -S 4M"))
        .close();

    assertThat(Files.readAllLines(log))
        .containsExactly(
            "extent 0 1048576",
            "count 1",
            "pool flash",
            "add",
            "extent 1048576 18446744073709551615",
            "count " + (0x1000000000000001L + 2),
            "size 4194304",
            "pool flash",
            "create " + file,
            "free");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-rw-rw-");
    Layout plain = Layout.of("-c 2");
    assertThatThrownBy(() -> layouts.makeFile(file, new FsPermission((short) 0600), plain))
        .isInstanceOf(FileAlreadyExistsException.class);
    try (FileChannel channel =
        layouts.makeFile(root.resolve("plain"), new FsPermission((short) 0600), plain)) {
      assertThat(channel.position()).isZero();
    }
    assertThat(Files.readAllLines(log)).endsWith("count 2", "create " + root + "/plain", "free");
  }

  private static final String LIBRARY =
      String.join(
          "\n",
          "#include <fcntl.h>",
          "#include <stdint.h>",
          "#include <stdio.h>",
          "struct llapi_layout { int unused; };",
          "static struct llapi_layout only;",
          "#define SAY(...) do { FILE *f = fopen(\"LOG\", \"a\"); fprintf(f, __VA_ARGS__);"
              + " fputs(\"\\n\", f); fclose(f); } while (0)",
          "struct llapi_layout *llapi_layout_alloc(void) { return &only; }",
          "void llapi_layout_free(struct llapi_layout *l) { SAY(\"free\"); }",
          "int llapi_layout_stripe_count_set(struct llapi_layout *l, uint64_t n)"
              + " { SAY(\"count %llu\", (unsigned long long) n); return 0; }",
          "int llapi_layout_stripe_size_set(struct llapi_layout *l, uint64_t n)"
              + " { SAY(\"size %llu\", (unsigned long long) n); return 0; }",
          "int llapi_layout_pool_name_set(struct llapi_layout *l, const char *p)"
              + " { SAY(\"pool %s\", p); return 0; }",
          "int llapi_layout_comp_extent_set(struct llapi_layout *l, uint64_t a, uint64_t b)"
              + " { SAY(\"extent %llu %llu\", (unsigned long long) a, (unsigned long long) b);"
              + " return 0; }",
          "int llapi_layout_comp_add(struct llapi_layout *l) { SAY(\"add\"); return 0; }",
          "int llapi_layout_file_create(const char *path, int flags, int mode,"
              + " const struct llapi_layout *l)",
          "{ SAY(\"create %s\", path); return open(path, flags | O_CREAT | O_EXCL, mode); }");
}
