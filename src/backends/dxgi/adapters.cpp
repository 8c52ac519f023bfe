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

constexpr std::uint32_t max_adapters = 64;
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
  const auto bits = static_cast<std::uint64_t>(version);
  return compose(
      {bits >> 48U, ".", bits >> 32U & 0xFFFFU, ".", bits >> 16U & 0xFFFFU, ".", bits & 0xFFFFU});
}

void diagnose(Reading& reading, const Failure& failure) {
  if (!reading.wants_diagnostics()) return;
  Diagnostic diagnostic;
  diagnostic.failure = failure;
  diagnostic.subject = subject::devices;
  reading.diagnose(diagnostic);
}

Adapter make_adapter(const Description& description, const Adapter1& object) {
  Adapter adapter;
  adapter.id = wddm::make_luid(description.luid_high, description.luid_low);
  adapter.vendor = description.vendor;
  adapter.device = description.device;
  adapter.subsystem = description.subsystem;
  adapter.dedicated = description.dedicated_video;
  adapter.shared = description.shared_system;
  const std::u16string_view name(description.name, std::size(description.name));
  adapter.name = platform::to_utf8(name.substr(0, name.find(u'\0')));
  std::int64_t version = 0;
  if (!is_failure(object->supports(object.get(), &device_id, &version)) && version != 0) {
    adapter.driver_version = version_text(version);
  }
  adapter.memory = object.query_interface<Adapter3Functions>(adapter3_id, adapter.memory_code);
  return adapter;
}

constexpr std::uint32_t untouched_number = std::numeric_limits<std::uint32_t>::max();

template <class F>
void load_function(const platform::Library& library, const char* name, F& function) {
  function = reinterpret_cast<F>(library.symbol(name));
}

class AdapterHandle {
 public:
  AdapterHandle(const KernelFunctions& fn, wddm::Luid adapter) noexcept : fn_(fn) {
    if (fn.open == nullptr || fn.close == nullptr) return;
    OpenAdapter request{static_cast<std::uint32_t>(adapter),
                        static_cast<std::uint32_t>(adapter >> 32U), 0};
    is_open_ = fn.open(&request) >= 0;
    number_ = request.adapter;
  }
  AdapterHandle(const AdapterHandle&) = delete;
  AdapterHandle& operator=(const AdapterHandle&) = delete;
  ~AdapterHandle() {
    const CloseAdapter request{number_};
    if (is_open_) fn_.close(&request);
  }

  explicit operator bool() const noexcept { return is_open_; }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

 private:
  const KernelFunctions& fn_;
  bool is_open_ = false;
  std::uint32_t number_ = 0;
};

class ProcessHandle {
 public:
  ProcessHandle(const KernelFunctions& fn, std::uint32_t pid) noexcept : fn_(fn) {
    if (fn.open_process == nullptr || fn.close_handle == nullptr) return;
    handle_ = fn.open_process(process_query_information, 0, pid);
  }
  ProcessHandle(const ProcessHandle&) = delete;
  ProcessHandle& operator=(const ProcessHandle&) = delete;
  ~ProcessHandle() {
    if (handle_ != nullptr) fn_.close_handle(handle_);
  }

  [[nodiscard]] void* get() const noexcept { return handle_; }

 private:
  const KernelFunctions& fn_;
  void* handle_ = nullptr;
};

std::optional<PciAddress> to_pci_address(const AdapterAddress& address) noexcept {
  if (address.bus > 0xFF || address.device > 0x1F || address.function > 7) return std::nullopt;
  return PciAddress{0, static_cast<std::uint8_t>(address.bus),
                    static_cast<std::uint8_t>(address.device),
                    static_cast<std::uint8_t>(address.function)};
}

Pool make_pool(PoolKind kind, std::uint64_t total) {
  Pool pool;
  pool.kind = kind;
  pool.source = Source::dxgi;
  if (total != 0) pool.total = total;
  return pool;
}

void set_budget(Pool& pool, const std::optional<OwnMemory>& own_memory,
                MemoryInformation OwnMemory::*segment) {
  if (!own_memory || ((*own_memory).*segment).budget == 0) return;
  const MemoryInformation& memory = (*own_memory).*segment;
  pool.budget = memory.budget;
  pool.budget_left = memory.budget - std::min(memory.budget, memory.used);
}

void set_used(Pool& pool, const wddm::SegmentSum& used_memory) {
  if (!used_memory.bytes()) return;
  pool.used = used_memory.bytes();
  pool.accounting = Accounting::resident;
  pool.notes |= note::mixed | (used_memory.is_incomplete() ? note::lower_bound : 0U);
  if (pool.total && *pool.used <= *pool.total) pool.free = *pool.total - *pool.used;
}

wddm::SegmentSum add_sums(wddm::SegmentSum sum, const wddm::SegmentSum& addend) {
  sum.add(addend.bytes());
  return sum;
}

}  // namespace

bool AdapterList::is_stale() const noexcept {
  return !factory_ || factory_->is_current(factory_.get()) == 0;
}

void AdapterList::clear() noexcept {
  all_.clear();
  factory_ = Factory();
}

Result<void> AdapterList::open() {
  if (create_ == nullptr) {
    auto library = platform::Library::open("dxgi.dll");
    if (!library) return Failure{Status::no_source, Source::dxgi, {}, library.error_text};
    create_ = reinterpret_cast<CreateFactory>(library.value.symbol("CreateDXGIFactory1"));
    if (create_ == nullptr) {
      return Failure{Status::no_source, Source::dxgi, {}, "dxgi.dll has no CreateDXGIFactory1"};
    }
    library_ = std::move(library.value);
  }
  void* pointer = nullptr;
  const Code code = create_(&factory1_id, &pointer);
  if (!is_failure(code) && pointer != nullptr) {
    factory_ = Factory(pointer);
    return {};
  }
  if (code == unsupported)
    return fail(Status::no_source, "this Windows has no graphics to list", native_number(code));
  return fail(Status::backend, "CreateDXGIFactory1 failed", native_number(code));
}

Result<void> AdapterList::list(Reading& reading) {
  clear();
  if (Result<void> result = open(); !result) return result;
  std::optional<Failure> last_failure;
  for (std::uint32_t i = 0; i < max_adapters; ++i) {
    if (last_failure) diagnose(reading, *std::exchange(last_failure, {}));
    void* pointer = nullptr;
    const Code code = factory_->adapter(factory_.get(), i, &pointer);
    if (code == not_found) return {};
    if (is_failure(code) || pointer == nullptr) {
      // The same text for each, so that they become one diagnostic.
      last_failure = fail(Status::backend, "DXGI does not give an adapter", native_number(code));
      continue;
    }
    const Adapter1 object(pointer);
    Description description{};
    const Code description_code = object->describe(object.get(), &description);
    if (is_failure(description_code) || is_untouched(description)) {
      diagnose(reading, fail(Status::backend, {"DXGI does not describe adapter ", i},
                             native_number(description_code)));
      continue;
    }
    if (is_software(description)) continue;
    const auto id = wddm::make_luid(description.luid_high, description.luid_low);
    const bool is_known = std::any_of(all_.begin(), all_.end(),
                                      [id](const Adapter& known) { return known.id == id; });
    if (!is_known) all_.push_back(make_adapter(description, object));
  }
  if (!last_failure) return {};
  if (all_.empty()) return *last_failure;
  diagnose(reading, *last_failure);
  return {};
}

Kernel::Kernel() {
  if (auto gdi = platform::Library::open("gdi32.dll")) {
    gdi_ = std::move(gdi.value);
    load_function(gdi_, "D3DKMTOpenAdapterFromLuid", fn_.open);
    load_function(gdi_, "D3DKMTCloseAdapter", fn_.close);
    load_function(gdi_, "D3DKMTQueryAdapterInfo", fn_.query);
    load_function(gdi_, "D3DKMTQueryVideoMemoryInfo", fn_.memory);
  }
  if (auto base = platform::Library::open("kernel32.dll")) {
    kernel32_ = std::move(base.value);
    load_function(kernel32_, "OpenProcess", fn_.open_process);
    load_function(kernel32_, "CloseHandle", fn_.close_handle);
  }
}

KernelFacts Kernel::read_facts(wddm::Luid adapter) const noexcept {
  KernelFacts facts;
  if (fn_.query == nullptr) return facts;
  const AdapterHandle handle(fn_, adapter);
  if (!handle) return facts;
  AdapterAddress address{untouched_number, untouched_number, untouched_number};
  QueryAdapter query{handle.number(), type_address, &address, sizeof address};
  if (fn_.query(&query) >= 0) facts.address = to_pci_address(address);
  std::uint32_t kinds = 0;
  query = {handle.number(), type_adapter, &kinds, sizeof kinds};
  if (fn_.query(&query) >= 0) {
    facts.is_hybrid_discrete = (kinds & hybrid_discrete) != 0;
    facts.is_hybrid_integrated = (kinds & hybrid_integrated) != 0;
  }
  return facts;
}

std::optional<std::uint64_t> Kernel::read_used(std::uint32_t adapter, std::uint32_t segment,
                                               void* process) const noexcept {
  QueryVideoMemory query{process, adapter, segment, untouched, untouched, untouched, untouched, 0};
  if (fn_.memory(&query) < 0 || query.used == untouched) return std::nullopt;
  return query.used;
}

std::optional<KernelUsage> Kernel::read_usage(wddm::Luid adapter,
                                              std::uint32_t pid) const noexcept {
  if (fn_.memory == nullptr) return std::nullopt;
  const ProcessHandle process(fn_, pid);
  if (process.get() == nullptr) return std::nullopt;
  const AdapterHandle handle(fn_, adapter);
  if (!handle) return std::nullopt;
  const auto local = read_used(handle.number(), segment_local, process.get());
  const auto non_local = read_used(handle.number(), segment_non_local, process.get());
  if (!local || !non_local) return std::nullopt;
  return KernelUsage{*local, *non_local};
}

bool is_unified(const Adapter& adapter, const std::optional<OwnMemory>& own_memory) noexcept {
  return own_memory && own_memory->non_local.budget == 0 &&
         own_memory->local.budget > adapter.dedicated &&
         own_memory->local.budget - adapter.dedicated <= adapter.shared;
}

void add_pools(const Adapter& adapter, const std::optional<OwnMemory>& own_memory,
               const wddm::AdapterMemory* used_memory, PoolList& pools) {
  if (is_unified(adapter, own_memory)) {
    Pool pool = make_pool(PoolKind::unified, adapter.dedicated + adapter.shared);
    pool.is_main = true;
    set_budget(pool, own_memory, &OwnMemory::local);
    if (used_memory != nullptr) {
      set_used(pool, add_sums(used_memory->dedicated, used_memory->shared));
      if (const auto used = used_memory->dedicated.bytes())
        pool.carveout_free = adapter.dedicated - std::min(adapter.dedicated, *used);
    }
    pools.add(pool);
    return;
  }
  Pool vram = make_pool(PoolKind::vram, adapter.dedicated);
  vram.is_main = true;
  set_budget(vram, own_memory, &OwnMemory::local);
  Pool host = make_pool(PoolKind::host, adapter.shared);
  set_budget(host, own_memory, &OwnMemory::non_local);
  if (used_memory != nullptr) {
    set_used(vram, used_memory->dedicated);
    set_used(host, used_memory->shared);
  }
  if (vram.total || vram.used) pools.add(vram);
  host.is_main = pools.empty();
  if (host.total || host.used) pools.add(host);
}

Usage make_usage(const wddm::ProcessMemory& memory, bool is_unified) {
  Usage row;
  row.pid = memory.pid;
  row.source = Source::pdh;
  wddm::SegmentSum committed = memory.dedicated_committed;
  wddm::SegmentSum resident = memory.dedicated_resident;
  if (is_unified) {
    committed = add_sums(committed, memory.shared_committed);
    // What is resident is local, but for systems that count shared memory apart.
    if (resident.bytes() && memory.shared_resident.bytes())
      resident = add_sums(resident, memory.shared_resident);
  }
  row.committed = committed.bytes();
  row.resident = resident.bytes();
  const bool is_resident = row.resident.has_value();
  row.used = is_resident ? row.resident : row.committed;
  if (row.used) row.accounting = is_resident ? Accounting::resident : Accounting::committed;
  const wddm::SegmentSum& host =
      memory.shared_resident.bytes() ? memory.shared_resident : memory.shared_committed;
  if (!is_unified) row.host_pool = host.bytes();
  const wddm::SegmentSum& used = is_resident ? resident : committed;
  if (used.is_incomplete() || (!is_unified && host.is_incomplete())) row.notes |= note::lower_bound;
  return row;
}

void add_load(const wddm::LoadReading& loads, Usage& row) {
  const auto it = std::find_if(loads.processes.begin(), loads.processes.end(),
                               [&](const wddm::ProcessLoad& load) { return load.pid == row.pid; });
  if (it == loads.processes.end()) return;
  row.busy_percent = it->percent;
  row.window_ns = loads.window_ns;
}

void fill_own(const OwnMemory& own_memory, bool is_unified, Usage& usage) {
  fill_from_kernel({own_memory.local.used, own_memory.non_local.used}, is_unified, usage);
  if (own_memory.local.budget != 0) usage.budget = own_memory.local.budget;
}

void fill_from_kernel(const KernelUsage& kernel_usage, bool is_unified, Usage& usage) {
  usage.source = Source::dxgi;
  usage.accounting = Accounting::resident;
  usage.used = usage.resident = is_unified
                                    ? scan::checked_add(kernel_usage.local, kernel_usage.non_local)
                                    : kernel_usage.local;
  if (!is_unified) usage.host_pool = kernel_usage.non_local;
}

}  // namespace hmn::dxgi
