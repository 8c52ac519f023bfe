/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "support/thread.h"

#include <dirent.h>
#include <pthread.h>

#include "support/suite.h"

struct thread {
  pthread_t id;
  void (*run)(void*);
  void* argument;
};

static void* run_thread(void* argument) {
  const thread* t = argument;
  t->run(t->argument);
  return NULL;
}

thread* thread_start(void (*run)(void* argument), void* argument) {
  thread* t = malloc(sizeof *t);
  assert_non_null(t);
  t->run = run;
  t->argument = argument;
  assert_int_equal(pthread_create(&t->id, NULL, run_thread, t), 0);
  return t;
}

void thread_join(thread* t) {
  pthread_join(t->id, NULL);
  free(t);
}

static int entry_count(const char* path) {
  DIR* folder = opendir(path);
  int count = 0;
  if (folder == NULL) return -1;
  while (readdir(folder) != NULL) ++count;
  closedir(folder);
  return count - 2;
}

int thread_count(void) {
  return entry_count("/proc/self/task");
}

int descriptor_count(void) {
  return entry_count("/proc/self/fd") - 1; /* the folder's own */
}
