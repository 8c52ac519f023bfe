// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/sort_key.hpp"

#include <fmt/format.h>

#include <tuple>

#include "cli/units.hpp"

namespace hmn::cli {
namespace {

struct key_word {
  std::string_view word;
  sort_key key;
};
constexpr key_word key_words[] = {
    {"vram", sort_key::vram},     {"dedicated", sort_key::vram}, {"committed", sort_key::vram},
    {"shared", sort_key::shared}, {"total", sort_key::total},    {"ram", sort_key::ram},
    {"pid", sort_key::pid},       {"name", sort_key::name},
};

std::optional<std::uint64_t> size_of(const hypomnesis::usage& row, sort_key by) noexcept {
  if (by == sort_key::shared) return row.host_pool_bytes;
  if (by == sort_key::total) return total_of(row);
  if (by == sort_key::ram) return row.host_resident_bytes;
  return row.used_bytes;
}

}  // namespace

expected<sort_key> parse_sort_key(std::string_view text) {
  for (const auto& each : key_words)
    if (each.word == text) return each.key;
  return misused(
      fmt::format("--sort \"{}\": expected vram, shared, total, ram, pid or name", text));
}

std::string_view name_of(sort_key key) noexcept {
  if (key == sort_key::vram) return "VRAM";
  if (key == sort_key::ram) return "RAM";
  for (const auto& each : key_words)
    if (each.key == key) return each.word;
  return {};
}

std::optional<std::uint64_t> total_of(const hypomnesis::usage& row) noexcept {
  if (!row.used_bytes && !row.host_pool_bytes) return std::nullopt;
  return saturating_sum(row.used_bytes.value_or(0), row.host_pool_bytes.value_or(0));
}

bool comes_before(const hypomnesis::usage& a, const hypomnesis::usage& b, sort_key by) {
  if (by != sort_key::name && by != sort_key::pid) {
    const auto left = size_of(a, by);
    const auto right = size_of(b, by);
    if (left != right) return left > right;
  }
  if (by != sort_key::pid && a.process_name != b.process_name)
    return a.process_name < b.process_name;
  return std::tie(a.pid, a.device_index) < std::tie(b.pid, b.device_index);
}

}  // namespace hmn::cli
