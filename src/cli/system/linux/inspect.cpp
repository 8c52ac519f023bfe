// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/linux/inspect.hpp"

#include <fmt/format.h>
#include <hypomnesis.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <hypomnesis.hpp>

#include "cli/system/environment.hpp"
#include "cli/system/file.hpp"
#include "cli/system/inspect.hpp"
#include "cli/text/words.hpp"
#include "procfs/meminfo.hpp"
#include "procfs/process.hpp"
#include "procfs/tree.hpp"
#include "procfs/workload.hpp"

namespace hmn::cli {
namespace {

// PCI class codes: 0x03 display controller, 0x12 processing accelerator.
constexpr std::uint32_t display_class = 0x03;
constexpr std::uint32_t accelerator_class = 0x12;

std::string read_first_line(const std::string& path) {
  const auto text = read_text_file(path);
  return text ? text->substr(0, text->find('\n')) : std::string();
}

std::optional<std::uint32_t> read_hex_number(const std::string& path) {
  const auto text = read_first_line(path);
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint32_t number = 0;
  const auto parsed = std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
  return parsed.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::optional<Adapter> read_adapter(const std::string& folder, const std::string& address) {
  const auto code = read_hex_number(folder + "/class");
  if (!code) return std::nullopt;
  const auto base = *code >> 16;
  if (base != display_class && base != accelerator_class) return std::nullopt;
  Adapter adapter;
  adapter.address = address;
  adapter.vendor = read_hex_number(folder + "/vendor").value_or(0);
  adapter.device = read_hex_number(folder + "/device").value_or(0);
  adapter.driver = read_driver(folder);
  adapter.runtime_status = read_first_line(folder + "/power/runtime_status");
  return adapter;
}

void append_item(std::string& list, const std::string& text) {
  list += (list.empty() ? "" : "; ") + text;
}

std::vector<Adapter> filter_by_vendor(std::uint32_t vendor, const std::vector<Adapter>& adapters) {
  std::vector<Adapter> matches;
  std::copy_if(adapters.begin(), adapters.end(), std::back_inserter(matches),
               [vendor](const Adapter& adapter) { return adapter.vendor == vendor; });
  return matches;
}

Finding inspect_nvidia_adapter(const Adapter& adapter, Site site) {
  const auto name = describe(adapter);
  if (adapter.driver == "nvidia")
    return make_fine(name + (adapter.runtime_status == "suspended" ? ", driver nvidia, asleep"
                                                              : ", driver nvidia"));
  if (adapter.driver == "nouveau" || adapter.driver == "nova_core")
    return make_trouble(
        fmt::format("{}: bound to {}, which does not report memory", name, adapter.driver),
        Problem::nouveau, site);
  if (adapter.driver == "vfio-pci")
    return make_note(name + ": handed over to a virtual machine (vfio-pci); it is measured in there");
  if (adapter.driver.empty())
    return make_trouble(name + ": no kernel driver is bound to it", Problem::no_nvidia_driver, site);
  return make_note(name + ", driver " + adapter.driver);
}

bool is_version(std::string_view word) {
  return !word.empty() && word.find('.') != std::string_view::npos &&
         word.find_first_not_of("0123456789.") == std::string_view::npos;
}

// Parses "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 …".
std::string kernel_module_version(std::string_view text) {
  while (!text.empty()) {
    const auto word = text.substr(0, text.find_first_of(" \n"));
    if (is_version(word)) return std::string(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return "of unknown version";
}

Finding inspect_control_node(const Roots& roots, Site site) {
  const auto node = roots.dev + "/nvidiactl";
  if (!path_exists(node)) return make_trouble(node + " is missing", Problem::no_nvidia_node, site);
  if (!is_accessible(node))
    return make_trouble(node + ": this user may not open it", Problem::closed_nvidia_node, site);
  return make_fine(node + " can be opened");
}

void inspect_kernel_module(const Roots& roots, bool is_expected, Site site, Section& section) {
  const auto version = read_text_file(roots.proc + "/driver/nvidia/version");
  if (version) {
    section.findings.push_back(make_fine("kernel module " + kernel_module_version(*version)));
    section.findings.push_back(inspect_control_node(roots, site));
  } else if (is_expected) {
    section.findings.push_back(
        make_trouble("the nvidia kernel module is not loaded", Problem::nvidia_not_loaded, site));
  }
}

// Inspects an adapter with a kernel DRM driver.
Finding inspect_adapter(const Adapter& adapter, const std::vector<hypomnesis::device>& devices,
                        Site site) {
  const auto name = describe(adapter);
  if (adapter.driver.empty())
    return make_trouble(name + ": no kernel driver is bound to it", Problem::no_kernel_driver, site);
  if (adapter.driver == "vfio-pci")
    return make_note(name + ": handed over to a virtual machine (vfio-pci); it is measured in there");
  const bool is_measured = std::any_of(devices.begin(), devices.end(), [&](const auto& device) {
    return device.pci_bus_id == adapter.address;
  });
  if (!is_measured)
    return make_note(name + ", driver " + adapter.driver + ": not measured, see below",
                Problem::no_render_node, site);
  return make_fine(name + ", driver " + adapter.driver +
              (adapter.runtime_status == "suspended" ? ", asleep" : ""));
}

Finding inspect_pid_namespace(const Roots& roots) {
  if (auto reason = procfs::explain_foreign_tree(roots.proc))
    return make_note(*std::move(reason), Problem::foreign_proc, Site::container);
  const auto namespace_link = read_link_target(roots.proc + "/self/ns/pid");
  if (!namespace_link) return make_note("PID namespace: not known");
  if (*namespace_link == procfs::initial_pid_namespace) return make_fine("PID namespace: the host's");
  return make_note(
      "PID namespace: not the host's; a driver that lists host pids cannot be matched with "
      "processes here",
      Problem::own_pid_namespace, Site::container);
}

using procfs::Capability;

Finding note_unreadable(std::string_view subject, const std::string& file) {
  return make_note(fmt::format("{}: not known, {} cannot be read", subject, file));
}

Finding inspect_user(const procfs::Rights& rights) {
  if (geteuid() != 0) return make_note(fmt::format("runs as user id {}", geteuid()));
  if (rights.is_in_user_namespace)
    return make_note("runs as root of a user namespace, without rights outside of it");
  return make_fine("runs as root");
}

Finding inspect_tracing(const procfs::Rights& rights, const MachineEvidence& evidence) {
  if (rights.is_in_user_namespace)
    return make_note(
        "processes outside of this user namespace cannot be inspected; what they use of a GPU is "
        "missing where the kernel driver would report it",
        Problem::own_user_namespace, evidence.site);
  if (rights.has(Capability::sys_ptrace) && evidence.has_refused_processes)
    return make_note("some processes cannot be inspected, even with CAP_SYS_PTRACE");
  if (rights.has(Capability::sys_ptrace))
    return make_fine("other users' processes can be inspected (CAP_SYS_PTRACE)");
  return make_note(
      "other users' processes cannot be inspected: no CAP_SYS_PTRACE; what they use of a GPU is "
      "missing where the kernel driver would report it",
      Problem::no_ptrace_right, evidence.site);
}

// Checks the right to watch the whole system, which i915 and xe require for used memory.
Finding inspect_watching(const procfs::Rights& rights, Site site) {
  if (rights.has(Capability::perfmon) || rights.has(Capability::sys_admin))
    return make_fine("used memory is readable from Intel's drivers (CAP_PERFMON)");
  return make_note(
      fmt::format("used memory is not readable from Intel's drivers: {}; it is unknown, or what "
                  "the processes that can be seen hold at least",
                  rights.is_in_user_namespace ? "CAP_PERFMON does not count in a user namespace"
                                              : "no CAP_PERFMON"),
      rights.is_in_user_namespace ? Problem::own_user_namespace : Problem::no_perfmon_right, site);
}

Finding inspect_proc_mount(const Roots& roots, Site site) {
  const auto mounts = read_text_file(roots.proc + "/mounts");
  // A caller that may inspect all processes sees the first one anyway.
  const bool is_first_visible = path_exists(roots.proc + "/1");
  if (!mounts && !is_first_visible)
    return note_unreadable("visibility of other users' processes", roots.proc + "/mounts");
  if (is_first_visible || mounts->find("hidepid=") == std::string::npos)
    return {Severity::fine, "other users' processes are visible in " + roots.proc, {}};
  return make_note(roots.proc + " hides other users' processes (hidepid)", Problem::hidden_processes,
              site);
}

// A node that is closed to the user costs a measured GPU some values at most.
Finding inspect_node(const std::string& node, bool is_measured, Site site) {
  if (is_accessible(node)) return make_fine(node + " can be opened");
  auto text = node + ": this user may not open it";
  return is_measured ? make_note(std::move(text), Problem::closed_render_node, site)
                     : make_trouble(std::move(text), Problem::closed_render_node, site);
}

bool has_render_minor(const std::vector<hypomnesis::device>& devices, std::string_view name) {
  return std::any_of(devices.begin(), devices.end(), [name](const hypomnesis::device& device) {
    return device.render_minor && fmt::format("renderD{}", *device.render_minor) == name;
  });
}

// A container, and the file or variable that identifies it.
struct ContainerMark {
  std::string runtime;
  std::string evidence;
};

std::optional<ContainerMark> find_container(const Roots& roots) {
  if (path_exists(roots.top + "/.dockerenv")) return ContainerMark{"Docker", "/.dockerenv"};
  if (path_exists(roots.top + "/run/.containerenv"))
    return ContainerMark{"Podman", "/run/.containerenv"};
  if (get_environment("KUBERNETES_SERVICE_HOST"))
    return ContainerMark{"Kubernetes", "KUBERNETES_SERVICE_HOST"};
  if (const auto groups = read_text_file(roots.proc + "/self/cgroup"))
    if (const auto container = procfs::parse_container(*groups); !container.empty())
      return ContainerMark{std::string(container.runtime), roots.proc + "/self/cgroup"};
  constexpr const char* manager = "/run/systemd/container";  // by systemd, of LXC and nspawn too
  if (const auto name = read_text_file(roots.top + manager))
    return ContainerMark{name->substr(0, name->find('\n')), manager};
  return std::nullopt;
}

// Only a cache that makes a difference is reported: a tenth of RAM.
std::optional<Finding> inspect_zfs(const Roots& roots,
                                   const std::optional<hypomnesis::system_memory>& memory) {
  const auto stat = read_text_file(roots.proc + "/spl/kstat/zfs/arcstats");
  const auto bytes = stat ? procfs::parse_zfs_cache(*stat) : std::nullopt;
  if (!bytes || !memory || !memory->total_bytes || *bytes < *memory->total_bytes / 10)
    return std::nullopt;
  return Finding{Severity::note,
                 fmt::format("ZFS' cache (ARC) has {} that it gives back when memory is short; "
                             "available and usable memory do not include them",
                             hypomnesis::format_bytes(*bytes)),
                 "limit it, on the host: echo BYTES > /sys/module/zfs/parameters/zfs_arc_max"};
}

}  // namespace

std::vector<Adapter> find_adapters(const Roots& roots) {
  const auto bus = roots.sys + "/bus/pci/devices";
  std::vector<Adapter> adapters;
  for (const auto& address : list_folder(bus))
    if (auto adapter = read_adapter(bus + "/" + address, address))
      adapters.push_back(*std::move(adapter));
  return adapters;
}

std::string describe(const Adapter& adapter) {
  return fmt::format(
      "{} {} [{:04x}:{:04x}]", adapter.address,
      vendor_name(static_cast<hypomnesis::vendor_id>(adapter.vendor)).value_or("GPU"),
      adapter.vendor, adapter.device);
}

std::optional<std::string> read_link_target(const std::string& path) {
  std::array<char, 4096> buffer;
  const auto length = readlink(path.c_str(), buffer.data(), buffer.size());
  if (length < 0) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(length));
}

std::string read_driver(const std::string& folder) {
  return last_part(read_link_target(folder + "/driver").value_or(""));
}

std::string find_kernel_driver(const hypomnesis::device& device) {
  const auto sys = read_roots().sys;
  std::string driver;
  if (device.render_minor)
    driver = read_driver(fmt::format("{}/class/drm/renderD{}/device", sys, *device.render_minor));
  if (driver.empty() && device.pci_bus_id)
    driver = read_driver(fmt::format("{}/bus/pci/devices/{}", sys, *device.pci_bus_id));
  return driver;
}

// Skips GPUs of NVIDIA's own driver, for which NVML reports more.
std::string list_unmeasured_gpus() {
  std::string list;
  for (const auto& adapter : find_adapters(read_roots())) {
    const auto name = describe(adapter);
    if (adapter.driver == "vfio-pci")
      append_item(list, name + " is handed over to a virtual machine (vfio-pci)");
    else if (adapter.vendor != HMN_VENDOR_AMD && adapter.vendor != HMN_VENDOR_INTEL)
      continue;
    else if (adapter.driver.empty())
      append_item(list, name + " has no kernel driver");
    else
      append_item(list, fmt::format("the driver {} shows no GPU for {}", adapter.driver, name));
  }
  return list;
}

bool is_accessible(const std::string& path) {
  return access(path.c_str(), R_OK | W_OK) == 0;
}

Site find_site(const Roots& roots) {
  return find_container(roots) ? Site::container : Site::host;
}

Section inspect_nvidia(const Roots& roots, const std::vector<Adapter>& adapters,
                       const NvidiaBackends& backends, Site site) {
  Section section{"NVIDIA", {}};
  const auto nvidia_adapters = filter_by_vendor(HMN_VENDOR_NVIDIA, adapters);
  for (const auto& adapter : nvidia_adapters)
    section.findings.push_back(inspect_nvidia_adapter(adapter, site));
  const bool has_wsl = path_exists(roots.dev + "/dxg");
  if (has_wsl) section.findings.push_back(make_fine(roots.dev + "/dxg: GPUs of the Windows host (WSL)"));
  if (nvidia_adapters.empty() && !has_wsl)
    section.findings.push_back(make_note("no NVIDIA GPU on the PCI bus"));
  const bool has_nvidia_driver =
      std::any_of(nvidia_adapters.begin(), nvidia_adapters.end(),
                  [](const Adapter& adapter) { return adapter.driver == "nvidia"; });
  inspect_kernel_module(roots, has_nvidia_driver, site, section);

  const bool is_needed = has_nvidia_driver || has_wsl;
  const bool is_nvml_ready = backends.nvml && backends.nvml->state == hypomnesis::run_state::ready;
  if (backends.nvml)
    section.findings.push_back(inspect_backend("NVML", *backends.nvml, is_needed, site));
  if (backends.nvidia_smi)
    section.findings.push_back(
        inspect_backend("nvidia-smi", *backends.nvidia_smi, is_needed && !is_nvml_ready, site));
  return section;
}

Section inspect_vendor(std::uint32_t vendor, const std::vector<Adapter>& adapters,
                       const std::vector<hypomnesis::device>& devices, Site site) {
  const auto name =
      std::string(vendor_name(static_cast<hypomnesis::vendor_id>(vendor)).value_or(""));
  Section section{name, {}};
  for (const auto& adapter : filter_by_vendor(vendor, adapters))
    section.findings.push_back(inspect_adapter(adapter, devices, site));
  if (section.findings.empty())
    section.findings.push_back(make_note("no " + name + " GPU on the PCI bus"));
  return section;
}

Section inspect_container(const Roots& roots,
                          const std::optional<hypomnesis::system_memory>& memory) {
  Section section{"Container", {}};
  if (const auto container = find_container(roots))
    section.findings.push_back(
        make_note(fmt::format("this is a {} container ({})", container->runtime, container->evidence)));
  section.findings.push_back(inspect_pid_namespace(roots));
  section.findings.push_back(inspect_memory_limit(
      memory, fmt::format("the control groups of {}/self/cgroup are not understood or not mounted "
                          "here, or a limit cannot be read",
                          roots.proc)));
  return section;
}

// Orders the sections as a reader would ask: GPUs, sources, rights of this process.
std::vector<Section> inspect_machine(const MachineEvidence& evidence) {
  const auto roots = read_roots();
  const auto adapters = find_adapters(roots);
  std::vector<Section> sections{
      inspect_nvidia(roots, adapters, evidence.nvidia, evidence.site),
      inspect_vendor(HMN_VENDOR_AMD, adapters, evidence.devices, evidence.site),
      inspect_vendor(HMN_VENDOR_INTEL, adapters, evidence.devices, evidence.site)};
  sections.push_back(evidence.sources);
  sections.push_back(inspect_container(roots, evidence.memory));
  if (auto cache = inspect_zfs(roots, evidence.memory))
    sections.push_back({"Host memory", {*std::move(cache)}});
  sections.push_back(inspect_permissions(roots, adapters, evidence));
  return sections;
}

Section inspect_permissions(const Roots& roots, const std::vector<Adapter>& adapters,
                            const MachineEvidence& evidence) {
  Section section{"Permissions", {}};
  const auto rights = procfs::read_own_rights(roots.proc);
  section.findings.push_back(inspect_user(rights));
  section.findings.push_back(inspect_proc_mount(roots, evidence.site));
  if (!rights.effective) {
    section.findings.push_back(note_unreadable("capabilities", roots.proc + "/self/status"));
  } else {
    section.findings.push_back(inspect_tracing(rights, evidence));
    if (!filter_by_vendor(HMN_VENDOR_INTEL, adapters).empty())
      section.findings.push_back(inspect_watching(rights, evidence.site));
  }
  for (const auto& name : list_folder(roots.dev + "/dri"))
    if (name.starts_with("renderD"))
      section.findings.push_back(inspect_node(
          roots.dev + "/dri/" + name, has_render_minor(evidence.devices, name), evidence.site));
  return section;
}

Site detect_site() {
  return find_site(read_roots());
}

std::string_view explain_slow_drivers() {
  if (!path_exists(read_roots().proc + "/driver/nvidia")) return {};
  return "; without persistence mode NVIDIA's takes seconds to start "
         "(to keep it loaded, run nvidia-persistenced or nvidia-smi -pm 1)";
}

}  // namespace hmn::cli
