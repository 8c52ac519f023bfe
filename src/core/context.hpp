// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/device_table.hpp"
#include "core/limits.hpp"
#include "core/snapshot.hpp"
#include "core/source_reader.hpp"
#include "platform/mutex.hpp"

namespace hmn {

// HMN_PATH_* of the C interface; src/api asserts it.
enum class path_kind : std::uint32_t {
  proc = 1,
  sys = 2,
  nvml = 3,
  nvidia_smi = 4,
  rocm_smi = 5,
  macmon = 6,
  simulation = 7,
  cgroup = 8,
  amd_smi = 9,
  dev = 10,
};

struct snapshot_request {
  std::uint32_t collect = 0;  // subject bits
  std::optional<std::uint32_t> device_index;
  std::optional<std::uint32_t> pid;
  bool slow = false;                // also slow metrics
  bool without_hosts_part = false;  // rows without what the host knows of a process
  std::uint64_t deadline_ns = 0;    // 0: the context's
};

// Sources of measurement, opened once and kept. Any number of threads may use it at once.
class context {
 public:
  context(const settings& s, const limits& l);
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  ~context();

  // Whether this process is a fork of the one that made the context. Takes no lock.
  [[nodiscard]] bool is_forked() const noexcept;
  [[nodiscard]] bool may_start_threads() const noexcept { return !settings_.no_threads; }
  // `value` empty: the default.
  result<void> set_path(path_kind which, std::string_view value);
  result<source_state> backend(source which);

  // What was read so far, as a machine file.
  result<std::string> recording();

  result<void> memory(std::uint32_t pid, std::uint32_t fields, process_memory& out);
  result<void> own_memory(std::uint32_t fields, process_memory& out);
  result<void> system(system_memory& out);

  result<std::uint32_t> device_count();
  result<std::uint32_t> find(std::string_view key);
  result<numbered_device> identity(std::uint32_t index);
  result<dated<hmn::pool>> pool(std::uint32_t index, pool_kind kind);
  result<dated<hmn::telemetry>> telemetry(std::uint32_t index, std::uint32_t fields);
  result<dated<hmn::metric>> metric(std::uint32_t index, metric_id id, std::uint32_t instance);
  result<dated<usage>> process(std::uint32_t index, std::uint32_t pid);
  result<dated<usage>> own_usage(std::uint32_t index);

  result<std::unique_ptr<snapshot>> take(const snapshot_request& request);

 private:
  friend class snapshot_builder;

  struct refusal {
    source from;
    failure why;
    bool conclusive = false;
  };
  using refusals = std::vector<refusal>;

  void start();
  [[nodiscard]] budget new_budget(std::uint64_t deadline_ns = 0) const;
  [[nodiscard]] plan new_plan() const;
  result<void> rescan(budget& b, refusals* refused_by = nullptr);
  static failure no_device(std::uint32_t index, std::uint32_t count, const refusals& refused);
  result<void> know(std::uint32_t index, budget& b);
  [[nodiscard]] bool is_no_news(const source_reader& reader, std::optional<std::uint32_t> index);
  [[nodiscard]] bool concerns(const source_reader& reader, std::uint32_t index);
  [[nodiscard]] bool waits_after(const source_reader& reader, std::optional<std::uint32_t> index);
  [[nodiscard]] plan plan_for(const source_reader& reader, plan p,
                              std::optional<std::uint32_t> index);
  [[nodiscard]] text<32> address_of(std::uint32_t index);
  void learn(source_reader& reader, const reply& known);
  void note_refusal(const source_reader& reader, const failure& why,
                    std::optional<std::uint32_t> only);

  // Carries out a plan on every source that has its say.
  using look = function_ref<void(source_reader& reader, const reply& known, const moment& m)>;
  // `enough`, where given, set by `at`: no further source is asked.
  refusals ask(const plan& p, std::optional<std::uint32_t> index, budget& b, look at,
               const bool* enough = nullptr);
  // The same for one part of one device: `at` takes what a source says of it.
  using taker = function_ref<result<void>(const device_reply& d, const reply& known,
                                          const moment& m, source from, bool& enough)>;
  result<void> read_part(std::uint32_t index, const plan& p, budget& b, taker at);
  template <class T, class Pick>
  result<dated<T>> read_value(std::uint32_t index, const plan& p, budget& b, Pick&& pick);

  settings settings_;
  limits limits_;
  std::uint64_t generation_;
  std::uint32_t own_pid_;
  platform::mutex start_mutex_;
  std::atomic<bool> started_{false};
  std::unique_ptr<host_source> host_;
  std::unique_ptr<machine_recorder> recorder_;
  std::vector<std::unique_ptr<source_reader>> readers_;
  platform::mutex table_mutex_;
  device_table table_;
  std::vector<const device*> listed_;  // room for learn()
};

}  // namespace hmn
