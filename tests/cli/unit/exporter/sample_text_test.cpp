// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/samples.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

using namespace hmn::cli;

namespace {

constexpr Family size_family{"a_bytes", FamilyKind::gauge, "Size"};
constexpr Family count_family{"b_total", FamilyKind::counter, "Count"};
constexpr Family odd_counter{"C", FamilyKind::counter, "Count of another"};
constexpr Family fact_family{"d_info", FamilyKind::info, "Facts"};

std::string number_in(const Samples& all) {
  const auto text = write_samples(all, TextFormat::prometheus);
  const auto line = text.rfind("a_bytes ");
  return text.substr(line + 8, text.size() - line - 9);
}

std::string text_of(const Family& of, SampleValue value, TextFormat format) {
  Samples all;
  all.add(of, LabelSet(), value);
  return write_samples(all, format);
}

}  // namespace

TEST_CASE("sample_text: counters and facts have a suffix only where the format wants it") {
  CHECK(text_of(count_family, std::uint64_t{7}, TextFormat::prometheus) ==
        "# HELP b_total Count\n# TYPE b_total counter\nb_total 7\n");
  CHECK(text_of(count_family, std::uint64_t{7}, TextFormat::openmetrics) ==
        "# HELP b Count\n# TYPE b counter\nb_total 7\n# EOF\n");
  CHECK(text_of(odd_counter, std::uint64_t{7}, TextFormat::prometheus) ==
        "# HELP C Count of another\n# TYPE C counter\nC 7\n");
  CHECK(text_of(odd_counter, std::uint64_t{7}, TextFormat::openmetrics) ==
        "# HELP C Count of another\n# TYPE C unknown\nC 7\n# EOF\n");
  CHECK(text_of(fact_family, std::uint64_t{1}, TextFormat::prometheus) ==
        "# HELP d_info Facts\n# TYPE d_info gauge\nd_info 1\n");
  CHECK(text_of(fact_family, std::uint64_t{1}, TextFormat::openmetrics) ==
        "# HELP d Facts\n# TYPE d info\nd_info 1\n# EOF\n");
}

TEST_CASE("sample_text: numbers are exact") {
  const auto number = [](SampleValue value) {
    Samples all;
    all.add(size_family, LabelSet(), value);
    return number_in(all);
  };
  CHECK(number(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
  CHECK(number(0.1) == "0.1");
  CHECK(number(9007199254740993.0) == "9007199254740992");
  CHECK(number(1e16) == "1e+16");
  CHECK(number(0.0) == "0");
  CHECK(number(-0.0) == "-0");
  CHECK(number(-7.0) == "-7");
  CHECK(number(std::numeric_limits<double>::infinity()) == "+Inf");
  CHECK(number(-std::numeric_limits<double>::infinity()) == "-Inf");
  CHECK(number(std::numeric_limits<double>::quiet_NaN()) == "NaN");
}

TEST_CASE("sample_text: a unit moves the decimal point and adds no digit") {
  const auto moved = [](double value, int places) {
    Samples all;
    all.add(size_family, LabelSet(), std::optional(value), places);
    return number_in(all);
  };
  CHECK(moved(81234000000.0, from_nanoseconds) == "81.234");
  CHECK(moved(61, from_percent) == "0.61");
  CHECK(moved(12.3, from_percent) == "0.123");
  CHECK(moved(1.001, to_millijoules) == "1001");
  CHECK(moved(58.98, to_millijoules) == "58980");
  CHECK(moved(1410, from_megahertz) == "1410000000");
  CHECK(moved(1410.1, from_megahertz) == "1410100000");
  CHECK(moved(1.8e19, from_nanoseconds) == "18000000000");
  CHECK(moved(-0.3, from_percent) == "-0.003");
  CHECK(moved(1234567, to_thousands) == "1234.567");
}

TEST_CASE("sample_text: every whole percentage is written as it is read") {
  for (int percent = 0; percent <= 1000; ++percent) {
    Samples all;
    all.add(size_family, LabelSet(), std::optional(double(percent)), from_percent);
    CHECK(std::stod(number_in(all)) == std::stod(std::to_string(percent) + "e-2"));
  }
}

TEST_CASE("sample_text: labels are escaped, and empty ones left out") {
  LabelSet of;
  of.add("x", "a\\b\"c\nd").add("y", "").add("z", "é");
  CHECK(of.text() == "x=\"a\\\\b\\\"c\\nd\",z=\"é\"");
}

TEST_CASE("sample_text: bytes that are no UTF-8 are replaced, as one refuses a scrape") {
  LabelSet of;
  of.add("user", "jos\xe9").add("z", "\xc3(\xff\n");
  CHECK(of.text() == "user=\"jos\xef\xbf\xbd\",z=\"\xef\xbf\xbd(\xef\xbf\xbd\\n\"");
}

TEST_CASE("sample_text: a copy with one label more leaves the first as it is") {
  LabelSet of;
  of.add("a", "1");
  CHECK(of.with("b", "\"").text() == "a=\"1\",b=\"\\\"\"");
  CHECK(of.with("b", "").text() == "a=\"1\"");
  CHECK(LabelSet().with("b", "2").text() == "b=\"2\"");
  CHECK(of.text() == "a=\"1\"");
}

TEST_CASE("sample_text: a family is written together, and a sample once") {
  Samples all;
  LabelSet one;
  one.add("n", "1");
  all.add(size_family, one, SampleValue(std::uint64_t{1}));
  all.add(count_family, LabelSet(), SampleValue(std::uint64_t{2}));
  all.add(size_family, LabelSet(), SampleValue(std::uint64_t{3}));
  all.add(size_family, one, SampleValue(std::uint64_t{4}));
  CHECK(write_samples(all, TextFormat::prometheus) ==
        "# HELP a_bytes Size\n# TYPE a_bytes gauge\na_bytes{n=\"1\"} 1\na_bytes 3\n"
        "# HELP b_total Count\n# TYPE b_total counter\nb_total 2\n");
}

TEST_CASE("sample_text: a value that is not known is not written") {
  Samples all;
  all.add(size_family, LabelSet(), std::optional<double>());
  all.add(size_family, LabelSet(), std::optional<std::uint64_t>());
  CHECK(write_samples(all, TextFormat::prometheus).empty());
  CHECK(write_samples(all, TextFormat::openmetrics) == "# EOF\n");
}
