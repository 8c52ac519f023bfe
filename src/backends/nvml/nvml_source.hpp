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

class nvml_source final : public device_source {
 public:
  explicit nvml_source(const settings& s);

  result<void> probe() override;
  result<void> prepare(reading& r) override;
  result<void> devices(std::vector<device>& out, reading& r) override;
  result<void> memory(slot number, pools& out, reading& r) override;
  result<void> telemetry(slot number, FieldSet fields, hmn::telemetry& out,
                         reading& r) override;
  result<void> metrics(slot number, bool slow, std::vector<metric>& out, reading& r) override;
  result<void> processes(slot number, std::vector<usage>& out, reading& r) override;
  result<void> process(slot number, std::uint32_t pid, bool self, usage& out, reading& r) override;

  bool finish(reading& r) override;
  void close() noexcept override { session_.close(); }
  [[nodiscard]] std::unique_ptr<device_source> again(const settings& s) const override {
    return std::make_unique<nvml_source>(s);
  }
  [[nodiscard]] source_state describe(source) const override;

 private:
  [[nodiscard]] bool must_stay_closed() const noexcept;
  [[nodiscard]] bool must_reopen(std::uint64_t now_ns);
  failure asleep() const;
  bool has_nothing_to_do(const topic& t);
  result<void> open(const topic& t);
  result<void> reopen(const topic& t);
  result<void> list(const topic& t);

  // Calls `ask` for a device, and once more after opening NVML again if the driver was reloaded.
  using device_call = function_ref<code(known_device&, std::optional<failure>&)>;
  result<void> with_device(topic& t, slot number, device_call ask);
  result<known_device*> reach(const topic& t, slot number);
  static void note_answer(reading& r, known_device& of, code c);

  bool add_known_total(const topic& t, pools& out);
  code read_memory(const topic& t, known_device& of, pools& out, std::optional<failure>& why);
  pool unified_pool(const topic& t, known_device& of);
  code read_processes(const topic& t, known_device& of, std::vector<usage>& out,
                      std::optional<failure>& why);
  // Values that need calls of their own.
  code read_load_and_peaks(const topic& t, const known_device& of, std::span<usage> rows);
  code read_process(const topic& t, known_device& of, std::uint32_t pid, bool self, usage& out,
                    std::optional<failure>& why);
  bool is_zero_proven(const list_outcome& outcome);
  void mark_foreign(std::span<usage> rows);

  const settings settings_;
  sleep_watch watch_;
  session session_;
  device_list device_list_;
  fault_watch faults_{session_, device_list_};
  process_reader processes_;
  process_load load_;
  wide_counts wide_;
  pid_trust trust_;
  idle::backoff backoff_;
  bool paravirtual_ = false;
  std::uint64_t bus_at_opening_ = 0;
  std::uint64_t reopen_wait_ns_ = 0;
  std::uint64_t reloaded_at_ns_ = 0;
  std::optional<failure> why_;  // why it is unavailable now
};

}  // namespace hmn::nvml
