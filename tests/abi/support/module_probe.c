/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * module_probe LIBRARY [secure]: loads the library and asks it for a simulation in every way.
 * Prints what it gets. Exits with 0: all were refused and no module was loaded; 77: not a
 * privileged start where one is asked for.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <hypomnesis.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

typedef hmn_status (*create)(const hmn_context_options*, hmn_context**, hmn_error*);
typedef hmn_status (*set_path)(hmn_context*, uint32_t, const char*, hmn_error*);
typedef uint32_t (*feature)(uint32_t);
typedef void (*destroy)(hmn_context*);

static int is_module_mapped(void) {
  char line[8192];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    if (strstr(line, "/hypomnesis/simulation-") != NULL) found = 1;
  }
  if (maps != NULL) fclose(maps);
  return found;
}

static int is_refused(hmn_status got, const hmn_error* error) {
  printf("%d: %s\n", (int)got, error->message);
  return got == HMN_E_UNSUPPORTED && error->message[0] != 0;
}

int main(int argc, char** argv) {
  const int is_secure = argc > 2 && strcmp(argv[2], "secure") == 0;
  hmn_context_options options = {.struct_size = sizeof options};
  hmn_error error = {.struct_size = sizeof error};
  hmn_context* context = NULL;
  create make;
  set_path set;
  feature has, available;
  destroy end;
  if (is_secure && getauxval(AT_SECURE) == 0) return 77;
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return printf("%s\n", dlerror()) > 0;
  *(void**)&make = dlsym(library, "hmn_context_create");
  *(void**)&set = dlsym(library, "hmn_context_set_path");
  *(void**)&has = dlsym(library, "hmn_feature");
  *(void**)&available = dlsym(library, "hmn_backend_available");
  *(void**)&end = dlsym(library, "hmn_context_destroy");
  if (has(HMN_FEATURE_SIMULATION) != 0) return 2;
  if (available(HMN_BACKEND_SIMULATED) != 0) return 3;
  if (make(&options, &context, &error) != HMN_OK) return 4;
  if (!is_refused(set(context, HMN_PATH_SIMULATION, "/machine.json", &error), &error)) return 5;
  end(context);
  options.flags = HMN_CONTEXT_RECORD;
  if (!is_refused(make(&options, &context, &error), &error)) return 6;
  /* HMN_SIMULATION is set: read, and then refused, but for a privileged start, which reads nothing.
   */
  options.flags = HMN_CONTEXT_ENVIRONMENT;
  const hmn_status got = make(&options, &context, &error);
  end(context);
  if (is_secure ? got != HMN_OK : !is_refused(got, &error)) return 7;
  return is_module_mapped() ? 8 : 0;
}
