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
  const auto found = platform::status_of(path.c_str());
  return found && found.value.is_directory;
}

Result<simulated::Script> empty_machine() {
  auto read = simulated::read_script("{}", 0);
  return std::move(*std::get_if<simulated::Script>(&read));
}

Failure no_machine(const std::string& folder) {
  return {Status::argument,
          Source::simulated,
          {},
          "there is no machine in the folder " + folder +
              ": expected \"sys\", \"proc\", \"class/drm\" or folders of cards in it"};
}

std::shared_ptr<MachineFile> open_folder(SimulatedMachine& m, const std::string& folder) {
  const auto tree = std::make_shared<Recording>(Recording::Use::replay);
  if (!simulated::open_plain_tree(folder, m.others, *tree)) {
    return std::make_shared<MachineFile>(folder, no_machine(folder));
  }
  m.recorded = tree;
  return std::make_shared<MachineFile>(folder, empty_machine());
}

std::shared_ptr<MachineFile> open_file(SimulatedMachine& m, const std::string& path) {
  const auto file = std::make_shared<MachineFile>(path);
  const simulated::RecordedMachine kept = file->recorded();
  m.recorded = kept.answers;
  if (!m.recorded) return file;
  m.has_devices = file->has_devices();
  for (std::size_t i = 0; i < simulated::roots.size(); ++i) {
    const simulated::Root& r = simulated::roots[i];
    const bool is_moved = (kept.moved >> i & 1) != 0;
    m.others.*r.place = is_moved ? compose({simulated::moved_roots, r.name}) : std::string(r.usual);
  }
  return file;
}

}  // namespace

SimulatedMachine make_simulated(const Settings& s, std::unique_ptr<HostSource> real) {
  SimulatedMachine m;
  m.others = s;
  m.others.sources_off |= bit_of(Source::nvml);
  const auto file = is_folder(s.simulation_path) ? open_folder(m, s.simulation_path)
                                                 : open_file(m, s.simulation_path);
  if (!m.recorded) m.host = std::make_unique<simulated::Host>(file, std::move(real));
  m.devices = std::make_unique<simulated::Driver>(file, s.wake_devices);
  return m;
}

}  // namespace hmn

namespace hmn::simulated {
namespace {

using platform::OverrideScope;

class WatchedHost final : public HostSource {
 public:
  WatchedHost(std::shared_ptr<platform::Recording> in, std::unique_ptr<HostSource> real)
      : in_(std::move(in)), real_(std::move(real)) {}

  Source id() const noexcept override { return real_->id(); }
  Result<void> memory(std::uint32_t pid, FieldSet fields, ProcessMemory& out) override {
    const OverrideScope scope(in_.get());
    return real_->memory(pid, fields, out);
  }
  Result<void> own_memory(FieldSet fields, ProcessMemory& out) override {
    const OverrideScope scope(in_.get());
    return real_->own_memory(fields, out);
  }
  Result<void> system(SystemMemory& out) override {
    const OverrideScope scope(in_.get());
    return real_->system(out);
  }
  void describe(Usage& row) override {
    const OverrideScope scope(in_.get());
    real_->describe(row);
  }
  void describe_texts(Usage& row) override {
    const OverrideScope scope(in_.get());
    real_->describe_texts(row);
  }
  void describe_all(std::span<Usage* const> rows, FunctionRef<bool(Usage&)> recall) override {
    const OverrideScope scope(in_.get());
    real_->describe_all(rows, recall);
  }
  void own_groups(std::vector<std::string>& out) override {
    const OverrideScope scope(in_.get());
    real_->own_groups(out);
  }
  Result<void> groups(GroupMemory& out) override {
    const OverrideScope scope(in_.get());
    return real_->groups(out);
  }
  void limit(std::string_view pci_bus_id, Pools& all) override {
    const OverrideScope scope(in_.get());
    real_->limit(pci_bus_id, all);
  }
  std::optional<SourceState> describe_source(Source which) override {
    const OverrideScope scope(in_.get());
    return real_->describe_source(which);
  }

 private:
  const std::shared_ptr<platform::Recording> in_;
  const std::unique_ptr<HostSource> real_;
};

class WatchedDevice final : public DeviceSource {
 public:
  WatchedDevice(std::shared_ptr<platform::Recording> in, std::unique_ptr<DeviceSource> real,
                std::shared_ptr<Scenario> to)
      : DeviceSource(real->id(), real->can_block()  ? Calls::may_block
                                 : real->can_wait() ? Calls::run_programs
                                                    : Calls::return_in_time),
        in_(std::move(in)),
        real_(std::move(real)),
        to_(std::move(to)) {
    answer_for(real_->all_answered_for());
  }

  Result<void> probe() override {
    return within([&] { return real_->probe(); });
  }
  Result<void> prepare(Reading& r) override {
    Result<void> done = within([&] { return real_->prepare(r); });
    if (to_ && done) to_->is(describe(id()));
    if (to_ && !done && !rests_) to_->refused(done.why());
    return done;
  }
  Result<void> devices(std::vector<Device>& out, Reading& r) override {
    Result<void> done = within([&] { return real_->devices(out, r); });
    if (to_ && done) to_->listed(out);
    return done;
  }
  Result<void> memory(Slot number, Pools& out, Reading& r) override {
    return keep(number, within([&] { return real_->memory(number, out, r); }), out);
  }
  Result<void> telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) override {
    return keep(number, within([&] { return real_->telemetry(number, fields, out, r); }), out);
  }
  Result<void> metrics(Slot number, bool slow, std::vector<Metric>& out, Reading& r) override {
    return keep(number, within([&] { return real_->metrics(number, slow, out, r); }), out);
  }
  Result<void> processes(Slot number, std::vector<Usage>& out, Reading& r) override {
    return keep(number, within([&] { return real_->processes(number, out, r); }), out);
  }
  Result<void> process(Slot number, std::uint32_t pid, bool self, Usage& out, Reading& r) override {
    return within([&] { return real_->process(number, pid, self, out, r); });
  }
  bool finish(Reading& r) override {
    return within([&] { return real_->finish(r); });
  }
  void close() noexcept override {
    const OverrideScope scope(in_.get());
    real_->close();
  }
  SourceState describe(Source which) const override {
    const OverrideScope scope(in_.get());
    return real_->describe(which);
  }

 private:
  template <class F>
  std::invoke_result_t<F> within(F call) {
    const OverrideScope scope(in_.get());
    std::invoke_result_t<F> done = call();
    rests_ = real_->rests();
    taken_ns_ = real_->taken_ns();
    return done;
  }
  template <class T>
  Result<void> keep(Slot number, Result<void> done, const T& value) {
    if (to_) to_->reported(number, done, value);
    return done;
  }

  const std::shared_ptr<platform::Recording> in_;
  const std::unique_ptr<DeviceSource> real_;
  const std::shared_ptr<Scenario> to_;
};

}  // namespace

std::unique_ptr<HostSource> watch(std::shared_ptr<platform::Recording> in,
                                  std::unique_ptr<HostSource> real) {
  return std::make_unique<WatchedHost>(std::move(in), std::move(real));
}

std::unique_ptr<DeviceSource> watch(std::shared_ptr<platform::Recording> in,
                                    std::unique_ptr<DeviceSource> real,
                                    const std::shared_ptr<Scenario>& reported) {
  const bool reads_files = real->id() != Source::nvml;
  return std::make_unique<WatchedDevice>(std::move(in), std::move(real),
                                         reads_files ? nullptr : reported);
}

namespace {

// Makes this system's sources in the scope of a recording.
SourceList make_watched(const Settings& s, const RealSources& real,
                        const std::shared_ptr<platform::Recording>& in,
                        const std::shared_ptr<Scenario>& reported = nullptr) {
  const platform::OverrideScope scope(in.get());
  SourceList list = real.all(s);
  list.host = watch(in, std::move(list.host));
  for (ListedSource& each : list.devices)
    each = {watch(in, std::move(each.device), reported), each.fallback_for};
  return list;
}

SourceList make_recorded(const Settings& s, const RealSources& real) {
  auto keeps = std::make_unique<Recorder>(s);
  SourceList list = make_watched(s, real, keeps->answers(), keeps->reported());
  list.recorder = std::move(keeps);
  return list;
}

SourceList make_simulation(const Settings& s, const RealSources& real) {
  SimulatedMachine machine = make_simulated(s, real.host(s));
  SourceList list;
  if (machine.recorded) list = make_watched(machine.others, real, machine.recorded);
  // Recorded devices are those that NVML listed, so NVML is skipped.
  for (ListedSource& each : list.devices) {
    const bool is_for_nvml = (each.fallback_for & bit_of(Source::nvml)) != 0;
    if (machine.has_devices && is_for_nvml) each.fallback_for |= bit_of(Source::simulated);
  }
  if (machine.host) list.host = std::move(machine.host);
  list.devices.insert(list.devices.begin(), {std::move(machine.devices), 0});
  return list;
}

}  // namespace

SourceList make_sources(const Settings& s, const RealSources& real) {
  const bool simulates = !s.simulation_path.empty() && s.is_on(Source::simulated);
  return simulates ? make_simulation(s, real) : make_recorded(s, real);
}

}  // namespace hmn::simulated
