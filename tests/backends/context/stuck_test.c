/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stuck_test LIBRARY FAKE_NVML: a driver call that never returns, then destroy, then dlclose of
 * libhypomnesis, then the call returns: nothing may crash.
 */
#define _DEFAULT_SOURCE
#include <dlfcn.h>
#include <hypomnesis.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATIENCE = 6000 };

#define CHECK(x)                                              \
  do {                                                        \
    if (!(x)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
      exit(1);                                                \
    }                                                         \
  } while (0)

static const char scenario[] =
    "{\"devices\": [{\"memory\": {\"total\": 1000, \"free\": 600, \"used\": 400}}],"
    " \"rules\": [{\"call\": \"nvmlDeviceGetMemoryInfo\", \"hang\": true}]}";

static void* symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) fprintf(stderr, "%s is missing\n", name);
  CHECK(found != NULL);
  return found;
}

typedef hmn_status create_fn(const hmn_context_options*, hmn_context**, hmn_error*);
typedef hmn_status set_path_fn(hmn_context*, uint32_t, const char*, hmn_error*);
typedef hmn_status pool_read_fn(hmn_context*, uint32_t, uint32_t, uint32_t, hmn_fields, hmn_pool*,
                                hmn_error*);
typedef void destroy_fn(hmn_context*);
typedef int load_fn(const char*);
typedef int count_fn(void);
typedef void release_fn(void);

/* dlsym gives an object pointer; POSIX lets it become a function pointer this way. */
#define FUNCTION(type, library, name) (*(type**)&(void*){symbol(library, name)})

int main(int argc, char** argv) {
  CHECK(argc == 3);
  void* fake = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  CHECK(fake != NULL);
  CHECK(FUNCTION(load_fn, fake, "fake_nvml_load")(scenario) == 0);

  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  CHECK(library != NULL);
  hmn_context_options options = {.struct_size = sizeof options,
                                 .deadline_ns = HMN_MILLISECONDS(100)};
  hmn_context* context = NULL;
  CHECK(FUNCTION(create_fn, library, "hmn_context_create")(&options, &context, NULL) == HMN_OK);
  CHECK(FUNCTION(set_path_fn, library, "hmn_context_set_path")(context, HMN_PATH_NVML, argv[2],
                                                               NULL) == HMN_OK);
  hmn_pool pool = {.struct_size = sizeof pool};
  int waited = 0;
  do { /* A driver that is not asked before the deadline is asked by the next reading. */
    CHECK(FUNCTION(pool_read_fn, library, "hmn_pool_read")(context, 0, HMN_POOL_MAIN, 0, 0, &pool,
                                                           NULL) == HMN_E_TIMEOUT);
    usleep(1000);
  } while (FUNCTION(count_fn, fake, "fake_nvml_hanging")() == 0 && waited++ < PATIENCE);
  CHECK(FUNCTION(count_fn, fake, "fake_nvml_hanging")() == 1);

  FUNCTION(destroy_fn, library, "hmn_context_destroy")(context);
  dlclose(library);
  usleep(50000);
  FUNCTION(release_fn, fake, "fake_nvml_release")();
  waited = 0;
  while (FUNCTION(count_fn, fake, "fake_nvml_initialized")() != 0 && waited++ < PATIENCE)
    usleep(10000);
  CHECK(FUNCTION(count_fn, fake, "fake_nvml_initialized")() == 0);
  usleep(100000);
  puts("the call came back to where it could");
  return 0;
}
