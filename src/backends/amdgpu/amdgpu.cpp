// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/amdgpu.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include "backends/amdgpu/sysfs.hpp"
#include "backends/amdgpu/telemetry.hpp"
#include "backends/drm/discovery.hpp"
#include "backends/drm/sensors.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "model/failure.hpp"
#include "model/message_text.hpp"
#include "model/pci_address.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::amdgpu {

std::string_view find_marketing_name(std::string_view table, std::uint32_t device,
                                     std::uint32_t revision) noexcept {
  while (!table.empty()) {
    std::string_view line = scan::take_line(table);
    const auto device_id = scan::parse_number(scan::trim(scan::take_until(line, ',')), 16);
    const auto revision_id = scan::parse_number(scan::trim(scan::take_until(line, ',')), 16);
    if (device_id == device && revision_id == revision) return scan::trim(line);
  }
  return {};
}

std::string read_marketing_name(std::uint32_t device, std::uint32_t revision) {
  std::string table;
  const auto outcome = platform::read_whole("/usr/share/libdrm/amdgpu.ids", table, 1 << 20);
  if (!outcome) return {};
  return std::string(find_marketing_name(table, device, revision));
}

namespace {

using drm::Card;

// Formats a location as 0000:27:00.0, with its `function` or 0.
Text<32> format_address(const drm::ComputeNode& node, bool with_function) noexcept {
  const auto low = [&](unsigned shift, unsigned mask) {
    return static_cast<std::uint8_t>(node.location >> shift & mask);
  };
  const auto function = static_cast<std::uint8_t>(with_function ? low(0, 7) : 0);
  return to_text({node.domain, low(8, 0xff), low(3, 0x1f), function});
}

struct PoolFiles {
  PoolKind kind;
  std::string_view total;
  std::string_view used;
};
constexpr PoolFiles pool_files[] = {
    {PoolKind::vram, "mem_info_vram_total", "mem_info_vram_used"},
    {PoolKind::vram_visible, "mem_info_vis_vram_total", "mem_info_vis_vram_used"},
    {PoolKind::host, "mem_info_gtt_total", "mem_info_gtt_used"},
};

void diagnose_unread(drm::Visit& visit, int error, std::string_view file, FieldSet field) {
  visit.diagnose(make_unread_failure(error, visit.card().folder.view(), file), subject::pools,
                 field);
}

void read_used(drm::Visit& visit, const PoolFiles& files, Pool& pool) {
  const auto used = sysfs::read_number(visit.card().folder.view(), files.used);
  if (!used)
    return diagnose_unread(visit, used.error, files.used, pool_field::used | pool_field::free);
  pool.used = used.value;
  pool.accounting = Accounting::resident;
  if (pool.total && *pool.used <= *pool.total) pool.free = *pool.total - *pool.used;
}

Pool read_pool(drm::Visit& visit, const PoolFiles& files) {
  Pool pool;
  pool.kind = files.kind;
  pool.source = Source::amdgpu;
  const auto total = sysfs::read_number(visit.card().folder.view(), files.total);
  if (total) {
    pool.total = total.value;
  } else {
    diagnose_unread(visit, total.error, files.total, pool_field::total | pool_field::free);
  }
  if (!visit.is_asleep()) read_used(visit, files, pool);
  return pool;
}

// The main pool is VRAM for a discrete card. Both pools of an APU are host RAM, and the kernel lets
// programs allocate from the larger one (Linux 6.10).
PoolKind choose_main_kind(const std::array<Pool, 3>& all, DeviceForm form) noexcept {
  const std::uint64_t vram = all[0].total.value_or(0);
  const std::uint64_t gtt = all[2].total.value_or(0);
  const bool is_by_size = form == DeviceForm::integrated || (!all[0].total && !all[0].used);
  return is_by_size && gtt > vram ? PoolKind::host : PoolKind::vram;
}

using drm::ComputeNode;
using drm::Visit;

class AmdgpuDriver final : public drm::Driver {
 public:
  explicit AmdgpuDriver(std::unique_ptr<drm::ComputeDriver> compute)
      : compute_(std::move(compute)) {}

  Source source() const noexcept override { return Source::amdgpu; }
  bool supports(const Card& card) const noexcept override {
    return card.driver_name.view() == "amdgpu" || drm::is_partition_node(card);
  }
  // A card has a node for each possible partition, whether it is partitioned or not.
  bool should_list(const Card& card) override {
    return !drm::is_partition_node(card) || find_node(card).has_value();
  }
  Source inner_source() const noexcept override {
    return compute_ ? compute_->source() : Source::none;
  }
  SourceState describe_inner_source() const override {
    return compute_ ? compute_->describe() : SourceState{};
  }

  void identify(Visit& visit, Device& device) override;
  Result<void> memory(Visit& visit, PoolList& out) override;
  Result<void> telemetry(Visit& visit, FieldSet fields, hmn::Telemetry& out) override;
  void metrics(Visit& visit, bool include_slow, std::vector<Metric>& out) override;

  drm::RegionRole classify_region(const Card& card,
                                  std::string_view region) const noexcept override;
  void add_driver_keys(const Card& card, const drm::Fdinfo& info,
                       drm::ClientUse& out) const noexcept override;
  // It sums up the kernel's counters of buffers and fences without resuming the card.
  bool fdinfo_wakes(const Card&) const noexcept override { return false; }
  // Each sensor's show calls pm_runtime_mark_last_busy at its end; memory counters do not.
  bool keeps_awake(drm::QueryKind kind) const noexcept override {
    return kind == drm::QueryKind::sensors;
  }
  Result<void> complete_rows(Visit& visit, std::uint32_t pid, std::vector<Usage>& rows) override;

 private:
  // Constant data of a card.
  struct CardFacts {
    DeviceForm form = DeviceForm::unknown;
    int form_error = 0;  // why it could not be read
    bool is_named = false;
    std::uint32_t format_without_throttle = 0;
    Text<256> name;
  };

  CardFacts& find_or_add_facts(const Card& card);
  [[nodiscard]] bool is_integrated(const Card& card) const noexcept {
    return card.slot < facts_.size() && facts_[card.slot].form == DeviceForm::integrated;
  }
  std::optional<ComputeNode> find_node(const Card& card);
  void identify_partition(Visit& visit, Device& device);

  std::unique_ptr<drm::ComputeDriver> compute_;
  std::vector<CardFacts> facts_;  // by slot
};

Failure make_whole_only_failure(std::string_view clause) {
  return drm::make_whole_only_failure(Source::amdgpu, clause);
}

bool shares_sensors(Visit& visit) {
  return drm::is_partition_node(visit.card()) ||
         drm::is_listed_virtual_function(visit.card(), visit.cards());
}

AmdgpuDriver::CardFacts& AmdgpuDriver::find_or_add_facts(const Card& card) {
  while (facts_.size() <= card.slot) facts_.emplace_back();
  CardFacts& facts = facts_[card.slot];
  if (facts.form == DeviceForm::unknown) {
    const auto form = detect_form(card.folder.view());
    facts.form = form.value;
    if (!form) facts.form_error = form.error;
  }
  return facts;
}

std::optional<ComputeNode> AmdgpuDriver::find_node(const Card& card) {
  const drm::Node* const render = card.find(drm::Node::Kind::render);
  if (!compute_ || render == nullptr) return std::nullopt;
  for (const ComputeNode& node : compute_->nodes()) {
    if (node.render_minor == render->number) return node;
  }
  return std::nullopt;
}

void AmdgpuDriver::identify(Visit& visit, Device& device) {
  if (drm::is_partition_node(visit.card())) return identify_partition(visit, device);
  if (visit.card().slot < facts_.size()) facts_[visit.card().slot].form_error = 0;
  CardFacts& facts = find_or_add_facts(visit.card());
  device.form = facts.form;
  if (facts.form == DeviceForm::integrated) device.memory_kind = MemoryKind::unified;
  if (facts.form == DeviceForm::discrete) device.memory_kind = MemoryKind::dedicated;
  const std::string_view folder = visit.card().folder.view();
  const int name_error = facts.is_named ? 0 : read_name(visit.card(), facts.name);
  facts.is_named = name_error == 0;
  if (name_error != 0) {
    visit.diagnose(make_unread_failure(name_error, folder, "product_name"), subject::devices,
                   device_field::name);
  }
  if (facts.form_error != 0) {
    visit.diagnose(make_unread_failure(facts.form_error, folder, "hwmon"), subject::devices, 0);
  }
  device.name = facts.name;
  if (const auto node = find_node(visit.card()))
    device.architecture = format_architecture(node->gfx_target);
  fill_identity(visit, device);
}

void AmdgpuDriver::identify_partition(Visit& visit, Device& device) {
  device.is_partition = true;
  device.vendor = vendor::amd;
  const auto node = find_node(visit.card());
  const Card* const whole_card = node ? find_whole_card(*node, visit.cards()) : nullptr;
  if (whole_card == nullptr) return;
  CardFacts& facts = find_or_add_facts(*whole_card);
  if (!facts.is_named) facts.is_named = read_name(*whole_card, facts.name) == 0;
  device.parent = whole_card->slot;
  device.name = facts.name;
  device.architecture = format_architecture(node->gfx_target);
  device.pci_device = whole_card->pci_device;
  device.pci_subsystem = whole_card->pci_subsystem;
}

Result<void> AmdgpuDriver::memory(Visit& visit, PoolList& out) {
  if (!drm::is_partition_node(visit.card()))
    return read_memory(visit, find_or_add_facts(visit.card()).form, out);
  const auto node = find_node(visit.card());
  if (!node || !node->memory) return make_whole_only_failure("memory is reported");
  Pool pool;
  pool.source = compute_->source();
  pool.is_main = true;
  pool.kind = PoolKind::vram;
  pool.total = node->memory;
  visit.diagnose(make_whole_only_failure("used memory is reported"), subject::pools,
                 pool_field::used | pool_field::free);
  out.add(pool);
  return {};
}

Result<void> AmdgpuDriver::telemetry(Visit& visit, FieldSet fields, hmn::Telemetry& out) {
  if (shares_sensors(visit))
    return make_whole_only_failure("load, temperatures, power and clocks are");
  return read_telemetry(visit, fields, find_or_add_facts(visit.card()).format_without_throttle, out);
}

void AmdgpuDriver::metrics(Visit& visit, bool include_slow, std::vector<Metric>& out) {
  if (!shares_sensors(visit))
    return read_metrics(visit, find_or_add_facts(visit.card()).form, include_slow, out);
  visit.diagnose(make_whole_only_failure("sensors, power and clocks are"), subject::metrics, 0);
}

// vram, gtt and cpu are memory; gds, gws, oa and doorbell are not. All memory of an APU is host
// RAM, whether it came from vram or gtt.
drm::RegionRole AmdgpuDriver::classify_region(const Card& card,
                                              std::string_view region) const noexcept {
  if (region == "vram" || (region == "gtt" && is_integrated(card))) return drm::RegionRole::device;
  return region == "gtt" || region == "cpu" ? drm::RegionRole::host : drm::RegionRole::ignored;
}

void AmdgpuDriver::add_driver_keys(const Card& card, const drm::Fdinfo& info,
                                   drm::ClientUse& out) const noexcept {
  out.evicted = drm::find_amount(info.text, "amd-evicted-vram");
  if (!is_integrated(card)) {
    if (!out.committed) out.committed = drm::find_amount(info.text, "amd-requested-vram");
    return;
  }
  // The part of its memory that GTT has; what cpu counts is mapped for no device.
  out.host_pool.reset();
  for (const drm::Region& region : info.regions()) {
    if (region.name != "gtt") continue;
    out.host_pool = region.backed() ? region.backed() : region.total;
    out.host_shared = std::min(region.shared, out.host_pool);
  }
}

Result<void> AmdgpuDriver::complete_rows(Visit& visit, std::uint32_t pid,
                                         std::vector<Usage>& rows) {
  const auto node = find_node(visit.card());
  Result<void> outcome;
  if (node) outcome = compute_->add_rows(visit, node->gpu_id, pid, rows);
  // How much host RAM belongs to the card, and its KFD node, may become known later.
  const Slot slot = visit.card().slot;
  if (slot < facts_.size() && facts_[slot].form_error != 0) {
    for (Usage& row : rows) mark_lower_bound(row);
  }
  if (outcome && compute_ && compute_->is_uncertain()) return compute_->describe().failure;
  return outcome;
}

}  // namespace

// The minor number and the stepping are one hexadecimal digit each:
// https://llvm.org/docs/AMDGPUUsage.html#processors
Text<32> format_architecture(std::uint32_t gfx_target) noexcept {
  if (gfx_target == 0) return {};
  std::array<char, 32> buffer;
  return Text<32>(compose_into(buffer, {"gfx", gfx_target / 10000, hex(gfx_target / 100 % 100, 1),
                                        hex(gfx_target % 100, 1)}));
}

Text<96> format_uuid(std::string_view unique_id) noexcept {
  const auto id = scan::parse_number(unique_id, 16);
  std::array<char, 32> buffer;
  return id && *id != 0 ? Text<96>(compose_into(buffer, {"GPU-", hex(*id, 16)})) : Text<96>();
}

platform::ErrnoOr<DeviceForm> detect_form(std::string_view device_folder) {
  int error = 0;
  const std::string hwmon = drm::find_hwmon(device_folder, "amdgpu", &error);
  if (hwmon.empty()) return {DeviceForm::unknown, error};
  std::array<char, 32> label;
  const auto in1 = sysfs::read_line(hwmon, "in1_label", label);
  if (in1 && in1.value == "vddnb") return {DeviceForm::integrated, 0};
  if (!in1 && in1.error != ENOENT) return {DeviceForm::unknown, in1.error};
  const sysfs::PathText crit{hwmon, "/temp1_crit"};
  return {platform::exists(crit.c_str()) ? DeviceForm::discrete : DeviceForm::unknown, 0};
}

int read_name(const Card& card, Text<256>& name) {
  std::array<char, 256> buffer;
  const auto product_name = sysfs::read_line(card.folder.view(), "product_name", buffer);
  if (is_transient(product_name.error)) return product_name.error;
  name = Text<256>(product_name.value);
  if (!name.empty()) return 0;
  const auto revision = sysfs::read_hex(card.folder.view(), "revision");
  if (is_transient(revision.error)) return revision.error;
  if (!card.pci_device || !revision) return 0;
  name =
      Text<256>(read_marketing_name(*card.pci_device, static_cast<std::uint32_t>(revision.value)));
  return 0;
}

// A partition's number is in the highest four bits of the location; older drivers put it in place
// of the function.
const Card* find_whole_card(const drm::ComputeNode& part, std::span<const Card> all) noexcept {
  for (const bool with_function : {true, false}) {
    const Text<32> address = format_address(part, with_function);
    for (const Card& card : all) {
      if (card.is_present && card.pci_bus_id == address) return &card;
    }
  }
  return nullptr;
}

void fill_identity(drm::Visit& visit, Device& device) {
  const std::string_view folder = visit.card().folder.view();
  std::array<char, 96> buffer;
  const auto id = sysfs::read_line(folder, "unique_id", buffer);
  if (id) device.uuid = format_uuid(id.value);
  if (!id && id.error != ENOENT) {
    visit.diagnose(make_unread_failure(id.error, folder, "unique_id"), subject::devices,
                   device_field::uuid);
  }
  // Only out-of-tree drivers have a version.
  const sysfs::PathText module{visit.sys_root(), "/module/amdgpu"};
  const auto version = sysfs::read_line(module.view(), "version", buffer);
  if (version) device.driver_version.assign(version.value);
  const auto total = sysfs::read_number(folder, "mem_info_vram_total");
  if (total && total.value != 0 && device.form != DeviceForm::integrated) {
    device.memory_total = total.value;
  }
  const auto node = sysfs::read_number(folder, "numa_node");
  if (node && node.value <= UINT32_MAX) device.numa_node = static_cast<std::uint32_t>(node.value);
}

Result<void> read_memory(drm::Visit& visit, DeviceForm form, PoolList& out) {
  std::array<Pool, 3> all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = read_pool(visit, pool_files[i]);
  const PoolKind main = choose_main_kind(all, form);
  for (const bool wants_main : {true, false}) {
    for (Pool& pool : all) {
      pool.is_main = pool.kind == main;
      if (pool.is_main == wants_main && (pool.total || pool.used)) out.add(pool);
    }
  }
  if (!out.empty()) return {};
  const std::string_view folder = visit.card().folder.view();
  return make_unread_failure(sysfs::read_number(folder, pool_files[0].total).error, folder,
                             pool_files[0].total);
}

}  // namespace hmn::amdgpu

namespace hmn {

std::unique_ptr<drm::Driver> make_amdgpu(std::unique_ptr<drm::ComputeDriver> compute) {
  return std::make_unique<amdgpu::AmdgpuDriver>(std::move(compute));
}

}  // namespace hmn
