// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The driver and the host of a simulated machine; delays and fails calls as its file requests.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/simulated/machine.hpp"
#include "backends/simulated/script.hpp"
#include "source/interface.hpp"

namespace hmn::simulated {

inline Failure make_simulated_failure(Status code, const MessageText& message) {
  return {code, Source::simulated, {}, message};
}

void apply_delays(const FaultScript& script, Call call, std::uint64_t reading);

// Returns the fault that fails the whole call, if any.
const Fault* find_call_fault(const FaultScript& script, Call call, std::uint64_t reading) noexcept;

// Calls visit(fault) for each fault that removes single fields of this call.
template <class F>
void for_each_field_fault(const FaultScript& script, Call call, std::uint64_t reading, F visit) {
  for (const Fault& fault : script.faults) {
    if (fault.call == call && fault.fields != 0 && fault.readings.contains(reading)) visit(fault);
  }
}

// Takes the place of the vendor's driver on a simulated machine.
class Driver final : public DeviceSource {
 public:
  // Calls that the file makes slow or hang have the same deadlines as those of a real driver.
  // `is_replacement`: takes over from an open instance, in the reading that it has
  // begun.
  Driver(std::shared_ptr<MachineFile> file, bool wake, bool is_replacement = false)
      : DeviceSource(Source::simulated, CallBehavior::may_block),
        file_(std::move(file)),
        may_wake_(wake),
        has_begun_(is_replacement),
        is_open_(is_replacement) {}

  Result<void> prepare(Reading& reading) override;
  Result<void> devices(std::vector<Device>& out, Reading& reading) override;
  Result<void> memory(Slot slot, PoolList& out, Reading& reading) override;
  Result<void> telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                         Reading& reading) override;
  Result<void> metrics(Slot slot, bool include_slow, std::vector<Metric>& out,
                       Reading& reading) override;
  Result<void> processes(Slot slot, std::vector<Usage>& out, Reading& reading) override;
  Result<void> process(Slot slot, std::uint32_t pid, bool is_self, Usage& out,
                       Reading& reading) override;

  void close() noexcept override { is_open_ = false; }
  [[nodiscard]] std::unique_ptr<DeviceSource> clone(const Settings&) const override {
    return std::make_unique<Driver>(file_, may_wake_, true);
  }

 private:
  template <class F>
  Result<void> perform(Call call, const DescribedDevice* device, Reading& reading, F body);
  template <class F>
  Result<void> call_device(Call call, Slot slot, Reading& reading, F body);
  Result<void> open(Reading& reading);
  bool begin_call(const DescribedDevice& device, Reading& reading) const;
  Result<void> check_state(const DescribedDevice& device) const;
  void update_source_state(const Result<void>& outcome);
  [[nodiscard]] Usage make_usage(const DescribedRow& row) const;
  [[nodiscard]] Result<void> fill_unlisted(std::uint32_t pid, bool is_self, Usage& out) const;

  const std::shared_ptr<MachineFile> file_;
  const bool may_wake_;
  MachineView view_;
  std::size_t gpu_count_ = 0;
  bool has_begun_;
  bool is_open_;
};

// Answers for host memory and processes from the machine file, and from the real host where the
// file says so.
class Host final : public HostSource {
 public:
  Host(std::shared_ptr<MachineFile> file, std::unique_ptr<HostSource> real);

  [[nodiscard]] Source id() const noexcept override { return Source::simulated; }
  Result<void> memory(std::uint32_t pid, FieldSet fields, ProcessMemory& out) override;
  Result<void> own_memory(FieldSet fields, ProcessMemory& out) override;
  Result<void> system(SystemMemory& out) override;
  void describe(Usage& row) override;
  void describe_texts(Usage& row) override;
  Result<void> groups(GroupMemory& out) override;

 private:
  void describe(Usage& row, void (*fill)(Usage&, const Usage&), void (HostSource::*query)(Usage&));

  const std::shared_ptr<MachineFile> file_;
  const std::unique_ptr<HostSource> real_;
  const std::uint32_t self_pid_;
};

}  // namespace hmn::simulated
