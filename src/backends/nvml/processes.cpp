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
constexpr std::size_t initial_capacity = 64;
constexpr int max_attempts = 8;
constexpr std::uint32_t max_pid = 1U << 22;  // PID_MAX_LIMIT of 64-bit kernels
constexpr std::uint64_t max_used = std::uint64_t{1} << 48;
constexpr std::uint32_t max_instances = 64;  // of either kind, on one GPU

template <class T>
T read_at(std::span<const std::byte> buffer, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, buffer.data() + offset, sizeof(T));
  return value;
}

std::size_t find_written_length(std::span<const std::byte> buffer) noexcept {
  std::size_t length = buffer.size();
  while (length > 0 && buffer[length - 1] == untouched) --length;
  return length;
}

bool is_untouched(std::span<const std::byte> bytes) noexcept {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == untouched; });
}

bool is_instance(std::uint32_t id) noexcept {
  return id == no_instance || id < max_instances;
}

bool is_plausible(std::span<const std::byte> row) noexcept {
  const auto pid = read_at<std::uint32_t>(row, offsetof(ProcessV2, pid));
  const auto used = read_at<std::uint64_t>(row, offsetof(ProcessV2, used));
  if (pid > max_pid || (used > max_used && used != value_not_available)) return false;
  if (row.size() < sizeof(ProcessV2)) return true;
  return is_instance(read_at<std::uint32_t>(row, offsetof(ProcessV2, gpu_instance))) &&
         is_instance(read_at<std::uint32_t>(row, offsetof(ProcessV2, compute_instance)));
}

bool are_plausible(std::span<const std::byte> rows, std::size_t row_size) noexcept {
  for (std::size_t offset = 0; offset < rows.size(); offset += row_size) {
    if (!is_plausible(rows.subspan(offset, row_size))) return false;
  }
  return true;
}

std::size_t default_row_size(const ListCall& function) noexcept {
  constexpr std::uint8_t first_generation = 2;  // each list has three names
  return function.generation == first_generation ? sizeof(ProcessV1) : sizeof(ProcessV2);
}

struct Candidate {
  std::size_t row_size;
  bool is_possible;  // every row is plausible
  bool is_exact;     // explains where the driver stopped writing
};

bool is_better(const Candidate& a, const Candidate& b) noexcept {
  if (a.is_possible != b.is_possible) return a.is_possible;
  return a.is_exact && !b.is_exact;
}

// Drivers may write fewer rows than they count, or clear more than they fill.
Candidate rate_row_size(std::span<const std::byte> bytes, std::size_t count,
                        std::size_t row_size) noexcept {
  const std::size_t expected_size = count * row_size;
  const bool has_whole_rows = bytes.size() >= expected_size || bytes.size() % row_size == 0;
  const std::size_t filled_size = std::min(bytes.size() / row_size, count) * row_size;
  return {row_size, has_whole_rows && are_plausible(bytes.first(filled_size), row_size),
          bytes.size() == expected_size};
}

// The driver samples one to six times per second and may keep old samples: a shorter window would
// miss a busy process, a longer one would include the past.
constexpr std::uint64_t window_us = 2'000'000;
constexpr unsigned max_samples = 4096;
constexpr unsigned slack = 8;

const ProcessSample* find_newest_sample(std::span<const ProcessSample> samples, std::uint32_t pid,
                                        std::uint64_t since_us) {
  const ProcessSample* newest = nullptr;
  for (const ProcessSample& sample : samples) {
    const bool fits = sample.pid == pid && sample.time_us > since_us;
    if (fits && (newest == nullptr || sample.time_us > newest->time_us)) newest = &sample;
  }
  return newest;
}

std::uint32_t get_usage_kind(ListKind kind) noexcept {
  return kind == ListKind::graphics ? usage_kind::graphics : usage_kind::compute;
}

const ListCall& select_function(const Symbols& fn, ListKind kind) noexcept {
  switch (kind) {
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

std::optional<std::uint64_t> select_larger(std::optional<std::uint64_t> a,
                                    std::optional<std::uint64_t> b) noexcept {
  return a < b ? b : a;  // absent is less than any value
}

bool is_same_instance(const MergedProcess& a, const MergedProcess& b) noexcept {
  return a.gpu_instance == b.gpu_instance && a.compute_instance == b.compute_instance;
}

constexpr FieldSet process_fields = usage_field::used | usage_field::allocated;

void set_used(Usage& usage, std::uint64_t used) noexcept {
  usage.used = used;
  usage.allocated = used;
}

}  // namespace

RowSizeGuess detect_row_size(std::span<const std::byte> buffer, std::size_t count,
                             std::size_t default_size) noexcept {
  if (count == 0) return {};
  const auto written = buffer.first(find_written_length(buffer));
  if (written.empty()) return {};
  Candidate best = rate_row_size(written, count, default_size);
  for (const std::size_t row_size : row_sizes) {
    const Candidate candidate = rate_row_size(written, count, row_size);
    if (is_better(candidate, best)) best = candidate;
  }
  return {best.row_size, best.is_possible && best.is_exact};
}

bool decode_row(std::span<const std::byte> buffer, std::size_t i, std::size_t row_size,
                ListedProcess& out) noexcept {
  if ((i + 1) * row_size > buffer.size()) return false;
  const auto row = buffer.subspan(i * row_size, row_size);
  if (is_untouched(row)) return false;
  out = {read_at<std::uint32_t>(row, offsetof(ProcessV2, pid)),
         read_at<std::uint64_t>(row, offsetof(ProcessV2, used))};
  if (row_size >= sizeof(ProcessV2)) {
    out.gpu_instance = read_at<std::uint32_t>(row, offsetof(ProcessV2, gpu_instance));
    out.compute_instance = read_at<std::uint32_t>(row, offsetof(ProcessV2, compute_instance));
  }
  return true;
}

Code ProcessList::read(const CallContext& context, const ListCall& function, Handle handle,
                       std::size_t& row_size) {
  rows_.clear();
  missed_rows_ = 0;
  unsigned count = 0;
  const Code code = query(context, function, handle, count);
  if (code != success && code != insufficient_size) return code;
  const std::size_t filled_rows = std::min<std::size_t>(count, buffer_.size() / max_row_size);
  RowSizeGuess guess{row_size, true};
  if (row_size == 0) guess = detect_row_size(buffer_, filled_rows, default_row_size(function));
  if (guess.is_certain) row_size = guess.row_size;
  if (guess.row_size != 0) decode(filled_rows, guess.row_size);
  if (code == success) return rows_.size() == count ? success : unusable;
  if (rows_.empty()) return code;
  missed_rows_ = count > rows_.size() ? count - rows_.size() : 1;
  return success;
}

// Grows the buffer until the list fits; gives up if the list keeps growing as well.
Code ProcessList::query(const CallContext& context, const ListCall& function, Handle handle,
                        unsigned& count) {
  if (buffer_.empty()) buffer_.resize(initial_capacity * max_row_size);
  for (int attempt = 1;; ++attempt) {
    const std::size_t capacity = buffer_.size() / max_row_size;
    std::memset(buffer_.data(), static_cast<int>(untouched), buffer_.size());
    RowCount rows{static_cast<unsigned>(capacity)};
    const Code code = call(context, function, handle, &rows, static_cast<void*>(buffer_.data()));
    count = rows.value;
    if (code != insufficient_size || capacity == max_rows || attempt == max_attempts) {
      return code;
    }
    const std::size_t new_capacity = std::max<std::size_t>(count + count / 8UL + 16, capacity * 2);
    buffer_.resize(std::min(new_capacity, max_rows) * max_row_size);
  }
}

void ProcessList::decode(std::size_t count, std::size_t row_size) {
  ListedProcess row;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_written = decode_row(buffer_, i, row_size, row);
    if (is_written && row.pid != 0 && row.pid <= max_pid) rows_.push_back(row);
  }
}

// The first call returns the number of samples; there may be more by the second.
Code ProcessLoadReader::query_samples(const CallContext& context, const Session& session,
                                      const KnownDevice& device, std::uint64_t since_us) {
  Code code = insufficient_size;
  for (int attempt = 0; attempt < 3 && code == insufficient_size; ++attempt) {
    RowCount rows{static_cast<unsigned>(samples_.size())};
    ProcessSample* const samples = samples_.empty() ? nullptr : samples_.data();
    code = call(context, session.fn.process_use, device.handle, samples, &rows, since_us);
    const unsigned count = rows.value;
    if (code == success && samples != nullptr) {
      const bool fits = count <= samples_.size();
      if (fits) samples_.resize(count);
      return fits && std::ranges::all_of(samples_, &ProcessSample::pid) ? success : unusable;
    }

    if (code == insufficient_size || code == success) {
      if (count == 0) return unusable;
      code = insufficient_size;
      samples_.resize(std::min(count, max_samples) + slack);
    }
  }
  return code;
}

Code ProcessLoadReader::read(const CallContext& context, const Session& session,
                             const KnownDevice& device, std::span<Usage> rows) {
  constexpr FieldSet field = usage_field::busy_percent;
  const char* const name = session.fn.process_use.name();
  if (rows.empty()) return success;
  if (context.reading.is_quick()) {
    context.report_skipped(session.fn.process_use, field);
    return success;
  }
  if (device.is_mig_on) {
    context.report_missing(not_offered, name, field);
    return success;
  }
  const std::uint64_t since_us = platform::unix_ns() / ns_per_us - window_us;
  samples_.clear();
  const Code code = query_samples(context, session, device, since_us);
  if (code == not_found) samples_.clear();  // nothing was active
  if (code != success && code != not_found) context.report_missing(code, name, field);
  if (code != success && code != not_found && code != unusable) {
    return code == gpu_is_lost || code == reset_required ? code : success;
  }
  const std::uint64_t now_ns = platform::unix_ns();
  for (Usage& row : rows) {
    const ProcessSample* const sample = find_newest_sample(samples_, row.pid, since_us);
    if (sample == nullptr && code == unusable)
      continue;  // its sample may be one that the driver did not write
    if (sample != nullptr) {
      const auto failure =
          check_time(Source::nvml, "a sample", ns_from_us(sample->time_us), now_ns);
      if (failure) {
        context.for_process(row.pid).diagnose(*failure, field);
        continue;
      }
    }
    const std::uint32_t percent = sample != nullptr ? sample->sm : 0;
    row.busy_percent = percent;
    row.window_ns = window_us * ns_per_us;
  }
  return success;
}

bool ListOutcome::has(ListKind kind) const noexcept {
  const Code code = results[static_cast<std::size_t>(kind)];
  return code == success || (kind == ListKind::mps && is_absent(code));
}

bool ListOutcome::is_complete() const noexcept {
  return missed == 0 &&
         std::ranges::all_of(all_lists, [this](ListKind which) { return has(which); });
}

std::size_t ListOutcome::find_failed_list() const noexcept {
  std::size_t index = 0;
  for (const ListKind kind : all_lists) {
    const auto i = static_cast<std::size_t>(kind);
    if (has(kind)) continue;
    if (!is_absent(results[i])) return i;
    if (results[index] == success) index = i;
  }
  return index;
}

bool ListOutcome::stop_after(ListKind kind, Code code) noexcept {
  if (!ends_reading(code)) return false;
  const auto index = static_cast<std::size_t>(kind);
  for (auto i = index + 1; i < results.size(); ++i) {
    results[i] = code;
    names[i] = names[index];
  }
  return true;
}

void ProcessMerger::clear() noexcept {
  rows_.clear();
  list_count_ = 0;
}

void ProcessMerger::add(std::span<const ListedProcess> list, std::uint32_t kind,
                        std::optional<std::uint32_t> pid) {
  for (const ListedProcess& row : list) {
    if (pid && row.pid != *pid) continue;
    MergedProcess& process = rows_.emplace_back();
    process.pid = row.pid;
    process.kinds = kind;
    process.gpu_instance = row.gpu_instance;
    process.compute_instance = row.compute_instance;
    if (row.used != value_not_available) process.used = row.used;
    process.list = list_count_;
    process.order = static_cast<std::uint32_t>(rows_.size());
  }
  ++list_count_;
}

std::span<const MergedProcess> ProcessMerger::finish() {
  sort_by(&MergedProcess::pid);
  collapse([](MergedProcess& target, const MergedProcess& row) {
    if (target.pid != row.pid || target.list != row.list) return false;
    target.used =
        is_same_instance(target, row) ? select_larger(target.used, row.used) : sum(target.used, row.used);
    return true;
  });
  collapse([](MergedProcess& target, const MergedProcess& row) {
    if (target.pid != row.pid) return false;
    target.kinds |= row.kinds;
    target.used = select_larger(target.used, row.used);
    return true;
  });
  sort_by(&MergedProcess::order);
  return rows_;
}

void ProcessMerger::sort_by(std::uint32_t MergedProcess::*key) {
  // Sorts by order as well: std::stable_sort would allocate.
  std::ranges::sort(rows_, {},
                    [key](const MergedProcess& p) { return std::pair(p.*key, p.order); });
}

void ProcessMerger::collapse(JoinRule join) {
  std::size_t end = 0;
  for (const MergedProcess& row : rows_) {
    if (end == 0 || !join(rows_[end - 1], row)) rows_[end++] = row;
  }
  rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(end), rows_.end());
}

Code ProcessReader::read_list(const CallContext& context, Session& session,
                              const KnownDevice& device, ListKind kind, ListOutcome& outcome) {
  const auto i = static_cast<std::size_t>(kind);
  const ListCall& function = select_function(session.fn, kind);
  outcome.names[i] = function.name();
  outcome.results[i] = list_.read(context, function, device.handle, session.row_sizes[i]);
  outcome.missed += list_.missed_rows();
  return outcome.results[i];
}

ListOutcome ProcessReader::read(const CallContext& context, Session& session,
                                const KnownDevice& device) {
  ListOutcome outcome;
  merger_.clear();
  rows_ = {};
  for (const ListKind kind : all_lists) {
    const Code code = read_list(context, session, device, kind, outcome);
    merger_.add(list_.rows(), get_usage_kind(kind));
    if (outcome.stop_after(kind, code)) break;
  }
  rows_ = merger_.finish();
  return outcome;
}

ListOutcome ProcessReader::find(const CallContext& context, Session& session,
                                const KnownDevice& device, std::uint32_t pid,
                                std::optional<MergedProcess>& match) {
  ListOutcome outcome;
  merger_.clear();
  rows_ = {};
  for (const ListKind kind : all_lists) {
    if (match) {
      outcome.results[static_cast<std::size_t>(kind)] = success;
      continue;
    }
    const Code code = read_list(context, session, device, kind, outcome);
    match = find_in_list(pid, get_usage_kind(kind));
    if (!match) merger_.add(list_.rows(), get_usage_kind(kind));
    if (outcome.stop_after(kind, code)) break;
  }
  return outcome;
}

std::optional<MergedProcess> ProcessReader::find_in_list(std::uint32_t pid, std::uint32_t kind) {
  single_merger_.clear();
  single_merger_.add(list_.rows(), kind, pid);
  const auto rows = single_merger_.finish();
  if (rows.empty()) return std::nullopt;
  return rows.front();
}

void fill_usage(const CallContext& context, const KnownDevice& device, const MergedProcess& process,
                Usage& usage) {
  usage.pid = process.pid;
  usage.source = Source::nvml;
  usage.accounting = Accounting::allocated;
  usage.kinds = process.kinds;
  if (process.gpu_instance != no_instance && process.compute_instance != no_instance) {
    usage.instance = MigInstance{process.gpu_instance, process.compute_instance};
  } else {
    usage.instance = device.identity.instance;
  }
  if (!process.used) {
    context.for_process(process.pid)
        .report(Status::unsupported, {"the driver lists the process without its memory"},
                process_fields);
  } else {
    set_used(usage, *process.used);
  }
}

void fill_zero(std::uint32_t pid, Usage& usage) noexcept {
  usage.pid = pid;
  usage.source = Source::nvml;
  usage.accounting = Accounting::allocated;
  set_used(usage, 0);
}

void diagnose_lists(const CallContext& context, const ListOutcome& outcome, FieldSet fields) {
  if (!context.wants_diagnostics()) return;
  for (const ListKind kind : all_lists) {
    const auto i = static_cast<std::size_t>(kind);
    if (!outcome.has(kind)) context.report_missing(outcome.results[i], outcome.names[i], fields);
  }
  if (outcome.missed == 0) return;
  context.report(Status::limit, {outcome.missed, " more processes are listed than can be read"},
                 fields, Reason::unknown, note::partial);
}

}  // namespace hmn::nvml
