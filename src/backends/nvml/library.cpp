// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/library.hpp"

#include <utility>

#include "backends/nvml/call.hpp"
#include "backends/nvml/system.hpp"
#include "model/compose.hpp"
#include "platform/file.hpp"

namespace hmn::nvml {

void named_symbol::find(const platform::library& in, reach answers,
                        std::initializer_list<const char*> names) noexcept {
  *this = {nullptr, *names.begin(), 0, answers};
  std::uint8_t nth = 0;
  for (const char* name : names) {
    if (void* const found = in.symbol(name)) {
      *this = {found, name, nth, answers};
      return;
    }
    ++nth;
  }
}

void symbols::find(const platform::library& in) noexcept {
#define HMN_NVML_FIND(member, answers, parameters, ...) \
  member.find(in, reach::answers, {__VA_ARGS__});
  HMN_NVML_FUNCTIONS(HMN_NVML_FIND)
#undef HMN_NVML_FIND
}

result<platform::library> open_library(const settings& s) {
  const bool is_chosen = !s.nvml_path.empty();
  const auto places = library_places();
  auto found = platform::library::open(is_chosen ? s.nvml_path.c_str() : places.front());
  for (const char* path : places.subspan(1)) {
    if (found || is_chosen) break;
    if (platform::exists(path)) found = platform::library::open(path);
  }
  if (found) return std::move(found.value);
  const std::string help = found.is_missing && !is_chosen ? advice(s) : "";
  return fail(found.is_missing ? status::no_source : status::backend,
              {found.error_text, help.empty() ? "" : ": ", help});
}

}  // namespace hmn::nvml
