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

std::string extract_number(const Samples& samples) {
  const auto text = format_samples(samples, TextFormat::prometheus);
  const auto start = text.rfind("a_bytes ");
  return text.substr(start + 8, text.size() - start - 9);
}

std::string write_sample(const Family& family, SampleValue value, TextFormat format) {
  Samples samples;
  samples.add(family, LabelSet(), value);
  return format_samples(samples, format);
}

}  // namespace

TEST_CASE("sample_text: counters and infos have a suffix only where the format requires it") {
  CHECK(write_sample(count_family, std::uint64_t{7}, TextFormat::prometheus) ==
        "# HELP b_total Count\n# TYPE b_total counter\nb_total 7\n");
  CHECK(write_sample(count_family, std::uint64_t{7}, TextFormat::openmetrics) ==
        "# HELP b Count\n# TYPE b counter\nb_total 7\n# EOF\n");
  CHECK(write_sample(odd_counter, std::uint64_t{7}, TextFormat::prometheus) ==
        "# HELP C Count of another\n# TYPE C counter\nC 7\n");
  CHECK(write_sample(odd_counter, std::uint64_t{7}, TextFormat::openmetrics) ==
        "# HELP C Count of another\n# TYPE C unknown\nC 7\n# EOF\n");
  CHECK(write_sample(fact_family, std::uint64_t{1}, TextFormat::prometheus) ==
        "# HELP d_info Facts\n# TYPE d_info gauge\nd_info 1\n");
  CHECK(write_sample(fact_family, std::uint64_t{1}, TextFormat::openmetrics) ==
        "# HELP d Facts\n# TYPE d info\nd_info 1\n# EOF\n");
}

TEST_CASE("sample_text: numbers are exact") {
  const auto write_number = [](SampleValue value) {
    Samples samples;
    samples.add(size_family, LabelSet(), value);
    return extract_number(samples);
  };
  CHECK(write_number(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
  CHECK(write_number(0.1) == "0.1");
  CHECK(write_number(9007199254740993.0) == "9007199254740992");
  CHECK(write_number(1e16) == "1e+16");
  CHECK(write_number(0.0) == "0");
  CHECK(write_number(-0.0) == "-0");
  CHECK(write_number(-7.0) == "-7");
  CHECK(write_number(std::numeric_limits<double>::infinity()) == "+Inf");
  CHECK(write_number(-std::numeric_limits<double>::infinity()) == "-Inf");
  CHECK(write_number(std::numeric_limits<double>::quiet_NaN()) == "NaN");
}

TEST_CASE("sample_text: unit conversion moves the decimal point and adds no digits") {
  const auto write_shifted = [](double value, int places) {
    Samples samples;
    samples.add(size_family, LabelSet(), std::optional(value), places);
    return extract_number(samples);
  };
  CHECK(write_shifted(81234000000.0, from_nanoseconds) == "81.234");
  CHECK(write_shifted(61, from_percent) == "0.61");
  CHECK(write_shifted(12.3, from_percent) == "0.123");
  CHECK(write_shifted(1.001, to_millijoules) == "1001");
  CHECK(write_shifted(58.98, to_millijoules) == "58980");
  CHECK(write_shifted(1410, from_megahertz) == "1410000000");
  CHECK(write_shifted(1410.1, from_megahertz) == "1410100000");
  CHECK(write_shifted(1.8e19, from_nanoseconds) == "18000000000");
  CHECK(write_shifted(-0.3, from_percent) == "-0.003");
  CHECK(write_shifted(1234567, to_thousands) == "1234.567");
}

TEST_CASE("sample_text: every whole percentage is converted exactly") {
  for (int percent = 0; percent <= 1000; ++percent) {
    Samples samples;
    samples.add(size_family, LabelSet(), std::optional(double(percent)), from_percent);
    CHECK(std::stod(extract_number(samples)) == std::stod(std::to_string(percent) + "e-2"));
  }
}

TEST_CASE("sample_text: label values are escaped, and empty labels are omitted") {
  LabelSet labels;
  labels.add("x", "a\\b\"c\nd").add("y", "").add("z", "é");
  CHECK(labels.text() == "x=\"a\\\\b\\\"c\\nd\",z=\"é\"");
}

TEST_CASE("sample_text: invalid UTF-8 in a label is replaced, as it would fail the scrape") {
  LabelSet labels;
  labels.add("user", "jos\xe9").add("z", "\xc3(\xff\n");
  CHECK(labels.text() == "user=\"jos\xef\xbf\xbd\",z=\"\xef\xbf\xbd(\xef\xbf\xbd\\n\"");
}

TEST_CASE("sample_text: adding a label to a copy leaves the original unchanged") {
  LabelSet labels;
  labels.add("a", "1");
  CHECK(labels.with_label("b", "\"").text() == "a=\"1\",b=\"\\\"\"");
  CHECK(labels.with_label("b", "").text() == "a=\"1\"");
  CHECK(LabelSet().with_label("b", "2").text() == "b=\"2\"");
  CHECK(labels.text() == "a=\"1\"");
}

TEST_CASE("sample_text: samples of a family are written together, and duplicates are dropped") {
  Samples samples;
  LabelSet labels;
  labels.add("n", "1");
  samples.add(size_family, labels, SampleValue(std::uint64_t{1}));
  samples.add(count_family, LabelSet(), SampleValue(std::uint64_t{2}));
  samples.add(size_family, LabelSet(), SampleValue(std::uint64_t{3}));
  samples.add(size_family, labels, SampleValue(std::uint64_t{4}));
  CHECK(format_samples(samples, TextFormat::prometheus) ==
        "# HELP a_bytes Size\n# TYPE a_bytes gauge\na_bytes{n=\"1\"} 1\na_bytes 3\n"
        "# HELP b_total Count\n# TYPE b_total counter\nb_total 2\n");
}

TEST_CASE("sample_text: unknown values are not written") {
  Samples samples;
  samples.add(size_family, LabelSet(), std::optional<double>());
  samples.add(size_family, LabelSet(), std::optional<std::uint64_t>());
  CHECK(format_samples(samples, TextFormat::prometheus).empty());
  CHECK(format_samples(samples, TextFormat::openmetrics) == "# EOF\n");
}
