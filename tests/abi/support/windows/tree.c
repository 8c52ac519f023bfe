/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/tree.h"

#include <stdio.h>
#include <string.h>
#include <windows.h>

/* With slashes: the path goes into JSON. */
int tree_make(tree* t) {
  static int count;
  char folder[MAX_PATH + 1];
  const DWORD length = GetTempPathA(sizeof folder, folder);
  if (length == 0 || length >= sizeof folder) return -1;
  for (char* c = folder; *c != 0; ++c) *c = *c == '\\' ? '/' : *c;
  /* A folder may be left over from an earlier process with this PID. */
  do {
    const int size = snprintf(t->path, sizeof t->path, "%shmn-abi-%lu-%d", folder,
                              GetCurrentProcessId(), count++);
    if (size < 0 || (size_t)size >= sizeof t->path) return -1;
    if (CreateDirectoryA(t->path, NULL)) return 0;
  } while (GetLastError() == ERROR_ALREADY_EXISTS);
  return -1;
}

int tree_write(const tree* t, const char* name, const char* text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", t->path, name);
  for (char* slash = path + strlen(t->path) + 1; (slash = strchr(slash, '/')) != NULL;
       *slash++ = '/') {
    *slash = 0;
    CreateDirectoryA(path, NULL);
  }
  FILE* file = fopen(path, "wb");
  if (file == NULL) return -1;
  fputs(text, file);
  return fclose(file);
}

static void remove_below(const char* folder) {
  char path[512];
  WIN32_FIND_DATAA entry;
  snprintf(path, sizeof path, "%s/*", folder);
  const HANDLE search = FindFirstFileA(path, &entry);
  if (search == INVALID_HANDLE_VALUE) return;
  do {
    if (strcmp(entry.cFileName, ".") == 0 || strcmp(entry.cFileName, "..") == 0) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry.cFileName);
    if (entry.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) {
      remove_below(path);
    } else {
      DeleteFileA(path);
    }
  } while (FindNextFileA(search, &entry));
  FindClose(search);
  RemoveDirectoryA(folder);
}

void tree_remove(const tree* t) {
  remove_below(t->path);
}
