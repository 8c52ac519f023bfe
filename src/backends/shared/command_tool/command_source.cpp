// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/command_tool/command_source.hpp"

#include <algorithm>

#include "model/failure.hpp"
#include "model/message_text.hpp"
#include "model/record.hpp"
#include "model/text.hpp"
#include "platform/clock.hpp"
#include "platform/file.hpp"

namespace hmn::command_tool {
namespace {

constexpr std::size_t output_cap = 4U << 20;

void trace(Source from, const platform::Command& c, const platform::Outcome& o,
           std::uint64_t duration, Reading& r) {
  std::string line = c.path;
  for (const std::string& argument : c.arguments) line += " " + argument;
  Diagnostic d;
  d.why = {Status::ok, from, exit_of(o), std::move(line)};
  d.notes = note::trace;
  d.duration_ns = duration;
  r.diagnose(d);
}

using Kind = platform::Outcome::Kind;
using LineText = Text<160>;

void adopt_identity(Device& known, Device fresh) {
  take_missing(~0U, fresh, known);
  if (fresh.form == DeviceForm::unknown) fresh.form = known.form;
  if (fresh.memory_kind == MemoryKind::unknown) fresh.memory_kind = known.memory_kind;
  fresh.number = known.number;
  known = fresh;
}

}  // namespace

Result<void> Program::find() {
  path_ = wanted_path_;
  if (!path_.empty()) {
    if (!platform::is_absolute(path_)) {
      return d_.fail(Status::no_source,
                     {"the path of ", d_.name, " must be absolute, \"", path_, "\" is not"});
    }
    if (platform::is_executable_file(path_.c_str())) return {};
    return d_.fail(Status::no_source, {path_, " is no program that can be run"});
  }
  const std::string_view file = d_.file.empty() ? d_.name : d_.file;
  for (const std::string_view folder : d_.folders) {
    path_ = compose({folder, file});
    if (platform::is_executable_file(path_.c_str())) return {};
  }
  return d_.fail(Status::no_source, {d_.absent});
}

bool Program::was_replaced() {
  const auto now = platform::status_of(path_.c_str());
  if (!now || (now.value.device == device_ && now.value.inode == inode_)) return false;
  device_ = now.value.device;
  inode_ = now.value.inode;
  return true;
}

platform::Outcome Program::run(std::vector<std::string> arguments, bool with_errors,
                               Reading& r) const {
  const platform::Command c{path_,      std::move(arguments), r.deadline_ns(),
                            output_cap, with_errors,          r.cancelled()};
  const std::uint64_t begun = platform::monotonic_ns();
  platform::Outcome o = platform::run(c);
  if (o.was_cancelled) r.cut_short();
  if (r.wants_trace()) trace(d_.fail.from, c, o, platform::monotonic_ns() - begun, r);
  return o;
}

const Sentence* find_sentence(std::span<const Sentence> known, std::string_view line) noexcept {
  for (const Sentence& s : known) {
    if (line.find(s.part) != line.npos) return &s;
  }
  return nullptr;
}

NativeCode exit_of(const platform::Outcome& o) noexcept {
  if (!o.exit_known) return {};
  return {NativeDomain::exit, o.signal != 0 ? 128 + o.signal : o.exit_code};
}

void add_missing(std::vector<Missing>& to, FieldSet fields, Status code, const MessageText& message,
                 Reason stated) {
  for (Missing& m : to) {
    if (m.code != code || m.message != message) continue;
    m.fields |= fields;
    return;
  }
  to.push_back({fields, code, message, stated});
}

std::optional<Failure> Verdict::why_not_run(std::string_view path) const {
  if (o_.what == Kind::finished || o_.what == Kind::output_too_long) return std::nullopt;
  if (o_.what == Kind::timed_out) {
    return d_.fail(Status::timeout, {path, " did not answer within the deadline", d_.when_late});
  }
  const bool refused = is_refused(o_.error);
  Failure why = o_.what == Kind::not_found
                    ? d_.fail(Status::no_source, {path, " is not there any more"})
                    : d_.fail(refused ? Status::permission : Status::backend,
                              {path, " cannot be run", refused ? ": permission denied" : ""});
  why.native = {NativeDomain::error_number, o_.error};
  return why;
}

Failure Verdict::of_sentence(const Sentence& s, std::string_view line) const {
  Failure why = d_.fail(s.code, {d_.name, " prints \"", LineText(line).view(), "\": ", s.advice});
  why.native = exit_of(o_);
  return why;
}

Failure Verdict::of_exit(std::string_view what, std::string_view said) const {
  const bool is_signal = o_.signal != 0;
  const Piece code = is_signal ? o_.signal : o_.exit_code;
  Failure why = d_.fail(Status::backend, {d_.name, " ", what,
                                          !o_.exit_known ? ""
                                          : is_signal    ? " and was ended by signal "
                                                         : " and exited with ",
                                          o_.exit_known ? code : Piece(""),
                                          said.empty() ? "" : ": ", LineText(said).view()});
  why.native = exit_of(o_);
  return why;
}

const Result<void>& QueryOutcome::get(FunctionRef<Result<void>()> run) {
  if (!outcome_) {
    begun_ns_ = platform::continuous_ns();
    const std::uint64_t begun = platform::monotonic_ns();
    outcome_ = run();
    took_ns_ = platform::monotonic_ns() - begun;
    ended_ns_ = platform::continuous_ns();
  }
  return *outcome_;
}

void QueryOutcome::drop_older_than(std::uint64_t max_age_ns) noexcept {
  if (!outcome_) return;
  const bool was_late = !*outcome_ && outcome_->why().code == Status::timeout;
  const std::uint64_t least = took_ns_ * (was_late ? 5 : 2);
  const bool is_shared = max_age_ns != 0;
  const std::uint64_t age = platform::continuous_ns() - begun_ns_;
  if (!is_shared || age >= std::max(max_age_ns, least)) outcome_.reset();
}

ToolSource::ToolSource(const Description& d, const Settings& s, const std::string& path)
    : DeviceSource(d.fail.from, Calls::run_programs),
      fail(d.fail),
      proc_root_(s.proc_root),
      sys_root_(s.sys_root),
      on_bus_(s.on_bus),
      program_(d, path),
      d_(d),
      may_wake_(s.wake_devices) {}

void ToolSource::forget(std::uint64_t max_age_ns) noexcept {
  loaded_.drop_older_than(max_age_ns);
  forget_processes(max_age_ns);
}

Result<void> ToolSource::prepare(Reading& r) {
  forget(r.max_age_ns());
  if (Result<void> here = probe(); !here || may_wake_) return here;
  const std::uint64_t now = platform::continuous_ns();
  if (!is_asleep() && now - looked_ns_ < r.max_age_ns()) return {};
  asleep_.clear();
  looked_ns_ = now;
  bool sleeps = false;
  for (const pci::Gpu& g : pci::gpus_on_bus(proc_root_, sys_root_, d_.vendor, *on_bus_)) {
    const bool is_driven = g.driver.view() == d_.driver;
    if (!is_driven && !(g.driver.empty() && d_.may_have_no_driver)) continue;
    sleeps = sleeps || g.is_asleep;
    asleep_.push_back(g);
  }
  if (!sleeps) {
    asleep_.clear();
    return {};
  }
  loaded_.drop_older_than(0);
  for (KnownGpu& k : known_) k.row.reset();
  return why_asleep();
}

Result<void> ToolSource::devices(std::vector<Device>& out, Reading& r) {
  if (is_asleep()) {
    list_asleep(out);
    return {};
  }
  if (Result<void> loaded = load(r); !loaded) return loaded;
  for (const KnownGpu& k : known_) {
    if (k.row) out.push_back(k.who);
  }
  return {};
}

void ToolSource::list_asleep(std::vector<Device>& out) {
  for (const pci::Gpu& g : asleep_) {
    Device who;
    who.from = d_.fail.from;
    who.vendor = d_.vendor;
    who.pci_bus_id = to_text(g.address);
    if (g.device != 0) who.pci_device = g.device;
    if (g.subsystem != 0) who.pci_subsystem = g.subsystem;
    out.push_back(adopt(who, {})->who);
    out.back().state = g.is_asleep ? State::asleep : State::unknown;
  }
}

Result<void> ToolSource::load(Reading& r) {
  return loaded_.get([&] {
    for (KnownGpu& k : known_) k.row.reset();
    Result<void> outcome = ask(r);
    settle(outcome);
    return outcome;
  });
}

// Compares uuid and PCI address if both have them, in the tool's order; else the index.
bool ToolSource::is_same(const Device& a, const Device& b) const {
  const bool have_places = !a.pci_bus_id.empty() && !b.pci_bus_id.empty();
  const bool have_uuids = !a.uuid.empty() && !b.uuid.empty();
  if (have_places && (d_.is_known_by_place || !have_uuids)) return a.pci_bus_id == b.pci_bus_id;
  if (have_uuids) return a.uuid == b.uuid;
  return a.driver_index && a.driver_index == b.driver_index;
}

std::optional<Slot> ToolSource::find(const Device& who) const {
  for (const KnownGpu& k : known_) {
    if (is_same(k.who, who)) return k.who.number;
  }
  return std::nullopt;
}

ToolSource::KnownGpu* ToolSource::adopt(const Device& who, std::optional<std::size_t> row) {
  const auto number = find(who);
  KnownGpu& k = number ? known_[*number] : known_.emplace_back();
  if (!number) k.who.number = static_cast<Slot>(known_.size() - 1);
  if (k.row) return nullptr;
  adopt_identity(k.who, who);
  if (condition_.version.empty()) condition_.version = k.who.driver_version;
  k.row = row;
  return &k;
}

Result<std::size_t> ToolSource::row_of(Slot number, Reading& r) {
  if (number >= known_.size()) return never_listed();
  if (is_asleep()) return why_asleep();
  if (Result<void> loaded = load(r); !loaded) return loaded.why();
  if (known_[number].row) return *known_[number].row;
  return fail(Status::device_lost, {d_.name, " does not list this GPU any more"});
}

bool ToolSource::is_running(std::uint32_t pid) const {
  return platform::exists(compose({proc_root_, "/", pid}).c_str());
}

Failure ToolSource::why_asleep() const {
  return fail(Status::asleep, {d_.gpu, " is suspended, and ", d_.name, " would wake it"});
}

Failure ToolSource::never_listed() const {
  return fail(Status::no_device, {d_.name, " never listed this GPU"});
}

void ToolSource::diagnose(const Failure& why, std::uint32_t about, FieldSet fields,
                          std::optional<Slot> number, Reading& r) {
  Diagnostic d;
  d.why = why;
  d.about = about;
  d.field = fields;
  d.device = number;
  r.diagnose(d);
}

void ToolSource::diagnose(const std::vector<Missing>& gone, std::uint32_t about, Slot number,
                          Reading& r) const {
  for (const Missing& m : gone) {
    if (m.fields == 0) continue;
    diagnose(with_reason(m.stated, fail(m.code, m.message)), about, m.fields, number, r);
  }
}

Failure ToolSource::why_nothing(const std::vector<Missing>& gone, std::uint32_t about, Slot number,
                                Reading& r) const {
  if (gone.size() > 1) diagnose(gone, about, number, r);
  return with_reason(gone.front().stated, fail(gone.front().code, gone.front().message));
}

void ToolSource::diagnose_use(const Failure& why, std::uint32_t pid, Slot number, Reading& r) {
  Diagnostic d;
  d.why = why;
  d.about = subject::processes;
  d.field = usage_field::used;
  d.device = number;
  d.pid = pid;
  r.diagnose(d);
}

}  // namespace hmn::command_tool
