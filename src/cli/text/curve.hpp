// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hmn::cli {

// A figure over time in bounded memory: as time goes on neighbouring points become one, which keeps
// the lowest and the highest of what it stands for.
class curve {
 public:
  struct point {
    std::uint64_t at_ns = 0;  // of the last value in it
    double low = 0;
    double high = 0;
    bool after_gap = false;  // the figure was not known before it
  };

  explicit curve(std::size_t capacity = 600) : capacity_(capacity) {}

  // Times must not fall.
  void add(std::uint64_t at_ns, double value);
  void add_gap() { gap_ = true; }

  const std::vector<point>& points() const { return points_; }
  // The highest value and when it was seen first.
  bool is_empty() const { return points_.empty(); }
  double highest() const { return highest_; }
  std::uint64_t highest_at_ns() const { return highest_at_ns_; }

 private:
  std::uint64_t slot_of(std::uint64_t at_ns) const { return at_ns / width_ns_; }
  void halve();

  std::size_t capacity_;
  std::uint64_t width_ns_ = 1'000'000;
  std::vector<point> points_;
  bool gap_ = false;
  double highest_ = 0;
  std::uint64_t highest_at_ns_ = 0;
};

}  // namespace hmn::cli
