/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "support/image.h"

#include <windows.h>

int image_is_loaded(const char* path) {
  char text[MAX_PATH + 1];
  char* c = text;
  while (*path != 0 && c < text + MAX_PATH) {
    *c++ = *path == '/' ? '\\' : *path;
    ++path;
  }
  *c = 0;
  return GetModuleHandleA(text) != NULL;
}
