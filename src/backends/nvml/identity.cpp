// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/identity.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "backends/nvml/memory.hpp"
#include "backends/shared/pci/pci.hpp"
#include "model/character.hpp"
#include "model/message_text.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::nvml {
namespace {

// "GPU-????????-????-…" is the UUID of a GPU that has not been initialised since boot.
std::string_view known_uuid(std::string_view uuid) noexcept {
  return uuid.starts_with("GPU-") && uuid.find('?') == uuid.npos ? uuid : std::string_view();
}

// Accepts "550.163.01", not "x86_64" or a date.
bool is_version(std::string_view word) noexcept {
  const bool allowed = std::ranges::all_of(word, [](char c) { return is_digit(c) || c == '.'; });
  return allowed && word.find('.') != word.npos && is_digit(word.front()) && is_digit(word.back());
}

bool ends_list(Code c) noexcept {
  return c == gpu_is_lost || c == uninitialized || c == late;
}

void add_gap(KnownDevice& out, const Failure& why, FieldSet field) {
  Diagnostic d;
  d.why = why;
  d.about = subject::devices;
  d.field = field;
  out.gaps.push_back(d);
}

void note_gap(KnownDevice& out, Code c, const char* what, FieldSet field) {
  if (c == success) return;
  out.refused_by = what;
  add_gap(out, failure_for(c, what), field);
}

template <std::size_t N>
Code read_text(const Topic& t, const TextCall& from, Handle h, Text<N>& out) {
  TextBuffer<name_capacity> buffer{};
  const Code c = call(t, from, h, &buffer, name_capacity);
  if (c == success) out.assign(buffer.bytes);
  return c;
}

Code read_name(const Topic& t, const Session& s, Handle h, KnownDevice& out) {
  const Code c = read_text(t, s.fn.name, h, out.identity.name);
  note_gap(out, c, s.fn.name.name(), device_field::name);
  return c;
}

Code read_pci(const Topic& t, const Session& s, Handle h, KnownDevice& out) {
  PciInfo info{};
  Code c = call(t, s.fn.pci, h, &info);
  if (c == success) out.address = address_of(info);
  if (c == success && !out.address) c = unusable;
  note_gap(out, c, s.fn.pci.name(),
           device_field::pci_bus_id | device_field::pci_device | device_field::pci_subsystem);
  if (c != success) return c;
  out.identity.pci_bus_id = to_text(*out.address);
  if (info.device_id != 0) out.identity.pci_device = info.device_id >> 16;
  if (info.subsystem_id != 0) out.identity.pci_subsystem = info.subsystem_id;
  return c;
}

void read_architecture(const Topic& t, const Session& s, Handle h, KnownDevice& out) {
  int major = 0;
  int minor = 0;
  const auto& capability = s.fn.compute_capability;
  Code c = call(t, capability, h, &major, &minor);
  if (c == success && (major < 1 || major > 999 || minor < 0 || minor > 99)) c = unusable;
  note_gap(out, c, capability.name(), device_field::compute_capability_major);
  if (c == success) {
    out.identity.compute_capability_major = static_cast<std::uint32_t>(major);
    out.identity.compute_capability_minor = static_cast<std::uint32_t>(minor);
  }
  unsigned number = 0;
  c = call(t, s.fn.architecture, h, &number);
  note_gap(out, c, s.fn.architecture.name(), device_field::architecture);
  if (c != success) return;
  out.identity.architecture.assign(architecture_name(number));
  if (!out.identity.architecture.empty()) return;
  add_gap(out,
          with_reason(Reason::not_understood,
                      fail(Status::unsupported,
                           {"this version has no name for architecture ", number, " of NVML"})),
          device_field::architecture);
}

void read_instance(const Topic& t, const Session& s, Handle h, KnownDevice& out) {
  MigInstance instance;
  const NumberCall* asked = &s.fn.gpu_instance;
  Code c = call(t, *asked, h, &instance.gpu);
  if (c == success) {
    asked = &s.fn.compute_instance;
    c = call(t, *asked, h, &instance.compute);
  }
  note_gap(out, c, asked->name(), device_field::instance);
  if (c == success) out.identity.instance = instance;
}

void set_driver(const Session& s, KnownDevice& out) {
  Device& d = out.identity;
  d.from = Source::nvml;
  d.vendor = vendor::nvidia;
  d.driver_version = s.driver_version;
  if (s.cuda_version) {
    d.cuda_version_major = *s.cuda_version / 1000;
    d.cuda_version_minor = *s.cuda_version % 1000 / 10;
  }
  if (s.no_driver_version) add_gap(out, *s.no_driver_version, device_field::driver_version);
  if (s.no_cuda_version) add_gap(out, *s.no_cuda_version, device_field::cuda_version_major);
}

DeviceForm form_of(const KnownDevice& of) noexcept {
  if (of.traits.virtual_gpu) return DeviceForm::virtual_device;
  const bool shares = of.traits.system_on_chip || of.identity.memory_kind == MemoryKind::unified;
  return shares ? DeviceForm::integrated : DeviceForm::discrete;
}

Code classify_memory(const Topic& t, Session& s, const Settings& paths, KnownDevice& out) {
  out.traits = ask_traits(t, s, out.h, out.identity);
  if (!out.address && pci::is_tegra(paths.sys_root)) out.traits.system_on_chip = true;
  unsigned mode = 0;
  const Code virtualized = call(t, s.fn.virtualization, out.h, &mode);
  out.traits.virtual_gpu = virtualized == success && mode == virtualization_vgpu;
  if (virtualized == success && mode > virtualization_most) {
    out.traits.unknown_mode_from = s.fn.virtualization.name();
  }
  if (out.traits.unknown_mode_from != nullptr) {
    add_gap(out,
            with_reason(Reason::not_understood,
                        fail(Status::ok, {out.traits.unknown_mode_from,
                                          ": a mode that is not known; the form of the device or "
                                          "the kind of its memory may be another"})),
            0);
  }
  Pool own;
  const char* from = "";
  const Code c = ask_memory(t, s, out, own, from);
  Device& d = out.identity;
  d.memory_kind =
      kind_of_memory(out.traits, c, own.total, read_shared_total(out.traits, paths.proc_root));
  // The driver's total of an integrated GPU may be a part of what its processes can use.
  if (d.memory_kind != MemoryKind::unified) d.memory_total = own.total;
  if (d.memory_kind == MemoryKind::coherent) d.numa_node = out.traits.numa_node;
  d.form = form_of(out);
  if (has_answered(c)) return success;
  out.refused_by = from;
  return c;
}

}  // namespace

std::string_view architecture_name(unsigned number) noexcept {
  static constexpr std::string_view names[] = {"Kepler", "Maxwell", "Pascal", "Volta",    "Turing",
                                               "Ampere", "Ada",     "Hopper", "Blackwell"};
  constexpr unsigned first = 2;
  return number - first < std::size(names) ? names[number - first] : std::string_view();
}

GpuInformation parse_information(std::string_view text) noexcept {
  GpuInformation found;
  while (!text.empty()) {
    std::string_view value = scan::take_line(text);
    const std::string_view key = scan::trim(scan::take_until(value, ':'));
    value = scan::trim(value);
    if (key == "Model" && value != "Unknown") found.model = value;
    if (key == "GPU UUID") found.uuid = known_uuid(value);
  }
  return found;
}

std::string_view parse_driver_version(std::string_view text) noexcept {
  std::string_view line = scan::take_line(text);
  if (!line.starts_with("NVRM version:")) return {};
  for (std::string_view word = scan::take_word(line); !word.empty(); word = scan::take_word(line)) {
    if (is_version(word)) return word;
  }
  return {};
}

Code read_uuid(const Topic& t, const Session& s, Handle h, Text<96>& out) {
  return read_text(t, s.fn.uuid, h, out);
}

Code read_identity(const Topic& t, Session& s, const Settings& paths, Handle h, KnownDevice& out) {
  out.h = h;
  out.session = s.number();
  set_driver(s, out);
  if (const Code c = read_name(t, s, h, out); ends_list(c)) return c;
  const Code no_uuid = read_uuid(t, s, h, out.identity.uuid);
  note_gap(out, no_uuid, s.fn.uuid.name(), device_field::uuid);
  if (ends_list(no_uuid)) return no_uuid;
  if (const Code c = read_pci(t, s, h, out); ends_list(c)) return c;
  if (out.address) out.identity.render_minor = render_minor(paths.sys_root, *out.address);
  read_architecture(t, s, h, out);
  const Code c = classify_memory(t, s, paths, out);
  if (c == reset_required) out.refusal = c;
  out.mig_capable = static_cast<bool>(s.fn.mig_mode);
  return ends_list(c) ? c : success;
}

Code read_instance_identity(const Topic& t, Session& s, const KnownDevice& parent, Handle h,
                            KnownDevice& out) {
  out.h = h;
  out.session = s.number();
  set_driver(s, out);
  Device& d = out.identity;
  d.is_part = true;
  d.parent = parent.identity.number;
  d.compute_capability_major = parent.identity.compute_capability_major;
  d.compute_capability_minor = parent.identity.compute_capability_minor;
  d.architecture = parent.identity.architecture;
  out.traits = parent.traits;
  if (const Code c = read_name(t, s, h, out); ends_list(c)) return c;
  note_gap(out, read_uuid(t, s, h, d.uuid), s.fn.uuid.name(), device_field::uuid);
  read_instance(t, s, h, out);
  Pool own;
  const char* from = "";
  const Code c = ask_memory(t, s, out, own, from);
  d.memory_total = own.total;
  d.memory_kind = parent.identity.memory_kind;
  if (d.memory_kind == MemoryKind::unknown && has_answered(c)) {
    d.memory_kind = kind_of_memory(out.traits, c, own.total, std::nullopt);
  }
  return ends_list(c) ? c : success;
}

KnownDevice identity_from_files(const Settings& paths, const PciAddress& address, bool may_sleep) {
  KnownDevice out;
  Device& d = out.identity;
  d.from = Source::nvml;
  d.vendor = vendor::nvidia;
  d.pci_bus_id = to_text(address);
  d.render_minor = render_minor(paths.sys_root, address);
  out.address = address;
  const std::string driver = paths.proc_root + "/driver/nvidia";
  std::string text;
  constexpr std::size_t cap = 4096;
  const std::string information =
      compose({driver, "/gpus/", system_name(address).view(), "/information"});
  // Reading the file takes a runtime power reference, which would wake the device.
  if (!may_sleep && platform::read_whole(information.c_str(), text, cap)) {
    const GpuInformation found = parse_information(text);
    d.name.assign(found.model);
    d.uuid.assign(found.uuid);
  }
  if (platform::read_whole((driver + "/version").c_str(), text, cap)) {
    d.driver_version.assign(parse_driver_version(text));
  }
  return out;
}

}  // namespace hmn::nvml
