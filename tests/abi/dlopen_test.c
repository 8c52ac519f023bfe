/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The library as a plugin loads it: not linked, opened and closed again and again.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <time.h>

#include "support/suite.h"
#include "support/tree.h"

typedef hmn_status (*create)(const hmn_context_options*, hmn_context**, hmn_error*);
typedef hmn_status (*read_self)(hmn_context*, hmn_flags, hmn_process_memory*, hmn_error*);
typedef hmn_status (*take)(hmn_context*, const hmn_snapshot_options*, hmn_snapshot**, hmn_error*);
typedef hmn_status (*read_snapshot)(const hmn_snapshot*, hmn_snapshot_info*, hmn_error*);
typedef void (*end_context)(hmn_context*);
typedef void (*end_snapshot)(hmn_snapshot*);

/* ISO C has no cast from an object pointer to a function pointer. */
#define LOOK_UP(library, name, variable)           \
  do {                                             \
    void* const address = dlsym(library, name);    \
    assert_non_null(address);                      \
    memcpy(&(variable), &address, sizeof address); \
  } while (0)

static int entries(const char* path) {
  DIR* folder = opendir(path);
  int count = 0;
  if (folder == NULL) return -1;
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count;
}

static void use_once(void* library) {
  create make;
  read_self read;
  take taken;
  read_snapshot look;
  end_context end;
  end_snapshot forget;
  LOOK_UP(library, "hmn_context_create", make);
  LOOK_UP(library, "hmn_process_memory_read_self", read);
  LOOK_UP(library, "hmn_snapshot_take", taken);
  LOOK_UP(library, "hmn_snapshot_read", look);
  LOOK_UP(library, "hmn_context_destroy", end);
  LOOK_UP(library, "hmn_snapshot_destroy", forget);
  hmn_context* context = NULL;
  hmn_snapshot* snapshot = NULL;
  NEW(hmn_process_memory, memory);
  NEW(hmn_snapshot_info, info);
  NEW(hmn_context_options, options);
  options.flags = HMN_CONTEXT_NO_SUBPROCESS | HMN_CONTEXT_NO_THREADS;
  assert_int_equal(make(&options, &context, NULL), HMN_OK);
  assert_int_equal(read(context, 0, &memory, NULL), HMN_OK);
  assert_int_equal(taken(context, NULL, &snapshot, NULL), HMN_OK);
  end(context);
  assert_int_equal(look(snapshot, &info, NULL), HMN_OK);
  forget(snapshot);
}

static void* open_library(void) {
  void* library = dlopen(HMN_TEST_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fail_msg("%s", dlerror());
  return library;
}

static void it_can_be_opened_and_closed_100_times(void** state) {
  (void)state;
  void* library = open_library();
  use_once(library);
  dlclose(library);
  const int descriptors = entries("/proc/self/fd"), threads = entries("/proc/self/task");
  for (int i = 0; i < 100; ++i) {
    library = open_library();
    use_once(library);
    assert_int_equal(dlclose(library), 0);
  }
  assert_int_equal(entries("/proc/self/fd"), descriptors);
  assert_int_equal(entries("/proc/self/task"), threads);
}

/* A driver call may still run in a worker, so the code is never pulled away: -z nodelete. */
static void its_code_stays_mapped_after_the_last_close(void** state) {
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

typedef hmn_status (*set_path)(hmn_context*, uint32_t, const char*, hmn_error*);
typedef hmn_status (*read_pool)(hmn_context*, uint32_t, uint32_t, uint32_t, hmn_fields, hmn_pool*,
                                hmn_error*);

static hmn_context* machine_with(void* library, const hmn_context_options* options,
                                 const tree* folder) {
  create make;
  set_path set;
  char path[128], json[512];
  LOOK_UP(library, "hmn_context_create", make);
  LOOK_UP(library, "hmn_context_set_path", set);
  snprintf(json, sizeof json,
           "{\"devices\": [{\"name\": \"GPU\"}], \"delays\": [{\"call\": \"pools\", "
           "\"hang_until\": \"%s/go\"}]}",
           folder->path);
  tree_write(folder, "machine.json", json);
  snprintf(path, sizeof path, "%s/machine.json", folder->path);
  hmn_context* context = NULL;
  assert_int_equal(make(options, &context, NULL), HMN_OK);
  assert_int_equal(set(context, HMN_PATH_SIMULATION, path, NULL), HMN_OK);
  return context;
}

static void a_moment(void) {
  nanosleep(&(struct timespec){0, 100 * 1000 * 1000}, NULL);
}

/* A driver call that does not return, then destroy, then dlclose, then the call returns. */
static void a_call_that_returns_after_dlclose_crashes_nothing(void** state) {
  (void)state;
  if (!HMN_WITH_SIMULATED) skip();
  tree folder;
  assert_int_equal(tree_make(&folder), 0);
  void* library = open_library();
  read_pool read;
  end_context end;
  LOOK_UP(library, "hmn_pool_read", read);
  LOOK_UP(library, "hmn_context_destroy", end);
  NEW(hmn_context_options, options);
  NEW(hmn_pool, pool);
  options.deadline_ns = HMN_MILLISECONDS(50);
  hmn_context* context = machine_with(library, &options, &folder);
  assert_int_equal(read(context, 0, HMN_POOL_MAIN, 0, 0, &pool, NULL), HMN_E_TIMEOUT);
  end(context);
  assert_int_equal(dlclose(library), 0);
  a_moment();
  tree_write(&folder, "go", "");
  a_moment();
  tree_remove(&folder);
}

static void its_symbols_carry_their_version(void** state) {
  (void)state;
  void* library = open_library();
  assert_non_null(dlvsym(library, "hmn_version_number", "HMN_0.1"));
  assert_null(dlvsym(library, "hmn_version_number", "HMN_1.0"));
  dlclose(library);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_can_be_opened_and_closed_100_times),
      cmocka_unit_test(its_code_stays_mapped_after_the_last_close),
      cmocka_unit_test(a_call_that_returns_after_dlclose_crashes_nothing),
      cmocka_unit_test(its_symbols_carry_their_version),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
