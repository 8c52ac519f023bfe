// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstdint>
#include <map>
#include <vector>

namespace hmn::cli {

// Identities that were read before: a GPU that hangs or is lost may no longer report its own, and
// must not become another series. An index belongs to one device for the life of a context.
class known_devices {
 public:
  // Fills in what is missing.
  void complete(std::vector<hypomnesis::snapshot_device>& devices);

 private:
  std::map<std::uint32_t, hypomnesis::device> known_;
};

}  // namespace hmn::cli
