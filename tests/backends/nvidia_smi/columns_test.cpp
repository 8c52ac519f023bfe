// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "model/scan.hpp"

using namespace hmn::nvidia_smi;

namespace {

std::string gpu_list(const ColumnChoice& c) {
  return "," + c.list() + ",";
}

}  // namespace

TEST_CASE("every column has a spelling, and none is asked for twice") {
  for (std::string_view columns : {gpu_spellings(), app_spellings()}) {
    std::vector<std::string_view> seen;
    while (!columns.empty()) {
      std::string_view spellings = hmn::scan::take_line(columns);
      CHECK_FALSE(spellings.empty());
      while (!spellings.empty()) {
        const std::string_view name = hmn::scan::take_word(spellings);
        CHECK(std::find(seen.begin(), seen.end(), name) == seen.end());
        seen.push_back(name);
      }
    }
  }
}

TEST_CASE("a refused spelling gives way to the next, then to nothing") {
  ColumnChoice c(gpu_spellings());
  CHECK(gpu_list(c).find(",clocks_event_reasons.active,") != std::string::npos);
  CHECK(c.refuse("clocks_event_reasons.active"));
  CHECK(gpu_list(c).find(",clocks_throttle_reasons.active,") != std::string::npos);
  CHECK_FALSE(c.refuse("clocks_event_reasons.active"));
  CHECK(c.refuse("clocks_throttle_reasons.active"));
  CHECK(gpu_list(c).find("reasons") == std::string::npos);
  CHECK(c.is_refused(static_cast<std::size_t>(GpuColumn::throttle)));
  CHECK_FALSE(c.is_refused(static_cast<std::size_t>(GpuColumn::index)));
  c.reset();
  CHECK(gpu_list(c).find(",clocks_event_reasons.active,") != std::string::npos);
}

TEST_CASE("what was not asked for cannot be refused, so that asking ends") {
  ColumnChoice c(app_spellings());
  CHECK_FALSE(c.refuse(""));
  CHECK_FALSE(c.refuse("cuda_version"));
  int turns = 0;
  while (!c.list().empty()) {
    const std::string all = c.list();
    REQUIRE(c.refuse(all.substr(0, all.find(','))));
    REQUIRE(++turns < 100);
  }
}
