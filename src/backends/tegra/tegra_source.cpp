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

using sysfs::PathText;

// A Tegra SoC has exactly one GPU.
class TegraSource final : public DeviceSource {
 public:
  explicit TegraSource(const Settings& s);

  Result<void> probe() override;
  Result<void> prepare(Reading& r) override;
  Result<void> devices(std::vector<Device>& out, Reading& r) override;
  Result<void> memory(Slot number, Pools& out, Reading& r) override;
  Result<void> telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) override;
  Result<void> metrics(Slot number, bool slow, std::vector<Metric>& out, Reading& r) override;
  Result<void> processes(Slot number, std::vector<Usage>& out, Reading& r) override;
  void close() noexcept override { gpu_ = {}; }
  SourceState describe(Source which) const override;

 private:
  [[nodiscard]] Result<void> find(Slot number) const;
  void look();
  void find_sensors();
  // Fails if only root may read the file, or it does not exist.
  [[nodiscard]] Result<NvmapClients> read_clients() const;

  std::string sys_root_;
  std::string proc_root_;
  bool may_wake_;
  bool is_asleep_ = false;
  Gpu gpu_;
  Rail rail_;
  bool is_sure_ = false;   // of both places
  Text<512> thermometer_;  // folder of the thermal zone; empty: none
};

constexpr Slot only = 0;
constexpr std::size_t clients_cap = 1U << 20;

Failure asleep() {
  return fail(Status::asleep, "the GPU is suspended, and this would wake it");
}

Usage row_of(const NvmapClient& c) {
  Usage row;
  row.pid = c.pid;
  row.from = Source::tegra;
  row.accounting = Accounting::allocated;
  row.used = row.allocated = c.bytes;
  return row;
}

}  // namespace

TegraSource::TegraSource(const Settings& s)
    : DeviceSource(Source::tegra, Calls::return_in_time),  // files of sysfs
      sys_root_(s.sys_root),
      proc_root_(s.proc_root),
      may_wake_(s.wake_devices) {}

Result<void> TegraSource::probe() {
  if (gpu_.folder.empty()) look();
  if (!gpu_.folder.empty()) return {};
  return fail(Status::no_source, "no Tegra GPU");
}

void TegraSource::look() {
  gpu_ = find_gpu(sys_root_);
  if (gpu_.folder.empty()) return;
  find_sensors();
}

void TegraSource::find_sensors() {
  is_sure_ = true;
  rail_ = find_rail(sys_root_, is_sure_);
  thermometer_ = find_thermometer(sys_root_, is_sure_);
}

Result<void> TegraSource::prepare(Reading&) {
  if (gpu_.folder.empty() || !platform::exists(PathText{gpu_.folder.view(), "/of_node"}.c_str())) {
    look();
  } else if (!is_sure_) {
    find_sensors();
  }
  is_asleep_ = !gpu_.folder.empty() && sysfs::is_asleep(gpu_.folder.view()).value;
  return {};
}

Result<void> TegraSource::find(Slot number) const {
  if (number == only && !gpu_.folder.empty()) return {};
  return fail(Status::device_lost, "the GPU was here and is gone");
}

Result<void> TegraSource::devices(std::vector<Device>& out, Reading& r) {
  if (gpu_.folder.empty()) return {};
  Device who;
  who.number = only;
  who.from = Source::tegra;
  who.form = DeviceForm::integrated;
  who.memory_kind = MemoryKind::unified;
  who.vendor = vendor::nvidia;
  who.state = is_asleep_ ? State::asleep : State::ready;
  const int unnamed = read_board_name(proc_root_, sys_root_, who.name);
  if (unnamed != 0) {
    diagnose(r, unreadable(unnamed, sys_root_, "firmware/devicetree/base/model"), subject::devices,
             device_field::name);
  }
  out.push_back(who);
  return {};
}

Result<NvmapClients> TegraSource::read_clients() const {
  constexpr const char* file = "kernel/debug/nvmap/iovmm/clients";
  std::string text;
  const PathText path{sys_root_, "/", file};
  const auto cut = platform::read_whole(path.c_str(), text, clients_cap);
  if (cut) return parse_nvmap(text);
  if (cut.error == ENOENT) {
    return fail(
        Status::unsupported,
        "users of the GPU's memory are not reported by this kernel; debugfs may not be mounted");
  }
  return unreadable(cut.error, sys_root_, file);
}

Result<void> TegraSource::memory(Slot number, Pools& out, Reading& r) {
  if (Result<void> ok = find(number); !ok) return ok;
  Pool p;
  p.kind = PoolKind::unified;
  p.from = Source::tegra;
  p.is_main = true;
  Result<NvmapClients> clients = read_clients();
  if (clients && clients->total) {
    p.used = clients->total;
    p.accounting = Accounting::allocated;
  } else {
    diagnose(
        r, clients ? fail(Status::backend, "nvmap's list of clients has no total") : clients.why(),
        subject::pools, pool_field::used);
  }
  out.add(p);
  return {};
}

Result<void> TegraSource::telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) {
  if (Result<void> ok = find(number); !ok) return ok;
  if (is_asleep_ && !may_wake_) return asleep();
  return read_sensors({gpu_, rail_, thermometer_, is_sure_}, fields, out, r);
}

Result<void> TegraSource::metrics(Slot number, bool, std::vector<Metric>& out, Reading& r) {
  if (Result<void> ok = find(number); !ok) return ok;
  if (!is_asleep_ || may_wake_) add_metrics({gpu_, rail_, thermometer_, is_sure_}, out, r);
  return {};
}

Result<void> TegraSource::processes(Slot number, std::vector<Usage>& out, Reading& r) {
  if (Result<void> ok = find(number); !ok) return ok;
  const Result<NvmapClients> clients = read_clients();
  if (!clients) return clients.why();
  for (const NvmapClient& c : clients->all) {
    const auto known = std::ranges::find_if(out, [&](const Usage& u) { return u.pid == c.pid; });
    if (known == out.end()) {
      out.push_back(row_of(c));
    } else {
      known->used = known->allocated = *known->used + c.bytes;
    }
  }
  if (clients->total && !clients->is_odd) return {};
  const Failure why = with_reason(
      Reason::not_understood,
      fail(Status::backend, "nvmap's list of clients has lines that make no sense, or no total"));
  if (!out.empty()) diagnose(r, why, subject::processes, 0);
  return mark_incomplete(out, why);
}

SourceState TegraSource::describe(Source which) const {
  SourceState now;
  now.why = {Status::ok, which, {}, {}};
  now.state = gpu_.folder.empty() ? State::absent : is_asleep_ ? State::asleep : State::ready;
  return now;
}

}  // namespace hmn::tegra

namespace hmn {

std::unique_ptr<DeviceSource> make_tegra(const Settings& s) {
  return std::make_unique<tegra::TegraSource>(s);
}

}  // namespace hmn
