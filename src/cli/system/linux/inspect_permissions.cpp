// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "cli/system/file.hpp"
#include "cli/system/linux/inspect.hpp"

namespace hmn::cli {
namespace {

// Linux' numbers (include/uapi/linux/capability.h).
constexpr unsigned sys_ptrace = 19, sys_admin = 21, perfmon = 38;

// The line CapEff of /proc/self/status.
std::uint64_t effective_capabilities(const roots& in) {
  constexpr std::string_view key = "CapEff:\t";
  const auto text = read_text_file(in.proc + "/self/status").value_or("");
  const auto start = text.find(key);
  if (start == std::string::npos) return 0;
  std::uint64_t bits = 0;
  std::from_chars(text.data() + start + key.size(), text.data() + text.size(), bits, 16);
  return bits;
}

std::string set_capability(std::string_view name) {
  return fmt::format("run as root, or once: setcap {}+ep \"$(command -v hmn)\"", name);
}

finding inspect_tracing(std::uint64_t capabilities) {
  if ((capabilities >> sys_ptrace & 1) != 0)
    return {verdict::fine, "other users' processes can be looked into (CAP_SYS_PTRACE)", {}};
  return {verdict::note,
          "other users' processes cannot be looked into: no CAP_SYS_PTRACE; what they use of a GPU "
          "is missing where its kernel driver tells it",
          set_capability("cap_sys_ptrace")};
}

// i915 and xe tell used memory to those alone who may watch the whole system.
finding inspect_watching(std::uint64_t capabilities) {
  if (((capabilities >> perfmon | capabilities >> sys_admin) & 1) != 0)
    return {verdict::fine, "Intel's drivers tell used memory (CAP_PERFMON)", {}};
  return {verdict::note,
          "Intel's drivers do not tell used memory: no CAP_PERFMON; it is unknown, or what the "
          "processes that can be seen hold at least",
          set_capability("cap_perfmon")};
}

finding inspect_proc_mount(const roots& in) {
  const auto mounts = read_text_file(in.proc + "/mounts").value_or("");
  // A caller who may look into all sees the first process all the same.
  if (mounts.find("hidepid=") == std::string::npos || is_there(in.proc + "/1"))
    return {verdict::fine, "other users' processes are visible in " + in.proc, {}};
  return {verdict::trouble, in.proc + " hides other users' processes (hidepid)",
          "run as root, or join the group named by the mount's gid= option"};
}

finding inspect_node(const std::string& node) {
  if (usable(node)) return {verdict::fine, node + " can be opened", {}};
  return {verdict::trouble, node + ": this user may not open it",
          "join the group that owns it, often `render`"};
}

}  // namespace

section inspect_permissions(const roots& in, const std::vector<adapter>& adapters) {
  section out{"Permissions", {}};
  const auto capabilities = effective_capabilities(in);
  const bool root = geteuid() == 0;
  out.findings.push_back({root ? verdict::fine : verdict::note,
                          root ? "runs as root" : fmt::format("runs as user id {}", geteuid()),
                          {}});
  out.findings.push_back(inspect_proc_mount(in));
  out.findings.push_back(inspect_tracing(capabilities));
  if (std::any_of(adapters.begin(), adapters.end(),
                  [](const adapter& each) { return each.vendor == HMN_VENDOR_INTEL; }))
    out.findings.push_back(inspect_watching(capabilities));
  for (const auto& name : list_folder(in.dev + "/dri"))
    if (name.starts_with("renderD")) out.findings.push_back(inspect_node(in.dev + "/dri/" + name));
  return out;
}

}  // namespace hmn::cli
