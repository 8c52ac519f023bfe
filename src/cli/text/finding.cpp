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
  Problem problem;
  std::string_view host_advice;
  std::string_view container_advice = host_advice;
};

constexpr std::string_view nvidia_container_advice =
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
    {Problem::no_nvidia_node, "run nvidia-modprobe or nvidia-smi once as root",
     nvidia_container_advice},
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
     "let the service use /dev/nvidia* (of systemd: DeviceAllow= and DevicePolicy=)",
     nvidia_container_advice},
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
    {Problem::no_ptrace_right,
     "run as root, or once: setcap cap_sys_ptrace+ep \"$(command -v hmn)\"",
     "run as root, in a container that has the right (--cap-add SYS_PTRACE)"},
    {Problem::no_perfmon_right,
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

struct NvmlCode {
  std::int32_t code;
  Problem problem;
};

// Codes of nvml.h that are more specific than the library's status for them.
constexpr NvmlCode nvml_codes[] = {
    {4, Problem::not_permitted},         {8, Problem::needs_power_cables},
    {9, Problem::nvidia_not_loaded},     {10, Problem::not_answered},
    {12, Problem::no_nvidia_library},    {15, Problem::lost},
    {16, Problem::needs_reset},          {17, Problem::nvidia_blocked},
    {18, Problem::nvidia_mismatch},      {20, Problem::out_of_resources},
    {999, Problem::nvidia_unknown_error}};

Problem find_nvml_problem(std::int32_t code) noexcept {
  for (const auto& entry : nvml_codes)
    if (entry.code == code) return entry.problem;
  return Problem::nvidia_other_error;
}

// Returns the problem of a source whose file a variable names.
std::optional<Problem> find_path_problem(backend_id source) {
  if (source == backend_id::nvml && get_environment("HMN_NVML")) return Problem::wrong_nvml_path;
  if (source == backend_id::nvidia_smi && get_environment("HMN_NVIDIA_SMI"))
    return Problem::wrong_nvidia_smi_path;
  return std::nullopt;
}

bool is_path_problem(Problem problem) noexcept {
  return problem == Problem::wrong_nvml_path || problem == Problem::wrong_nvidia_smi_path;
}

// Returns whether the source itself could not be opened, before it answered anything.
bool failed_to_open(const hypomnesis::diagnostic& diagnostic) noexcept {
  return !diagnostic.device_index && diagnostic.native_domain == domain::none &&
         diagnostic.reason != reason_id::not_understood &&
         (diagnostic.status == status_code::no_source || diagnostic.status == status_code::backend);
}

Problem find_absence_problem(backend_id source) noexcept {
  if (source == backend_id::os) return Problem::no_host_files;
  const bool is_nvidia = source == backend_id::nvml || source == backend_id::nvidia_smi;
  return is_nvidia ? Problem::no_nvidia_library : Problem::no_driver;
}

std::string format_native_code(const hypomnesis::backend_info& backend) {
  if (backend.message.find("code ") != std::string::npos)
    return {};  // the message includes the code
  if (backend.native_domain == domain::nvml)
    return fmt::format(" (NVML code {})", backend.native_code);
  if (backend.native_domain == domain::exit_code)
    return fmt::format(" (exit code {})", backend.native_code);
  if (backend.native_domain == domain::errno_code)
    return fmt::format(" (errno {})", backend.native_code);
  if (backend.native_domain == domain::win32)
    return fmt::format(" (Windows error {})", backend.native_code);
  return {};
}

std::string_view severity_mark(Severity severity) {
  if (severity == Severity::fine) return "ok   ";
  return severity == Severity::note ? "note " : "FAIL ";
}

Tone severity_tone(Severity severity) {
  if (severity == Severity::fine) return Tone::good;
  return severity == Severity::note ? Tone::plain : Tone::bad;
}

}  // namespace

std::string_view find_remedy(Problem problem, Site site) noexcept {
  const auto& remedy = remedies[static_cast<std::size_t>(problem)];
  return site == Site::container ? remedy.container_advice : remedy.host_advice;
}

Problem find_problem(const hypomnesis::diagnostic& diagnostic) {
  if (failed_to_open(diagnostic))
    if (const auto path_problem = find_path_problem(diagnostic.backend)) return *path_problem;
  if (diagnostic.native_domain == domain::nvml) return find_nvml_problem(diagnostic.native_code);
  switch (diagnostic.status) {
    case status_code::no_source:
    case status_code::no_device:
      return find_absence_problem(diagnostic.backend);
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
      return diagnostic.reason == reason_id::not_understood ? Problem::not_understood
                                                            : Problem::failed;
  }
}

Problem find_problem(const hypomnesis::backend_info& backend) {
  hypomnesis::diagnostic diagnostic;
  diagnostic.backend = backend.backend;
  diagnostic.status = backend.status;
  diagnostic.native_domain = backend.native_domain;
  diagnostic.native_code = backend.native_code;
  return find_problem(diagnostic);
}

Finding make_fine(std::string text) {
  return {Severity::fine, std::move(text), {}};
}
Finding make_note(std::string text) {
  return {Severity::note, std::move(text), {}};
}
Finding make_note(std::string text, Problem problem, Site site) {
  return {Severity::note, std::move(text), std::string(find_remedy(problem, site))};
}
Finding make_trouble(std::string text, Problem problem, Site site) {
  return {Severity::trouble, std::move(text), std::string(find_remedy(problem, site))};
}

bool has_trouble(const std::vector<Section>& report) noexcept {
  return std::any_of(report.begin(), report.end(), [](const Section& section) {
    return std::any_of(
        section.findings.begin(), section.findings.end(),
        [](const Finding& finding) { return finding.severity == Severity::trouble; });
  });
}

bool is_unneeded(const hypomnesis::backend_info& backend) noexcept {
  return backend.state == run_state::unknown && backend.status == status_code::empty;
}

// A source that fails is trouble, one that is absent only where it is needed.
Finding inspect_backend(std::string_view name, const hypomnesis::backend_info& backend,
                        bool is_needed, Site site) {
  if (backend.state == run_state::ready || backend.state == run_state::asleep)
    return make_fine(fmt::format("{} answers{}", name,
                            backend.version ? ", driver " + *backend.version : std::string()));
  if (is_unneeded(backend)) return hmn::cli::make_note(fmt::format("{}: not needed", name));
  const auto text =
      fmt::format("{}: {}{}", name,
                  backend.message.empty() ? hypomnesis::name(backend.status) : backend.message,
                  format_native_code(backend));
  const bool is_absent = backend.state == run_state::absent || backend.state == run_state::unknown;
  const auto problem = find_problem(backend);
  if (backend.state != run_state::off && (is_needed || !is_absent))
    return make_trouble(text, problem, site);
  return is_path_problem(problem) ? hmn::cli::make_note(text, problem, site) : hmn::cli::make_note(text);
}

// note::partial may concern another value, so without a limit it is uncertain whether there is one.
Finding inspect_memory_limit(const std::optional<hypomnesis::system_memory>& memory,
                             std::string_view reason) {
  if (!memory) return hmn::cli::make_note("memory limit: not known, host memory cannot be read");
  if (memory->limit_bytes)
    return hmn::cli::make_note(
        fmt::format("memory limit {} of {}", hypomnesis::format_bytes(*memory->limit_bytes),
                    memory->total_bytes ? hypomnesis::format_bytes(*memory->total_bytes) : "?"));
  if (has(memory->notes, hypomnesis::note::partial))
    return hmn::cli::make_note(fmt::format("memory limit: not known, {}", reason));
  return make_fine("no memory limit applies");
}

std::vector<JsonObject> to_json(const std::vector<Section>& report) {
  constexpr const char* words[] = {"ok", "note", "fail"};
  std::vector<JsonObject> sections;
  for (const auto& section : report) {
    std::vector<JsonObject> findings;
    for (const auto& finding : section.findings)
      findings.emplace_back()
          .add("result", words[static_cast<int>(finding.severity)])
          .add("text", finding.text)
          .add("advice", finding.advice.empty() ? std::nullopt : std::optional(finding.advice));
    sections.emplace_back().add("title", section.title).add("findings", findings);
  }
  return sections;
}

std::string render(const std::vector<Section>& report, const Style& style) {
  std::string out;
  for (const auto& section : report) {
    if (!out.empty()) out += "\n";
    out += paint(section.title, Tone::strong, style.colour) + "\n";
    for (const auto& finding : section.findings) {
      out += "  " +
             paint(severity_mark(finding.severity), severity_tone(finding.severity), style.colour) +
             " " + escape_for_text(finding.text, style.ascii_only) + "\n";
      if (finding.advice == no_remedy)
        out += "        " + finding.advice + "\n";
      else if (!finding.advice.empty())
        out += "        do: " + escape_for_text(finding.advice, style.ascii_only) + "\n";
    }
  }
  return out;
}

}  // namespace hmn::cli
