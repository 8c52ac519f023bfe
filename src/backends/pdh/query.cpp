// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/query.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "platform/clock.hpp"

namespace hmn::pdh {
namespace {

constexpr std::uint32_t most_bytes = 16U << 20;
constexpr int most_tries = 8;  // rows may be added between the two calls
constexpr std::uint32_t no_count = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t look_again_ns = platform::ns_per_second;

bool is_absent(Code c) noexcept {
  return c == no_object || c == no_counter;
}

bool is_value(Code c) noexcept {
  return c == success || c == new_data;
}

Failure not_counted(Code c) {
  return is_absent(c)
             ? fail(
                   Status::no_source,
                   "this Windows has no counters of GPU memory; they come with Windows 10 1709 and "
                   "a driver of WDDM 2",
                   native_number(c))
             : fail(Status::backend, "PdhAddEnglishCounterW failed", native_number(c));
}

// A row that occurs twice counts once; its value is unknown if they differ.
void merge_equal(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.who < b.who; });
  const auto end = std::unique(rows.begin(), rows.end(), [](Row& kept, const Row& next) {
    if (kept.who != next.who) return false;
    kept.is_valid =
        kept.is_valid && next.is_valid && kept.whole == next.whole && kept.real == next.real;
    return true;
  });
  rows.erase(end, rows.end());
}

// Negative sizes are invalid.
std::optional<std::uint64_t> bytes_of(const Row& r) noexcept {
  if (!r.is_valid || r.whole < 0) return std::nullopt;
  return static_cast<std::uint64_t>(r.whole);
}

bool is_load(const Row& r, wddm::Luid adapter) noexcept {
  return r.who.adapter == adapter && r.who.engine && r.is_valid;
}

// Sums of samples may slightly exceed 100 %. One far above it is left to the check of every value.
double capped(double percent) noexcept {
  return percent <= 200 ? std::min(percent, 100.0) : percent;
}

struct Engine {
  std::uint32_t physical;
  std::uint32_t number;
  std::uint32_t kind;
  double percent;
};

void add(std::vector<Engine>& all, const Row& r) {
  const auto known = std::find_if(all.begin(), all.end(), [&](const Engine& e) {
    return e.physical == r.who.physical && e.number == *r.who.engine;
  });
  if (known == all.end()) {
    all.push_back({r.who.physical, *r.who.engine, r.who.engine_kind, r.real});
  } else {
    known->percent += r.real;
  }
}

void add(std::vector<wddm::ProcessLoad>& all, const Row& r) {
  const auto known = std::find_if(all.begin(), all.end(),
                                  [&](const wddm::ProcessLoad& p) { return p.pid == r.who.pid; });
  const double percent = capped(r.real);
  if (known == all.end()) {
    all.push_back({*r.who.pid, percent});
  } else {
    known->percent = std::max(known->percent, percent);
  }
}

}  // namespace

void Query::close() noexcept {
  if (query_ != nullptr) fn_.close(query_);
  query_ = nullptr;
  counters_.fill(nullptr);
  turns_ = 0;
}

Result<void> Query::open() {
  if (query_ != nullptr) return {};
  const std::uint64_t now = platform::monotonic_ns();
  if (refusal_ && now - refused_ns_ < look_again_ns) return *refusal_;
  refusal_.reset();
  const auto refuse = [&](const Failure& why) -> Result<void> {
    close();
    refused_ns_ = now;
    refusal_ = why;
    return why;
  };
  if (const Code c = fn_.open(nullptr, 0, &query_); c != success || query_ == nullptr) {
    query_ = nullptr;
    return refuse(fail(Status::backend, "PdhOpenQueryW failed", native_number(c)));
  }
  for (std::size_t i = 0; i < of_.size(); ++i) {
    const Code c = fn_.add(query_, of_[i].path, 0, &counters_[i]);
    if (c == success && counters_[i] != nullptr) continue;
    counters_[i] = nullptr;
    if (of_[i].is_needed) return refuse(not_counted(c));
  }
  return {};
}

Result<void> Query::collect(const Functions& fn) {
  fn_ = fn;
  const bool was_open = query_ != nullptr;
  for (bool again = was_open;; again = false) {
    if (Result<void> ok = open(); !ok) return ok;
    const Code c = fn_.collect(query_);
    has_none_ = c == no_data || c == no_instance;
    if (c == success || has_none_) {
      ++turns_;
      return {};
    }
    close();
    if (!again) return fail(Status::backend, "PdhCollectQueryData failed", native_number(c));
  }
}

Result<void> Query::fetch(Handle from, std::uint32_t& count) {
  Code c = more_data;
  for (int i = 0; i < most_tries && c == more_data; ++i) {
    auto size = static_cast<std::uint32_t>(items_.size() * sizeof(Item));
    std::fill(items_.begin(), items_.end(), Item{});
    count = no_count;
    c = fn_.rows(from, format_, &size, &count, size == 0 ? nullptr : items_.data());
    if (c != more_data) break;
    // The returned size is unreliable if the buffer was too small.
    size = 0;
    c = fn_.rows(from, format_, &size, &count, nullptr);
    if (c != more_data) break;
    if (size > most_bytes) {
      return fail(Status::limit, "Windows counts more GPU processes than can be read",
                  native_number(c));
    }
    items_.resize(size / sizeof(Item) + 2);
  }
  if (c == success) return {};
  count = 0;
  if (c == no_data || c == no_instance) return {};
  if (c == invalid_data || c == invalid_row || c == negative_denominator || c == negative_value) {
    return fail(Status::empty, "Windows reports a load only from the second reading on",
                native_number(c));
  }
  close();
  return fail(Status::backend, "PdhGetFormattedCounterArrayW failed", native_number(c));
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

Result<void> Query::read(std::size_t which, std::vector<Row>& out) {
  out.clear();
  if (has_none_ || !has(which)) return {};
  std::uint32_t count = 0;
  if (Result<void> ok = fetch(counters_[which], count); !ok) return ok;
  const Failure lie{
      Status::backend, Source::pdh, {NativeDomain::pdh, 0}, "PDH counts rows that it lacks"};
  if (count > items_.size()) return lie;
  for (const Item& i : std::span(items_).first(count)) {
    if (!take_name(i.name, count)) {
      out.clear();
      return lie;
    }
    const auto who = parse_instance(narrow_);
    if (!who) continue;
    Row fresh{*who, is_value(i.status), 0, 0};
    if ((format_ & as_real) != 0) {
      fresh.real = i.real;
    } else {
      fresh.whole = i.whole;
    }
    out.push_back(fresh);
  }
  merge_equal(out);
  return {};
}

void add_up(std::span<const Row> rows, wddm::Luid adapter, wddm::SegmentSum& out) {
  for (const Row& r : rows) {
    if (r.who.adapter == adapter && !r.who.pid) out.add(bytes_of(r));
  }
}

void add_up(std::span<const Row> rows, wddm::Luid adapter,
            wddm::SegmentSum wddm::ProcessMemory::*which, std::vector<wddm::ProcessMemory>& out) {
  for (const Row& r : rows) {
    if (r.who.adapter != adapter || !r.who.pid) continue;
    auto known = std::find_if(out.begin(), out.end(), [&](const wddm::ProcessMemory& p) {
      return p.adapter == adapter && p.pid == *r.who.pid;
    });
    if (known == out.end()) {
      wddm::ProcessMemory fresh;
      fresh.adapter = adapter;
      fresh.pid = *r.who.pid;
      known = out.insert(out.end(), fresh);
    }
    ((*known).*which).add(bytes_of(r));
  }
}

void add_up_loads(std::span<const Row> rows, wddm::Luid adapter, wddm::Loads& out) {
  std::vector<Engine> engines;
  for (const Row& r : rows) {
    if (!is_load(r, adapter)) continue;
    if (!(r.real >= 0)) {
      out.lacks_a_value = true;
      continue;
    }
    add(engines, r);
    if (r.who.pid) add(out.processes, r);
  }
  for (const Engine& e : engines) {
    std::optional<double>& percent = out.adapter.percent[e.kind];
    percent = std::max(percent.value_or(0), capped(e.percent));
  }
}

}  // namespace hmn::pdh
