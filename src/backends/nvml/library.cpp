// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/library.hpp"

#include <cstddef>
#include <cstring>
#include <utility>

#include "backends/nvml/call.hpp"
#include "backends/nvml/system.hpp"
#include "model/compose.hpp"
#include "platform/file.hpp"

namespace hmn::nvml {
namespace {

// The names of each function, and an empty one after them.
#define HMN_NVML_NAMES(member, reach, parameters, names) names "\0"
constexpr char all_names[] = HMN_NVML_FUNCTIONS(HMN_NVML_NAMES);
#undef HMN_NVML_NAMES

struct listed {
  std::uint16_t place;
  reach answers_for;
};
#define HMN_NVML_PLACE(member, answers, parameters, names) \
  {offsetof(symbols, member), reach::answers},
constexpr listed all_listed[] = {HMN_NVML_FUNCTIONS(HMN_NVML_PLACE)};
#undef HMN_NVML_PLACE

// Returns the place of the next function's names.
const char* find(const platform::library& from, const char* names, reach answers_for,
                 named_symbol& out) noexcept {
  out = {nullptr, names, 0, answers_for};
  for (std::uint8_t generation = 0; *names != '\0'; ++generation) {
    if (!out) {
      if (void* const address = from.symbol(names)) out = {address, names, generation, answers_for};
    }
    names += std::strlen(names) + 1;
  }
  return names + 1;
}

}  // namespace

void symbols::find(const platform::library& from) noexcept {
  const char* names = all_names;
  for (const listed& f : all_listed) {
    names = nvml::find(from, names, f.answers_for,
                       *reinterpret_cast<named_symbol*>(reinterpret_cast<char*>(this) + f.place));
  }
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
