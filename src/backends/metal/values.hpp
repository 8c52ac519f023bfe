// SPDX-License-Identifier: MIT OR Apache-2.0
//
// CoreFoundation's values. A value of another type than the one that is asked for is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "backends/metal/frameworks.hpp"

namespace hmn::metal {

// A reference that is given back.
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

// Null: it has none, or is no dictionary itself.
cf find(const core_foundation& core, cf dictionary, const char* key);
std::optional<std::int64_t> number_of(const core_foundation& core, cf value);
std::optional<std::int64_t> find_number(const core_foundation& core, cf dictionary,
                                        const char* key);
// Empty: none, or longer than 127 bytes.
std::string text_of(const core_foundation& core, cf value);
cf_index count_of(const core_foundation& core, cf array);
std::span<const std::uint8_t> bytes_of(const core_foundation& core, cf data);

}  // namespace hmn::metal
