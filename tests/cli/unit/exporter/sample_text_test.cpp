// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/sample_text.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

using namespace hmn::cli;

namespace {

constexpr family size_family{"a_bytes", family_kind::gauge, "Size"};
constexpr family count_family{"b_total", family_kind::counter, "Count"};
constexpr family odd_counter{"C", family_kind::counter, "Count of another"};
constexpr family fact_family{"d_info", family_kind::info, "Facts"};

std::string text_of(const family& of, sample_value value, text_format format) {
  samples all;
  all.add(of, label_set(), value);
  return write_samples(all, format);
}

}  // namespace

TEST_CASE("sample_text: counters and facts have a suffix only where the format wants it") {
  CHECK(text_of(count_family, std::uint64_t{7}, text_format::prometheus) ==
        "# HELP b_total Count\n# TYPE b_total counter\nb_total 7\n");
  CHECK(text_of(count_family, std::uint64_t{7}, text_format::openmetrics) ==
        "# HELP b Count\n# TYPE b counter\nb_total 7\n# EOF\n");
  CHECK(text_of(odd_counter, std::uint64_t{7}, text_format::prometheus) ==
        "# HELP C Count of another\n# TYPE C counter\nC 7\n");
  CHECK(text_of(odd_counter, std::uint64_t{7}, text_format::openmetrics) ==
        "# HELP C Count of another\n# TYPE C unknown\nC 7\n# EOF\n");
  CHECK(text_of(fact_family, std::uint64_t{1}, text_format::prometheus) ==
        "# HELP d_info Facts\n# TYPE d_info gauge\nd_info 1\n");
  CHECK(text_of(fact_family, std::uint64_t{1}, text_format::openmetrics) ==
        "# HELP d Facts\n# TYPE d info\nd_info 1\n# EOF\n");
}

TEST_CASE("sample_text: numbers are exact") {
  const auto number = [](sample_value value) {
    const auto text = text_of(size_family, value, text_format::prometheus);
    const auto line = text.rfind("a_bytes ");
    return text.substr(line + 8, text.size() - line - 9);
  };
  CHECK(number(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
  CHECK(number(0.1) == "0.1");
  CHECK(number(from_nanoseconds.of(81234000000.0)) == "81.234");
  CHECK(number(from_percent.of(61)) == "0.61");
  CHECK(number(to_millijoules.of(1.001)) == "1001");
  CHECK(number(from_megahertz.of(1410.1)) == "1410100000");
  CHECK(number(from_nanoseconds.of(1.8e19)) == "18000000000");
  CHECK(number(from_percent.of(-0.3)) == "-0.003");
  CHECK(number(to_mebibytes.of(3 << 19)) == "1.5");
  CHECK(number(std::numeric_limits<double>::infinity()) == "+Inf");
  CHECK(number(-std::numeric_limits<double>::infinity()) == "-Inf");
  CHECK(number(std::numeric_limits<double>::quiet_NaN()) == "NaN");
}

TEST_CASE("sample_text: labels are escaped, and empty ones left out") {
  label_set of;
  of.add("x", "a\\b\"c\nd").add("y", "").add("z", "é");
  CHECK(of.text() == "x=\"a\\\\b\\\"c\\nd\",z=\"é\"");
}

TEST_CASE("sample_text: a family is written together, and a sample once") {
  samples all;
  label_set one;
  one.add("n", "1");
  all.add(size_family, one, sample_value(std::uint64_t{1}));
  all.add(count_family, label_set(), sample_value(std::uint64_t{2}));
  all.add(size_family, label_set(), sample_value(std::uint64_t{3}));
  all.add(size_family, one, sample_value(std::uint64_t{4}));
  CHECK(write_samples(all, text_format::prometheus) ==
        "# HELP a_bytes Size\n# TYPE a_bytes gauge\na_bytes{n=\"1\"} 1\na_bytes 3\n"
        "# HELP b_total Count\n# TYPE b_total counter\nb_total 2\n");
}

TEST_CASE("sample_text: a value that is not known is not written") {
  samples all;
  all.add(size_family, label_set(), std::optional<double>());
  all.add(size_family, label_set(), std::optional<std::uint64_t>());
  CHECK(write_samples(all, text_format::prometheus).empty());
  CHECK(write_samples(all, text_format::openmetrics) == "# EOF\n");
}
