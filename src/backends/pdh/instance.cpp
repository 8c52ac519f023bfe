// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/instance.hpp"

#include <utility>

#include "model/character.hpp"
#include "model/metric.hpp"
#include "model/scan.hpp"

namespace hmn::pdh {
namespace {

// Drivers write "VideoDecode", "Video Decode" and "Video_Decode".
bool names(std::string_view type, std::string_view word) noexcept {
  for (std::size_t begin = 0; begin < type.size(); ++begin) {
    std::size_t at = begin;
    std::size_t matched = 0;
    while (at < type.size() && matched < word.size()) {
      if (lower_case(type[at]) == word[matched]) {
        ++matched;
      } else if (matched == 0 || (type[at] != ' ' && type[at] != '_')) {
        break;
      }
      ++at;
    }
    if (matched == word.size()) return true;
  }
  return false;
}

bool take(std::string_view& rest, std::string_view word) noexcept {
  const bool same = equal_ignoring_case(rest.substr(0, word.size()), word);
  if (same) rest.remove_prefix(word.size());
  return same;
}

std::optional<std::uint32_t> take_number(std::string_view& rest, int base = 10) noexcept {
  return scan::number<std::uint32_t>(scan::take_until(rest, '_'), base);
}

// Takes the number after "#" off the end.
std::uint64_t take_ordinal(std::string_view& name) noexcept {
  const std::size_t at = name.rfind('#');
  if (at == name.npos) return 0;
  const auto ordinal = scan::decimal(name.substr(at + 1));
  if (ordinal) name = name.substr(0, at);
  return ordinal.value_or(0);
}

}  // namespace

std::uint32_t kind_of_engine(std::string_view type) noexcept {
  constexpr std::pair<std::string_view, std::uint32_t> words[] = {
      {"3d", which::engine::graphics},        {"graphics", which::engine::graphics},
      {"compute", which::engine::compute},    {"cuda", which::engine::compute},
      {"copy", which::engine::copy},          {"videodecode", which::engine::decode},
      {"videoencode", which::engine::encode}, {"video", which::engine::video},
  };
  for (const auto& [word, kind] : words) {
    if (names(type, word)) return kind;
  }
  return which::engine::other;
}

std::optional<Instance> parse_instance(std::string_view name) noexcept {
  Instance out;
  out.ordinal = take_ordinal(name);
  if (take(name, "pid_")) {
    out.pid = take_number(name);
    if (!out.pid) return std::nullopt;
  }
  if (!take(name, "luid_0x")) return std::nullopt;
  const auto high = take_number(name, 16);
  if (!high || !take(name, "0x")) return std::nullopt;
  const auto low = take_number(name, 16);
  if (!low || !take(name, "phys_")) return std::nullopt;
  out.adapter = wddm::make_luid(*high, *low);
  const auto physical = take_number(name);
  if (!physical) return std::nullopt;
  out.physical = *physical;
  if (name.empty()) return out;
  if (!take(name, "eng_")) return std::nullopt;
  out.engine = take_number(name);
  if (!out.engine || !take(name, "engtype_")) return std::nullopt;
  out.engine_kind = kind_of_engine(name);
  return out;
}

}  // namespace hmn::pdh
