// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/library.hpp"

#include <utility>

#include "backends/nvml/errors.hpp"
#include "backends/nvml/evidence.hpp"
#include "backends/nvml/system.hpp"
#include "model/compose.hpp"
#include "platform/file.hpp"

namespace hmn::nvml {
namespace {

failure not_opened(std::string loader_text, const std::string& help) {
  if (!help.empty()) loader_text = compose({loader_text, ": ", help});
  return fail(status::no_source, std::move(loader_text));
}

}  // namespace

result<platform::library> open_library(const settings& s) {
  if (!s.nvml_path.empty()) {
    auto chosen = platform::library::open(s.nvml_path.c_str());
    if (chosen) return std::move(chosen.value);
    return not_opened(std::move(chosen.error_text), {});
  }
  const auto places = library_places();
  auto found = platform::library::open(places.front());
  for (const char* path : places.subspan(1)) {
    if (found) break;
    if (platform::exists(path)) found = platform::library::open(path);
  }
  if (found) return std::move(found.value);
  return not_opened(std::move(found.error_text), advice(s.sys_root));
}

}  // namespace hmn::nvml
