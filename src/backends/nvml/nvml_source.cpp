// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/nvml_source.hpp"

#include <algorithm>

#include "backends/nvml/memory.hpp"
#include "backends/nvml/processes.hpp"
#include "backends/nvml/system.hpp"
#include "backends/nvml/telemetry.hpp"
#include "platform/clock.hpp"
#include "source/registry.hpp"

namespace hmn {

std::unique_ptr<DeviceSource> make_nvml(const Settings& s) {
  return std::make_unique<nvml::nvml_source>(s);
}

namespace nvml {
namespace {

constexpr std::uint64_t first_reopen_wait_ns = platform::ns_per_second;
constexpr std::uint64_t longest_reopen_wait_ns = 32 * platform::ns_per_second;

bool is_reload(const Failure& why) noexcept {
  return why.native.domain == NativeDomain::nvml && why.native.code == uninitialized;
}

Failure left_alone() {
  return fail(Status::asleep,
              "no GPU has anything to do: NVML is left closed for a while, so that they can sleep; "
              "values are of before");
}

Failure closed() {
  return fail(Status::backend, "NVML is not open");
}

}  // namespace

nvml_source::nvml_source(const Settings& s)
    : DeviceSource(Source::nvml, Calls::may_block),
      settings_(s),
      watch_(settings_),
      session_(settings_),
      device_list_(settings_),
      trust_(settings_.proc_root),
      backoff_(settings_.idle_close_ns) {}

Result<void> nvml_source::probe() {
  if (session_.is_open()) return {};
  if (has_evidence(settings_)) return {};
  why_ = fail(Status::no_source, "no NVIDIA GPU: none on the PCI bus, and no NVIDIA driver");
  return *why_;
}

Result<void> nvml_source::prepare(Reading& r) {
  const Topic t{r, subject::devices, {}, {}};
  const std::uint64_t now = platform::monotonic_ns();
  if (device_list_.is_new()) {
    r.recall([this](const Device& known, bool listed) { device_list_.recall(known, listed); });
  }
  trust_.begin_reading();
  watch_.refresh(now);
  backoff_.begin(now, watch_.one_is_asleep());
  rests_ = backoff_.is_on() && watch_.one_may_sleep() && !must_stay_closed();
  if (rests_ || must_stay_closed()) {
    session_.close();
    why_ = rests_ ? left_alone() : asleep();
    return *why_;
  }
  if (session_.is_open() && must_reopen(now)) {
    faults_.take_down(t);
    session_.close();
  }
  return open(t);
}

bool nvml_source::must_stay_closed() const noexcept {
  return !settings_.wake_devices && watch_.one_is_asleep();
}

// NVML lists the GPUs that were present when it was opened, and a lost one returns only with a new
// opening.
bool nvml_source::must_reopen(std::uint64_t now_ns) {
  if (watch_.changes() != bus_at_opening_) return true;
  if (!device_list_.one_is_lost()) {
    reopen_wait_ns_ = first_reopen_wait_ns;
    return false;
  }
  if (now_ns - session_.opened_at_ns() < reopen_wait_ns_) return false;
  reopen_wait_ns_ = std::min(reopen_wait_ns_ * 2, longest_reopen_wait_ns);
  return true;
}

Failure nvml_source::asleep() const {
  const auto all = watch_.devices();
  const auto sleeper = std::ranges::find_if(all, [](const auto& w) { return w.asleep; });
  return fail(
      Status::asleep,
      {"the GPU at ", sleeper != all.end() ? to_text(sleeper->address).view() : "?",
       " sleeps, and asking NVML would wake it; it is left asleep unless waking is allowed"});
}

Result<void> nvml_source::open(const Topic& t) {
  if (session_.is_open()) return {};
  if (const Failure* refusal = session_.recent_refusal()) return *refusal;
  const OpeningScope scope(t.r);
  const Topic unbounded{t.r, t.about, {}, {}, true};
  auto opened = session_.load();
  if (opened) {
    trust_.before_opening();
    opened = session_.open(unbounded, watch_.devices().size());
  }
  if (!opened) {
    why_ = opened.why();
    return opened;
  }
  device_list_.attach(unbounded, session_);
  trust_.after_opening();
  why_.reset();
  bus_at_opening_ = watch_.changes();
  paravirtual_ = is_paravirtual();
  return {};
}

Result<void> nvml_source::list(const Topic& t) {
  auto done = device_list_.enumerate(t, session_, watch_);
  if (done || !is_reload(done.why())) return done;
  if (auto opened = reopen(t); !opened) return opened;
  return device_list_.enumerate(t, session_, watch_);
}

// Opens NVML again after its driver was reloaded; not in a loop, if the driver reports another
// reload at once.
Result<void> nvml_source::reopen(const Topic& t) {
  const std::uint64_t now = platform::monotonic_ns();
  const bool again = reloaded_at_ns_ != 0 && now - reloaded_at_ns_ < platform::ns_per_second;
  if (again) return failure_for(uninitialized, "NVML");
  reloaded_at_ns_ = now;
  session_.events = nullptr;  // ended with its session: freeing it is not safe
  session_.close();
  return open(t);
}

Result<void> nvml_source::devices(std::vector<Device>& out, Reading& r) {
  const Topic t{r, subject::devices, {}, {}};
  if (session_.is_open()) {
    if (auto done = list(t); !done) return done;
    if (device_list_.listed().empty() && !watch_.devices().empty()) {
      t.report(Status::no_source, {"NVML lists no GPU, but the bus has ", watch_.devices().size(),
                                   " of NVIDIA; see 'dmesg' for NVRM lines"});
    }
  } else if (rests_ || must_stay_closed()) {
    device_list_.list_closed(t, watch_, rests_ ? &*why_ : nullptr);
  } else {
    return why_ ? *why_ : closed();
  }
  device_list_.list_devices(t, out);
  return {};
}

Result<void> nvml_source::with_device(Topic& t, Slot number, DeviceCall ask) {
  for (int attempt = 0;; ++attempt) {
    auto found = reach(t, number);
    if (!found) return found.why();
    std::optional<Failure> why;
    t.is_instance = (*found)->is_partition();
    const Code c = ask(**found, why);
    note_answer(t.r, **found, c);
    if (c == uninitialized && attempt == 0) {
      if (auto opened = reopen(t); !opened) return opened;
      continue;
    }
    if (why) return *why;
    return {};
  }
}

Result<KnownDevice*> nvml_source::reach(const Topic& t, Slot number) {
  if (!session_.is_open()) {
    if (!rests_ && must_stay_closed()) return asleep();
    return why_ ? *why_ : closed();
  }
  KnownDevice* of = device_list_.find(number);
  const bool is_back = of != nullptr && of->refusal == set_aside && device_list_.may_ask(t, *of);
  if (is_back || !device_list_.knows(session_)) {
    if (auto done = list({t.r, subject::devices, {}, {}}); !done) return done.why();
    of = device_list_.find(number);
  }
  if (of == nullptr) return fail(Status::no_device, "NVML never listed this device");
  if (!device_list_.may_ask(t, *of)) return failure_for(set_aside, "NVML");
  const bool is_listed = device_list_.is_listed(number);
  if (is_listed && of->h != nullptr && of->session == session_.number()) return of;
  if (is_listed && of->refusal != success) return failure_for(of->refusal, of->refused_by);
  return fail(Status::device_lost, "the driver no longer lists this device");
}

void nvml_source::note_answer(Reading& r, KnownDevice& of, Code c) {
  const bool fails = c == gpu_is_lost || c == reset_required;
  if (!fails && (c != success || !of.is_lost())) return;
  of.refusal = c;
  of.identity.state = fails ? state_after(c) : State::ready;
  if (fails) r.correct_state(of.identity.number, of.identity.state);
}

Result<void> nvml_source::memory(Slot number, Pools& out, Reading& r) {
  Topic t{r, subject::pools, number, {}};
  if (!session_.is_open() && must_stay_closed() && add_known_total(t, out)) return {};
  return with_device(t, number, [&](KnownDevice& of, std::optional<Failure>& why) {
    return read_memory(t, of, out, why);
  });
}

// A sleeping device has only constants.
bool nvml_source::add_known_total(const Topic& t, Pools& out) {
  const KnownDevice* const of = device_list_.find(*t.device);
  if (of == nullptr || !of->identity.memory_total ||
      of->identity.memory_kind == MemoryKind::unified)
    return false;
  Pool known = own_pool();
  known.total = of->identity.memory_total;
  out.add(known);
  if (t.wants()) t.diagnose(asleep(), pool_field::used | pool_field::free | pool_field::reserved);
  return true;
}

Code nvml_source::read_memory(const Topic& t, KnownDevice& of, Pools& out,
                              std::optional<Failure>& why) {
  Pool own;
  const char* from = "";
  const Code c = ask_memory(t, session_, of, own, from);
  MemoryKind& kind = of.identity.memory_kind;
  if (kind == MemoryKind::unknown) {
    kind =
        kind_of_memory(of.traits, c, own.total, read_shared_total(of.traits, settings_.proc_root));
  }
  if (own.total && kind != MemoryKind::unified) of.identity.memory_total = own.total;
  const bool may_share = !of.is_partition() && !of.mig_on;
  const bool has_none = c == success || c == not_supported;
  if (may_share && (own.total || has_none) && kind == MemoryKind::unified) {
    out.add(unified_pool(t, of));
    return success;
  }
  if (!own.total) {
    why = failure_for(c == success ? not_offered : c, from);
    return has_answered(c) ? success : c;
  }
  out.add(own);
  if (c == contradictory && t.wants()) {
    t.diagnose(failure_for(c, from), pool_field::used | pool_field::free | pool_field::reserved);
  }
  return success;
}

// Devices that allocate from host RAM leave its values to the host source; NVML only has what
// processes use.
Pool nvml_source::unified_pool(const Topic& t, KnownDevice& of) {
  Pool p;
  p.kind = PoolKind::unified;
  p.from = Source::nvml;
  p.accounting = Accounting::allocated;
  p.is_main = true;
  diagnose_lists(t, processes_.read(t, session_, of), pool_field::used);
  std::uint64_t sum = 0;
  for (const MergedProcess& row : processes_.rows()) {
    if (!row.used || *row.used > UINT64_MAX - sum) continue;
    sum += *row.used;
    p.used = sum;
  }
  if (p.used) p.notes |= note::lower_bound | note::estimated;
  return p;
}

Result<void> nvml_source::telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) {
  Topic t{r, subject::telemetry, number, {}};
  return with_device(t, number, [&](KnownDevice& of, std::optional<Failure>& why) {
    TelemetryReader reader(t, session_, of, fields, out);
    auto done = reader.read();
    if (!done) why = done.why();
    return reader.ended_by();
  });
}

Result<void> nvml_source::metrics(Slot number, bool slow, std::vector<Metric>& out, Reading& r) {
  Topic t{r, subject::metrics, number, {}};
  return with_device(t, number, [&](KnownDevice& of, std::optional<Failure>& why) {
    out.clear();
    MetricReader reader(t, session_, of, wide_, faults_, out);
    reader.read(slow);
    const Code c = reader.ended_by();
    if (c != success && c != late && out.empty()) why = failure_for(c, reader.failed_from());
    return c;
  });
}

// Backs off only without wake_devices: callers that allow waking expect fresh values.
bool nvml_source::finish(Reading& r) {
  if (!session_.is_open() || !watch_.one_may_sleep()) return false;
  const std::uint64_t now = platform::monotonic_ns();
  const bool may_rest = !settings_.wake_devices && backoff_.is_due(now);
  if (!may_rest || !has_nothing_to_do({r, subject::devices, {}, {}})) return true;
  backoff_.start(now, watch_.longest_delay_ns());
  faults_.take_down({r, subject::metrics, {}, {}});
  session_.close();
  return false;
}

// Unknown counts as active.
bool nvml_source::has_nothing_to_do(const Topic& t) {
  for (const Slot number : device_list_.listed()) {
    const KnownDevice& of = *device_list_.find(number);
    Utilization load{};
    if (of.h == nullptr || of.session != session_.number() || of.is_partition() || of.mig_on ||
        !device_list_.may_ask(t, of) || call(t, session_.fn.utilization, of.h, &load) != success ||
        load.gpu != 0 || load.memory != 0 || !processes_.read(t, session_, of).complete() ||
        !processes_.rows().empty()) {
      return false;
    }
  }
  return !device_list_.listed().empty();
}

SourceState nvml_source::describe(Source) const {
  SourceState now;
  now.version = session_.driver_version;
  now.why.from = Source::nvml;
  now.why.code = Status::ok;
  if (session_.is_open()) {
    now.state = State::ready;
  } else if (why_) {
    now.why = *why_;
    now.state = why_->code == Status::no_source ? State::absent : State::unreadable;
    if (why_->code == Status::asleep) now.state = rests_ ? State::ready : State::asleep;
  }
  return now;
}

}  // namespace nvml

}  // namespace hmn
