// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A pdh.dll in this process. The test sets the answers of its functions; the calls are
// counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backends/pdh/abi.hpp"

namespace hmn::test {

struct FakeRow {
  std::u16string instance;
  std::int64_t whole = 0;
  double real = 0;
  pdh::Code status = pdh::success;
};

struct FakePdh {
  std::map<std::u16string, std::vector<FakeRow>> counters;  // by path
  pdh::Code open_answer = pdh::success;
  pdh::Code missing_answer = pdh::no_object;  // to a path that is not in counters
  std::vector<pdh::Code> collect_answers;     // returned one by one, then success
  pdh::Code rows_answer = pdh::success;
  int growths = 0;  // how often rows are added between asking for the size and for them
  int opened = 0;
  int closed = 0;
  int collected = 0;
  int read = 0;

  // The instance behind functions().
  static FakePdh& instance();
  static void reset();
  static pdh::Functions functions();
};

}  // namespace hmn::test
