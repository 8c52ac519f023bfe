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

using platform::recording;
using simulated::machine_file;

bool is_folder(const std::string& path) {
  const auto found = platform::status_of(path.c_str());
  return found && found.value.is_directory;
}

result<simulated::script> empty_machine() {
  auto read = simulated::read_script("{}", 0);
  return std::move(*std::get_if<simulated::script>(&read));
}

failure no_machine(const std::string& folder) {
  return {status::argument,
          source::simulated,
          {},
          "there is no machine in the folder " + folder +
              ": expected \"sys\", \"proc\", \"class/drm\" or folders of cards in it"};
}

std::shared_ptr<machine_file> open_folder(simulated_machine& m, const std::string& folder) {
  const auto tree = std::make_shared<recording>(recording::use::replay);
  if (!simulated::open_plain_tree(folder, m.others, *tree)) {
    return std::make_shared<machine_file>(folder, no_machine(folder));
  }
  m.recorded = tree;
  return std::make_shared<machine_file>(folder, empty_machine());
}

std::shared_ptr<machine_file> open_file(simulated_machine& m, const std::string& path) {
  const auto file = std::make_shared<machine_file>(path);
  const simulated::recorded_machine kept = file->recorded();
  m.recorded = kept.answers;
  if (!m.recorded) return file;
  m.has_devices = file->has_devices();
  for (std::size_t i = 0; i < simulated::roots.size(); ++i) {
    const simulated::root& r = simulated::roots[i];
    const bool is_moved = (kept.moved >> i & 1) != 0;
    m.others.*r.place = is_moved ? compose({simulated::moved_roots, r.name}) : std::string(r.usual);
  }
  return file;
}

}  // namespace

simulated_machine make_simulated(const settings& s, std::unique_ptr<host_source> real) {
  simulated_machine m;
  m.others = s;
  m.others.sources_off |= bit_of(source::nvml);
  const auto file = is_folder(s.simulation_path) ? open_folder(m, s.simulation_path)
                                                 : open_file(m, s.simulation_path);
  if (!m.recorded) m.host = std::make_unique<simulated::host>(file, std::move(real));
  m.devices = std::make_unique<simulated::driver>(file, s.wake_devices);
  return m;
}

}  // namespace hmn

namespace hmn::simulated {
namespace {

using platform::override_scope;

class watched_host final : public host_source {
 public:
  watched_host(std::shared_ptr<platform::recording> in, std::unique_ptr<host_source> real)
      : in_(std::move(in)), real_(std::move(real)) {}

  source id() const noexcept override { return real_->id(); }
  result<void> memory(std::uint32_t pid, FieldSet fields, process_memory& out) override {
    const override_scope scope(in_.get());
    return real_->memory(pid, fields, out);
  }
  result<void> own_memory(FieldSet fields, process_memory& out) override {
    const override_scope scope(in_.get());
    return real_->own_memory(fields, out);
  }
  result<void> system(system_memory& out) override {
    const override_scope scope(in_.get());
    return real_->system(out);
  }
  void describe(usage& row) override {
    const override_scope scope(in_.get());
    real_->describe(row);
  }
  void describe_texts(usage& row) override {
    const override_scope scope(in_.get());
    real_->describe_texts(row);
  }
  void describe_all(std::span<usage* const> rows, function_ref<bool(usage&)> recall) override {
    const override_scope scope(in_.get());
    real_->describe_all(rows, recall);
  }
  void own_groups(std::vector<std::string>& out) override {
    const override_scope scope(in_.get());
    real_->own_groups(out);
  }
  result<void> groups(group_memory& out) override {
    const override_scope scope(in_.get());
    return real_->groups(out);
  }
  void limit(std::string_view pci_bus_id, pools& all) override {
    const override_scope scope(in_.get());
    real_->limit(pci_bus_id, all);
  }
  std::optional<source_state> describe_source(source which) override {
    const override_scope scope(in_.get());
    return real_->describe_source(which);
  }

 private:
  const std::shared_ptr<platform::recording> in_;
  const std::unique_ptr<host_source> real_;
};

class watched_device final : public device_source {
 public:
  watched_device(std::shared_ptr<platform::recording> in, std::unique_ptr<device_source> real,
                 std::shared_ptr<scenario> to)
      : device_source(real->id(), real->can_block()  ? calls::may_block
                                  : real->can_wait() ? calls::run_programs
                                                     : calls::return_in_time),
        in_(std::move(in)),
        real_(std::move(real)),
        to_(std::move(to)) {
    answer_for(real_->all_answered_for());
  }

  result<void> probe() override {
    return within([&] { return real_->probe(); });
  }
  result<void> prepare(reading& r) override {
    result<void> done = within([&] { return real_->prepare(r); });
    if (to_ && done) to_->is(describe(id()));
    if (to_ && !done && !rests_) to_->refused(done.why());
    return done;
  }
  result<void> devices(std::vector<device>& out, reading& r) override {
    result<void> done = within([&] { return real_->devices(out, r); });
    if (to_ && done) to_->listed(out);
    return done;
  }
  result<void> memory(slot number, pools& out, reading& r) override {
    return keep(number, within([&] { return real_->memory(number, out, r); }), out);
  }
  result<void> telemetry(slot number, FieldSet fields, hmn::telemetry& out,
                         reading& r) override {
    return keep(number, within([&] { return real_->telemetry(number, fields, out, r); }), out);
  }
  result<void> metrics(slot number, bool slow, std::vector<metric>& out, reading& r) override {
    return keep(number, within([&] { return real_->metrics(number, slow, out, r); }), out);
  }
  result<void> processes(slot number, std::vector<usage>& out, reading& r) override {
    return keep(number, within([&] { return real_->processes(number, out, r); }), out);
  }
  result<void> process(slot number, std::uint32_t pid, bool self, usage& out, reading& r) override {
    return within([&] { return real_->process(number, pid, self, out, r); });
  }
  bool finish(reading& r) override {
    return within([&] { return real_->finish(r); });
  }
  void close() noexcept override {
    const override_scope scope(in_.get());
    real_->close();
  }
  source_state describe(source which) const override {
    const override_scope scope(in_.get());
    return real_->describe(which);
  }

 private:
  template <class F>
  std::invoke_result_t<F> within(F call) {
    const override_scope scope(in_.get());
    std::invoke_result_t<F> done = call();
    rests_ = real_->rests();
    taken_ns_ = real_->taken_ns();
    return done;
  }
  template <class T>
  result<void> keep(slot number, result<void> done, const T& value) {
    if (to_) to_->reported(number, done, value);
    return done;
  }

  const std::shared_ptr<platform::recording> in_;
  const std::unique_ptr<device_source> real_;
  const std::shared_ptr<scenario> to_;
};

}  // namespace

std::unique_ptr<host_source> watch(std::shared_ptr<platform::recording> in,
                                   std::unique_ptr<host_source> real) {
  return std::make_unique<watched_host>(std::move(in), std::move(real));
}

std::unique_ptr<device_source> watch(std::shared_ptr<platform::recording> in,
                                     std::unique_ptr<device_source> real,
                                     const std::shared_ptr<scenario>& reported) {
  const bool reads_files = real->id() != source::nvml;
  return std::make_unique<watched_device>(std::move(in), std::move(real),
                                          reads_files ? nullptr : reported);
}

namespace {

// Makes this system's sources in the scope of a recording.
source_list make_watched(const settings& s, const real_sources& real,
                         const std::shared_ptr<platform::recording>& in,
                         const std::shared_ptr<scenario>& reported = nullptr) {
  const platform::override_scope scope(in.get());
  source_list list = real.all(s);
  list.host = watch(in, std::move(list.host));
  for (listed_source& each : list.devices)
    each = {watch(in, std::move(each.device), reported), each.fallback_for};
  return list;
}

source_list make_recorded(const settings& s, const real_sources& real) {
  auto keeps = std::make_unique<recorder>(s);
  source_list list = make_watched(s, real, keeps->answers(), keeps->reported());
  list.recorder = std::move(keeps);
  return list;
}

source_list make_simulation(const settings& s, const real_sources& real) {
  simulated_machine machine = make_simulated(s, real.host(s));
  source_list list;
  if (machine.recorded) list = make_watched(machine.others, real, machine.recorded);
  // Recorded devices are those that NVML listed, so NVML is skipped.
  for (listed_source& each : list.devices) {
    const bool is_for_nvml = (each.fallback_for & bit_of(source::nvml)) != 0;
    if (machine.has_devices && is_for_nvml) each.fallback_for |= bit_of(source::simulated);
  }
  if (machine.host) list.host = std::move(machine.host);
  list.devices.insert(list.devices.begin(), {std::move(machine.devices), 0});
  return list;
}

}  // namespace

source_list make_sources(const settings& s, const real_sources& real) {
  const bool simulates = !s.simulation_path.empty() && s.is_on(source::simulated);
  return simulates ? make_simulation(s, real) : make_recorded(s, real);
}

}  // namespace hmn::simulated
