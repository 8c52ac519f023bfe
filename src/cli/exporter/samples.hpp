// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/exporter/text_format.hpp"
#include "cli/text/numbers.hpp"

namespace hmn::cli {

enum class FamilyKind : std::uint8_t { gauge, counter, info };

// Metrics of one name, which a scrape writes together.
struct Family {
  std::string_view name;
  FamilyKind kind;
  std::string_view help;
};

// Places by which the decimal point moves from one of the library's units to one of an exporter's:
// no digit appears that the driver did not report.
constexpr int from_percent = -2;
constexpr int from_nanoseconds = -9;
constexpr int from_megahertz = 6;
constexpr int to_millijoules = 3;
constexpr int to_thousands = -3;

// Labels of a sample as both text formats write them: `a="b",c="d"`.
class LabelSet {
 public:
  LabelSet() = default;
  // Adds a label; an empty value is the same as none to Prometheus, and is left out.
  LabelSet& add(std::string_view name, std::string_view value);
  LabelSet& append(const LabelSet& more);
  // Returns a copy with one label more.
  LabelSet with_label(std::string_view name, std::string_view value) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

using SampleValue = std::variant<double, std::uint64_t>;

struct Sample {
  const Family* family;
  std::size_t labels_offset;
  std::size_t labels_size;
  SampleValue value;
};

// Samples of a scrape. A value that is not known is not added.
class Samples {
 public:
  void add(const Family& family, const LabelSet& label_set, SampleValue value) {
    all_.push_back({&family, text_.size(), label_set.text().size(), value});
    text_ += label_set.text();
  }
  void add(const Family& family, const LabelSet& label_set,
           const std::optional<std::uint64_t>& value) {
    if (value) add(family, label_set, SampleValue(*value));
  }
  void add(const Family& family, const LabelSet& label_set, const std::optional<double>& value,
           int places = 0) {
    if (value) add(family, label_set, SampleValue(move_decimal_point(*value, places)));
  }
  void add(const Family& family, const LabelSet& label_set, bool value) {
    add(family, label_set, SampleValue(std::uint64_t(value)));
  }
  const std::vector<Sample>& all() const { return all_; }
  std::string_view labels(const Sample& sample) const {
    return std::string_view(text_).substr(sample.labels_offset, sample.labels_size);
  }

 private:
  std::vector<Sample> all_;
  std::string text_;  // labels of all
};

// Patterns that select families by name.
struct NameFilter {
  std::vector<std::string> include_patterns;  // empty: all
  std::vector<std::string> exclude_patterns;  // of those

  bool accepts(std::string_view name) const;
};

// Writes the samples by family, in the order in which each family came first. Of two samples of a
// family with the same labels the first counts.
std::string format_samples(const Samples& samples, TextFormat format,
                           const NameFilter& filter = {});

}  // namespace hmn::cli
