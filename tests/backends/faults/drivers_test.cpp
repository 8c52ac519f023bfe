// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Each call of a reading of each of the kernel's drivers fails once, with an error that passes:
// no value is wrong, what is missing is reported, nothing stays open, and the next reading has all
// again.
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

constexpr int most_calls = 20'000;
constexpr std::uint32_t own = 42;

// A machine that is never changed, and how a source for it is made.
class World {
 public:
  virtual ~World() = default;
  [[nodiscard]] virtual std::unique_ptr<DeviceSource> source() const {
    return std::make_unique<drm::DrmSource>(m.settings());
  }

 protected:
  Machine m;
};

constexpr unsigned number_of_kfd = 57300;
constexpr std::uint64_t initial_namespace = 4026531836;  // PROC_PID_INIT_INO

// Two cards of amdgpu, one of them a part of the processor, and KFD with them.
struct Amd final : World {
  Amd() {
    hmn_fake::PciDevice card = amdgpu_test::navi();
    card.files["hwmon/hwmon4/temp2_crit"] = "110000\n";
    card.files["hwmon/hwmon4/in1_input"] = "900\n";
    card.files["hwmon/hwmon4/in1_label"] = "vddmem\n";
    m.add_pci(card, {card0, render128});
    hmn_fake::PciDevice part = amdgpu_test::phoenix();
    part.files.erase("hwmon/hwmon6/power1_input");  // replaces the average
    m.add_pci(part, {card1, render129});
    amdgpu_test::set_kfd_generation(m.tree(), 1);
    amdgpu_test::add_kfd_node(
        m.tree(), {.gpu_id = number_of_kfd, .location = 0x300, .memory = 16 * amdgpu_test::gib});
    m.add_process(1, {});
    hmn_fake::set_pid_namespace(m.tree(), 1, initial_namespace);
    m.add_process(own, {{3, "/dev/null", text("0000:03:00.0", 7, 2048)}});
    m.add_process(43, {{3, "/dev/null", text("0000:03:00.0", 8, 4096)},
                       {4, "/dev/full", text("0000:64:00.0", 3, 512)}});
    hmn_fake::set_pid_namespace(m.tree(), own, initial_namespace);
    hmn_fake::set_self(m.tree(), own);
    amdgpu_test::set_kfd_vram(m.tree(), own, number_of_kfd, 5 * mib);
    amdgpu_test::set_kfd_vram(m.tree(), 777, number_of_kfd, 9 * mib);
  }
  static std::string text(const char* address, unsigned id, unsigned vram_kib) {
    return amdgpu_test::client_text(address, id, vram_kib, 64);
  }
};

// A card of i915 and one of xe, whose nodes answer as the kernel's do.
struct Intel final : World {
  explicit Intel(const char* first = "0000:03:00.0") {
    fake_drm_load(
        "perfmon\nnode renderD128 i915\nregion renderD128 0 0 1000000 0 1000000 0\n"
        "region renderD128 1 0 4000000 300000 256000 5000\n"
        "node renderD129 xe\nregion renderD129 0 0 1000000 7000 0 0\n"
        "region renderD129 1 1 8000000 400000 8000000 400000\n"
        "region renderD129 1 2 8000000 100000 8000000 100000\n");
    add_arc(first);
    add_battlemage();
    m.add_process(own, {{3, "/dev/null", client("i915", first, "local0")}});
    m.add_process(43, {{3, "/dev/full", client("xe", "0000:04:00.0", "vram0")}});
    hmn_fake::set_self(m.tree(), own);
  }

 private:
  static std::string client(const char* driver, const char* address, const char* region) {
    return std::string("drm-driver:\t") + driver + "\ndrm-client-id:\t1\ndrm-pdev:\t" + address +
           "\ndrm-total-" + region + ":\t9 KiB\ndrm-resident-" + region + ":\t5 KiB\n";
  }
  void add_arc(const char* address) const {
    hmn_fake::PciDevice d = intel_test::arc_card(address);
    for (const char* gt : {"gt0", "gt1"}) {
      const std::string folder = std::string("drm/card0/gt/") + gt + "/";
      d.files[folder + "rps_act_freq_mhz"] = gt[2] == '0' ? "1950\n" : "600\n";
      d.files[folder + "rps_cur_freq_mhz"] = "2000\n";
      d.files[folder + "rps_max_freq_mhz"] = "2450\n";
      d.files[folder + "throttle_reason_status"] = "1\n";
      d.files[folder + "throttle_reason_pl1"] = gt[2] == '0' ? "1\n" : "0\n";
      d.files[folder + "throttle_reason_thermal"] = "0\n";
    }
    m.add_pci(d, {card0, render128});
  }
  void add_battlemage() const {
    hmn_fake::PciDevice d = intel_test::intel_card("xe", "0000:04:00.0");
    const std::string chip = "hwmon/hwmon4/";
    d.files = {{chip + "name", "xe\n"},
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
      d.files[folder + "act_freq"] = gt[8] == '0' ? "1150\n" : "400\n";
      d.files[folder + "cur_freq"] = "1200\n";
      d.files[folder + "max_freq"] = "2850\n";
      d.files[folder + "throttle/status"] = "0\n";
      d.files[folder + "throttle/reason_pl1"] = "0\n";
    }
    m.add_pci(d, {card1, render129});
  }
};

// An Orin: no DRM card, a source of its own.
struct Orin final : World {
  Orin() {
    const hmn_fake::Tree& t = m.tree();
    const std::string gpu = "sys/devices/platform/17000000.gpu/";
    const std::string clock = "sys/class/devfreq/17000000.gpu/";
    t.write("sys/firmware/devicetree/base/model", std::string("NVIDIA Jetson AGX Orin\0", 23));
    t.write(gpu + "of_node/name", std::string("ga10b\0", 6));
    t.write(gpu + "of_node/compatible", std::string("nvidia,ga10b\0", 13));
    t.write(gpu + "load", "423\n");
    t.write(gpu + "power/runtime_status", "active\n");
    t.write(clock + "cur_freq", "918000000\n");
    t.write(clock + "max_freq", "1300500000\n");
    t.link(clock + "device", t.path(gpu.substr(0, gpu.size() - 1)));
    for (const auto& [n, type, milli] :
         {std::tuple{0, "CPU-therm\n", "51000\n"}, {1, "GPU-therm\n", "48750\n"}}) {
      const std::string folder = "sys/class/thermal/thermal_zone" + std::to_string(n) + "/";
      t.write(folder + "type", type);
      t.write(folder + "temp", milli);
    }
    const std::string rail = "sys/class/hwmon/hwmon3/";
    t.write(rail + "name", "ina3221\n");
    t.write(rail + "in2_label", "VDD_GPU_SOC\n");
    t.write(rail + "in2_input", "5000\n");
    t.write(rail + "curr2_input", "1600\n");
    t.write("sys/kernel/debug/nvmap/iovmm/clients",
            "CLIENT                        PROCESS      PID        SIZE\n"
            "user                            train       42       2048K\n"
            "total                                                2048K\n");
    m.add_process(own, {});
    hmn_fake::set_self(t, own);
  }
  [[nodiscard]] std::unique_ptr<DeviceSource> source() const override {
    return make_tegra(m.settings());
  }
};

std::size_t open_count() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// A reading without faults may have diagnostics, too: `usual`.
bool is_reported(const Measurements& seen, const PlainReading& r, const PlainReading& usual) {
  return seen.has_failed ||
         std::any_of(r.diagnostics.begin(), r.diagnostics.end(), [&](const auto& d) {
           return usual.find(d.why.message.view()) == nullptr &&
                  (d.unreadable_processes != 0 ||
                   (d.why.code != Status::unsupported && d.why.code != Status::no_device));
         });
}

// False: there was no such call.
bool fails_once(const World& w, const Measurements& truth, const PlainReading& usual, int n,
                int error) {
  const auto from = w.source();
  PlainReading r, next;
  const std::size_t before = open_count();
  faults::arm(n, error);
  const Measurements seen = take(*from, own, r);
  const bool has_failed = faults::disarm();
  CHECK(open_count() == before);
  CHECK(wrong_in(seen, truth) == "");
  const std::string missing = missing_in(seen, truth);
  if (!missing.empty()) {
    CAPTURE(missing);
    CHECK(is_reported(seen, r, usual));
  }
  const Measurements again = take(*from, own, next);
  CHECK(missing_in(again, truth) == "");
  CHECK(wrong_in(again, truth) == "");
  return has_failed;
}

void fail_each_call(const World& w, std::size_t least_values) {
  PlainReading r;
  const Measurements truth = take(*w.source(), own, r);
  CHECK_FALSE(truth.has_failed);
  CHECK(truth.values.size() >= least_values);
  // Others that pass look like these: backends.drm_faults has them all.
  for (const int error : {EMFILE, ENODEV}) {
    int n = 0;
    while (n < most_calls) {
      CAPTURE(error);
      CAPTURE(n);
      if (!fails_once(w, truth, r, n, error)) break;
      ++n;
    }
    MESSAGE("error " << error << ": " << n << " calls, " << truth.values.size() << " figures");
    CHECK(n >= 40);
    CHECK(n < most_calls);
  }
}

}  // namespace

TEST_CASE("amdgpu and KFD: each call of a reading fails once") {
  fail_each_call(Amd(), 60);
}

TEST_CASE("i915 and xe: each call of a reading fails once") {
  fail_each_call(Intel(), 50);
}

// As in a virtual machine: there a card differs from a part of a processor in more than its place.
TEST_CASE("i915 on the first bus: each call of a reading fails once") {
  fail_each_call(Intel("0000:00:02.0"), 50);
}

TEST_CASE("tegra: each call of a reading fails once") {
  fail_each_call(Orin(), 8);
}
