// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/exporter/family.hpp"
#include "cli/exporter/scale.hpp"

namespace hmn::cli {

// Labels of a sample as both text formats write them: `a="b",c="d"`.
class label_set {
 public:
  label_set() = default;
  // Adds a label; an empty value is the same as none to Prometheus, and is left out.
  label_set& add(std::string_view name, std::string_view value);
  label_set& append(const label_set& more);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

using sample_value = std::variant<double, std::uint64_t>;

struct sample {
  const family* of;
  std::string labels;
  sample_value value;
};

// Samples of a scrape. A value that is not known is not added.
class samples {
 public:
  void add(const family& of, const label_set& with, sample_value value) {
    all_.push_back({&of, with.text(), value});
  }
  void add(const family& of, const label_set& with, const std::optional<std::uint64_t>& value) {
    if (value) add(of, with, sample_value(*value));
  }
  void add(const family& of, const label_set& with, const std::optional<double>& value,
           const scale& by = {}) {
    if (value) add(of, with, sample_value(by.of(*value)));
  }
  void add(const family& of, const label_set& with, bool value) {
    add(of, with, sample_value(std::uint64_t(value)));
  }
  const std::vector<sample>& all() const { return all_; }

 private:
  std::vector<sample> all_;
};

}  // namespace hmn::cli
