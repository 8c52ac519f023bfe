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

void trace(Source source, const platform::Command& command, const platform::Outcome& outcome,
           std::uint64_t duration, Reading& reading) {
  std::string line = command.path;
  for (const std::string& argument : command.arguments) line += " " + argument;
  Diagnostic diagnostic;
  diagnostic.failure = {Status::ok, source, make_exit_code(outcome), std::move(line)};
  diagnostic.notes = note::trace;
  diagnostic.duration_ns = duration;
  reading.diagnose(diagnostic);
}

using Kind = platform::Outcome::Kind;
using LineText = Text<160>;

void update_identity(Device& target, Device current) {
  fill_missing(~0U, current, target);
  if (current.form == DeviceForm::unknown) current.form = target.form;
  if (current.memory_kind == MemoryKind::unknown) current.memory_kind = target.memory_kind;
  current.slot = target.slot;
  target = current;
}

}  // namespace

Result<void> Program::find() {
  path_ = requested_path_;
  if (!path_.empty()) {
    if (!platform::is_absolute(path_)) {
      return description_.fail(Status::no_source, {"the path of ", description_.name,
                                                   " must be absolute, \"", path_, "\" is not"});
    }
    if (platform::is_executable_file(path_.c_str())) return {};
    return description_.fail(Status::no_source, {path_, " is not an executable program"});
  }
  const std::string_view file = description_.file.empty() ? description_.name : description_.file;
  for (const std::string_view folder : description_.folders) {
    path_ = compose({folder, file});
    if (platform::is_executable_file(path_.c_str())) return {};
  }
  return description_.fail(Status::no_source, {description_.absent_message});
}

bool Program::was_replaced() {
  const auto status = platform::read_status(path_.c_str());
  if (!status || (status.value.device == device_ && status.value.inode == inode_)) return false;
  device_ = status.value.device;
  inode_ = status.value.inode;
  return true;
}

platform::Outcome Program::run(std::vector<std::string> arguments, bool include_stderr,
                               Reading& reading) const {
  const platform::Command command{path_,      std::move(arguments), reading.deadline_ns(),
                                  output_cap, include_stderr,       reading.cancel_flag()};
  const std::uint64_t start_ns = platform::monotonic_ns();
  platform::Outcome outcome = platform::run(command);
  if (outcome.was_cancelled) reading.mark_cut_short();
  if (reading.wants_trace())
    trace(description_.fail.source, command, outcome, platform::monotonic_ns() - start_ns, reading);
  return outcome;
}

const ToolMessage* find_message(std::span<const ToolMessage> messages,
                                std::string_view line) noexcept {
  for (const ToolMessage& message : messages) {
    if (line.find(message.pattern) != line.npos) return &message;
  }
  return nullptr;
}

NativeCode make_exit_code(const platform::Outcome& outcome) noexcept {
  if (!outcome.has_exit_status) return {};
  return {NativeDomain::exit, outcome.signal != 0 ? 128 + outcome.signal : outcome.exit_code};
}

void add_missing(std::vector<MissingFields>& groups, FieldSet fields, Status code,
                 const MessageText& message, Reason reason) {
  for (MissingFields& group : groups) {
    if (group.code != code || group.message != message) continue;
    group.fields |= fields;
    return;
  }
  groups.push_back({fields, code, message, reason});
}

std::optional<Failure> RunFailures::find_start_failure(std::string_view path) const {
  if (outcome_.kind == Kind::finished || outcome_.kind == Kind::output_too_long)
    return std::nullopt;
  if (outcome_.kind == Kind::timed_out) {
    return description_.fail(Status::timeout, {path, " did not answer within the deadline",
                                               description_.timeout_advice});
  }
  const bool is_denied = is_refused(outcome_.error);
  Failure failure =
      outcome_.kind == Kind::not_found
          ? description_.fail(Status::no_source, {path, " no longer exists"})
          : description_.fail(is_denied ? Status::permission : Status::backend,
                              {path, " cannot be run", is_denied ? ": permission denied" : ""});
  failure.native = {NativeDomain::error_number, outcome_.error};
  return failure;
}

Failure RunFailures::make_message_failure(const ToolMessage& message, std::string_view line) const {
  Failure failure = description_.fail(
      message.code,
      {description_.name, " prints \"", LineText(line).view(), "\": ", message.advice});
  failure.native = make_exit_code(outcome_);
  return failure;
}

Failure RunFailures::make_exit_failure(std::string_view problem, std::string_view output) const {
  const bool is_signal = outcome_.signal != 0;
  const Piece code = is_signal ? outcome_.signal : outcome_.exit_code;
  Failure failure =
      description_.fail(Status::backend, {description_.name, " ", problem,
                                          !outcome_.has_exit_status ? ""
                                          : is_signal               ? " and was ended by signal "
                                                                    : " and exited with ",
                                          outcome_.has_exit_status ? code : Piece(""),
                                          output.empty() ? "" : ": ", LineText(output).view()});
  failure.native = make_exit_code(outcome_);
  return failure;
}

const Result<void>& QueryOutcome::get_or_run(FunctionRef<Result<void>()> run) {
  if (!outcome_) {
    start_ns_ = platform::continuous_ns();
    const std::uint64_t start_ns = platform::monotonic_ns();
    outcome_ = run();
    duration_ns_ = platform::monotonic_ns() - start_ns;
    end_ns_ = platform::continuous_ns();
  }
  return *outcome_;
}

void QueryOutcome::drop_older_than(std::uint64_t max_age_ns) noexcept {
  if (!outcome_) return;
  const bool has_timed_out = !*outcome_ && outcome_->failure().code == Status::timeout;
  const std::uint64_t min_age = duration_ns_ * (has_timed_out ? 5 : 2);
  const bool is_shared = max_age_ns != 0;
  const std::uint64_t age = platform::continuous_ns() - start_ns_;
  if (!is_shared || age >= std::max(max_age_ns, min_age)) outcome_.reset();
}

ToolSource::ToolSource(const ToolDescription& description, const Settings& settings,
                       const std::string& path)
    : DeviceSource(description.fail.source, CallBehavior::run_programs),
      fail(description.fail),
      proc_root_(settings.proc_root),
      sys_root_(settings.sys_root),
      bus_vendors_(settings.bus_vendors),
      program_(description, path),
      description_(description),
      may_wake_(settings.wake_devices) {}

void ToolSource::expire(std::uint64_t max_age_ns) noexcept {
  query_outcome_.drop_older_than(max_age_ns);
  expire_processes(max_age_ns);
}

Result<void> ToolSource::prepare(Reading& reading) {
  expire(reading.max_age_ns());
  if (Result<void> result = probe(); !result || may_wake_) return result;
  const std::uint64_t now = platform::continuous_ns();
  if (!is_asleep() && now - bus_scan_ns_ < reading.max_age_ns()) return {};
  sleeping_gpus_.clear();
  bus_scan_ns_ = now;
  bool any_asleep = false;
  for (const pci::Gpu& gpu :
       pci::list_gpus(proc_root_, sys_root_, description_.vendor, *bus_vendors_)) {
    const bool has_driver = gpu.driver.view() == description_.driver;
    if (!has_driver && !(gpu.driver.empty() && description_.may_have_no_driver)) continue;
    any_asleep = any_asleep || gpu.is_asleep;
    sleeping_gpus_.push_back(gpu);
  }
  if (!any_asleep) {
    sleeping_gpus_.clear();
    return {};
  }
  query_outcome_.drop_older_than(0);
  for (KnownGpu& gpu : known_gpus_) gpu.row.reset();
  return make_asleep_failure();
}

Result<void> ToolSource::devices(std::vector<Device>& devices, Reading& reading) {
  if (is_asleep()) {
    list_asleep(devices);
    return {};
  }
  if (Result<void> result = load(reading); !result) return result;
  for (const KnownGpu& gpu : known_gpus_) {
    if (gpu.row) devices.push_back(gpu.identity);
  }
  return {};
}

void ToolSource::list_asleep(std::vector<Device>& devices) {
  for (const pci::Gpu& gpu : sleeping_gpus_) {
    Device device;
    device.source = description_.fail.source;
    device.vendor = description_.vendor;
    device.pci_bus_id = to_text(gpu.address);
    if (gpu.device != 0) device.pci_device = gpu.device;
    if (gpu.subsystem != 0) device.pci_subsystem = gpu.subsystem;
    devices.push_back(find_or_add(device, {})->identity);
    devices.back().state = gpu.is_asleep ? State::asleep : State::unknown;
  }
}

Result<void> ToolSource::load(Reading& reading) {
  return query_outcome_.get_or_run([&] {
    for (KnownGpu& gpu : known_gpus_) gpu.row.reset();
    Result<void> outcome = query(reading);
    store_result(outcome);
    return outcome;
  });
}

// Compares uuid and PCI address if both have them, in the tool's order; else the index.
bool ToolSource::is_same(const Device& left, const Device& right) const {
  const bool have_addresses = !left.pci_bus_id.empty() && !right.pci_bus_id.empty();
  const bool have_uuids = !left.uuid.empty() && !right.uuid.empty();
  if (have_addresses && (description_.is_matched_by_address || !have_uuids))
    return left.pci_bus_id == right.pci_bus_id;
  if (have_uuids) return left.uuid == right.uuid;
  return left.driver_index && left.driver_index == right.driver_index;
}

std::optional<Slot> ToolSource::find(const Device& device) const {
  for (const KnownGpu& gpu : known_gpus_) {
    if (is_same(gpu.identity, device)) return gpu.identity.slot;
  }
  return std::nullopt;
}

ToolSource::KnownGpu* ToolSource::find_or_add(const Device& device,
                                              std::optional<std::size_t> row) {
  const auto slot = find(device);
  KnownGpu& gpu = slot ? known_gpus_[*slot] : known_gpus_.emplace_back();
  if (!slot) gpu.identity.slot = static_cast<Slot>(known_gpus_.size() - 1);
  if (gpu.row) return nullptr;
  update_identity(gpu.identity, device);
  if (source_state_.version.empty()) source_state_.version = gpu.identity.driver_version;
  gpu.row = row;
  return &gpu;
}

Result<std::size_t> ToolSource::find_row(Slot slot, Reading& reading) {
  if (slot >= known_gpus_.size()) return make_not_listed_failure();
  if (is_asleep()) return make_asleep_failure();
  if (Result<void> result = load(reading); !result) return result.failure();
  if (known_gpus_[slot].row) return *known_gpus_[slot].row;
  return fail(Status::device_lost, {description_.name, " does not list this GPU any more"});
}

bool ToolSource::is_running(std::uint32_t pid) const {
  return platform::exists(compose({proc_root_, "/", pid}).c_str());
}

Failure ToolSource::make_asleep_failure() const {
  return fail(Status::asleep,
              {description_.gpu, " is suspended, and ", description_.name, " would wake it"});
}

Failure ToolSource::make_not_listed_failure() const {
  return fail(Status::no_device, {description_.name, " never listed this GPU"});
}

void ToolSource::diagnose(const Failure& failure, std::uint32_t subject, FieldSet fields,
                          std::optional<Slot> slot, Reading& reading) {
  Diagnostic diagnostic;
  diagnostic.failure = failure;
  diagnostic.subject = subject;
  diagnostic.field = fields;
  diagnostic.device = slot;
  reading.diagnose(diagnostic);
}

void ToolSource::diagnose(const std::vector<MissingFields>& groups, std::uint32_t subject,
                          Slot slot, Reading& reading) const {
  for (const MissingFields& group : groups) {
    if (group.fields == 0) continue;
    diagnose(with_reason(group.reason, fail(group.code, group.message)), subject, group.fields,
             slot, reading);
  }
}

Failure ToolSource::make_missing_failure(const std::vector<MissingFields>& groups,
                                         std::uint32_t subject, Slot slot, Reading& reading) const {
  if (groups.size() > 1) diagnose(groups, subject, slot, reading);
  return with_reason(groups.front().reason, fail(groups.front().code, groups.front().message));
}

void ToolSource::diagnose_usage(const Failure& failure, std::uint32_t pid, Slot slot,
                                Reading& reading) {
  Diagnostic diagnostic;
  diagnostic.failure = failure;
  diagnostic.subject = subject::processes;
  diagnostic.field = usage_field::used;
  diagnostic.device = slot;
  diagnostic.pid = pid;
  reading.diagnose(diagnostic);
}

}  // namespace hmn::command_tool
