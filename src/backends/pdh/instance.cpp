// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/instance.hpp"

#include <utility>

#include "model/character.hpp"
#include "model/metric.hpp"
#include "model/scan.hpp"

namespace hmn::pdh {
namespace {

// Drivers write "VideoDecode", "Video Decode" and "Video_Decode".
bool contains_word(std::string_view type, std::string_view word) noexcept {
  for (std::size_t begin = 0; begin < type.size(); ++begin) {
    std::size_t index = begin;
    std::size_t length = 0;
    while (index < type.size() && length < word.size()) {
      if (lower_case(type[index]) == word[length]) {
        ++length;
      } else if (length == 0 || (type[index] != ' ' && type[index] != '_')) {
        break;
      }
      ++index;
    }
    if (length == word.size()) return true;
  }
  return false;
}

bool take_word(std::string_view& rest, std::string_view word) noexcept {
  const bool is_match = equal_ignoring_case(rest.substr(0, word.size()), word);
  if (is_match) rest.remove_prefix(word.size());
  return is_match;
}

std::optional<std::uint32_t> take_number(std::string_view& rest, int base = 10) noexcept {
  return scan::parse_number<std::uint32_t>(scan::take_until(rest, '_'), base);
}

// Takes the number after "#" off the end.
std::uint64_t take_ordinal(std::string_view& name) noexcept {
  const std::size_t position = name.rfind('#');
  if (position == name.npos) return 0;
  const auto ordinal = scan::parse_decimal(name.substr(position + 1));
  if (ordinal) name = name.substr(0, position);
  return ordinal.value_or(0);
}

}  // namespace

std::uint32_t find_engine_kind(std::string_view type) noexcept {
  constexpr std::pair<std::string_view, std::uint32_t> words[] = {
      {"3d", metric_instance::engine::graphics},
      {"graphics", metric_instance::engine::graphics},
      {"compute", metric_instance::engine::compute},
      {"cuda", metric_instance::engine::compute},
      {"copy", metric_instance::engine::copy},
      {"videodecode", metric_instance::engine::decode},
      {"videoencode", metric_instance::engine::encode},
      {"video", metric_instance::engine::video},
  };
  for (const auto& [word, kind] : words) {
    if (contains_word(type, word)) return kind;
  }
  return metric_instance::engine::other;
}

std::optional<Instance> parse_instance(std::string_view name) noexcept {
  Instance instance;
  instance.ordinal = take_ordinal(name);
  if (take_word(name, "pid_")) {
    instance.pid = take_number(name);
    if (!instance.pid) return std::nullopt;
  }
  if (!take_word(name, "luid_0x")) return std::nullopt;
  const auto high = take_number(name, 16);
  if (!high || !take_word(name, "0x")) return std::nullopt;
  const auto low = take_number(name, 16);
  if (!low || !take_word(name, "phys_")) return std::nullopt;
  instance.adapter = wddm::make_luid(*high, *low);
  const auto physical = take_number(name);
  if (!physical) return std::nullopt;
  instance.physical = *physical;
  if (name.empty()) return instance;
  if (!take_word(name, "eng_")) return std::nullopt;
  instance.engine = take_number(name);
  if (!instance.engine || !take_word(name, "engtype_")) return std::nullopt;
  instance.engine_kind = find_engine_kind(name);
  return instance;
}

}  // namespace hmn::pdh
