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

// The GPU's by their names; the chip's where none is the GPU's own.
enum class place { gpu, chip, elsewhere };
place place_of(std::string_view name);

// The highest of one place; absent: none has a value that makes sense.
std::optional<double> highest(std::span<const thermometer> all, place where);

// The thermometers of an Apple SoC, which any user may read.
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
