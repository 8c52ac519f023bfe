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
class Fields {
 public:
  explicit Fields(std::string_view after_comm) noexcept : rest_(after_comm) {}

  // By character, since every process of a list has such a line.
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

// Returns the fields after the state and the name, which may contain anything but is the last to
// have a ')'.
std::optional<Fields> fields_after_name(std::string_view text) noexcept {
  const std::size_t close = text.rfind(')');
  if (close == std::string_view::npos) return std::nullopt;
  std::string_view after = text.substr(close + 1);
  Fields all(scan::take_line(after));
  all.take(3);  // behind the blank after the name
  return all;
}

constexpr std::ptrdiff_t most_digits = 19;  // all such numbers fit 64 bits

constexpr unsigned value_of(char c) noexcept {
  return static_cast<unsigned char>(c - '0');
}

// Returns the text after "Key:" in its line.
std::string_view value_of(std::string_view key, std::string_view text) noexcept {
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
  constexpr std::size_t longest_start = 96;
  std::size_t close = text.substr(0, longest_start).rfind(')');
  if (close == std::string_view::npos) close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) {
    return std::nullopt;
  }
  const auto pid = scan::number<std::uint32_t>(text.substr(0, open));
  std::string_view after = text.substr(close + 1);
  Fields f(scan::take_line(after));

  const std::string_view state = f.take(3);
  constexpr int wanted[] = {4, 9, 20, 22, 23, 24};
  std::optional<std::uint64_t> numbers[std::size(wanted)];
  for (std::size_t i = 0; i < std::size(wanted); ++i) numbers[i] = scan::decimal(f.take(wanted[i]));
  const auto& [ppid, flags, num_threads, starttime, vsize, rss] = numbers;
  // The last field of a line may be cut: reject one without a further field.
  if (!pid || state.size() != 1 || !ppid || *ppid > UINT32_MAX || !flags || !num_threads ||
      !starttime || !f.goes_on()) {
    return std::nullopt;
  }
  const std::string_view comm = text.substr(open + 2, close - open - 2);
  return Stat{*pid,       comm,  state[0], static_cast<std::uint32_t>(*ppid), *flags, *num_threads,
              *starttime, vsize, rss};
}

std::optional<std::uint64_t> parse_exit_signal(std::string_view text) noexcept {
  auto f = fields_after_name(text);
  if (!f) return std::nullopt;
  const auto signal = scan::number(f->take(38));
  return f->goes_on() ? signal : std::nullopt;
}

std::optional<std::uint64_t> parse_processor_ticks(std::string_view text) noexcept {
  auto f = fields_after_name(text);
  if (!f) return std::nullopt;
  const auto user = scan::number(f->take(14));
  const auto system = scan::number(f->take(15));
  if (!user || !system || !f->goes_on() || *system > UINT64_MAX - *user) return std::nullopt;
  return *user + *system;
}

bool is_kernel_thread(std::string_view stat_text) noexcept {
  const auto s = parse_stat(stat_text);
  return s && s->is_kernel_thread();
}

std::optional<Statm> parse_statm(std::string_view text) noexcept {
  // In one pass: apart from system calls, this is most of the cost of reading the own resident set.
  const char* at = text.data();
  const char* const end = at + text.size();
  std::uint64_t pages[2] = {};
  for (std::uint64_t& number : pages) {
    const char* const first = at;
    for (; at != end && is_digit(*at); ++at) number = number * 10 + value_of(*at);
    // A number at the end of the text may be incomplete, too.
    if (at == first || at - first > most_digits || at == end || *at != ' ') return {};
    ++at;
  }
  // Reject a line without a further word: the second number may be cut.
  if (at == end || *at == '\n') return {};
  return Statm{pages[0], pages[1]};
}

StatusMemory parse_status(std::string_view text) noexcept {
  StatusMemory m;
  const WantedAmount wanted[] = {
      {"VmRSS", &m.vm_rss}, {"VmHWM", &m.vm_hwm}, {"VmSize", &m.vm_size}, {"VmSwap", &m.vm_swap}};
  parse_amounts(text, wanted);
  return m;
}

std::vector<std::uint32_t> parse_namespace_pids(std::string_view status) {
  std::vector<std::uint32_t> pids;
  std::string_view line = value_of("NSpid", status);
  for (auto word = scan::take_word(line); !word.empty(); word = scan::take_word(line)) {
    const auto pid = scan::number<std::uint32_t>(word);
    if (!pid) return {};
    pids.push_back(*pid);
  }
  return pids;
}

std::uint64_t parse_effective_capabilities(std::string_view status) noexcept {
  return scan::number(scan::trim(value_of("CapEff", status)), 16).value_or(0);
}

Amount SmapsRollup::unique() const noexcept {
  if (private_clean.what != Amount::Is::known) return private_clean;
  if (private_dirty.what != Amount::Is::known) return private_dirty;
  const auto bytes = scan::sum(private_clean.bytes, private_dirty.bytes);
  return bytes ? Amount{Amount::Is::known, *bytes} : Amount{Amount::Is::malformed, 0};
}

SmapsRollup parse_smaps_rollup(std::string_view text) noexcept {
  SmapsRollup r;
  const WantedAmount wanted[] = {
      {"Pss", &r.pss}, {"Private_Clean", &r.private_clean}, {"Private_Dirty", &r.private_dirty}};
  parse_amounts(text, wanted);
  return r;
}

std::string_view full_name(std::string_view comm, std::string_view cmdline) noexcept {
  if (comm.size() < longest_comm) return comm;
  std::string_view name = cmdline.substr(0, cmdline.find('\0'));
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  if (!name.starts_with(comm)) return comm;
  return name.substr(0, name.find(' ', comm.size()));  // in a title, arguments follow
}

void append_command(std::string& out, std::string_view cmdline, bool is_cut) {
  // Matches the bytes of multi-byte characters.
  const auto is_of_several = [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; };
  while (is_cut && !cmdline.empty() && is_of_several(cmdline.back())) cmdline.remove_suffix(1);
  // Strip the padding that a process leaves when it changes its title.
  while (cmdline.ends_with('\0') || cmdline.ends_with(' ')) cmdline.remove_suffix(1);
  out.reserve(out.size() + cmdline.size());
  while (!cmdline.empty()) {
    append_utf8(out, scan::take_until(cmdline, '\0'));
    if (!cmdline.empty()) out += ' ';
  }
}

}  // namespace hmn::procfs
