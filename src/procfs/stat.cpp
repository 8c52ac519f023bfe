// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/stat.hpp"

#include <iterator>

#include "model/scan.hpp"

namespace hmn::procfs {
namespace {

// Fields, counted as in proc(5): state is 3. One blank separates them.
class fields {
 public:
  explicit fields(std::string_view after_comm) noexcept : rest_(after_comm) {}

  // Goes from character to character, since every process of a list has such a line.
  std::string_view take(int number) noexcept {
    const char* at = rest_.data();
    const char* const end = at + rest_.size();
    for (; next_ < number && at != end; ++next_) {
      while (at != end && *at != ' ') ++at;
      if (at != end) ++at;
    }
    while (at != end && *at == ' ') ++at;
    const char* const word = at;
    while (at != end && *at != ' ') ++at;
    rest_ = {at, static_cast<std::size_t>(end - at)};
    return {word, static_cast<std::size_t>(at - word)};
  }
  [[nodiscard]] bool goes_on() const noexcept { return !rest_.empty(); }

 private:
  std::string_view rest_;
  int next_ = 3;
};

// Searches forwards, unlike scan::find_last(): most names have no ')', so that the second search is
// the last one.
std::size_t last_parenthesis(std::string_view text) noexcept {
  std::size_t last = std::string_view::npos;
  for (std::size_t at = text.find(')'); at != std::string_view::npos; at = text.find(')', at + 1)) {
    last = at;
  }
  return last;
}

}  // namespace

std::optional<stat> parse_stat(std::string_view text) noexcept {
  // A name may contain anything, even " (", ") R 1" and line ends; the fields after it have no ')'.
  const std::size_t open = text.find(" (");
  // A name has up to 64 bytes: what follows it is not searched, unless that is not so.
  constexpr std::size_t longest_start = 96;
  std::size_t close = last_parenthesis(text.substr(0, longest_start));
  if (close == std::string_view::npos) close = last_parenthesis(text);
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) {
    return std::nullopt;
  }
  const auto pid = scan::number<std::uint32_t>(text.substr(0, open));
  std::string_view after = text.substr(close + 1);
  fields f(scan::take_line(after));

  const std::string_view state = f.take(3);
  constexpr int wanted[] = {4, 9, 20, 22, 23, 24};
  std::optional<std::uint64_t> numbers[std::size(wanted)];
  for (std::size_t i = 0; i < std::size(wanted); ++i) numbers[i] = scan::decimal(f.take(wanted[i]));
  const auto& [ppid, flags, num_threads, starttime, vsize, rss] = numbers;
  // Reject a line without a further field: its last one may be cut.
  if (!pid || state.size() != 1 || !ppid || *ppid > UINT32_MAX || !flags || !num_threads ||
      !starttime || !f.goes_on()) {
    return std::nullopt;
  }
  const std::string_view comm = text.substr(open + 2, close - open - 2);
  return stat{*pid,       comm,  state[0], static_cast<std::uint32_t>(*ppid), *flags, *num_threads,
              *starttime, vsize, rss};
}

std::optional<std::uint64_t> parse_processor_ticks(std::string_view text) noexcept {
  const std::size_t close = last_parenthesis(text);
  if (close == std::string_view::npos) return std::nullopt;
  std::string_view after = text.substr(close + 1);
  fields f(scan::take_line(after));
  const auto user = scan::number(f.take(14));
  const auto system = scan::number(f.take(15));
  if (!user || !system || !f.goes_on() || *system > UINT64_MAX - *user) return std::nullopt;
  return *user + *system;
}

bool is_kernel_thread(std::string_view stat_text) noexcept {
  const auto s = parse_stat(stat_text);
  return s && s->is_kernel_thread();
}

}  // namespace hmn::procfs
