/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Every allocation of every call is refused once, and from then on: HMN_E_NO_MEMORY, the results
 * are zero, nothing leaks, and the same call works afterwards.
 */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "support/allocator.h"
#include "support/calls.h"

enum { MOST = 20000 };
static const long patterns[] = {ONCE, FROM_THEN_ON};

static void create_without_memory(void** state) {
  (void)state;
  for (size_t p = 0; p < 2; ++p) {
    long refused = 1;
    for (long skip = 0; refused != 0; ++skip) {
      assert_in_range(skip, 0, MOST);
      NEW(hmn_error, error);
      hmn_context* context = (hmn_context*)&error;
      const long before = allocator_live();
      allocator_refuse(skip, patterns[p]);
      const hmn_status status = hmn_context_create(NULL, &context, &error);
      refused = allocator_allow();
      if (refused != 0) {
        assert_status(status, HMN_E_NO_MEMORY);
        assert_told(&error, HMN_E_NO_MEMORY);
        assert_null(context);
      }
      hmn_context_destroy(context);
      assert_int_equal(allocator_live(), before);
    }
  }
}

static void set_path_without_memory(void** state) {
  (void)state;
  hmn_context* context = NULL;
  assert_status(hmn_context_create(NULL, &context, NULL), HMN_OK);
  const char* path = "/a/path/that/is/longer/than/what/a/string/keeps/within/itself";
  long refused = 1;
  for (long skip = 0; refused != 0; ++skip) {
    NEW(hmn_error, error);
    allocator_refuse(skip, ONCE);
    const hmn_status status = hmn_context_set_path(context, HMN_PATH_PROC, path, &error);
    refused = allocator_allow();
    assert_status(status, refused != 0 ? HMN_E_NO_MEMORY : HMN_OK);
    assert_told(&error, status);
  }
  hmn_context_destroy(context);
}

/* The first reading of a fresh context opens its sources. */
static long first_reading(const call* c, long skip, long times, hmn_flags flags, guarded* g) {
  fixture f = {NULL, NULL, NULL};
  NEW(hmn_error, error);
  assert_status(open_machine("everything.json", flags, &f.context), HMN_OK);
  void* out = guard_arm(g, c->size_v1);
  allocator_refuse(skip, times);
  const hmn_status status = c->run(&f, out, &error);
  const long refused = allocator_allow();
  assert_told(&error, status);
  if (refused != 0) {
    if (status != HMN_E_NO_MEMORY) print_message("  %s: allocation %ld\n", c->name, skip);
    assert_status(status, HMN_E_NO_MEMORY);
    if (c->size_v1 > 0) assert_cleared(g, c->size_v1);
  }
  assert_status(c->run(&f, guard_arm(g, c->size_v1), NULL), HMN_OK);
  hmn_context_destroy(f.context);
  return refused;
}

static void first_readings_without_memory(void** state) {
  (void)state;
  guarded* g = guard_new();
  for (size_t i = 0; i < call_count; ++i) {
    if (!calls[i].of_context) continue;
    for (size_t p = 0; p < 2; ++p) {
      long refused = 1;
      for (long skip = 0; refused != 0; ++skip) {
        assert_in_range(skip, 0, MOST);
        const long before = allocator_live();
        refused = first_reading(&calls[i], skip, patterns[p], HMN_CONTEXT_NO_THREADS, g);
        assert_int_equal(allocator_live(), before);
      }
    }
  }
  free(g);
}

static void first_readings_with_workers_without_memory(void** state) {
  (void)state;
  guarded* g = guard_new();
  for (size_t i = 0; i < call_count; ++i) {
    if (!calls[i].of_context) continue;
    long refused = 1;
    for (long skip = 0; refused != 0; ++skip) {
      assert_in_range(skip, 0, MOST);
      refused = first_reading(&calls[i], skip, ONCE, 0, g);
    }
  }
  free(g);
}

static void later_readings_without_memory(void** state) {
  (void)state;
  fixture f;
  assert_int_equal(fixture_open(&f, HMN_CONTEXT_NO_THREADS), 0);
  guarded* g = guard_new();
  for (size_t i = 0; i < call_count; ++i) {
    for (size_t p = 0; p < 2; ++p) {
      long refused = 1;
      for (long skip = 0; refused != 0; ++skip) {
        assert_in_range(skip, 0, MOST);
        void* out = guard_arm(g, calls[i].size_v1);
        const long before = allocator_live();
        allocator_refuse(skip, patterns[p]);
        const hmn_status status = calls[i].run(&f, out, NULL);
        refused = allocator_allow();
        assert_int_equal(allocator_live(), before);
        assert_status(status, refused != 0 ? HMN_E_NO_MEMORY : HMN_OK);
        if (refused != 0 && calls[i].size_v1 > 0) assert_cleared(g, calls[i].size_v1);
      }
    }
  }
  free(g);
  fixture_close(&f);
}

static void texts_without_memory(void** state) {
  (void)state;
  fixture f;
  assert_int_equal(fixture_open(&f, HMN_CONTEXT_NO_THREADS), 0);
  static char buffer[65536];
  for (size_t i = 0; i < text_call_count; ++i) {
    long refused = 1;
    for (long skip = 0; refused != 0; ++skip) {
      assert_in_range(skip, 0, MOST);
      uint32_t needed = 7;
      const long before = allocator_live();
      allocator_refuse(skip, ONCE);
      const hmn_status status = text_calls[i].run(&f, buffer, sizeof buffer, &needed);
      refused = allocator_allow();
      assert_int_equal(allocator_live(), before);
      assert_status(status, refused != 0 ? HMN_E_NO_MEMORY : HMN_OK);
      if (refused != 0) assert_int_equal(needed, 0);
    }
  }
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(create_without_memory),
      cmocka_unit_test(set_path_without_memory),
      cmocka_unit_test(first_readings_without_memory),
      cmocka_unit_test(first_readings_with_workers_without_memory),
      cmocka_unit_test(later_readings_without_memory),
      cmocka_unit_test(texts_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
