// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/dxgi/adapters.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/dxgi/abi.hpp"
#include "model/message_text.hpp"
#include "model/scan.hpp"
#include "platform/utf16.hpp"

namespace hmn::dxgi {
namespace {

constexpr std::uint32_t most_adapters = 64;
constexpr std::uint32_t vendor_microsoft = 0x1414;
constexpr std::uint32_t basic_render = 0x8c;

bool is_software(const Description& d) noexcept {
  return (d.flags & flag_software) != 0 ||
         (d.vendor == vendor_microsoft && d.device == basic_render);
}

// A successful call may describe nothing.
bool is_untouched(const Description& d) noexcept {
  return d.vendor == 0 && d.luid_high == 0 && d.luid_low == 0;
}

std::string version_text(std::int64_t version) {
  const auto v = static_cast<std::uint64_t>(version);
  return compose({v >> 48U, ".", v >> 32U & 0xFFFFU, ".", v >> 16U & 0xFFFFU, ".", v & 0xFFFFU});
}

void diagnose(Reading& r, const Failure& why) {
  if (!r.wants_diagnostics()) return;
  Diagnostic d;
  d.why = why;
  d.about = subject::devices;
  r.diagnose(d);
}

Adapter to_adapter(const Description& d, const Adapter1& of) {
  Adapter out;
  out.id = wddm::make_luid(d.luid_high, d.luid_low);
  out.vendor = d.vendor;
  out.device = d.device;
  out.subsystem = d.subsystem;
  out.dedicated = d.dedicated_video;
  out.shared = d.shared_system;
  const std::u16string_view name(d.name, std::size(d.name));
  out.name = platform::to_utf8(name.substr(0, name.find(u'\0')));
  std::int64_t version = 0;
  if (!is_failure(of->supports(of.get(), &device_id, &version)) && version != 0) {
    out.driver_version = version_text(version);
  }
  out.memory = of.as<Adapter3Functions>(adapter3_id, out.no_memory);
  return out;
}

constexpr std::uint32_t untouched_number = std::numeric_limits<std::uint32_t>::max();

template <class F>
void find(const platform::Library& in, const char* name, F& out) {
  out = reinterpret_cast<F>(in.symbol(name));
}

class OpenedAdapter {
 public:
  OpenedAdapter(const KernelFunctions& fn, wddm::Luid adapter) noexcept : fn_(fn) {
    if (fn.open == nullptr || fn.close == nullptr) return;
    OpenAdapter o{static_cast<std::uint32_t>(adapter), static_cast<std::uint32_t>(adapter >> 32U),
                  0};
    is_open_ = fn.open(&o) >= 0;
    number_ = o.adapter;
  }
  OpenedAdapter(const OpenedAdapter&) = delete;
  OpenedAdapter& operator=(const OpenedAdapter&) = delete;
  ~OpenedAdapter() {
    const CloseAdapter c{number_};
    if (is_open_) fn_.close(&c);
  }

  explicit operator bool() const noexcept { return is_open_; }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

 private:
  const KernelFunctions& fn_;
  bool is_open_ = false;
  std::uint32_t number_ = 0;
};

class OpenedProcess {
 public:
  OpenedProcess(const KernelFunctions& fn, std::uint32_t pid) noexcept : fn_(fn) {
    if (fn.open_process == nullptr || fn.close_handle == nullptr) return;
    handle_ = fn.open_process(process_query_information, 0, pid);
  }
  OpenedProcess(const OpenedProcess&) = delete;
  OpenedProcess& operator=(const OpenedProcess&) = delete;
  ~OpenedProcess() {
    if (handle_ != nullptr) fn_.close_handle(handle_);
  }

  [[nodiscard]] void* get() const noexcept { return handle_; }

 private:
  const KernelFunctions& fn_;
  void* handle_ = nullptr;
};

std::optional<PciAddress> address_from(const AdapterAddress& a) noexcept {
  if (a.bus > 0xFF || a.device > 0x1F || a.function > 7) return std::nullopt;
  return PciAddress{0, static_cast<std::uint8_t>(a.bus), static_cast<std::uint8_t>(a.device),
                    static_cast<std::uint8_t>(a.function)};
}

Pool make_pool(PoolKind kind, std::uint64_t total) {
  Pool p;
  p.kind = kind;
  p.from = Source::dxgi;
  if (total != 0) p.total = total;
  return p;
}

void set_budget(Pool& p, const std::optional<OwnMemory>& own,
                MemoryInformation OwnMemory::*segment) {
  if (!own || ((*own).*segment).budget == 0) return;
  const MemoryInformation& of = (*own).*segment;
  p.budget = of.budget;
  p.budget_left = of.budget - std::min(of.budget, of.used);
}

void set_used(Pool& p, const wddm::SegmentSum& in_use) {
  if (!in_use.bytes()) return;
  p.used = in_use.bytes();
  p.accounting = Accounting::resident;
  p.notes |= note::mixed | (in_use.lacks_a_part() ? note::lower_bound : 0U);
  if (p.total && *p.used <= *p.total) p.free = *p.total - *p.used;
}

wddm::SegmentSum both(wddm::SegmentSum one, const wddm::SegmentSum& other) {
  one.add(other.bytes());
  return one;
}

}  // namespace

bool Adapters::are_old() const noexcept {
  return !factory_ || factory_->is_current(factory_.get()) == 0;
}

void Adapters::clear() noexcept {
  all_.clear();
  factory_ = Factory();
}

Result<void> Adapters::open() {
  if (create_ == nullptr) {
    auto opened = platform::Library::open("dxgi.dll");
    if (!opened) return Failure{Status::no_source, Source::dxgi, {}, opened.error_text};
    create_ = reinterpret_cast<CreateFactory>(opened.value.symbol("CreateDXGIFactory1"));
    if (create_ == nullptr) {
      return Failure{Status::no_source, Source::dxgi, {}, "dxgi.dll has no CreateDXGIFactory1"};
    }
    library_ = std::move(opened.value);
  }
  void* made = nullptr;
  const Code c = create_(&factory1_id, &made);
  if (!is_failure(c) && made != nullptr) {
    factory_ = Factory(made);
    return {};
  }
  if (c == unsupported)
    return fail(Status::no_source, "this Windows has no graphics to list", native_number(c));
  return fail(Status::backend, "CreateDXGIFactory1 failed", native_number(c));
}

Result<void> Adapters::list(Reading& r) {
  clear();
  if (Result<void> ok = open(); !ok) return ok;
  std::optional<Failure> last;
  for (std::uint32_t i = 0; i < most_adapters; ++i) {
    if (last) diagnose(r, *std::exchange(last, {}));
    void* found = nullptr;
    const Code c = factory_->adapter(factory_.get(), i, &found);
    if (c == not_found) return {};
    if (is_failure(c) || found == nullptr) {
      // The same text for each, so that they become one diagnostic.
      last = fail(Status::backend, "DXGI does not give an adapter", native_number(c));
      continue;
    }
    const Adapter1 of(found);
    Description d{};
    const Code reported = of->describe(of.get(), &d);
    if (is_failure(reported) || is_untouched(d)) {
      diagnose(r, fail(Status::backend, {"DXGI does not describe adapter ", i},
                       native_number(reported)));
      continue;
    }
    if (is_software(d)) continue;
    const auto id = wddm::make_luid(d.luid_high, d.luid_low);
    const bool is_known =
        std::any_of(all_.begin(), all_.end(), [id](const Adapter& a) { return a.id == id; });
    if (!is_known) all_.push_back(to_adapter(d, of));
  }
  if (!last) return {};
  if (all_.empty()) return *last;
  diagnose(r, *last);
  return {};
}

Kernel::Kernel() {
  if (auto gdi = platform::Library::open("gdi32.dll")) {
    gdi_ = std::move(gdi.value);
    find(gdi_, "D3DKMTOpenAdapterFromLuid", fn_.open);
    find(gdi_, "D3DKMTCloseAdapter", fn_.close);
    find(gdi_, "D3DKMTQueryAdapterInfo", fn_.query);
    find(gdi_, "D3DKMTQueryVideoMemoryInfo", fn_.memory);
  }
  if (auto base = platform::Library::open("kernel32.dll")) {
    kernel32_ = std::move(base.value);
    find(kernel32_, "OpenProcess", fn_.open_process);
    find(kernel32_, "CloseHandle", fn_.close_handle);
  }
}

KernelFacts Kernel::facts_of(wddm::Luid adapter) const noexcept {
  KernelFacts out;
  if (fn_.query == nullptr) return out;
  const OpenedAdapter opened(fn_, adapter);
  if (!opened) return out;
  AdapterAddress place{untouched_number, untouched_number, untouched_number};
  QueryAdapter q{opened.number(), type_address, &place, sizeof place};
  if (fn_.query(&q) >= 0) out.address = address_from(place);
  std::uint32_t kinds = 0;
  q = {opened.number(), type_adapter, &kinds, sizeof kinds};
  if (fn_.query(&q) >= 0) {
    out.is_hybrid_discrete = (kinds & hybrid_discrete) != 0;
    out.is_hybrid_integrated = (kinds & hybrid_integrated) != 0;
  }
  return out;
}

std::optional<std::uint64_t> Kernel::used_of(std::uint32_t adapter, std::uint32_t segment,
                                             void* process) const noexcept {
  QueryVideoMemory q{process, adapter, segment, untouched, untouched, untouched, untouched, 0};
  if (fn_.memory(&q) < 0 || q.used == untouched) return std::nullopt;
  return q.used;
}

std::optional<KernelUsage> Kernel::usage_of(wddm::Luid adapter, std::uint32_t pid) const noexcept {
  if (fn_.memory == nullptr) return std::nullopt;
  const OpenedProcess process(fn_, pid);
  if (process.get() == nullptr) return std::nullopt;
  const OpenedAdapter opened(fn_, adapter);
  if (!opened) return std::nullopt;
  const auto local = used_of(opened.number(), segment_local, process.get());
  const auto non_local = used_of(opened.number(), segment_non_local, process.get());
  if (!local || !non_local) return std::nullopt;
  return KernelUsage{*local, *non_local};
}

bool is_unified(const Adapter& a, const std::optional<OwnMemory>& own) noexcept {
  return own && own->non_local.budget == 0 && own->local.budget > a.dedicated &&
         own->local.budget - a.dedicated <= a.shared;
}

void add_pools(const Adapter& a, const std::optional<OwnMemory>& own,
               const wddm::AdapterMemory* in_use, Pools& out) {
  if (is_unified(a, own)) {
    Pool p = make_pool(PoolKind::unified, a.dedicated + a.shared);
    p.is_main = true;
    set_budget(p, own, &OwnMemory::local);
    if (in_use != nullptr) {
      set_used(p, both(in_use->dedicated, in_use->shared));
      if (const auto used = in_use->dedicated.bytes())
        p.apart_free = a.dedicated - std::min(a.dedicated, *used);
    }
    out.add(p);
    return;
  }
  Pool vram = make_pool(PoolKind::vram, a.dedicated);
  vram.is_main = true;
  set_budget(vram, own, &OwnMemory::local);
  Pool host = make_pool(PoolKind::host, a.shared);
  set_budget(host, own, &OwnMemory::non_local);
  if (in_use != nullptr) {
    set_used(vram, in_use->dedicated);
    set_used(host, in_use->shared);
  }
  if (vram.total || vram.used) out.add(vram);
  host.is_main = out.empty();
  if (host.total || host.used) out.add(host);
}

Usage to_usage(const wddm::ProcessMemory& p, bool is_unified) {
  Usage row;
  row.pid = p.pid;
  row.from = Source::pdh;
  wddm::SegmentSum committed = p.dedicated_committed;
  wddm::SegmentSum resident = p.dedicated_resident;
  if (is_unified) {
    committed = both(committed, p.shared_committed);
    // What is resident is local, but for systems that count shared memory apart.
    if (resident.bytes() && p.shared_resident.bytes()) resident = both(resident, p.shared_resident);
  }
  row.committed = committed.bytes();
  row.resident = resident.bytes();
  const bool is_resident = row.resident.has_value();
  row.used = is_resident ? row.resident : row.committed;
  if (row.used) row.accounting = is_resident ? Accounting::resident : Accounting::committed;
  const wddm::SegmentSum& host = p.shared_resident.bytes() ? p.shared_resident : p.shared_committed;
  if (!is_unified) row.host_pool = host.bytes();
  const wddm::SegmentSum& used = is_resident ? resident : committed;
  if (used.lacks_a_part() || (!is_unified && host.lacks_a_part())) row.notes |= note::lower_bound;
  return row;
}

void add_load(const wddm::Loads& loads, Usage& row) {
  const auto found = std::find_if(loads.processes.begin(), loads.processes.end(),
                                  [&](const wddm::ProcessLoad& l) { return l.pid == row.pid; });
  if (found == loads.processes.end()) return;
  row.busy_percent = found->percent;
  row.window_ns = loads.window_ns;
}

void fill_own(const OwnMemory& own, bool is_unified, Usage& out) {
  fill_from_kernel({own.local.used, own.non_local.used}, is_unified, out);
  if (own.local.budget != 0) out.budget = own.local.budget;
}

void fill_from_kernel(const KernelUsage& reported, bool is_unified, Usage& out) {
  out.from = Source::dxgi;
  out.accounting = Accounting::resident;
  out.used = out.resident =
      is_unified ? scan::sum(reported.local, reported.non_local) : reported.local;
  if (!is_unified) out.host_pool = reported.non_local;
}

}  // namespace hmn::dxgi
