// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/processes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "model/message_text.hpp"
#include "model/plausible.hpp"

namespace hmn::nvml {
namespace {

constexpr std::array<std::size_t, 3> row_sizes{sizeof(ProcessV2), sizeof(ProcessDetail),
                                               sizeof(ProcessV1)};
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
  const auto pid = at<std::uint32_t>(row, offsetof(ProcessV2, pid));
  const auto used = at<std::uint64_t>(row, offsetof(ProcessV2, used));
  if (pid > largest_pid || (used > largest_use && used != value_not_available)) return false;
  if (row.size() < sizeof(ProcessV2)) return true;
  return is_instance(at<std::uint32_t>(row, offsetof(ProcessV2, gpu_instance))) &&
         is_instance(at<std::uint32_t>(row, offsetof(ProcessV2, compute_instance)));
}

bool are_plausible(std::span<const std::byte> rows, std::size_t row_size) noexcept {
  for (std::size_t offset = 0; offset < rows.size(); offset += row_size) {
    if (!is_plausible(rows.subspan(offset, row_size))) return false;
  }
  return true;
}

std::size_t usual_row_size(const ListCall& from) noexcept {
  constexpr std::uint8_t first_generation = 2;  // each list has three names
  return from.generation == first_generation ? sizeof(ProcessV1) : sizeof(ProcessV2);
}

struct Guess {
  std::size_t row_size;
  bool possible;  // every row is plausible
  bool exact;     // explains where the driver stopped writing
};

bool is_better(const Guess& a, const Guess& b) noexcept {
  if (a.possible != b.possible) return a.possible;
  return a.exact && !b.exact;
}

// Drivers may write fewer rows than they count, or clear more than they fill.
Guess judge(std::span<const std::byte> touched, std::size_t count, std::size_t row_size) noexcept {
  const std::size_t counted = count * row_size;
  const bool whole = touched.size() >= counted || touched.size() % row_size == 0;
  const std::size_t filled = std::min(touched.size() / row_size, count) * row_size;
  return {row_size, whole && are_plausible(touched.first(filled), row_size),
          touched.size() == counted};
}

// The driver samples one to six times per second and may keep old samples: a shorter window would
// miss a busy process, a longer one would include the past.
constexpr std::uint64_t look_back_us = 2'000'000;
constexpr unsigned most_samples = 4096;
constexpr unsigned slack = 8;

const ProcessSample* newest_of(std::span<const ProcessSample> all, std::uint32_t pid,
                               std::uint64_t since_us) {
  const ProcessSample* found = nullptr;
  for (const ProcessSample& s : all) {
    const bool fits = s.pid == pid && s.time_us > since_us;
    if (fits && (found == nullptr || s.time_us > found->time_us)) found = &s;
  }
  return found;
}

std::uint32_t kind_of(ListKind which) noexcept {
  return which == ListKind::graphics ? usage_kind::graphics : usage_kind::compute;
}

const ListCall& call_of(const Symbols& fn, ListKind which) noexcept {
  switch (which) {
    case ListKind::mps:
      return fn.mps;
    case ListKind::graphics:
      return fn.graphics;
    case ListKind::compute:
      break;
  }
  return fn.compute;
}

// Whether the device or driver has no such list at all.
bool is_absent(Code c) noexcept {
  return c == not_supported || has_no_function(c);
}

std::optional<std::uint64_t> sum(std::optional<std::uint64_t> a,
                                 std::optional<std::uint64_t> b) noexcept {
  if (!a || !b || *a > UINT64_MAX - *b) return std::nullopt;
  return *a + *b;
}

std::optional<std::uint64_t> larger(std::optional<std::uint64_t> a,
                                    std::optional<std::uint64_t> b) noexcept {
  return a < b ? b : a;  // absent is less than any value
}

bool is_same_instance(const MergedProcess& a, const MergedProcess& b) noexcept {
  return a.gpu_instance == b.gpu_instance && a.compute_instance == b.compute_instance;
}

constexpr FieldSet process_fields = usage_field::used | usage_field::allocated;

void set_used(Usage& out, std::uint64_t used) noexcept {
  out.used = used;
  out.allocated = used;
}

}  // namespace

RowSizeGuess detect_row_size(std::span<const std::byte> buffer, std::size_t count,
                             std::size_t usual) noexcept {
  if (count == 0) return {};
  const auto touched = buffer.first(touched_length(buffer));
  if (touched.empty()) return {};
  Guess best = judge(touched, count, usual);
  for (const std::size_t row_size : row_sizes) {
    const Guess other = judge(touched, count, row_size);
    if (is_better(other, best)) best = other;
  }
  return {best.row_size, best.possible && best.exact};
}

bool decode_row(std::span<const std::byte> buffer, std::size_t i, std::size_t row_size,
                ListedProcess& out) noexcept {
  if ((i + 1) * row_size > buffer.size()) return false;
  const auto row = buffer.subspan(i * row_size, row_size);
  if (is_untouched(row)) return false;
  out = {at<std::uint32_t>(row, offsetof(ProcessV2, pid)),
         at<std::uint64_t>(row, offsetof(ProcessV2, used))};
  if (row_size >= sizeof(ProcessV2)) {
    out.gpu_instance = at<std::uint32_t>(row, offsetof(ProcessV2, gpu_instance));
    out.compute_instance = at<std::uint32_t>(row, offsetof(ProcessV2, compute_instance));
  }
  return true;
}

Code ProcessList::read(const Topic& t, const ListCall& from, Handle of, std::size_t& row_size) {
  rows_.clear();
  missed_ = 0;
  unsigned count = 0;
  const Code c = ask(t, from, of, count);
  if (c != success && c != insufficient_size) return c;
  const std::size_t filled = std::min<std::size_t>(count, buffer_.size() / largest_row);
  RowSizeGuess guess{row_size, true};
  if (row_size == 0) guess = detect_row_size(buffer_, filled, usual_row_size(from));
  if (guess.certain) row_size = guess.row_size;
  if (guess.row_size != 0) decode(filled, guess.row_size);
  if (c == success) return rows_.size() == count ? success : unusable;
  if (rows_.empty()) return c;
  missed_ = count > rows_.size() ? count - rows_.size() : 1;
  return success;
}

// Grows the buffer until the list fits; gives up if the list keeps growing as well.
Code ProcessList::ask(const Topic& t, const ListCall& from, Handle of, unsigned& count) {
  if (buffer_.empty()) buffer_.resize(first_capacity * largest_row);
  for (int attempt = 1;; ++attempt) {
    const std::size_t capacity = buffer_.size() / largest_row;
    std::memset(buffer_.data(), static_cast<int>(untouched), buffer_.size());
    RowCount rows{static_cast<unsigned>(capacity)};
    const Code c = call(t, from, of, &rows, static_cast<void*>(buffer_.data()));
    count = rows.value;
    if (c != insufficient_size || capacity == limit || attempt == most_attempts) {
      return c;
    }
    const std::size_t wanted = std::max<std::size_t>(count + count / 8UL + 16, capacity * 2);
    buffer_.resize(std::min(wanted, limit) * largest_row);
  }
}

void ProcessList::decode(std::size_t count, std::size_t row_size) {
  ListedProcess row;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_row = decode_row(buffer_, i, row_size, row);
    if (is_row && row.pid != 0 && row.pid <= largest_pid) rows_.push_back(row);
  }
}

// The first call returns the number of samples; there may be more by the second.
Code ProcessLoad::ask(const Topic& t, const Session& s, const KnownDevice& of,
                      std::uint64_t since_us) {
  Code c = insufficient_size;
  for (int attempt = 0; attempt < 3 && c == insufficient_size; ++attempt) {
    RowCount rows{static_cast<unsigned>(samples_.size())};
    ProcessSample* const samples = samples_.empty() ? nullptr : samples_.data();
    c = call(t, s.fn.process_use, of.h, samples, &rows, since_us);
    const unsigned count = rows.value;
    if (c == success && samples != nullptr) {
      const bool fits = count <= samples_.size();
      if (fits) samples_.resize(count);
      return fits && std::ranges::all_of(samples_, &ProcessSample::pid) ? success : unusable;
    }

    if (c == insufficient_size || c == success) {
      if (count == 0) return unusable;
      c = insufficient_size;
      samples_.resize(std::min(count, most_samples) + slack);
    }
  }
  return c;
}

Code ProcessLoad::read(const Topic& t, const Session& s, const KnownDevice& of,
                       std::span<Usage> rows) {
  constexpr FieldSet field = usage_field::busy_percent;
  const char* const name = s.fn.process_use.name();
  if (rows.empty()) return success;
  if (t.r.is_quick()) {
    t.left_out(s.fn.process_use, field);
    return success;
  }
  if (of.mig_on) {
    t.missing(not_offered, name, field);
    return success;
  }
  const std::uint64_t since_us = platform::unix_ns() / ns_per_us - look_back_us;
  samples_.clear();
  const Code c = ask(t, s, of, since_us);
  if (c == not_found) samples_.clear();  // nothing was active
  if (c != success && c != not_found) t.missing(c, name, field);
  if (c != success && c != not_found && c != unusable) {
    return c == gpu_is_lost || c == reset_required ? c : success;
  }
  const std::uint64_t now_ns = platform::unix_ns();
  for (Usage& row : rows) {
    const ProcessSample* const sample = newest_of(samples_, row.pid, since_us);
    if (sample == nullptr && c == unusable)
      continue;  // its sample may be one that the driver did not write
    if (sample != nullptr) {
      const auto why = doubt_time(Source::nvml, "a sample", as_ns(sample->time_us), now_ns);
      if (why) {
        t.of_process(row.pid).diagnose(*why, field);
        continue;
      }
    }
    const std::uint32_t percent = sample != nullptr ? sample->sm : 0;
    row.busy_percent = percent;
    row.window_ns = look_back_us * ns_per_us;
  }
  return success;
}

bool ListOutcome::has(ListKind which) const noexcept {
  const Code c = results[static_cast<std::size_t>(which)];
  return c == success || (which == ListKind::mps && is_absent(c));
}

bool ListOutcome::complete() const noexcept {
  return missed == 0 &&
         std::ranges::all_of(all_lists, [this](ListKind which) { return has(which); });
}

std::size_t ListOutcome::worst() const noexcept {
  std::size_t found = 0;
  for (const ListKind which : all_lists) {
    const auto i = static_cast<std::size_t>(which);
    if (has(which)) continue;
    if (!is_absent(results[i])) return i;
    if (results[found] == success) found = i;
  }
  return found;
}

bool ListOutcome::stop_after(ListKind which, Code c) noexcept {
  if (!ends_it(c)) return false;
  const auto at = static_cast<std::size_t>(which);
  for (auto i = at + 1; i < results.size(); ++i) {
    results[i] = c;
    names[i] = names[at];
  }
  return true;
}

void ProcessMerge::clear() noexcept {
  rows_.clear();
  lists_ = 0;
}

void ProcessMerge::add(std::span<const ListedProcess> list, std::uint32_t kind,
                       std::optional<std::uint32_t> pid) {
  for (const ListedProcess& row : list) {
    if (pid && row.pid != *pid) continue;
    MergedProcess& p = rows_.emplace_back();
    p.pid = row.pid;
    p.kinds = kind;
    p.gpu_instance = row.gpu_instance;
    p.compute_instance = row.compute_instance;
    if (row.used != value_not_available) p.used = row.used;
    p.list = lists_;
    p.order = static_cast<std::uint32_t>(rows_.size());
  }
  ++lists_;
}

std::span<const MergedProcess> ProcessMerge::finish() {
  sort_by(&MergedProcess::pid);
  collapse([](MergedProcess& p, const MergedProcess& other) {
    if (p.pid != other.pid || p.list != other.list) return false;
    p.used = is_same_instance(p, other) ? larger(p.used, other.used) : sum(p.used, other.used);
    return true;
  });
  collapse([](MergedProcess& p, const MergedProcess& other) {
    if (p.pid != other.pid) return false;
    p.kinds |= other.kinds;
    p.used = larger(p.used, other.used);
    return true;
  });
  sort_by(&MergedProcess::order);
  return rows_;
}

void ProcessMerge::sort_by(std::uint32_t MergedProcess::*key) {
  // Sorts by order as well: std::stable_sort would allocate.
  std::ranges::sort(rows_, {},
                    [key](const MergedProcess& p) { return std::pair(p.*key, p.order); });
}

void ProcessMerge::collapse(JoinRule join) {
  std::size_t end = 0;
  for (const MergedProcess& row : rows_) {
    if (end == 0 || !join(rows_[end - 1], row)) rows_[end++] = row;
  }
  rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(end), rows_.end());
}

Code ProcessReader::read_list(const Topic& t, Session& s, const KnownDevice& of, ListKind which,
                              ListOutcome& outcome) {
  const auto i = static_cast<std::size_t>(which);
  const ListCall& from = call_of(s.fn, which);
  outcome.names[i] = from.name();
  outcome.results[i] = list_.read(t, from, of.h, s.row_size[i]);
  outcome.missed += list_.missed();
  return outcome.results[i];
}

ListOutcome ProcessReader::read(const Topic& t, Session& s, const KnownDevice& of) {
  ListOutcome outcome;
  merge_.clear();
  rows_ = {};
  for (const ListKind which : all_lists) {
    const Code c = read_list(t, s, of, which, outcome);
    merge_.add(list_.rows(), kind_of(which));
    if (outcome.stop_after(which, c)) break;
  }
  rows_ = merge_.finish();
  return outcome;
}

ListOutcome ProcessReader::find(const Topic& t, Session& s, const KnownDevice& of,
                                std::uint32_t pid, std::optional<MergedProcess>& found) {
  ListOutcome outcome;
  merge_.clear();
  rows_ = {};
  for (const ListKind which : all_lists) {
    if (found) {
      outcome.results[static_cast<std::size_t>(which)] = success;
      continue;
    }
    const Code c = read_list(t, s, of, which, outcome);
    found = find_in_list(pid, kind_of(which));
    if (!found) merge_.add(list_.rows(), kind_of(which));
    if (outcome.stop_after(which, c)) break;
  }
  return outcome;
}

std::optional<MergedProcess> ProcessReader::find_in_list(std::uint32_t pid, std::uint32_t kind) {
  one_.clear();
  one_.add(list_.rows(), kind, pid);
  const auto rows = one_.finish();
  if (rows.empty()) return std::nullopt;
  return rows.front();
}

void fill_usage(const Topic& t, const KnownDevice& of, const MergedProcess& from, Usage& out) {
  out.pid = from.pid;
  out.from = Source::nvml;
  out.accounting = Accounting::allocated;
  out.kinds = from.kinds;
  if (from.gpu_instance != no_instance && from.compute_instance != no_instance) {
    out.instance = MigInstance{from.gpu_instance, from.compute_instance};
  } else {
    out.instance = of.identity.instance;
  }
  if (!from.used) {
    t.of_process(from.pid).report(
        Status::unsupported, {"the driver lists the process without its memory"}, process_fields);
  } else {
    set_used(out, *from.used);
  }
}

void fill_zero(std::uint32_t pid, Usage& out) noexcept {
  out.pid = pid;
  out.from = Source::nvml;
  out.accounting = Accounting::allocated;
  set_used(out, 0);
}

void diagnose_lists(const Topic& t, const ListOutcome& outcome, FieldSet fields) {
  if (!t.wants()) return;
  for (const ListKind which : all_lists) {
    const auto i = static_cast<std::size_t>(which);
    if (!outcome.has(which)) t.missing(outcome.results[i], outcome.names[i], fields);
  }
  if (outcome.missed == 0) return;
  t.report(Status::limit, {outcome.missed, " more processes are listed than can be read"}, fields,
           Reason::unknown, note::partial);
}

}  // namespace hmn::nvml
