// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/amdgpu.hpp"

#include <utility>

#include "backends/amdgpu/identity.hpp"
#include "backends/amdgpu/memory.hpp"
#include "backends/amdgpu/sysfs.hpp"
#include "backends/amdgpu/telemetry.hpp"
#include "backends/drm/discovery.hpp"
#include "model/compose.hpp"

namespace hmn::amdgpu {
namespace {

using drm::card;
using drm::compute_node;
using drm::visit;

class amdgpu_driver final : public drm::driver {
 public:
  explicit amdgpu_driver(std::unique_ptr<drm::compute_driver> compute)
      : compute_(std::move(compute)) {}

  source from() const noexcept override { return source::amdgpu; }
  bool serves(const card& c) const noexcept override {
    return c.driver_name.view() == "amdgpu" || drm::is_partition_node(c);
  }
  // Cards have as many nodes as possible partitions, whether partitioned or not.
  bool lists(const card& c) override {
    return !drm::is_partition_node(c) || node_of(c).has_value();
  }
  source behind() const noexcept override { return compute_ ? compute_->from() : source::none; }
  source_state describe_behind() const override {
    return compute_ ? compute_->describe() : source_state{};
  }

  void identify(visit& v, device& who) override;
  result<void> memory(visit& v, pools& out) override;
  result<void> telemetry(visit& v, std::uint32_t fields, hmn::telemetry& out) override;
  void metrics(visit& v, bool slow, std::vector<metric>& out) override;

  drm::region_role role_of(const card& c, std::string_view region) const noexcept override;
  void add_own_keys(const card& c, const drm::fdinfo& info,
                    drm::client_use& out) const noexcept override;
  // Sums up the kernel's counters of buffers and fences without resuming the card.
  bool fdinfo_wakes(const card&) const noexcept override { return false; }
  // pm_runtime_mark_last_busy is called at the end of each sensor's show; memory counters do not
  // call it.
  bool keeps_awake(drm::awake_by what) const noexcept override {
    return what == drm::awake_by::sensors;
  }
  result<void> complete(visit& v, std::uint32_t pid, std::vector<usage>& rows) override;

 private:
  // Constant data of a card.
  struct known {
    device_kind kind = device_kind::unknown;
    int kind_error = 0;  // why it could not be read
    bool is_named = false;
    std::uint32_t no_throttle_in = 0;
    text<256> name;
  };

  known& known_of(const card& c);
  [[nodiscard]] bool is_integrated(const card& c) const noexcept {
    return c.number < known_.size() && known_[c.number].kind == device_kind::integrated;
  }
  std::optional<compute_node> node_of(const card& c);
  void identify_part(visit& v, device& who);

  std::unique_ptr<drm::compute_driver> compute_;
  std::vector<known> known_;  // by slot
};

failure of_whole_only(std::string_view what) {
  return drm::of_whole_only(source::amdgpu, what);
}

bool has_sensors_of_whole(visit& v) {
  return drm::is_partition_node(v.of()) || drm::is_function_of_listed(v.of(), v.all());
}

amdgpu_driver::known& amdgpu_driver::known_of(const card& c) {
  while (known_.size() <= c.number) known_.emplace_back();
  known& k = known_[c.number];
  if (k.kind == device_kind::unknown) {
    const auto kind = kind_of_card(c.folder.view());
    k.kind = kind.value;
    if (!kind) k.kind_error = kind.error;
  }
  return k;
}

std::optional<compute_node> amdgpu_driver::node_of(const card& c) {
  const drm::node* const render = c.find(drm::node::kind::render);
  if (!compute_ || render == nullptr) return std::nullopt;
  for (const compute_node& n : compute_->nodes()) {
    if (n.render_minor == render->number) return n;
  }
  return std::nullopt;
}

void amdgpu_driver::identify(visit& v, device& who) {
  if (drm::is_partition_node(v.of())) return identify_part(v, who);
  if (v.of().number < known_.size()) known_[v.of().number].kind_error = 0;
  known& k = known_of(v.of());
  who.kind = k.kind;
  if (k.kind == device_kind::integrated) who.memory_kind = memory_kind::unified;
  if (k.kind == device_kind::discrete) who.memory_kind = memory_kind::dedicated;
  const std::string_view folder = v.of().folder.view();
  const int unnamed = k.is_named ? 0 : read_name(v.of(), k.name);
  k.is_named = unnamed == 0;
  if (unnamed != 0) {
    v.diagnose(unread(unnamed, folder, "product_name"), subject::devices, device_field::name);
  }
  if (k.kind_error != 0) {
    v.diagnose(unread(k.kind_error, folder, "hwmon"), subject::devices, 0);
  }
  who.name = k.name;
  if (const auto node = node_of(v.of())) who.architecture = architecture_of(node->gfx_target);
  fill_identity(v, who);
}

void amdgpu_driver::identify_part(visit& v, device& who) {
  who.kind = device_kind::partition;
  who.vendor = vendor::amd;
  const auto node = node_of(v.of());
  const card* const whole = node ? whole_of(*node, v.all()) : nullptr;
  if (whole == nullptr) return;
  known& k = known_of(*whole);
  if (!k.is_named) k.is_named = read_name(*whole, k.name) == 0;
  who.parent = whole->number;
  who.name = k.name;
  who.architecture = architecture_of(node->gfx_target);
  who.pci_device = whole->pci_device;
  who.pci_subsystem = whole->pci_subsystem;
}

result<void> amdgpu_driver::memory(visit& v, pools& out) {
  if (!drm::is_partition_node(v.of())) return read_memory(v, known_of(v.of()).kind, out);
  const auto node = node_of(v.of());
  if (!node || !node->memory) return of_whole_only("memory is reported");
  pool p;
  p.from = compute_->from();
  p.is_main = true;
  p.kind = pool_kind::vram;
  p.total = node->memory;
  v.diagnose(of_whole_only("used memory is reported"), subject::pools,
             pool_field::used | pool_field::free);
  out.add(p);
  return {};
}

result<void> amdgpu_driver::telemetry(visit& v, std::uint32_t fields, hmn::telemetry& out) {
  if (has_sensors_of_whole(v)) return of_whole_only("load, temperatures, power and clocks are");
  return read_telemetry(v, fields, known_of(v.of()).no_throttle_in, out);
}

void amdgpu_driver::metrics(visit& v, bool slow, std::vector<metric>& out) {
  if (!has_sensors_of_whole(v)) return read_metrics(v, known_of(v.of()).kind, slow, out);
  v.diagnose(of_whole_only("sensors, power and clocks are"), subject::metrics, 0);
}

// vram, gtt and cpu are memory; gds, gws, oa and doorbell are not. All memory of an APU is host
// RAM, whether it came from vram or gtt.
drm::region_role amdgpu_driver::role_of(const card& c, std::string_view region) const noexcept {
  if (region == "vram" || (region == "gtt" && is_integrated(c))) return drm::region_role::device;
  return region == "gtt" || region == "cpu" ? drm::region_role::host : drm::region_role::ignored;
}

void amdgpu_driver::add_own_keys(const card& c, const drm::fdinfo& info,
                                 drm::client_use& out) const noexcept {
  out.evicted = drm::amount_of(info.text, "amd-evicted-vram");
  if (!is_integrated(c)) {
    if (!out.committed) out.committed = drm::amount_of(info.text, "amd-requested-vram");
    return;
  }
  for (const drm::region& r : info.regions()) {
    const auto mapped = r.backed() ? r.backed() : r.total;
    if (r.name == "gtt" && mapped) out.host_pool = out.host_pool.value_or(0) + *mapped;
  }
}

result<void> amdgpu_driver::complete(visit& v, std::uint32_t pid, std::vector<usage>& rows) {
  const auto node = node_of(v.of());
  result<void> whole;
  if (node) whole = compute_->add_rows(v, node->gpu_id, pid, rows);
  // Two values may become known later: how much host RAM belongs to the card, and its KFD node.
  const slot n = v.of().number;
  if (n < known_.size() && known_[n].kind_error != 0) {
    for (usage& row : rows) note_incomplete(row);
  }
  if (whole && compute_ && compute_->is_in_doubt()) return compute_->describe().why;
  return whole;
}

}  // namespace
}  // namespace hmn::amdgpu

namespace hmn {

std::unique_ptr<drm::driver> make_amdgpu(std::unique_ptr<drm::compute_driver> compute) {
  return std::make_unique<amdgpu::amdgpu_driver>(std::move(compute));
}

}  // namespace hmn
