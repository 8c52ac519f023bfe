// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/outputs.hpp"

#include <algorithm>
#include <span>

namespace hmn::nvml {
namespace {

constexpr unsigned most_rows_shown = 2;

}  // namespace

void call_text::add(std::initializer_list<piece> pieces) noexcept {
  length_ += compose_in(std::span(bytes_).subspan(length_), pieces).size();
}

void call_text::add_quoted(std::string_view text) noexcept {
  add({"\""});
  for (const char& c : text) {
    if (c >= ' ' && c <= '~') {
      add({std::string_view(&c, 1)});
    } else {
      add({"\\x", hex(static_cast<unsigned char>(c), 2)});
    }
  }
  add({"\""});
}

void call_text::add_value(const void* address) noexcept {
  add({"0x", hex(reinterpret_cast<std::uintptr_t>(address))});
}

// Words, as the layout of a row differs between drivers.
void call_text::add_outputs(handle, row_count* count, void* rows) noexcept {
  std::uint32_t words[most_rows_shown][6];
  const unsigned shown = std::min(count->value, most_rows_shown);
  std::memcpy(words, rows, shown * sizeof words[0]);
  add({", ", count->value});
  for (const auto& row : std::span(words).first(shown)) {
    const char* before = ", words=0x";
    for (const std::uint32_t word : row) add({std::exchange(before, ", 0x"), hex(word)});
  }
}

void call_text::add_outputs(handle, process_sample* samples, row_count* count,
                            unsigned long long) noexcept {
  const unsigned shown = samples != nullptr ? std::min(count->value, most_rows_shown) : 0;
  for (unsigned i = 0; i < shown; ++i) add_output(samples + i);
  add({", ", count->value});
}

void call_text::add_outputs(handle, int count, field_value* fields) noexcept {
  for (int i = 0; i < count; ++i) add_output(fields + i);
}

}  // namespace hmn::nvml
