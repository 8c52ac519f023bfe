// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/module.hpp"

#include <array>

#include "platform/library.hpp"

namespace hmn::cli {

expected<void*> load_module(const std::string& installed, const std::string& built,
                            const char* symbol) {
  std::array<char, platform::longest_path> buffer;
  const std::string folder(platform::own_folder(buffer));
  auto opened = platform::library::open((folder + "/" + installed).c_str());
  if (!opened && opened.is_missing)
    opened = platform::library::open((folder + "/" + built).c_str());
  if (!opened) return failed(opened.error_text);
  void* const found = opened.value.symbol(symbol);
  if (found == nullptr) return failed("\"" + built + "\" is of another version");
  // What it links may not bear to be unloaded.
  opened.value.leave_open();
  return found;
}

}  // namespace hmn::cli
