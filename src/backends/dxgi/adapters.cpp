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

bool is_software(const description& d) noexcept {
  return (d.flags & flag_software) != 0 ||
         (d.vendor == vendor_microsoft && d.device == basic_render);
}

// A successful call may describe nothing.
bool is_untouched(const description& d) noexcept {
  return d.vendor == 0 && d.luid_high == 0 && d.luid_low == 0;
}

std::string version_text(std::int64_t version) {
  const auto v = static_cast<std::uint64_t>(version);
  return compose({v >> 48U, ".", v >> 32U & 0xFFFFU, ".", v >> 16U & 0xFFFFU, ".", v & 0xFFFFU});
}

void diagnose(reading& r, const failure& why) {
  if (!r.wants_diagnostics()) return;
  diagnostic d;
  d.why = why;
  d.about = subject::devices;
  r.diagnose(d);
}

adapter to_adapter(const description& d, const adapter1& of) {
  adapter out;
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
  out.memory = of.as<adapter3_functions>(adapter3_id, out.no_memory);
  return out;
}

constexpr std::uint32_t untouched_number = std::numeric_limits<std::uint32_t>::max();

template <class F>
void find(const platform::library& in, const char* name, F& out) {
  out = reinterpret_cast<F>(in.symbol(name));
}

class opened_adapter {
 public:
  opened_adapter(const kernel_functions& fn, wddm::luid adapter) noexcept : fn_(fn) {
    if (fn.open == nullptr || fn.close == nullptr) return;
    open_adapter o{static_cast<std::uint32_t>(adapter), static_cast<std::uint32_t>(adapter >> 32U),
                   0};
    is_open_ = fn.open(&o) >= 0;
    number_ = o.adapter;
  }
  opened_adapter(const opened_adapter&) = delete;
  opened_adapter& operator=(const opened_adapter&) = delete;
  ~opened_adapter() {
    const close_adapter c{number_};
    if (is_open_) fn_.close(&c);
  }

  explicit operator bool() const noexcept { return is_open_; }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

 private:
  const kernel_functions& fn_;
  bool is_open_ = false;
  std::uint32_t number_ = 0;
};

class opened_process {
 public:
  opened_process(const kernel_functions& fn, std::uint32_t pid) noexcept : fn_(fn) {
    if (fn.open_process == nullptr || fn.close_handle == nullptr) return;
    handle_ = fn.open_process(process_query_information, 0, pid);
  }
  opened_process(const opened_process&) = delete;
  opened_process& operator=(const opened_process&) = delete;
  ~opened_process() {
    if (handle_ != nullptr) fn_.close_handle(handle_);
  }

  [[nodiscard]] void* get() const noexcept { return handle_; }

 private:
  const kernel_functions& fn_;
  void* handle_ = nullptr;
};

std::optional<pci_address> address_from(const adapter_address& a) noexcept {
  if (a.bus > 0xFF || a.device > 0x1F || a.function > 7) return std::nullopt;
  return pci_address{0, static_cast<std::uint8_t>(a.bus), static_cast<std::uint8_t>(a.device),
                     static_cast<std::uint8_t>(a.function)};
}

pool make_pool(pool_kind kind, std::uint64_t total) {
  pool p;
  p.kind = kind;
  p.from = source::dxgi;
  if (total != 0) p.total = total;
  return p;
}

void set_budget(pool& p, const std::optional<own_memory>& own,
                memory_information own_memory::*segment) {
  if (!own || ((*own).*segment).budget == 0) return;
  const memory_information& of = (*own).*segment;
  p.budget = of.budget;
  p.budget_left = of.budget - std::min(of.budget, of.used);
}

void set_used(pool& p, const wddm::segment_sum& in_use) {
  if (!in_use.bytes()) return;
  p.used = in_use.bytes();
  p.accounting = accounting::resident;
  p.notes |= note::mixed | (in_use.lacks_a_part() ? note::lower_bound : 0U);
  if (p.total && *p.used <= *p.total) p.free = *p.total - *p.used;
}

wddm::segment_sum both(wddm::segment_sum one, const wddm::segment_sum& other) {
  one.add(other.bytes());
  return one;
}

}  // namespace

bool adapters::are_old() const noexcept {
  return !factory_ || factory_->is_current(factory_.get()) == 0;
}

void adapters::clear() noexcept {
  all_.clear();
  factory_ = factory();
}

result<void> adapters::open() {
  if (create_ == nullptr) {
    auto opened = platform::library::open("dxgi.dll");
    if (!opened) return failure{status::no_source, source::dxgi, {}, opened.error_text};
    create_ = reinterpret_cast<create_factory>(opened.value.symbol("CreateDXGIFactory1"));
    if (create_ == nullptr) {
      return failure{status::no_source, source::dxgi, {}, "dxgi.dll has no CreateDXGIFactory1"};
    }
    library_ = std::move(opened.value);
  }
  void* made = nullptr;
  const code c = create_(&factory1_id, &made);
  if (!is_failure(c) && made != nullptr) {
    factory_ = factory(made);
    return {};
  }
  if (c == unsupported)
    return fail(status::no_source, "this Windows has no graphics to list", native_number(c));
  return fail(status::backend, "CreateDXGIFactory1 failed", native_number(c));
}

result<void> adapters::list(reading& r) {
  clear();
  if (result<void> ok = open(); !ok) return ok;
  std::optional<failure> last;
  for (std::uint32_t i = 0; i < most_adapters; ++i) {
    if (last) diagnose(r, *std::exchange(last, {}));
    void* found = nullptr;
    const code c = factory_->adapter(factory_.get(), i, &found);
    if (c == not_found) return {};
    if (is_failure(c) || found == nullptr) {
      // The same text for each, so that they become one diagnostic.
      last = fail(status::backend, "DXGI does not give an adapter", native_number(c));
      continue;
    }
    const adapter1 of(found);
    description d{};
    const code reported = of->describe(of.get(), &d);
    if (is_failure(reported) || is_untouched(d)) {
      diagnose(r, fail(status::backend, {"DXGI does not describe adapter ", i},
                       native_number(reported)));
      continue;
    }
    if (is_software(d)) continue;
    const auto id = wddm::make_luid(d.luid_high, d.luid_low);
    const bool is_known =
        std::any_of(all_.begin(), all_.end(), [id](const adapter& a) { return a.id == id; });
    if (!is_known) all_.push_back(to_adapter(d, of));
  }
  if (!last) return {};
  if (all_.empty()) return *last;
  diagnose(r, *last);
  return {};
}

kernel::kernel() {
  if (auto gdi = platform::library::open("gdi32.dll")) {
    gdi_ = std::move(gdi.value);
    find(gdi_, "D3DKMTOpenAdapterFromLuid", fn_.open);
    find(gdi_, "D3DKMTCloseAdapter", fn_.close);
    find(gdi_, "D3DKMTQueryAdapterInfo", fn_.query);
    find(gdi_, "D3DKMTQueryVideoMemoryInfo", fn_.memory);
  }
  if (auto base = platform::library::open("kernel32.dll")) {
    kernel32_ = std::move(base.value);
    find(kernel32_, "OpenProcess", fn_.open_process);
    find(kernel32_, "CloseHandle", fn_.close_handle);
  }
}

kernel_facts kernel::facts_of(wddm::luid adapter) const noexcept {
  kernel_facts out;
  if (fn_.query == nullptr) return out;
  const opened_adapter opened(fn_, adapter);
  if (!opened) return out;
  adapter_address place{untouched_number, untouched_number, untouched_number};
  query_adapter q{opened.number(), type_address, &place, sizeof place};
  if (fn_.query(&q) >= 0) out.address = address_from(place);
  std::uint32_t kinds = 0;
  q = {opened.number(), type_adapter, &kinds, sizeof kinds};
  if (fn_.query(&q) >= 0) {
    out.is_hybrid_discrete = (kinds & hybrid_discrete) != 0;
    out.is_hybrid_integrated = (kinds & hybrid_integrated) != 0;
  }
  return out;
}

std::optional<std::uint64_t> kernel::used_of(std::uint32_t adapter, std::uint32_t segment,
                                             void* process) const noexcept {
  query_video_memory q{process, adapter, segment, untouched, untouched, untouched, untouched, 0};
  if (fn_.memory(&q) < 0 || q.used == untouched) return std::nullopt;
  return q.used;
}

std::optional<kernel_usage> kernel::usage_of(wddm::luid adapter, std::uint32_t pid) const noexcept {
  if (fn_.memory == nullptr) return std::nullopt;
  const opened_process process(fn_, pid);
  if (process.get() == nullptr) return std::nullopt;
  const opened_adapter opened(fn_, adapter);
  if (!opened) return std::nullopt;
  const auto local = used_of(opened.number(), segment_local, process.get());
  const auto non_local = used_of(opened.number(), segment_non_local, process.get());
  if (!local || !non_local) return std::nullopt;
  return kernel_usage{*local, *non_local};
}

bool is_unified(const adapter& a, const std::optional<own_memory>& own) noexcept {
  return own && own->non_local.budget == 0 && own->local.budget > a.dedicated &&
         own->local.budget - a.dedicated <= a.shared;
}

void add_pools(const adapter& a, const std::optional<own_memory>& own,
               const wddm::adapter_memory* in_use, pools& out) {
  if (is_unified(a, own)) {
    pool p = make_pool(pool_kind::unified, a.dedicated + a.shared);
    p.is_main = true;
    set_budget(p, own, &own_memory::local);
    if (in_use != nullptr) {
      set_used(p, both(in_use->dedicated, in_use->shared));
      if (const auto used = in_use->dedicated.bytes())
        p.apart_free = a.dedicated - std::min(a.dedicated, *used);
    }
    out.add(p);
    return;
  }
  pool vram = make_pool(pool_kind::vram, a.dedicated);
  vram.is_main = true;
  set_budget(vram, own, &own_memory::local);
  pool host = make_pool(pool_kind::host, a.shared);
  set_budget(host, own, &own_memory::non_local);
  if (in_use != nullptr) {
    set_used(vram, in_use->dedicated);
    set_used(host, in_use->shared);
  }
  if (vram.total || vram.used) out.add(vram);
  host.is_main = out.empty();
  if (host.total || host.used) out.add(host);
}

usage to_usage(const wddm::process_memory& p, bool is_unified) {
  usage row;
  row.pid = p.pid;
  row.from = source::pdh;
  wddm::segment_sum committed = p.dedicated_committed;
  wddm::segment_sum resident = p.dedicated_resident;
  if (is_unified) {
    committed = both(committed, p.shared_committed);
    // What is resident is local, but for systems that count shared memory apart.
    if (resident.bytes() && p.shared_resident.bytes()) resident = both(resident, p.shared_resident);
  }
  row.committed = committed.bytes();
  row.resident = resident.bytes();
  const bool is_resident = row.resident.has_value();
  row.used = is_resident ? row.resident : row.committed;
  if (row.used) row.accounting = is_resident ? accounting::resident : accounting::committed;
  const wddm::segment_sum& host =
      p.shared_resident.bytes() ? p.shared_resident : p.shared_committed;
  if (!is_unified) row.host_pool = host.bytes();
  const wddm::segment_sum& used = is_resident ? resident : committed;
  if (used.lacks_a_part() || (!is_unified && host.lacks_a_part())) row.notes |= note::lower_bound;
  return row;
}

void add_load(const wddm::loads& loads, usage& row) {
  const auto found = std::find_if(loads.processes.begin(), loads.processes.end(),
                                  [&](const wddm::process_load& l) { return l.pid == row.pid; });
  if (found == loads.processes.end()) return;
  row.busy_percent = found->percent;
  row.window_ns = loads.window_ns;
}

void fill_own(const own_memory& own, bool is_unified, usage& out) {
  fill_from_kernel({own.local.used, own.non_local.used}, is_unified, out);
  if (own.local.budget != 0) out.budget = own.local.budget;
}

void fill_from_kernel(const kernel_usage& reported, bool is_unified, usage& out) {
  out.from = source::dxgi;
  out.accounting = accounting::resident;
  out.used = out.resident =
      is_unified ? scan::sum(reported.local, reported.non_local) : reported.local;
  if (!is_unified) out.host_pool = reported.non_local;
}

}  // namespace hmn::dxgi
