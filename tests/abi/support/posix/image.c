/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _GNU_SOURCE
#include "support/image.h"

#include <dlfcn.h>
#include <stddef.h>

int image_is_loaded(const char* path) {
  void* const image = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (image != NULL) dlclose(image);
  return image != NULL;
}
