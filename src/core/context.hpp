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
#include "core/merge.hpp"
#include "core/snapshot.hpp"
#include "core/worker.hpp"
#include "platform/mutex.hpp"

namespace hmn {

enum class path_kind : std::uint32_t {
  proc = HMN_PATH_PROC,
  sys = HMN_PATH_SYS,
  nvml = HMN_PATH_NVML,
  nvidia_smi = HMN_PATH_NVIDIA_SMI,
  rocm_smi = HMN_PATH_ROCM_SMI,
  macmon = HMN_PATH_MACMON,
  simulation = HMN_PATH_SIMULATION,
  cgroup = HMN_PATH_CGROUP,
  amd_smi = HMN_PATH_AMD_SMI,
  dev = HMN_PATH_DEV,
};

// Command lines and containers read for an earlier list of processes: a sampler does not read them
// each time.
struct known_texts {
  static constexpr std::uint64_t longest_age_ns = 5 * platform::ns_per_second;

  std::uint64_t read_ns = 0;  // the oldest of them
  std::vector<usage> rows;    // by device index, then pid
};

struct snapshot_request {
  std::uint32_t collect = 0;    // subject bits
  std::uint32_t postponed = 0;  // subjects that a later request has
  std::optional<std::uint32_t> device_index;
  std::optional<std::uint32_t> pid;
  bool slow = false;                         // includes slow metrics
  bool quick = false;                        // leaves out what a driver takes milliseconds for
  bool parts = false;                        // lists the parts of pools, too
  bool without_hosts_part = false;           // skips the process details that the host provides
  std::optional<std::uint64_t> deadline_ns;  // none: the context's
  known_texts* texts = nullptr;              // of a sampler, which reads them seldom
};

// Number of devices, and of changes of their list.
struct device_scan {
  std::uint32_t count = 0;
  std::uint64_t generation = 0;
};

// Is notified when the context is cancelled or resumed.
class CancelListener {
 public:
  virtual void update_cancelled() noexcept = 0;

 protected:
  ~CancelListener() = default;
};

// Measurement sources, opened once and kept. Safe for concurrent use by any number of threads.
class context {
 public:
  context(const settings& s, const limits& l);
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  ~context();

  // Returns whether this process is a fork of the one that made the context. Takes no lock.
  [[nodiscard]] bool is_forked() const noexcept;
  // While it is cancelled, calls that would wait for a driver fail at once.
  void set_cancelled(bool is_cancelled) noexcept;
  [[nodiscard]] bool is_cancelled() const noexcept { return is_cancelled_; }
  void add_listener(CancelListener& listener);
  void remove_listener(CancelListener& listener) noexcept;

  [[nodiscard]] bool may_start_threads() const noexcept { return !settings_.no_threads; }
  // An empty `value` restores the default.
  result<void> set_path(path_kind which, std::string_view value);
  result<source_state> backend(source which);

  // Stores the readings so far as a machine file.
  result<void> recording(std::string& out);

  result<void> memory(std::uint32_t pid, FieldSet fields, process_memory& out);
  result<void> own_memory(FieldSet fields, process_memory& out);
  // For frequent readings; false: own_memory() finds out why.
  [[nodiscard]] bool own_sizes(memory_sizes& out) const noexcept {
    return started_.load(std::memory_order_acquire) && !is_forked() && host_->own_sizes(out);
  }
  [[nodiscard]] std::uint32_t own_pid() const noexcept { return own_pid_; }
  result<void> system(system_memory& out);

  result<device_scan> scan();
  // Find a device of the last scan; only a context that has never scanned asks the sources.
  result<std::uint32_t> find(std::string_view key);
  result<device> identity(std::uint32_t index);
  // `fields`: pool_field bits.
  result<hmn::pool> pool(std::uint32_t index, PoolKey key, FieldSet fields,
                         std::vector<diagnostic>* diagnostics = nullptr);
  // Returns what can be allocated on the device now.
  result<std::uint64_t> usable(std::uint32_t index);
  // `fields`: telemetry_field and usage_field bits; 0: all that the driver answers without taking
  // milliseconds.
  result<hmn::telemetry> telemetry(std::uint32_t index, FieldSet fields);
  result<hmn::metric> metric(std::uint32_t index, metric_id id, std::uint32_t instance);
  result<usage> process(std::uint32_t index, std::uint32_t pid, FieldSet fields);
  result<usage> own_usage(std::uint32_t index);

  result<std::unique_ptr<snapshot>> take(const snapshot_request& request);

 private:
  friend class snapshot_builder;

  struct refusal {
    source from;
    failure why;
    bool conclusive = false;
  };
  using refusals = std::vector<refusal>;
  // What a scan learned of a source. Taken over when the scan has succeeded.
  struct scan_step {
    worker* from;
    std::optional<failure> why;  // none: its list
    bool is_replaced = false;    // the source that it replaces has come back
  };

  void start();
  [[nodiscard]] deadline new_deadline(std::optional<std::uint64_t> deadline_ns = {},
                                      std::uint64_t begun = platform::monotonic_ns()) const;
  [[nodiscard]] plan new_plan() const;
  result<void> scan(deadline& d);
  void take_over(const std::vector<scan_step>& steps);
  // Keeps why sources listed nothing, unless the scan as a whole has failed: returns why.
  std::optional<failure> remember_scan(const refusals& refused);
  result<void> ensure_scanned(deadline& d);
  [[nodiscard]] failure no_device(std::uint32_t index) const;
  result<void> ensure_listed(std::uint32_t index, deadline& d);
  [[nodiscard]] bool is_expected_absence(const worker& from, std::optional<std::uint32_t> index);
  [[nodiscard]] bool may_have(const worker& from, std::uint32_t index);
  [[nodiscard]] deadline::share share_after(const worker& from, std::optional<std::uint32_t> index);
  [[nodiscard]] bool serves(worker& from, std::optional<std::uint32_t> index);
  [[nodiscard]] plan plan_for(const worker& from, plan p, std::optional<std::uint32_t> index);
  void update_devices(worker& from, const source_cache& known);
  // What a source listed earlier no longer counts: the one that it replaces has come back.
  void forget_devices(const worker& from);
  void note_refusal(const worker& from, const failure& why, std::optional<std::uint32_t> only);

  // Carries out a plan on every source that may have an answer, in order of preference; `visit`
  // returns whether further sources can contribute. With `steps` the device table stays as it is.
  using visitor = function_ref<bool(worker& from, const source_cache& known, const moment& m)>;
  result<refusals> ask(const plan& p, std::optional<std::uint32_t> index, deadline& d,
                       visitor visit, std::vector<scan_step>* steps = nullptr);
  // Carries out a direct reading: one device and one selection. Fails where no source served the
  // subject.
  result<void> read(std::uint32_t index, std::uint32_t subject_bit, const plan& p,
                    const selection& wanted, merged_device& out,
                    std::vector<diagnostic>* diagnostics = nullptr);
  // Adds what NVML failed to read and nvidia-smi can. Called after all sources. Fails only if the
  // context was cancelled.
  using seen_answer = function_ref<void(const source_cache& known)>;
  result<void> complete(std::span<merged_device> all, const plan& p, deadline& d, seen_answer seen);
  void complete(merged_device& to, const plan& p, const source_cache& known, const moment& m);
  [[nodiscard]] std::uint32_t remaining(const merged_device& of, const plan& p);
  // Adds what the host knows to a device's pools, or only to those of one kind.
  void set_usable(merged_device& d, std::optional<pool_kind> only = {});

  settings settings_;
  limits limits_;
  std::uint64_t generation_;
  std::uint32_t own_pid_;
  platform::mutex start_mutex_;
  std::atomic<bool> started_{false};
  std::atomic<bool> is_cancelled_{false};
  platform::mutex listeners_mutex_;
  std::vector<CancelListener*> listeners_;
  std::shared_ptr<host_source> host_;  // shared with threads that may outlive the context
  std::unique_ptr<machine_recorder> recorder_;
  std::vector<std::unique_ptr<worker>> workers_;
  platform::mutex table_mutex_;
  device_table table_;
  bool has_scanned_ = false;
  refusals refused_;                       // by the last scan
  worker* nvidia_smi_ = nullptr;           // one of the workers, or none
  std::atomic<std::uint64_t> resting_{0};  // bit n: source n lets its devices sleep
  std::vector<const device*> listed_;      // kept, since a direct reading allocates nothing
};

}  // namespace hmn
