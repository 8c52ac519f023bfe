// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "cli/system/environment.hpp"
#include "cli/text/unicode.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::backend_id;
using hypomnesis::domain;
using hypomnesis::reason_id;
using hypomnesis::run_state;
using hypomnesis::status_code;

struct Remedy {
  Problem of;
  std::string_view on_host;
  std::string_view in_container = on_host;
};

constexpr std::string_view give_nvidia =
    "start the container with the GPU: docker run --gpus all, podman run --device "
    "nvidia.com/gpu=all (NVIDIA Container Toolkit), in Kubernetes a request of nvidia.com/gpu";

// In the order of the problems.
constexpr Remedy remedies[] = {
    {Problem::nouveau, "install NVIDIA's own driver, which takes its place",
     "install NVIDIA's own driver on the host, where it takes its place"},
    {Problem::no_nvidia_driver, "install NVIDIA's driver, then load it: modprobe nvidia",
     "install NVIDIA's driver on the host and load it there, then start the container again"},
    {Problem::nvidia_not_loaded,
     "modprobe nvidia; for the reason of a failure see dmesg | grep -i nvrm",
     "on the host: modprobe nvidia (for the reason of a failure: dmesg | grep -i nvrm); then start "
     "the container again, with the GPU"},
    {Problem::no_nvidia_node, "run nvidia-modprobe or nvidia-smi once as root", give_nvidia},
    {Problem::closed_nvidia_node,
     "look at its owner with ls -l and join that group, or mend the udev rule",
     "start the container as a user who may open it, or with --group-add and the number of the "
     "group that owns it"},
    {Problem::no_nvidia_library,
     "install the driver's libraries and nvidia-smi, in the version of the kernel module",
     "start the container with NVIDIA_DRIVER_CAPABILITIES=utility, or all, and the GPU: docker run "
     "--gpus all, podman run --device nvidia.com/gpu=all (NVIDIA Container Toolkit)"},
    {Problem::wrong_nvml_path, "correct HMN_NVML, or unset it: what it names cannot be used"},
    {Problem::wrong_nvidia_smi_path,
     "correct HMN_NVIDIA_SMI, or unset it: what it names cannot be used"},
    {Problem::nvidia_mismatch, "reload the nvidia modules, or reboot",
     "start the container again, which takes the libraries that the host has now; if they differ "
     "still, reload the nvidia modules on the host, or reboot it"},
    {Problem::nvidia_blocked,
     "let the service use /dev/nvidia* (of systemd: DeviceAllow= and DevicePolicy=)", give_nvidia},
    {Problem::nvidia_unknown_error, "see dmesg for NVRM lines; a reboot may help",
     "start the container again: it loses its devices where systemd is reloaded on the host; if "
     "that does not help, see dmesg there"},
    {Problem::nvidia_other_error, "see dmesg for NVRM and Xid lines",
     "see dmesg on the host for NVRM and Xid lines"},
    {Problem::needs_power_cables, "attach the card's power cables"},
    {Problem::no_kernel_driver, "load its driver; for the reason of a failure see dmesg",
     "load its driver on the host; for the reason of a failure see dmesg there"},
    {Problem::no_render_node, "see dmesg for why its driver shows no GPU",
     "start the container with its nodes: --device /dev/dri, and for ROCm that of kfd; in "
     "Kubernetes with a request of the vendor's device plugin (amd.com/gpu, gpu.intel.com/xe)"},
    {Problem::closed_render_node, "join the group that owns it, often `render`",
     "start the container with --group-add and the number of the group that owns it, on the host "
     "often `render`"},
    {Problem::hidden_processes, "run as root, or join the group named by the mount's gid= option"},
    {Problem::foreign_proc, "mount the proc tree of a namespace that this process is in"},
    {Problem::own_pid_namespace,
     "share the host's namespace (docker run --pid=host, in Kubernetes hostPID) to see names and "
     "own use"},
    {Problem::own_user_namespace, "run hmn as root outside of this user namespace",
     "run hmn as root on the host, or in a container that has the right and no user namespace of "
     "its own (not a rootless one)"},
    {Problem::no_tracing_right,
     "run as root, or once: setcap cap_sys_ptrace+ep \"$(command -v hmn)\"",
     "run as root, in a container that has the right (--cap-add SYS_PTRACE)"},
    {Problem::no_watching_right,
     "run as root, or once: setcap cap_perfmon+ep \"$(command -v hmn)\"",
     "run as root, in a container that has the right (--cap-add PERFMON)"},
    {Problem::no_driver,
     "install and load the GPU's driver, with its libraries; for the reason of a failure see the "
     "system's log",
     "load the GPU's driver on the host, then start the container with the GPU: --gpus all for "
     "NVIDIA's, else --device /dev/dri, and for ROCm the node of kfd"},
    {Problem::no_host_files,
     "mount procfs and sysfs, or name other folders with HMN_PROC and HMN_SYS"},
    {Problem::not_permitted, "run as root, or let the administrator allow it",
     "run as root, in a container that has the right"},
    {Problem::not_answered,
     "if it is only slow, wait longer with --timeout; else see dmesg, then reset the GPU or reboot",
     "if it is only slow, wait longer with --timeout; else see dmesg on the host, and reset the "
     "GPU or reboot there"},
    {Problem::lost, "see dmesg (NVIDIA: Xid lines), then reset the GPU or reboot",
     "on the host, see dmesg (NVIDIA: Xid lines), then reset the GPU or reboot; start the "
     "container again"},
    {Problem::needs_reset, "nvidia-smi --gpu-reset, or reboot",
     "on the host: nvidia-smi --gpu-reset, or reboot"},
    {Problem::not_understood,
     "a newer hmn may understand it; if not, report it with a recording (hmn record-machine)"},
    {Problem::out_of_resources, "free memory, or raise the limits of this process (ulimit -a)",
     "free memory, or raise the limits of the container"},
    {Problem::defect, "report it as a defect of hmn"},
    {Problem::failed, no_remedy},
};
static_assert(std::size(remedies) == problem_count);

struct CodeOfNvml {
  std::int32_t code;
  Problem is;
};

// Codes of nvml.h that mean more than the status that the library gives them.
constexpr CodeOfNvml codes_of_nvml[] = {
    {4, Problem::not_permitted},         {8, Problem::needs_power_cables},
    {9, Problem::nvidia_not_loaded},     {10, Problem::not_answered},
    {12, Problem::no_nvidia_library},    {15, Problem::lost},
    {16, Problem::needs_reset},          {17, Problem::nvidia_blocked},
    {18, Problem::nvidia_mismatch},      {20, Problem::out_of_resources},
    {999, Problem::nvidia_unknown_error}};

Problem problem_of_nvml(std::int32_t code) noexcept {
  for (const auto& each : codes_of_nvml)
    if (each.code == code) return each.is;
  return Problem::nvidia_other_error;
}

// Returns the problem of a source whose file a variable names.
std::optional<Problem> problem_of_variable(backend_id source) {
  if (source == backend_id::nvml && environment_value("HMN_NVML")) return Problem::wrong_nvml_path;
  if (source == backend_id::nvidia_smi && environment_value("HMN_NVIDIA_SMI"))
    return Problem::wrong_nvidia_smi_path;
  return std::nullopt;
}

bool is_of_variable(Problem what) noexcept {
  return what == Problem::wrong_nvml_path || what == Problem::wrong_nvidia_smi_path;
}

// Returns whether the source itself could not be opened, before it answered anything.
bool is_unopened(const hypomnesis::diagnostic& of) noexcept {
  return !of.device_index && of.native_domain == domain::none &&
         of.reason != reason_id::not_understood &&
         (of.status == status_code::no_source || of.status == status_code::backend);
}

Problem problem_of_absence(backend_id source) noexcept {
  if (source == backend_id::os) return Problem::no_host_files;
  const bool is_nvidias = source == backend_id::nvml || source == backend_id::nvidia_smi;
  return is_nvidias ? Problem::no_nvidia_library : Problem::no_driver;
}

std::string native_text(const hypomnesis::backend_info& of) {
  if (of.message.find("code ") != std::string::npos) return {};  // the message includes the code
  if (of.native_domain == domain::nvml) return fmt::format(" (NVML code {})", of.native_code);
  if (of.native_domain == domain::exit_code) return fmt::format(" (exit code {})", of.native_code);
  if (of.native_domain == domain::errno_code) return fmt::format(" (errno {})", of.native_code);
  if (of.native_domain == domain::win32) return fmt::format(" (Windows error {})", of.native_code);
  return {};
}

std::string_view mark_of(Severity how) {
  if (how == Severity::fine) return "ok   ";
  return how == Severity::note ? "note " : "FAIL ";
}

Tone tone_of(Severity how) {
  if (how == Severity::fine) return Tone::good;
  return how == Severity::note ? Tone::plain : Tone::bad;
}

}  // namespace

std::string_view remedy_for(Problem what, Site at) noexcept {
  const auto& found = remedies[static_cast<std::size_t>(what)];
  return at == Site::container ? found.in_container : found.on_host;
}

Problem problem_of(const hypomnesis::diagnostic& of) {
  if (is_unopened(of))
    if (const auto wrong = problem_of_variable(of.backend)) return *wrong;
  if (of.native_domain == domain::nvml) return problem_of_nvml(of.native_code);
  switch (of.status) {
    case status_code::no_source:
    case status_code::no_device:
      return problem_of_absence(of.backend);
    case status_code::permission:
      return Problem::not_permitted;
    case status_code::timeout:
      return Problem::not_answered;
    case status_code::device_lost:
      return Problem::lost;
    case status_code::no_memory:
    case status_code::limit:
      return Problem::out_of_resources;
    case status_code::internal:
      return Problem::defect;
    default:
      return of.reason == reason_id::not_understood ? Problem::not_understood : Problem::failed;
  }
}

Problem problem_of(const hypomnesis::backend_info& of) {
  hypomnesis::diagnostic same;
  same.backend = of.backend;
  same.status = of.status;
  same.native_domain = of.native_domain;
  same.native_code = of.native_code;
  return problem_of(same);
}

Finding fine(std::string text) {
  return {Severity::fine, std::move(text), {}};
}
Finding note(std::string text) {
  return {Severity::note, std::move(text), {}};
}
Finding note(std::string text, Problem what, Site at) {
  return {Severity::note, std::move(text), std::string(remedy_for(what, at))};
}
Finding trouble(std::string text, Problem what, Site at) {
  return {Severity::trouble, std::move(text), std::string(remedy_for(what, at))};
}

bool is_broken(const std::vector<Section>& report) noexcept {
  return std::any_of(report.begin(), report.end(), [](const Section& each) {
    return std::any_of(each.findings.begin(), each.findings.end(),
                       [](const Finding& one) { return one.how == Severity::trouble; });
  });
}

bool is_needless(const hypomnesis::backend_info& of) noexcept {
  return of.state == run_state::unknown && of.status == status_code::empty;
}

// What fails, rather than being absent, is trouble wherever it is.
Finding inspect_backend(std::string_view name, const hypomnesis::backend_info& of, bool needed,
                        Site at) {
  if (of.state == run_state::ready || of.state == run_state::asleep)
    return fine(
        fmt::format("{} answers{}", name, of.version ? ", driver " + *of.version : std::string()));
  if (is_needless(of)) return hmn::cli::note(fmt::format("{}: not needed", name));
  const auto text =
      fmt::format("{}: {}{}", name, of.message.empty() ? hypomnesis::name(of.status) : of.message,
                  native_text(of));
  const bool is_absent = of.state == run_state::absent || of.state == run_state::unknown;
  const auto what = problem_of(of);
  if (of.state != run_state::off && (needed || !is_absent)) return trouble(text, what, at);
  return is_of_variable(what) ? hmn::cli::note(text, what, at) : hmn::cli::note(text);
}

// The note partial may be of another value, so without a limit none is certain.
Finding inspect_memory_limit(const std::optional<hypomnesis::system_memory>& memory,
                             std::string_view unread) {
  if (!memory) return hmn::cli::note("memory limit: not known, host memory cannot be read");
  if (memory->limit_bytes)
    return hmn::cli::note(
        fmt::format("memory limit {} of {}", hypomnesis::format_bytes(*memory->limit_bytes),
                    memory->total_bytes ? hypomnesis::format_bytes(*memory->total_bytes) : "?"));
  if (has(memory->notes, hypomnesis::note::partial))
    return hmn::cli::note(fmt::format("memory limit: not known, {}", unread));
  return fine("no memory limit applies");
}

std::vector<JsonObject> to_json(const std::vector<Section>& report) {
  constexpr const char* words[] = {"ok", "note", "fail"};
  std::vector<JsonObject> sections;
  for (const auto& part : report) {
    std::vector<JsonObject> findings;
    for (const auto& each : part.findings)
      findings.emplace_back()
          .add("result", words[static_cast<int>(each.how)])
          .add("text", each.text)
          .add("advice", each.advice.empty() ? std::nullopt : std::optional(each.advice));
    sections.emplace_back().add("title", part.title).add("findings", findings);
  }
  return sections;
}

std::string render(const std::vector<Section>& report, const Style& as) {
  std::string out;
  for (const auto& part : report) {
    if (!out.empty()) out += "\n";
    out += paint(part.title, Tone::strong, as.colour) + "\n";
    for (const auto& each : part.findings) {
      out += "  " + paint(mark_of(each.how), tone_of(each.how), as.colour) + " " +
             escape_for_text(each.text, as.ascii_only) + "\n";
      if (each.advice == no_remedy)
        out += "        " + each.advice + "\n";
      else if (!each.advice.empty())
        out += "        do: " + escape_for_text(each.advice, as.ascii_only) + "\n";
    }
  }
  return out;
}

}  // namespace hmn::cli
