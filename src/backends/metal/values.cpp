// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/values.hpp"

#include <array>

namespace hmn::metal {
namespace {

bool is_a(const core_foundation& core, cf value, cf_type (*type)()) {
  return value != nullptr && core.type_of(value) == type();
}

}  // namespace

owned make_text(const core_foundation& core, const char* text) {
  return {core, core.make_string(nullptr, text, utf8)};
}

owned make_number(const core_foundation& core, std::int32_t value) {
  return {core, core.make_number(nullptr, signed_32, &value)};
}

cf find(const core_foundation& core, cf dictionary, const char* key) {
  if (!is_a(core, dictionary, core.dictionary_type)) return nullptr;
  const owned name = make_text(core, key);
  return name ? core.find(dictionary, name.get()) : nullptr;
}

std::optional<std::int64_t> number_of(const core_foundation& core, cf value) {
  std::int64_t out = 0;
  if (!is_a(core, value, core.number_type)) return std::nullopt;
  if (core.number_value(value, signed_64, &out) == 0) return std::nullopt;
  return out;
}

std::optional<std::int64_t> find_number(const core_foundation& core, cf dictionary,
                                        const char* key) {
  return number_of(core, find(core, dictionary, key));
}

std::string text_of(const core_foundation& core, cf value) {
  std::array<char, 128> out{};
  if (!is_a(core, value, core.string_type)) return {};
  const auto size = static_cast<cf_index>(out.size());
  return core.copy_string(value, out.data(), size, utf8) != 0 ? out.data() : "";
}

cf_index count_of(const core_foundation& core, cf array) {
  return is_a(core, array, core.array_type) ? core.count(array) : 0;
}

std::span<const std::uint8_t> bytes_of(const core_foundation& core, cf data) {
  if (!is_a(core, data, core.data_type)) return {};
  return {core.data_bytes(data), static_cast<std::size_t>(core.data_length(data))};
}

}  // namespace hmn::metal
