// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/shared/sysfs/attribute.hpp"
#include "backends/tegra/files.hpp"
#include "platform/file.hpp"
#include "source/interface.hpp"
#include "source/registry.hpp"

namespace hmn::tegra {
namespace {

using sysfs::path_text;

// A Tegra SoC has exactly one GPU.
class tegra_source final : public device_source {
 public:
  explicit tegra_source(const settings& s);

  result<void> probe() override;
  result<void> prepare(reading& r) override;
  result<void> devices(std::vector<device>& out, reading& r) override;
  result<void> memory(slot number, pools& out, reading& r) override;
  result<void> telemetry(slot number, FieldSet fields, hmn::telemetry& out, reading& r) override;
  result<void> metrics(slot number, bool slow, std::vector<metric>& out, reading& r) override;
  result<void> processes(slot number, std::vector<usage>& out, reading& r) override;
  void close() noexcept override { gpu_ = {}; }
  source_state describe(source which) const override;

 private:
  [[nodiscard]] result<void> find(slot number) const;
  void look();
  void find_sensors();
  // Fails if only root may read the file, or it does not exist.
  [[nodiscard]] result<nvmap_clients> read_clients() const;

  std::string sys_root_;
  std::string proc_root_;
  bool may_wake_;
  bool is_asleep_ = false;
  gpu gpu_;
  rail rail_;
  bool is_sure_ = false;   // of both places
  text<512> thermometer_;  // folder of the thermal zone; empty: none
};

constexpr slot only = 0;
constexpr std::size_t clients_cap = 1U << 20;

failure asleep() {
  return fail(status::asleep, "the GPU is suspended, and this would wake it");
}

usage row_of(const nvmap_client& c) {
  usage row;
  row.pid = c.pid;
  row.from = source::tegra;
  row.accounting = accounting::allocated;
  row.used = row.allocated = c.bytes;
  return row;
}

}  // namespace

tegra_source::tegra_source(const settings& s)
    : device_source(source::tegra, calls::return_in_time),  // files of sysfs
      sys_root_(s.sys_root),
      proc_root_(s.proc_root),
      may_wake_(s.wake_devices) {}

result<void> tegra_source::probe() {
  if (gpu_.folder.empty()) look();
  if (!gpu_.folder.empty()) return {};
  return fail(status::no_source, "no Tegra GPU");
}

void tegra_source::look() {
  gpu_ = find_gpu(sys_root_);
  if (gpu_.folder.empty()) return;
  find_sensors();
}

void tegra_source::find_sensors() {
  is_sure_ = true;
  rail_ = find_rail(sys_root_, is_sure_);
  thermometer_ = find_thermometer(sys_root_, is_sure_);
}

result<void> tegra_source::prepare(reading&) {
  if (gpu_.folder.empty() || !platform::exists(path_text{gpu_.folder.view(), "/of_node"}.c_str())) {
    look();
  } else if (!is_sure_) {
    find_sensors();
  }
  is_asleep_ = !gpu_.folder.empty() && sysfs::is_asleep(gpu_.folder.view()).value;
  return {};
}

result<void> tegra_source::find(slot number) const {
  if (number == only && !gpu_.folder.empty()) return {};
  return fail(status::device_lost, "the GPU was here and is gone");
}

result<void> tegra_source::devices(std::vector<device>& out, reading& r) {
  if (gpu_.folder.empty()) return {};
  device who;
  who.number = only;
  who.from = source::tegra;
  who.form = device_form::integrated;
  who.memory_kind = memory_kind::unified;
  who.vendor = vendor::nvidia;
  who.state = is_asleep_ ? state::asleep : state::ready;
  const int unnamed = read_board_name(proc_root_, sys_root_, who.name);
  if (unnamed != 0) {
    diagnose(r, unreadable(unnamed, sys_root_, "firmware/devicetree/base/model"), subject::devices,
             device_field::name);
  }
  out.push_back(who);
  return {};
}

result<nvmap_clients> tegra_source::read_clients() const {
  constexpr const char* file = "kernel/debug/nvmap/iovmm/clients";
  std::string text;
  const path_text path{sys_root_, "/", file};
  const auto cut = platform::read_whole(path.c_str(), text, clients_cap);
  if (cut) return parse_nvmap(text);
  if (cut.error == ENOENT) {
    return fail(
        status::unsupported,
        "users of the GPU's memory are not reported by this kernel; debugfs may not be mounted");
  }
  return unreadable(cut.error, sys_root_, file);
}

result<void> tegra_source::memory(slot number, pools& out, reading& r) {
  if (result<void> ok = find(number); !ok) return ok;
  pool p;
  p.kind = pool_kind::unified;
  p.from = source::tegra;
  p.is_main = true;
  result<nvmap_clients> clients = read_clients();
  if (clients && clients->total) {
    p.used = clients->total;
    p.accounting = accounting::allocated;
  } else {
    diagnose(
        r, clients ? fail(status::backend, "nvmap's list of clients has no total") : clients.why(),
        subject::pools, pool_field::used);
  }
  out.add(p);
  return {};
}

result<void> tegra_source::telemetry(slot number, FieldSet fields, hmn::telemetry& out,
                                     reading& r) {
  if (result<void> ok = find(number); !ok) return ok;
  if (is_asleep_ && !may_wake_) return asleep();
  return read_sensors({gpu_, rail_, thermometer_, is_sure_}, fields, out, r);
}

result<void> tegra_source::metrics(slot number, bool, std::vector<metric>& out, reading& r) {
  if (result<void> ok = find(number); !ok) return ok;
  if (!is_asleep_ || may_wake_) add_metrics({gpu_, rail_, thermometer_, is_sure_}, out, r);
  return {};
}

result<void> tegra_source::processes(slot number, std::vector<usage>& out, reading& r) {
  if (result<void> ok = find(number); !ok) return ok;
  const result<nvmap_clients> clients = read_clients();
  if (!clients) return clients.why();
  for (const nvmap_client& c : clients->all) {
    const auto known = std::ranges::find_if(out, [&](const usage& u) { return u.pid == c.pid; });
    if (known == out.end()) {
      out.push_back(row_of(c));
    } else {
      known->used = known->allocated = *known->used + c.bytes;
    }
  }
  if (clients->total && !clients->is_odd) return {};
  const failure why = with_reason(
      reason::not_understood,
      fail(status::backend, "nvmap's list of clients has lines that make no sense, or no total"));
  if (!out.empty()) diagnose(r, why, subject::processes, 0);
  return mark_incomplete(out, why);
}

source_state tegra_source::describe(source which) const {
  source_state now;
  now.why = {status::ok, which, {}, {}};
  now.state = gpu_.folder.empty() ? state::absent : is_asleep_ ? state::asleep : state::ready;
  return now;
}

}  // namespace hmn::tegra

namespace hmn {

std::unique_ptr<device_source> make_tegra(const settings& s) {
  return std::make_unique<tegra::tegra_source>(s);
}

}  // namespace hmn
