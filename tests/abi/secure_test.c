/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * HMN_CONTEXT_ENVIRONMENT: never when set-user-id.
 */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/tree.h"

enum { NOBODY = 65534 };

static void copy_set_user_id(const char* to) {
  static char block[65536];
  FILE* in = fopen(HMN_TEST_SECURE_PROBE, "rb");
  FILE* out = fopen(to, "wb");
  assert_true(in != NULL && out != NULL);
  for (size_t count; (count = fread(block, 1, sizeof block, in)) > 0;) fwrite(block, 1, count, out);
  fclose(in);
  fclose(out);
  assert_int_equal(chown(to, NOBODY, NOBODY), 0);
  assert_int_equal(chmod(to, 04755), 0);
}

static int run_with(const char* path, const char* variable, const char* value) {
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
  const int with_a_machine = run_with(path, "HMN_SIMULATION", machine);
  const int with_nonsense = run_with(path, "HMN_PROC", "not absolute");
  tree_remove(&folder);
  if (with_a_machine == SKIPPED) skip(); /* a mount without set-user-id, or an emulator */
  assert_int_equal(with_a_machine, 0);
  assert_int_equal(with_nonsense, 0);
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
