/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "suite.h"

enum { PATTERN = 0xA5 };

int is_zero(const void* bytes, size_t count) {
  const unsigned char* byte = bytes;
  while (count > 0 && byte[count - 1] == 0) --count;
  return count == 0;
}

hmn_context_options patient_options(hmn_flags flags) {
  NEW(hmn_context_options, options);
  options.flags = flags;
  options.deadline_ns = options.open_deadline_ns = HMN_MILLISECONDS(PATIENT_MS);
  return options;
}

static size_t utf8_length(const unsigned char* bytes) {
  static const struct {
    unsigned char mask, lead;
    uint32_t min;
  } forms[] = {{0x80, 0, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
  for (size_t trailing = 0; trailing < 4; ++trailing) {
    if ((bytes[0] & forms[trailing].mask) != forms[trailing].lead) continue;
    uint32_t code_point = bytes[0] & (unsigned char)~forms[trailing].mask;
    for (size_t i = 1; i <= trailing; ++i) {
      if ((bytes[i] & 0xC0) != 0x80) return 0;
      code_point = code_point << 6 | (bytes[i] & 0x3FU);
    }
    const int surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
    return code_point >= forms[trailing].min && code_point <= 0x10FFFF && !surrogate ? trailing + 1
                                                                                     : 0;
  }
  return 0;
}

void assert_text(const char* text, size_t capacity) {
  assert_non_null(memchr(text, 0, capacity));
  const unsigned char* position = (const unsigned char*)text;
  while (*position != 0) {
    const size_t length = utf8_length(position);
    if (length == 0)
      fail_msg("no UTF-8 at byte %d of \"%s\"", (int)(position - (const unsigned char*)text), text);
    position += length;
  }
}

/* Six languages show a message: it names a field, not its path or constant in C. An environment
 * variable is the first word of a message. */
static void assert_no_c_names(const char* message) {
  const char* name = strstr(message, "HMN_");
  if ((name != NULL && name != message) || strstr(message, "->") != NULL) {
    fail_msg("\"%s\" has a name that only C knows", message);
  }
}

void assert_reported(const hmn_error* error, hmn_status expected) {
  assert_int_equal(error->struct_size, sizeof *error);
  assert_status(error->status, expected);
  assert_text(error->message, sizeof error->message);
  if (expected == HMN_OK) {
    assert_true(is_zero(&error->status, sizeof *error - offsetof(hmn_error, status)));
  } else {
    assert_true(strlen(error->message) > 8);
    assert_no_c_names(error->message);
  }
}

guarded* guard_new(void) {
  guarded* g = malloc(sizeof *g);
  assert_non_null(g);
  return g;
}

void* guard_arm(guarded* g, uint32_t struct_size) {
  memset(g, PATTERN, sizeof *g);
  memcpy(g->bytes, &struct_size, sizeof struct_size);
  return g->bytes;
}

void assert_untouched_from(const guarded* g, size_t offset) {
  const unsigned char* all = (const unsigned char*)g;
  for (size_t i = 0; i < sizeof *g; ++i) {
    const int inside = i >= GUARD && i < GUARD + offset;
    if (!inside && all[i] != PATTERN) fail_msg("byte %d was written", (int)i - GUARD);
  }
}

void assert_cleared(const guarded* g, uint32_t size) {
  uint32_t reported = 0;
  memcpy(&reported, g->bytes, sizeof reported);
  assert_int_equal(reported, size);
  assert_true(is_zero((const unsigned char*)g->bytes + sizeof reported, size - sizeof reported));
  assert_untouched_from(g, size);
}
