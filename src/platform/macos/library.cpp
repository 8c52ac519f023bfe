// SPDX-License-Identifier: MIT OR Apache-2.0
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include "platform/library.hpp"

namespace hmn::platform {

static_assert(max_path_size >= PATH_MAX);

// Resolves the name; one without a leading slash is relative to a folder that the program may have
// left since.
std::string_view own_folder(std::span<char> buffer) noexcept {
  Dl_info file;
  const auto* const address = reinterpret_cast<const void*>(&own_folder);
  buffer[0] = '\0';
  const bool is_known = dladdr(address, &file) != 0 && file.dli_fname != nullptr;
  if (!is_known || file.dli_fname[0] != '/' || realpath(file.dli_fname, buffer.data()) == nullptr) {
    buffer[0] = '\0';
    return {};
  }
  const std::string_view path(buffer.data());
  return path.substr(0, path.rfind('/'));
}

}  // namespace hmn::platform
