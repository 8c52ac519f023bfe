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
#define HMN_NVML_NAMES(member, parameters, names) names "\0"
constexpr char all_names[] = HMN_NVML_FUNCTIONS(HMN_NVML_NAMES);
#undef HMN_NVML_NAMES

#define HMN_NVML_PLACE(member, parameters, names) offsetof(symbols, member),
constexpr std::uint16_t places[] = {HMN_NVML_FUNCTIONS(HMN_NVML_PLACE)};
#undef HMN_NVML_PLACE

static_assert(sizeof all_names <= UINT16_MAX);

// Returns the place of the next function's names.
std::uint16_t find(const platform::library& from, std::uint16_t at, named_symbol& out) noexcept {
  out = {};
  out.name_at = at;
  for (std::uint8_t generation = 0; all_names[at] != '\0'; ++generation) {
    if (!out) {
      out.address = from.symbol(all_names + at);
      if (out) {
        out.generation = generation;
        out.name_at = at;
      }
    }
    at = static_cast<std::uint16_t>(at + std::strlen(all_names + at) + 1);
  }
  return static_cast<std::uint16_t>(at + 1);
}

}  // namespace

const char* named_symbol::name() const noexcept {
  return all_names + name_at;
}

void symbols::find(const platform::library& from) noexcept {
  std::uint16_t at = 0;
  for (const std::uint16_t place : places) {
    at = nvml::find(from, at,
                    *reinterpret_cast<named_symbol*>(reinterpret_cast<char*>(this) + place));
  }
}

namespace {

failure not_opened(const platform::library::open_result& tried, const std::string& help) {
  return fail(tried.is_missing ? status::no_source : status::backend,
              {tried.error_text, help.empty() ? "" : ": ", help});
}

}  // namespace

result<platform::library> open_library(const settings& s) {
  if (!s.nvml_path.empty()) {
    auto chosen = platform::library::open(s.nvml_path.c_str());
    if (chosen) return std::move(chosen.value);
    return not_opened(chosen, {});
  }
  const auto places = library_places();
  auto found = platform::library::open(places.front());
  for (const char* path : places.subspan(1)) {
    if (found) break;
    if (platform::exists(path)) found = platform::library::open(path);
  }
  if (found) return std::move(found.value);
  return not_opened(found, found.is_missing ? advice(s) : "");
}

}  // namespace hmn::nvml
