/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * HMN_CONTEXT_ENVIRONMENT is ignored in set-user-id programs.
 */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/tree.h"

enum { NOBODY = 65534 };

static void copy_set_user_id(const char* target) {
  static char block[65536];
  FILE* source_file = fopen(HMN_TEST_SECURE_PROBE, "rb");
  FILE* target_file = fopen(target, "wb");
  assert_true(source_file != NULL && target_file != NULL);
  for (size_t count; (count = fread(block, 1, sizeof block, source_file)) > 0;)
    fwrite(block, 1, count, target_file);
  fclose(source_file);
  fclose(target_file);
  assert_int_equal(chown(target, NOBODY, NOBODY), 0);
  assert_int_equal(chmod(target, 04755), 0);
}

static int run_with_variable(const char* path, const char* variable, const char* value) {
  const pid_t child = fork();
  if (child == 0) {
    setenv(variable, value, 1);
    execl(path, path, (char*)NULL);
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void a_set_user_id_program_does_not_read_the_environment(void** state) {
  (void)state;
  tree folder;
  char path[128], machine[128];
  assert_int_equal(tree_make(&folder), 0);
  snprintf(path, sizeof path, "%s/probe", folder.path);
  snprintf(machine, sizeof machine, "%s/machine.json", folder.path);
  tree_write(&folder, "machine.json", "{\"devices\": []}");
  copy_set_user_id(path);
  const int machine_code = run_with_variable(path, "HMN_SIMULATION", machine);
  const int path_code = run_with_variable(path, "HMN_PROC", "not absolute");
  tree_remove(&folder);
  if (machine_code == SKIPPED) skip(); /* a mount without set-user-id, or an emulator */
  assert_int_equal(machine_code, 0);
  assert_int_equal(path_code, 0);
}

int main(void) {
  if (getuid() != 0) {
    printf("skipped: abi.secure: only root can make a set-user-id program of another user\n");
    return SKIPPED;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_set_user_id_program_does_not_read_the_environment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
