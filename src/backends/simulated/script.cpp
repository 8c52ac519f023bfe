// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/script.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backends/simulated/fields.hpp"
#include "backends/simulated/read_parts.hpp"
#include "model/failure.hpp"
#include "model/json.hpp"
#include "platform/clock.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"

namespace hmn::simulated {
namespace {

constexpr std::size_t max_values = 2'000'000;

constexpr std::array namespace_words = {make_word("own", 0U), make_word("foreign", 1U)};

Machine read_machine(const json::Value& document, std::uint32_t self_pid, DeviceNumbers& numbers,
                     Problems& problems) {
  const JsonPath root;
  ObjectReader reader(document, root, problems);
  Machine machine;
  reader.text("$schema");
  reader.integer("format", 1, 1);
  machine.version.assign(reader.text("version").value_or(""));
  machine.has_foreign_pids = reader.choice("pid_namespace", namespace_words).value_or(0) != 0;
  read_devices(reader, self_pid, numbers, machine);
  read_host(reader, machine);
  machine.fault_script = read_fault_script(reader, Level::source);
  // Both were taken out of the document before: here they are only known keys.
  reader.get("changes");
  reader.get("recording");
  reader.finish();
  return machine;
}

json::Value extract_member(json::Value& document, std::string_view key) {
  json::Value value;
  if (auto* root = document.get_if<json::Object>()) {
    if (json::Value* member = root->find(key)) value = std::move(*member);
    root->erase(key);
  }
  return value;
}

ChangeTime read_change_time(ObjectReader& reader) {
  ChangeTime time{reader.integer("at_reading", 1, max_u64), reader.integer("after_ms", 0, max_u64)};
  if (time.at_reading.has_value() == time.after_ms.has_value()) {
    reader.problems().add(reader.path(),
                          "exactly one of \"at_reading\" and \"after_ms\" is needed");
  }
  return time;
}

// Keys of a change, each of which replaces the file's.
constexpr std::string_view replaceable_keys[] = {"version", "pid_namespace", "devices",
                                                 "host",    "failures",      "delays"};

class MachineScriptParser {
 public:
  MachineScriptParser(std::uint32_t self_pid, bool has_changes)
      : self_pid_(self_pid), numbers_(has_changes) {}

  void apply_change(json::Value& document, const json::Value& value, const JsonPath& path,
                    Problems& problems) {
    ObjectReader reader(value, path, problems);
    change_times.push_back(read_change_time(reader));
    if (value.find("patch") != nullptr) {
      return problems.add(
          JsonPath(path, "patch"),
          "patches are no longer read; expected the whole \"devices\" or \"host\" from "
          "this time on");
    }
    for (const std::string_view key : replaceable_keys) {
      if (const json::Value* replacement = reader.get(key))
        document.get_if<json::Object>()->set(key, *replacement);
    }
    reader.finish();
    if (problems.first()) return;
    value_count_ += json::count_values(document);
    if (value_count_ > max_values) {
      return problems.add(
          path,
          "with this change, the machine has more than two million values in all its "
          "states; leave out changes, or parts of the machine");
    }
    Problems state_problems;
    machines.push_back(read_machine(document, self_pid_, numbers_, state_problems));
    if (const auto& problem = state_problems.first()) {
      problems.add_at_pointer(path.pointer() + problem->pointer, problem->sentence);
    }
  }

  void read(json::Value document, const json::Value& changes, Problems& problems) {
    const json::Value recording = extract_member(document, "recording");
    machines.push_back(read_machine(document, self_pid_, numbers_, problems));
    const JsonPath root;
    if (!recording.is_null())
      recorded_machine = read_recording(recording, JsonPath(root, "recording"), problems);
    if (changes.is_null()) return;
    const JsonPath path(root, "changes");
    const auto* list = changes.get_if<json::Array>();
    if (list == nullptr) return problems.reject(path, changes, "a list");
    if (list->items.size() > max_changes) {
      return problems.add(path, "more than " + std::to_string(max_changes) + " changes");
    }
    for (std::size_t i = 0; i < list->items.size() && !problems.first(); ++i) {
      apply_change(document, list->items[i], JsonPath(path, i), problems);
    }
  }

  std::vector<Machine> machines;
  std::vector<ChangeTime> change_times;
  RecordedMachine recorded_machine;

 private:
  std::uint32_t self_pid_;
  DeviceNumbers numbers_;
  std::size_t value_count_ = 0;  // values in all changed states
};

bool is_due(const ChangeTime& time, std::uint64_t reading, std::uint64_t elapsed_ms) {
  return time.at_reading ? reading >= *time.at_reading : elapsed_ms >= *time.after_ms;
}

Problem make_problem(const json::SyntaxError& error) {
  return {"", "line " + std::to_string(error.line) + ", column " + std::to_string(error.column) +
                  ": " + error.message};
}

}  // namespace

const Machine& MachineScript::machine_at(std::uint64_t reading,
                                         std::uint64_t elapsed_ms) const noexcept {
  std::size_t index = 0;
  while (index < change_times_.size() && is_due(change_times_[index], reading, elapsed_ms)) ++index;
  return states_[index];
}

bool MachineScript::has_process(std::uint32_t pid) const noexcept {
  return std::ranges::any_of(states_,
                             [pid](const Machine& m) { return m.find_process(pid) != nullptr; });
}

std::variant<MachineScript, Problem> read_script(std::string_view text, std::uint32_t self_pid) {
  auto parsed = json::parse(text);
  if (const auto* error = std::get_if<json::SyntaxError>(&parsed)) return make_problem(*error);
  Problems problems;
  auto& document = *std::get_if<json::Value>(&parsed);
  const json::Value changes = extract_member(document, "changes");
  MachineScriptParser parser(self_pid, !changes.is_null());
  parser.read(std::move(document), changes, problems);
  if (problems.first()) return *problems.first();
  MachineScript script;
  script.states_ = std::move(parser.machines);
  script.change_times_ = std::move(parser.change_times);
  script.recorded_machine_ = std::move(parser.recorded_machine);
  return script;
}

namespace {

Failure make_unreadable_failure(int error, const std::string& path) {
  Failure failure;
  failure.source = Source::simulated;
  failure.native = {NativeDomain::error_number, error};
  if (error == ENOENT || error == ENOTDIR) {
    failure.code = Status::no_source;
    failure.message = "there is no machine file: " + path;
  } else if (is_refused(error)) {
    failure.code = Status::permission;
    failure.message = "this user may not read the machine file: " + path;
  } else {
    failure.code = Status::backend;
    failure.message = "the machine file cannot be read: " + path;
  }
  return failure;
}

Failure make_malformed_failure(const Problem& problem, const std::string& path) {
  const std::string location = problem.pointer.empty() ? "" : problem.pointer + ": ";
  return {Status::argument,
          Source::simulated,
          {},
          location + problem.sentence + " (machine file " + path + ")"};
}

}  // namespace

MachineFile::MachineFile(std::string path, Result<MachineScript> content)
    : path_(std::move(path)),
      script_(std::move(content)),
      load_time_ns_(platform::monotonic_ns()) {}

Result<MachineScript> MachineFile::load() {
  std::string text;
  const platform::ErrnoOr<bool> outcome = platform::read_whole(path_.c_str(), text, max_file_bytes);
  if (!outcome) return make_unreadable_failure(outcome.error, path_);
  if (outcome.value) return make_malformed_failure({"", "it is larger than 16 MiB"}, path_);
  auto parsed = read_script(text, platform::current_pid());
  if (const auto* problem = std::get_if<Problem>(&parsed))
    return make_malformed_failure(*problem, path_);
  return std::move(*std::get_if<MachineScript>(&parsed));
}

Result<void> MachineFile::ensure_loaded() {
  if (!script_) {
    script_.emplace(load());
    load_time_ns_ = platform::monotonic_ns();
  }
  if (!*script_) return script_->failure();
  return {};
}

MachineView MachineFile::view_at(std::uint64_t reading) const noexcept {
  const std::uint64_t elapsed = platform::monotonic_ns() - load_time_ns_;
  const MachineScript& script = **script_;
  return {&script.machine_at(reading, elapsed / platform::ns_per_ms), reading};
}

Result<MachineView> MachineFile::begin_reading(Counter counter) {
  const std::lock_guard lock(mutex_);
  if (Result<void> outcome = ensure_loaded(); !outcome) return outcome.failure();
  return view_at(++readings_[static_cast<std::size_t>(counter)]);
}

Result<MachineView> MachineFile::begin_process_reading(std::uint32_t pid) {
  const std::lock_guard lock(mutex_);
  if (Result<void> outcome = ensure_loaded(); !outcome) return outcome.failure();
  return view_at((*script_)->has_process(pid) ? ++process_readings_[pid] : 1);
}

RecordedMachine MachineFile::recorded_machine() {
  const std::lock_guard lock(mutex_);
  if (Result<void> outcome = ensure_loaded(); !outcome) return {};
  return (*script_)->recorded_machine();
}

bool MachineFile::has_devices() {
  const std::lock_guard lock(mutex_);
  return ensure_loaded() && !(*script_)->initial_machine().devices.empty();
}

Result<MachineView> MachineFile::latest() {
  const std::lock_guard lock(mutex_);
  if (Result<void> outcome = ensure_loaded(); !outcome) return outcome.failure();
  const std::uint64_t readings = readings_[static_cast<std::size_t>(Counter::devices)];
  return view_at(std::max<std::uint64_t>(readings, 1));
}

}  // namespace hmn::simulated
