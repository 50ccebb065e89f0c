package org.howdah.filesystem;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Files with a layout of their own, through Lustre's library {@code liblustreapi} and JNA.
 * Functions and numbers are those of {@code lustreapi.h} (Lustre 2.10 and later). Loaded by
 * reflection, as {@link JnaCalls}.
 */
final class LustreCalls implements Layouts.Maker {
  /** {@code LLAPI_LAYOUT_WIDE}. */
  private static final long WIDE = 0x1000000000000001L + 2;

  private static final int O_WRONLY = 1;
  private static final int O_CLOEXEC = 02000000;

  private final Calls calls = Native.load("lustreapi", Calls.class);
  private final JnaCalls.Calls c = Native.load("c", JnaCalls.Calls.class);

  /** Each but the first two returns less than 0 where it fails. */
  interface Calls extends Library {
    Pointer llapi_layout_alloc();

    void llapi_layout_free(Pointer layout);

    int llapi_layout_stripe_count_set(Pointer layout, long count);

    int llapi_layout_stripe_size_set(Pointer layout, long size);

    int llapi_layout_pool_name_set(Pointer layout, String pool);

    int llapi_layout_comp_extent_set(Pointer layout, long start, long end);

    int llapi_layout_comp_add(Pointer layout);

    int llapi_layout_file_create(byte[] path, int flags, int mode, Pointer layout);
  }

  @Override
  public void make(Path file, int permissions, Layout layout) throws IOException {
    Pointer made = calls.llapi_layout_alloc();
    if (made == null) {
      throw JnaCalls.thrown(Native.getLastError(), file, "llapi_layout_alloc");
    }
    try {
      boolean several = layout.components.size() > 1;
      for (Layout.Component component : layout.components) {
        if (component.start > 0) {
          check(calls.llapi_layout_comp_add(made), file, "llapi_layout_comp_add");
        }
        fill(made, component, several, file);
      }
      int descriptor =
          calls.llapi_layout_file_create(
              JnaCalls.bytes(file), O_WRONLY | O_CLOEXEC, permissions, made);
      check(descriptor, file, "llapi_layout_file_create");
      c.close(descriptor);
    } finally {
      calls.llapi_layout_free(made);
    }
  }

  private void fill(Pointer made, Layout.Component component, boolean several, Path file)
      throws IOException {
    if (several || component.end != Layout.END_OF_FILE) {
      check(
          calls.llapi_layout_comp_extent_set(made, component.start, component.end),
          file,
          "llapi_layout_comp_extent_set");
    }
    if (component.count != null) {
      long count = component.count == Layout.ALL ? WIDE : component.count;
      check(
          calls.llapi_layout_stripe_count_set(made, count), file, "llapi_layout_stripe_count_set");
    }
    if (component.size != null) {
      check(
          calls.llapi_layout_stripe_size_set(made, component.size),
          file,
          "llapi_layout_stripe_size_set");
    }
    if (component.pool != null) {
      check(
          calls.llapi_layout_pool_name_set(made, component.pool),
          file,
          "llapi_layout_pool_name_set");
    }
  }

  private static void check(int result, Path file, String call) throws IOException {
    if (result < 0) {
      throw JnaCalls.thrown(Native.getLastError(), file, call);
    }
  }
}
