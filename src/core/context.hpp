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

enum class PathKind : std::uint32_t {
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

// Command lines and containers read for an earlier list of processes, so that a sampler need not
// read them each time.
struct ProcessTextCache {
  static constexpr std::uint64_t max_age_ns = 5 * platform::ns_per_second;

  std::uint64_t read_ns = 0;  // the oldest of them
  std::vector<Usage> rows;    // by device index, then pid
};

struct SnapshotRequest {
  std::uint32_t collect = 0;    // subject bits
  std::uint32_t postponed = 0;  // subjects left to a later request
  std::optional<std::uint32_t> device_index;
  std::optional<std::uint32_t> pid;
  bool includes_slow = false;                // includes slow metrics
  bool is_quick = false;                     // leaves out what a driver takes milliseconds for
  bool includes_parts = false;               // lists the parts of pools, too
  bool skips_host_details = false;           // skips the process details that the host provides
  std::optional<std::uint64_t> deadline_ns;  // none: the context's
  ProcessTextCache* texts = nullptr;         // of a sampler, which reads them less often
};

// Number of devices, and of changes of their list.
struct DeviceScan {
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
class Context {
 public:
  Context(const Settings& settings, const Limits& limits);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  // Returns whether this process is a fork of the one that made the context. Takes no lock.
  [[nodiscard]] bool is_forked() const noexcept;
  // While it is cancelled, calls that would wait for a driver fail at once.
  void set_cancelled(bool is_cancelled) noexcept;
  [[nodiscard]] bool is_cancelled() const noexcept { return is_cancelled_; }
  void add_listener(CancelListener& listener);
  void remove_listener(CancelListener& listener) noexcept;

  [[nodiscard]] bool may_start_threads() const noexcept { return !settings_.no_threads; }
  // An empty `value` restores the default.
  Result<void> set_path(PathKind kind, std::string_view value);
  Result<SourceState> backend(Source source);

  // Stores the readings so far as a machine file.
  Result<void> recording(std::string& out);

  Result<void> memory(std::uint32_t pid, FieldSet fields, ProcessMemory& out);
  Result<void> own_memory(FieldSet fields, ProcessMemory& out);
  // For frequent readings; after false, own_memory() returns the reason.
  [[nodiscard]] bool own_sizes(MemorySizes& out) const noexcept {
    return is_started_.load(std::memory_order_acquire) && !is_forked() && host_->own_sizes(out);
  }
  [[nodiscard]] std::uint32_t own_pid() const noexcept { return own_pid_; }
  Result<void> system(SystemMemory& out);

  Result<DeviceScan> scan();
  // Find a device of the last scan; queries the sources only if the context has never scanned.
  Result<std::uint32_t> find(std::string_view key);
  Result<Device> identity(std::uint32_t index);
  // `fields`: pool_field bits.
  Result<hmn::Pool> pool(std::uint32_t index, PoolKey key, FieldSet fields,
                         std::vector<Diagnostic>* diagnostics = nullptr);
  // Returns what can be allocated on the device now.
  Result<std::uint64_t> usable(std::uint32_t index);
  // `fields`: telemetry_field and usage_field bits; 0: all that the driver answers without taking
  // milliseconds.
  Result<hmn::Telemetry> telemetry(std::uint32_t index, FieldSet fields);
  Result<hmn::Metric> metric(std::uint32_t index, MetricId id, std::uint32_t instance);
  Result<Usage> process(std::uint32_t index, std::uint32_t pid, FieldSet fields);
  Result<Usage> own_usage(std::uint32_t index);

  Result<std::unique_ptr<Snapshot>> take(const SnapshotRequest& request);

 private:
  friend class SnapshotBuilder;

  struct Refusal {
    Source source;
    Failure failure;
    bool is_conclusive = false;
  };
  using Refusals = std::vector<Refusal>;
  // Result of a scan for one source. Applied to the device table when the scan has succeeded.
  struct ScanStep {
    Worker* worker;
    std::optional<Failure> failure;  // none: its list
    bool is_replaced = false;        // the source that it is a fallback for has come back
  };

  void start();
  [[nodiscard]] Deadline make_deadline(std::optional<std::uint64_t> deadline_ns = {},
                                       std::uint64_t start_ns = platform::monotonic_ns()) const;
  [[nodiscard]] Plan make_plan() const;
  Result<void> scan(Deadline& deadline);
  void apply_scan(const std::vector<ScanStep>& steps);
  // Stores why sources listed nothing. If the scan as a whole has failed, stores nothing and
  // returns the failure.
  std::optional<Failure> store_refusals(const Refusals& refusals);
  Result<void> ensure_scanned(Deadline& deadline);
  [[nodiscard]] Failure make_device_failure(std::uint32_t index) const;
  Result<void> ensure_listed(std::uint32_t index, Deadline& deadline);
  [[nodiscard]] bool is_expected_absence(const Worker& worker, std::optional<std::uint32_t> index);
  [[nodiscard]] bool may_have_device(const Worker& worker, std::uint32_t index);
  [[nodiscard]] Deadline::Share choose_reserve(const Worker& worker,
                                               std::optional<std::uint32_t> index);
  [[nodiscard]] bool may_serve(Worker& worker, std::optional<std::uint32_t> index);
  [[nodiscard]] Plan adapt_plan(const Worker& worker, Plan plan,
                                std::optional<std::uint32_t> index);
  void update_devices(Worker& worker, const SourceCache& cache);
  // Drops the devices that a source listed earlier: the one that it is a fallback for has come
  // back.
  void forget_devices(const Worker& worker);
  void apply_refusal(const Worker& worker, const Failure& failure,
                     std::optional<std::uint32_t> index);

  // Carries out a plan on every source that may have an answer, in order of preference; `visit`
  // returns whether further sources can contribute. With `steps` the device table stays as it is.
  using Visitor =
      FunctionRef<bool(Worker& worker, const SourceCache& cache, const Freshness& freshness)>;
  Result<Refusals> query_sources(const Plan& plan, std::optional<std::uint32_t> index,
                                 Deadline& deadline, Visitor visit,
                                 std::vector<ScanStep>* steps = nullptr);
  // Carries out a direct reading: one device and one selection. Fails where no source served the
  // subject.
  Result<void> read_device(std::uint32_t index, std::uint32_t subject_bit, const Plan& plan,
                           const Selection& selection, MergedDevice& device,
                           std::vector<Diagnostic>* diagnostics = nullptr);
  // Reads from nvidia-smi what NVML failed to read. Called after all sources. Fails only if the
  // context was cancelled.
  using AnswerVisitor = FunctionRef<void(const SourceCache& cache)>;
  Result<void> complete_from_nvidia_smi(std::span<MergedDevice> devices, const Plan& plan,
                                        Deadline& deadline, AnswerVisitor visit_answer);
  void complete_from_nvidia_smi(MergedDevice& device, const Plan& plan, const SourceCache& cache,
                                const Freshness& freshness);
  [[nodiscard]] std::uint32_t find_remaining_subjects(const MergedDevice& device, const Plan& plan);
  // Sets the limits and the usable memory of a device's pools, or only of those of one kind.
  void set_usable(MergedDevice& device, std::optional<PoolKind> kind = {});

  Settings settings_;
  Limits limits_;
  std::uint64_t generation_;
  std::uint32_t own_pid_;
  platform::Mutex start_mutex_;
  std::atomic<bool> is_started_{false};
  std::atomic<bool> is_cancelled_{false};
  platform::Mutex listeners_mutex_;
  std::vector<CancelListener*> listeners_;
  std::shared_ptr<HostSource> host_;  // shared with threads that may outlive the context
  std::unique_ptr<MachineRecorder> recorder_;
  std::vector<std::unique_ptr<Worker>> workers_;
  platform::Mutex table_mutex_;
  DeviceTable table_;
  bool has_scanned_ = false;
  Refusals refusals_;                                // of the last scan
  Worker* nvidia_smi_ = nullptr;                     // one of the workers, or none
  std::atomic<std::uint64_t> suspended_sources_{0};  // bit n: source n lets its devices sleep
  std::vector<const Device*> device_buffer_;  // reused, so that a direct reading allocates nothing
};

}  // namespace hmn
