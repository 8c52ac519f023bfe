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
  explicit TegraSource(const Settings& settings);

  Result<void> probe() override;
  Result<void> prepare(Reading& reading) override;
  Result<void> devices(std::vector<Device>& out, Reading& reading) override;
  Result<void> memory(Slot slot, PoolList& out, Reading& reading) override;
  Result<void> telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                         Reading& reading) override;
  Result<void> metrics(Slot slot, bool include_slow, std::vector<Metric>& out, Reading& reading) override;
  Result<void> processes(Slot slot, std::vector<Usage>& out, Reading& reading) override;
  void close() noexcept override { gpu_ = {}; }
  SourceState describe(Source source) const override;

 private:
  [[nodiscard]] Result<void> find(Slot slot) const;
  void find_gpu_and_sensors();
  void find_sensors();
  // Fails if only root may read the file, or it does not exist.
  [[nodiscard]] Result<NvmapClients> read_clients() const;

  std::string sys_root_;
  std::string proc_root_;
  bool may_wake_;
  bool is_asleep_ = false;
  Gpu gpu_;
  Rail rail_;
  bool is_complete_ = false;  // rail and thermometer were searched without errors
  Text<512> thermometer_;     // folder of the thermal zone; empty: none
};

constexpr Slot gpu_slot = 0;
constexpr std::size_t max_clients_size = 1U << 20;

Failure make_asleep_failure() {
  return fail(Status::asleep, "the GPU is suspended, and this would wake it");
}

Usage make_row(const NvmapClient& client) {
  Usage row;
  row.pid = client.pid;
  row.source = Source::tegra;
  row.accounting = Accounting::allocated;
  row.used = row.allocated = client.bytes;
  return row;
}

}  // namespace

TegraSource::TegraSource(const Settings& settings)
    : DeviceSource(Source::tegra, CallBehavior::return_in_time),  // files of sysfs
      sys_root_(settings.sys_root),
      proc_root_(settings.proc_root),
      may_wake_(settings.wake_devices) {}

Result<void> TegraSource::probe() {
  if (gpu_.folder.empty()) find_gpu_and_sensors();
  if (!gpu_.folder.empty()) return {};
  return fail(Status::no_source, "no Tegra GPU");
}

void TegraSource::find_gpu_and_sensors() {
  gpu_ = find_gpu(sys_root_);
  if (gpu_.folder.empty()) return;
  find_sensors();
}

void TegraSource::find_sensors() {
  is_complete_ = true;
  rail_ = find_rail(sys_root_, is_complete_);
  thermometer_ = find_thermometer(sys_root_, is_complete_);
}

Result<void> TegraSource::prepare(Reading&) {
  if (gpu_.folder.empty() || !platform::exists(PathText{gpu_.folder.view(), "/of_node"}.c_str())) {
    find_gpu_and_sensors();
  } else if (!is_complete_) {
    find_sensors();
  }
  is_asleep_ = !gpu_.folder.empty() && sysfs::is_asleep(gpu_.folder.view()).value;
  return {};
}

Result<void> TegraSource::find(Slot slot) const {
  if (slot == gpu_slot && !gpu_.folder.empty()) return {};
  return fail(Status::device_lost, "the GPU was here and is gone");
}

Result<void> TegraSource::devices(std::vector<Device>& out, Reading& reading) {
  if (gpu_.folder.empty()) return {};
  Device device;
  device.slot = gpu_slot;
  device.source = Source::tegra;
  device.form = DeviceForm::integrated;
  device.memory_kind = MemoryKind::unified;
  device.vendor = vendor::nvidia;
  device.state = is_asleep_ ? State::asleep : State::ready;
  const int error = read_board_name(proc_root_, sys_root_, device.name);
  if (error != 0) {
    diagnose(reading, make_read_failure(error, sys_root_, "firmware/devicetree/base/model"),
             subject::devices, device_field::name);
  }
  out.push_back(device);
  return {};
}

Result<NvmapClients> TegraSource::read_clients() const {
  constexpr const char* file = "kernel/debug/nvmap/iovmm/clients";
  std::string text;
  const PathText path{sys_root_, "/", file};
  const auto result = platform::read_whole(path.c_str(), text, max_clients_size);
  if (result) return parse_nvmap(text);
  if (result.error == ENOENT) {
    return fail(
        Status::unsupported,
        "users of the GPU's memory are not reported by this kernel; debugfs may not be mounted");
  }
  return make_read_failure(result.error, sys_root_, file);
}

Result<void> TegraSource::memory(Slot slot, PoolList& out, Reading& reading) {
  if (Result<void> ok = find(slot); !ok) return ok;
  Pool pool;
  pool.kind = PoolKind::unified;
  pool.source = Source::tegra;
  pool.is_main = true;
  Result<NvmapClients> clients = read_clients();
  if (clients && clients->total) {
    pool.used = clients->total;
    pool.accounting = Accounting::allocated;
  } else {
    diagnose(
        reading,
        clients ? fail(Status::backend, "nvmap's list of clients has no total") : clients.failure(),
        subject::pools, pool_field::used);
  }
  out.add(pool);
  return {};
}

Result<void> TegraSource::telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                                    Reading& reading) {
  if (Result<void> ok = find(slot); !ok) return ok;
  if (is_asleep_ && !may_wake_) return make_asleep_failure();
  return read_sensors({gpu_, rail_, thermometer_, is_complete_}, fields, out, reading);
}

Result<void> TegraSource::metrics(Slot slot, bool, std::vector<Metric>& out, Reading& reading) {
  if (Result<void> ok = find(slot); !ok) return ok;
  if (!is_asleep_ || may_wake_)
    add_metrics({gpu_, rail_, thermometer_, is_complete_}, out, reading);
  return {};
}

Result<void> TegraSource::processes(Slot slot, std::vector<Usage>& out, Reading& reading) {
  if (Result<void> ok = find(slot); !ok) return ok;
  const Result<NvmapClients> clients = read_clients();
  if (!clients) return clients.failure();
  for (const NvmapClient& client : clients->all) {
    const auto row = std::ranges::find_if(out, [&](const Usage& u) { return u.pid == client.pid; });
    if (row == out.end()) {
      out.push_back(make_row(client));
    } else {
      row->used = row->allocated = *row->used + client.bytes;
    }
  }
  if (clients->total && !clients->is_malformed) return {};
  const Failure failure = with_reason(
      Reason::not_understood,
      fail(Status::backend, "nvmap's list of clients has lines that make no sense, or no total"));
  if (!out.empty()) diagnose(reading, failure, subject::processes, 0);
  return mark_incomplete(out, failure);
}

SourceState TegraSource::describe(Source source) const {
  SourceState result;
  result.failure = {Status::ok, source, {}, {}};
  result.state = gpu_.folder.empty() ? State::absent : is_asleep_ ? State::asleep : State::ready;
  return result;
}

}  // namespace hmn::tegra

namespace hmn {

std::unique_ptr<DeviceSource> make_tegra(const Settings& settings) {
  return std::make_unique<tegra::TegraSource>(settings);
}

}  // namespace hmn
