// SPDX-License-Identifier: MIT OR Apache-2.0
#include "support/drivers.h"

#include <dlfcn.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "backends/amdgpu/cards.hpp"
#include "fake_nvml.h"
#include "fake_tree.hpp"

namespace {

constexpr char idle_gpu[] =
    R"({"devices": [{"name": "NVIDIA Example", "uuid": "GPU-1", "pci": {"address": "00000000:01:00.0"},
        "memory": {"total": "8 GiB", "free": "8 GiB", "used": 0}, "utilization": {"gpu": 0, "memory": 0},
        "processes": {"compute": [], "graphics": [], "mps": []}}]})";
constexpr std::uint32_t client_pid = 4242;

std::unique_ptr<hmn_fake::Tree> files;
decltype(&fake_nvml_initialized) sessions = nullptr;

bool open_driver() {
  void* const library = dlopen(HMN_TEST_NVML, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  const auto load = reinterpret_cast<decltype(&fake_nvml_load)>(dlsym(library, "fake_nvml_load"));
  sessions =
      reinterpret_cast<decltype(&fake_nvml_initialized)>(dlsym(library, "fake_nvml_initialized"));
  return load(idle_gpu) == 0;
}

}  // namespace

int drivers_begin() {
  if (!open_driver()) return -1;
  files = std::make_unique<hmn_fake::Tree>();
  drivers_set_client(0);
  hmn_fake::set_nvidia_version(*files, "550.163.01");
  hmn_fake::PciDevice nvidia;
  nvidia.address = "0000:01:00.0";
  nvidia.device = 0x26b9;
  nvidia.power_control = "auto";
  nvidia.runtime_status = "active";
  nvidia.driver = "nvidia";
  hmn_fake::add_pci_device(*files, nvidia);
  hmn_fake::PciDevice amd = amdgpu_test::navi("0000:03:00.0");
  amd.drm_nodes = {"card1", "renderD129"};
  hmn_fake::add_pci_device(*files, amd);
  return 0;
}

hmn_status drivers_use(hmn_context* context) {
  const std::pair<std::uint32_t, std::string> paths[] = {
      {HMN_PATH_PROC, files->proc()}, {HMN_PATH_SYS, files->sys()}, {HMN_PATH_NVML, HMN_TEST_NVML}};
  hmn_status status = HMN_OK;
  for (const auto& [what, path] : paths) {
    if (status == HMN_OK) status = hmn_context_set_path(context, what, path.c_str(), nullptr);
  }
  return status;
}

int drivers_sessions() {
  return sessions();
}

void drivers_add_processes(std::uint32_t count) {
  for (std::uint32_t pid = 10000; count-- > 0; ++pid) {
    hmn_fake::Process one = hmn_fake::simple_process(pid, "shell", 1000, 64);
    one.descriptors = {{0, "/dev/null"}};
    one.fdinfo = {{0, "pos:\t0\nflags:\t0100000\n"}};
    hmn_fake::add_process(*files, one);
  }
}

void drivers_set_client(int is_there) {
  hmn_fake::Process client = hmn_fake::simple_process(client_pid, "trainer", 1000, 4096);
  if (is_there != 0) {
    client.descriptors = {{3, "/dev/dri/renderD129"}};
    client.fdinfo = {{3, amdgpu_test::client_text("0000:03:00.0", 7, 2048, 512)}};
  } else {
    std::filesystem::remove_all(files->path("proc/4242"));
  }
  hmn_fake::add_process(*files, client);
}
