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

class nvml_source final : public DeviceSource {
 public:
  explicit nvml_source(const Settings& s);

  Result<void> probe() override;
  Result<void> prepare(Reading& r) override;
  Result<void> devices(std::vector<Device>& out, Reading& r) override;
  Result<void> memory(Slot number, Pools& out, Reading& r) override;
  Result<void> telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) override;
  Result<void> metrics(Slot number, bool slow, std::vector<Metric>& out, Reading& r) override;
  Result<void> processes(Slot number, std::vector<Usage>& out, Reading& r) override;
  Result<void> process(Slot number, std::uint32_t pid, bool self, Usage& out, Reading& r) override;

  bool finish(Reading& r) override;
  void close() noexcept override { session_.close(); }
  [[nodiscard]] std::unique_ptr<DeviceSource> again(const Settings& s) const override {
    return std::make_unique<nvml_source>(s);
  }
  [[nodiscard]] SourceState describe(Source) const override;

 private:
  [[nodiscard]] bool must_stay_closed() const noexcept;
  [[nodiscard]] bool must_reopen(std::uint64_t now_ns);
  Failure asleep() const;
  bool has_nothing_to_do(const Topic& t);
  Result<void> open(const Topic& t);
  Result<void> reopen(const Topic& t);
  Result<void> list(const Topic& t);

  // Calls `ask` for a device, and once more after opening NVML again if the driver was reloaded.
  using DeviceCall = FunctionRef<Code(KnownDevice&, std::optional<Failure>&)>;
  Result<void> with_device(Topic& t, Slot number, DeviceCall ask);
  Result<KnownDevice*> reach(const Topic& t, Slot number);
  static void note_answer(Reading& r, KnownDevice& of, Code c);

  bool add_known_total(const Topic& t, Pools& out);
  Code read_memory(const Topic& t, KnownDevice& of, Pools& out, std::optional<Failure>& why);
  Pool unified_pool(const Topic& t, KnownDevice& of);
  Code read_processes(const Topic& t, KnownDevice& of, std::vector<Usage>& out,
                      std::optional<Failure>& why);
  // Values that need calls of their own.
  Code read_load_and_peaks(const Topic& t, const KnownDevice& of, std::span<Usage> rows);
  Code read_process(const Topic& t, KnownDevice& of, std::uint32_t pid, bool self, Usage& out,
                    std::optional<Failure>& why);
  bool is_zero_proven(const ListOutcome& outcome);
  void mark_foreign(std::span<Usage> rows);

  const Settings settings_;
  SleepWatch watch_;
  Session session_;
  DeviceList device_list_;
  FaultWatch faults_{session_, device_list_};
  ProcessReader processes_;
  ProcessLoad load_;
  WideCounts wide_;
  PidTrust trust_;
  idle::Backoff backoff_;
  bool paravirtual_ = false;
  std::uint64_t bus_at_opening_ = 0;
  std::uint64_t reopen_wait_ns_ = 0;
  std::uint64_t reloaded_at_ns_ = 0;
  std::optional<Failure> why_;  // why it is unavailable now
};

}  // namespace hmn::nvml
