// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hmn::cli {

// Value over time in bounded memory: as time goes on, neighbouring points are merged, keeping the
// minimum and the maximum.
class curve {
 public:
  struct point {
    std::uint64_t at_ns = 0;  // time of its last value
    double low = 0;
    double high = 0;
    bool after_gap = false;  // preceded by unknown values
  };

  explicit curve(std::size_t capacity = 600) : capacity_(capacity) {}

  // Requires nondecreasing times.
  void add(std::uint64_t at_ns, double value);
  void add_gap() { gap_ = true; }

  const std::vector<point>& points() const { return points_; }
  // Returns the maximum and the time of its first occurrence.
  bool is_empty() const { return points_.empty(); }
  double highest() const { return highest_; }
  double lowest() const { return lowest_; }
  std::uint64_t highest_at_ns() const { return highest_at_ns_; }

 private:
  std::uint64_t slot_of(std::uint64_t at_ns) const { return at_ns / width_ns_; }
  void halve();

  std::size_t capacity_;
  std::uint64_t width_ns_ = 1'000'000;
  std::vector<point> points_;
  bool gap_ = false;
  double highest_ = 0;
  double lowest_ = 0;
  std::uint64_t highest_at_ns_ = 0;
};

}  // namespace hmn::cli
