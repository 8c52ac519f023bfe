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

constexpr std::size_t most_described = 2'000'000;

constexpr std::array namespace_words = {entry("own", 0U), entry("foreign", 1U)};

Machine read_machine(const json::Value& document, std::uint32_t self_pid, DeviceNumbers& numbers,
                     Problems& found) {
  const Place root;
  ObjectReader o(document, root, found);
  Machine m;
  o.text("$schema");
  o.whole("format", 1, 1);
  m.version.assign(o.text("version").value_or(""));
  m.foreign_pids = o.one_word("pid_namespace", namespace_words).value_or(0) != 0;
  read_devices(o, self_pid, numbers, m);
  read_host(o, m);
  m.conduct = read_conduct(o, Level::source);
  // Both were taken out of the document before: here they are only known keys.
  o.get("changes");
  o.get("recording");
  o.finish();
  return m;
}

json::Value take(json::Value& document, std::string_view key) {
  json::Value taken;
  if (auto* root = document.as<json::Object>()) {
    if (json::Value* member = root->find(key)) taken = std::move(*member);
    root->erase(key);
  }
  return taken;
}

Moment read_moment(ObjectReader& o) {
  Moment m{o.whole("at_reading", 1, most64), o.whole("after_ms", 0, most64)};
  if (m.at_reading.has_value() == m.after_ms.has_value()) {
    o.found().add(o.at(), "exactly one of \"at_reading\" and \"after_ms\" is needed");
  }
  return m;
}

// Keys of a change, each of which replaces the file's.
constexpr std::string_view replaced_whole[] = {"version", "pid_namespace", "devices",
                                               "host",    "failures",      "delays"};

class Scripter {
 public:
  Scripter(std::uint32_t self_pid, bool has_changes) : self_pid_(self_pid), numbers_(has_changes) {}

  void change_by(json::Value& document, const json::Value& v, const Place& at, Problems& found) {
    ObjectReader o(v, at, found);
    moments.push_back(read_moment(o));
    if (v.find("patch") != nullptr) {
      return found.add(
          Place(at, "patch"),
          "patches are no longer read; expected the whole \"devices\" or \"host\" from "
          "this time on");
    }
    for (const std::string_view key : replaced_whole) {
      if (const json::Value* whole = o.get(key)) document.as<json::Object>()->set(key, *whole);
    }
    o.finish();
    if (found.first()) return;
    described_ += json::count_values(document);
    if (described_ > most_described) {
      return found.add(at,
                       "with this change, the machine has more than two million values in all its "
                       "states; leave out changes, or parts of the machine");
    }
    Problems after;
    machines.push_back(read_machine(document, self_pid_, numbers_, after));
    if (const auto& wrong = after.first()) {
      found.add_at(at.pointer() + wrong->pointer, wrong->sentence);
    }
  }

  void read(json::Value document, const json::Value& changes, Problems& found) {
    const json::Value kept = take(document, "recording");
    machines.push_back(read_machine(document, self_pid_, numbers_, found));
    const Place root;
    if (!kept.is_null()) recorded = read_recording(kept, Place(root, "recording"), found);
    if (changes.is_null()) return;
    const Place here(root, "changes");
    const auto* list = changes.as<json::Array>();
    if (list == nullptr) return found.refuse(here, changes, "a list");
    if (list->items.size() > most_changes) {
      return found.add(here, "more than " + std::to_string(most_changes) + " changes");
    }
    for (std::size_t i = 0; i < list->items.size() && !found.first(); ++i) {
      change_by(document, list->items[i], Place(here, i), found);
    }
  }

  std::vector<Machine> machines;
  std::vector<Moment> moments;
  RecordedMachine recorded;

 private:
  std::uint32_t self_pid_;
  DeviceNumbers numbers_;
  std::size_t described_ = 0;  // values in all changed states
};

bool has_come(const Moment& m, std::uint64_t reading, std::uint64_t elapsed_ms) {
  return m.at_reading ? reading >= *m.at_reading : elapsed_ms >= *m.after_ms;
}

Problem as_problem(const json::SyntaxError& e) {
  return {"", "line " + std::to_string(e.line) + ", column " + std::to_string(e.column) + ": " +
                  e.what};
}

}  // namespace

const Machine& Script::at(std::uint64_t reading, std::uint64_t elapsed_ms) const noexcept {
  std::size_t n = 0;
  while (n < moments_.size() && has_come(moments_[n], reading, elapsed_ms)) ++n;
  return states_[n];
}

bool Script::knows(std::uint32_t pid) const noexcept {
  return std::ranges::any_of(states_,
                             [pid](const Machine& m) { return m.find_process(pid) != nullptr; });
}

std::variant<Script, Problem> read_script(std::string_view text, std::uint32_t self_pid) {
  auto parsed = json::parse(text);
  if (const auto* e = std::get_if<json::SyntaxError>(&parsed)) return as_problem(*e);
  Problems found;
  auto& document = *std::get_if<json::Value>(&parsed);
  const json::Value changes = take(document, "changes");
  Scripter s(self_pid, !changes.is_null());
  s.read(std::move(document), changes, found);
  if (found.first()) return *found.first();
  Script all;
  all.states_ = std::move(s.machines);
  all.moments_ = std::move(s.moments);
  all.recorded_ = std::move(s.recorded);
  return all;
}

namespace {

Failure unreadable(int error, const std::string& path) {
  Failure why;
  why.from = Source::simulated;
  why.native = {NativeDomain::error_number, error};
  if (error == ENOENT || error == ENOTDIR) {
    why.code = Status::no_source;
    why.message = "there is no machine file: " + path;
  } else if (is_refused(error)) {
    why.code = Status::permission;
    why.message = "this user may not read the machine file: " + path;
  } else {
    why.code = Status::backend;
    why.message = "the machine file cannot be read: " + path;
  }
  return why;
}

Failure malformed(const Problem& p, const std::string& path) {
  const std::string where = p.pointer.empty() ? "" : p.pointer + ": ";
  return {
      Status::argument, Source::simulated, {}, where + p.sentence + " (machine file " + path + ")"};
}

}  // namespace

MachineFile::MachineFile(std::string path, Result<Script> content)
    : path_(std::move(path)),
      loaded_(std::move(content)),
      loaded_at_ns_(platform::monotonic_ns()) {}

Result<Script> MachineFile::load() {
  std::string text;
  const platform::ErrnoOr<bool> read = platform::read_whole(path_.c_str(), text, most_file_bytes);
  if (!read) return unreadable(read.error, path_);
  if (read.value) return malformed({"", "it is larger than 16 MiB"}, path_);
  auto parsed = read_script(text, platform::current_pid());
  if (const auto* p = std::get_if<Problem>(&parsed)) return malformed(*p, path_);
  return std::move(*std::get_if<Script>(&parsed));
}

Result<void> MachineFile::open() {
  if (!loaded_) {
    loaded_.emplace(load());
    loaded_at_ns_ = platform::monotonic_ns();
  }
  if (!*loaded_) return loaded_->why();
  return {};
}

View MachineFile::at(std::uint64_t reading) const noexcept {
  const std::uint64_t elapsed = platform::monotonic_ns() - loaded_at_ns_;
  const Script& s = **loaded_;
  return {&s.at(reading, elapsed / platform::ns_per_ms), reading};
}

Result<View> MachineFile::next(Counter of) {
  const std::lock_guard guard(lock_);
  if (Result<void> opened = open(); !opened) return opened.why();
  return at(++readings_[static_cast<std::size_t>(of)]);
}

Result<View> MachineFile::next_of_process(std::uint32_t pid) {
  const std::lock_guard guard(lock_);
  if (Result<void> opened = open(); !opened) return opened.why();
  return at((*loaded_)->knows(pid) ? ++process_readings_[pid] : 1);
}

RecordedMachine MachineFile::recorded() {
  const std::lock_guard guard(lock_);
  if (Result<void> opened = open(); !opened) return {};
  return (*loaded_)->recorded();
}

bool MachineFile::has_devices() {
  const std::lock_guard guard(lock_);
  return open() && !(*loaded_)->beginning().devices.empty();
}

Result<View> MachineFile::latest() {
  const std::lock_guard guard(lock_);
  if (Result<void> opened = open(); !opened) return opened.why();
  const std::uint64_t readings = readings_[static_cast<std::size_t>(Counter::devices)];
  return at(std::max<std::uint64_t>(readings, 1));
}

}  // namespace hmn::simulated
