// SPDX-License-Identifier: MIT OR Apache-2.0
//
// All values of one reading of a source, to be compared with those of another reading.
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
Measurements measure(hmn::DeviceSource& source, std::uint32_t own_pid,
                     drm_test::PlainReading& reading);

// The first value that is there and is not what it is in `truth`; "": none.
std::string find_wrong(const Measurements& actual, const Measurements& truth);
// The first that is not there; "": all are.
std::string find_missing(const Measurements& actual, const Measurements& truth);

}  // namespace faults_test
