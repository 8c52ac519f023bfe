// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/module.hpp"

#include <array>

#include "platform/library.hpp"

namespace hmn::cli {

expected<void*> load_symbol(const std::string& module, const char* symbol) {
  std::array<char, platform::longest_path> buffer;
  const std::string folder(platform::own_folder(buffer));
  const auto file = "/hypomnesis/" + module + HMN_MODULE_END;
  auto opened = platform::library::open((folder + "/" HMN_LIBRARY_FROM_BIN + file).c_str());
  // In a build folder.
  if (!opened && opened.is_missing) opened = platform::library::open((folder + file).c_str());
  if (!opened) return failed(opened.error_text);
  void* const found = opened.value.symbol(symbol);
  if (found == nullptr) return failed("\"" + file.substr(1) + "\" is of another version");
  // What it links may not bear to be unloaded.
  opened.value.leave_open();
  return found;
}

}  // namespace hmn::cli
