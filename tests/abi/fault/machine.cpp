// SPDX-License-Identifier: MIT OR Apache-2.0
#include "machine.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "backends/amdgpu/cards.hpp"
#include "fake_nvml.h"
#include "fake_tree.hpp"

namespace {

struct Driver {
  decltype(&fake_nvml_load) load = nullptr;
  decltype(&fake_nvml_fail) fail = nullptr;
  decltype(&fake_nvml_calls) calls = nullptr;
  unsigned long long calls_before = 0;
};

std::unique_ptr<hmn_fake::Tree> files;
Driver nvml;

template <class F>
void find(void* library, const char* name, F& out) {
  out = reinterpret_cast<F>(dlsym(library, name));
}

bool open_driver() {
  void* const library = dlopen(HMN_TEST_NVML, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  find(library, "fake_nvml_load", nvml.load);
  find(library, "fake_nvml_fail", nvml.fail);
  find(library, "fake_nvml_calls", nvml.calls);
  return nvml.load(HMN_TEST_SCENARIO) == 0;
}

void add_processes(const hmn_fake::Tree& t) {
  hmn_fake::Process self =
      hmn_fake::simple_process(static_cast<std::uint32_t>(getpid()), "fault_test", 900, 2048);
  self.smaps_rollup = hmn_fake::format_text(hmn_fake::SmapsRollupText());
  self.cgroup = "0::/user.slice\n";
  hmn_fake::add_process(t, self);
  hmn_fake::set_self(t, self.pid);
  hmn_fake::Process trainer = hmn_fake::simple_process(4242, "trainer", 1000, 4096);
  trainer.cgroup = "0::/user.slice\n";
  trainer.descriptors = {{3, "/dev/dri/renderD129"}};
  trainer.fdinfo = {{3,
                     "drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t7\n"
                     "drm-memory-vram:\t2048 KiB\ndrm-memory-gtt:\t512 KiB\n"
                     "drm-engine-gfx:\t1000 ns\n"}};
  hmn_fake::add_process(t, trainer);
}

void add_host(const hmn_fake::Tree& t) {
  hmn_fake::Meminfo memory;
  memory.total = 65536;
  memory.available = 4096;
  hmn_fake::set_meminfo(t, memory);
  hmn_fake::set_boot_time(t, 1700000000);
  hmn_fake::Mount groups;
  groups.point = t.path("sys/fs/cgroup");
  groups.type = groups.source = "cgroup2";
  hmn_fake::set_mountinfo(t, "self", {groups});
  hmn_fake::set_cgroup_v2(t, "user.slice",
                          {{"memory.max", "33554432\n"},
                           {"memory.current", "16777216\n"},
                           {"memory.stat", "inactive_file 8388608\nactive_file 4194304\n"},
                           {"cgroup.subtree_control", "memory pids\n"},
                           {"dmem.max", "drm/0000:03:00.0/vram0 8589934592\n"},
                           {"dmem.current", "drm/0000:03:00.0/vram0 1073741824\n"}});
  hmn_fake::set_cgroup_v2(t, "", {{"cgroup.subtree_control", "memory dmem pids\n"}});
  t.write("proc/pressure/memory", "some avg10=0.25 avg60=0.10 avg300=0.05 total=1234\n");
}

void add_cards(const hmn_fake::Tree& t) {
  hmn_fake::set_nvidia_version(t, "550.163.01");
  hmn_fake::PciDevice nvidia;
  nvidia.address = "0000:01:00.0";
  nvidia.device = 0x26b9;
  nvidia.power_control = "on";
  nvidia.runtime_status = "active";
  nvidia.driver = "nvidia";
  nvidia.drm_nodes = {"card0", "renderD128"};
  hmn_fake::add_pci_device(t, nvidia);
  hmn_fake::PciDevice amd = amdgpu_test::navi("0000:03:00.0");
  amd.drm_nodes = {"card1", "renderD129"};
  hmn_fake::add_pci_device(t, amd);
}

void add_tool(const hmn_fake::Tree& t) {
  t.write("nvidia-smi.json",
          R"({"gpus": [{"fields": {"name": "NVIDIA Example",
              "uuid": "GPU-11111111-2222-3333-4444-555555555555", "pci.bus_id": "00000000:01:00.0",
              "driver_version": "550.163.01", "memory.total": 46068, "memory.used": 9123,
              "memory.free": 36346, "memory.reserved": 599, "utilization.gpu": 64},
              "compute_apps": [{"pid": 4242, "process_name": "trainer", "used_gpu_memory": 1024}]}]})");
  std::filesystem::copy_file(HMN_TEST_NVIDIA_SMI, t.path("nvidia-smi"));
}

}  // namespace

int machine_begin() {
  if (!open_driver()) return -1;
  files = std::make_unique<hmn_fake::Tree>();
  add_processes(*files);
  add_host(*files);
  add_cards(*files);
  add_tool(*files);
  return 0;
}

hmn_status machine_use(hmn_context* context, int with_tool) {
  const std::pair<std::uint32_t, std::string> paths[] = {
      {HMN_PATH_PROC, files->proc()},
      {HMN_PATH_SYS, files->sys()},
      {HMN_PATH_CGROUP, files->path("sys/fs/cgroup")},
      {HMN_PATH_NVIDIA_SMI, files->path(with_tool != 0 ? "nvidia-smi" : "no-tool")},
      {HMN_PATH_NVML, with_tool != 0 ? files->path("no-library") : HMN_TEST_NVML},
  };
  hmn_status status = HMN_OK;
  for (const auto& [what, path] : paths) {
    if (status == HMN_OK) status = hmn_context_set_path(context, what, path.c_str(), nullptr);
  }
  return status;
}

void machine_fail_driver(long number, int code) {
  nvml.fail(static_cast<unsigned long long>(number), code);
  nvml.calls_before = nvml.calls(nullptr);
}

long machine_driver_calls() {
  return static_cast<long>(nvml.calls(nullptr) - nvml.calls_before);
}
