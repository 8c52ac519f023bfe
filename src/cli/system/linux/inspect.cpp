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

std::string first_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

std::string line_of(const std::string& path) {
  const auto text = read_text_file(path);
  return text ? first_line(*text) : std::string();
}

std::optional<std::uint32_t> hex_number(const std::string& path) {
  const auto text = line_of(path);
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint32_t number = 0;
  const auto parsed = std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
  return parsed.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::optional<Adapter> adapter_at(const std::string& folder, const std::string& address) {
  const auto code = hex_number(folder + "/class");
  if (!code) return std::nullopt;
  const auto base = *code >> 16;
  if (base != display_class && base != accelerator_class) return std::nullopt;
  Adapter found;
  found.address = address;
  found.vendor = hex_number(folder + "/vendor").value_or(0);
  found.device = hex_number(folder + "/device").value_or(0);
  found.driver = driver_in(folder);
  found.runtime_status = line_of(folder + "/power/runtime_status");
  return found;
}

void append(std::string& list, const std::string& text) {
  list += (list.empty() ? "" : "; ") + text;
}

std::vector<Adapter> made_by(std::uint32_t vendor, const std::vector<Adapter>& adapters) {
  std::vector<Adapter> own;
  std::copy_if(adapters.begin(), adapters.end(), std::back_inserter(own),
               [vendor](const Adapter& each) { return each.vendor == vendor; });
  return own;
}

Finding inspect_nvidia_adapter(const Adapter& of, Site at) {
  const auto who = describe(of);
  if (of.driver == "nvidia")
    return fine(who +
                (of.runtime_status == "suspended" ? ", driver nvidia, asleep" : ", driver nvidia"));
  if (of.driver == "nouveau" || of.driver == "nova_core")
    return trouble(fmt::format("{}: bound to {}, which does not report memory", who, of.driver),
                   Problem::nouveau, at);
  if (of.driver == "vfio-pci")
    return note(who + ": handed over to a virtual machine (vfio-pci); it is measured in there");
  if (of.driver.empty())
    return trouble(who + ": no kernel driver is bound to it", Problem::no_nvidia_driver, at);
  return note(who + ", driver " + of.driver);
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

Finding inspect_control_node(const Roots& in, Site at) {
  const auto node = in.dev + "/nvidiactl";
  if (!is_there(node)) return trouble(node + " is missing", Problem::no_nvidia_node, at);
  if (!usable(node))
    return trouble(node + ": this user may not open it", Problem::closed_nvidia_node, at);
  return fine(node + " can be opened");
}

void inspect_kernel_module(const Roots& in, bool expected, Site at, Section& into) {
  const auto version = read_text_file(in.proc + "/driver/nvidia/version");
  if (version) {
    into.findings.push_back(fine("kernel module " + kernel_module_version(*version)));
    into.findings.push_back(inspect_control_node(in, at));
  } else if (expected) {
    into.findings.push_back(
        trouble("the nvidia kernel module is not loaded", Problem::nvidia_not_loaded, at));
  }
}

// Inspects an adapter with a kernel DRM driver.
Finding inspect_adapter(const Adapter& of, const std::vector<hypomnesis::device>& measured,
                        Site at) {
  const auto who = describe(of);
  if (of.driver.empty())
    return trouble(who + ": no kernel driver is bound to it", Problem::no_kernel_driver, at);
  if (of.driver == "vfio-pci")
    return note(who + ": handed over to a virtual machine (vfio-pci); it is measured in there");
  const bool listed = std::any_of(measured.begin(), measured.end(),
                                  [&](const auto& each) { return each.pci_bus_id == of.address; });
  if (!listed)
    return note(who + ", driver " + of.driver + ": not measured, see below",
                Problem::no_render_node, at);
  return fine(who + ", driver " + of.driver + (of.runtime_status == "suspended" ? ", asleep" : ""));
}

Finding inspect_pid_namespace(const Roots& in) {
  if (auto why = procfs::why_foreign(in.proc))
    return note(*std::move(why), Problem::foreign_proc, Site::container);
  const auto own = read_link_target(in.proc + "/self/ns/pid");
  if (!own) return note("PID namespace: not known");
  if (*own == procfs::initial_pid_namespace) return fine("PID namespace: the host's");
  return note(
      "PID namespace: not the host's; a driver that lists host pids cannot be matched with "
      "processes here",
      Problem::own_pid_namespace, Site::container);
}

using procfs::Capability;

Finding unread(std::string_view what, const std::string& file) {
  return note(fmt::format("{}: not known, {} cannot be read", what, file));
}

Finding inspect_user(const procfs::Rights& own) {
  if (geteuid() != 0) return note(fmt::format("runs as user id {}", geteuid()));
  if (own.is_in_user_namespace)
    return note("runs as root of a user namespace, without rights outside of it");
  return fine("runs as root");
}

Finding inspect_tracing(const procfs::Rights& own, const MachineEvidence& seen) {
  if (own.is_in_user_namespace)
    return note(
        "processes outside of this user namespace cannot be inspected; what they use of a GPU is "
        "missing where the kernel driver would report it",
        Problem::own_user_namespace, seen.at);
  if (own.hold(Capability::sys_ptrace) && seen.has_refused_processes)
    return note("some processes cannot be inspected, even with CAP_SYS_PTRACE");
  if (own.hold(Capability::sys_ptrace))
    return fine("other users' processes can be inspected (CAP_SYS_PTRACE)");
  return note(
      "other users' processes cannot be inspected: no CAP_SYS_PTRACE; what they use of a GPU is "
      "missing where the kernel driver would report it",
      Problem::no_tracing_right, seen.at);
}

// Checks the right to watch the whole system, which i915 and xe require for used memory.
Finding inspect_watching(const procfs::Rights& own, Site at) {
  if (own.hold(Capability::perfmon) || own.hold(Capability::sys_admin))
    return fine("used memory is readable from Intel's drivers (CAP_PERFMON)");
  return note(
      fmt::format("used memory is not readable from Intel's drivers: {}; it is unknown, or what "
                  "the processes that can be seen hold at least",
                  own.is_in_user_namespace ? "CAP_PERFMON does not count in a user namespace"
                                           : "no CAP_PERFMON"),
      own.is_in_user_namespace ? Problem::own_user_namespace : Problem::no_watching_right, at);
}

Finding inspect_proc_mount(const Roots& in, Site at) {
  const auto mounts = read_text_file(in.proc + "/mounts");
  // A caller that may inspect all processes sees the first one anyway.
  const bool is_first_seen = is_there(in.proc + "/1");
  if (!mounts && !is_first_seen)
    return unread("visibility of other users' processes", in.proc + "/mounts");
  if (is_first_seen || mounts->find("hidepid=") == std::string::npos)
    return {Severity::fine, "other users' processes are visible in " + in.proc, {}};
  return note(in.proc + " hides other users' processes (hidepid)", Problem::hidden_processes, at);
}

// A node that is closed to the user costs a measured GPU some values at most.
Finding inspect_node(const std::string& node, bool is_measured, Site at) {
  if (usable(node)) return fine(node + " can be opened");
  auto text = node + ": this user may not open it";
  return is_measured ? note(std::move(text), Problem::closed_render_node, at)
                     : trouble(std::move(text), Problem::closed_render_node, at);
}

bool has_render_minor(const std::vector<hypomnesis::device>& measured, std::string_view name) {
  return std::any_of(measured.begin(), measured.end(), [name](const hypomnesis::device& each) {
    return each.render_minor && fmt::format("renderD{}", *each.render_minor) == name;
  });
}

// A container as its runtime marks it, and by what.
struct ContainerMark {
  std::string runtime;
  std::string by;
};

std::optional<ContainerMark> find_container(const Roots& in) {
  if (is_there(in.top + "/.dockerenv")) return ContainerMark{"Docker", "/.dockerenv"};
  if (is_there(in.top + "/run/.containerenv")) return ContainerMark{"Podman", "/run/.containerenv"};
  if (environment_value("KUBERNETES_SERVICE_HOST"))
    return ContainerMark{"Kubernetes", "KUBERNETES_SERVICE_HOST"};
  if (const auto groups = read_text_file(in.proc + "/self/cgroup"))
    if (const auto found = procfs::parse_container(*groups); !found.empty())
      return ContainerMark{std::string(found.runtime), in.proc + "/self/cgroup"};
  constexpr const char* manager = "/run/systemd/container";  // by systemd, of LXC and nspawn too
  if (const auto name = read_text_file(in.top + manager))
    return ContainerMark{name->substr(0, name->find('\n')), manager};
  return std::nullopt;
}

// Only a cache that makes a difference is reported: a tenth of RAM.
std::optional<Finding> inspect_zfs(const Roots& in,
                                   const std::optional<hypomnesis::system_memory>& memory) {
  const auto stat = read_text_file(in.proc + "/spl/kstat/zfs/arcstats");
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

std::vector<Adapter> find_adapters(const Roots& in) {
  const auto bus = in.sys + "/bus/pci/devices";
  std::vector<Adapter> found;
  for (const auto& address : list_folder(bus))
    if (auto one = adapter_at(bus + "/" + address, address)) found.push_back(*std::move(one));
  return found;
}

std::string describe(const Adapter& of) {
  return fmt::format("{} {} [{:04x}:{:04x}]", of.address,
                     vendor_name(static_cast<hypomnesis::vendor_id>(of.vendor)).value_or("GPU"),
                     of.vendor, of.device);
}

std::optional<std::string> read_link_target(const std::string& path) {
  std::array<char, 4096> buffer;
  const auto length = readlink(path.c_str(), buffer.data(), buffer.size());
  if (length < 0) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(length));
}

std::string driver_in(const std::string& folder) {
  return last_part(read_link_target(folder + "/driver").value_or(""));
}

std::string kernel_driver(const hypomnesis::device& of) {
  const auto sys = roots_from_environment().sys;
  std::string driver;
  if (of.render_minor)
    driver = driver_in(fmt::format("{}/class/drm/renderD{}/device", sys, *of.render_minor));
  if (driver.empty() && of.pci_bus_id)
    driver = driver_in(fmt::format("{}/bus/pci/devices/{}", sys, *of.pci_bus_id));
  return driver;
}

// Skips GPUs of NVIDIA's own driver, for which NVML reports more.
std::string unmeasured_gpus() {
  std::string list;
  for (const auto& each : find_adapters(roots_from_environment())) {
    const auto who = describe(each);
    if (each.driver == "vfio-pci")
      append(list, who + " is handed over to a virtual machine (vfio-pci)");
    else if (each.vendor != HMN_VENDOR_AMD && each.vendor != HMN_VENDOR_INTEL)
      continue;
    else if (each.driver.empty())
      append(list, who + " has no kernel driver");
    else
      append(list, fmt::format("the driver {} shows no GPU for {}", each.driver, who));
  }
  return list;
}

bool usable(const std::string& path) {
  return access(path.c_str(), R_OK | W_OK) == 0;
}

Site site_in(const Roots& in) {
  return find_container(in) ? Site::container : Site::host;
}

Section inspect_nvidia(const Roots& in, const std::vector<Adapter>& adapters,
                       const NvidiaBackends& backends, Site at) {
  Section out{"NVIDIA", {}};
  const auto own = made_by(HMN_VENDOR_NVIDIA, adapters);
  for (const auto& each : own) out.findings.push_back(inspect_nvidia_adapter(each, at));
  const bool wsl = is_there(in.dev + "/dxg");
  if (wsl) out.findings.push_back(fine(in.dev + "/dxg: GPUs of the Windows host (WSL)"));
  if (own.empty() && !wsl) out.findings.push_back(note("no NVIDIA GPU on the PCI bus"));
  const bool driven = std::any_of(own.begin(), own.end(),
                                  [](const Adapter& each) { return each.driver == "nvidia"; });
  inspect_kernel_module(in, driven, at, out);

  const bool needed = driven || wsl;
  const bool served = backends.nvml && backends.nvml->state == hypomnesis::run_state::ready;
  if (backends.nvml) out.findings.push_back(inspect_backend("NVML", *backends.nvml, needed, at));
  if (backends.nvidia_smi)
    out.findings.push_back(
        inspect_backend("nvidia-smi", *backends.nvidia_smi, needed && !served, at));
  return out;
}

Section inspect_vendor(std::uint32_t vendor, const std::vector<Adapter>& adapters,
                       const std::vector<hypomnesis::device>& measured, Site at) {
  const auto name =
      std::string(vendor_name(static_cast<hypomnesis::vendor_id>(vendor)).value_or(""));
  Section out{name, {}};
  for (const auto& each : made_by(vendor, adapters))
    out.findings.push_back(inspect_adapter(each, measured, at));
  if (out.findings.empty()) out.findings.push_back(note("no " + name + " GPU on the PCI bus"));
  return out;
}

Section inspect_container(const Roots& in, const std::optional<hypomnesis::system_memory>& memory) {
  Section out{"Container", {}};
  if (const auto found = find_container(in))
    out.findings.push_back(
        note(fmt::format("this is a {} container ({})", found->runtime, found->by)));
  out.findings.push_back(inspect_pid_namespace(in));
  out.findings.push_back(inspect_memory_limit(
      memory, fmt::format("the control groups of {}/self/cgroup are not understood or not mounted "
                          "here, or a limit cannot be read",
                          in.proc)));
  return out;
}

// Orders the sections as a reader would ask: cards, sources, rights of this process.
std::vector<Section> inspect_machine(const MachineEvidence& seen) {
  const auto in = roots_from_environment();
  const auto adapters = find_adapters(in);
  std::vector<Section> report{inspect_nvidia(in, adapters, seen.nvidia, seen.at),
                              inspect_vendor(HMN_VENDOR_AMD, adapters, seen.devices, seen.at),
                              inspect_vendor(HMN_VENDOR_INTEL, adapters, seen.devices, seen.at)};
  report.push_back(seen.sources);
  report.push_back(inspect_container(in, seen.memory));
  if (auto cache = inspect_zfs(in, seen.memory))
    report.push_back({"Host memory", {*std::move(cache)}});
  report.push_back(inspect_permissions(in, adapters, seen));
  return report;
}

Section inspect_permissions(const Roots& in, const std::vector<Adapter>& adapters,
                            const MachineEvidence& seen) {
  Section out{"Permissions", {}};
  const auto own = procfs::own_rights(in.proc);
  out.findings.push_back(inspect_user(own));
  out.findings.push_back(inspect_proc_mount(in, seen.at));
  if (!own.effective) {
    out.findings.push_back(unread("capabilities", in.proc + "/self/status"));
  } else {
    out.findings.push_back(inspect_tracing(own, seen));
    if (!made_by(HMN_VENDOR_INTEL, adapters).empty())
      out.findings.push_back(inspect_watching(own, seen.at));
  }
  for (const auto& name : list_folder(in.dev + "/dri"))
    if (name.starts_with("renderD"))
      out.findings.push_back(
          inspect_node(in.dev + "/dri/" + name, has_render_minor(seen.devices, name), seen.at));
  return out;
}

Site own_site() {
  return site_in(roots_from_environment());
}

std::string_view why_drivers_are_slow() {
  if (!is_there(roots_from_environment().proc + "/driver/nvidia")) return {};
  return "; without persistence mode NVIDIA's takes seconds to start "
         "(to keep it loaded, run nvidia-persistenced or nvidia-smi -pm 1)";
}

}  // namespace hmn::cli
