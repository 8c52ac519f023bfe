// SPDX-License-Identifier: MIT OR Apache-2.0
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>

#include <cstring>

#include "platform/library.hpp"

namespace hmn::platform {
namespace {

static_assert(max_path_size >= PATH_MAX);

// Returns the loader's path: a name without a leading slash is relative to the program's folder at
// load time, which only the loader still knows.
bool set_loaded_path(char (&path)[3 * PATH_MAX]) noexcept {
  Dl_info file;
  void* map = nullptr;
  const auto* const address = reinterpret_cast<const void*>(&own_folder);
  if (dladdr1(address, &file, &map, RTLD_DL_LINKMAP) == 0 || file.dli_fname == nullptr)
    return false;
  // The program itself has the name that its caller gave it, and glibc 2.36 crashes when asked for
  // its folder unless a run path has $ORIGIN.
  if (static_cast<const link_map*>(map)->l_name[0] == '\0') {
    std::strcpy(path, "/proc/self/exe");
    return true;
  }
  if (std::strlen(file.dli_fname) >= PATH_MAX) return false;
  if (file.dli_fname[0] == '/') {
    std::strcpy(path, file.dli_fname);
    return true;
  }
  // Both parts, the program's folder and the one in the name, are shorter than PATH_MAX.
  if (dlinfo(map, RTLD_DI_ORIGIN, path) != 0) return false;
  const char* const slash = std::strrchr(file.dli_fname, '/');
  std::strcat(path, "/");
  std::strcat(path, slash != nullptr ? slash + 1 : file.dli_fname);
  return true;
}

}  // namespace

std::string_view own_folder(std::span<char> buffer) noexcept {
  char path[3 * PATH_MAX];
  buffer[0] = '\0';
  if (!set_loaded_path(path) || realpath(path, buffer.data()) == nullptr) {
    buffer[0] = '\0';
    return {};
  }
  const std::string_view file(buffer.data());
  return file.substr(0, file.rfind('/'));
}

}  // namespace hmn::platform
