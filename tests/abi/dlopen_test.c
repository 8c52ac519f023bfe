/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The library loaded as by a plugin: not linked, opened and closed many times.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <time.h>

#include "support/suite.h"
#include "support/tree.h"

typedef hmn_status (*create_context_fn)(const hmn_context_options*, hmn_context**, hmn_error*);
typedef hmn_status (*read_self_fn)(hmn_context*, hmn_flags, hmn_process_memory*, hmn_error*);
typedef hmn_status (*take_snapshot_fn)(hmn_context*, const hmn_snapshot_options*, hmn_snapshot**,
                                       hmn_error*);
typedef hmn_status (*read_snapshot_fn)(const hmn_snapshot*, hmn_snapshot_info*, hmn_error*);
typedef void (*destroy_context_fn)(hmn_context*);
typedef void (*destroy_snapshot_fn)(hmn_snapshot*);

/* ISO C has no cast from an object pointer to a function pointer. */
#define LOOK_UP(library, name, variable)           \
  do {                                             \
    void* const address = dlsym(library, name);    \
    assert_non_null(address);                      \
    memcpy(&(variable), &address, sizeof address); \
  } while (0)

static int count_entries(const char* path) {
  DIR* folder = opendir(path);
  int count = 0;
  if (folder == NULL) return -1;
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count;
}

static void use_once(void* library) {
  create_context_fn create_context;
  read_self_fn read_self;
  take_snapshot_fn take_snapshot;
  read_snapshot_fn read_snapshot;
  destroy_context_fn destroy_context;
  destroy_snapshot_fn destroy_snapshot;
  LOOK_UP(library, "hmn_context_create", create_context);
  LOOK_UP(library, "hmn_process_memory_read_self", read_self);
  LOOK_UP(library, "hmn_snapshot_take", take_snapshot);
  LOOK_UP(library, "hmn_snapshot_read", read_snapshot);
  LOOK_UP(library, "hmn_context_destroy", destroy_context);
  LOOK_UP(library, "hmn_snapshot_destroy", destroy_snapshot);
  hmn_context* context = NULL;
  hmn_snapshot* snapshot = NULL;
  NEW(hmn_process_memory, memory);
  NEW(hmn_snapshot_info, info);
  NEW(hmn_context_options, options);
  options.flags = HMN_CONTEXT_NO_SUBPROCESS | HMN_CONTEXT_NO_THREADS;
  assert_int_equal(create_context(&options, &context, NULL), HMN_OK);
  assert_int_equal(read_self(context, 0, &memory, NULL), HMN_OK);
  assert_int_equal(take_snapshot(context, NULL, &snapshot, NULL), HMN_OK);
  destroy_context(context);
  assert_int_equal(read_snapshot(snapshot, &info, NULL), HMN_OK);
  destroy_snapshot(snapshot);
}

static void* open_library(void) {
  void* library = dlopen(HMN_TEST_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fail_msg("%s", dlerror());
  return library;
}

static void the_library_can_be_opened_and_closed_100_times(void** state) {
  (void)state;
  void* library = open_library();
  use_once(library);
  dlclose(library);
  const int descriptors = count_entries("/proc/self/fd"),
            threads = count_entries("/proc/self/task");
  for (int i = 0; i < 100; ++i) {
    library = open_library();
    use_once(library);
    assert_int_equal(dlclose(library), 0);
  }
  assert_int_equal(count_entries("/proc/self/fd"), descriptors);
  assert_int_equal(count_entries("/proc/self/task"), threads);
}

/* A driver call may still run in a worker, so the code is never unmapped: -z nodelete. */
static void the_library_stays_mapped_after_the_last_close(void** state) {
  (void)state;
  void* library = open_library();
  uint32_t (*version)(void);
  LOOK_UP(library, "hmn_version_number", version);
  assert_int_equal(dlclose(library), 0);
  assert_int_equal(version(), HMN_VERSION_NUMBER);
  void* resident = dlopen(HMN_TEST_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  assert_non_null(resident);
  dlclose(resident);
}

typedef hmn_status (*set_path_fn)(hmn_context*, uint32_t, const char*, hmn_error*);
typedef hmn_status (*read_pool_fn)(hmn_context*, uint32_t, uint32_t, uint32_t, hmn_fields,
                                   hmn_pool*, hmn_error*);

static hmn_context* make_hanging_machine(void* library, const hmn_context_options* options,
                                         const tree* folder) {
  create_context_fn create_context;
  set_path_fn set_path;
  char path[128], json[512];
  LOOK_UP(library, "hmn_context_create", create_context);
  LOOK_UP(library, "hmn_context_set_path", set_path);
  snprintf(json, sizeof json,
           "{\"devices\": [{\"name\": \"GPU\"}], \"delays\": [{\"call\": \"pools\", "
           "\"hang_until\": \"%s/go\"}]}",
           folder->path);
  tree_write(folder, "machine.json", json);
  snprintf(path, sizeof path, "%s/machine.json", folder->path);
  hmn_context* context = NULL;
  assert_int_equal(create_context(options, &context, NULL), HMN_OK);
  assert_int_equal(set_path(context, HMN_PATH_SIMULATION, path, NULL), HMN_OK);
  return context;
}

static void sleep_100_ms(void) {
  nanosleep(&(struct timespec){0, 100 * 1000 * 1000}, NULL);
}

/* A driver call that does not return, then destroy, then dlclose, then the call returns. */
static void a_call_that_returns_after_dlclose_does_not_crash(void** state) {
  (void)state;
  if (!HMN_WITH_SIMULATED) skip();
  tree folder;
  assert_int_equal(tree_make(&folder), 0);
  void* library = open_library();
  read_pool_fn read_pool;
  destroy_context_fn destroy_context;
  LOOK_UP(library, "hmn_pool_read", read_pool);
  LOOK_UP(library, "hmn_context_destroy", destroy_context);
  NEW(hmn_context_options, options);
  NEW(hmn_pool, pool);
  options.deadline_ns = HMN_MILLISECONDS(50);
  hmn_context* context = make_hanging_machine(library, &options, &folder);
  assert_int_equal(read_pool(context, 0, HMN_POOL_MAIN, 0, 0, &pool, NULL), HMN_E_TIMEOUT);
  destroy_context(context);
  assert_int_equal(dlclose(library), 0);
  sleep_100_ms();
  tree_write(&folder, "go", "");
  sleep_100_ms();
  tree_remove(&folder);
}

static void symbols_have_their_version(void** state) {
  (void)state;
  void* library = open_library();
  assert_non_null(dlvsym(library, "hmn_version_number", "HMN_0.1"));
  assert_null(dlvsym(library, "hmn_version_number", "HMN_1.0"));
  dlclose(library);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_library_can_be_opened_and_closed_100_times),
      cmocka_unit_test(the_library_stays_mapped_after_the_last_close),
      cmocka_unit_test(a_call_that_returns_after_dlclose_does_not_crash),
      cmocka_unit_test(symbols_have_their_version),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
