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
  bool found = false;
  (void)platform::for_each_entry(nodes.c_str(), [&](std::string_view name) {
    std::array<char, 32> buffer;
    const auto got = platform::read_small(compose({nodes, "/", name, "/gpu_id"}).c_str(), buffer);
    std::string_view text(buffer.data(), got ? got.value : 0);
    found = scan::number(scan::take_line(text)).value_or(0) != 0;  // 0: a CPU
    return !found;
  });
  return found;
}

// Whether the tool's other queries would fail, too.
bool is_conclusive(const Failure& why) {
  return why.code == Status::no_source || why.code == Status::permission;
}

// Some versions print the kernel's banner without blanks as the version:
// "Linuxversion6.14.0-24(…)…".
std::string_view version_of(std::string_view text) {
  constexpr std::string_view banner = "Linuxversion";
  if (text.starts_with(banner)) text.remove_prefix(banner.size());
  return text.substr(0, text.find('('));
}

using Kind = platform::Outcome::Kind;

// Judges one answer of the tool: its exit status, its sentences and its malformed parts.
class Judge {
 public:
  Judge(const command_tool::Description& d, const platform::Outcome& o, Reading& r)
      : d_(d), o_(o), r_(r), v_(d, o) {}

  Result<void> without_records(const Answer& a) const {
    bool says_none = false;
    for (const Text<256>& line : a.sentences) {
      const Sentence* const s = find_sentence(line.view());
      if (s->what == Sentence::About::tool) return v_.of_sentence(*s, line.view());
      says_none = says_none || s->what == Sentence::About::nothing;
    }
    if (says_none) {
      with_records(a);
      return {};
    }
    if (!a.problems.empty()) {
      Failure why = of_problem(a.problems.front());
      why.native = command_tool::exit_of(o_);
      return why;
    }
    if (o_.what == Kind::output_too_long) return too_long();
    if (!a.stray.empty()) return v_.of_exit("printed no JSON of GPUs", a.stray.view());
    return v_.of_exit(a.documents == 0 ? "printed nothing that is known" : "listed no GPU");
  }

  void with_records(const Answer& a) const {
    for (const Text<256>& line : a.sentences) {
      diagnose(v_.of_sentence(*find_sentence(line.view()), line.view()));
    }
    for (const Text<256>& p : a.problems) diagnose(of_problem(p));
    if (o_.what == Kind::output_too_long || a.is_truncated) diagnose(too_long());
    const bool is_bad = o_.exit_known && (o_.signal != 0 || o_.exit_code != 0);
    if (is_bad) diagnose(v_.of_exit("printed its answer"));
  }

 private:
  [[nodiscard]] Failure of_problem(const Text<256>& p) const {
    return with_reason(Reason::not_understood, d_.fail(Status::backend, p.view()));
  }
  [[nodiscard]] Failure too_long() const {
    return d_.fail(Status::limit, {d_.name, " printed more than is read"});
  }
  void diagnose(const Failure& why) const {
    Diagnostic d;
    d.why = why;
    d.about = subject::devices;
    r_.diagnose(d);
  }

  const command_tool::Description& d_;
  const platform::Outcome& o_;
  Reading& r_;
  command_tool::Verdict v_;
};

namespace bit = telemetry_field;

struct ReadingField {
  MetricId id;
  Field what;
  std::uint8_t instance;
  std::uint32_t telemetry = 0;  // presence bit; 0: none
};

// Of two rows for one telemetry field, the first with a value counts.
constexpr ReadingField reading_fields[] = {
    {MetricId::engine_percent, Field::gpu_busy, which::engine::graphics, bit::gpu_busy_percent},
    {MetricId::engine_percent, Field::memory_busy, which::engine::memory, bit::memory_busy_percent},
    {MetricId::engine_percent, Field::media_busy, which::engine::video},
    {MetricId::temperature, Field::edge, which::sensor::core, bit::temperature_celsius},
    {MetricId::temperature, Field::hotspot, which::sensor::hotspot, bit::hotspot_celsius},
    {MetricId::temperature, Field::memory_temperature, which::sensor::memory, bit::memory_celsius},
    {MetricId::temperature_limit, Field::edge_limit, which::sensor::core},
    {MetricId::temperature_limit, Field::hotspot_limit, which::sensor::hotspot},
    {MetricId::temperature_limit, Field::memory_limit, which::sensor::memory},
    {MetricId::temperature_shutdown, Field::edge_shutdown, which::sensor::core},
    {MetricId::temperature_shutdown, Field::hotspot_shutdown, which::sensor::hotspot},
    {MetricId::temperature_shutdown, Field::memory_shutdown, which::sensor::memory},
    {MetricId::power_watts, Field::average_power, which::power_reading::average, bit::power_watts},
    {MetricId::power_watts, Field::package_power, which::power_reading::package, bit::power_watts},
    {MetricId::power_limit_watts, Field::power_limit, which::power_limit::current,
     bit::power_limit_watts},
    {MetricId::power_limit_watts, Field::lowest_power_limit, which::power_limit::min},
    {MetricId::power_limit_watts, Field::highest_power_limit, which::power_limit::max},
    {MetricId::energy_joules, Field::energy, which::power_reading::package, bit::energy_joules},
    {MetricId::clock_mhz, Field::core_clock, which::clock::core, bit::core_clock_mhz},
    {MetricId::clock_mhz, Field::memory_clock, which::clock::memory, bit::memory_clock_mhz},
    {MetricId::clock_mhz, Field::soc_clock, which::clock::soc},
    {MetricId::clock_mhz, Field::fabric_clock, which::clock::fabric},
    {MetricId::clock_mhz, Field::video_clock, which::clock::video},
    {MetricId::clock_limit_mhz, Field::highest_core_clock, which::clock::core},
    {MetricId::clock_limit_mhz, Field::highest_memory_clock, which::clock::memory},
    {MetricId::voltage, Field::core_voltage, which::rail::core},
    {MetricId::voltage, Field::soc_voltage, which::rail::soc},
    {MetricId::voltage, Field::memory_voltage, which::rail::memory},
    {MetricId::fan_percent, Field::fan_percent, 1, bit::fan_percent},
    {MetricId::fan_rpm, Field::fan_rpm, 1, bit::fan_rpm},
};

}  // namespace

Result<void> AmdSource::probe() {
  if (Result<void> here = ToolSource::probe(); !here) return here;
  const bool is_on_bus = !pci::gpus_on_bus(proc_root_, sys_root_, vendor::amd, *on_bus_).empty();
  if (is_on_bus || has_compute_node(sys_root_)) return {};
  return fail(Status::no_source, "no AMD GPU here");
}

Result<void> AmdSource::ask_values(Reading& r) {
  if (program_.was_replaced()) {
    identity_ = {};
    is_plain_ = was_read_ = false;
  }
  // A query that was too late last time comes second.
  const bool is_late = no_identity_ && no_identity_->code == Status::timeout;
  no_identity_.reset();
  no_readings_.reset();
  now_ = {};
  const auto name = [&] {
    if (d_.identity.empty() || !identity_.cards.empty()) return;
    if (Result<void> named = put(d_.identity, identity_, r); !named) no_identity_ = named.why();
  };
  if (!is_late) name();
  if (no_identity_ && is_conclusive(*no_identity_)) return *no_identity_;
  const Result<void> reported = ask_readings(r);
  if (is_late) name();
  // Values of earlier readings are better than only constant ones.
  if (!reported && (was_read_ || identity_.cards.empty())) {
    return no_identity_ ? *no_identity_ : reported;
  }
  was_read_ = was_read_ || reported;
  merge(now_, identity_);
  if (!reported) no_readings_ = reported.why();
  for (const auto& why : {no_identity_, no_readings_}) {
    if (why) diagnose(*why, subject::devices, 0, {}, r);
  }
  return {};
}

Result<void> AmdSource::ask_readings(Reading& r) {
  if (!is_plain_) {
    Result<void> reported = put(d_.readings, now_, r);
    if (reported || reported.why().code != Status::unsupported) return reported;
    is_plain_ = true;
  }
  return put(d_.plain, now_, r);
}

Result<void> AmdSource::ask(Reading& r) {
  Result<void> reported = ask_values(r);
  for (std::size_t i = 0; reported && i < now_.cards.size(); ++i) adopt_card(i, r);
  return reported;
}

// The tools print a partition's number in place of the PCI function's, which the bus does not have.
Text<32> AmdSource::place_of(const Card& c) const {
  const Text<32> printed = normal_pci_address(scan::trim(c[Field::bus].text.view()));
  const auto address = parse_pci_address(printed.view());
  if (!address || address->function == 0) return printed;
  const auto here = pci::gpus_on_bus(proc_root_, sys_root_, vendor::amd, *on_bus_);
  const auto has = [&](const PciAddress& a) {
    return std::ranges::any_of(here, [&](const pci::Gpu& g) { return g.address == a; });
  };
  PciAddress whole = *address;
  whole.function = 0;
  return has(whole) && !has(*address) ? to_text(whole) : printed;
}

Device AmdSource::identity_of(const Card& c) const {
  Device who;
  who.from = d_.tool.fail.from;
  who.vendor = vendor::amd;
  who.state = State::ready;
  who.driver_index = c.index;
  who.name.assign(c[Field::name].has_value() ? c[Field::name].text.view() : std::string_view());
  who.pci_bus_id = place_of(c);
  const FieldAmount& id = c[Field::unique_id];
  if (id.has_value() && id.whole != 0) who.uuid.assign(compose({"GPU-", hex(id.whole, 16)}));
  const FieldAmount& model = c[Field::pci_device];
  if (model.has_value() && model.whole <= 0xFFFF) {
    who.pci_device = static_cast<std::uint32_t>(model.whole);
  }
  const FieldAmount& driver = c[Field::driver];
  who.driver_version.assign(
      version_of(driver.has_value() ? driver.text.view() : now_.driver.view()));
  if (c[Field::name].text.was_cut()) who.notes |= note::truncated;
  return who;
}

void AmdSource::adopt_card(std::size_t at, Reading& r) {
  const Card& c = now_.cards[at];
  if (!c.is_reported()) return;
  const Device who = identity_of(c);
  const KnownGpu* const k = adopt(who, at);
  if (k == nullptr) {
    return diagnose(
        fail(Status::unsupported, {d_.tool.name, " lists more than one GPU at ",
                                   who.pci_bus_id.view(), " (partitions); only the first is read"}),
        subject::devices, 0, find(who), r);
  }
  if (k->who.name.empty()) {
    report(c, Field::name, device_field::name, subject::devices, k->who.number, r);
  }
  if (k->who.pci_bus_id.empty()) {
    report(c, Field::bus, device_field::pci_bus_id, subject::devices, k->who.number, r);
  }
}

Result<const Card*> AmdSource::card_of(Slot number, Reading& r) {
  Result<std::size_t> at = row_of(number, r);
  if (!at) return at.why();
  return &now_.cards[*at];
}

Result<void> AmdSource::put(std::string_view question, Answer& into, Reading& r) {
  std::vector<std::string> arguments;
  while (!question.empty()) arguments.emplace_back(scan::take_word(question));
  const platform::Outcome o = program_.run(std::move(arguments), true, r);
  const command_tool::Verdict v(d_.tool, o);
  if (auto why = v.why_not_run(program_.path())) return *why;
  into.sentences.clear();
  into.problems.clear();
  into.stray.clear();
  const std::uint32_t before = into.records;
  read_answer(d_, o.output, into);
  const Judge j(d_.tool, o, r);
  if (into.records == before) return j.without_records(into);
  j.with_records(into);
  return {};
}

Failure AmdSource::why_unprinted(Field f) const {
  const bool is_constant = f <= Field::driver ||
                           (f >= Field::edge_limit && f <= Field::memory_shutdown) ||
                           (f >= Field::power_limit && f <= Field::highest_power_limit);
  const std::optional<Failure>& why = is_constant ? no_identity_ : no_readings_;
  return why ? *why
             : fail(Status::unsupported, {d_.tool.name, " prints no such value of this GPU"});
}

Failure AmdSource::why_absent(const Card& c, Field what) const {
  const FieldAmount& f = c[what];
  if (f.why == Status::empty) return why_unprinted(what);
  return with_reason(f.stated, fail(f.why, {d_.tool.name, "'s \"", f.key.view(), "\" is \"",
                                            f.text.view(), "\"", f.flaw}));
}

void AmdSource::report(const Card& c, Field f, FieldSet bits, std::uint32_t about, Slot number,
                       Reading& r) const {
  if (r.wants_diagnostics()) diagnose(why_absent(c, f), about, bits, number, r);
}

void AmdSource::use_of(Pool& p, const Card& c, Field used, Slot number, Reading& r) const {
  const FieldAmount& f = c[used];
  if (!f.has_value()) {
    return report(c, used, pool_field::used | pool_field::free, subject::pools, number, r);
  }
  p.used = f.whole;
  if (*p.used <= *p.total) p.free = *p.total - *p.used;
  if (f.is_rounded) p.notes |= note::estimated;
}

Result<void> AmdSource::memory(Slot number, Pools& out, Reading& r) {
  constexpr struct {
    PoolKind kind;
    Field total, used;
  } all[] = {{PoolKind::vram, Field::vram_total, Field::vram_used},
             {PoolKind::vram_visible, Field::visible_total, Field::visible_used},
             {PoolKind::host, Field::host_total, Field::host_used}};
  const auto found = card_of(number, r);
  if (!found) return found.why();
  const Card& c = **found;
  for (const auto& one : all) {
    const FieldAmount& total = c[one.total];
    if (!total.has_value() || total.whole == 0) {
      if (one.kind == PoolKind::vram) return why_absent(c, one.total);
      continue;
    }
    Pool p;
    p.from = d_.tool.fail.from;
    p.accounting = Accounting::allocated;
    p.kind = one.kind;
    p.is_main = one.kind == PoolKind::vram;
    p.total = total.whole;
    if (total.is_rounded) p.notes |= note::estimated;
    use_of(p, c, one.used, number, r);
    out.add(p);
  }
  return {};
}

Result<void> AmdSource::telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) {
  const auto found = card_of(number, r);
  if (!found) return found.why();
  const Card& c = **found;
  out = {};
  out.from = d_.tool.fail.from;
  out.sources = bit_of(d_.tool.fail.from);
  FieldSet left = fields;
  std::vector<Missing> gaps;
  const auto note = [&](FieldSet bits, const Failure& why) {
    if (bits != 0) add_missing(gaps, bits, why.code, why.message, why.stated);
  };
  const auto take = [&](Field what, FieldSet bits) -> const FieldAmount* {
    if ((left & bits) == 0) return nullptr;
    const FieldAmount& f = c[what];
    if (f.has_value()) {
      left &= ~bits;
      return &f;
    }
    if (f.why != Status::empty) note(bits, why_absent(c, what));
    return nullptr;
  };
  for (const ReadingField& f : reading_fields) {
    const FieldAmount* const v = take(f.what, f.telemetry);
    if (v == nullptr) continue;
    const hmn::Field& into = field_of(fields_of<hmn::Telemetry>(), f.telemetry);
    if (into.type == FieldType::real) {
      into.set(&out, v->number);
    } else {
      into.set(&out, static_cast<std::uint32_t>(v->number + 0.5));
    }
  }
  if (const auto* const v = take(Field::pcie_link, bit::pcie_generation)) {
    out.pcie_generation = static_cast<std::uint32_t>(v->whole >> 8);
  }
  if (const auto* const v = take(Field::pcie_link, bit::pcie_width)) {
    out.pcie_width = static_cast<std::uint32_t>(v->whole & 0xFF);
  }
  if (take(Field::throttle, bit::throttle) != nullptr) out.throttle = 0;
  // A reason counts only if no other row has a value for the field.
  FieldSet silent = left;
  for (Missing& g : gaps) {
    g.fields &= left;
    silent &= ~g.fields;
  }
  note(silent & bit::power_limit_watts, why_unprinted(Field::power_limit));
  note(silent & ~bit::power_limit_watts, why_unprinted(Field::gpu_busy));
  if (left == fields && !gaps.empty()) return why_nothing(gaps, subject::telemetry, number, r);
  diagnose(gaps, subject::telemetry, number, r);
  return {};
}

Result<void> AmdSource::metrics(Slot number, bool, std::vector<Metric>& out, Reading& r) {
  const auto found = card_of(number, r);
  if (!found) return found.why();
  for (const ReadingField& m : reading_fields) {
    const FieldAmount& f = (**found)[m.what];
    if (f.has_value()) out.push_back(measured(d_.tool.fail.from, m.id, m.instance, f.number));
    // Most cards lack some of them, for which the tool has words.
    if (f.why == Status::ok || f.why == Status::empty || f.why == Status::unsupported) continue;
    report(**found, m.what, missing_metric(m.id, m.instance), subject::metrics, number, r);
  }
  return {};
}

Result<void> AmdSource::load_processes(Reading& r) {
  if (rows_) return *rows_;
  rows_ = load(r);
  if (!*rows_ || d_.processes.empty()) return *rows_;
  now_.processes.clear();
  now_.lists.clear();
  rows_ = put(d_.processes, now_, r);
  return *rows_;
}

Result<const Card*> AmdSource::card_with_processes(Slot number, Reading& r) {
  if (const auto found = card_of(number, r); !found) return found;
  if (Result<void> loaded = load_processes(r); !loaded) return loaded.why();
  return card_of(number, r);
}

// Rows without a card belong to the only card, if there is just one.
bool AmdSource::is_of(const ProcessRow& row, const Card& c) const {
  if (row.cards == 0) return false;
  return row.card ? *row.card == c.index : now_.cards.size() == 1;
}

Usage AmdSource::usage_of(const ProcessRow& row, const Card& c, Slot number, Reading& r) const {
  Usage u;
  u.pid = row.pid;
  u.from = d_.tool.fail.from;
  u.accounting = Accounting::allocated;
  u.kinds = usage_kind::compute;
  if (!d_.processes.empty()) u.kinds.reset();  // amd-smi also lists processes that use graphics
  u.used = row.used;
  u.host_pool = row.host;
  if (row.is_estimated) u.notes |= note::estimated;
  std::string_view flaw = row.flaw;
  Reason stated = row.stated;
  const FieldAmount& total = c[Field::vram_total];
  if (u.used && total.has_value() && *u.used > total.whole) {
    u.used.reset();
    flaw = "it prints more memory than the GPU has";
    stated = Reason::implausible;
  }
  if (!u.used) {
    if (flaw.empty()) flaw = "it prints no value";
    const bool is_refused = flaw.find("rights") != flaw.npos;
    diagnose_use(with_reason(stated, fail(is_refused ? Status::permission : Status::unsupported,
                                          {d_.tool.name,
                                           " does not report the memory of this process: ", flaw})),
                 row.pid, number, r);
  }
  // Prefer the host's program name: rocm-smi prints it in lower case.
  if (is_running(row.pid)) return u;
  if (!is_in_initial_pid_namespace()) u.notes |= note::foreign_pid;
  if (row.name.empty()) return u;
  u.name_state = NameState::resolved;
  u.name = row.name.view();
  return u;
}

// Succeeds if the rows of a card are all its users.
Result<void> AmdSource::whole_list_of(const Card& c) const {
  bool is_listed = d_.processes.empty() && !is_plain_;
  for (const ProcessList& list : now_.lists) {
    if (list.card.value_or(c.index) != c.index) continue;
    is_listed = true;
    if (list.why == Status::ok) continue;
    Failure why = fail(
        list.why, {d_.tool.name, " does not list all processes of this GPU: ", list.flaw.view()});
    if (why.code == Status::backend) why.stated = Reason::not_understood;
    return why;
  }
  if (!is_listed)
    return fail(Status::unsupported,
                {d_.tool.name, " prints no list of the processes of this GPU"});
  if (now_.is_truncated)
    return fail(Status::limit, {d_.tool.name, " lists more processes than are read"});
  const auto unplaced = std::ranges::count_if(now_.processes, [&](const ProcessRow& row) {
    return !row.card && now_.cards.size() > 1 && row.cards != 0;
  });
  if (unplaced == 0) return {};
  return fail(Status::unsupported,
              {d_.tool.name, " does not report on which GPU ", unplaced, " process(es) are"});
}

Result<void> AmdSource::processes(Slot number, std::vector<Usage>& out, Reading& r) {
  const auto found = card_with_processes(number, r);
  if (!found) return found.why();
  const Card& c = **found;
  for (const ProcessRow& row : now_.processes) {
    if (is_of(row, c)) out.push_back(usage_of(row, c, number, r));
  }
  const Result<void> whole = whole_list_of(c);
  if (whole) return {};
  if (!out.empty()) diagnose(whole.why(), subject::processes, 0, number, r);
  return mark_incomplete(out, whole.why());
}

Result<void> AmdSource::process(Slot number, std::uint32_t pid, bool, Usage& out, Reading& r) {
  const auto found = card_with_processes(number, r);
  if (!found) return found.why();
  const Card& c = **found;
  const Result<void> whole = whole_list_of(c);
  for (const ProcessRow& row : now_.processes) {
    if (row.pid != pid || !is_of(row, c)) continue;
    out = usage_of(row, c, number, r);
    if (!whole) note_incomplete(out);
    return {};
  }
  if (!whole) return whole;
  // Absence proves nothing: in a container the process may be listed under another pid.
  return fail(Status::no_process, {d_.tool.name, " lists no process ", pid, " on this GPU"});
}

}  // namespace hmn::amd_tool
