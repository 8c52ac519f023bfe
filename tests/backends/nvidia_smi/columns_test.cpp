// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "model/scan.hpp"

using namespace hmn::nvidia_smi;

namespace {

std::string list_columns(const ColumnChoice& choice) {
  return "," + choice.list() + ",";
}

}  // namespace

TEST_CASE("every column has a spelling, and no spelling occurs twice") {
  for (std::string_view columns : {gpu_spellings(), app_spellings()}) {
    std::vector<std::string_view> names;
    while (!columns.empty()) {
      std::string_view spellings = hmn::scan::take_line(columns);
      CHECK_FALSE(spellings.empty());
      while (!spellings.empty()) {
        const std::string_view name = hmn::scan::take_word(spellings);
        CHECK(std::find(names.begin(), names.end(), name) == names.end());
        names.push_back(name);
      }
    }
  }
}

TEST_CASE("a refused spelling is replaced by the next one, and then omitted") {
  ColumnChoice choice(gpu_spellings());
  CHECK(list_columns(choice).find(",clocks_event_reasons.active,") != std::string::npos);
  CHECK(choice.reject("clocks_event_reasons.active"));
  CHECK(list_columns(choice).find(",clocks_throttle_reasons.active,") != std::string::npos);
  CHECK_FALSE(choice.reject("clocks_event_reasons.active"));
  CHECK(choice.reject("clocks_throttle_reasons.active"));
  CHECK(list_columns(choice).find("reasons") == std::string::npos);
  CHECK(choice.is_rejected(static_cast<std::size_t>(GpuColumn::throttle)));
  CHECK_FALSE(choice.is_rejected(static_cast<std::size_t>(GpuColumn::index)));
  choice.reset();
  CHECK(list_columns(choice).find(",clocks_event_reasons.active,") != std::string::npos);
}

TEST_CASE("a column that is not in the query cannot be refused, so that retries end") {
  ColumnChoice choice(app_spellings());
  CHECK_FALSE(choice.reject(""));
  CHECK_FALSE(choice.reject("cuda_version"));
  int rounds = 0;
  while (!choice.list().empty()) {
    const std::string all = choice.list();
    REQUIRE(choice.reject(all.substr(0, all.find(','))));
    REQUIRE(++rounds < 100);
  }
}
