// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Recorded folders of cards and of KFD, tables and levels: each yields what is in its index.
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

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

Value number_or_none(const Entry& e, const char* key) {
  return e.has(key) ? Value(e.number(key)) : std::nullopt;
}

void check_real(const Entry& e, const char* key, const std::optional<double>& found) {
  CAPTURE(key);
  CHECK(found.has_value() == e.has(key));
  if (found && e.has(key)) CHECK(*found == doctest::Approx(e.expected.at(key).get<double>()));
}

void check_pool(const Entry& e, const Pool* p, const char* total, const char* used) {
  CAPTURE(total);
  CHECK((p != nullptr ? p->total : std::nullopt) == number_or_none(e, total));
  if (used != nullptr) CHECK((p != nullptr ? p->used : std::nullopt) == number_or_none(e, used));
}

void check_memory(const Entry& e, Machine& m, PlainReading& r, DeviceForm form) {
  Pools p;
  CHECK(static_cast<bool>(m.source().memory(0, p, r)) == e.has("vram_total_bytes"));
  check_pool(e, p.find(PoolKind::vram), "vram_total_bytes", "vram_used_bytes");
  check_pool(e, p.find(PoolKind::vram_visible), "vis_vram_total_bytes", nullptr);
  check_pool(e, p.find(PoolKind::host), "gtt_total_bytes", "gtt_used_bytes");
  if (p.empty()) return;
  // Of the recorded processors each has more GTT than carve-out.
  CHECK(p.all()[0].kind == (form == DeviceForm::integrated ? PoolKind::host : PoolKind::vram));
}

void check_sensors(const Entry& e, Machine& m, PlainReading& r) {
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
  check_real(e, "gpu_busy_pct", t.gpu_busy_percent);
  check_real(e, "mem_busy_pct", t.memory_busy_percent);
  check_real(e, "temp_edge_c", t.temperature_celsius);
  check_real(e, "temp_junction_c", t.hotspot_celsius);
  check_real(e, "temp_mem_c", t.memory_celsius);
  check_real(e, "power1_average_w", t.power_watts);
  check_real(e, "power1_cap_w", t.power_limit_watts);
  CHECK(t.fan_rpm == number_or_none(e, "fan_rpm"));
}

// Of "hexdump -C": a star stands for lines like the one before it.
std::string bytes_of_hexdump(const std::string& dump) {
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
  const nlohmann::json& of;
  [[nodiscard]] std::uint64_t number(const char* key) const {
    return of.at(key).get<std::uint64_t>();
  }
};

void check_node(const drm::ComputeNode& n, const ExpectedNode& e) {
  CHECK(n.render_minor == e.number("drm_render_minor"));
  CHECK(n.location == e.number("location_id"));
  CHECK(n.domain == e.number("domain"));
}

// "gfx90a" of 90010.
std::string architecture_of(std::uint32_t version) {
  std::ostringstream name;
  name << "gfx" << version / 10000 << std::hex << version / 100 % 100 << version % 100;
  return name.str();
}

// What a reading shows of a node of KFD, whose card has no files of its own.
void check_node_in_use(Machine& m, const nlohmann::json& node, std::uint64_t used) {
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found.size() == 1);
  CHECK(found[0].architecture.view() ==
        architecture_of(node.at("gfx_target_version").get<std::uint32_t>()));
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].used == used);
  CHECK((rows[0].notes & note::lower_bound) != 0);
  Pools p;
  const Result<void> memory = m.source().memory(0, p, r);
  CHECK((memory ? !p.empty() : !memory.why().message.view().empty()));
}

fs::path topology_of(const Entry& e) {
  const fs::path folder = e.path();
  return fs::is_directory(folder / "topology") ? folder / "topology" : folder;
}

// The topology of a recording. One without its GPUs' numbers gets some, for the kernel has them
// all.
void add_topology(const hmn_fake::Tree& t, const Entry& e, nlohmann::json& nodes) {
  const std::string to = "sys/class/kfd/kfd/topology";
  const fs::path from = topology_of(e);
  if (nodes.begin()->contains("gpu_id")) return t.link(to, from.string());
  for (auto& [number, node] : nodes.items()) {
    const bool is_gpu = node.at("is_gpu").get<bool>();
    node["gpu_id"] = is_gpu ? 1000 + std::stoul(number) : 0;
    t.link(to + "/nodes/" + number + "/properties",
           (from / "nodes" / number / "properties").string());
    t.write(to + "/nodes/" + number + "/gpu_id", node["gpu_id"].dump() + "\n");
  }
}

}  // namespace

TEST_CASE("recorded cards of amdgpu") {
  int cards = 0;
  for (const Entry& e : recorded::all("amdgpu-sysfs/lact-")) {
    CAPTURE(e.file);
    const std::string folder = recorded_card(e);
    REQUIRE_FALSE(folder.empty());
    Machine m(false, false);
    m.tree().link("sys/class/drm/renderD128/device", folder);
    PlainReading r;
    const auto found = m.devices(r);
    REQUIRE(found.size() == 1);
    CHECK(found[0].from == Source::amdgpu);
    CHECK(found[0].pci_bus_id.view() == e.expected.at("pci_slot").get<std::string>());
    // The two processors are named as such in the index.
    const bool is_processor = e.file.find("phoenix") != std::string::npos ||
                              e.file.find("strixpoint") != std::string::npos;
    CHECK(found[0].form == (is_processor ? DeviceForm::integrated : DeviceForm::discrete));
    check_memory(e, m, r, found[0].form);
    check_sensors(e, m, r);
    ++cards;
  }
  CHECK(cards == 7);
}

TEST_CASE("recorded levels of a clock") {
  const Entry e = recorded::one("amdgpu-sysfs/asr-rx580-pp_dpm_sclk.txt");
  const auto levels = amdgpu::parse_clock_levels(e.text());
  CHECK(levels.current_mhz == e.number("current_mhz"));
  CHECK(levels.highest_mhz == e.expected.at("levels").back().get<std::uint32_t>());
  const Entry other = recorded::one("amdgpu-sysfs/asr-internal-7840u-pp_od_clk_voltage.txt");
  CHECK_FALSE(amdgpu::parse_clock_levels(other.text()).current_mhz);
}

TEST_CASE("recorded tables of the firmware") {
  const Entry e = recorded::one("amdgpu-sysfs/amdsmi38-gpu_metrics-v1_3.hexdump.txt");
  const std::string bytes = bytes_of_hexdump(e.text());
  REQUIRE(bytes.size() == e.number("structure_size"));
  const auto table = amdgpu::parse_gpu_metrics(bytes);
  REQUIRE(table);
  CHECK(table->format == e.number("format_revision"));
  CHECK(table->content == e.number("content_revision"));
  CHECK(table->throttle == 0u);
  CHECK(table->regulator_celsius == 0x2eu);  // of 0x2e, 0x2d and 0x2a at 10
  // Its unit is another on other cards of this format.
  CHECK_FALSE(table->energy_joules);
  int known = 0;
  for (const Entry& tree : recorded::all("amdgpu-sysfs/lact-")) {
    const std::string text = text_of(recorded_card(tree) + "/gpu_metrics");
    const auto one = amdgpu::parse_gpu_metrics(text);
    known += one ? 1 : 0;
    if (!one) continue;
    if (one->format != 1) CHECK_FALSE(one->throttle);
    if (one->regulator_celsius) CHECK(*one->regulator_celsius < 120);
  }
  CHECK(known == 3);
}

TEST_CASE("recorded topologies of KFD") {
  int gpus = 0;
  for (const Entry& e : recorded::all("kfd-sysfs/")) {
    if (!e.expected.contains("nodes")) continue;
    CAPTURE(e.file);
    const fs::path nodes = topology_of(e) / "nodes";
    for (const auto& [name, value] : e.expected.at("nodes").items()) {
      CAPTURE(name);
      drm::ComputeNode n;
      const bool is_gpu = kfd::parse_node(text_of(nodes / name / "properties"), n);
      CHECK(is_gpu == value.at("is_gpu").get<bool>());
      if (!is_gpu) continue;
      check_node(n, {value});
      ++gpus;
    }
  }
  CHECK(gpus > 18);
}

TEST_CASE("recorded topologies that have numbers of GPUs are read as a whole") {
  int read = 0;
  for (const char* name : {"kdp-mi308", "lact-phoenix-kfd", "lact-vangogh-kfd"}) {
    CAPTURE(name);
    const Entry e = recorded::one("kfd-sysfs/" + std::string(name) + "/");
    kfd::Topology all(e.path());
    REQUIRE(all.refresh() == 0);
    CHECK(all.refused() == 0);
    std::size_t expected = 0;
    for (const auto& [number, value] : e.expected.at("nodes").items()) {
      CAPTURE(number);
      if (!value.at("is_gpu").get<bool>()) continue;
      ++expected;
      const auto at = std::find_if(all.nodes().begin(), all.nodes().end(), [&](const auto& n) {
        return n.gpu_id == value.at("gpu_id").template get<std::uint32_t>();
      });
      REQUIRE(at != all.nodes().end());
      check_node(*at, {value});
      CHECK(at->memory == value.at("mem_bytes").get<std::uint64_t>());
      ++read;
    }
    CHECK(all.nodes().size() == expected);
  }
  CHECK(read >= 3);
}

TEST_CASE("the recorded use of a process") {
  const Entry e = recorded::one("kfd-sysfs/idx-kfd-proc-vram.txt");
  const auto gpu_id = static_cast<std::uint32_t>(e.number("gpu_id"));
  const hmn_fake::Tree t;
  t.write("kfd/proc/77/vram_" + std::to_string(gpu_id), e.text());
  const kfd::ProcessList list(t.path("kfd"), t.proc());
  std::optional<kfd::ComputeUse> use;
  CHECK(list.of_process(gpu_id, 77, [&](const kfd::ComputeUse& u) { use = u; }) == 0);
  REQUIRE(use);
  CHECK(use->vram == e.number("vram_bytes"));
}

TEST_CASE("each recorded key of KFD ends in a value or in a reason") {
  const Entry vram = recorded::one("kfd-sysfs/idx-kfd-proc-vram.txt");
  int gpus = 0;
  for (const Entry& e : recorded::all("kfd-sysfs/")) {
    if (!e.expected.contains("nodes")) continue;
    const nlohmann::json recorded_nodes = e.expected.at("nodes");
    for (const auto& [number, is_one] : recorded_nodes.items()) {
      if (!is_one.at("is_gpu").get<bool>()) continue;
      CAPTURE(e.file);
      CAPTURE(number);
      Machine m;
      nlohmann::json nodes = recorded_nodes;
      add_topology(m.tree(), e, nodes);
      const nlohmann::json& node = nodes.at(number);
      hmn_fake::PciDevice card = drm_test::radeon(node.at("bdf").get<std::string>().c_str());
      card.driver = "amdgpu";
      m.add_pci(card, {{"renderD" + std::to_string(node.at("drm_render_minor").get<unsigned>()),
                        "/dev/null"}});
      hmn_fake::set_host_namespace(m.tree());
      m.tree().write("sys/class/kfd/kfd/proc/4242/vram_" +
                         std::to_string(node.at("gpu_id").get<std::uint32_t>()),
                     vram.text());
      check_node_in_use(m, node, vram.number("vram_bytes"));
      ++gpus;
    }
  }
  CHECK(gpus > 18);
}
