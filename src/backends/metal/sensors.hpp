// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/metal/values.hpp"

namespace hmn::metal {

struct thermometer {
  std::string name;
  double celsius = 0;
};

// GPU sensors by name; the chip's if the GPU has none.
enum class place { gpu, chip, elsewhere };
place place_of(std::string_view name);

// Maximum of one place; absent: none has a valid value.
std::optional<double> highest(std::span<const thermometer> all, place where);

// Thermometers of an Apple SoC, readable by any user.
class sensors {
 public:
  bool open(const frameworks& f);
  [[nodiscard]] std::vector<thermometer> read() const;
  void close() noexcept;

 private:
  const frameworks* f_ = nullptr;
  owned client_;
  owned services_;
};

}  // namespace hmn::metal
