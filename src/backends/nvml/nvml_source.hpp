// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "backends/nvml/device.hpp"
#include "backends/nvml/device_list.hpp"
#include "backends/nvml/pid_trust.hpp"
#include "backends/nvml/processes.hpp"
#include "backends/nvml/session.hpp"
#include "backends/nvml/telemetry.hpp"
#include "backends/shared/idle/backoff.hpp"
#include "model/function_ref.hpp"
#include "source/interface.hpp"

namespace hmn::nvml {

class NvmlSource final : public DeviceSource {
 public:
  explicit NvmlSource(const Settings& settings);

  Result<void> probe() override;
  Result<void> prepare(Reading& reading) override;
  Result<void> devices(std::vector<Device>& out, Reading& reading) override;
  Result<void> memory(Slot slot, PoolList& out, Reading& reading) override;
  Result<void> telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                         Reading& reading) override;
  Result<void> metrics(Slot slot, bool include_slow, std::vector<Metric>& out, Reading& reading) override;
  Result<void> processes(Slot slot, std::vector<Usage>& out, Reading& reading) override;
  Result<void> process(Slot slot, std::uint32_t pid, bool self, Usage& out,
                       Reading& reading) override;

  bool finish(Reading& reading) override;
  void close() noexcept override { session_.close(); }
  [[nodiscard]] std::unique_ptr<DeviceSource> clone(const Settings& settings) const override {
    return std::make_unique<NvmlSource>(settings);
  }
  [[nodiscard]] SourceState describe(Source) const override;

 private:
  [[nodiscard]] bool must_stay_closed() const noexcept;
  [[nodiscard]] bool must_reopen(std::uint64_t now_ns);
  Failure make_asleep_failure() const;
  bool is_idle(const CallContext& context);
  Result<void> open(const CallContext& context);
  Result<void> reopen(const CallContext& context);
  Result<void> list_devices(const CallContext& context);

  // Runs a query on a device, and once more after opening NVML again if the driver was reloaded.
  using DeviceQuery = FunctionRef<Code(KnownDevice&, std::optional<Failure>&)>;
  Result<void> query_device(CallContext& context, Slot slot, DeviceQuery query);
  Result<KnownDevice*> find_device(const CallContext& context, Slot slot);
  static void update_device_state(Reading& reading, KnownDevice& device, Code code);

  bool add_known_total(const CallContext& context, PoolList& pools);
  Code read_memory(const CallContext& context, KnownDevice& device, PoolList& pools,
                   std::optional<Failure>& failure);
  Pool make_unified_pool(const CallContext& context, KnownDevice& device);
  Code read_processes(const CallContext& context, KnownDevice& device, std::vector<Usage>& out,
                      std::optional<Failure>& failure);
  // Values that need calls of their own.
  Code read_load_and_peaks(const CallContext& context, const KnownDevice& device,
                           std::span<Usage> rows);
  Code read_process(const CallContext& context, KnownDevice& device, std::uint32_t pid, bool self,
                    Usage& row, std::optional<Failure>& failure);
  bool is_zero_proven(const ListOutcome& outcome);
  void mark_foreign(std::span<Usage> rows);

  const Settings settings_;
  SleepWatch watch_;
  Session session_;
  DeviceList device_list_;
  FaultWatch faults_{session_, device_list_};
  ProcessReader processes_;
  ProcessLoadReader load_;
  WideCounters wide_;
  PidTrust trust_;
  idle::Backoff backoff_;
  bool is_paravirtual_ = false;
  std::uint64_t changes_at_opening_ = 0;
  std::uint64_t reopen_wait_ns_ = 0;
  std::uint64_t reload_time_ns_ = 0;
  std::optional<Failure> failure_;  // why it is unavailable now
};

}  // namespace hmn::nvml
