// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/linux/inspect.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace hmn::cli;
namespace fs = std::filesystem;

namespace {

using hypomnesis::run_state;
using hypomnesis::status_code;

// The proc, sys and dev folders of a small machine.
class FakeMachine {
 public:
  FakeMachine() {
    std::string name = (fs::temp_directory_path() / "hmn-inspect-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    root_ = name;
    for (const char* folder : {"proc/self/ns", "sys/bus/pci/devices", "dev/dri"})
      fs::create_directories(root_ / folder);
  }
  ~FakeMachine() { fs::remove_all(root_); }
  FakeMachine(const FakeMachine&) = delete;
  FakeMachine& operator=(const FakeMachine&) = delete;

  Roots roots() const {
    return {(root_ / "proc").string(), (root_ / "sys").string(), (root_ / "dev").string(),
            root_.string()};
  }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void link(const std::string& path, const std::string& target) const {
    fs::create_directories((root_ / path).parent_path());
    fs::create_symlink(target, root_ / path);
  }
  void add_card(const std::string& address, const char* vendor, const char* code,
                const char* driver) const {
    const auto folder = "sys/bus/pci/devices/" + address;
    write(folder + "/vendor", std::string(vendor) + "\n");
    write(folder + "/device", "0x2684\n");
    write(folder + "/class", std::string(code) + "\n");
    if (driver != nullptr) link(folder + "/driver", std::string("../../drivers/") + driver);
  }

 private:
  fs::path root_;
};

std::string render_section(const Section& section) {
  return render({section}, {});
}

bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

hypomnesis::backend_info make_backend(run_state state, status_code status, const char* message) {
  hypomnesis::backend_info info;
  info.state = state;
  info.status = status;
  info.message = message;
  return info;
}

std::string report_nvidia(const FakeMachine& machine, const NvidiaBackends& backends = {}) {
  return render_section(inspect_nvidia(machine.roots(), find_adapters(machine.roots()), backends,
                                       find_site(machine.roots())));
}

}  // namespace

TEST_CASE("PCI displays and accelerators are listed as adapters") {
  const FakeMachine machine;
  machine.add_card("0000:01:00.0", "0x10de", "0x030000", "nvidia");
  machine.add_card("0000:02:00.0", "0x1002", "0x120000", "amdgpu");
  machine.add_card("0000:00:1f.3", "0x8086", "0x040300", "snd_hda_intel");
  machine.write("sys/bus/pci/devices/0000:01:00.0/power/runtime_status", "suspended\n");
  const auto adapters = find_adapters(machine.roots());
  REQUIRE(adapters.size() == 2);
  CHECK(describe(adapters[0]) == "0000:01:00.0 NVIDIA [10de:2684]");
  CHECK(adapters[0].driver == "nvidia");
  CHECK(adapters[0].runtime_status == "suspended");
  CHECK(describe(adapters[1]) == "0000:02:00.0 AMD [1002:2684]");
}

TEST_CASE("a machine without GPUs reports no failure") {
  const FakeMachine machine;
  const auto text = report_nvidia(
      machine, {make_backend(run_state::absent, status_code::no_source, "no library"), {}});
  CHECK(mentions(text, "no NVIDIA GPU on the PCI bus"));
  CHECK(mentions(text, "NVML: no library"));
  CHECK_FALSE(mentions(text, "FAIL"));
}

TEST_CASE("a working driver is reported with its version") {
  const FakeMachine machine;
  machine.add_card("0000:01:00.0", "0x10de", "0x030000", "nvidia");
  machine.write(
      "proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 2024\nGCC\n");
  machine.write("dev/nvidiactl", "");
  auto nvml = make_backend(run_state::ready, status_code::ok, "");
  nvml.version = "550.54.14";
  const auto text = report_nvidia(machine, {nvml, {}});
  CHECK(mentions(text, "kernel module 550.54.14"));
  CHECK(mentions(text, "NVML answers, driver 550.54.14"));
  CHECK(mentions(text, "nvidiactl can be opened"));
  CHECK_FALSE(mentions(text, "FAIL"));
}

TEST_CASE("an open kernel module is recognised") {
  const FakeMachine machine;
  machine.write(
      "proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n");
  CHECK(report_nvidia(machine).find("kernel module 570.86.15") != std::string::npos);
}

TEST_CASE("each obstacle to measuring an NVIDIA card is reported with advice") {
  const FakeMachine machine;
  machine.add_card("0000:01:00.0", "0x10de", "0x030000", "nouveau");
  machine.add_card("0000:02:00.0", "0x10de", "0x030200", nullptr);
  machine.add_card("0000:03:00.0", "0x10de", "0x030200", "vfio-pci");
  machine.add_card("0000:04:00.0", "0x10de", "0x030200", "nvidia");
  machine.add_card("0000:05:00.0", "0x10de", "0x030200", "nova_core");
  const auto text = report_nvidia(
      machine, {make_backend(run_state::unreadable, status_code::backend, "mismatch"), {}});
  CHECK(mentions(text, "FAIL  0000:01:00.0 NVIDIA [10de:2684]: bound to nouveau"));
  CHECK(mentions(text, "do: install NVIDIA's own driver"));
  CHECK(mentions(text, "FAIL  0000:02:00.0 NVIDIA [10de:2684]: no kernel driver"));
  CHECK(mentions(text, "note  0000:03:00.0 NVIDIA [10de:2684]: handed over"));
  CHECK(mentions(text, "ok    0000:04:00.0 NVIDIA [10de:2684], driver nvidia"));
  CHECK(mentions(text, "FAIL  0000:05:00.0 NVIDIA [10de:2684]: bound to nova_core"));
  CHECK(mentions(text, "FAIL  the nvidia kernel module is not loaded"));
  CHECK(mentions(text, "FAIL  NVML: mismatch"));
}

TEST_CASE("a missing device node gets advice that fits a host or a container") {
  const FakeMachine machine;
  machine.write("proc/driver/nvidia/version", "NVRM version: … Kernel Module  550.54.14  x\n");
  auto text = report_nvidia(machine);
  CHECK(mentions(text, "FAIL  " + machine.roots().dev + "/nvidiactl is missing"));
  CHECK(mentions(text, "do: run nvidia-modprobe"));
  machine.write(".dockerenv", "");
  text = report_nvidia(machine);
  CHECK(mentions(text, "FAIL  " + machine.roots().dev + "/nvidiactl is missing"));
  CHECK(mentions(text, "do: start the container with the GPU: docker run --gpus all"));
  CHECK_FALSE(mentions(text, "modprobe"));
}

TEST_CASE("containers are recognised by the marks of each runtime") {
  CHECK(find_site(FakeMachine().roots()) == Site::host);
  const auto check_marked = [](const char* path, const char* text, std::string_view runtime) {
    const FakeMachine machine;
    machine.write(path, text);
    CAPTURE(path);
    CHECK(find_site(machine.roots()) == Site::container);
    CHECK(mentions(render_section(inspect_container(machine.roots(), std::nullopt)), runtime));
  };
  check_marked(".dockerenv", "", "this is a Docker container");
  check_marked("run/.containerenv", "", "this is a Podman container");
  check_marked("run/systemd/container", "lxc\n", "this is a lxc container");
  const std::string id(64, 'a');
  check_marked("proc/self/cgroup", ("0::/system.slice/docker-" + id + ".scope\n").c_str(),
               "this is a docker container");
  const FakeMachine host;
  host.write("proc/self/cgroup", "0::/user.slice/user-1000.slice/session-2.scope\n");
  CHECK(find_site(host.roots()) == Site::host);
}

TEST_CASE("each problem has a remedy, or is known to have none, on a host and in a container") {
  std::size_t without_remedy = 0;
  for (std::size_t i = 0; i < problem_count; ++i) {
    const auto problem = static_cast<Problem>(i);
    CAPTURE(i);
    const auto on_host = find_remedy(problem, Site::host);
    const auto in_container = find_remedy(problem, Site::container);
    CHECK_FALSE(on_host.empty());
    CHECK_FALSE(in_container.empty());
    CHECK((on_host == no_remedy) == (in_container == no_remedy));
    if (on_host == no_remedy) ++without_remedy;
    // Advice that changes the system is for the host.
    for (const auto* const word : {"modprobe", "install", "reboot", "dmesg", "--gpu-reset", "udev"})
      if (mentions(std::string(in_container), word))
        CHECK(mentions(std::string(in_container), "host"));
    CHECK_FALSE(mentions(std::string(in_container), "setcap"));
    // A host has no container to start.
    CHECK_FALSE(mentions(std::string(on_host), "start the container"));
    CHECK(make_trouble("x", problem, Site::host).advice == on_host);
  }
  CHECK(without_remedy == 1);
}

TEST_CASE("each failure of a source maps to a problem with a remedy") {
  hypomnesis::diagnostic diagnostic;
  for (int code = HMN_E_STATE; code < 0; ++code) {
    diagnostic.status = static_cast<status_code>(code);
    CHECK_FALSE(find_remedy(find_problem(diagnostic), Site::host).empty());
  }
  const auto problem_with = [&](status_code status, hypomnesis::backend_id source) {
    diagnostic.status = status;
    diagnostic.backend = source;
    return find_problem(diagnostic);
  };
  using hypomnesis::backend_id;
  CHECK(problem_with(status_code::device_lost, backend_id::amdgpu) == Problem::lost);
  CHECK(problem_with(status_code::timeout, backend_id::nvidia_smi) == Problem::not_answered);
  CHECK(problem_with(status_code::no_source, backend_id::nvidia_smi) == Problem::no_nvidia_library);
  CHECK(problem_with(status_code::no_source, backend_id::os) == Problem::no_host_files);
  auto nvml = make_backend(run_state::unreadable, status_code::backend, "");
  nvml.native_domain = hypomnesis::domain::nvml;
  for (const auto& [code, expected] : {std::pair{18, Problem::nvidia_mismatch},
                                       {999, Problem::nvidia_unknown_error},
                                       {12345, Problem::nvidia_other_error}}) {
    nvml.native_code = code;
    CHECK(find_problem(nvml) == expected);
  }
}

TEST_CASE("native error codes are reported with their origin") {
  const FakeMachine machine;
  auto nvml = make_backend(run_state::unreadable, status_code::backend, "mismatch");
  nvml.native_domain = hypomnesis::domain::nvml;
  nvml.native_code = 18;
  auto smi = make_backend(run_state::unreadable, status_code::backend, "");
  smi.native_domain = hypomnesis::domain::exit_code;
  smi.native_code = 9;
  const auto text = report_nvidia(machine, {nvml, smi});
  CHECK(mentions(text, "NVML: mismatch (NVML code 18)"));
  CHECK(mentions(text, "nvidia-smi: HMN_E_BACKEND (exit code 9)"));
}

TEST_CASE("AMD and Intel cards are reported as measured, or with a reason") {
  const FakeMachine machine;
  machine.add_card("0000:02:00.0", "0x1002", "0x030000", "amdgpu");
  machine.add_card("0000:03:00.0", "0x1002", "0x030000", "amdgpu");
  machine.add_card("0000:04:00.0", "0x1002", "0x030000", nullptr);
  machine.add_card("0000:05:00.0", "0x1002", "0x030000", "vfio-pci");
  hypomnesis::device device;
  device.pci_bus_id = "0000:02:00.0";
  const auto adapters = find_adapters(machine.roots());
  const auto text = render_section(inspect_vendor(HMN_VENDOR_AMD, adapters, {device}, Site::host));
  CHECK(mentions(text, "ok    0000:02:00.0 AMD [1002:2684], driver amdgpu\n"));
  CHECK(mentions(text, "note  0000:03:00.0 AMD [1002:2684], driver amdgpu: not measured"));
  CHECK(mentions(text, "FAIL  0000:04:00.0 AMD [1002:2684]: no kernel driver"));
  CHECK(mentions(text, "note  0000:05:00.0 AMD [1002:2684]: handed over to a virtual machine"));
  CHECK(mentions(render_section(inspect_vendor(HMN_VENDOR_INTEL, adapters, {}, Site::host)),
                 "no Intel GPU on the PCI bus"));
}

TEST_CASE("containers: runtime, PID namespace and memory limit are reported") {
  const FakeMachine machine;
  machine.write(".dockerenv", "");
  machine.link("proc/self/ns/pid", "pid:[4026532999]");
  hypomnesis::system_memory memory;
  memory.limit_bytes = 4ull << 30;
  memory.total_bytes = 64ull << 30;
  const auto text = render_section(inspect_container(machine.roots(), memory));
  CHECK(mentions(text, "Docker container"));
  CHECK(mentions(text, "PID namespace: not the host's"));
  CHECK(mentions(text, "--pid=host"));
  CHECK(mentions(text, "memory limit 4.0 GiB of 64.0 GiB"));

  const FakeMachine host;
  host.link("proc/self/ns/pid", "pid:[4026531836]");
  memory.limit_bytes.reset();
  const auto host_text = render_section(inspect_container(host.roots(), memory));
  CHECK(host_text.find("PID namespace: the host's") != std::string::npos);
  CHECK(host_text.find("no memory limit applies") != std::string::npos);
  CHECK(host_text.find("container (") == std::string::npos);
  memory.notes = hypomnesis::note::partial;
  CHECK(mentions(render_section(inspect_container(host.roots(), memory)),
                 "note  memory limit: not known, the control groups of " + host.roots().proc +
                     "/self/cgroup are not understood or not mounted here, or a limit cannot be "
                     "read"));
  CHECK(mentions(render_section(inspect_container(host.roots(), std::nullopt)),
                 "note  memory limit: not known, host memory cannot be read"));
}

TEST_CASE("permissions: hidden processes and render nodes are reported") {
  const FakeMachine machine;
  machine.write("proc/mounts", "proc /proc proc rw,nosuid,hidepid=invisible,gid=27 0 0\n");
  machine.write("dev/dri/renderD128", "");
  machine.write("dev/dri/card0", "");
  const auto text = render_section(inspect_permissions(machine.roots(), {}, {}));
  CHECK(mentions(text, "note  " + machine.roots().proc + " hides other users' processes"));
  CHECK(mentions(text, "renderD128"));
  CHECK_FALSE(mentions(text, "card0"));
}

TEST_CASE("permissions: a closed render node of a measured GPU is not a failure") {
  const FakeMachine machine;
  machine.link("dev/dri/renderD128", "/nonexistent");  // which root cannot open either
  MachineEvidence evidence;
  evidence.devices.resize(1);
  CHECK(mentions(render_section(inspect_permissions(machine.roots(), {}, evidence)), "FAIL  "));
  evidence.devices[0].render_minor = 128;
  CHECK_FALSE(
      mentions(render_section(inspect_permissions(machine.roots(), {}, evidence)), "FAIL  "));
}

TEST_CASE("permissions: without a proc tree visibility and capabilities are unknown") {
  const FakeMachine machine;
  fs::remove_all(machine.roots().proc);
  const auto text = render_section(inspect_permissions(machine.roots(), {}, {}));
  CHECK(mentions(text, "note  visibility of other users' processes: not known, "));
  CHECK(mentions(text, "/mounts cannot be read"));
  CHECK(mentions(text, "note  capabilities: not known, "));
  CHECK_FALSE(mentions(text, "CAP_SYS_PTRACE"));
}

TEST_CASE("permissions: each missing capability is reported with its effect") {
  const FakeMachine machine;
  const std::vector<Adapter> adapters{{"0000:00:02.0", HMN_VENDOR_INTEL, 0x46a6, "i915", ""}};
  machine.write("proc/self/status", "Name:\thmn\nCapEff:\t0000000000000000\n");
  auto text = render_section(inspect_permissions(machine.roots(), adapters, {}));
  CHECK(mentions(text, "note  other users' processes cannot be inspected: no CAP_SYS_PTRACE"));
  CHECK(mentions(text, "setcap cap_sys_ptrace+ep"));
  CHECK(mentions(text, "note  used memory is not readable from Intel's drivers: no CAP_PERFMON"));
  CHECK_FALSE(
      mentions(render_section(inspect_permissions(machine.roots(), {}, {})), "CAP_PERFMON"));
  machine.write("proc/self/status", "CapEff:\t0000004000080000\n");  // bits 38 and 19
  text = render_section(inspect_permissions(machine.roots(), adapters, {}));
  CHECK(mentions(text, "ok    other users' processes can be inspected (CAP_SYS_PTRACE)"));
  CHECK(mentions(text, "ok    used memory is readable from Intel's drivers (CAP_PERFMON)"));
  MachineEvidence evidence;
  evidence.has_refused_processes = true;
  text = render_section(inspect_permissions(machine.roots(), {}, evidence));
  CHECK(mentions(text, "note  some processes cannot be inspected, even with CAP_SYS_PTRACE\n"));
  CHECK_FALSE(mentions(text, "setcap"));
}

TEST_CASE("permissions: capabilities of a user namespace do not count") {
  const FakeMachine machine;
  const std::vector<Adapter> adapters{{"0000:00:02.0", HMN_VENDOR_INTEL, 0x46a6, "i915", ""}};
  machine.write("proc/self/status", "CapEff:\t000001ffffffffff\n");
  machine.link("proc/self/ns/user", "user:[4026531837]");  // the initial one
  CHECK(mentions(render_section(inspect_permissions(machine.roots(), adapters, {})),
                 "ok    used memory"));
  fs::remove(fs::path(machine.roots().proc) / "self/ns/user");
  machine.link("proc/self/ns/user", "user:[4026532999]");
  const auto text = render_section(inspect_permissions(machine.roots(), adapters, {}));
  CHECK(mentions(text, "note  processes outside of this user namespace cannot be inspected"));
  CHECK(mentions(text, "note  used memory is not readable from Intel's drivers: CAP_PERFMON does"));
  CHECK(mentions(text, "do: run hmn as root outside of this user namespace"));
  CHECK_FALSE(mentions(text, "setcap"));
  CHECK_FALSE(mentions(text, "runs as root\n"));
}

TEST_CASE("a proc tree of another PID namespace is reported as such") {
  const FakeMachine machine;
  fs::remove_all(fs::path(machine.roots().proc) / "self");
  machine.write("proc/stat", "cpu 0\n");
  CHECK(mentions(render_section(inspect_container(machine.roots(), std::nullopt)),
                 "does not show this process: it is the tree of another PID namespace"));
  machine.write("proc/4242/status", "");
  machine.link("proc/self", "4242");
  CHECK(mentions(render_section(inspect_container(machine.roots(), std::nullopt)),
                 "tree of another PID namespace, where this process is 4242;"));
}
