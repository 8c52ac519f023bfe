// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/process_list.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace hmn::nvml {
namespace {

constexpr std::array<std::size_t, 3> row_sizes{sizeof(process_v2), sizeof(process_detail),
                                               sizeof(process_v1)};
constexpr std::size_t first_capacity = 64;
constexpr int most_attempts = 8;
constexpr std::uint32_t largest_pid = 1U << 22;  // PID_MAX_LIMIT of 64-bit kernels
constexpr std::uint64_t largest_use = std::uint64_t{1} << 48;
constexpr std::uint32_t most_instances = 64;  // of either kind, on one GPU

template <class T>
T at(std::span<const std::byte> buffer, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, buffer.data() + offset, sizeof(T));
  return value;
}

std::size_t touched_length(std::span<const std::byte> buffer) noexcept {
  std::size_t length = buffer.size();
  while (length > 0 && buffer[length - 1] == untouched) --length;
  return length;
}

bool is_untouched(std::span<const std::byte> bytes) noexcept {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == untouched; });
}

bool is_instance(std::uint32_t id) noexcept {
  return id == no_instance || id < most_instances;
}

bool is_plausible(std::span<const std::byte> row) noexcept {
  const auto pid = at<std::uint32_t>(row, offsetof(process_v2, pid));
  const auto used = at<std::uint64_t>(row, offsetof(process_v2, used));
  if (pid > largest_pid || (used > largest_use && used != value_not_available)) return false;
  if (row.size() < sizeof(process_v2)) return true;
  return is_instance(at<std::uint32_t>(row, offsetof(process_v2, gpu_instance))) &&
         is_instance(at<std::uint32_t>(row, offsetof(process_v2, compute_instance)));
}

bool are_plausible(std::span<const std::byte> rows, std::size_t row_size) noexcept {
  for (std::size_t offset = 0; offset < rows.size(); offset += row_size) {
    if (!is_plausible(rows.subspan(offset, row_size))) return false;
  }
  return true;
}

std::size_t usual_row_size(const list_call& from) noexcept {
  constexpr std::uint8_t first_generation = 2;  // each list has three names
  return from.generation == first_generation ? sizeof(process_v1) : sizeof(process_v2);
}

struct guess {
  std::size_t row_size;
  bool possible;  // every row is plausible
  bool exact;     // explains how far the driver wrote
};

bool is_better(const guess& a, const guess& b) noexcept {
  if (a.possible != b.possible) return a.possible;
  return a.exact && !b.exact;
}

// Drivers may write fewer rows than they count, or clear more than they fill.
guess judge(std::span<const std::byte> touched, std::size_t count, std::size_t row_size) noexcept {
  const std::size_t counted = count * row_size;
  const bool whole = touched.size() >= counted || touched.size() % row_size == 0;
  const std::size_t filled = std::min(touched.size() / row_size, count) * row_size;
  return {row_size, whole && are_plausible(touched.first(filled), row_size),
          touched.size() == counted};
}

}  // namespace

row_size_guess detect_row_size(std::span<const std::byte> buffer, std::size_t count,
                               std::size_t usual) noexcept {
  if (count == 0) return {};
  const auto touched = buffer.first(touched_length(buffer));
  if (touched.empty()) return {};
  guess best = judge(touched, count, usual);
  for (const std::size_t row_size : row_sizes) {
    const guess other = judge(touched, count, row_size);
    if (is_better(other, best)) best = other;
  }
  return {best.row_size, best.possible && best.exact};
}

bool decode_row(std::span<const std::byte> buffer, std::size_t i, std::size_t row_size,
                listed_process& out) noexcept {
  if ((i + 1) * row_size > buffer.size()) return false;
  const auto row = buffer.subspan(i * row_size, row_size);
  if (is_untouched(row)) return false;
  out = {at<std::uint32_t>(row, offsetof(process_v2, pid)),
         at<std::uint64_t>(row, offsetof(process_v2, used))};
  if (row_size >= sizeof(process_v2)) {
    out.gpu_instance = at<std::uint32_t>(row, offsetof(process_v2, gpu_instance));
    out.compute_instance = at<std::uint32_t>(row, offsetof(process_v2, compute_instance));
  }
  return true;
}

code process_list::read(const topic& t, const list_call& from, handle of, std::size_t& row_size) {
  rows_.clear();
  missed_ = 0;
  unsigned count = 0;
  const code c = ask(t, from, of, count);
  if (c != success && c != insufficient_size) return c;
  const std::size_t filled = std::min<std::size_t>(count, buffer_.size() / largest_row);
  row_size_guess guess{row_size, true};
  if (row_size == 0) guess = detect_row_size(buffer_, filled, usual_row_size(from));
  if (guess.certain) row_size = guess.row_size;
  if (guess.row_size != 0) decode(filled, guess.row_size);
  if (c == success) return rows_.size() == count ? success : unusable;
  if (rows_.empty()) return c;
  missed_ = count > rows_.size() ? count - rows_.size() : 1;
  return success;
}

// Grows until the list fits; gives up if the list grows as fast, or endlessly.
code process_list::ask(const topic& t, const list_call& from, handle of, unsigned& count) {
  if (buffer_.empty()) buffer_.resize(first_capacity * largest_row);
  for (int attempt = 1;; ++attempt) {
    const std::size_t capacity = buffer_.size() / largest_row;
    std::memset(buffer_.data(), static_cast<int>(untouched), buffer_.size());
    row_count rows{static_cast<unsigned>(capacity)};
    const code c = call(t, from, of, &rows, static_cast<void*>(buffer_.data()));
    count = rows.value;
    if (c != insufficient_size || capacity == limit || attempt == most_attempts) {
      return c;
    }
    const std::size_t wanted = std::max<std::size_t>(count + count / 8UL + 16, capacity * 2);
    buffer_.resize(std::min(wanted, limit) * largest_row);
  }
}

void process_list::decode(std::size_t count, std::size_t row_size) {
  listed_process row;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_row = decode_row(buffer_, i, row_size, row);
    if (is_row && row.pid != 0 && row.pid <= largest_pid) rows_.push_back(row);
  }
}

}  // namespace hmn::nvml
