// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Each call of a reading of each of the kernel's drivers fails once, with a transient error:
// no value is wrong, missing values are reported, nothing stays open, and the next reading has all
// values again.
#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>

#include "../amdgpu/cards.hpp"
#include "../intel/cards.hpp"
#include "faults.hpp"
#include "measurements.hpp"
#include "source/registry.hpp"

using namespace hmn;
using namespace drm_test;
using namespace faults_test;

namespace {

constexpr int max_calls = 20'000;
constexpr std::uint32_t caller_pid = 42;

// A machine that never changes, and a factory of sources for it.
class World {
 public:
  virtual ~World() = default;
  [[nodiscard]] virtual std::unique_ptr<DeviceSource> source() const {
    return std::make_unique<drm::DrmSource>(machine.settings());
  }

 protected:
  Machine machine;
};

constexpr unsigned number_of_kfd = 57300;
constexpr std::uint64_t initial_namespace = 4026531836;  // PROC_PID_INIT_INO

// Two cards of amdgpu, one of them integrated in the processor, and KFD.
struct AmdWorld final : World {
  AmdWorld() {
    hmn_fake::PciDevice card = amdgpu_test::navi();
    card.files["hwmon/hwmon4/temp2_crit"] = "110000\n";
    card.files["hwmon/hwmon4/in1_input"] = "900\n";
    card.files["hwmon/hwmon4/in1_label"] = "vddmem\n";
    machine.add_pci(card, {card0, render128});
    hmn_fake::PciDevice part = amdgpu_test::phoenix();
    part.files.erase("hwmon/hwmon6/power1_input");  // replaces the average
    machine.add_pci(part, {card1, render129});
    amdgpu_test::set_kfd_generation(machine.tree(), 1);
    amdgpu_test::add_kfd_node(
        machine.tree(),
        {.gpu_id = number_of_kfd, .location = 0x300, .memory = 16 * amdgpu_test::gib});
    machine.add_process(1, {});
    hmn_fake::set_pid_namespace(machine.tree(), 1, initial_namespace);
    machine.add_process(caller_pid, {{3, "/dev/null", make_client_text("0000:03:00.0", 7, 2048)}});
    machine.add_process(43, {{3, "/dev/null", make_client_text("0000:03:00.0", 8, 4096)},
                             {4, "/dev/full", make_client_text("0000:64:00.0", 3, 512)}});
    hmn_fake::set_pid_namespace(machine.tree(), caller_pid, initial_namespace);
    hmn_fake::set_self(machine.tree(), caller_pid);
    amdgpu_test::set_kfd_vram(machine.tree(), caller_pid, number_of_kfd, 5 * mib);
    amdgpu_test::set_kfd_vram(machine.tree(), 777, number_of_kfd, 9 * mib);
  }
  static std::string make_client_text(const char* address, unsigned id, unsigned vram_kib) {
    return amdgpu_test::client_text(address, id, vram_kib, 64);
  }
};

// A card of i915 and one of xe, whose nodes answer as the kernel's do.
struct IntelWorld final : World {
  explicit IntelWorld(const char* first = "0000:03:00.0") {
    fake_drm_load(
        "perfmon\nnode renderD128 i915\nregion renderD128 0 0 1000000 0 1000000 0\n"
        "region renderD128 1 0 4000000 300000 256000 5000\n"
        "node renderD129 xe\nregion renderD129 0 0 1000000 7000 0 0\n"
        "region renderD129 1 1 8000000 400000 8000000 400000\n"
        "region renderD129 1 2 8000000 100000 8000000 100000\n");
    add_arc(first);
    add_battlemage();
    machine.add_process(caller_pid, {{3, "/dev/null", make_client("i915", first, "local0")}});
    machine.add_process(43, {{3, "/dev/full", make_client("xe", "0000:04:00.0", "vram0")}});
    hmn_fake::set_self(machine.tree(), caller_pid);
  }

 private:
  static std::string make_client(const char* driver, const char* address, const char* region) {
    return std::string("drm-driver:\t") + driver + "\ndrm-client-id:\t1\ndrm-pdev:\t" + address +
           "\ndrm-total-" + region + ":\t9 KiB\ndrm-resident-" + region + ":\t5 KiB\n";
  }
  void add_arc(const char* address) const {
    hmn_fake::PciDevice device = intel_test::arc_card(address);
    for (const char* gt : {"gt0", "gt1"}) {
      const std::string folder = std::string("drm/card0/gt/") + gt + "/";
      device.files[folder + "rps_act_freq_mhz"] = gt[2] == '0' ? "1950\n" : "600\n";
      device.files[folder + "rps_cur_freq_mhz"] = "2000\n";
      device.files[folder + "rps_max_freq_mhz"] = "2450\n";
      device.files[folder + "throttle_reason_status"] = "1\n";
      device.files[folder + "throttle_reason_pl1"] = gt[2] == '0' ? "1\n" : "0\n";
      device.files[folder + "throttle_reason_thermal"] = "0\n";
    }
    machine.add_pci(device, {card0, render128});
  }
  void add_battlemage() const {
    hmn_fake::PciDevice device = intel_test::intel_card("xe", "0000:04:00.0");
    const std::string chip = "hwmon/hwmon4/";
    device.files = {{chip + "name", "xe\n"},
                    {chip + "energy1_input", "9000000\n"},
                    {chip + "energy1_label", "card\n"},
                    {chip + "energy2_input", "5000000\n"},
                    {chip + "energy2_label", "pkg\n"},
                    {chip + "power1_max", "200000000\n"},
                    {chip + "power1_label", "card\n"},
                    {chip + "power2_max", "150000000\n"},
                    {chip + "power2_label", "pkg\n"},
                    {chip + "in1_input", "605\n"},
                    {chip + "in1_label", "pkg\n"},
                    {chip + "temp2_input", "46000\n"},
                    {chip + "temp2_label", "pkg\n"},
                    {chip + "temp3_input", "48000\n"},
                    {chip + "temp3_label", "vram\n"},
                    {chip + "fan1_input", "0\n"},
                    {chip + "fan2_input", "418\n"}};
    for (const char* gt : {"tile0/gt0", "tile0/gt1"}) {
      const std::string folder = std::string(gt) + "/freq0/";
      device.files[folder + "act_freq"] = gt[8] == '0' ? "1150\n" : "400\n";
      device.files[folder + "cur_freq"] = "1200\n";
      device.files[folder + "max_freq"] = "2850\n";
      device.files[folder + "throttle/status"] = "0\n";
      device.files[folder + "throttle/reason_pl1"] = "0\n";
    }
    machine.add_pci(device, {card1, render129});
  }
};

// An Orin, which has no DRM card and its own source.
struct OrinWorld final : World {
  OrinWorld() {
    const hmn_fake::Tree& tree = machine.tree();
    const std::string gpu = "sys/devices/platform/17000000.gpu/";
    const std::string clock = "sys/class/devfreq/17000000.gpu/";
    tree.write("sys/firmware/devicetree/base/model", std::string("NVIDIA Jetson AGX Orin\0", 23));
    tree.write(gpu + "of_node/name", std::string("ga10b\0", 6));
    tree.write(gpu + "of_node/compatible", std::string("nvidia,ga10b\0", 13));
    tree.write(gpu + "load", "423\n");
    tree.write(gpu + "power/runtime_status", "active\n");
    tree.write(clock + "cur_freq", "918000000\n");
    tree.write(clock + "max_freq", "1300500000\n");
    tree.link(clock + "device", tree.path(gpu.substr(0, gpu.size() - 1)));
    for (const auto& [index, type, milli] :
         {std::tuple{0, "CPU-therm\n", "51000\n"}, {1, "GPU-therm\n", "48750\n"}}) {
      const std::string folder = "sys/class/thermal/thermal_zone" + std::to_string(index) + "/";
      tree.write(folder + "type", type);
      tree.write(folder + "temp", milli);
    }
    const std::string rail = "sys/class/hwmon/hwmon3/";
    tree.write(rail + "name", "ina3221\n");
    tree.write(rail + "in2_label", "VDD_GPU_SOC\n");
    tree.write(rail + "in2_input", "5000\n");
    tree.write(rail + "curr2_input", "1600\n");
    tree.write("sys/kernel/debug/nvmap/iovmm/clients",
               "CLIENT                        PROCESS      PID        SIZE\n"
               "user                            train       42       2048K\n"
               "total                                                2048K\n");
    machine.add_process(caller_pid, {});
    hmn_fake::set_self(tree, caller_pid);
  }
  [[nodiscard]] std::unique_ptr<DeviceSource> source() const override {
    return make_tegra(machine.settings());
  }
};

std::size_t count_open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// A reading without faults may have diagnostics as well: those in `baseline`.
bool is_reported(const Measurements& actual, const PlainReading& reading,
                 const PlainReading& baseline) {
  return actual.has_failed ||
         std::any_of(reading.diagnostics.begin(), reading.diagnostics.end(),
                     [&](const auto& diagnostic) {
                       return baseline.find(diagnostic.failure.message.view()) == nullptr &&
                              (diagnostic.unreadable_processes != 0 ||
                               (diagnostic.failure.code != Status::unsupported &&
                                diagnostic.failure.code != Status::no_device));
                     });
}

// Returns false if there is no such call.
bool fails_once(const World& world, const Measurements& truth, const PlainReading& baseline,
                int call_index, int error) {
  const auto source = world.source();
  PlainReading reading, next;
  const std::size_t before = count_open_files();
  faults::arm(call_index, error);
  const Measurements actual = measure(*source, caller_pid, reading);
  const bool has_failed = faults::disarm();
  CHECK(count_open_files() == before);
  CHECK(find_wrong(actual, truth) == "");
  const std::string missing = find_missing(actual, truth);
  if (!missing.empty()) {
    CAPTURE(missing);
    CHECK(is_reported(actual, reading, baseline));
  }
  const Measurements second = measure(*source, caller_pid, next);
  CHECK(find_missing(second, truth) == "");
  CHECK(find_wrong(second, truth) == "");
  return has_failed;
}

void fail_each_call(const World& world, std::size_t least_values) {
  PlainReading reading;
  const Measurements truth = measure(*world.source(), caller_pid, reading);
  CHECK_FALSE(truth.has_failed);
  CHECK(truth.values.size() >= least_values);
  // Other transient errors are handled alike: backends.drm_faults has all of them.
  for (const int error : {EMFILE, ENODEV}) {
    int call_index = 0;
    while (call_index < max_calls) {
      CAPTURE(error);
      CAPTURE(call_index);
      if (!fails_once(world, truth, reading, call_index, error)) break;
      ++call_index;
    }
    MESSAGE("error " << error << ": " << call_index << " calls, " << truth.values.size()
                     << " figures");
    CHECK(call_index >= 40);
    CHECK(call_index < max_calls);
  }
}

}  // namespace

TEST_CASE("amdgpu and KFD: if any call of a reading fails once, no value is wrong") {
  fail_each_call(AmdWorld(), 60);
}

TEST_CASE("i915 and xe: if any call of a reading fails once, no value is wrong") {
  fail_each_call(IntelWorld(), 50);
}

// In a virtual machine a card and integrated graphics differ by more than their address.
TEST_CASE("i915 on the first bus: if any call of a reading fails once, no value is wrong") {
  fail_each_call(IntelWorld("0000:00:02.0"), 50);
}

TEST_CASE("tegra: if any call of a reading fails once, no value is wrong") {
  fail_each_call(OrinWorld(), 8);
}
