// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/dxgi/kernel.hpp"

#include <limits>
#include <utility>

#include "backends/dxgi/abi.hpp"

namespace hmn::dxgi {
namespace {

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

}  // namespace

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

}  // namespace hmn::dxgi
