// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/linux/inspect.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/size.hpp"
#include "cli/system/file.hpp"
#include "cli/system/inspect.hpp"
#include "cli/words.hpp"

namespace hmn::cli {
bool usable(const std::string& path) {
  return access(path.c_str(), R_OK | W_OK) == 0;
}

namespace {

std::vector<adapter> made_by(std::uint32_t vendor, const std::vector<adapter>& adapters) {
  std::vector<adapter> own;
  std::copy_if(adapters.begin(), adapters.end(), std::back_inserter(own),
               [vendor](const adapter& each) { return each.vendor == vendor; });
  return own;
}

finding inspect_nvidia_adapter(const adapter& of) {
  const auto who = describe(of);
  if (of.driver == "nvidia")
    return fine(who +
                (of.runtime_status == "suspended" ? ", driver nvidia, asleep" : ", driver nvidia"));
  if (of.driver == "nouveau")
    return trouble(who + ": bound to nouveau, which tells no memory figures",
                   "install NVIDIA's own driver; it replaces nouveau");
  if (of.driver == "vfio-pci")
    return note(who + ": handed over to a virtual machine (vfio-pci); it is measured in there");
  if (of.driver.empty())
    return trouble(who + ": no kernel driver is bound to it",
                   "install NVIDIA's driver, then load it: modprobe nvidia");
  return note(who + ", driver " + of.driver);
}

bool is_version(std::string_view word) {
  return !word.empty() && word.find('.') != std::string_view::npos &&
         word.find_first_not_of("0123456789.") == std::string_view::npos;
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 …"
std::string kernel_module_version(std::string_view text) {
  while (!text.empty()) {
    const auto word = text.substr(0, text.find_first_of(" \n"));
    if (is_version(word)) return std::string(word);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return "of unknown version";
}

finding inspect_control_node(const roots& in) {
  const auto node = in.dev + "/nvidiactl";
  if (!is_there(node))
    return trouble(node + " is missing",
                   "outside a container run nvidia-modprobe or nvidia-smi once as root; start a "
                   "container with --gpus all (NVIDIA Container Toolkit)");
  if (!usable(node))
    return trouble(node + ": this user may not open it",
                   "look at its owner with ls -l and join that group, or mend the udev rule");
  return fine(node + " can be opened");
}

void inspect_kernel_module(const roots& in, bool expected, section& into) {
  const auto version = read_text_file(in.proc + "/driver/nvidia/version");
  if (version) {
    into.findings.push_back(fine("kernel module " + kernel_module_version(*version)));
    into.findings.push_back(inspect_control_node(in));
  } else if (expected) {
    into.findings.push_back(trouble("the nvidia kernel module is not loaded",
                                    "modprobe nvidia; dmesg | grep -i nvrm tells why it fails"));
  }
}

// Of a kernel DRM driver.
finding inspect_adapter(const adapter& of, const std::vector<hmn_device>& measured) {
  const auto who = describe(of);
  if (of.driver.empty())
    return trouble(who + ": no kernel driver is bound to it",
                   "load its driver; dmesg tells why it did not bind");
  if (of.driver == "vfio-pci")
    return note(who + ": handed over to a virtual machine (vfio-pci); it is measured in there");
  const bool listed = std::any_of(measured.begin(), measured.end(), [&](const auto& each) {
    return has(each, HMN_DEVICE_HAS_PCI) && each.pci_bus_id == of.address;
  });
  if (!listed) return note(who + ", driver " + of.driver + ": not measured, see below");
  return fine(who + ", driver " + of.driver + (of.runtime_status == "suspended" ? ", asleep" : ""));
}

// A proc tree that a container has from elsewhere: its processes are those of its own namespace.
std::optional<finding> inspect_foreign_tree(const roots& in) {
  const auto self = read_link_target(in.proc + "/self");
  if (!self && is_there(in.proc + "/self")) return std::nullopt;
  if (!self)
    return finding{verdict::note,
                   in.proc + " does not show this process: it is the tree of another PID namespace",
                   "mount the proc tree of a namespace that this process is in"};
  if (*self == fmt::to_string(getpid())) return std::nullopt;
  return note(
      fmt::format("{} is the tree of another PID namespace, where this process is {}; pids "
                  "are those of that tree",
                  in.proc, *self));
}

finding inspect_pid_namespace(const roots& in) {
  if (auto foreign = inspect_foreign_tree(in)) return *std::move(foreign);
  // PROC_PID_INIT_INO of the Linux kernel (include/linux/proc_ns.h).
  constexpr std::string_view initial = "pid:[4026531836]";
  const auto own = read_link_target(in.proc + "/self/ns/pid");
  if (!own) return note("PID namespace: not known");
  if (*own == initial) return fine("PID namespace: the host's");
  return {verdict::note,
          "PID namespace: not the host's; a driver that lists host pids cannot be matched with "
          "processes here",
          "share the host's namespace (docker run --pid=host) to see names and own use"};
}

}  // namespace

section inspect_nvidia(const roots& in, const std::vector<adapter>& adapters,
                       const nvidia_backends& backends) {
  section out{"NVIDIA", {}};
  const auto own = made_by(HMN_VENDOR_NVIDIA, adapters);
  for (const auto& each : own) out.findings.push_back(inspect_nvidia_adapter(each));
  const bool wsl = is_there(in.dev + "/dxg");
  if (wsl) out.findings.push_back(fine(in.dev + "/dxg: GPUs of the Windows host (WSL)"));
  if (own.empty() && !wsl) out.findings.push_back(note("no NVIDIA GPU on the PCI bus"));
  const bool driven = std::any_of(own.begin(), own.end(),
                                  [](const adapter& each) { return each.driver == "nvidia"; });
  inspect_kernel_module(in, driven, out);

  const bool needed = driven || wsl;
  const bool served = backends.nvml && backends.nvml->state == HMN_STATE_READY;
  if (backends.nvml) out.findings.push_back(inspect_backend("NVML", *backends.nvml, needed));
  if (backends.nvidia_smi)
    out.findings.push_back(inspect_backend("nvidia-smi", *backends.nvidia_smi, needed && !served));
  return out;
}

section inspect_vendor(std::uint32_t vendor, const std::vector<adapter>& adapters,
                       const std::vector<hmn_device>& measured) {
  const auto name = std::string(vendor_name(vendor).value_or(""));
  section out{name, {}};
  for (const auto& each : made_by(vendor, adapters))
    out.findings.push_back(inspect_adapter(each, measured));
  if (out.findings.empty()) out.findings.push_back(note("no " + name + " GPU on the PCI bus"));
  return out;
}

section inspect_container(const roots& in, const std::optional<hmn_system_memory>& memory) {
  section out{"Container", {}};
  if (is_there(in.top + "/.dockerenv"))
    out.findings.push_back(note("this is a Docker container (/.dockerenv)"));
  if (is_there(in.top + "/run/.containerenv"))
    out.findings.push_back(note("this is a Podman container (/run/.containerenv)"));
  out.findings.push_back(inspect_pid_namespace(in));
  if (memory && (memory->present & HMN_SYSTEM_MEMORY_HAS_LIMIT) != 0)
    out.findings.push_back(note(fmt::format("memory limit {} of {}", size_text(memory->limit_bytes),
                                            (memory->present & HMN_SYSTEM_MEMORY_HAS_TOTAL) != 0
                                                ? size_text(memory->total_bytes)
                                                : "?")));
  else
    out.findings.push_back(fine("no memory limit applies"));
  return out;
}

// In the order of a reader's questions: the cards, the sources, what this process may see.
std::vector<section> inspect_machine(const machine_evidence& seen) {
  const auto in = roots_from_environment();
  const auto adapters = find_adapters(in);
  std::vector<section> report{inspect_nvidia(in, adapters, seen.nvidia),
                              inspect_vendor(HMN_VENDOR_AMD, adapters, seen.devices),
                              inspect_vendor(HMN_VENDOR_INTEL, adapters, seen.devices)};
  report.push_back(seen.sources);
  report.push_back(inspect_container(in, seen.memory));
  report.push_back(inspect_permissions(in, adapters));
  return report;
}

}  // namespace hmn::cli
