// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Each known key of a recording yields a value or its own reason, never the reason of
// a key that is not there.
#include "recorded.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "witness.hpp"

using namespace lies_test;
using nlohmann::json;
using recorded::Entry;
namespace fs = std::filesystem;

namespace {

struct KeyMapping {
  const char* recorded;
  const char* key;
};

bool is_generic_reason(const std::string& reason) {
  for (const char* words : {"not supported by this device or driver", "not reported by the driver",
                            "prints no such value", "has no such column"}) {
    if (reason.find(words) != std::string::npos) return true;
  }
  return false;
}

int check_count = 0;

void check(const Witness& witness, const KeyMapping& mapping) {
  INFO((std::string(mapping.recorded) + " as " + mapping.key));
  ++check_count;
  const std::string value = witness.read(mapping.key);
  REQUIRE(value != "none");
  if (value.find_first_of("0123456789") != std::string::npos) return;
  const std::string reason = witness.explain(mapping.key);
  INFO(reason);
  CHECK_FALSE(reason.empty());
  CHECK(value != "unknown");
  CHECK_FALSE(is_generic_reason(reason));
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) {
    const std::size_t first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first));
  }
  return cells;
}

void install_tool(const Witness& witness, const char* name, std::uint32_t path_kind,
                  const std::string& body) {
  const std::string file = std::string("tool/") + name;
  witness.tree().script(file, body);
  witness.set_path(path_kind, witness.tree().path(file));
}

// Paths of all values: "usage/gfx_activity".
void collect_paths(const json& value, const std::string& path, std::vector<std::string>& paths) {
  if (!value.is_object() || value.contains("value")) return paths.push_back(path);
  for (const auto& [key, inner] : value.items()) {
    collect_paths(inner, path.empty() ? key : path + "/" + key, paths);
  }
}

constexpr KeyMapping columns[] = {
    {"memory.total", "total_bytes"},
    {"memory.used", "used_bytes"},
    {"memory.free", "free_bytes"},
    {"memory.reserved", "reserved_bytes"},
    {"utilization.gpu", "gpu_busy_percent"},
    {"utilization.encoder", "encoder_busy_percent"},
    {"utilization.decoder", "decoder_busy_percent"},
    {"utilization.memory", "memory_busy_percent"},
    {"temperature.gpu", "temperature_celsius"},
    {"temperature.memory", "memory_celsius"},
    {"power.draw", "power_watts"},
    {"enforced.power.limit", "power_limit_watts"},
    {"clocks.current.graphics", "core_clock_mhz"},
    {"clocks.current.memory", "memory_clock_mhz"},
    {"fan.speed", "fan_percent"},
    {"pcie.link.gen.current", "pcie_generation"},
    {"pcie.link.width.current", "pcie_width"},
    {"pstate", "p_state"},
    {"clocks_event_reasons.active", "throttle"},
    {"clocks_throttle_reasons.active", "throttle"},
    {"clocks.current.sm", "clock_mhz/sm"},
    {"clocks.current.video", "clock_mhz/video"},
    {"clocks.max.graphics", "clock_limit_mhz/core"},
    {"clocks.max.memory", "clock_limit_mhz/memory"},
    {"power.default_limit", "power_limit_watts/default"},
    {"power.min_limit", "power_limit_watts/min"},
    {"power.max_limit", "power_limit_watts/max"},
    {"ecc.errors.corrected.volatile.total", "ecc_corrected/since_load"},
    {"ecc.errors.corrected.aggregate.total", "ecc_corrected/lifetime"},
    {"ecc.errors.uncorrected.volatile.total", "ecc_uncorrected/since_load"},
    {"ecc.errors.uncorrected.aggregate.total", "ecc_uncorrected/lifetime"},
};

constexpr KeyMapping rocm_keys[] = {
    {"VRAM Total Memory (B)", "total_bytes"},
    {"VRAM Total Used Memory (B)", "used_bytes"},
    {"GPU use (%)", "gpu_busy_percent"},
    {"GPU memory use (%)", "memory_busy_percent"},
    {"GPU Memory Read/Write Activity (%)", "memory_busy_percent"},
    {"Temperature (Sensor edge) (C)", "temperature_celsius"},
    {"Temperature (Sensor junction) (C)", "hotspot_celsius"},
    {"Temperature (Sensor memory) (C)", "memory_celsius"},
    {"Average Graphics Package Power (W)", "power_watts"},
    {"Current Socket Graphics Package Power (W)", "power_watts"},
    {"Max Graphics Package Power (W)", "power_limit_watts"},
    {"Accumulated Energy (uJ)", "energy_joules"},
    {"sclk clock speed:", "core_clock_mhz"},
    {"mclk clock speed:", "memory_clock_mhz"},
    {"Fan speed (%)", "fan_percent"},
    {"Fan RPM", "fan_rpm"},
    {"pcie clock level", "pcie_width"},
    {"VIS_VRAM Total Memory (B)", "vram_visible:total_bytes"},
    {"VIS_VRAM Total Used Memory (B)", "vram_visible:used_bytes"},
    {"GTT Total Memory (B)", "host:total_bytes"},
    {"GTT Total Used Memory (B)", "host:used_bytes"},
    {"socclk clock speed:", "clock_mhz/soc"},
    {"fclk clock speed:", "clock_mhz/fabric"},
    {"Voltage (mV)", "voltage/core"},
};

constexpr KeyMapping amd_paths[] = {
    {"mem_usage/total_vram", "total_bytes"},
    {"mem_usage/used_vram", "used_bytes"},
    {"usage/gfx_activity", "gpu_busy_percent"},
    {"usage/umc_activity", "memory_busy_percent"},
    {"temperature/edge", "temperature_celsius"},
    {"temperature/hotspot", "hotspot_celsius"},
    {"temperature/mem", "memory_celsius"},
    {"power/socket_power", "power_watts"},
    {"limit/socket_power", "power_limit_watts"},
    {"power/throttle_status", "throttle"},
    {"clock/gfx_0/clk", "core_clock_mhz"},
    {"clock/mem_0/clk", "memory_clock_mhz"},
    {"energy/total_energy_consumption", "energy_joules"},
    {"fan/usage", "fan_percent"},
    {"fan/rpm", "fan_rpm"},
    {"mem_usage/total_visible_vram", "vram_visible:total_bytes"},
    {"mem_usage/used_visible_vram", "vram_visible:used_bytes"},
    {"mem_usage/total_gtt", "host:total_bytes"},
    {"mem_usage/used_gtt", "host:used_bytes"},
    {"usage/mm_activity", "engine_percent/media"},
    {"limit/slowdown_edge_temperature", "temperature_limit/core"},
    {"limit/slowdown_hotspot_temperature", "temperature_limit/hotspot"},
    {"limit/slowdown_vram_temperature", "temperature_limit/memory"},
    {"limit/shutdown_edge_temperature", "temperature_shutdown/core"},
    {"limit/shutdown_hotspot_temperature", "temperature_shutdown/hotspot"},
    {"limit/shutdown_vram_temperature", "temperature_shutdown/memory"},
    {"limit/min_power", "power_limit_watts/min"},
    {"limit/max_power", "power_limit_watts/max"},
    {"clock/vclk_0/clk", "clock_mhz/video"},
    {"clock/gfx_0/max_clk", "clock_limit_mhz/core"},
    {"clock/mem_0/max_clk", "clock_limit_mhz/memory"},
    {"power/gfx_voltage", "voltage/core"},
    {"power/soc_voltage", "voltage/soc"},
    {"power/mem_voltage", "voltage/memory"},
};

constexpr KeyMapping amdgpu_files[] = {
    {"mem_info_vram_total", "total_bytes"},
    {"mem_info_vram_used", "used_bytes"},
    {"gpu_busy_percent", "gpu_busy_percent"},
    {"mem_busy_percent", "memory_busy_percent"},
    {"temp1_input", "temperature_celsius"},
    {"temp2_input", "hotspot_celsius"},
    {"temp3_input", "memory_celsius"},
    {"power1_average", "power_watts"},
    {"power1_input", "power_watts"},
    {"power1_cap", "power_limit_watts"},
    {"pp_dpm_sclk", "core_clock_mhz"},
    {"pp_dpm_mclk", "memory_clock_mhz"},
    {"fan1_input", "fan_rpm"},
    {"pwm1", "fan_percent"},
    {"current_link_speed", "pcie_generation"},
    {"current_link_width", "pcie_width"},
    {"gpu_metrics", "throttle"},
    {"mem_info_vis_vram_total", "vram_visible:total_bytes"},
    {"mem_info_vis_vram_used", "vram_visible:used_bytes"},
    {"mem_info_gtt_total", "host:total_bytes"},
    {"mem_info_gtt_used", "host:used_bytes"},
    {"power1_cap_default", "power_limit_watts/default"},
    {"power1_cap_min", "power_limit_watts/min"},
    {"power1_cap_max", "power_limit_watts/max"},
    {"temp1_crit", "temperature_limit/core"},
    {"temp2_crit", "temperature_limit/hotspot"},
    {"temp3_crit", "temperature_limit/memory"},
    {"temp1_emergency", "temperature_shutdown/core"},
    {"temp2_emergency", "temperature_shutdown/hotspot"},
    {"temp3_emergency", "temperature_shutdown/memory"},
    {"pp_dpm_socclk", "clock_mhz/soc"},
    {"pp_dpm_fclk", "clock_mhz/fabric"},
    {"pp_dpm_vclk", "clock_mhz/video"},
    {"in0_input", "voltage/core"},
};

constexpr KeyMapping intel_files[] = {
    {"power1_max", "power_limit_watts"},    {"power2_max", "power_limit_watts"},
    {"power1_cap", "power_limit_watts"},    {"energy1_input", "energy_joules"},
    {"energy2_input", "energy_joules"},     {"energy2_input", "power_watts"},
    {"temp1_input", "temperature_celsius"}, {"temp2_input", "temperature_celsius"},
    {"temp3_input", "memory_celsius"},      {"fan1_input", "fan_rpm"},
    {"act_freq", "core_clock_mhz"},         {"rps_act_freq_mhz", "core_clock_mhz"},
    {"current_link_width", "pcie_width"},
};

// A metric that the tool reports as unsupported needs no other reason.
void check_columns(const Witness& witness, const std::vector<std::string>& names,
                   const std::vector<std::string>& values) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (const KeyMapping& mapping : columns) {
      if (names[i].substr(0, names[i].find(' ')) != mapping.recorded) continue;
      const bool is_metric = std::string(mapping.key).find('/') != std::string::npos;
      if (is_metric && values.at(i) == "[N/A]") {
        CHECK(witness.read(mapping.key) == "unsupported");
      } else {
        check(witness, mapping);
      }
    }
  }
}

void check_files(const Witness& witness, const fs::path& folder, std::span<const KeyMapping> keys) {
  for (const auto& file : fs::recursive_directory_iterator(folder)) {
    for (const KeyMapping& mapping : keys) {
      // An empty file: the kernel has nothing to report.
      const bool is_match = file.path().filename() == mapping.recorded && file.file_size() > 1;
      if (file.is_regular_file() && is_match) check(witness, mapping);
    }
  }
}

void link_files(const hmn_fake::Tree& tree, const fs::path& source, const std::string& target) {
  for (const auto& file : fs::recursive_directory_iterator(source)) {
    if (!file.is_regular_file()) continue;
    tree.link(target + "/" + fs::relative(file.path(), source).string(), file.path().string());
  }
}

fs::path find_card(const Entry& entry) {
  for (const auto& folder : fs::directory_iterator(entry.path())) {
    if (folder.path().filename().string().starts_with("card")) return folder.path();
  }
  return {};
}

}  // namespace

TEST_CASE("recorded tables of nvidia-smi yield a value or a reason for every known column") {
  check_count = 0;
  for (const Entry& entry : recorded::find_all("nvidia-smi-csv/")) {
    const bool lists_gpus = entry.expected.contains("gpus") && entry.file.ends_with(".csv");
    if (!lists_gpus || entry.file.find("noheader") != std::string::npos) continue;
    CAPTURE(entry.file);
    Witness witness(backend_bit(HMN_BACKEND_NVIDIA_SMI));
    install_tool(witness, "nvidia-smi", HMN_PATH_NVIDIA_SMI, "exec cat '" + entry.path() + "'");
    witness.take_snapshot();
    if (witness.count_devices() == 0) {
      CHECK(witness.find_reason("none that anything identifies") == "ambiguous");
      continue;
    }
    std::istringstream lines(entry.text());
    std::string names, values;
    std::getline(lines, names);
    std::getline(lines, values);
    check_columns(witness, split(names), split(values));
  }
  CHECK(check_count > 60);
}

TEST_CASE("recorded answers of rocm-smi yield a value or a reason for every known key") {
  check_count = 0;
  for (const Entry& entry : recorded::find_all("rocm-smi-json/")) {
    if (!entry.file.ends_with(".json")) continue;
    CAPTURE(entry.file);
    Witness witness(backend_bit(HMN_BACKEND_ROCM_SMI));
    hmn_fake::add_pci_device(witness.tree(), hmn_fake::amd_card("0000:0b:00.0"));
    install_tool(witness, "rocm-smi", HMN_PATH_ROCM_SMI, "exec cat '" + entry.path() + "'");
    witness.take_snapshot();
    const json all = json::parse(entry.text());
    for (const KeyMapping& mapping : rocm_keys) {
      if (all.begin()->contains(mapping.recorded)) check(witness, mapping);
    }
  }
  CHECK(check_count > 40);
}

TEST_CASE("recorded answers of amd-smi yield a value or a reason for every known key") {
  check_count = 0;
  for (const Entry& entry : recorded::find_all("amd-smi-json/")) {
    if (!entry.file.ends_with(".json")) continue;
    CAPTURE(entry.file);
    Witness witness(backend_bit(HMN_BACKEND_AMD_SMI));
    hmn_fake::add_pci_device(witness.tree(), hmn_fake::amd_card("0000:0b:00.0"));
    const std::string question =
        entry.file.find("static") != std::string::npos ? "static" : "metric";
    install_tool(witness, "amd-smi", HMN_PATH_AMD_SMI,
                 "[ \"$1\" = " + question + " ] || exit 7\nexec cat '" + entry.path() + "'");
    witness.take_snapshot();
    json all = json::parse(entry.text());
    if (all.is_object() && all.contains("gpu_data")) all = all.at("gpu_data");
    std::vector<std::string> paths;
    collect_paths(all.is_array() ? all.at(0) : all, "", paths);
    for (const KeyMapping& mapping : amd_paths) {
      if (std::find(paths.begin(), paths.end(), mapping.recorded) != paths.end())
        check(witness, mapping);
    }
  }
  CHECK(check_count > 10);
}

TEST_CASE("recorded files of amdgpu yield a value or a reason for every known file") {
  check_count = 0;
  for (const Entry& entry : recorded::find_all("amdgpu-sysfs/lact-")) {
    CAPTURE(entry.file);
    Witness witness(0);
    const fs::path device = find_card(entry) / "device";
    witness.tree().link("sys/class/drm/renderD128/device", device.string());
    witness.take_snapshot();
    check_files(witness, device, amdgpu_files);
  }
  CHECK(check_count > 60);
}

TEST_CASE("recorded files of i915 and xe yield a value or a reason for every known file") {
  check_count = 0;
  for (const Entry& entry : recorded::find_all("i915-xe-sysfs/lact-")) {
    CAPTURE(entry.file);
    Witness witness(0);
    hmn_fake::PciDevice device;
    device.address = entry.expected.at("pci_slot").get<std::string>();
    device.vendor = 0x8086;
    device.driver = entry.expected.at("driver").get<std::string>();
    device.drm_nodes = {"card0", "renderD128"};
    hmn_fake::add_pci_device(witness.tree(), device);
    const std::string folder = "sys/" + hmn_fake::pci_folder(device.address);
    link_files(witness.tree(), find_card(entry) / "device", folder);
    witness.take_snapshot();
    check_files(witness, find_card(entry) / "device", intel_files);
  }
  CHECK(check_count > 15);
}
