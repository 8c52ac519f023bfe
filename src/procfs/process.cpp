// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/process.hpp"

#include <cstddef>
#include <iterator>

#include "model/character.hpp"
#include "model/scan.hpp"
#include "model/text.hpp"

namespace hmn::procfs {
namespace {

// Fields, counted as in proc(5): state is 3. One blank separates them.
class StatFields {
 public:
  explicit StatFields(std::string_view after_comm) noexcept : rest_(after_comm) {}

  // Scans by character for speed: every process of a list has such a line.
  std::string_view take(int number) noexcept {
    const char* cursor = rest_.data();
    const char* const end = cursor + rest_.size();
    for (; next_ < number && cursor != end; ++next_) {
      while (cursor != end && *cursor != ' ') ++cursor;
      if (cursor != end) ++cursor;
    }
    while (cursor != end && *cursor == ' ') ++cursor;
    const char* const word = cursor;
    while (cursor != end && *cursor != ' ') ++cursor;
    rest_ = {cursor, static_cast<std::size_t>(end - cursor)};
    return {word, static_cast<std::size_t>(cursor - word)};
  }
  [[nodiscard]] bool has_more() const noexcept { return !rest_.empty(); }

 private:
  std::string_view rest_;
  int next_ = 3;
};

// Returns the fields after the state. The name may contain anything, but no field after it has a
// ')'.
std::optional<StatFields> split_after_name(std::string_view text) noexcept {
  const std::size_t close = text.rfind(')');
  if (close == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(close + 1);
  StatFields fields(scan::take_line(rest));
  fields.take(3);  // skips the state
  return fields;
}

constexpr std::ptrdiff_t max_digits = 19;  // all such numbers fit 64 bits

constexpr unsigned digit_value(char c) noexcept {
  return static_cast<unsigned char>(c - '0');
}

// Returns the text after "Key:" in its line.
std::string_view find_value(std::string_view key, std::string_view text) noexcept {
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    if (scan::take_until(line, ':') == key) return line;
  }
  return {};
}

}  // namespace

std::optional<Stat> parse_stat(std::string_view text) noexcept {
  // A name may contain anything, even " (", ") R 1" and line ends; the fields after it have no ')'.
  const std::size_t open = text.find(" (");
  // A name has up to 64 bytes, so the search ends there unless nothing is found.
  constexpr std::size_t max_prefix = 96;
  std::size_t close = text.substr(0, max_prefix).rfind(')');
  if (close == std::string_view::npos) close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) {
    return std::nullopt;
  }
  const auto pid = scan::parse_number<std::uint32_t>(text.substr(0, open));
  std::string_view rest = text.substr(close + 1);
  StatFields fields(scan::take_line(rest));

  const std::string_view state = fields.take(3);
  constexpr int positions[] = {4, 9, 20, 22, 23, 24};
  std::optional<std::uint64_t> numbers[std::size(positions)];
  for (std::size_t i = 0; i < std::size(positions); ++i)
    numbers[i] = scan::parse_decimal(fields.take(positions[i]));
  const auto& [ppid, flags, num_threads, starttime, vsize, rss] = numbers;
  // The last field of a line may be cut: reject one without a further field.
  if (!pid || state.size() != 1 || !ppid || *ppid > UINT32_MAX || !flags || !num_threads ||
      !starttime || !fields.has_more()) {
    return std::nullopt;
  }
  const std::string_view comm = text.substr(open + 2, close - open - 2);
  return Stat{*pid,       comm,  state[0], static_cast<std::uint32_t>(*ppid), *flags, *num_threads,
              *starttime, vsize, rss};
}

std::optional<std::uint64_t> parse_exit_signal(std::string_view text) noexcept {
  auto fields = split_after_name(text);
  if (!fields) return std::nullopt;
  const auto signal = scan::parse_number(fields->take(38));
  return fields->has_more() ? signal : std::nullopt;
}

std::optional<std::uint64_t> parse_processor_ticks(std::string_view text) noexcept {
  auto fields = split_after_name(text);
  if (!fields) return std::nullopt;
  const auto user = scan::parse_number(fields->take(14));
  const auto system = scan::parse_number(fields->take(15));
  if (!user || !system || !fields->has_more() || *system > UINT64_MAX - *user) return std::nullopt;
  return *user + *system;
}

bool is_kernel_thread(std::string_view stat_text) noexcept {
  const auto stat = parse_stat(stat_text);
  return stat && stat->is_kernel_thread();
}

std::optional<Statm> parse_statm(std::string_view text) noexcept {
  // In one pass: apart from system calls, this is most of the cost of reading the own resident set.
  const char* cursor = text.data();
  const char* const end = cursor + text.size();
  std::uint64_t pages[2] = {};
  for (std::uint64_t& number : pages) {
    const char* const first = cursor;
    for (; cursor != end && is_digit(*cursor); ++cursor)
      number = number * 10 + digit_value(*cursor);
    // A number at the end of the text may be incomplete, too.
    if (cursor == first || cursor - first > max_digits || cursor == end || *cursor != ' ')
      return {};
    ++cursor;
  }
  // Reject a line without a further word: the second number may be cut.
  if (cursor == end || *cursor == '\n') return {};
  return Statm{pages[0], pages[1]};
}

StatusMemory parse_status(std::string_view text) noexcept {
  StatusMemory memory;
  const AmountRequest requests[] = {{"VmRSS", &memory.vm_rss},
                                    {"VmHWM", &memory.vm_hwm},
                                    {"VmSize", &memory.vm_size},
                                    {"VmSwap", &memory.vm_swap}};
  parse_amounts(text, requests);
  return memory;
}

std::vector<std::uint32_t> parse_namespace_pids(std::string_view status) {
  std::vector<std::uint32_t> pids;
  std::string_view line = find_value("NSpid", status);
  for (auto word = scan::take_word(line); !word.empty(); word = scan::take_word(line)) {
    const auto pid = scan::parse_number<std::uint32_t>(word);
    if (!pid) return {};
    pids.push_back(*pid);
  }
  return pids;
}

std::uint64_t parse_effective_capabilities(std::string_view status) noexcept {
  return scan::parse_number(scan::trim(find_value("CapEff", status)), 16).value_or(0);
}

Amount SmapsRollup::unique() const noexcept {
  if (private_clean.state != Amount::State::valid) return private_clean;
  if (private_dirty.state != Amount::State::valid) return private_dirty;
  const auto bytes = scan::checked_add(private_clean.bytes, private_dirty.bytes);
  return bytes ? Amount{Amount::State::valid, *bytes} : Amount{Amount::State::malformed, 0};
}

SmapsRollup parse_smaps_rollup(std::string_view text) noexcept {
  SmapsRollup rollup;
  const AmountRequest requests[] = {{"Pss", &rollup.pss},
                                    {"Private_Clean", &rollup.private_clean},
                                    {"Private_Dirty", &rollup.private_dirty}};
  parse_amounts(text, requests);
  return rollup;
}

std::string_view find_full_name(std::string_view comm, std::string_view cmdline) noexcept {
  if (comm.size() < max_comm_length) return comm;
  std::string_view name = cmdline.substr(0, cmdline.find('\0'));
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  if (!name.starts_with(comm)) return comm;
  return name.substr(0, name.find(' ', comm.size()));  // in a title, arguments follow
}

void append_command(std::string& out, std::string_view cmdline, bool is_cut) {
  // Matches any byte of a multi-byte character.
  const auto is_multibyte = [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; };
  while (is_cut && !cmdline.empty() && is_multibyte(cmdline.back())) cmdline.remove_suffix(1);
  // Strip the padding that a process leaves when it changes its title.
  while (cmdline.ends_with('\0') || cmdline.ends_with(' ')) cmdline.remove_suffix(1);
  out.reserve(out.size() + cmdline.size());
  while (!cmdline.empty()) {
    append_utf8(out, scan::take_until(cmdline, '\0'));
    if (!cmdline.empty()) out += ' ';
  }
}

}  // namespace hmn::procfs
