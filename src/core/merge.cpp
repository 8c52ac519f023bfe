// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/merge.hpp"

#include <algorithm>

namespace hmn {
namespace {

template <class T>
struct named_field {
  std::optional<T> telemetry::*value;
  std::uint32_t bit;
};

constexpr named_field<double> readings[]{
    {&telemetry::gpu_busy_percent, telemetry_field::gpu_busy},
    {&telemetry::memory_busy_percent, telemetry_field::memory_busy},
    {&telemetry::encoder_busy_percent, telemetry_field::encoder_busy},
    {&telemetry::decoder_busy_percent, telemetry_field::decoder_busy},
    {&telemetry::temperature_celsius, telemetry_field::temperature},
    {&telemetry::hotspot_celsius, telemetry_field::hotspot},
    {&telemetry::memory_celsius, telemetry_field::memory_temperature},
    {&telemetry::power_watts, telemetry_field::power},
    {&telemetry::power_limit_watts, telemetry_field::power_limit},
    {&telemetry::energy_joules, telemetry_field::energy},
};
constexpr named_field<std::uint32_t> states[]{
    {&telemetry::core_clock_mhz, telemetry_field::core_clock},
    {&telemetry::memory_clock_mhz, telemetry_field::memory_clock},
    {&telemetry::fan_percent, telemetry_field::fan_percent},
    {&telemetry::fan_rpm, telemetry_field::fan_rpm},
    {&telemetry::pcie_generation, telemetry_field::pcie_generation},
    {&telemetry::pcie_width, telemetry_field::pcie_width},
    {&telemetry::p_state, telemetry_field::p_state},
    {&telemetry::throttle, telemetry_field::throttle},
};
constexpr named_field<std::uint64_t> counts[]{
    {&telemetry::pcie_rx_bytes, telemetry_field::pcie_rx},
    {&telemetry::pcie_tx_bytes, telemetry_field::pcie_tx},
};
constexpr std::uint32_t percentages = telemetry_field::gpu_busy | telemetry_field::memory_busy |
                                      telemetry_field::encoder_busy | telemetry_field::decoder_busy;

// The bits of what was taken.
template <class T, std::size_t N>
std::uint32_t take(telemetry& into, const telemetry& from, const named_field<T> (&fields)[N]) {
  std::uint32_t taken = 0;
  for (const named_field<T>& f : fields) {
    if (into.*f.value || !(from.*f.value)) continue;
    into.*f.value = from.*f.value;
    taken |= f.bit;
  }
  return taken;
}

template <class T, std::size_t N>
std::uint32_t bits_of(const telemetry& t, const named_field<T> (&fields)[N]) noexcept {
  std::uint32_t bits = 0;
  for (const named_field<T>& f : fields) {
    if (t.*f.value) bits |= f.bit;
  }
  return bits;
}

template <class T>
bool take(std::optional<T>& into, const std::optional<T>& from) {
  if (into || !from) return false;
  into = from;
  return true;
}

template <std::size_t N>
bool take(text<N>& into, const text<N>& from) {
  if (!into.empty() || from.empty()) return false;
  into = from;
  return true;
}

template <class T>
bool take_known(T& into, const T& from) {
  if (into != T{} || from == T{}) return false;
  into = from;
  return true;
}

}  // namespace

void merge(device& best, const device& other) {
  bool taken = take_known(best.kind, other.kind);
  taken |= take_known(best.vendor, other.vendor);
  taken |= take_known(best.memory_kind, other.memory_kind);
  taken |= take(best.driver_index, other.driver_index);
  taken |= take(best.pci_device, other.pci_device);
  taken |= take(best.pci_subsystem, other.pci_subsystem);
  taken |= take(best.render_minor, other.render_minor);
  taken |= take(best.numa_node, other.numa_node);
  taken |= take(best.cuda_version, other.cuda_version);
  taken |= take(best.os_id, other.os_id);
  taken |= take(best.name, other.name);
  taken |= take(best.uuid, other.uuid);
  taken |= take(best.pci_bus_id, other.pci_bus_id);
  taken |= take(best.driver_version, other.driver_version);
  if (taken) best.notes |= note::mixed | other.notes;
}

void merge(dated<telemetry>& best, const dated<telemetry>& other) {
  telemetry& into = best.value;
  const std::uint32_t taken = take(into, other.value, readings) | take(into, other.value, states) |
                              take(into, other.value, counts);
  if (taken == 0) return;
  if ((taken & percentages) != 0) take(into.window_ns, other.value.window_ns);
  into.sources |= other.value.sources | bit_of(other.value.from);
  into.notes |= note::mixed | other.value.notes;
  best.age_ns = std::max(best.age_ns, other.age_ns);
}

// What is in use and what is free are of one source, which counts them in one way.
void merge(dated<pool>& best, const dated<pool>& other) {
  pool& into = best.value;
  const pool& from = other.value;
  bool taken = take(into.total, from.total);
  taken = take(into.budget, from.budget) || taken;
  if (!into.used && !into.free && from.used) {
    into.used = from.used;
    into.free = from.free;
    into.accounting = from.accounting;
    taken = true;
  }
  if (!taken) return;
  into.notes |= note::mixed | from.notes;
  best.age_ns = std::max(best.age_ns, other.age_ns);
}

std::uint32_t fields_of(const telemetry& t) noexcept {
  const std::uint32_t window = t.window_ns ? telemetry_field::window : 0;
  return bits_of(t, readings) | bits_of(t, states) | bits_of(t, counts) | window;
}

}  // namespace hmn
