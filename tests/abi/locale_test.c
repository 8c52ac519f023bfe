/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include <locale.h>

#include "support/calls.h"

static int setup(void** state) {
  if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) return -1;
  return fixture_setup(state);
}

static void the_test_locale_has_a_decimal_comma(void** state) {
  (void)state;
  char text[16];
  snprintf(text, sizeof text, "%.1f", 1.5);
  assert_string_equal(text, "1,5");
}

/* '.' is the decimal point in every locale. */
static void a_size_has_a_decimal_point(void** state) {
  (void)state;
  char text[32];
  assert_status(hmn_format_bytes(8804682957, text, sizeof text, NULL, NULL), HMN_OK);
  assert_string_equal(text, "8.2 GiB");
}

/* A number in JSON has no comma between its digits. */
static void json_numbers_have_a_decimal_point(void** state) {
  const fixture* f = *state;
  uint32_t needed = 0;
  assert_status(hmn_format_json(f->after, 0, NULL, 0, &needed, NULL), HMN_OK);
  char* text = malloc(needed);
  assert_status(hmn_format_json(f->after, 0, text, needed, NULL, NULL), HMN_OK);
  assert_non_null(strstr(text, "\"power_watts\":123.5"));
  free(text);
}

/* The machine file of the fixture has 123.5 W. */
static void numbers_are_parsed_with_a_decimal_point(void** state) {
  const fixture* f = *state;
  NEW(hmn_telemetry, telemetry);
  assert_returns(hmn_telemetry_read(f->context, 0, HMN_TELEMETRY_HAS_POWER, &telemetry, &error),
                 HMN_OK);
  assert_true(telemetry.power_watts == 123.5);
}

static void the_locale_is_not_changed(void** state) {
  (void)state;
  fixture f;
  assert_int_equal(fixture_open(&f, 0), 0);
  fixture_close(&f);
  assert_string_equal(setlocale(LC_ALL, NULL), "de_DE.UTF-8");
  assert_string_equal(localeconv()->decimal_point, ",");
}

int main(void) {
  if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
    printf("skipped: abi.locale: no locale de_DE.UTF-8 could be made\n");
    return SKIPPED;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_test_locale_has_a_decimal_comma),
      cmocka_unit_test(a_size_has_a_decimal_point),
      cmocka_unit_test(json_numbers_have_a_decimal_point),
      cmocka_unit_test(numbers_are_parsed_with_a_decimal_point),
      cmocka_unit_test(the_locale_is_not_changed),
  };
  return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
