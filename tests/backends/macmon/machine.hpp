// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A machine with a command named macmon, a shell script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/macmon/macmon_source.hpp"
#include "fake_tree.hpp"
#include "plain_reading.hpp"

namespace macmon_test {

using hmn_fake::PlainReading;

class Machine {
 public:
  Machine() : source_(path(), false) {}

  // Sets the output of every start.
  void print(std::string_view text) const;
  // Replaces the script's body.
  void script(const std::string& body) const;
  [[nodiscard]] hmn::macmon::MacmonSource& source() { return source_; }
  [[nodiscard]] std::string path() const { return tree_.path("tool/macmon"); }
  // The arguments of each start.
  [[nodiscard]] std::vector<std::string> starts() const;

  // prepare() and devices() of a new reading.
  hmn::Result<std::vector<hmn::Device>> devices(PlainReading& reading);

 private:
  hmn_fake::Tree tree_;
  hmn::macmon::MacmonSource source_;
};

}  // namespace macmon_test
