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
bool is_conclusive(const failure& why) {
  return why.code == status::no_source || why.code == status::permission;
}

// Some versions print the kernel's banner without blanks as the version:
// "Linuxversion6.14.0-24(…)…".
std::string_view version_of(std::string_view text) {
  constexpr std::string_view banner = "Linuxversion";
  if (text.starts_with(banner)) text.remove_prefix(banner.size());
  return text.substr(0, text.find('('));
}

using kind = platform::outcome::kind;

// Judges one answer of the tool: its exit status, its sentences and its malformed parts.
class judge {
 public:
  judge(const command_tool::description& d, const platform::outcome& o, reading& r)
      : d_(d), o_(o), r_(r), v_(d, o) {}

  result<void> without_records(const answer& a) const {
    bool says_none = false;
    for (const text<256>& line : a.sentences) {
      const sentence* const s = find_sentence(line.view());
      if (s->what == sentence::about::tool) return v_.of_sentence(*s, line.view());
      says_none = says_none || s->what == sentence::about::nothing;
    }
    if (says_none) {
      with_records(a);
      return {};
    }
    if (!a.problems.empty()) {
      failure why = of_problem(a.problems.front());
      why.native = command_tool::exit_of(o_);
      return why;
    }
    if (o_.what == kind::output_too_long) return too_long();
    if (!a.stray.empty()) return v_.of_exit("printed no JSON of GPUs", a.stray.view());
    return v_.of_exit(a.documents == 0 ? "printed nothing that is known" : "listed no GPU");
  }

  void with_records(const answer& a) const {
    for (const text<256>& line : a.sentences) {
      diagnose(v_.of_sentence(*find_sentence(line.view()), line.view()));
    }
    for (const text<256>& p : a.problems) diagnose(of_problem(p));
    if (o_.what == kind::output_too_long || a.is_truncated) diagnose(too_long());
    const bool is_bad = o_.exit_known && (o_.signal != 0 || o_.exit_code != 0);
    if (is_bad) diagnose(v_.of_exit("printed its answer"));
  }

 private:
  [[nodiscard]] failure of_problem(const text<256>& p) const {
    return with_reason(reason::not_understood, d_.fail(status::backend, p.view()));
  }
  [[nodiscard]] failure too_long() const {
    return d_.fail(status::limit, {d_.name, " printed more than is read"});
  }
  void diagnose(const failure& why) const {
    diagnostic d;
    d.why = why;
    d.about = subject::devices;
    r_.diagnose(d);
  }

  const command_tool::description& d_;
  const platform::outcome& o_;
  reading& r_;
  command_tool::verdict v_;
};

namespace bit = telemetry_field;

struct reading_field {
  metric_id id;
  field what;
  std::uint8_t instance;
  std::uint32_t telemetry = 0;  // presence bit; 0: none
};

// Of two rows for one telemetry field, the first with a value counts.
constexpr reading_field reading_fields[] = {
    {metric_id::engine_percent, field::gpu_busy, which::engine::graphics, bit::gpu_busy_percent},
    {metric_id::engine_percent, field::memory_busy, which::engine::memory,
     bit::memory_busy_percent},
    {metric_id::engine_percent, field::media_busy, which::engine::video},
    {metric_id::temperature, field::edge, which::sensor::core, bit::temperature_celsius},
    {metric_id::temperature, field::hotspot, which::sensor::hotspot, bit::hotspot_celsius},
    {metric_id::temperature, field::memory_temperature, which::sensor::memory, bit::memory_celsius},
    {metric_id::temperature_limit, field::edge_limit, which::sensor::core},
    {metric_id::temperature_limit, field::hotspot_limit, which::sensor::hotspot},
    {metric_id::temperature_limit, field::memory_limit, which::sensor::memory},
    {metric_id::temperature_shutdown, field::edge_shutdown, which::sensor::core},
    {metric_id::temperature_shutdown, field::hotspot_shutdown, which::sensor::hotspot},
    {metric_id::temperature_shutdown, field::memory_shutdown, which::sensor::memory},
    {metric_id::power_watts, field::average_power, which::power_reading::average, bit::power_watts},
    {metric_id::power_watts, field::package_power, which::power_reading::package, bit::power_watts},
    {metric_id::power_limit_watts, field::power_limit, which::power_limit::current,
     bit::power_limit_watts},
    {metric_id::power_limit_watts, field::lowest_power_limit, which::power_limit::min},
    {metric_id::power_limit_watts, field::highest_power_limit, which::power_limit::max},
    {metric_id::energy_joules, field::energy, which::power_reading::package, bit::energy_joules},
    {metric_id::clock_mhz, field::core_clock, which::clock::core, bit::core_clock_mhz},
    {metric_id::clock_mhz, field::memory_clock, which::clock::memory, bit::memory_clock_mhz},
    {metric_id::clock_mhz, field::soc_clock, which::clock::soc},
    {metric_id::clock_mhz, field::fabric_clock, which::clock::fabric},
    {metric_id::clock_mhz, field::video_clock, which::clock::video},
    {metric_id::clock_limit_mhz, field::highest_core_clock, which::clock::core},
    {metric_id::clock_limit_mhz, field::highest_memory_clock, which::clock::memory},
    {metric_id::voltage, field::core_voltage, which::rail::core},
    {metric_id::voltage, field::soc_voltage, which::rail::soc},
    {metric_id::voltage, field::memory_voltage, which::rail::memory},
    {metric_id::fan_percent, field::fan_percent, 1, bit::fan_percent},
    {metric_id::fan_rpm, field::fan_rpm, 1, bit::fan_rpm},
};

}  // namespace

result<void> amd_source::probe() {
  if (result<void> here = tool_source::probe(); !here) return here;
  const bool is_on_bus = !pci::gpus_on_bus(proc_root_, sys_root_, vendor::amd, *on_bus_).empty();
  if (is_on_bus || has_compute_node(sys_root_)) return {};
  return fail(status::no_source, "no AMD GPU here");
}

result<void> amd_source::ask_values(reading& r) {
  if (program_.was_replaced()) {
    identity_ = {};
    is_plain_ = was_read_ = false;
  }
  // A query that was too late last time comes second.
  const bool is_late = no_identity_ && no_identity_->code == status::timeout;
  no_identity_.reset();
  no_readings_.reset();
  now_ = {};
  const auto name = [&] {
    if (d_.identity.empty() || !identity_.cards.empty()) return;
    if (result<void> named = put(d_.identity, identity_, r); !named) no_identity_ = named.why();
  };
  if (!is_late) name();
  if (no_identity_ && is_conclusive(*no_identity_)) return *no_identity_;
  const result<void> reported = ask_readings(r);
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

result<void> amd_source::ask_readings(reading& r) {
  if (!is_plain_) {
    result<void> reported = put(d_.readings, now_, r);
    if (reported || reported.why().code != status::unsupported) return reported;
    is_plain_ = true;
  }
  return put(d_.plain, now_, r);
}

result<void> amd_source::ask(reading& r) {
  result<void> reported = ask_values(r);
  for (std::size_t i = 0; reported && i < now_.cards.size(); ++i) adopt_card(i, r);
  return reported;
}

// The tools print a partition's number in place of the PCI function's, which the bus does not have.
text<32> amd_source::place_of(const card& c) const {
  const text<32> printed = normal_pci_address(scan::trim(c[field::bus].text.view()));
  const auto address = parse_pci_address(printed.view());
  if (!address || address->function == 0) return printed;
  const auto here = pci::gpus_on_bus(proc_root_, sys_root_, vendor::amd, *on_bus_);
  const auto has = [&](const pci_address& a) {
    return std::ranges::any_of(here, [&](const pci::gpu& g) { return g.address == a; });
  };
  pci_address whole = *address;
  whole.function = 0;
  return has(whole) && !has(*address) ? to_text(whole) : printed;
}

device amd_source::identity_of(const card& c) const {
  device who;
  who.from = d_.tool.fail.from;
  who.vendor = vendor::amd;
  who.state = state::ready;
  who.driver_index = c.index;
  who.name.assign(c[field::name].has_value() ? c[field::name].text.view() : std::string_view());
  who.pci_bus_id = place_of(c);
  const field_amount& id = c[field::unique_id];
  if (id.has_value() && id.whole != 0) who.uuid.assign(compose({"GPU-", hex(id.whole, 16)}));
  const field_amount& model = c[field::pci_device];
  if (model.has_value() && model.whole <= 0xFFFF) {
    who.pci_device = static_cast<std::uint32_t>(model.whole);
  }
  const field_amount& driver = c[field::driver];
  who.driver_version.assign(
      version_of(driver.has_value() ? driver.text.view() : now_.driver.view()));
  if (c[field::name].text.was_cut()) who.notes |= note::truncated;
  return who;
}

void amd_source::adopt_card(std::size_t at, reading& r) {
  const card& c = now_.cards[at];
  if (!c.is_reported()) return;
  const device who = identity_of(c);
  const known_gpu* const k = adopt(who, at);
  if (k == nullptr) {
    return diagnose(
        fail(status::unsupported, {d_.tool.name, " lists more than one GPU at ",
                                   who.pci_bus_id.view(), " (partitions); only the first is read"}),
        subject::devices, 0, find(who), r);
  }
  if (k->who.name.empty()) {
    report(c, field::name, device_field::name, subject::devices, k->who.number, r);
  }
  if (k->who.pci_bus_id.empty()) {
    report(c, field::bus, device_field::pci_bus_id, subject::devices, k->who.number, r);
  }
}

result<const card*> amd_source::card_of(slot number, reading& r) {
  result<std::size_t> at = row_of(number, r);
  if (!at) return at.why();
  return &now_.cards[*at];
}

result<void> amd_source::put(std::string_view question, answer& into, reading& r) {
  std::vector<std::string> arguments;
  while (!question.empty()) arguments.emplace_back(scan::take_word(question));
  const platform::outcome o = program_.run(std::move(arguments), true, r);
  const command_tool::verdict v(d_.tool, o);
  if (auto why = v.why_not_run(program_.path())) return *why;
  into.sentences.clear();
  into.problems.clear();
  into.stray.clear();
  const std::uint32_t before = into.records;
  read_answer(d_, o.output, into);
  const judge j(d_.tool, o, r);
  if (into.records == before) return j.without_records(into);
  j.with_records(into);
  return {};
}

failure amd_source::why_unprinted(field f) const {
  const bool is_constant = f <= field::driver ||
                           (f >= field::edge_limit && f <= field::memory_shutdown) ||
                           (f >= field::power_limit && f <= field::highest_power_limit);
  const std::optional<failure>& why = is_constant ? no_identity_ : no_readings_;
  return why ? *why
             : fail(status::unsupported, {d_.tool.name, " prints no such value of this GPU"});
}

failure amd_source::why_absent(const card& c, field what) const {
  const field_amount& f = c[what];
  if (f.why == status::empty) return why_unprinted(what);
  return with_reason(f.stated, fail(f.why, {d_.tool.name, "'s \"", f.key.view(), "\" is \"",
                                            f.text.view(), "\"", f.flaw}));
}

void amd_source::report(const card& c, field f, FieldSet bits, std::uint32_t about, slot number,
                        reading& r) const {
  if (r.wants_diagnostics()) diagnose(why_absent(c, f), about, bits, number, r);
}

void amd_source::use_of(pool& p, const card& c, field used, slot number, reading& r) const {
  const field_amount& f = c[used];
  if (!f.has_value()) {
    return report(c, used, pool_field::used | pool_field::free, subject::pools, number, r);
  }
  p.used = f.whole;
  if (*p.used <= *p.total) p.free = *p.total - *p.used;
  if (f.is_rounded) p.notes |= note::estimated;
}

result<void> amd_source::memory(slot number, pools& out, reading& r) {
  constexpr struct {
    pool_kind kind;
    field total, used;
  } all[] = {{pool_kind::vram, field::vram_total, field::vram_used},
             {pool_kind::vram_visible, field::visible_total, field::visible_used},
             {pool_kind::host, field::host_total, field::host_used}};
  const auto found = card_of(number, r);
  if (!found) return found.why();
  const card& c = **found;
  for (const auto& one : all) {
    const field_amount& total = c[one.total];
    if (!total.has_value() || total.whole == 0) {
      if (one.kind == pool_kind::vram) return why_absent(c, one.total);
      continue;
    }
    pool p;
    p.from = d_.tool.fail.from;
    p.accounting = accounting::allocated;
    p.kind = one.kind;
    p.is_main = one.kind == pool_kind::vram;
    p.total = total.whole;
    if (total.is_rounded) p.notes |= note::estimated;
    use_of(p, c, one.used, number, r);
    out.add(p);
  }
  return {};
}

result<void> amd_source::telemetry(slot number, FieldSet fields, hmn::telemetry& out, reading& r) {
  const auto found = card_of(number, r);
  if (!found) return found.why();
  const card& c = **found;
  out = {};
  out.from = d_.tool.fail.from;
  out.sources = bit_of(d_.tool.fail.from);
  FieldSet left = fields;
  std::vector<missing> gaps;
  const auto note = [&](FieldSet bits, const failure& why) {
    if (bits != 0) add_missing(gaps, bits, why.code, why.message, why.stated);
  };
  const auto take = [&](field what, FieldSet bits) -> const field_amount* {
    if ((left & bits) == 0) return nullptr;
    const field_amount& f = c[what];
    if (f.has_value()) {
      left &= ~bits;
      return &f;
    }
    if (f.why != status::empty) note(bits, why_absent(c, what));
    return nullptr;
  };
  for (const reading_field& f : reading_fields) {
    const field_amount* const v = take(f.what, f.telemetry);
    if (v == nullptr) continue;
    const hmn::field& into = field_of(fields_of<hmn::telemetry>(), f.telemetry);
    if (into.type == field_type::real) {
      into.set(&out, v->number);
    } else {
      into.set(&out, static_cast<std::uint32_t>(v->number + 0.5));
    }
  }
  if (const auto* const v = take(field::pcie_link, bit::pcie_generation)) {
    out.pcie_generation = static_cast<std::uint32_t>(v->whole >> 8);
  }
  if (const auto* const v = take(field::pcie_link, bit::pcie_width)) {
    out.pcie_width = static_cast<std::uint32_t>(v->whole & 0xFF);
  }
  if (take(field::throttle, bit::throttle) != nullptr) out.throttle = 0;
  // A reason counts only if no other row has a value for the field.
  FieldSet silent = left;
  for (missing& g : gaps) {
    g.fields &= left;
    silent &= ~g.fields;
  }
  note(silent & bit::power_limit_watts, why_unprinted(field::power_limit));
  note(silent & ~bit::power_limit_watts, why_unprinted(field::gpu_busy));
  if (left == fields && !gaps.empty()) return why_nothing(gaps, subject::telemetry, number, r);
  diagnose(gaps, subject::telemetry, number, r);
  return {};
}

result<void> amd_source::metrics(slot number, bool, std::vector<metric>& out, reading& r) {
  const auto found = card_of(number, r);
  if (!found) return found.why();
  for (const reading_field& m : reading_fields) {
    const field_amount& f = (**found)[m.what];
    if (f.has_value()) out.push_back(measured(d_.tool.fail.from, m.id, m.instance, f.number));
    // Most cards lack some of them, for which the tool has words.
    if (f.why == status::ok || f.why == status::empty || f.why == status::unsupported) continue;
    report(**found, m.what, missing_metric(m.id, m.instance), subject::metrics, number, r);
  }
  return {};
}

result<void> amd_source::load_processes(reading& r) {
  if (rows_) return *rows_;
  rows_ = load(r);
  if (!*rows_ || d_.processes.empty()) return *rows_;
  now_.processes.clear();
  now_.lists.clear();
  rows_ = put(d_.processes, now_, r);
  return *rows_;
}

result<const card*> amd_source::card_with_processes(slot number, reading& r) {
  if (const auto found = card_of(number, r); !found) return found;
  if (result<void> loaded = load_processes(r); !loaded) return loaded.why();
  return card_of(number, r);
}

// Rows without a card belong to the only card, if there is just one.
bool amd_source::is_of(const process_row& row, const card& c) const {
  if (row.cards == 0) return false;
  return row.card ? *row.card == c.index : now_.cards.size() == 1;
}

usage amd_source::usage_of(const process_row& row, const card& c, slot number, reading& r) const {
  usage u;
  u.pid = row.pid;
  u.from = d_.tool.fail.from;
  u.accounting = accounting::allocated;
  u.kinds = usage_kind::compute;
  if (!d_.processes.empty()) u.kinds.reset();  // amd-smi also lists processes that use graphics
  u.used = row.used;
  u.host_pool = row.host;
  if (row.is_estimated) u.notes |= note::estimated;
  std::string_view flaw = row.flaw;
  reason stated = row.stated;
  const field_amount& total = c[field::vram_total];
  if (u.used && total.has_value() && *u.used > total.whole) {
    u.used.reset();
    flaw = "it prints more memory than the GPU has";
    stated = reason::implausible;
  }
  if (!u.used) {
    if (flaw.empty()) flaw = "it prints no value";
    const bool is_refused = flaw.find("rights") != flaw.npos;
    diagnose_use(with_reason(stated, fail(is_refused ? status::permission : status::unsupported,
                                          {d_.tool.name,
                                           " does not report the memory of this process: ", flaw})),
                 row.pid, number, r);
  }
  // Prefer the host's program name: rocm-smi prints it in lower case.
  if (is_running(row.pid)) return u;
  if (!is_in_initial_pid_namespace()) u.notes |= note::foreign_pid;
  if (row.name.empty()) return u;
  u.name_state = name_state::resolved;
  u.name = row.name.view();
  return u;
}

// Succeeds if the rows of a card are all its users.
result<void> amd_source::whole_list_of(const card& c) const {
  bool is_listed = d_.processes.empty() && !is_plain_;
  for (const process_list& list : now_.lists) {
    if (list.card.value_or(c.index) != c.index) continue;
    is_listed = true;
    if (list.why == status::ok) continue;
    failure why = fail(
        list.why, {d_.tool.name, " does not list all processes of this GPU: ", list.flaw.view()});
    if (why.code == status::backend) why.stated = reason::not_understood;
    return why;
  }
  if (!is_listed)
    return fail(status::unsupported,
                {d_.tool.name, " prints no list of the processes of this GPU"});
  if (now_.is_truncated)
    return fail(status::limit, {d_.tool.name, " lists more processes than are read"});
  const auto unplaced = std::ranges::count_if(now_.processes, [&](const process_row& row) {
    return !row.card && now_.cards.size() > 1 && row.cards != 0;
  });
  if (unplaced == 0) return {};
  return fail(status::unsupported,
              {d_.tool.name, " does not report on which GPU ", unplaced, " process(es) are"});
}

result<void> amd_source::processes(slot number, std::vector<usage>& out, reading& r) {
  const auto found = card_with_processes(number, r);
  if (!found) return found.why();
  const card& c = **found;
  for (const process_row& row : now_.processes) {
    if (is_of(row, c)) out.push_back(usage_of(row, c, number, r));
  }
  const result<void> whole = whole_list_of(c);
  if (whole) return {};
  if (!out.empty()) diagnose(whole.why(), subject::processes, 0, number, r);
  return mark_incomplete(out, whole.why());
}

result<void> amd_source::process(slot number, std::uint32_t pid, bool, usage& out, reading& r) {
  const auto found = card_with_processes(number, r);
  if (!found) return found.why();
  const card& c = **found;
  const result<void> whole = whole_list_of(c);
  for (const process_row& row : now_.processes) {
    if (row.pid != pid || !is_of(row, c)) continue;
    out = usage_of(row, c, number, r);
    if (!whole) note_incomplete(out);
    return {};
  }
  if (!whole) return whole;
  // Absence proves nothing: in a container the process may be listed under another pid.
  return fail(status::no_process, {d_.tool.name, " lists no process ", pid, " on this GPU"});
}

}  // namespace hmn::amd_tool
