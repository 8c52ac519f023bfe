/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Preloaded: HMN_FAULT is a kind (FAULT_*) and a number n: the n-th allocation, or the n-th system
 * call, of the program's first thread fails, from `main` on, and the first byte of the file
 * HMN_FAULT_MARK becomes '!'. Programs that it starts are left alone.
 */
#define _GNU_SOURCE
#include "fault/faults.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int (*program)(int count, char** words, char** environment);
typedef int (*starter)(program main, int count, char** words, void (*first)(void),
                       void (*last)(void), void (*loader)(void), void* stack_end);

static program real_main;
static char* mark;

void fault_fired(void) {
  *mark = '!';
}

static int run_main(int count, char** words, char** environment) {
  char* rest = getenv("HMN_FAULT");
  const int kind = (int)strtol(rest, &rest, 10);
  const long number = strtol(rest, NULL, 10);
  const int file = open(getenv("HMN_FAULT_MARK"), O_RDWR | O_CLOEXEC);
  mark = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mark == MAP_FAILED) abort();
  close(file);
  unsetenv("LD_PRELOAD");
  fault_arm(kind, number);
  const int code = real_main(count, words, environment);
  fault_disarm();
  return code;
}

__attribute__((visibility("default"))) int __libc_start_main(program main, int count, char** words,
                                                             void (*first)(void),
                                                             void (*last)(void),
                                                             void (*loader)(void), void* stack_end);
int __libc_start_main(program main, int count, char** words, void (*first)(void),
                      void (*last)(void), void (*loader)(void), void* stack_end) {
  starter real;
  *(void**)&real = dlsym(RTLD_NEXT, "__libc_start_main");
  real_main = main;
  return real(run_main, count, words, first, last, loader, stack_end);
}
