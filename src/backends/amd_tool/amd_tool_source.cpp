// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amd_tool/amd_tool_source.hpp"

#include <algorithm>
#include <array>

#include "backends/amd_tool/answer.hpp"
#include "backends/shared/command_tool/command_source.hpp"
#include "model/message_text.hpp"
#include "model/pci_address.hpp"
#include "model/record.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::amd_tool {
namespace {

// By the topology of the kernel's compute driver.
bool has_compute_node(const std::string& sys_root) {
  const std::string nodes = sys_root + "/class/kfd/kfd/topology/nodes";
  bool has_node = false;
  (void)platform::for_each_entry(nodes.c_str(), [&](std::string_view name) {
    std::array<char, 32> buffer;
    const auto size = platform::read_small(compose({nodes, "/", name, "/gpu_id"}).c_str(), buffer);
    std::string_view text(buffer.data(), size ? size.value : 0);
    has_node = scan::parse_number(scan::take_line(text)).value_or(0) != 0;  // 0: a CPU
    return !has_node;
  });
  return has_node;
}

// Whether the tool's other queries would fail, too.
bool is_conclusive(const Failure& failure) {
  return failure.code == Status::no_source || failure.code == Status::permission;
}

// Some versions print the kernel's banner without blanks as the version:
// "Linuxversion6.14.0-24(…)…".
std::string_view parse_version(std::string_view text) {
  constexpr std::string_view banner = "Linuxversion";
  if (text.starts_with(banner)) text.remove_prefix(banner.size());
  return text.substr(0, text.find('('));
}

using Kind = platform::Outcome::Kind;

// Checks one answer of the tool: its exit status, its sentences and its malformed parts.
class AnswerChecker {
 public:
  AnswerChecker(const command_tool::ToolDescription& description, const platform::Outcome& outcome,
                Reading& reading)
      : description_(description),
        outcome_(outcome),
        reading_(reading),
        verdict_(description, outcome) {}

  Result<void> check_empty(const Answer& answer) const {
    bool reports_no_gpu = false;
    for (const Text<256>& line : answer.sentences) {
      const ToolMessage* const sentence = find_message(line.view());
      if (sentence->subject == ToolMessage::Subject::tool)
        return verdict_.make_message_failure(*sentence, line.view());
      reports_no_gpu = reports_no_gpu || sentence->subject == ToolMessage::Subject::nothing;
    }
    if (reports_no_gpu) {
      report_messages(answer);
      return {};
    }
    if (!answer.problems.empty()) {
      Failure failure = make_problem_failure(answer.problems.front());
      failure.native = command_tool::make_exit_code(outcome_);
      return failure;
    }
    if (outcome_.kind == Kind::output_too_long) return make_too_long_failure();
    if (!answer.stray.empty())
      return verdict_.make_exit_failure("printed no JSON of GPUs", answer.stray.view());
    return verdict_.make_exit_failure(answer.documents == 0 ? "printed nothing that is known"
                                                            : "listed no GPU");
  }

  void report_messages(const Answer& answer) const {
    for (const Text<256>& line : answer.sentences) {
      diagnose(verdict_.make_message_failure(*find_message(line.view()), line.view()));
    }
    for (const Text<256>& problem : answer.problems) diagnose(make_problem_failure(problem));
    if (outcome_.kind == Kind::output_too_long || answer.is_truncated)
      diagnose(make_too_long_failure());
    const bool has_failed =
        outcome_.has_exit_status && (outcome_.signal != 0 || outcome_.exit_code != 0);
    if (has_failed) diagnose(verdict_.make_exit_failure("printed its answer"));
  }

 private:
  [[nodiscard]] Failure make_problem_failure(const Text<256>& problem) const {
    return with_reason(Reason::not_understood, description_.fail(Status::backend, problem.view()));
  }
  [[nodiscard]] Failure make_too_long_failure() const {
    return description_.fail(Status::limit, {description_.name, " printed more than is read"});
  }
  void diagnose(const Failure& failure) const {
    Diagnostic diagnostic;
    diagnostic.failure = failure;
    diagnostic.subject = subject::devices;
    reading_.diagnose(diagnostic);
  }

  const command_tool::ToolDescription& description_;
  const platform::Outcome& outcome_;
  Reading& reading_;
  command_tool::RunFailures verdict_;
};

namespace bit = telemetry_field;

struct ReadingField {
  MetricId id;
  Field field;
  std::uint8_t instance;
  std::uint32_t telemetry = 0;  // presence bit; 0: none
};

// Of two rows for one telemetry field, the first with a value counts.
constexpr ReadingField reading_fields[] = {
    {MetricId::engine_percent, Field::gpu_busy, metric_instance::engine::graphics,
     bit::gpu_busy_percent},
    {MetricId::engine_percent, Field::memory_busy, metric_instance::engine::memory,
     bit::memory_busy_percent},
    {MetricId::engine_percent, Field::media_busy, metric_instance::engine::video},
    {MetricId::temperature, Field::edge, metric_instance::sensor::core, bit::temperature_celsius},
    {MetricId::temperature, Field::hotspot, metric_instance::sensor::hotspot, bit::hotspot_celsius},
    {MetricId::temperature, Field::memory_temperature, metric_instance::sensor::memory,
     bit::memory_celsius},
    {MetricId::temperature_limit, Field::edge_limit, metric_instance::sensor::core},
    {MetricId::temperature_limit, Field::hotspot_limit, metric_instance::sensor::hotspot},
    {MetricId::temperature_limit, Field::memory_limit, metric_instance::sensor::memory},
    {MetricId::temperature_shutdown, Field::edge_shutdown, metric_instance::sensor::core},
    {MetricId::temperature_shutdown, Field::hotspot_shutdown, metric_instance::sensor::hotspot},
    {MetricId::temperature_shutdown, Field::memory_shutdown, metric_instance::sensor::memory},
    {MetricId::power_watts, Field::average_power, metric_instance::power_reading::average,
     bit::power_watts},
    {MetricId::power_watts, Field::package_power, metric_instance::power_reading::package,
     bit::power_watts},
    {MetricId::power_limit_watts, Field::power_limit, metric_instance::power_limit::current,
     bit::power_limit_watts},
    {MetricId::power_limit_watts, Field::min_power_limit, metric_instance::power_limit::min},
    {MetricId::power_limit_watts, Field::max_power_limit, metric_instance::power_limit::max},
    {MetricId::energy_joules, Field::energy, metric_instance::power_reading::package,
     bit::energy_joules},
    {MetricId::clock_mhz, Field::core_clock, metric_instance::clock::core, bit::core_clock_mhz},
    {MetricId::clock_mhz, Field::memory_clock, metric_instance::clock::memory,
     bit::memory_clock_mhz},
    {MetricId::clock_mhz, Field::soc_clock, metric_instance::clock::soc},
    {MetricId::clock_mhz, Field::fabric_clock, metric_instance::clock::fabric},
    {MetricId::clock_mhz, Field::video_clock, metric_instance::clock::video},
    {MetricId::clock_limit_mhz, Field::max_core_clock, metric_instance::clock::core},
    {MetricId::clock_limit_mhz, Field::max_memory_clock, metric_instance::clock::memory},
    {MetricId::voltage, Field::core_voltage, metric_instance::rail::core},
    {MetricId::voltage, Field::soc_voltage, metric_instance::rail::soc},
    {MetricId::voltage, Field::memory_voltage, metric_instance::rail::memory},
    {MetricId::fan_percent, Field::fan_percent, 1, bit::fan_percent},
    {MetricId::fan_rpm, Field::fan_rpm, 1, bit::fan_rpm},
};

}  // namespace

Result<void> AmdSource::probe() {
  if (Result<void> result = ToolSource::probe(); !result) return result;
  const bool is_on_bus = !pci::list_gpus(proc_root_, sys_root_, vendor::amd, *bus_vendors_).empty();
  if (is_on_bus || has_compute_node(sys_root_)) return {};
  return fail(Status::no_source, "no AMD GPU here");
}

Result<void> AmdSource::ask_values(Reading& reading) {
  if (program_.was_replaced()) {
    identity_ = {};
    is_plain_ = has_readings_ = false;
  }
  // A query that was too late last time comes second.
  const bool is_late = identity_failure_ && identity_failure_->code == Status::timeout;
  identity_failure_.reset();
  readings_failure_.reset();
  answer_ = {};
  const auto load_identity = [&] {
    if (dialect_.identity.empty() || !identity_.cards.empty()) return;
    if (Result<void> result = run_query(dialect_.identity, identity_, reading); !result)
      identity_failure_ = result.failure();
  };
  if (!is_late) load_identity();
  if (identity_failure_ && is_conclusive(*identity_failure_)) return *identity_failure_;
  const Result<void> result = ask_readings(reading);
  if (is_late) load_identity();
  // Values of earlier readings are better than only constant ones.
  if (!result && (has_readings_ || identity_.cards.empty())) {
    return identity_failure_ ? *identity_failure_ : result;
  }
  has_readings_ = has_readings_ || result;
  merge(answer_, identity_);
  if (!result) readings_failure_ = result.failure();
  for (const auto& failure : {identity_failure_, readings_failure_}) {
    if (failure) diagnose(*failure, subject::devices, 0, {}, reading);
  }
  return {};
}

Result<void> AmdSource::ask_readings(Reading& reading) {
  if (!is_plain_) {
    Result<void> result = run_query(dialect_.readings, answer_, reading);
    if (result || result.failure().code != Status::unsupported) return result;
    is_plain_ = true;
  }
  return run_query(dialect_.plain, answer_, reading);
}

Result<void> AmdSource::query(Reading& reading) {
  Result<void> result = ask_values(reading);
  for (std::size_t i = 0; result && i < answer_.cards.size(); ++i) adopt_card(i, reading);
  return result;
}

// The tools print a partition's number in place of the PCI function's, which the bus does not have.
Text<32> AmdSource::find_address(const Card& card) const {
  const Text<32> bus_id = normalize_pci_address(scan::trim(card[Field::bus].text.view()));
  const auto address = parse_pci_address(bus_id.view());
  if (!address || address->function == 0) return bus_id;
  const auto gpus = pci::list_gpus(proc_root_, sys_root_, vendor::amd, *bus_vendors_);
  const auto is_on_bus = [&](const PciAddress& candidate) {
    return std::ranges::any_of(gpus, [&](const pci::Gpu& gpu) { return gpu.address == candidate; });
  };
  PciAddress function_zero = *address;
  function_zero.function = 0;
  return is_on_bus(function_zero) && !is_on_bus(*address) ? to_text(function_zero) : bus_id;
}

Device AmdSource::read_identity(const Card& card) const {
  Device device;
  device.source = dialect_.tool.fail.source;
  device.vendor = vendor::amd;
  device.state = State::ready;
  device.driver_index = card.index;
  device.name.assign(card[Field::name].has_value() ? card[Field::name].text.view()
                                                   : std::string_view());
  device.pci_bus_id = find_address(card);
  const FieldAmount& id = card[Field::unique_id];
  if (id.has_value() && id.whole != 0) device.uuid.assign(compose({"GPU-", hex(id.whole, 16)}));
  const FieldAmount& model = card[Field::pci_device];
  if (model.has_value() && model.whole <= 0xFFFF) {
    device.pci_device = static_cast<std::uint32_t>(model.whole);
  }
  const FieldAmount& driver = card[Field::driver];
  device.driver_version.assign(
      parse_version(driver.has_value() ? driver.text.view() : answer_.driver.view()));
  if (card[Field::name].text.was_cut()) device.notes |= note::truncated;
  return device;
}

void AmdSource::adopt_card(std::size_t index, Reading& reading) {
  const Card& card = answer_.cards[index];
  if (!card.is_reported()) return;
  const Device device = read_identity(card);
  const KnownGpu* const gpu = find_or_add(device, index);
  if (gpu == nullptr) {
    return diagnose(fail(Status::unsupported,
                         {dialect_.tool.name, " lists more than one GPU at ",
                          device.pci_bus_id.view(), " (partitions); only the first is read"}),
                    subject::devices, 0, find(device), reading);
  }
  if (gpu->identity.name.empty()) {
    report(card, Field::name, device_field::name, subject::devices, gpu->identity.slot, reading);
  }
  if (gpu->identity.pci_bus_id.empty()) {
    report(card, Field::bus, device_field::pci_bus_id, subject::devices, gpu->identity.slot,
           reading);
  }
}

Result<const Card*> AmdSource::find_card(Slot slot, Reading& reading) {
  Result<std::size_t> index = find_row(slot, reading);
  if (!index) return index.failure();
  return &answer_.cards[*index];
}

Result<void> AmdSource::run_query(std::string_view arguments, Answer& answer, Reading& reading) {
  std::vector<std::string> words;
  while (!arguments.empty()) words.emplace_back(scan::take_word(arguments));
  const platform::Outcome outcome = program_.run(std::move(words), true, reading);
  const command_tool::RunFailures verdict(dialect_.tool, outcome);
  if (auto failure = verdict.find_start_failure(program_.path())) return *failure;
  answer.sentences.clear();
  answer.problems.clear();
  answer.stray.clear();
  const std::uint32_t before = answer.records;
  read_answer(dialect_, outcome.output, answer);
  const AnswerChecker checker(dialect_.tool, outcome, reading);
  if (answer.records == before) return checker.check_empty(answer);
  checker.report_messages(answer);
  return {};
}

Failure AmdSource::make_unprinted_failure(Field field) const {
  const bool is_constant = field <= Field::driver ||
                           (field >= Field::edge_limit && field <= Field::memory_shutdown) ||
                           (field >= Field::power_limit && field <= Field::max_power_limit);
  const std::optional<Failure>& failure = is_constant ? identity_failure_ : readings_failure_;
  return failure
             ? *failure
             : fail(Status::unsupported, {dialect_.tool.name, " prints no such value of this GPU"});
}

Failure AmdSource::make_absent_failure(const Card& card, Field field) const {
  const FieldAmount& amount = card[field];
  if (amount.status == Status::empty) return make_unprinted_failure(field);
  return with_reason(amount.reason,
                     fail(amount.status, {dialect_.tool.name, "'s \"", amount.key.view(),
                                          "\" is \"", amount.text.view(), "\"", amount.flaw}));
}

void AmdSource::report(const Card& card, Field field, FieldSet bits, std::uint32_t subject,
                       Slot slot, Reading& reading) const {
  if (reading.wants_diagnostics())
    diagnose(make_absent_failure(card, field), subject, bits, slot, reading);
}

void AmdSource::set_used(Pool& pool, const Card& card, Field used_field, Slot slot,
                         Reading& reading) const {
  const FieldAmount& amount = card[used_field];
  if (!amount.has_value()) {
    return report(card, used_field, pool_field::used | pool_field::free, subject::pools, slot,
                  reading);
  }
  pool.used = amount.whole;
  if (*pool.used <= *pool.total) pool.free = *pool.total - *pool.used;
  if (amount.is_rounded) pool.notes |= note::estimated;
}

Result<void> AmdSource::memory(Slot slot, PoolList& out, Reading& reading) {
  constexpr struct {
    PoolKind kind;
    Field total, used;
  } pool_fields[] = {{PoolKind::vram, Field::vram_total, Field::vram_used},
                     {PoolKind::vram_visible, Field::visible_total, Field::visible_used},
                     {PoolKind::host, Field::host_total, Field::host_used}};
  const auto result = find_card(slot, reading);
  if (!result) return result.failure();
  const Card& card = **result;
  for (const auto& fields : pool_fields) {
    const FieldAmount& total = card[fields.total];
    if (!total.has_value() || total.whole == 0) {
      if (fields.kind == PoolKind::vram) return make_absent_failure(card, fields.total);
      continue;
    }
    Pool pool;
    pool.source = dialect_.tool.fail.source;
    pool.accounting = Accounting::allocated;
    pool.kind = fields.kind;
    pool.is_main = fields.kind == PoolKind::vram;
    pool.total = total.whole;
    if (total.is_rounded) pool.notes |= note::estimated;
    set_used(pool, card, fields.used, slot, reading);
    out.add(pool);
  }
  return {};
}

Result<void> AmdSource::telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                                  Reading& reading) {
  const auto result = find_card(slot, reading);
  if (!result) return result.failure();
  const Card& card = **result;
  out = {};
  out.source = dialect_.tool.fail.source;
  out.sources = source_bit(dialect_.tool.fail.source);
  FieldSet left = fields;
  std::vector<MissingFields> gaps;
  const auto add_gap = [&](FieldSet bits, const Failure& failure) {
    if (bits != 0) add_missing(gaps, bits, failure.code, failure.message, failure.reason);
  };
  const auto find_value = [&](Field field, FieldSet bits) -> const FieldAmount* {
    if ((left & bits) == 0) return nullptr;
    const FieldAmount& amount = card[field];
    if (amount.has_value()) {
      left &= ~bits;
      return &amount;
    }
    if (amount.status != Status::empty) add_gap(bits, make_absent_failure(card, field));
    return nullptr;
  };
  for (const ReadingField& row : reading_fields) {
    const FieldAmount* const amount = find_value(row.field, row.telemetry);
    if (amount == nullptr) continue;
    const hmn::Field& target = find_field(record_fields<hmn::Telemetry>(), row.telemetry);
    if (target.type == FieldType::real) {
      target.set(&out, amount->number);
    } else {
      target.set(&out, static_cast<std::uint32_t>(amount->number + 0.5));
    }
  }
  if (const auto* const link = find_value(Field::pcie_link, bit::pcie_generation)) {
    out.pcie_generation = static_cast<std::uint32_t>(link->whole >> 8);
  }
  if (const auto* const link = find_value(Field::pcie_link, bit::pcie_width)) {
    out.pcie_width = static_cast<std::uint32_t>(link->whole & 0xFF);
  }
  if (find_value(Field::throttle, bit::throttle) != nullptr) out.throttle = 0;
  // A reason counts only if no other row has a value for the field.
  FieldSet unexplained = left;
  for (MissingFields& gap : gaps) {
    gap.fields &= left;
    unexplained &= ~gap.fields;
  }
  add_gap(unexplained & bit::power_limit_watts, make_unprinted_failure(Field::power_limit));
  add_gap(unexplained & ~bit::power_limit_watts, make_unprinted_failure(Field::gpu_busy));
  if (left == fields && !gaps.empty())
    return make_missing_failure(gaps, subject::telemetry, slot, reading);
  diagnose(gaps, subject::telemetry, slot, reading);
  return {};
}

Result<void> AmdSource::metrics(Slot slot, bool, std::vector<Metric>& out, Reading& reading) {
  const auto result = find_card(slot, reading);
  if (!result) return result.failure();
  for (const ReadingField& row : reading_fields) {
    const FieldAmount& amount = (**result)[row.field];
    if (amount.has_value())
      out.push_back(
          make_value_metric(dialect_.tool.fail.source, row.id, row.instance, amount.number));
    // Most cards lack some of them, for which the tool has words.
    if (amount.status == Status::ok || amount.status == Status::empty ||
        amount.status == Status::unsupported)
      continue;
    report(**result, row.field, missing_metric(row.id, row.instance), subject::metrics, slot,
           reading);
  }
  return {};
}

Result<void> AmdSource::load_processes(Reading& reading) {
  if (processes_result_) return *processes_result_;
  processes_result_ = load(reading);
  if (!*processes_result_ || dialect_.processes.empty()) return *processes_result_;
  answer_.processes.clear();
  answer_.list_statuses.clear();
  processes_result_ = run_query(dialect_.processes, answer_, reading);
  return *processes_result_;
}

Result<const Card*> AmdSource::find_card_with_processes(Slot slot, Reading& reading) {
  if (const auto result = find_card(slot, reading); !result) return result;
  if (Result<void> result = load_processes(reading); !result) return result.failure();
  return find_card(slot, reading);
}

// Rows without a card belong to the only card, if there is just one.
bool AmdSource::belongs_to(const ProcessRow& row, const Card& card) const {
  if (row.card_count == 0) return false;
  return row.card ? *row.card == card.index : answer_.cards.size() == 1;
}

Usage AmdSource::make_usage(const ProcessRow& row, const Card& card, Slot slot,
                            Reading& reading) const {
  Usage usage;
  usage.pid = row.pid;
  usage.source = dialect_.tool.fail.source;
  usage.accounting = Accounting::allocated;
  usage.kinds = usage_kind::compute;
  if (!dialect_.processes.empty())
    usage.kinds.reset();  // amd-smi also lists processes that use graphics
  usage.used = row.used;
  usage.host_pool = row.host;
  if (row.is_estimated) usage.notes |= note::estimated;
  std::string_view flaw = row.flaw;
  Reason reason = row.reason;
  const FieldAmount& total = card[Field::vram_total];
  if (usage.used && total.has_value() && *usage.used > total.whole) {
    usage.used.reset();
    flaw = "it prints more memory than the GPU has";
    reason = Reason::implausible;
  }
  if (!usage.used) {
    if (flaw.empty()) flaw = "it prints no value";
    const bool is_refused = flaw.find("rights") != flaw.npos;
    diagnose_usage(
        with_reason(reason, fail(is_refused ? Status::permission : Status::unsupported,
                                 {dialect_.tool.name,
                                  " does not report the memory of this process: ", flaw})),
        row.pid, slot, reading);
  }
  // Prefer the host's program name: rocm-smi prints it in lower case.
  if (is_running(row.pid)) return usage;
  if (!is_in_initial_pid_namespace()) usage.notes |= note::foreign_pid;
  if (row.name.empty()) return usage;
  usage.name_state = NameState::resolved;
  usage.name = row.name.view();
  return usage;
}

// Succeeds if every user of the card has a row.
Result<void> AmdSource::check_list_complete(const Card& card) const {
  bool is_listed = dialect_.processes.empty() && !is_plain_;
  for (const ProcessListStatus& list : answer_.list_statuses) {
    if (list.card.value_or(card.index) != card.index) continue;
    is_listed = true;
    if (list.status == Status::ok) continue;
    Failure failure =
        fail(list.status,
             {dialect_.tool.name, " does not list all processes of this GPU: ", list.flaw.view()});
    if (failure.code == Status::backend) failure.reason = Reason::not_understood;
    return failure;
  }
  if (!is_listed)
    return fail(Status::unsupported,
                {dialect_.tool.name, " prints no list of the processes of this GPU"});
  if (answer_.is_truncated)
    return fail(Status::limit, {dialect_.tool.name, " lists more processes than are read"});
  const auto ambiguous_count = std::ranges::count_if(answer_.processes, [&](const ProcessRow& row) {
    return !row.card && answer_.cards.size() > 1 && row.card_count != 0;
  });
  if (ambiguous_count == 0) return {};
  return fail(Status::unsupported, {dialect_.tool.name, " does not report on which GPU ",
                                    ambiguous_count, " process(es) are"});
}

Result<void> AmdSource::processes(Slot slot, std::vector<Usage>& out, Reading& reading) {
  const auto result = find_card_with_processes(slot, reading);
  if (!result) return result.failure();
  const Card& card = **result;
  for (const ProcessRow& row : answer_.processes) {
    if (belongs_to(row, card)) out.push_back(make_usage(row, card, slot, reading));
  }
  const Result<void> completeness = check_list_complete(card);
  if (completeness) return {};
  if (!out.empty()) diagnose(completeness.failure(), subject::processes, 0, slot, reading);
  return mark_incomplete(out, completeness.failure());
}

Result<void> AmdSource::process(Slot slot, std::uint32_t pid, bool, Usage& out,
                                Reading& reading) {
  const auto result = find_card_with_processes(slot, reading);
  if (!result) return result.failure();
  const Card& card = **result;
  const Result<void> completeness = check_list_complete(card);
  for (const ProcessRow& row : answer_.processes) {
    if (row.pid != pid || !belongs_to(row, card)) continue;
    out = make_usage(row, card, slot, reading);
    if (!completeness) mark_lower_bound(out);
    return {};
  }
  if (!completeness) return completeness;
  // Absence proves nothing: in a container the process may be listed under another pid.
  return fail(Status::no_process, {dialect_.tool.name, " lists no process ", pid, " on this GPU"});
}

}  // namespace hmn::amd_tool
