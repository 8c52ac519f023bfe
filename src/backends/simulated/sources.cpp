// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/sources.hpp"

#include <type_traits>
#include <utility>

#include "backends/simulated/driver.hpp"
#include "backends/simulated/recorded_machine.hpp"
#include "backends/simulated/recorder.hpp"
#include "backends/simulated/script.hpp"
#include "model/message_text.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"

namespace hmn {
namespace {

using platform::Recording;
using simulated::MachineFile;

bool is_folder(const std::string& path) {
  const auto status = platform::read_status(path.c_str());
  return status && status.value.is_directory;
}

Result<simulated::MachineScript> empty_machine() {
  auto parsed = simulated::read_script("{}", 0);
  return std::move(*std::get_if<simulated::MachineScript>(&parsed));
}

Failure make_no_machine_failure(const std::string& folder) {
  return {Status::argument,
          Source::simulated,
          {},
          "there is no machine in the folder " + folder +
              ": expected \"sys\", \"proc\", \"class/drm\" or folders of cards in it"};
}

std::shared_ptr<MachineFile> open_folder(SimulatedMachine& machine, const std::string& folder) {
  const auto tree = std::make_shared<Recording>(Recording::Mode::replay);
  if (!simulated::open_plain_tree(folder, machine.other_settings, *tree)) {
    return std::make_shared<MachineFile>(folder, make_no_machine_failure(folder));
  }
  machine.recording = tree;
  return std::make_shared<MachineFile>(folder, empty_machine());
}

std::shared_ptr<MachineFile> open_file(SimulatedMachine& machine, const std::string& path) {
  const auto file = std::make_shared<MachineFile>(path);
  const simulated::RecordedMachine recorded_machine = file->recorded_machine();
  machine.recording = recorded_machine.recording;
  if (!machine.recording) return file;
  machine.has_devices = file->has_devices();
  for (std::size_t i = 0; i < simulated::roots.size(); ++i) {
    const simulated::Root& root = simulated::roots[i];
    const bool is_moved = (recorded_machine.moved_roots >> i & 1) != 0;
    machine.other_settings.*root.setting = is_moved
                                               ? compose({simulated::moved_root_prefix, root.name})
                                               : std::string(root.default_path);
  }
  return file;
}

}  // namespace

SimulatedMachine open_simulated_machine(const Settings& settings,
                                        std::unique_ptr<HostSource> real_host) {
  SimulatedMachine machine;
  machine.other_settings = settings;
  machine.other_settings.disabled_sources |= source_bit(Source::nvml);
  const auto file = is_folder(settings.simulation_path)
                        ? open_folder(machine, settings.simulation_path)
                        : open_file(machine, settings.simulation_path);
  if (!machine.recording)
    machine.host = std::make_unique<simulated::Host>(file, std::move(real_host));
  machine.devices = std::make_unique<simulated::Driver>(file, settings.wake_devices);
  return machine;
}

}  // namespace hmn

namespace hmn::simulated {
namespace {

using platform::OverrideScope;

class RecordedHost final : public HostSource {
 public:
  RecordedHost(std::shared_ptr<platform::Recording> recording, std::unique_ptr<HostSource> real)
      : recording_(std::move(recording)), real_(std::move(real)) {}

  Source id() const noexcept override { return real_->id(); }
  Result<void> memory(std::uint32_t pid, FieldSet fields, ProcessMemory& out) override {
    const OverrideScope scope(recording_.get());
    return real_->memory(pid, fields, out);
  }
  Result<void> own_memory(FieldSet fields, ProcessMemory& out) override {
    const OverrideScope scope(recording_.get());
    return real_->own_memory(fields, out);
  }
  Result<void> system(SystemMemory& out) override {
    const OverrideScope scope(recording_.get());
    return real_->system(out);
  }
  void describe(Usage& row) override {
    const OverrideScope scope(recording_.get());
    real_->describe(row);
  }
  void describe_texts(Usage& row) override {
    const OverrideScope scope(recording_.get());
    real_->describe_texts(row);
  }
  void describe_all(std::span<Usage* const> rows, FunctionRef<bool(Usage&)> recall) override {
    const OverrideScope scope(recording_.get());
    real_->describe_all(rows, recall);
  }
  void own_groups(std::vector<std::string>& out) override {
    const OverrideScope scope(recording_.get());
    real_->own_groups(out);
  }
  Result<void> groups(GroupMemory& out) override {
    const OverrideScope scope(recording_.get());
    return real_->groups(out);
  }
  void limit(std::string_view pci_bus_id, PoolList& all) override {
    const OverrideScope scope(recording_.get());
    real_->limit(pci_bus_id, all);
  }
  std::optional<SourceState> describe_source(Source source) override {
    const OverrideScope scope(recording_.get());
    return real_->describe_source(source);
  }

 private:
  const std::shared_ptr<platform::Recording> recording_;
  const std::unique_ptr<HostSource> real_;
};

class RecordedDeviceSource final : public DeviceSource {
 public:
  RecordedDeviceSource(std::shared_ptr<platform::Recording> recording,
                       std::unique_ptr<DeviceSource> real,
                       std::shared_ptr<DeviceRecording> device_recording)
      : DeviceSource(real->id(), real->can_block()  ? CallBehavior::may_block
                                 : real->can_wait() ? CallBehavior::run_programs
                                                    : CallBehavior::return_in_time),
        recording_(std::move(recording)),
        real_(std::move(real)),
        device_recording_(std::move(device_recording)) {
    add_answered_sources(real_->answered_sources());
  }

  Result<void> probe() override {
    return call_in_scope([&] { return real_->probe(); });
  }
  Result<void> prepare(Reading& reading) override {
    Result<void> outcome = call_in_scope([&] { return real_->prepare(reading); });
    if (device_recording_ && outcome) device_recording_->set_state(describe(id()));
    if (device_recording_ && !outcome && !is_suspended_)
      device_recording_->record_open_failure(outcome.failure());
    return outcome;
  }
  Result<void> devices(std::vector<Device>& out, Reading& reading) override {
    Result<void> outcome = call_in_scope([&] { return real_->devices(out, reading); });
    if (device_recording_ && outcome) device_recording_->record_devices(out);
    return outcome;
  }
  Result<void> memory(Slot slot, PoolList& out, Reading& reading) override {
    return record(slot, call_in_scope([&] { return real_->memory(slot, out, reading); }), out);
  }
  Result<void> telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                         Reading& reading) override {
    return record(
        slot, call_in_scope([&] { return real_->telemetry(slot, fields, out, reading); }), out);
  }
  Result<void> metrics(Slot slot, bool include_slow, std::vector<Metric>& out,
                       Reading& reading) override {
    return record(slot,
                  call_in_scope([&] { return real_->metrics(slot, include_slow, out, reading); }),
                  out);
  }
  Result<void> processes(Slot slot, std::vector<Usage>& out, Reading& reading) override {
    return record(slot, call_in_scope([&] { return real_->processes(slot, out, reading); }),
                  out);
  }
  Result<void> process(Slot slot, std::uint32_t pid, bool is_self, Usage& out,
                       Reading& reading) override {
    return call_in_scope([&] { return real_->process(slot, pid, is_self, out, reading); });
  }
  bool finish(Reading& reading) override {
    return call_in_scope([&] { return real_->finish(reading); });
  }
  void close() noexcept override {
    const OverrideScope scope(recording_.get());
    real_->close();
  }
  SourceState describe(Source source) const override {
    const OverrideScope scope(recording_.get());
    return real_->describe(source);
  }

 private:
  template <class F>
  std::invoke_result_t<F> call_in_scope(F call) {
    const OverrideScope scope(recording_.get());
    std::invoke_result_t<F> result = call();
    is_suspended_ = real_->is_suspended();
    read_ns_ = real_->read_ns();
    return result;
  }
  template <class T>
  Result<void> record(Slot slot, Result<void> outcome, const T& value) {
    if (device_recording_) device_recording_->record(slot, outcome, value);
    return outcome;
  }

  const std::shared_ptr<platform::Recording> recording_;
  const std::unique_ptr<DeviceSource> real_;
  const std::shared_ptr<DeviceRecording> device_recording_;
};

}  // namespace

std::unique_ptr<HostSource> wrap_source(std::shared_ptr<platform::Recording> recording,
                                        std::unique_ptr<HostSource> real) {
  return std::make_unique<RecordedHost>(std::move(recording), std::move(real));
}

std::unique_ptr<DeviceSource> wrap_source(
    std::shared_ptr<platform::Recording> recording, std::unique_ptr<DeviceSource> real,
    const std::shared_ptr<DeviceRecording>& device_recording) {
  const bool reads_files = real->id() != Source::nvml;
  return std::make_unique<RecordedDeviceSource>(std::move(recording), std::move(real),
                                                reads_files ? nullptr : device_recording);
}

namespace {

// Makes this system's sources in the scope of a recording.
SourceList make_sources_in_scope(
    const Settings& settings, const RealSources& real,
    const std::shared_ptr<platform::Recording>& recording,
    const std::shared_ptr<DeviceRecording>& device_recording = nullptr) {
  const platform::OverrideScope scope(recording.get());
  SourceList list = real.make_all(settings);
  list.host = wrap_source(recording, std::move(list.host));
  for (SourceEntry& source : list.devices)
    source = {wrap_source(recording, std::move(source.device), device_recording),
              source.fallback_for};
  return list;
}

SourceList make_sources_with_recorder(const Settings& settings, const RealSources& real) {
  auto recorder = std::make_unique<Recorder>(settings);
  SourceList list =
      make_sources_in_scope(settings, real, recorder->recording(), recorder->device_recording());
  list.recorder = std::move(recorder);
  return list;
}

SourceList make_simulated_sources(const Settings& settings, const RealSources& real) {
  SimulatedMachine machine = open_simulated_machine(settings, real.make_host(settings));
  SourceList list;
  if (machine.recording)
    list = make_sources_in_scope(machine.other_settings, real, machine.recording);
  // Recorded devices are those that NVML listed, so NVML is skipped.
  for (SourceEntry& source : list.devices) {
    const bool is_for_nvml = (source.fallback_for & source_bit(Source::nvml)) != 0;
    if (machine.has_devices && is_for_nvml) source.fallback_for |= source_bit(Source::simulated);
  }
  if (machine.host) list.host = std::move(machine.host);
  list.devices.insert(list.devices.begin(), {std::move(machine.devices), 0});
  return list;
}

}  // namespace

SourceList make_sources(const Settings& settings, const RealSources& real) {
  const bool simulates =
      !settings.simulation_path.empty() && settings.is_enabled(Source::simulated);
  return simulates ? make_simulated_sources(settings, real)
                   : make_sources_with_recorder(settings, real);
}

}  // namespace hmn::simulated
