// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/query.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "platform/clock.hpp"

namespace hmn::pdh {
namespace {

constexpr std::uint32_t max_bytes = 16U << 20;
constexpr int max_attempts = 8;  // rows may be added between the two calls
constexpr std::uint32_t no_count = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t retry_ns = platform::ns_per_second;

bool is_absent(Code c) noexcept {
  return c == no_object || c == no_counter;
}

bool is_value(Code c) noexcept {
  return c == success || c == new_data;
}

Failure make_uncounted_failure(Code code) {
  return is_absent(code)
             ? fail(
                   Status::no_source,
                   "this Windows has no counters of GPU memory; they come with Windows 10 1709 and "
                   "a driver of WDDM 2",
                   native_number(code))
             : fail(Status::backend, "PdhAddEnglishCounterW failed", native_number(code));
}

// A row that occurs twice counts once; its value is unknown if they differ.
void merge_equal(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.instance < b.instance; });
  const auto end = std::unique(rows.begin(), rows.end(), [](Row& first, const Row& second) {
    if (first.instance != second.instance) return false;
    first.is_valid = first.is_valid && second.is_valid && first.whole == second.whole &&
                     first.real == second.real;
    return true;
  });
  rows.erase(end, rows.end());
}

// Negative sizes are invalid.
std::optional<std::uint64_t> read_bytes(const Row& row) noexcept {
  if (!row.is_valid || row.whole < 0) return std::nullopt;
  return static_cast<std::uint64_t>(row.whole);
}

bool is_load(const Row& row, wddm::Luid adapter) noexcept {
  return row.instance.adapter == adapter && row.instance.engine && row.is_valid;
}

// Sums of samples may slightly exceed 100 %. One far above it is left to the check of every value.
double cap_percent(double percent) noexcept {
  return percent <= 200 ? std::min(percent, 100.0) : percent;
}

struct Engine {
  std::uint32_t physical;
  std::uint32_t number;
  std::uint32_t kind;
  double percent;
};

void add(std::vector<Engine>& engines, const Row& row) {
  const auto it = std::find_if(engines.begin(), engines.end(), [&](const Engine& e) {
    return e.physical == row.instance.physical && e.number == *row.instance.engine;
  });
  if (it == engines.end()) {
    engines.push_back(
        {row.instance.physical, *row.instance.engine, row.instance.engine_kind, row.real});
  } else {
    it->percent += row.real;
  }
}

void add(std::vector<wddm::ProcessLoad>& processes, const Row& row) {
  const auto it = std::find_if(processes.begin(), processes.end(), [&](const wddm::ProcessLoad& p) {
    return p.pid == row.instance.pid;
  });
  const double percent = cap_percent(row.real);
  if (it == processes.end()) {
    processes.push_back({*row.instance.pid, percent});
  } else {
    it->percent = std::max(it->percent, percent);
  }
}

}  // namespace

void Query::close() noexcept {
  if (query_ != nullptr) fn_.close(query_);
  query_ = nullptr;
  counters_.fill(nullptr);
  collections_ = 0;
}

Result<void> Query::open() {
  if (query_ != nullptr) return {};
  const std::uint64_t now = platform::monotonic_ns();
  if (refusal_ && now - refusal_time_ns_ < retry_ns) return *refusal_;
  refusal_.reset();
  const auto refuse = [&](const Failure& failure) -> Result<void> {
    close();
    refusal_time_ns_ = now;
    refusal_ = failure;
    return failure;
  };
  if (const Code code = fn_.open(nullptr, 0, &query_); code != success || query_ == nullptr) {
    query_ = nullptr;
    return refuse(fail(Status::backend, "PdhOpenQueryW failed", native_number(code)));
  }
  for (std::size_t i = 0; i < definitions_.size(); ++i) {
    const Code code = fn_.add(query_, definitions_[i].path, 0, &counters_[i]);
    if (code == success && counters_[i] != nullptr) continue;
    counters_[i] = nullptr;
    if (definitions_[i].is_required) return refuse(make_uncounted_failure(code));
  }
  return {};
}

Result<void> Query::collect(const Functions& fn) {
  fn_ = fn;
  const bool was_open = query_ != nullptr;
  for (bool may_retry = was_open;; may_retry = false) {
    if (Result<void> ok = open(); !ok) return ok;
    const Code code = fn_.collect(query_);
    is_empty_ = code == no_data || code == no_instance;
    if (code == success || is_empty_) {
      ++collections_;
      return {};
    }
    close();
    if (!may_retry) return fail(Status::backend, "PdhCollectQueryData failed", native_number(code));
  }
}

Result<void> Query::fetch(Handle counter, std::uint32_t& count) {
  Code code = more_data;
  for (int i = 0; i < max_attempts && code == more_data; ++i) {
    auto size = static_cast<std::uint32_t>(items_.size() * sizeof(Item));
    std::fill(items_.begin(), items_.end(), Item{});
    count = no_count;
    code = fn_.rows(counter, format_, &size, &count, size == 0 ? nullptr : items_.data());
    if (code != more_data) break;
    // The returned size is unreliable if the buffer was too small.
    size = 0;
    code = fn_.rows(counter, format_, &size, &count, nullptr);
    if (code != more_data) break;
    if (size > max_bytes) {
      return fail(Status::limit, "Windows counts more GPU processes than can be read",
                  native_number(code));
    }
    items_.resize(size / sizeof(Item) + 2);
  }
  if (code == success) return {};
  count = 0;
  if (code == no_data || code == no_instance) return {};
  if (code == invalid_data || code == invalid_row || code == negative_denominator ||
      code == negative_value) {
    return fail(Status::empty, "Windows reports a load only from the second reading on",
                native_number(code));
  }
  close();
  return fail(Status::backend, "PdhGetFormattedCounterArrayW failed", native_number(code));
}

// The names are behind the rows, in ASCII; any other letter makes one invalid. Fails for a name
// that is elsewhere.
bool Query::take_name(const char16_t* name, std::size_t rows) {
  const auto* const first = reinterpret_cast<const char16_t*>(items_.data() + rows);
  const auto* const last = reinterpret_cast<const char16_t*>(items_.data() + items_.size());
  const std::less<> is_before;
  if (is_before(name, first) || !is_before(name, last)) return false;
  narrow_.clear();
  for (; name != last && *name != u'\0'; ++name) {
    narrow_ += *name < 0x80 ? static_cast<char>(*name) : '?';
  }
  return name != last;
}

Result<void> Query::read(std::size_t index, std::vector<Row>& out) {
  out.clear();
  if (is_empty_ || !has(index)) return {};
  std::uint32_t count = 0;
  if (Result<void> ok = fetch(counters_[index], count); !ok) return ok;
  const Failure failure{
      Status::backend, Source::pdh, {NativeDomain::pdh, 0}, "PDH counts rows that it lacks"};
  if (count > items_.size()) return failure;
  for (const Item& item : std::span(items_).first(count)) {
    if (!take_name(item.name, count)) {
      out.clear();
      return failure;
    }
    const auto instance = parse_instance(narrow_);
    if (!instance) continue;
    Row row{*instance, is_value(item.status), 0, 0};
    if ((format_ & format_real) != 0) {
      row.real = item.real;
    } else {
      row.whole = item.whole;
    }
    out.push_back(row);
  }
  merge_equal(out);
  return {};
}

void add_up(std::span<const Row> rows, wddm::Luid adapter, wddm::SegmentSum& out) {
  for (const Row& row : rows) {
    if (row.instance.adapter == adapter && !row.instance.pid) out.add(read_bytes(row));
  }
}

void add_up(std::span<const Row> rows, wddm::Luid adapter,
            wddm::SegmentSum wddm::ProcessMemory::*member, std::vector<wddm::ProcessMemory>& out) {
  for (const Row& row : rows) {
    if (row.instance.adapter != adapter || !row.instance.pid) continue;
    auto it = std::find_if(out.begin(), out.end(), [&](const wddm::ProcessMemory& p) {
      return p.adapter == adapter && p.pid == *row.instance.pid;
    });
    if (it == out.end()) {
      wddm::ProcessMemory process;
      process.adapter = adapter;
      process.pid = *row.instance.pid;
      it = out.insert(out.end(), process);
    }
    ((*it).*member).add(read_bytes(row));
  }
}

void add_up_loads(std::span<const Row> rows, wddm::Luid adapter, wddm::LoadReading& out) {
  std::vector<Engine> engines;
  for (const Row& row : rows) {
    if (!is_load(row, adapter)) continue;
    if (!(row.real >= 0)) {
      out.is_incomplete = true;
      continue;
    }
    add(engines, row);
    if (row.instance.pid) add(out.processes, row);
  }
  for (const Engine& engine : engines) {
    std::optional<double>& percent = out.adapter.percent[engine.kind];
    percent = std::max(percent.value_or(0), cap_percent(engine.percent));
  }
}

}  // namespace hmn::pdh
