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
std::string_view valid_uuid_or_empty(std::string_view uuid) noexcept {
  return uuid.starts_with("GPU-") && uuid.find('?') == uuid.npos ? uuid : std::string_view();
}

// Accepts "550.163.01", not "x86_64" or a date.
bool is_version(std::string_view word) noexcept {
  const bool is_numeric = std::ranges::all_of(word, [](char c) { return is_digit(c) || c == '.'; });
  return is_numeric && word.find('.') != word.npos && is_digit(word.front()) &&
         is_digit(word.back());
}

bool ends_identification(Code c) noexcept {
  return c == gpu_is_lost || c == uninitialized || c == late;
}

void add_gap(KnownDevice& device, const Failure& failure, FieldSet field) {
  Diagnostic diagnostic;
  diagnostic.failure = failure;
  diagnostic.subject = subject::devices;
  diagnostic.field = field;
  device.gaps.push_back(diagnostic);
}

void note_gap(KnownDevice& device, Code code, const char* function_name, FieldSet field) {
  if (code == success) return;
  device.refusing_function = function_name;
  add_gap(device, make_failure(code, function_name), field);
}

template <std::size_t N>
Code read_text(const CallContext& context, const TextCall& function, Handle handle, Text<N>& out) {
  TextBuffer<name_capacity> buffer{};
  const Code code = call(context, function, handle, &buffer, name_capacity);
  if (code == success) out.assign(buffer.bytes);
  return code;
}

Code read_name(const CallContext& context, const Session& session, Handle handle,
               KnownDevice& device) {
  const Code code = read_text(context, session.fn.name, handle, device.identity.name);
  note_gap(device, code, session.fn.name.name(), device_field::name);
  return code;
}

Code read_pci(const CallContext& context, const Session& session, Handle handle,
              KnownDevice& device) {
  PciInfo info{};
  Code code = call(context, session.fn.pci, handle, &info);
  if (code == success) device.address = extract_address(info);
  if (code == success && !device.address) code = unusable;
  note_gap(device, code, session.fn.pci.name(),
           device_field::pci_bus_id | device_field::pci_device | device_field::pci_subsystem);
  if (code != success) return code;
  device.identity.pci_bus_id = to_text(*device.address);
  if (info.device_id != 0) device.identity.pci_device = info.device_id >> 16;
  if (info.subsystem_id != 0) device.identity.pci_subsystem = info.subsystem_id;
  return code;
}

void read_architecture(const CallContext& context, const Session& session, Handle handle,
                       KnownDevice& device) {
  int major = 0;
  int minor = 0;
  const auto& capability = session.fn.compute_capability;
  Code code = call(context, capability, handle, &major, &minor);
  if (code == success && (major < 1 || major > 999 || minor < 0 || minor > 99)) code = unusable;
  note_gap(device, code, capability.name(), device_field::compute_capability_major);
  if (code == success) {
    device.identity.compute_capability_major = static_cast<std::uint32_t>(major);
    device.identity.compute_capability_minor = static_cast<std::uint32_t>(minor);
  }
  unsigned number = 0;
  code = call(context, session.fn.architecture, handle, &number);
  note_gap(device, code, session.fn.architecture.name(), device_field::architecture);
  if (code != success) return;
  device.identity.architecture.assign(find_architecture_name(number));
  if (!device.identity.architecture.empty()) return;
  add_gap(device,
          with_reason(Reason::not_understood,
                      fail(Status::unsupported,
                           {"this version has no name for architecture ", number, " of NVML"})),
          device_field::architecture);
}

void read_instance(const CallContext& context, const Session& session, Handle handle,
                   KnownDevice& device) {
  MigInstance instance;
  const NumberCall* function = &session.fn.gpu_instance;
  Code code = call(context, *function, handle, &instance.gpu);
  if (code == success) {
    function = &session.fn.compute_instance;
    code = call(context, *function, handle, &instance.compute);
  }
  note_gap(device, code, function->name(), device_field::instance);
  if (code == success) device.identity.instance = instance;
}

void set_driver(const Session& session, KnownDevice& device) {
  Device& identity = device.identity;
  identity.source = Source::nvml;
  identity.vendor = vendor::nvidia;
  identity.driver_version = session.driver_version;
  if (session.cuda_version) {
    identity.cuda_version_major = *session.cuda_version / 1000;
    identity.cuda_version_minor = *session.cuda_version % 1000 / 10;
  }
  if (session.driver_version_failure)
    add_gap(device, *session.driver_version_failure, device_field::driver_version);
  if (session.cuda_version_failure)
    add_gap(device, *session.cuda_version_failure, device_field::cuda_version_major);
}

DeviceForm derive_form(const KnownDevice& device) noexcept {
  if (device.traits.is_virtual_gpu) return DeviceForm::virtual_device;
  const bool shares_memory =
      device.traits.is_system_on_chip || device.identity.memory_kind == MemoryKind::unified;
  return shares_memory ? DeviceForm::integrated : DeviceForm::discrete;
}

Code classify_memory(const CallContext& context, Session& session, const Settings& settings,
                     KnownDevice& device) {
  device.traits = query_traits(context, session, device.handle, device.identity);
  if (!device.address && pci::is_tegra(settings.sys_root)) device.traits.is_system_on_chip = true;
  unsigned mode = 0;
  const Code virtualization_code = call(context, session.fn.virtualization, device.handle, &mode);
  device.traits.is_virtual_gpu = virtualization_code == success && mode == virtualization_vgpu;
  if (virtualization_code == success && mode > virtualization_max) {
    device.traits.unknown_mode_function = session.fn.virtualization.name();
  }
  if (device.traits.unknown_mode_function != nullptr) {
    add_gap(device,
            with_reason(Reason::not_understood,
                        fail(Status::ok, {device.traits.unknown_mode_function,
                                          ": a mode that is not known; the form of the device or "
                                          "the kind of its memory may be another"})),
            0);
  }
  Pool pool;
  const char* function_name = "";
  const Code code = query_memory(context, session, device, pool, function_name);
  Device& identity = device.identity;
  identity.memory_kind = derive_memory_kind(device.traits, code, pool.total,
                                            read_shared_total(device.traits, settings.proc_root));
  // The driver's total of an integrated GPU may be a part of what its processes can use.
  if (identity.memory_kind != MemoryKind::unified) identity.memory_total = pool.total;
  if (identity.memory_kind == MemoryKind::coherent) identity.numa_node = device.traits.numa_node;
  identity.form = derive_form(device);
  if (has_memory_total(code)) return success;
  device.refusing_function = function_name;
  return code;
}

}  // namespace

std::string_view find_architecture_name(unsigned number) noexcept {
  static constexpr std::string_view names[] = {"Kepler", "Maxwell", "Pascal", "Volta",    "Turing",
                                               "Ampere", "Ada",     "Hopper", "Blackwell"};
  constexpr unsigned first = 2;
  return number - first < std::size(names) ? names[number - first] : std::string_view();
}

GpuInformation parse_information(std::string_view text) noexcept {
  GpuInformation information;
  while (!text.empty()) {
    std::string_view value = scan::take_line(text);
    const std::string_view key = scan::trim(scan::take_until(value, ':'));
    value = scan::trim(value);
    if (key == "Model" && value != "Unknown") information.model = value;
    if (key == "GPU UUID") information.uuid = valid_uuid_or_empty(value);
  }
  return information;
}

std::string_view parse_driver_version(std::string_view text) noexcept {
  std::string_view line = scan::take_line(text);
  if (!line.starts_with("NVRM version:")) return {};
  for (std::string_view word = scan::take_word(line); !word.empty(); word = scan::take_word(line)) {
    if (is_version(word)) return word;
  }
  return {};
}

Code read_uuid(const CallContext& context, const Session& session, Handle handle, Text<96>& out) {
  return read_text(context, session.fn.uuid, handle, out);
}

Code read_identity(const CallContext& context, Session& session, const Settings& settings,
                   Handle handle, KnownDevice& device) {
  device.handle = handle;
  device.session = session.number();
  set_driver(session, device);
  if (const Code code = read_name(context, session, handle, device); ends_identification(code))
    return code;
  const Code uuid_code = read_uuid(context, session, handle, device.identity.uuid);
  note_gap(device, uuid_code, session.fn.uuid.name(), device_field::uuid);
  if (ends_identification(uuid_code)) return uuid_code;
  if (const Code code = read_pci(context, session, handle, device); ends_identification(code))
    return code;
  if (device.address)
    device.identity.render_minor = find_render_minor(settings.sys_root, *device.address);
  read_architecture(context, session, handle, device);
  const Code code = classify_memory(context, session, settings, device);
  if (code == reset_required) device.refusal = code;
  device.is_mig_capable = static_cast<bool>(session.fn.mig_mode);
  return ends_identification(code) ? code : success;
}

Code read_instance_identity(const CallContext& context, Session& session, const KnownDevice& parent,
                            Handle handle, KnownDevice& device) {
  device.handle = handle;
  device.session = session.number();
  set_driver(session, device);
  Device& identity = device.identity;
  identity.is_partition = true;
  identity.parent = parent.identity.slot;
  identity.compute_capability_major = parent.identity.compute_capability_major;
  identity.compute_capability_minor = parent.identity.compute_capability_minor;
  identity.architecture = parent.identity.architecture;
  device.traits = parent.traits;
  if (const Code code = read_name(context, session, handle, device); ends_identification(code))
    return code;
  note_gap(device, read_uuid(context, session, handle, identity.uuid), session.fn.uuid.name(),
           device_field::uuid);
  read_instance(context, session, handle, device);
  Pool pool;
  const char* function_name = "";
  const Code code = query_memory(context, session, device, pool, function_name);
  identity.memory_total = pool.total;
  identity.memory_kind = parent.identity.memory_kind;
  if (identity.memory_kind == MemoryKind::unknown && has_memory_total(code)) {
    identity.memory_kind = derive_memory_kind(device.traits, code, pool.total, std::nullopt);
  }
  return ends_identification(code) ? code : success;
}

KnownDevice read_identity_from_files(const Settings& settings, const PciAddress& address,
                                     bool can_sleep) {
  KnownDevice device;
  Device& identity = device.identity;
  identity.source = Source::nvml;
  identity.vendor = vendor::nvidia;
  identity.pci_bus_id = to_text(address);
  identity.render_minor = find_render_minor(settings.sys_root, address);
  device.address = address;
  const std::string driver = settings.proc_root + "/driver/nvidia";
  std::string text;
  constexpr std::size_t max_size = 4096;
  const std::string information =
      compose({driver, "/gpus/", sysfs_name(address).view(), "/information"});
  // Reading the file takes a runtime power reference, which would wake the device.
  if (!can_sleep && platform::read_whole(information.c_str(), text, max_size)) {
    const GpuInformation gpu = parse_information(text);
    identity.name.assign(gpu.model);
    identity.uuid.assign(gpu.uuid);
  }
  if (platform::read_whole((driver + "/version").c_str(), text, max_size)) {
    identity.driver_version.assign(parse_driver_version(text));
  }
  return device;
}

}  // namespace hmn::nvml
