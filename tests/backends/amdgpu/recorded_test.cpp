// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Recorded folders of cards and of KFD, tables and clock levels yield the values of their index.
#include "recorded.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "backends/amdgpu/sysfs.hpp"
#include "backends/kfd/kfd.hpp"
#include "machine.hpp"
#include "recorded_card.hpp"

using namespace hmn;
using drm_test::Machine;
using drm_test::PlainReading;
using recorded::Entry;

namespace {

namespace fs = std::filesystem;
using Value = std::optional<std::uint64_t>;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Value number_or_none(const Entry& entry, const char* key) {
  return entry.has(key) ? Value(entry.number(key)) : std::nullopt;
}

void check_real(const Entry& entry, const char* key, const std::optional<double>& value) {
  CAPTURE(key);
  CHECK(value.has_value() == entry.has(key));
  if (value && entry.has(key))
    CHECK(*value == doctest::Approx(entry.expected.at(key).get<double>()));
}

void check_pool(const Entry& entry, const Pool* pool, const char* total, const char* used) {
  CAPTURE(total);
  CHECK((pool != nullptr ? pool->total : std::nullopt) == number_or_none(entry, total));
  if (used != nullptr)
    CHECK((pool != nullptr ? pool->used : std::nullopt) == number_or_none(entry, used));
}

void check_memory(const Entry& entry, Machine& machine, PlainReading& reading, DeviceForm form) {
  PoolList pools;
  CHECK(static_cast<bool>(machine.source().memory(0, pools, reading)) ==
        entry.has("vram_total_bytes"));
  check_pool(entry, pools.find(PoolKind::vram), "vram_total_bytes", "vram_used_bytes");
  check_pool(entry, pools.find(PoolKind::vram_visible), "vis_vram_total_bytes", nullptr);
  check_pool(entry, pools.find(PoolKind::host), "gtt_total_bytes", "gtt_used_bytes");
  if (pools.empty()) return;
  // Each recorded APU has more GTT than carve-out.
  CHECK(pools.all()[0].kind == (form == DeviceForm::integrated ? PoolKind::host : PoolKind::vram));
}

void check_sensors(const Entry& entry, Machine& machine, PlainReading& reading) {
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  check_real(entry, "gpu_busy_pct", telemetry.gpu_busy_percent);
  check_real(entry, "mem_busy_pct", telemetry.memory_busy_percent);
  check_real(entry, "temp_edge_c", telemetry.temperature_celsius);
  check_real(entry, "temp_junction_c", telemetry.hotspot_celsius);
  check_real(entry, "temp_mem_c", telemetry.memory_celsius);
  check_real(entry, "power1_average_w", telemetry.power_watts);
  check_real(entry, "power1_cap_w", telemetry.power_limit_watts);
  CHECK(telemetry.fan_rpm == number_or_none(entry, "fan_rpm"));
}

// Of "hexdump -C": a star stands for lines like the one before it.
std::string parse_hexdump(const std::string& dump) {
  std::string out;
  std::istringstream lines(dump);
  for (std::string line; std::getline(lines, line);) {
    if (line == "*") continue;
    std::istringstream words(line.substr(0, line.find('|')));
    std::string word;
    words >> word;
    const std::size_t offset = std::stoul(word, nullptr, 16);
    while (out.size() < offset) out += out.substr(out.size() - 16);
    while (words >> word) out.push_back(static_cast<char>(std::stoul(word, nullptr, 16)));
  }
  return out;
}

struct ExpectedNode {
  const nlohmann::json& json;
  [[nodiscard]] std::uint64_t number(const char* key) const {
    return json.at(key).get<std::uint64_t>();
  }
};

void check_node(const drm::ComputeNode& node, const ExpectedNode& expected) {
  CHECK(node.render_minor == expected.number("drm_render_minor"));
  CHECK(node.location == expected.number("location_id"));
  CHECK(node.domain == expected.number("domain"));
}

// "gfx90a" of 90010.
std::string format_architecture(std::uint32_t version) {
  std::ostringstream name;
  name << "gfx" << version / 10000 << std::hex << version / 100 % 100 << version % 100;
  return name.str();
}

// Checks a reading of a KFD node whose card has no files of its own.
void check_node_in_use(Machine& machine, const nlohmann::json& node, std::uint64_t used) {
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].architecture.view() ==
        format_architecture(node.at("gfx_target_version").get<std::uint32_t>()));
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].used == used);
  CHECK((rows[0].notes & note::lower_bound) != 0);
  PoolList pools;
  const Result<void> result = machine.source().memory(0, pools, reading);
  CHECK((result ? !pools.empty() : !result.failure().message.view().empty()));
}

fs::path topology_folder(const Entry& entry) {
  const fs::path folder = entry.path();
  return fs::is_directory(folder / "topology") ? folder / "topology" : folder;
}

// Links the topology of a recording. A recording without GPU ids gets some, as the kernel always
// all.
void add_topology(const hmn_fake::Tree& tree, const Entry& entry, nlohmann::json& nodes) {
  const std::string target = "sys/class/kfd/kfd/topology";
  const fs::path source = topology_folder(entry);
  if (nodes.begin()->contains("gpu_id")) return tree.link(target, source.string());
  for (auto& [number, node] : nodes.items()) {
    const bool is_gpu = node.at("is_gpu").get<bool>();
    node["gpu_id"] = is_gpu ? 1000 + std::stoul(number) : 0;
    tree.link(target + "/nodes/" + number + "/properties",
              (source / "nodes" / number / "properties").string());
    tree.write(target + "/nodes/" + number + "/gpu_id", node["gpu_id"].dump() + "\n");
  }
}

}  // namespace

TEST_CASE("recorded cards of amdgpu yield the values of their index") {
  int cards = 0;
  for (const Entry& entry : recorded::find_all("amdgpu-sysfs/lact-")) {
    CAPTURE(entry.file);
    const std::string folder = find_card_folder(entry);
    REQUIRE_FALSE(folder.empty());
    Machine machine(false, false);
    machine.tree().link("sys/class/drm/renderD128/device", folder);
    PlainReading reading;
    const auto devices = machine.devices(reading);
    REQUIRE(devices.size() == 1);
    CHECK(devices[0].source == Source::amdgpu);
    CHECK(devices[0].pci_bus_id.view() == entry.expected.at("pci_slot").get<std::string>());
    // The two processors are named as such in the index.
    const bool is_processor = entry.file.find("phoenix") != std::string::npos ||
                              entry.file.find("strixpoint") != std::string::npos;
    CHECK(devices[0].form == (is_processor ? DeviceForm::integrated : DeviceForm::discrete));
    check_memory(entry, machine, reading, devices[0].form);
    check_sensors(entry, machine, reading);
    ++cards;
  }
  CHECK(cards == 7);
}

TEST_CASE("recorded clock levels yield the values of their index") {
  const Entry entry = recorded::find_one("amdgpu-sysfs/asr-rx580-pp_dpm_sclk.txt");
  const auto levels = amdgpu::parse_clock_levels(entry.text());
  CHECK(levels.current_mhz == entry.number("current_mhz"));
  CHECK(levels.max_mhz == entry.expected.at("levels").back().get<std::uint32_t>());
  const Entry voltage_table =
      recorded::find_one("amdgpu-sysfs/asr-internal-7840u-pp_od_clk_voltage.txt");
  CHECK_FALSE(amdgpu::parse_clock_levels(voltage_table.text()).current_mhz);
}

TEST_CASE("recorded gpu_metrics tables yield the values of their index") {
  const Entry entry = recorded::find_one("amdgpu-sysfs/amdsmi38-gpu_metrics-v1_3.hexdump.txt");
  const std::string bytes = parse_hexdump(entry.text());
  REQUIRE(bytes.size() == entry.number("structure_size"));
  const auto table = amdgpu::parse_gpu_metrics(bytes);
  REQUIRE(table);
  CHECK(table->format == entry.number("format_revision"));
  CHECK(table->content == entry.number("content_revision"));
  CHECK(table->throttle == 0u);
  CHECK(table->regulator_celsius == 0x2eu);  // of 0x2e, 0x2d and 0x2a at 10
  // Its unit differs between cards of this format.
  CHECK_FALSE(table->energy_joules);
  int table_count = 0;
  for (const Entry& tree : recorded::find_all("amdgpu-sysfs/lact-")) {
    const std::string text = read_file(find_card_folder(tree) + "/gpu_metrics");
    const auto metrics = amdgpu::parse_gpu_metrics(text);
    table_count += metrics ? 1 : 0;
    if (!metrics) continue;
    if (metrics->format != 1) CHECK_FALSE(metrics->throttle);
    if (metrics->regulator_celsius) CHECK(*metrics->regulator_celsius < 120);
  }
  CHECK(table_count == 3);
}

TEST_CASE("recorded KFD topologies yield the GPUs of their index") {
  int gpus = 0;
  for (const Entry& entry : recorded::find_all("kfd-sysfs/")) {
    if (!entry.expected.contains("nodes")) continue;
    CAPTURE(entry.file);
    const fs::path nodes = topology_folder(entry) / "nodes";
    for (const auto& [name, value] : entry.expected.at("nodes").items()) {
      CAPTURE(name);
      drm::ComputeNode node;
      const bool is_gpu = kfd::parse_node(read_file(nodes / name / "properties"), node);
      CHECK(is_gpu == value.at("is_gpu").get<bool>());
      if (!is_gpu) continue;
      check_node(node, {value});
      ++gpus;
    }
  }
  CHECK(gpus > 18);
}

TEST_CASE("recorded topologies with GPU ids are read as a whole") {
  int node_count = 0;
  for (const char* name : {"kdp-mi308", "lact-phoenix-kfd", "lact-vangogh-kfd"}) {
    CAPTURE(name);
    const Entry entry = recorded::find_one("kfd-sysfs/" + std::string(name) + "/");
    kfd::Topology topology(entry.path());
    REQUIRE(topology.refresh() == 0);
    CHECK(topology.refused_count() == 0);
    std::size_t expected = 0;
    for (const auto& [number, value] : entry.expected.at("nodes").items()) {
      CAPTURE(number);
      if (!value.at("is_gpu").get<bool>()) continue;
      ++expected;
      const auto it =
          std::find_if(topology.nodes().begin(), topology.nodes().end(), [&](const auto& n) {
            return n.gpu_id == value.at("gpu_id").template get<std::uint32_t>();
          });
      REQUIRE(it != topology.nodes().end());
      check_node(*it, {value});
      CHECK(it->memory == value.at("mem_bytes").get<std::uint64_t>());
      ++node_count;
    }
    CHECK(topology.nodes().size() == expected);
  }
  CHECK(node_count >= 3);
}

TEST_CASE("the recorded VRAM of a process is read") {
  const Entry entry = recorded::find_one("kfd-sysfs/idx-kfd-proc-vram.txt");
  const auto gpu_id = static_cast<std::uint32_t>(entry.number("gpu_id"));
  const hmn_fake::Tree tree;
  tree.write("kfd/proc/77/vram_" + std::to_string(gpu_id), entry.text());
  const kfd::ProcessList list(tree.path("kfd"), tree.proc());
  std::optional<kfd::ComputeUse> use;
  CHECK(list.visit_process(gpu_id, 77, [&](const kfd::ComputeUse& u) { use = u; }) == 0);
  REQUIRE(use);
  CHECK(use->vram == entry.number("vram_bytes"));
}

TEST_CASE("each recorded key of KFD leads to a value or a reason") {
  const Entry vram = recorded::find_one("kfd-sysfs/idx-kfd-proc-vram.txt");
  int gpus = 0;
  for (const Entry& entry : recorded::find_all("kfd-sysfs/")) {
    if (!entry.expected.contains("nodes")) continue;
    const nlohmann::json recorded_nodes = entry.expected.at("nodes");
    for (const auto& [number, node_info] : recorded_nodes.items()) {
      if (!node_info.at("is_gpu").get<bool>()) continue;
      CAPTURE(entry.file);
      CAPTURE(number);
      Machine machine;
      nlohmann::json nodes = recorded_nodes;
      add_topology(machine.tree(), entry, nodes);
      const nlohmann::json& node = nodes.at(number);
      hmn_fake::PciDevice card = drm_test::radeon(node.at("bdf").get<std::string>().c_str());
      card.driver = "amdgpu";
      machine.add_pci(
          card,
          {{"renderD" + std::to_string(node.at("drm_render_minor").get<unsigned>()), "/dev/null"}});
      hmn_fake::set_host_namespace(machine.tree());
      machine.tree().write("sys/class/kfd/kfd/proc/4242/vram_" +
                               std::to_string(node.at("gpu_id").get<std::uint32_t>()),
                           vram.text());
      check_node_in_use(machine, node, vram.number("vram_bytes"));
      ++gpus;
    }
  }
  CHECK(gpus > 18);
}
