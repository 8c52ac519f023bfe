/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Simulation and recording are in a file of their own, which may be missing or be of another
 * build.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/tree.h"

enum { NOBODY = 65534, SPACE = 512 };
#define MODULE "hypomnesis/simulation-" HMN_TEST_VERSION ".so"
#define LIBRARY "libhypomnesis.so.0"

static const char one_gpu[] = "{\"devices\": [{\"name\": \"GPU\"}]}";

/* A library somewhere else than where it was built, and what is called of it. */
typedef struct installed {
  tree folder;
  char library[SPACE], module[SPACE], machine[SPACE];
  hmn_status (*create)(const hmn_context_options*, hmn_context**, hmn_error*);
  hmn_status (*set_path)(hmn_context*, uint32_t, const char*, hmn_error*);
  hmn_status (*backend)(hmn_context*, uint32_t, hmn_backend_info*, hmn_error*);
  hmn_status (*own_memory)(hmn_context*, hmn_flags, hmn_process_memory*, hmn_error*);
  hmn_status (*count)(hmn_context*, uint32_t*, hmn_error*);
  hmn_status (*recording)(hmn_context*, hmn_flags, char*, uint32_t, uint32_t*, hmn_error*);
  uint32_t (*feature)(uint32_t);
  uint32_t (*backend_available)(uint32_t);
  void (*destroy)(hmn_context*);
} installed;

static void copy_file(const char* from, const char* to) {
  static char block[65536];
  FILE* in = fopen(from, "rb");
  FILE* out = fopen(to, "wb");
  assert_true(in != NULL && out != NULL);
  for (size_t count; (count = fread(block, 1, sizeof block, in)) > 0;) fwrite(block, 1, count, out);
  fclose(in);
  assert_int_equal(fclose(out), 0);
}

static void install(installed* i, const char* module) {
  assert_int_equal(tree_make(&i->folder), 0);
  snprintf(i->library, SPACE, "%s/" LIBRARY, i->folder.path);
  snprintf(i->module, SPACE, "%s/" MODULE, i->folder.path);
  snprintf(i->machine, SPACE, "%s/machine.json", i->folder.path);
  tree_write(&i->folder, MODULE, "not there yet");
  tree_write(&i->folder, "machine.json", one_gpu);
  unlink(i->module);
  copy_file(HMN_TEST_LIBRARY, i->library);
  if (module != NULL) copy_file(module, i->module);
}

/* ISO C has no cast from an object pointer to a function pointer. */
static void look_up(void* library, const char* name, void* function) {
  void* const address = dlsym(library, name);
  assert_non_null(address);
  memcpy(function, &address, sizeof address);
}

static void load(installed* i, const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fail_msg("%s", dlerror());
  look_up(library, "hmn_context_create", &i->create);
  look_up(library, "hmn_context_set_path", &i->set_path);
  look_up(library, "hmn_context_backend", &i->backend);
  look_up(library, "hmn_process_memory_read_self", &i->own_memory);
  look_up(library, "hmn_device_count", &i->count);
  look_up(library, "hmn_context_recording", &i->recording);
  look_up(library, "hmn_feature", &i->feature);
  look_up(library, "hmn_backend_available", &i->backend_available);
  look_up(library, "hmn_context_destroy", &i->destroy);
}

static void install_and_load(installed* i, const char* module) {
  install(i, module);
  load(i, i->library);
}

static hmn_context* context_of(const installed* i) {
  const hmn_context_options options = patient(HMN_CONTEXT_NO_SUBPROCESS);
  hmn_context* context = NULL;
  assert_answers(i->create(&options, &context, &error), HMN_OK);
  return context;
}

static int is_mapped(const char* path) {
  char line[8192];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  while (fgets(line, sizeof line, maps) != NULL) {
    if (strstr(line, path) != NULL) found = 1;
  }
  fclose(maps);
  return found;
}

static void assert_simulates(const installed* i) {
  hmn_context* const context = context_of(i);
  uint32_t count = 0;
  assert_int_equal(i->feature(HMN_FEATURE_SIMULATION), 1);
  assert_answers(i->set_path(context, HMN_PATH_SIMULATION, i->machine, &error), HMN_OK);
  assert_answers(i->count(context, &count, &error), HMN_OK);
  assert_int_equal(count, 1);
  i->destroy(context);
}

/* Every way to it, each with a sentence that has all of `words`. */
static void assert_refuses(const installed* i, const char* const* words) {
  hmn_context* const context = context_of(i);
  hmn_context_options options = patient(HMN_CONTEXT_RECORD);
  hmn_context* recorded = NULL;
  NEW(hmn_error, by_path);
  NEW(hmn_error, by_flag);
  assert_status(i->set_path(context, HMN_PATH_SIMULATION, i->machine, &by_path), HMN_E_UNSUPPORTED);
  assert_status(i->create(&options, &recorded, &by_flag), HMN_E_UNSUPPORTED);
  assert_null(recorded);
  assert_int_equal(by_path.backend, HMN_BACKEND_SIMULATED);
  assert_string_equal(by_path.message, by_flag.message);
  for (; *words != NULL; ++words) {
    if (strstr(by_path.message, *words) == NULL) fail_msg("%s: no %s", by_path.message, *words);
  }
  /* And what is real goes on. */
  NEW(hmn_process_memory, memory);
  uint32_t count = 0;
  assert_answers(i->own_memory(context, HMN_PROCESS_MEMORY_HAS_RESIDENT, &memory, &error), HMN_OK);
  assert_true(memory.resident_bytes > 4096);
  assert_answers(i->count(context, &count, &error), HMN_OK);
  i->destroy(context);
}

static void it_is_not_loaded_unless_asked_for(void** state) {
  (void)state;
  installed i;
  install_and_load(&i, HMN_TEST_MODULE);
  hmn_context* const context = context_of(&i);
  uint32_t count = 0;
  assert_int_equal(i.feature(HMN_FEATURE_SIMULATION), 1);
  assert_answers(i.count(context, &count, &error), HMN_OK);
  i.destroy(context);
  assert_false(is_mapped(i.module));
  assert_simulates(&i);
  assert_true(is_mapped(i.module));
  tree_remove(&i.folder);
}

static void without_it_what_is_real_works(void** state) {
  (void)state;
  installed i;
  install_and_load(&i, NULL);
  const char* const words[] = {"missing", i.module, NULL};
  assert_int_equal(i.feature(HMN_FEATURE_SIMULATION), 0);
  assert_int_equal(i.backend_available(HMN_BACKEND_SIMULATED), 0);
  assert_int_equal(i.backend_available(HMN_BACKEND_OS), 1);
  assert_refuses(&i, words);
  hmn_context* const context = context_of(&i);
  NEW(hmn_backend_info, info);
  assert_answers(i.backend(context, HMN_BACKEND_SIMULATED, &info, &error), HMN_OK);
  assert_int_equal(info.state, HMN_RUN_STATE_OFF);
  assert_status(info.status, HMN_E_UNSUPPORTED);
  assert_non_null(strstr(info.message, i.module));
  i.destroy(context);
  /* A package may come later. */
  copy_file(HMN_TEST_MODULE, i.module);
  assert_simulates(&i);
  tree_remove(&i.folder);
}

static void one_of_another_build_is_refused_before_it_is_called(void** state) {
  (void)state;
  static const struct {
    const char *module, *words[3];
  } others[] = {
      {HMN_TEST_OTHER_INTERFACE, {"interface 2, expected 1", NULL}},
      {HMN_TEST_OTHER_VERSION, {"version 0.0.9, expected " HMN_TEST_VERSION, NULL}},
      {HMN_TEST_OTHER_BUILD, {"build fedcba9876543210 (cc 1), expected", NULL}},
      {HMN_TEST_NO_MODULE, {"hmn_simulation_module", NULL}},
  };
  for (size_t n = 0; n < sizeof others / sizeof others[0]; ++n) {
    installed i;
    install_and_load(&i, others[n].module);
    const char* const words[] = {others[n].words[0], i.module, NULL};
    assert_refuses(&i, words);
    assert_refuses(&i, words);
    tree_remove(&i.folder);
  }
}

static void what_is_no_library_is_refused(void** state) {
  (void)state;
  installed i;
  install_and_load(&i, NULL);
  tree_write(&i.folder, MODULE, "not ELF");
  const char* const words[] = {i.module, NULL};
  assert_refuses(&i, words);
  tree_remove(&i.folder);
}

/* Two installations in one program, each with its own. */
static void each_library_takes_the_one_beside_it(void** state) {
  (void)state;
  installed one, other;
  install_and_load(&one, HMN_TEST_MODULE);
  install_and_load(&other, HMN_TEST_MODULE);
  assert_simulates(&one);
  assert_true(is_mapped(one.module) && !is_mapped(other.module));
  assert_simulates(&other);
  assert_true(is_mapped(other.module));
  tree_remove(&one.folder);
  tree_remove(&other.folder);
}

static hmn_context* recorded_by(const installed* i) {
  const hmn_context_options options = patient(HMN_CONTEXT_RECORD | HMN_CONTEXT_NO_SUBPROCESS);
  hmn_context* context = NULL;
  assert_answers(i->create(&options, &context, &error), HMN_OK);
  return context;
}

static void read_one(const installed* i, hmn_context* context, hmn_flags field) {
  NEW(hmn_process_memory, memory);
  assert_answers(i->own_memory(context, field, &memory, &error), HMN_OK);
}

/* One file that two libraries were given serves each of them, by turns. */
static void two_libraries_may_share_it(void** state) {
  (void)state;
  static char text[1 << 22];
  installed one, other;
  uint32_t needed = 0;
  install_and_load(&one, HMN_TEST_MODULE);
  install(&other, NULL);
  assert_int_equal(link(one.module, other.module), 0);
  load(&other, other.library);
  hmn_context* const first = recorded_by(&one);
  hmn_context* const second = recorded_by(&other);
  read_one(&one, first, HMN_PROCESS_MEMORY_HAS_RESIDENT);
  read_one(&other, second, HMN_PROCESS_MEMORY_HAS_RESIDENT);
  read_one(&one, first, HMN_PROCESS_MEMORY_HAS_PEAK_RESIDENT);
  assert_status(one.recording(first, 0, text, sizeof text, &needed, NULL), HMN_OK);
  assert_non_null(strstr(text, "/statm\""));
  assert_non_null(strstr(text, "/status\""));
  assert_status(other.recording(second, 0, text, sizeof text, &needed, NULL), HMN_OK);
  assert_non_null(strstr(text, "/statm\""));
  assert_null(strstr(text, "/status\""));
  one.destroy(first);
  other.destroy(second);
  tree_remove(&one.folder);
  tree_remove(&other.folder);
}

static void links_to_the_library_are_followed(void** state) {
  (void)state;
  installed i;
  char link[SPACE];
  install(&i, HMN_TEST_MODULE);
  tree_write(&i.folder, "elsewhere/file", "");
  snprintf(link, sizeof link, "%s/elsewhere/libother.so", i.folder.path);
  assert_int_equal(symlink(i.library, link), 0);
  load(&i, link);
  assert_simulates(&i);
  tree_remove(&i.folder);
}

static void a_library_of_a_relative_path_finds_it_from_anywhere(void** state) {
  (void)state;
  installed i;
  char before[4096];
  install(&i, HMN_TEST_MODULE);
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(i.folder.path), 0);
  load(&i, "./" LIBRARY);
  assert_int_equal(chdir("/"), 0);
  assert_simulates(&i);
  assert_true(is_mapped(i.module));
  assert_int_equal(chdir(before), 0);
  tree_remove(&i.folder);
}

static int run_probe(const char* probe, const installed* i, const char* folder, const char* how) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("LD_LIBRARY_PATH", folder, 1);
    setenv("HMN_SIMULATION", i->machine, 1);
    if (chdir(folder) == 0) execl(probe, probe, i->library, how, (char*)NULL);
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void it_is_looked_for_nowhere_else(void** state) {
  (void)state;
  if (HMN_TEST_EMULATED) skip(); /* an emulated program starts no other of its kind */
  installed without, with;
  install(&without, NULL);
  install(&with, HMN_TEST_MODULE);
  assert_int_equal(run_probe(HMN_TEST_MODULE_PROBE, &without, with.folder.path, ""), 0);
  tree_remove(&without.folder);
  tree_remove(&with.folder);
}

/* A sanitizer's own checks do not work in such a program. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static void a_set_user_id_program_does_not_load_it(void** state) {
  (void)state;
  if (SANITIZED || HMN_TEST_EMULATED) skip();
  if (getuid() != 0) skip(); /* only root can make one of another user */
  installed i;
  char probe[SPACE];
  install(&i, HMN_TEST_MODULE);
  snprintf(probe, sizeof probe, "%s/probe", i.folder.path);
  copy_file(HMN_TEST_MODULE_PROBE, probe);
  assert_int_equal(chown(probe, NOBODY, NOBODY), 0);
  assert_int_equal(chmod(probe, 04755), 0);
  const int outcome = run_probe(probe, &i, i.folder.path, "secure");
  tree_remove(&i.folder);
  if (outcome == SKIPPED) skip(); /* a mount without set-user-id, or an emulator */
  assert_int_equal(outcome, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_is_not_loaded_unless_asked_for),
      cmocka_unit_test(without_it_what_is_real_works),
      cmocka_unit_test(one_of_another_build_is_refused_before_it_is_called),
      cmocka_unit_test(what_is_no_library_is_refused),
      cmocka_unit_test(each_library_takes_the_one_beside_it),
      cmocka_unit_test(two_libraries_may_share_it),
      cmocka_unit_test(links_to_the_library_are_followed),
      cmocka_unit_test(a_library_of_a_relative_path_finds_it_from_anywhere),
      cmocka_unit_test(it_is_looked_for_nowhere_else),
      cmocka_unit_test(a_set_user_id_program_does_not_load_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
