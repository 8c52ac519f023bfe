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

// A small machine in a folder of its own.
class Machine {
 public:
  Machine() {
    std::string name = (fs::temp_directory_path() / "hmn-inspect-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    root_ = name;
    for (const char* folder : {"proc/self/ns", "sys/bus/pci/devices", "dev/dri"})
      fs::create_directories(root_ / folder);
  }
  ~Machine() { fs::remove_all(root_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Roots in() const {
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

std::string text_of(const Section& part) {
  return render({part}, {});
}

bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

hypomnesis::backend_info backend(run_state state, status_code status, const char* message) {
  hypomnesis::backend_info info;
  info.state = state;
  info.status = status;
  info.message = message;
  return info;
}

std::string nvidia(const Machine& of, const NvidiaBackends& backends = {}) {
  return text_of(inspect_nvidia(of.in(), find_adapters(of.in()), backends, site_in(of.in())));
}

}  // namespace

TEST_CASE("adapters are what PCI calls displays and accelerators") {
  const Machine here;
  here.add_card("0000:01:00.0", "0x10de", "0x030000", "nvidia");
  here.add_card("0000:02:00.0", "0x1002", "0x120000", "amdgpu");
  here.add_card("0000:00:1f.3", "0x8086", "0x040300", "snd_hda_intel");
  here.write("sys/bus/pci/devices/0000:01:00.0/power/runtime_status", "suspended\n");
  const auto found = find_adapters(here.in());
  REQUIRE(found.size() == 2);
  CHECK(describe(found[0]) == "0000:01:00.0 NVIDIA [10de:2684]");
  CHECK(found[0].driver == "nvidia");
  CHECK(found[0].runtime_status == "suspended");
  CHECK(describe(found[1]) == "0000:02:00.0 AMD [1002:2684]");
}

TEST_CASE("a machine without GPUs has no trouble") {
  const Machine here;
  const auto text =
      nvidia(here, {backend(run_state::absent, status_code::no_source, "no library"), {}});
  CHECK(mentions(text, "no NVIDIA GPU on the PCI bus"));
  CHECK(mentions(text, "NVML: no library"));
  CHECK_FALSE(mentions(text, "FAIL"));
}

TEST_CASE("a working driver is told with its version") {
  const Machine here;
  here.add_card("0000:01:00.0", "0x10de", "0x030000", "nvidia");
  here.write("proc/driver/nvidia/version",
             "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 2024\nGCC\n");
  here.write("dev/nvidiactl", "");
  auto nvml = backend(run_state::ready, status_code::ok, "");
  nvml.version = "550.54.14";
  const auto text = nvidia(here, {nvml, {}});
  CHECK(mentions(text, "kernel module 550.54.14"));
  CHECK(mentions(text, "NVML answers, driver 550.54.14"));
  CHECK(mentions(text, "nvidiactl can be opened"));
  CHECK_FALSE(mentions(text, "FAIL"));
}

TEST_CASE("an open kernel module is recognised as well") {
  const Machine here;
  here.write("proc/driver/nvidia/version",
             "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n");
  CHECK(nvidia(here).find("kernel module 570.86.15") != std::string::npos);
}

TEST_CASE("what keeps an NVIDIA card from being measured is trouble with advice") {
  const Machine here;
  here.add_card("0000:01:00.0", "0x10de", "0x030000", "nouveau");
  here.add_card("0000:02:00.0", "0x10de", "0x030200", nullptr);
  here.add_card("0000:03:00.0", "0x10de", "0x030200", "vfio-pci");
  here.add_card("0000:04:00.0", "0x10de", "0x030200", "nvidia");
  here.add_card("0000:05:00.0", "0x10de", "0x030200", "nova_core");
  const auto text =
      nvidia(here, {backend(run_state::unreadable, status_code::backend, "mismatch"), {}});
  CHECK(mentions(text, "FAIL  0000:01:00.0 NVIDIA [10de:2684]: bound to nouveau"));
  CHECK(mentions(text, "do: install NVIDIA's own driver"));
  CHECK(mentions(text, "FAIL  0000:02:00.0 NVIDIA [10de:2684]: no kernel driver"));
  CHECK(mentions(text, "note  0000:03:00.0 NVIDIA [10de:2684]: handed over"));
  CHECK(mentions(text, "ok    0000:04:00.0 NVIDIA [10de:2684], driver nvidia"));
  CHECK(mentions(text, "FAIL  0000:05:00.0 NVIDIA [10de:2684]: bound to nova_core"));
  CHECK(mentions(text, "FAIL  the nvidia kernel module is not loaded"));
  CHECK(mentions(text, "FAIL  NVML: mismatch"));
}

TEST_CASE("a container without device nodes is told how to get them") {
  const Machine here;
  here.write("proc/driver/nvidia/version", "NVRM version: … Kernel Module  550.54.14  x\n");
  auto text = nvidia(here);
  CHECK(mentions(text, "FAIL  " + here.in().dev + "/nvidiactl is missing"));
  CHECK(mentions(text, "do: run nvidia-modprobe"));
  here.write(".dockerenv", "");
  text = nvidia(here);
  CHECK(mentions(text, "FAIL  " + here.in().dev + "/nvidiactl is missing"));
  CHECK(mentions(text, "do: start the container with the GPU: docker run --gpus all"));
  CHECK_FALSE(mentions(text, "modprobe"));
}

TEST_CASE("containers are known by what each runtime leaves in them") {
  CHECK(site_in(Machine().in()) == Site::host);
  const auto marked = [](const char* path, const char* text, std::string_view runtime) {
    const Machine here;
    here.write(path, text);
    CAPTURE(path);
    CHECK(site_in(here.in()) == Site::container);
    CHECK(mentions(text_of(inspect_container(here.in(), std::nullopt)), runtime));
  };
  marked(".dockerenv", "", "this is a Docker container");
  marked("run/.containerenv", "", "this is a Podman container");
  marked("run/systemd/container", "lxc\n", "this is a lxc container");
  const std::string id(64, 'a');
  marked("proc/self/cgroup", ("0::/system.slice/docker-" + id + ".scope\n").c_str(),
         "this is a docker container");
  const Machine host;
  host.write("proc/self/cgroup", "0::/user.slice/user-1000.slice/session-2.scope\n");
  CHECK(site_in(host.in()) == Site::host);
}

TEST_CASE("each problem has a remedy, or is known to have none, on a host and in a container") {
  std::size_t without = 0;
  for (std::size_t i = 0; i < problem_count; ++i) {
    const auto what = static_cast<Problem>(i);
    CAPTURE(i);
    const auto on_host = remedy_for(what, Site::host);
    const auto in_container = remedy_for(what, Site::container);
    CHECK_FALSE(on_host.empty());
    CHECK_FALSE(in_container.empty());
    CHECK((on_host == no_remedy) == (in_container == no_remedy));
    if (on_host == no_remedy) ++without;
    // What changes the system itself is for the host.
    for (const auto* const word : {"modprobe", "install", "reboot", "dmesg", "--gpu-reset", "udev"})
      if (mentions(std::string(in_container), word))
        CHECK(mentions(std::string(in_container), "host"));
    CHECK_FALSE(mentions(std::string(in_container), "setcap"));
    // A host has no container to start.
    CHECK_FALSE(mentions(std::string(on_host), "start the container"));
    CHECK(trouble("x", what, Site::host).advice == on_host);
  }
  CHECK(without == 1);
}

TEST_CASE("each failure of a source is a problem with a remedy") {
  hypomnesis::diagnostic why;
  for (int code = HMN_E_STATE; code < 0; ++code) {
    why.status = static_cast<status_code>(code);
    CHECK_FALSE(remedy_for(problem_of(why), Site::host).empty());
  }
  const auto of = [&](status_code status, hypomnesis::backend_id source) {
    why.status = status;
    why.backend = source;
    return problem_of(why);
  };
  using hypomnesis::backend_id;
  CHECK(of(status_code::device_lost, backend_id::amdgpu) == Problem::lost);
  CHECK(of(status_code::timeout, backend_id::nvidia_smi) == Problem::not_answered);
  CHECK(of(status_code::no_source, backend_id::nvidia_smi) == Problem::no_nvidia_library);
  CHECK(of(status_code::no_source, backend_id::os) == Problem::no_host_files);
  auto nvml = backend(run_state::unreadable, status_code::backend, "");
  nvml.native_domain = hypomnesis::domain::nvml;
  for (const auto& [code, is] : {std::pair{18, Problem::nvidia_mismatch},
                                 {999, Problem::nvidia_unknown_error},
                                 {12345, Problem::nvidia_other_error}}) {
    nvml.native_code = code;
    CHECK(problem_of(nvml) == is);
  }
}

TEST_CASE("native codes are told with whose they are") {
  const Machine here;
  auto nvml = backend(run_state::unreadable, status_code::backend, "mismatch");
  nvml.native_domain = hypomnesis::domain::nvml;
  nvml.native_code = 18;
  auto smi = backend(run_state::unreadable, status_code::backend, "");
  smi.native_domain = hypomnesis::domain::exit_code;
  smi.native_code = 9;
  const auto text = nvidia(here, {nvml, smi});
  CHECK(mentions(text, "NVML: mismatch (NVML code 18)"));
  CHECK(mentions(text, "nvidia-smi: HMN_E_BACKEND (exit code 9)"));
}

TEST_CASE("AMD and Intel cards are those that are measured, or have a reason") {
  const Machine here;
  here.add_card("0000:02:00.0", "0x1002", "0x030000", "amdgpu");
  here.add_card("0000:03:00.0", "0x1002", "0x030000", "amdgpu");
  here.add_card("0000:04:00.0", "0x1002", "0x030000", nullptr);
  here.add_card("0000:05:00.0", "0x1002", "0x030000", "vfio-pci");
  hypomnesis::device measured;
  measured.pci_bus_id = "0000:02:00.0";
  const auto adapters = find_adapters(here.in());
  const auto text = text_of(inspect_vendor(HMN_VENDOR_AMD, adapters, {measured}, Site::host));
  CHECK(mentions(text, "ok    0000:02:00.0 AMD [1002:2684], driver amdgpu\n"));
  CHECK(mentions(text, "note  0000:03:00.0 AMD [1002:2684], driver amdgpu: not measured"));
  CHECK(mentions(text, "FAIL  0000:04:00.0 AMD [1002:2684]: no kernel driver"));
  CHECK(mentions(text, "note  0000:05:00.0 AMD [1002:2684]: handed over to a virtual machine"));
  CHECK(mentions(text_of(inspect_vendor(HMN_VENDOR_INTEL, adapters, {}, Site::host)),
                 "no Intel GPU on the PCI bus"));
}

TEST_CASE("containers: marks, PID namespace, limit") {
  const Machine here;
  here.write(".dockerenv", "");
  here.link("proc/self/ns/pid", "pid:[4026532999]");
  hypomnesis::system_memory memory;
  memory.limit_bytes = 4ull << 30;
  memory.total_bytes = 64ull << 30;
  const auto text = text_of(inspect_container(here.in(), memory));
  CHECK(mentions(text, "Docker container"));
  CHECK(mentions(text, "PID namespace: not the host's"));
  CHECK(mentions(text, "--pid=host"));
  CHECK(mentions(text, "memory limit 4.0 GiB of 64.0 GiB"));

  const Machine host;
  host.link("proc/self/ns/pid", "pid:[4026531836]");
  memory.limit_bytes.reset();
  const auto bare = text_of(inspect_container(host.in(), memory));
  CHECK(bare.find("PID namespace: the host's") != std::string::npos);
  CHECK(bare.find("no memory limit applies") != std::string::npos);
  CHECK(bare.find("container (") == std::string::npos);
  memory.notes = hypomnesis::note::partial;
  CHECK(mentions(text_of(inspect_container(host.in(), memory)),
                 "note  memory limit: not known, the control groups of " + host.in().proc +
                     "/self/cgroup are not understood or not mounted here, or a limit cannot be "
                     "read"));
  CHECK(mentions(text_of(inspect_container(host.in(), std::nullopt)),
                 "note  memory limit: not known, host memory cannot be read"));
}

TEST_CASE("permissions: hidden processes and render nodes") {
  const Machine here;
  here.write("proc/mounts", "proc /proc proc rw,nosuid,hidepid=invisible,gid=27 0 0\n");
  here.write("dev/dri/renderD128", "");
  here.write("dev/dri/card0", "");
  const auto text = text_of(inspect_permissions(here.in(), {}, {}));
  CHECK(mentions(text, "note  " + here.in().proc + " hides other users' processes"));
  CHECK(mentions(text, "renderD128"));
  CHECK_FALSE(mentions(text, "card0"));
}

TEST_CASE("permissions: a closed node of a GPU that is measured all the same is no trouble") {
  const Machine here;
  here.link("dev/dri/renderD128", "/nonexistent");  // which root cannot open either
  MachineEvidence seen;
  seen.devices.resize(1);
  CHECK(mentions(text_of(inspect_permissions(here.in(), {}, seen)), "FAIL  "));
  seen.devices[0].render_minor = 128;
  CHECK_FALSE(mentions(text_of(inspect_permissions(here.in(), {}, seen)), "FAIL  "));
}

TEST_CASE("permissions: without a proc tree nothing is known of them") {
  const Machine here;
  fs::remove_all(here.in().proc);
  const auto text = text_of(inspect_permissions(here.in(), {}, {}));
  CHECK(mentions(text, "note  visibility of other users' processes: not known, "));
  CHECK(mentions(text, "/mounts cannot be read"));
  CHECK(mentions(text, "note  capabilities: not known, "));
  CHECK_FALSE(mentions(text, "CAP_SYS_PTRACE"));
}

TEST_CASE("permissions: what each capability opens") {
  const Machine here;
  const std::vector<Adapter> intel{{"0000:00:02.0", HMN_VENDOR_INTEL, 0x46a6, "i915", ""}};
  here.write("proc/self/status", "Name:\thmn\nCapEff:\t0000000000000000\n");
  auto text = text_of(inspect_permissions(here.in(), intel, {}));
  CHECK(mentions(text, "note  other users' processes cannot be inspected: no CAP_SYS_PTRACE"));
  CHECK(mentions(text, "setcap cap_sys_ptrace+ep"));
  CHECK(mentions(text, "note  used memory is not readable from Intel's drivers: no CAP_PERFMON"));
  CHECK_FALSE(mentions(text_of(inspect_permissions(here.in(), {}, {})), "CAP_PERFMON"));
  here.write("proc/self/status", "CapEff:\t0000004000080000\n");  // bits 38 and 19
  text = text_of(inspect_permissions(here.in(), intel, {}));
  CHECK(mentions(text, "ok    other users' processes can be inspected (CAP_SYS_PTRACE)"));
  CHECK(mentions(text, "ok    used memory is readable from Intel's drivers (CAP_PERFMON)"));
  MachineEvidence seen;
  seen.has_refused_processes = true;
  text = text_of(inspect_permissions(here.in(), {}, seen));
  CHECK(mentions(text, "note  some processes cannot be inspected, even with CAP_SYS_PTRACE\n"));
  CHECK_FALSE(mentions(text, "setcap"));
}

TEST_CASE("permissions: capabilities of a user namespace do not count") {
  const Machine here;
  const std::vector<Adapter> intel{{"0000:00:02.0", HMN_VENDOR_INTEL, 0x46a6, "i915", ""}};
  here.write("proc/self/status", "CapEff:\t000001ffffffffff\n");
  here.link("proc/self/ns/user", "user:[4026531837]");  // the initial one
  CHECK(mentions(text_of(inspect_permissions(here.in(), intel, {})), "ok    used memory"));
  fs::remove(fs::path(here.in().proc) / "self/ns/user");
  here.link("proc/self/ns/user", "user:[4026532999]");
  const auto text = text_of(inspect_permissions(here.in(), intel, {}));
  CHECK(mentions(text, "note  processes outside of this user namespace cannot be inspected"));
  CHECK(mentions(text, "note  used memory is not readable from Intel's drivers: CAP_PERFMON does"));
  CHECK(mentions(text, "do: run hmn as root outside of this user namespace"));
  CHECK_FALSE(mentions(text, "setcap"));
  CHECK_FALSE(mentions(text, "runs as root\n"));
}

TEST_CASE("a proc tree from another PID namespace is told to be one") {
  const Machine here;
  fs::remove_all(fs::path(here.in().proc) / "self");
  here.write("proc/stat", "cpu 0\n");
  CHECK(mentions(text_of(inspect_container(here.in(), std::nullopt)),
                 "does not show this process: it is the tree of another PID namespace"));
  here.write("proc/4242/status", "");
  here.link("proc/self", "4242");
  CHECK(mentions(text_of(inspect_container(here.in(), std::nullopt)),
                 "tree of another PID namespace, where this process is 4242;"));
}
