// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/handles.hpp"

namespace hmn::cli {

class spill_detector {
 public:
  static expected<spill_detector> of(const context& in, std::uint32_t device);

  // What cannot be measured is told by info().
  void observe(const std::string& label);
  void observe(hmn_snapshot* picture, const std::string& label);
  hmn_spill_info info() const;
  std::vector<hmn_episode> episodes() const;  // those that are kept

 private:
  struct destroy {
    void operator()(hmn_spill* handle) const noexcept { hmn_spill_destroy(handle); }
  };
  explicit spill_detector(hmn_spill* owned) : handle_(owned) {}
  std::unique_ptr<hmn_spill, destroy> handle_;
};

}  // namespace hmn::cli
