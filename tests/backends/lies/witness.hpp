// SPDX-License-Identifier: MIT OR Apache-2.0
//
// An observer of a fake tree, with what a card of it and the commands over it are made of.
#pragma once

#include <cstdint>
#include <string>

#include "../patience.hpp"
#include "fake_tree.hpp"
#include "observer.hpp"

namespace lies_test {

class Witness : public Observer {
 public:
  // Without NVML, and without the commands that are not in `commands` (bits of HMN_BACKEND_*).
  explicit Witness(std::uint64_t commands, std::uint32_t deadline_ms = patient_ms);

  [[nodiscard]] const hmn_fake::Tree& tree() const { return tree_; }

 private:
  hmn_fake::Tree tree_;
};

}  // namespace lies_test
