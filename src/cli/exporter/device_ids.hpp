// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace hmn::cli {

// hw_id of each GPU of a snapshot: its UUID, else its PCI address, else "gpu" and its index. What a
// driver reports of two GPUs identifies neither: two series of one name would be one GPU less.
class device_ids {
 public:
  explicit device_ids(const std::vector<hypomnesis::snapshot_device>& all);

  std::string of(std::uint32_t index) const;

 private:
  std::unordered_map<std::uint32_t, std::string> ids_;
};

}  // namespace hmn::cli
