// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A pdh.dll in this process: what its functions answer is set by the test, and what they were asked
// for is kept.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backends/pdh/abi.hpp"

namespace hmn::test {

struct fake_row {
  std::u16string instance;
  std::int64_t whole = 0;
  double real = 0;
  pdh::code status = pdh::success;
};

struct fake_pdh {
  std::map<std::u16string, std::vector<fake_row>> counters;  // by path
  pdh::code open_answer = pdh::success;
  pdh::code missing_answer = pdh::no_object;  // to a path that is not in counters
  std::vector<pdh::code> collect_answers;     // taken one by one, then success
  pdh::code rows_answer = pdh::success;
  int growths = 0;  // how often rows are added between asking for the size and for them
  int opened = 0;
  int closed = 0;
  int collected = 0;
  int read = 0;

  // The one that functions() speaks to.
  static fake_pdh& now();
  static void reset();
  static pdh::functions functions();
};

}  // namespace hmn::test
