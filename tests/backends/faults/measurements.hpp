// SPDX-License-Identifier: MIT OR Apache-2.0
//
// All that one reading of a source gave, value by value, to be compared with another one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "machine.hpp"
#include "source/interface.hpp"

namespace faults_test {

// "0 temperature 4" and what it was; values that come from two readings are left out.
struct Measurements {
  struct Value {
    std::string text;
    std::optional<std::uint64_t> bytes;
    bool is_lower_bound = false;
  };
  std::map<std::string, Value> values;
  bool has_failed = false;  // a call as a whole
};

// `own`: the caller's pid.
Measurements take(hmn::DeviceSource& from, std::uint32_t own, drm_test::PlainReading& r);

// The first value that is there and is not what it is in `truth`; "": none.
std::string wrong_in(const Measurements& seen, const Measurements& truth);
// The first that is not there; "": all are.
std::string missing_in(const Measurements& seen, const Measurements& truth);

}  // namespace faults_test
