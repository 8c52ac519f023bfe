// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Values of CoreFoundation. A value of an unexpected type counts as missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "backends/metal/frameworks.hpp"

namespace hmn::metal {

// Owned reference, released at the end.
class owned {
 public:
  owned() noexcept = default;
  owned(const core_foundation& core, cf value) noexcept : core_(&core), value_(value) {}
  owned(owned&& other) noexcept
      : core_(other.core_), value_(std::exchange(other.value_, nullptr)) {}
  owned& operator=(owned&& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(value_, other.value_);
    return *this;
  }
  ~owned() {
    if (value_ != nullptr) core_->release(value_);
  }

  explicit operator bool() const noexcept { return value_ != nullptr; }
  [[nodiscard]] cf get() const noexcept { return value_; }

 private:
  const core_foundation* core_ = nullptr;
  cf value_ = nullptr;
};

owned make_text(const core_foundation& core, const char* text);
owned make_number(const core_foundation& core, std::int32_t value);

// Returns null if there is none, or `dictionary` is no dictionary.
cf find(const core_foundation& core, cf dictionary, const char* key);
std::optional<std::int64_t> number_of(const core_foundation& core, cf value);
std::optional<std::int64_t> find_number(const core_foundation& core, cf dictionary,
                                        const char* key);
// Returns "" if there is none, or it is longer than 127 bytes.
std::string text_of(const core_foundation& core, cf value);
cf_index count_of(const core_foundation& core, cf array);
std::span<const std::uint8_t> bytes_of(const core_foundation& core, cf data);

}  // namespace hmn::metal
