// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Folders of copied kernel files as machines.
#include <doctest/doctest.h>

#include <string>

#include "fake_tree.hpp"
#include "simulation.hpp"

namespace {

// A context on a folder, and a snapshot of it.
struct FolderMachine {
  explicit FolderMachine(const std::string& folder) {
    auto options = sized<hmn_context_options>();
    options.flags = HMN_CONTEXT_NO_THREADS;
    REQUIRE(hmn_context_create(&options, &context, nullptr) == HMN_OK);
    REQUIRE(hmn_context_set_path(context, HMN_PATH_SIMULATION, folder.c_str(), nullptr) == HMN_OK);
  }
  FolderMachine(const FolderMachine&) = delete;
  FolderMachine& operator=(const FolderMachine&) = delete;
  ~FolderMachine() { hmn_context_destroy(context); }

  std::uint32_t count_devices() const {
    std::uint32_t devices = 0;
    REQUIRE(hmn_device_scan(context, &devices, nullptr, nullptr) == HMN_OK);
    return devices;
  }
  hmn_device read_device(std::uint32_t index = 0) const {
    auto record = sized<hmn_device>();
    REQUIRE(hmn_device_read(context, index, 0, &record, nullptr) == HMN_OK);
    return record;
  }
  hmn_telemetry read_telemetry() const {
    auto record = sized<hmn_telemetry>();
    REQUIRE(hmn_telemetry_read(context, 0, 0, &record, nullptr) == HMN_OK);
    return record;
  }

  hmn_context* context = nullptr;
};

constexpr const char* uevent =
    "DRIVER=nouveau\nPCI_CLASS=30000\nPCI_ID=10DE:1B80\nPCI_SUBSYS_ID=1458:3702\n"
    "PCI_SLOT_NAME=0000:05:00.0\n";

}  // namespace

TEST_CASE("a folder of a card is a machine with that card") {
  const hmn_fake::Tree files;
  files.write("copy/card3/device/uevent", uevent);
  files.write("copy/card3/device/vendor", "0x10de\n");
  files.write("copy/card3/device/hwmon/hwmon2/temp1_input", "41000\n");
  for (const char* folder : {"copy", "copy/card3"}) {
    CAPTURE(folder);
    const FolderMachine machine(files.path(folder));
    REQUIRE(machine.count_devices() == 1);
    const hmn_device device = machine.read_device();
    CHECK(std::string(device.pci_bus_id) == "0000:05:00.0");
    CHECK(device.vendor == 0x10de);
    CHECK(device.pci_device == 0x1b80);
    CHECK(device.pci_subsystem == 0x37021458);
    CHECK(device.backend == HMN_BACKEND_DRM);
    CHECK(device.state == HMN_RUN_STATE_READY);
    CHECK(machine.read_telemetry().temperature_celsius == doctest::Approx(41));
  }
}

TEST_CASE("several cards are sorted by address; a card off the bus has none") {
  const hmn_fake::Tree files;
  files.write("copy/card10/device/uevent", "DRIVER=nouveau\nPCI_SLOT_NAME=0000:01:00.0\n");
  files.write("copy/card2/device/uevent", "DRIVER=nouveau\nPCI_SLOT_NAME=0000:02:00.0\n");
  files.write("copy/card4/device/uevent", "DRIVER=panfrost\n");
  files.write("copy/card7", "not a folder");
  const FolderMachine machine(files.path("copy"));
  REQUIRE(machine.count_devices() == 3);
  std::string addresses;
  for (std::uint32_t i = 0; i < 3; ++i)
    addresses += machine.read_device(i).pci_bus_id + std::string(" ");
  CHECK(addresses.find("0000:01:00.0 0000:02:00.0 ") != std::string::npos);
}

TEST_CASE("a sleeping card is asleep in its copy, too") {
  const hmn_fake::Tree files;
  files.write("copy/card0/device/uevent", uevent);
  files.write("copy/card0/device/power/runtime_status", "suspended\n");
  const FolderMachine machine(files.path("copy"));
  REQUIRE(machine.count_devices() == 1);
  CHECK(machine.read_device().state == HMN_RUN_STATE_ASLEEP);
}

TEST_CASE("a copy of another system shows nothing of this system") {
  const hmn_fake::Tree files;
  hmn_fake::Meminfo memory;
  memory.total = 4096;
  memory.available = 1024;
  hmn_fake::set_meminfo(files, memory);
  files.write("proc/self/cgroup", "0::/\n");
  hmn_fake::set_mountinfo(files, "self", {{"/", "/sys/fs/cgroup", "cgroup2", "cgroup2", "rw"}});
  files.write("sys/fs/cgroup/memory.max", "2097152\n");
  files.write("sys/fs/cgroup/memory.current", "1048576\n");
  const FolderMachine machine(files.root().string());
  auto system = sized<hmn_system_memory>();
  REQUIRE(hmn_system_memory_read(machine.context, 0, &system, nullptr) == HMN_OK);
  CHECK(system.total_bytes == 4 * mib);
  CHECK(system.available_bytes == mib);
  CHECK(system.limit_bytes == 2 * mib);
  CHECK(system.limit_used_bytes == mib);
  CHECK(machine.count_devices() == 0);
  auto own = sized<hmn_process_memory>();
  auto error = sized<hmn_error>();
  CHECK(hmn_process_memory_read_self(machine.context, 0, &own, &error) != HMN_OK);
}

TEST_CASE("in a whole tree the processes hold their cards") {
  const hmn_fake::Tree files;
  hmn_fake::PciDevice card;
  card.address = "0000:01:00.0";
  card.vendor = 0x10de;
  card.driver = "nouveau";
  card.drm_nodes = {"card0", "renderD128"};
  hmn_fake::add_pci_device(files, card);
  auto worker = hmn_fake::simple_process(77, "worker", 100, 256);
  worker.descriptors = {{5, "/dev/dri/renderD128"}};
  worker.fdinfo = {{5,
                    "drm-driver:\tnouveau\ndrm-pdev:\t0000:01:00.0\ndrm-client-id:\t9\n"
                    "drm-total-vram:\t8 MiB\ndrm-resident-vram:\t6 MiB\n"}};
  hmn_fake::add_process(files, worker);
  for (const bool is_sysfs_alone : {false, true}) {
    const FolderMachine machine(is_sysfs_alone ? files.sys() : files.root().string());
    REQUIRE(machine.count_devices() == 1);
    auto usage = sized<hmn_usage>();
    const hmn_status status = hmn_usage_read(machine.context, 0, 77, 0, &usage, nullptr);
    if (is_sysfs_alone) {
      CHECK(status != HMN_OK);
    } else {
      REQUIRE(status == HMN_OK);
      CHECK(usage.used_bytes == 6 * mib);
    }
  }
}
