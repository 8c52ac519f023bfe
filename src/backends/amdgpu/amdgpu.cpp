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
    const auto of = scan::number(scan::trim(scan::take_until(line, ',')), 16);
    const auto version = scan::number(scan::trim(scan::take_until(line, ',')), 16);
    if (of == device && version == revision) return scan::trim(line);
  }
  return {};
}

std::string read_marketing_name(std::uint32_t device, std::uint32_t revision) {
  std::string table;
  const auto got = platform::read_whole("/usr/share/libdrm/amdgpu.ids", table, 1 << 20);
  if (!got) return {};
  return std::string(find_marketing_name(table, device, revision));
}

namespace {

using drm::Card;

// Formats a location as 0000:27:00.0, with its `function` or 0.
Text<32> address_of(const drm::ComputeNode& n, bool with_function) noexcept {
  const auto low = [&](unsigned shift, unsigned mask) {
    return static_cast<std::uint8_t>(n.location >> shift & mask);
  };
  const auto function = static_cast<std::uint8_t>(with_function ? low(0, 7) : 0);
  return to_text({n.domain, low(8, 0xff), low(3, 0x1f), function});
}

struct ValueFiles {
  PoolKind kind;
  std::string_view total;
  std::string_view used;
};
constexpr ValueFiles pool_files[] = {
    {PoolKind::vram, "mem_info_vram_total", "mem_info_vram_used"},
    {PoolKind::vram_visible, "mem_info_vis_vram_total", "mem_info_vis_vram_used"},
    {PoolKind::host, "mem_info_gtt_total", "mem_info_gtt_used"},
};

void refuse(drm::Visit& v, int error, std::string_view file, FieldSet field) {
  v.diagnose(unread(error, v.of().folder.view(), file), subject::pools, field);
}

void read_used(drm::Visit& v, const ValueFiles& f, Pool& p) {
  const auto used = sysfs::read_number(v.of().folder.view(), f.used);
  if (!used) return refuse(v, used.error, f.used, pool_field::used | pool_field::free);
  p.used = used.value;
  p.accounting = Accounting::resident;
  if (p.total && *p.used <= *p.total) p.free = *p.total - *p.used;
}

Pool read_pool(drm::Visit& v, const ValueFiles& f) {
  Pool p;
  p.kind = f.kind;
  p.from = Source::amdgpu;
  const auto total = sysfs::read_number(v.of().folder.view(), f.total);
  if (total) {
    p.total = total.value;
  } else {
    refuse(v, total.error, f.total, pool_field::total | pool_field::free);
  }
  if (!v.is_asleep()) read_used(v, f, p);
  return p;
}

// The main pool is VRAM for a discrete card. Both pools of an APU are host RAM, and the kernel lets
// programs allocate from the larger one (Linux 6.10).
PoolKind main_of(const std::array<Pool, 3>& all, DeviceForm form) noexcept {
  const std::uint64_t vram = all[0].total.value_or(0);
  const std::uint64_t gtt = all[2].total.value_or(0);
  const bool by_size = form == DeviceForm::integrated || (!all[0].total && !all[0].used);
  return by_size && gtt > vram ? PoolKind::host : PoolKind::vram;
}

using drm::Card;
using drm::ComputeNode;
using drm::Visit;

class AmdgpuDriver final : public drm::Driver {
 public:
  explicit AmdgpuDriver(std::unique_ptr<drm::ComputeDriver> compute)
      : compute_(std::move(compute)) {}

  Source from() const noexcept override { return Source::amdgpu; }
  bool serves(const Card& c) const noexcept override {
    return c.driver_name.view() == "amdgpu" || drm::is_partition_node(c);
  }
  // A card has a node for each possible partition, whether it is partitioned or not.
  bool lists(const Card& c) override {
    return !drm::is_partition_node(c) || node_of(c).has_value();
  }
  Source behind() const noexcept override { return compute_ ? compute_->from() : Source::none; }
  SourceState describe_behind() const override {
    return compute_ ? compute_->describe() : SourceState{};
  }

  void identify(Visit& v, Device& who) override;
  Result<void> memory(Visit& v, Pools& out) override;
  Result<void> telemetry(Visit& v, FieldSet fields, hmn::Telemetry& out) override;
  void metrics(Visit& v, bool slow, std::vector<Metric>& out) override;

  drm::RegionRole role_of(const Card& c, std::string_view region) const noexcept override;
  void add_own_keys(const Card& c, const drm::Fdinfo& info,
                    drm::ClientUse& out) const noexcept override;
  // It sums up the kernel's counters of buffers and fences without resuming the card.
  bool fdinfo_wakes(const Card&) const noexcept override { return false; }
  // Each sensor's show calls pm_runtime_mark_last_busy at its end; memory counters do not.
  bool keeps_awake(drm::AwakeBy what) const noexcept override {
    return what == drm::AwakeBy::sensors;
  }
  Result<void> complete(Visit& v, std::uint32_t pid, std::vector<Usage>& rows) override;

 private:
  // Constant data of a card.
  struct Known {
    DeviceForm form = DeviceForm::unknown;
    int form_error = 0;  // why it could not be read
    bool is_named = false;
    std::uint32_t no_throttle_in = 0;
    Text<256> name;
  };

  Known& known_of(const Card& c);
  [[nodiscard]] bool is_integrated(const Card& c) const noexcept {
    return c.number < known_.size() && known_[c.number].form == DeviceForm::integrated;
  }
  std::optional<ComputeNode> node_of(const Card& c);
  void identify_part(Visit& v, Device& who);

  std::unique_ptr<drm::ComputeDriver> compute_;
  std::vector<Known> known_;  // by slot
};

Failure of_whole_only(std::string_view what) {
  return drm::of_whole_only(Source::amdgpu, what);
}

bool has_sensors_of_whole(Visit& v) {
  return drm::is_partition_node(v.of()) || drm::is_function_of_listed(v.of(), v.all());
}

AmdgpuDriver::Known& AmdgpuDriver::known_of(const Card& c) {
  while (known_.size() <= c.number) known_.emplace_back();
  Known& k = known_[c.number];
  if (k.form == DeviceForm::unknown) {
    const auto form = form_of_card(c.folder.view());
    k.form = form.value;
    if (!form) k.form_error = form.error;
  }
  return k;
}

std::optional<ComputeNode> AmdgpuDriver::node_of(const Card& c) {
  const drm::Node* const render = c.find(drm::Node::Kind::render);
  if (!compute_ || render == nullptr) return std::nullopt;
  for (const ComputeNode& n : compute_->nodes()) {
    if (n.render_minor == render->number) return n;
  }
  return std::nullopt;
}

void AmdgpuDriver::identify(Visit& v, Device& who) {
  if (drm::is_partition_node(v.of())) return identify_part(v, who);
  if (v.of().number < known_.size()) known_[v.of().number].form_error = 0;
  Known& k = known_of(v.of());
  who.form = k.form;
  if (k.form == DeviceForm::integrated) who.memory_kind = MemoryKind::unified;
  if (k.form == DeviceForm::discrete) who.memory_kind = MemoryKind::dedicated;
  const std::string_view folder = v.of().folder.view();
  const int unnamed = k.is_named ? 0 : read_name(v.of(), k.name);
  k.is_named = unnamed == 0;
  if (unnamed != 0) {
    v.diagnose(unread(unnamed, folder, "product_name"), subject::devices, device_field::name);
  }
  if (k.form_error != 0) {
    v.diagnose(unread(k.form_error, folder, "hwmon"), subject::devices, 0);
  }
  who.name = k.name;
  if (const auto node = node_of(v.of())) who.architecture = architecture_of(node->gfx_target);
  fill_identity(v, who);
}

void AmdgpuDriver::identify_part(Visit& v, Device& who) {
  who.is_part = true;
  who.vendor = vendor::amd;
  const auto node = node_of(v.of());
  const Card* const whole = node ? whole_of(*node, v.all()) : nullptr;
  if (whole == nullptr) return;
  Known& k = known_of(*whole);
  if (!k.is_named) k.is_named = read_name(*whole, k.name) == 0;
  who.parent = whole->number;
  who.name = k.name;
  who.architecture = architecture_of(node->gfx_target);
  who.pci_device = whole->pci_device;
  who.pci_subsystem = whole->pci_subsystem;
}

Result<void> AmdgpuDriver::memory(Visit& v, Pools& out) {
  if (!drm::is_partition_node(v.of())) return read_memory(v, known_of(v.of()).form, out);
  const auto node = node_of(v.of());
  if (!node || !node->memory) return of_whole_only("memory is reported");
  Pool p;
  p.from = compute_->from();
  p.is_main = true;
  p.kind = PoolKind::vram;
  p.total = node->memory;
  v.diagnose(of_whole_only("used memory is reported"), subject::pools,
             pool_field::used | pool_field::free);
  out.add(p);
  return {};
}

Result<void> AmdgpuDriver::telemetry(Visit& v, FieldSet fields, hmn::Telemetry& out) {
  if (has_sensors_of_whole(v)) return of_whole_only("load, temperatures, power and clocks are");
  return read_telemetry(v, fields, known_of(v.of()).no_throttle_in, out);
}

void AmdgpuDriver::metrics(Visit& v, bool slow, std::vector<Metric>& out) {
  if (!has_sensors_of_whole(v)) return read_metrics(v, known_of(v.of()).form, slow, out);
  v.diagnose(of_whole_only("sensors, power and clocks are"), subject::metrics, 0);
}

// vram, gtt and cpu are memory; gds, gws, oa and doorbell are not. All memory of an APU is host
// RAM, whether it came from vram or gtt.
drm::RegionRole AmdgpuDriver::role_of(const Card& c, std::string_view region) const noexcept {
  if (region == "vram" || (region == "gtt" && is_integrated(c))) return drm::RegionRole::device;
  return region == "gtt" || region == "cpu" ? drm::RegionRole::host : drm::RegionRole::ignored;
}

void AmdgpuDriver::add_own_keys(const Card& c, const drm::Fdinfo& info,
                                drm::ClientUse& out) const noexcept {
  out.evicted = drm::amount_of(info.text, "amd-evicted-vram");
  if (!is_integrated(c)) {
    if (!out.committed) out.committed = drm::amount_of(info.text, "amd-requested-vram");
    return;
  }
  // The part of its memory that GTT has; what cpu counts is mapped for no device.
  out.host_pool.reset();
  for (const drm::Region& r : info.regions()) {
    if (r.name != "gtt") continue;
    out.host_pool = r.backed() ? r.backed() : r.total;
    out.host_shared = std::min(r.shared, out.host_pool);
  }
}

Result<void> AmdgpuDriver::complete(Visit& v, std::uint32_t pid, std::vector<Usage>& rows) {
  const auto node = node_of(v.of());
  Result<void> whole;
  if (node) whole = compute_->add_rows(v, node->gpu_id, pid, rows);
  // How much host RAM belongs to the card, and its KFD node, may become known later.
  const Slot n = v.of().number;
  if (n < known_.size() && known_[n].form_error != 0) {
    for (Usage& row : rows) note_incomplete(row);
  }
  if (whole && compute_ && compute_->is_in_doubt()) return compute_->describe().why;
  return whole;
}

}  // namespace

// The minor number and the stepping are one hexadecimal digit each:
// https://llvm.org/docs/AMDGPUUsage.html#processors
Text<32> architecture_of(std::uint32_t gfx_target) noexcept {
  if (gfx_target == 0) return {};
  std::array<char, 32> buffer;
  return Text<32>(compose_in(buffer, {"gfx", gfx_target / 10000, hex(gfx_target / 100 % 100, 1),
                                      hex(gfx_target % 100, 1)}));
}

Text<96> uuid_of(std::string_view unique_id) noexcept {
  const auto id = scan::number(unique_id, 16);
  std::array<char, 32> buffer;
  return id && *id != 0 ? Text<96>(compose_in(buffer, {"GPU-", hex(*id, 16)})) : Text<96>();
}

platform::ErrnoOr<DeviceForm> form_of_card(std::string_view device_folder) {
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

int read_name(const Card& c, Text<256>& name) {
  std::array<char, 256> buffer;
  const auto reported = sysfs::read_line(c.folder.view(), "product_name", buffer);
  if (is_passing(reported.error)) return reported.error;
  name = Text<256>(reported.value);
  if (!name.empty()) return 0;
  const auto revision = sysfs::read_hex(c.folder.view(), "revision");
  if (is_passing(revision.error)) return revision.error;
  if (!c.pci_device || !revision) return 0;
  name = Text<256>(read_marketing_name(*c.pci_device, static_cast<std::uint32_t>(revision.value)));
  return 0;
}

// A partition's number is in the highest four bits of the location; older drivers put it in place
// of the function.
const Card* whole_of(const drm::ComputeNode& part, std::span<const Card> all) noexcept {
  for (const bool with_function : {true, false}) {
    const Text<32> address = address_of(part, with_function);
    for (const Card& c : all) {
      if (c.is_here && c.pci_bus_id == address) return &c;
    }
  }
  return nullptr;
}

void fill_identity(drm::Visit& v, Device& who) {
  const std::string_view folder = v.of().folder.view();
  std::array<char, 96> buffer;
  const auto id = sysfs::read_line(folder, "unique_id", buffer);
  if (id) who.uuid = uuid_of(id.value);
  if (!id && id.error != ENOENT) {
    v.diagnose(unread(id.error, folder, "unique_id"), subject::devices, device_field::uuid);
  }
  // Only out-of-tree drivers have a version.
  const sysfs::PathText module{v.sys_root(), "/module/amdgpu"};
  const auto version = sysfs::read_line(module.view(), "version", buffer);
  if (version) who.driver_version.assign(version.value);
  const auto total = sysfs::read_number(folder, "mem_info_vram_total");
  if (total && total.value != 0 && who.form != DeviceForm::integrated) {
    who.memory_total = total.value;
  }
  const auto node = sysfs::read_number(folder, "numa_node");
  if (node && node.value <= UINT32_MAX) who.numa_node = static_cast<std::uint32_t>(node.value);
}

Result<void> read_memory(drm::Visit& v, DeviceForm form, Pools& out) {
  std::array<Pool, 3> all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = read_pool(v, pool_files[i]);
  const PoolKind main = main_of(all, form);
  for (const bool wants_main : {true, false}) {
    for (Pool& p : all) {
      p.is_main = p.kind == main;
      if (p.is_main == wants_main && (p.total || p.used)) out.add(p);
    }
  }
  if (!out.empty()) return {};
  const std::string_view folder = v.of().folder.view();
  return unread(sysfs::read_number(folder, pool_files[0].total).error, folder, pool_files[0].total);
}

}  // namespace hmn::amdgpu

namespace hmn {

std::unique_ptr<drm::Driver> make_amdgpu(std::unique_ptr<drm::ComputeDriver> compute) {
  return std::make_unique<amdgpu::AmdgpuDriver>(std::move(compute));
}

}  // namespace hmn
