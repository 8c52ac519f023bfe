/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A program frees the library while one of its threads may still run: the library stays loaded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <hypomnesis.h>
#include <windows.h>

typedef hmn_status(HMN_CALL* creator)(const hmn_context_options*, hmn_context**, hmn_error*);
typedef void(HMN_CALL* destroyer)(hmn_context*);
typedef hmn_status(HMN_CALL* sampler_creator)(hmn_context*, const hmn_sampler_options*,
                                              const hmn_snapshot_options*, hmn_sampler**,
                                              hmn_error*);
typedef hmn_status(HMN_CALL* sampler_starter)(hmn_sampler*, hmn_error*);
typedef void(HMN_CALL* sampler_destroyer)(hmn_sampler*);

typedef void (*any_function)(void);

static any_function symbol(HMODULE library, const char* name) {
  const FARPROC function = GetProcAddress(library, name);
  assert_true(function != NULL);
  return (any_function)function;
}

static void the_library_stays_loaded_once_it_has_started_a_thread(void** state) {
  (void)state;
  const HMODULE library = LoadLibraryA(HMN_TEST_DLL);
  assert_non_null(library);
  const creator create = (creator)symbol(library, "hmn_context_create");
  const destroyer destroy = (destroyer)symbol(library, "hmn_context_destroy");
  hmn_context* context = NULL;
  assert_int_equal(create(NULL, &context, NULL), HMN_OK);
  destroy(context);
  assert_true(FreeLibrary(library));
  /* No thread was started, so the library was unloaded. */
  assert_null(GetModuleHandleA(HMN_TEST_DLL));

  const HMODULE reloaded = LoadLibraryA(HMN_TEST_DLL);
  const sampler_creator make = (sampler_creator)symbol(reloaded, "hmn_sampler_create");
  const sampler_starter start = (sampler_starter)symbol(reloaded, "hmn_sampler_start");
  const sampler_destroyer stop = (sampler_destroyer)symbol(reloaded, "hmn_sampler_destroy");
  const creator create_again = (creator)symbol(reloaded, "hmn_context_create");
  const destroyer destroy_again = (destroyer)symbol(reloaded, "hmn_context_destroy");
  assert_int_equal(create_again(NULL, &context, NULL), HMN_OK);
  hmn_sampler* sampler = NULL;
  assert_int_equal(make(context, NULL, NULL, &sampler, NULL), HMN_OK);
  assert_int_equal(start(sampler, NULL), HMN_OK);
  stop(sampler);
  destroy_again(context);
  FreeLibrary(reloaded);
  FreeLibrary(reloaded);
  assert_non_null(GetModuleHandleA(HMN_TEST_DLL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_library_stays_loaded_once_it_has_started_a_thread)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
