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

inline Failure refusal(Status code, const MessageText& message) {
  return {code, Source::simulated, {}, message};
}

void wait_for(const Conduct& c, Call on, std::uint64_t reading);

// Returns the fault that fails the whole call, if any.
const Fault* whole_fault(const Conduct& c, Call on, std::uint64_t reading) noexcept;

// Calls f(fault) for each fault that removes single fields of this call.
template <class F>
void each_field_fault(const Conduct& c, Call on, std::uint64_t reading, F f) {
  for (const Fault& it : c.faults) {
    if (it.on == on && it.fields != 0 && it.when.holds(reading)) f(it);
  }
}

// Takes the place of the vendor's driver on a simulated machine.
class Driver final : public DeviceSource {
 public:
  // Calls that the file makes slow or hang have the same deadlines as those of a real driver.
  // `replaces`: it takes over from another one that is open, in the reading that that one has
  // begun.
  Driver(std::shared_ptr<MachineFile> file, bool wake, bool replaces = false)
      : DeviceSource(Source::simulated, Calls::may_block),
        file_(std::move(file)),
        wake_(wake),
        has_begun_(replaces),
        is_open_(replaces) {}

  Result<void> prepare(Reading& r) override;
  Result<void> devices(std::vector<Device>& out, Reading& r) override;
  Result<void> memory(Slot number, Pools& out, Reading& r) override;
  Result<void> telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) override;
  Result<void> metrics(Slot number, bool slow, std::vector<Metric>& out, Reading& r) override;
  Result<void> processes(Slot number, std::vector<Usage>& out, Reading& r) override;
  Result<void> process(Slot number, std::uint32_t pid, bool self, Usage& out, Reading& r) override;

  void close() noexcept override { is_open_ = false; }
  [[nodiscard]] std::unique_ptr<DeviceSource> again(const Settings&) const override {
    return std::make_unique<Driver>(file_, wake_, true);
  }

 private:
  template <class F>
  Result<void> perform(Call what, const DescribedDevice* d, Reading& r, F body);
  template <class F>
  Result<void> on_device(Call what, Slot number, Reading& r, F body);
  Result<void> open(Reading& r);
  bool may_ask(const DescribedDevice& d, Reading& r) const;
  Result<void> check(const DescribedDevice& d) const;
  void keep(const Result<void>& outcome);
  [[nodiscard]] Usage row_of(const DescribedRow& row) const;
  [[nodiscard]] Result<void> unlisted(std::uint32_t pid, bool self, Usage& out) const;

  const std::shared_ptr<MachineFile> file_;
  const bool wake_;
  View view_;
  std::size_t gpu_count_ = 0;
  bool has_begun_;
  bool is_open_;
};

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
  void describe(Usage& row, void (*fill_from)(Usage&, const Usage&),
                void (HostSource::*ask)(Usage&));

  const std::shared_ptr<MachineFile> file_;
  const std::unique_ptr<HostSource> real_;
  const std::uint32_t self_pid_;
};

}  // namespace hmn::simulated
