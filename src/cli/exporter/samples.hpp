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

enum class family_kind : std::uint8_t { gauge, counter, info };

// Metrics of one name, which a scrape writes together.
struct family {
  std::string_view name;
  family_kind kind;
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
class label_set {
 public:
  label_set() = default;
  // Adds a label; an empty value is the same as none to Prometheus, and is left out.
  label_set& add(std::string_view name, std::string_view value);
  label_set& append(const label_set& more);
  // Returns a copy with one label more.
  label_set with(std::string_view name, std::string_view value) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

using sample_value = std::variant<double, std::uint64_t>;

struct sample {
  const family* of;
  std::size_t labels_at;
  std::size_t labels_size;
  sample_value value;
};

// Samples of a scrape. A value that is not known is not added.
class samples {
 public:
  void add(const family& of, const label_set& with, sample_value value) {
    all_.push_back({&of, text_.size(), with.text().size(), value});
    text_ += with.text();
  }
  void add(const family& of, const label_set& with, const std::optional<std::uint64_t>& value) {
    if (value) add(of, with, sample_value(*value));
  }
  void add(const family& of, const label_set& with, const std::optional<double>& value,
           int places = 0) {
    if (value) add(of, with, sample_value(move_decimal_point(*value, places)));
  }
  void add(const family& of, const label_set& with, bool value) {
    add(of, with, sample_value(std::uint64_t(value)));
  }
  const std::vector<sample>& all() const { return all_; }
  std::string_view labels(const sample& of) const {
    return std::string_view(text_).substr(of.labels_at, of.labels_size);
  }

 private:
  std::vector<sample> all_;
  std::string text_;  // labels of all
};

// Patterns of the names of families that are written.
struct name_filter {
  std::vector<std::string> only;     // empty: all
  std::vector<std::string> without;  // of those

  bool takes(std::string_view name) const;
};

// Writes the samples by family, in the order in which each family came first. Of two samples of a
// family with the same labels the first counts.
std::string write_samples(const samples& of, text_format format, const name_filter& which = {});

}  // namespace hmn::cli
