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

// Command lines and containers read for an earlier list of processes: a sampler does not read them
// each time.
struct KnownTexts {
  static constexpr std::uint64_t longest_age_ns = 5 * platform::ns_per_second;

  std::uint64_t read_ns = 0;  // the oldest of them
  std::vector<Usage> rows;    // by device index, then pid
};

struct SnapshotRequest {
  std::uint32_t collect = 0;    // subject bits
  std::uint32_t postponed = 0;  // subjects that a later request has
  std::optional<std::uint32_t> device_index;
  std::optional<std::uint32_t> pid;
  bool slow = false;                         // includes slow metrics
  bool quick = false;                        // leaves out what a driver takes milliseconds for
  bool parts = false;                        // lists the parts of pools, too
  bool without_hosts_part = false;           // skips the process details that the host provides
  std::optional<std::uint64_t> deadline_ns;  // none: the context's
  KnownTexts* texts = nullptr;               // of a sampler, which reads them seldom
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
  Context(const Settings& s, const Limits& l);
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
  Result<void> set_path(PathKind which, std::string_view value);
  Result<SourceState> backend(Source which);

  // Stores the readings so far as a machine file.
  Result<void> recording(std::string& out);

  Result<void> memory(std::uint32_t pid, FieldSet fields, ProcessMemory& out);
  Result<void> own_memory(FieldSet fields, ProcessMemory& out);
  // For frequent readings; false: own_memory() finds out why.
  [[nodiscard]] bool own_sizes(MemorySizes& out) const noexcept {
    return started_.load(std::memory_order_acquire) && !is_forked() && host_->own_sizes(out);
  }
  [[nodiscard]] std::uint32_t own_pid() const noexcept { return own_pid_; }
  Result<void> system(SystemMemory& out);

  Result<DeviceScan> scan();
  // Find a device of the last scan; only a context that has never scanned asks the sources.
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
    Source from;
    Failure why;
    bool conclusive = false;
  };
  using Refusals = std::vector<Refusal>;
  // What a scan learned of a source. Taken over when the scan has succeeded.
  struct ScanStep {
    Worker* from;
    std::optional<Failure> why;  // none: its list
    bool is_replaced = false;    // the source that it replaces has come back
  };

  void start();
  [[nodiscard]] Deadline new_deadline(std::optional<std::uint64_t> deadline_ns = {},
                                      std::uint64_t begun = platform::monotonic_ns()) const;
  [[nodiscard]] Plan new_plan() const;
  Result<void> scan(Deadline& d);
  void take_over(const std::vector<ScanStep>& steps);
  // Keeps why sources listed nothing, unless the scan as a whole has failed: returns why.
  std::optional<Failure> remember_scan(const Refusals& refused);
  Result<void> ensure_scanned(Deadline& d);
  [[nodiscard]] Failure no_device(std::uint32_t index) const;
  Result<void> ensure_listed(std::uint32_t index, Deadline& d);
  [[nodiscard]] bool is_expected_absence(const Worker& from, std::optional<std::uint32_t> index);
  [[nodiscard]] bool may_have(const Worker& from, std::uint32_t index);
  [[nodiscard]] Deadline::Share share_after(const Worker& from, std::optional<std::uint32_t> index);
  [[nodiscard]] bool serves(Worker& from, std::optional<std::uint32_t> index);
  [[nodiscard]] Plan plan_for(const Worker& from, Plan p, std::optional<std::uint32_t> index);
  void update_devices(Worker& from, const SourceCache& known);
  // What a source listed earlier no longer counts: the one that it replaces has come back.
  void forget_devices(const Worker& from);
  void note_refusal(const Worker& from, const Failure& why, std::optional<std::uint32_t> only);

  // Carries out a plan on every source that may have an answer, in order of preference; `visit`
  // returns whether further sources can contribute. With `steps` the device table stays as it is.
  using Visitor = FunctionRef<bool(Worker& from, const SourceCache& known, const Moment& m)>;
  Result<Refusals> ask(const Plan& p, std::optional<std::uint32_t> index, Deadline& d,
                       Visitor visit, std::vector<ScanStep>* steps = nullptr);
  // Carries out a direct reading: one device and one selection. Fails where no source served the
  // subject.
  Result<void> read(std::uint32_t index, std::uint32_t subject_bit, const Plan& p,
                    const Selection& wanted, MergedDevice& out,
                    std::vector<Diagnostic>* diagnostics = nullptr);
  // Adds what NVML failed to read and nvidia-smi can. Called after all sources. Fails only if the
  // context was cancelled.
  using SeenAnswer = FunctionRef<void(const SourceCache& known)>;
  Result<void> complete(std::span<MergedDevice> all, const Plan& p, Deadline& d, SeenAnswer seen);
  void complete(MergedDevice& to, const Plan& p, const SourceCache& known, const Moment& m);
  [[nodiscard]] std::uint32_t remaining(const MergedDevice& of, const Plan& p);
  // Adds what the host knows to a device's pools, or only to those of one kind.
  void set_usable(MergedDevice& d, std::optional<PoolKind> only = {});

  Settings settings_;
  Limits limits_;
  std::uint64_t generation_;
  std::uint32_t own_pid_;
  platform::Mutex start_mutex_;
  std::atomic<bool> started_{false};
  std::atomic<bool> is_cancelled_{false};
  platform::Mutex listeners_mutex_;
  std::vector<CancelListener*> listeners_;
  std::shared_ptr<HostSource> host_;  // shared with threads that may outlive the context
  std::unique_ptr<MachineRecorder> recorder_;
  std::vector<std::unique_ptr<Worker>> workers_;
  platform::Mutex table_mutex_;
  DeviceTable table_;
  bool has_scanned_ = false;
  Refusals refused_;                       // by the last scan
  Worker* nvidia_smi_ = nullptr;           // one of the workers, or none
  std::atomic<std::uint64_t> resting_{0};  // bit n: source n lets its devices sleep
  std::vector<const Device*> listed_;      // kept, since a direct reading allocates nothing
};

}  // namespace hmn
