/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _XOPEN_SOURCE 700
#include "support/tree.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int tree_make(tree* t) {
  strcpy(t->path, "/tmp/hmn-abi-XXXXXX");
  return mkdtemp(t->path) == NULL ? -1 : chmod(t->path, 0755);
}

int tree_write(const tree* t, const char* name, const char* text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", t->path, name);
  for (char* slash = path + strlen(t->path) + 1; (slash = strchr(slash, '/')) != NULL;
       *slash++ = '/') {
    *slash = 0;
    mkdir(path, 0755);
  }
  FILE* file = fopen(path, "w");
  if (file == NULL) return -1;
  fputs(text, file);
  return fclose(file);
}

static int remove_one(const char* path, const struct stat* status, int kind, struct FTW* position) {
  (void)status;
  (void)kind;
  (void)position;
  return remove(path);
}

void tree_remove(const tree* t) {
  nftw(t->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
