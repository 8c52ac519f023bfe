/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Preloaded: a folder that hmn makes for a control group gets the files that a kernel would give
 * it, and loses them before it is removed. What is written to its cgroup.procs stays to be read. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* const names[] = {"cgroup.procs", "memory.peak", "memory.current"};
static const char* const texts[] = {"", "123731968\n", "73400320\n"};

static int is_group(const char* path) {
  return strstr(path, "/hmn-run-") != NULL;
}

static void each_file(const char* folder, int make) {
  char path[4096];
  for (int i = 0; i < 3; ++i) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    if (make) {
      const int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
      if (write(file, texts[i], strlen(texts[i])) < 0) _exit(98);
      close(file);
    } else if (i == 0) {
      char kept[4096];
      snprintf(kept, sizeof kept, "%s.kept", folder);
      rename(path, kept);
    } else {
      unlink(path);
    }
  }
}

int mkdir(const char* path, mode_t mode) {
  int (*next)(const char*, mode_t) = (int (*)(const char*, mode_t))dlsym(RTLD_NEXT, "mkdir");
  const int made = next(path, mode);
  if (made == 0 && is_group(path)) each_file(path, 1);
  return made;
}

int rmdir(const char* path) {
  int (*next)(const char*) = (int (*)(const char*))dlsym(RTLD_NEXT, "rmdir");
  if (is_group(path)) each_file(path, 0);
  return next(path);
}
