/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/calls.h"
#include "support/machine.h"

static const char three_gpus[] =
    "{\"devices\": ["
    "{\"name\": \"NVIDIA Test GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": \"16384MiB\", "
    "\"used\": \"3100MiB\"}]},"
    "{\"pools\": [{\"kind\": \"vram\", \"total\": \"8192MiB\", \"used\": \"4096MiB\"}]},"
    "{\"name\": \"Saturated GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": \"4096MiB\", "
    "\"free\": 0}]},"
    "{\"name\": \"Idle GPU\", \"pools\": [{\"kind\": \"vram\", \"total\": \"4096MiB\", \"used\": "
    "0}]},"
    "{\"name\": \"No figures\"},"
    "{\"name\": \"No total\", \"pools\": [{\"kind\": \"vram\", \"free\": \"1MiB\"}]}]}";

static int setup(void** state) {
  static machine m;
  static fixture f;
  machine_make(&m, three_gpus, NULL);
  f.context = m.context;
  f.before = f.after = take_everything(m.context);
  tree_remove(&m.folder);
  *state = &f;
  return f.after == NULL ? -1 : 0;
}

static int teardown(void** state) {
  const fixture* f = *state;
  hmn_snapshot_destroy(f->after);
  hmn_context_destroy(f->context);
  return 0;
}

static void assert_line_with_flags(const fixture* f, uint32_t i, uint32_t format, hmn_flags flags,
                                   const char* expected) {
  char text[256];
  uint32_t needed = 0;
  assert_status(hmn_format_device(f->after, i, format, flags, text, sizeof text, &needed, NULL),
                HMN_OK);
  assert_string_equal(text, expected);
  assert_int_equal(needed, strlen(expected) + 1);
}

static void a_line_has_the_unit_of_its_values(void** state) {
  assert_line_with_flags(*state, 0, HMN_FORMAT_FREE, 0,
                         "  GPU 0: free 13284 MiB / 16384 MiB [NVIDIA Test GPU]\n");
  assert_line_with_flags(*state, 1, HMN_FORMAT_TOTAL, 0, "  GPU 1: total 8192 MiB\n");
}

/* The predecessor's line. */
static void assert_line(const fixture* f, uint32_t i, uint32_t format, const char* expected) {
  assert_line_with_flags(f, i, format, HMN_LINE_MB, expected);
}

static void a_device_is_one_line(void** state) {
  assert_line(*state, 0, HMN_FORMAT_FREE, "  GPU 0: free 13284 MB / 16384 MB [NVIDIA Test GPU]\n");
  assert_line(*state, 0, HMN_FORMAT_TOTAL, "  GPU 0: total 16384 MB [NVIDIA Test GPU]\n");
  assert_line(*state, 0, HMN_FORMAT_USED, "  GPU 0: used 3100 MB [NVIDIA Test GPU]\n");
}

static void a_device_without_a_name_has_no_brackets(void** state) {
  assert_line(*state, 1, HMN_FORMAT_FREE, "  GPU 1: free 4096 MB / 8192 MB\n");
  assert_line(*state, 1, HMN_FORMAT_TOTAL, "  GPU 1: total 8192 MB\n");
  assert_line(*state, 1, HMN_FORMAT_USED, "  GPU 1: used 4096 MB\n");
}

static void nothing_free_and_nothing_used_are_0_mb(void** state) {
  assert_line(*state, 2, HMN_FORMAT_FREE, "  GPU 2: free 0 MB / 4096 MB [Saturated GPU]\n");
  assert_line(*state, 2, HMN_FORMAT_TOTAL, "  GPU 2: total 4096 MB [Saturated GPU]\n");
  assert_line(*state, 3, HMN_FORMAT_USED, "  GPU 3: used 0 MB [Idle GPU]\n");
}

/* HMN_E_EMPTY: a value is unknown. */
static void a_line_with_an_unknown_value_is_empty(void** state) {
  const fixture* f = *state;
  char text[64];
  for (uint32_t format = HMN_FORMAT_FREE; format <= HMN_FORMAT_USED; ++format) {
    assert_status(hmn_format_device(f->after, 4, format, 0, text, sizeof text, NULL, NULL),
                  HMN_E_EMPTY);
  }
  assert_status(hmn_format_device(f->after, 5, HMN_FORMAT_FREE, 0, text, sizeof text, NULL, NULL),
                HMN_E_EMPTY);
  assert_status(hmn_format_device(f->after, 5, HMN_FORMAT_TOTAL, 0, text, sizeof text, NULL, NULL),
                HMN_E_EMPTY);
}

static void an_unknown_device_format_or_flag_is_refused(void** state) {
  const fixture* f = *state;
  char text[64];
  assert_status(hmn_format_device(f->after, 6, HMN_FORMAT_FREE, 0, text, sizeof text, NULL, NULL),
                HMN_E_NO_DEVICE);
  assert_status(
      hmn_format_device(f->after, UINT32_MAX, HMN_FORMAT_FREE, 0, text, sizeof text, NULL, NULL),
      HMN_E_NO_DEVICE);
  const uint32_t formats[] = {0, 4, UINT32_MAX};
  for (size_t i = 0; i < 3; ++i) {
    assert_status(hmn_format_device(f->after, 0, formats[i], 0, text, sizeof text, NULL, NULL),
                  HMN_E_RANGE);
  }
  assert_status(hmn_format_device(f->after, 0, HMN_FORMAT_FREE, 2, text, sizeof text, NULL, NULL),
                HMN_E_UNKNOWN_FLAG);
  assert_status(hmn_format_json(f->after, 1, NULL, 0, NULL, NULL), HMN_E_UNKNOWN_FLAG);
}

static void a_size_is_whole_mib_below_1_gib_and_one_decimal_above(void** state) {
  (void)state;
  static const struct {
    uint64_t bytes;
    const char* text;
  } sizes[] = {{0, "0 MiB"},
               {1048575, "0 MiB"},
               {1048576, "1 MiB"},
               {536870912, "512 MiB"},
               {1073741823, "1023 MiB"},
               {1073741824, "1.0 GiB"},
               {1127428915, "1.0 GiB"},
               {1127428916, "1.1 GiB"},
               {1610612736, "1.5 GiB"},
               {8799649792, "8.2 GiB"},
               {UINT64_MAX, "17179869184.0 GiB"}};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    char text[64];
    assert_status(hmn_format_bytes(sizes[i].bytes, text, sizeof text, NULL, NULL), HMN_OK);
    assert_string_equal(text, sizes[i].text);
  }
}

/* NULL with capacity 0 returns HMN_OK and the size, which includes the terminator. */
static void a_null_buffer_returns_the_size(void** state) {
  static fixture f;
  (void)state;
  assert_int_equal(fixture_open(&f, 0), 0);
  for (size_t i = 0; i < text_call_count; ++i) {
    static char text[65536];
    uint32_t needed = 0, second = 0;
    assert_status(text_calls[i].run(&f, NULL, 0, &needed, NULL), HMN_OK);
    assert_in_range(needed, 2, sizeof text);
    assert_status(text_calls[i].run(&f, text, needed, &second, NULL), HMN_OK);
    assert_int_equal(second, needed);
    assert_int_equal(strlen(text) + 1, needed);
    assert_text(text, needed);
    assert_status(text_calls[i].run(&f, NULL, 0, NULL, NULL), HMN_OK);
    assert_status(text_calls[i].run(&f, text, needed, NULL, NULL), HMN_OK);
  }
  fixture_close(&f);
}

/* A buffer that is too small: HMN_E_BUFFER, buffer[0] = 0 and the size in *needed. */
static void a_small_buffer_is_refused_with_the_needed_size(void** state) {
  static fixture f;
  (void)state;
  assert_int_equal(fixture_open(&f, 0), 0);
  for (size_t i = 0; i < text_call_count; ++i) {
    uint32_t size = 0;
    assert_status(text_calls[i].run(&f, NULL, 0, &size, NULL), HMN_OK);
    const uint32_t capacities[] = {1, 2, size / 2, size - 1};
    for (size_t j = 0; j < 4; ++j) {
      char* text = malloc(capacities[j]);
      uint32_t needed = 0;
      memset(text, 'x', capacities[j]);
      assert_status(text_calls[i].run(&f, text, capacities[j], &needed, NULL), HMN_E_BUFFER);
      assert_int_equal(text[0], 0);
      assert_int_equal(needed, size);
      assert_status(text_calls[i].run(&f, text, capacities[j], NULL, NULL), HMN_E_BUFFER);
      free(text);
    }
  }
  fixture_close(&f);
}

static void no_byte_after_the_text_is_written(void** state) {
  static fixture f;
  (void)state;
  assert_int_equal(fixture_open(&f, 0), 0);
  guarded* g = guard_new();
  for (size_t i = 0; i < text_call_count; ++i) {
    uint32_t size = 0;
    assert_status(text_calls[i].run(&f, NULL, 0, &size, NULL), HMN_OK);
    assert_status(text_calls[i].run(&f, guard_arm(g, 0), size, NULL, NULL), HMN_OK);
    assert_untouched_from(g, size);
    assert_status(text_calls[i].run(&f, guard_arm(g, 0), size - 1, NULL, NULL), HMN_E_BUFFER);
    assert_untouched_from(g, size - 1);
  }
  free(g);
  fixture_close(&f);
}

static void a_buffer_with_capacity_0_is_too_small(void** state) {
  static fixture f;
  (void)state;
  assert_int_equal(fixture_open(&f, 0), 0);
  for (size_t i = 0; i < text_call_count; ++i) {
    char byte = 'x';
    uint32_t needed = 0;
    assert_status(text_calls[i].run(&f, &byte, 0, &needed, NULL), HMN_E_BUFFER);
    assert_int_equal(byte, 'x');
    assert_true(needed > 1);
  }
  fixture_close(&f);
}

static void json_is_one_object_on_one_line(void** state) {
  const fixture* f = *state;
  static char text[65536];
  uint32_t needed = 0;
  assert_status(hmn_format_json(f->after, 0, text, sizeof text, &needed, NULL), HMN_OK);
  assert_int_equal(text[0], '{');
  const char* end = strrchr(text, '}');
  assert_non_null(end);
  assert_true(strcmp(end, "}") == 0 || strcmp(end, "}\n") == 0);
  assert_null(memchr(text, '\n', (size_t)(end - text)));
}

/* Numbers are numbers, unknown values are null. */
static void json_distinguishes_zero_from_unknown(void** state) {
  const fixture* f = *state;
  static char text[65536];
  assert_status(hmn_format_json(f->after, 0, text, sizeof text, NULL, NULL), HMN_OK);
  assert_non_null(strstr(text, "\"free_bytes\":0"));
  assert_non_null(strstr(text, "\"total_bytes\":null"));
  assert_non_null(strstr(text, "\"total_bytes\":17179869184"));
}

static void json_escapes_quotes_and_control_characters(void** state) {
  (void)state;
  machine m;
  machine_make(&m,
               "{\"devices\": [{\"name\": \"quote \\\" back \\\\ tab \\t esc \\u001b \\u00e9\"}]}",
               NULL);
  hmn_snapshot* s = take_everything(m.context);
  static char text[65536];
  assert_status(hmn_format_json(s, 0, text, sizeof text, NULL, NULL), HMN_OK);
  assert_non_null(strstr(text, "quote \\\" back \\\\ tab \\t esc \\u001b \xC3\xA9"));
  hmn_snapshot_destroy(s);
  machine_end(&m);
}

static void a_snapshot_always_has_the_same_json(void** state) {
  const fixture* f = *state;
  static char first[65536], second[65536];
  assert_status(hmn_format_json(f->after, 0, first, sizeof first, NULL, NULL), HMN_OK);
  assert_status(hmn_format_json(f->after, 0, second, sizeof second, NULL, NULL), HMN_OK);
  assert_string_equal(first, second);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_device_is_one_line),
      cmocka_unit_test(a_line_has_the_unit_of_its_values),
      cmocka_unit_test(a_device_without_a_name_has_no_brackets),
      cmocka_unit_test(nothing_free_and_nothing_used_are_0_mb),
      cmocka_unit_test(a_line_with_an_unknown_value_is_empty),
      cmocka_unit_test(an_unknown_device_format_or_flag_is_refused),
      cmocka_unit_test(a_size_is_whole_mib_below_1_gib_and_one_decimal_above),
      cmocka_unit_test(a_null_buffer_returns_the_size),
      cmocka_unit_test(a_small_buffer_is_refused_with_the_needed_size),
      cmocka_unit_test(no_byte_after_the_text_is_written),
      cmocka_unit_test(a_buffer_with_capacity_0_is_too_small),
      cmocka_unit_test(json_is_one_object_on_one_line),
      cmocka_unit_test(json_distinguishes_zero_from_unknown),
      cmocka_unit_test(json_escapes_quotes_and_control_characters),
      cmocka_unit_test(a_snapshot_always_has_the_same_json),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
