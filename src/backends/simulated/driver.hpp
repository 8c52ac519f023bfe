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

inline failure refusal(status code, const message_text& message) {
  return {code, source::simulated, {}, message};
}

void wait_for(const conduct& c, call on, std::uint64_t reading);

// Returns the fault that fails the whole call, if any.
const fault* whole_fault(const conduct& c, call on, std::uint64_t reading) noexcept;

// Calls f(fault) for each fault that removes single fields of this call.
template <class F>
void each_field_fault(const conduct& c, call on, std::uint64_t reading, F f) {
  for (const fault& it : c.faults) {
    if (it.on == on && it.fields != 0 && it.when.holds(reading)) f(it);
  }
}

// Takes the place of the vendor's driver on a simulated machine.
class driver final : public device_source {
 public:
  // Calls that the file makes slow or hang have the same deadlines as those of a real driver.
  // `replaces`: it takes over from another one that is open, in the reading that that one has
  // begun.
  driver(std::shared_ptr<machine_file> file, bool wake, bool replaces = false)
      : device_source(source::simulated, calls::may_block),
        file_(std::move(file)),
        wake_(wake),
        has_begun_(replaces),
        is_open_(replaces) {}

  result<void> prepare(reading& r) override;
  result<void> devices(std::vector<device>& out, reading& r) override;
  result<void> memory(slot number, pools& out, reading& r) override;
  result<void> telemetry(slot number, FieldSet fields, hmn::telemetry& out,
                         reading& r) override;
  result<void> metrics(slot number, bool slow, std::vector<metric>& out, reading& r) override;
  result<void> processes(slot number, std::vector<usage>& out, reading& r) override;
  result<void> process(slot number, std::uint32_t pid, bool self, usage& out, reading& r) override;

  void close() noexcept override { is_open_ = false; }
  [[nodiscard]] std::unique_ptr<device_source> again(const settings&) const override {
    return std::make_unique<driver>(file_, wake_, true);
  }

 private:
  template <class F>
  result<void> perform(call what, const described_device* d, reading& r, F body);
  template <class F>
  result<void> on_device(call what, slot number, reading& r, F body);
  result<void> open(reading& r);
  bool may_ask(const described_device& d, reading& r) const;
  result<void> check(const described_device& d) const;
  void keep(const result<void>& outcome);
  [[nodiscard]] usage row_of(const described_row& row) const;
  [[nodiscard]] result<void> unlisted(std::uint32_t pid, bool self, usage& out) const;

  const std::shared_ptr<machine_file> file_;
  const bool wake_;
  view view_;
  std::size_t gpu_count_ = 0;
  bool has_begun_;
  bool is_open_;
};

class host final : public host_source {
 public:
  host(std::shared_ptr<machine_file> file, std::unique_ptr<host_source> real);

  [[nodiscard]] source id() const noexcept override { return source::simulated; }
  result<void> memory(std::uint32_t pid, FieldSet fields, process_memory& out) override;
  result<void> own_memory(FieldSet fields, process_memory& out) override;
  result<void> system(system_memory& out) override;
  void describe(usage& row) override;
  void describe_texts(usage& row) override;
  result<void> groups(group_memory& out) override;

 private:
  void describe(usage& row, void (*fill_from)(usage&, const usage&),
                void (host_source::*ask)(usage&));

  const std::shared_ptr<machine_file> file_;
  const std::unique_ptr<host_source> real_;
  const std::uint32_t self_pid_;
};

}  // namespace hmn::simulated
