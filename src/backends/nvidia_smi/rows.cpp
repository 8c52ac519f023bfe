// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/rows.hpp"

#include <algorithm>
#include <utility>

#include "backends/shared/nvidia/throttle.hpp"
#include "backends/shared/pci/pci.hpp"
#include "model/message_text.hpp"
#include "model/note.hpp"
#include "model/pci_address.hpp"
#include "model/record.hpp"
#include "model/scan.hpp"
#include "model/text.hpp"

namespace hmn::nvidia_smi {
namespace {

constexpr std::string_view free_gpu_texts = "name gpu_name";
constexpr std::string_view free_app_texts = "process_name name gpu_name";

// Index in this table of each known column; the first spelling wins.
std::vector<std::optional<std::size_t>> places(const Table& t, std::string_view columns) {
  std::vector<std::optional<std::size_t>> at;
  while (!columns.empty()) at.push_back(t.find_first(scan::take_line(columns)));
  return at;
}

std::string written(const std::vector<std::string_view>& cells) {
  std::string out;
  for (const std::string_view cell : cells) out += compose({out.empty() ? "" : ", ", cell});
  return out;
}

std::string_view whole_lines(std::string_view text, bool cut) {
  return cut ? text.substr(0, text.rfind('\n') + 1) : text;  // npos + 1 is 0
}

std::string utf8(std::string_view bytes) {
  std::string valid;
  append_utf8(valid, bytes);
  return valid;
}

bool is_windows_path(std::string_view path) {
  return path.size() > 2 && path[1] == ':' && path[2] == '\\';
}

// Old drivers print "[Not Supported]" in every column for a GPU whose processes they cannot list.
bool take_pid(std::string_view cell, AppRow& row) {
  row.why_none = status_of_cell(cell);
  if (row.why_none != Status::ok) return row.why_none != Status::empty;
  row.pid = scan::number<std::uint32_t>(cell).value_or(0);
  return row.pid != 0;
}

void take_name(std::string_view cell, AppRow& row) {
  const Status s = status_of_cell(cell);
  if (s == Status::permission) row.name_state = NameState::protected_process;
  // "?" and "[Not Found]": unknown to the tool, possibly known to the host.
  if (s != Status::ok || cell == "?") return;
  append_utf8(row.name, program_of(cell));
  if (!row.name.empty()) row.name_state = NameState::resolved;
}

}  // namespace

std::string_view GpuRow::known(GpuColumn c) const {
  const GpuCell& cell = (*this)[c];
  return status_of_cell(cell.text) == Status::ok ? std::string_view(cell.text) : std::string_view();
}

Answer<GpuRow> parse_gpus(std::string_view text, bool cut) {
  const Table t = parse_table(whole_lines(text, cut), gpu_spellings(), free_gpu_texts, most_gpus);
  const auto at = places(t, gpu_spellings());
  Answer<GpuRow> out;
  out.is_table = !t.columns.empty();
  out.strays = t.strays;
  out.is_truncated = t.is_truncated;
  const auto name_at = at[static_cast<std::size_t>(GpuColumn::name)];
  const auto bus_at = at[static_cast<std::size_t>(GpuColumn::pci_bus_id)];
  for (const auto& cells : t.rows) {
    // If a name has commas, the cells after it may be those of other columns.
    const bool is_joined = name_at && cells[*name_at].find(',') != std::string_view::npos;
    if (is_joined && bus_at && status_of_cell(cells[*bus_at]) == Status::ok &&
        normal_pci_address(cells[*bus_at]).empty()) {
      out.strays.add(written(cells));
      continue;
    }
    GpuRow& row = out.rows.emplace_back();
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (at[i]) row.cells[i] = {true, utf8(cells[*at[i]]), utf8(t.columns[*at[i]].unit)};
    }
  }
  return out;
}

Answer<AppRow> parse_apps(std::string_view text, bool cut) {
  const Table t = parse_table(whole_lines(text, cut), app_spellings(), free_app_texts, most_apps);
  const auto at = places(t, app_spellings());
  const auto place = [&](AppColumn c) { return at[static_cast<std::size_t>(c)]; };
  Answer<AppRow> out;
  // The name is requested last: a header without it is incomplete.
  out.is_table = place(AppColumn::pid) && place(AppColumn::used) && place(AppColumn::name);
  out.strays = t.strays;
  out.is_truncated = t.is_truncated;
  if (!out.is_table) {
    if (!t.columns.empty()) out.strays.add(t.columns.front().name);
    return out;
  }
  const std::string_view unit = t.columns[*place(AppColumn::used)].unit;
  for (const auto& cells : t.rows) {
    std::array<std::string_view, static_cast<std::size_t>(AppColumn::count)> found;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (at[i]) found[i] = cells[*at[i]];
    }
    const auto cell = [&](AppColumn c) { return found[static_cast<std::size_t>(c)]; };
    AppRow row;
    const std::string_view uuid = cell(AppColumn::gpu_uuid);
    if (status_of_cell(uuid) == Status::ok) row.gpu_uuid = utf8(uuid);
    row.gpu_bus_id = normal_pci_address(cell(AppColumn::gpu_bus_id));
    if (!take_pid(cell(AppColumn::pid), row)) {
      out.strays.add(written(cells));
      continue;
    }
    row.used = bytes_of(cell(AppColumn::used), unit);
    take_name(cell(AppColumn::name), row);
    out.rows.push_back(std::move(row));
  }
  return out;
}

std::string_view program_of(std::string_view process_name) noexcept {
  std::string_view name = scan::trim(process_name);
  if (is_windows_path(name)) return name.substr(name.find_last_of("\\/") + 1);
  // Some programs overwrite argv[0] with their whole command line.
  if (name.starts_with('/')) name = name.substr(0, name.find(" -"));
  return name.substr(name.rfind('/') + 1);  // npos + 1 is 0
}

namespace {

std::string_view advice_of(Status code) {
  switch (code) {
    case Status::permission:
      return ": it needs more rights";
    case Status::device_lost:
      return ": see 'dmesg' for Xid lines, then reset the GPU or reboot";
    case Status::empty:
      return ": the driver has no data";
    default:
      return "";
  }
}

// Words of the tool have the reason of their status. Other text is malformed, or a number that its
// form does not allow: negative, or too large.
Reason reason_of(const GpuCell& cell) {
  const std::string_view text = scan::trim(cell.text);
  if (text.empty()) return Reason::not_understood;
  if (status_of_cell(text) != Status::ok || text.front() == '[') return Reason::unknown;
  const bool is_digits = text.find_first_not_of("0123456789", text.front() == '-') == text.npos;
  const bool is_impossible = is_digits && (text.front() == '-' || text.size() > 10);
  return is_impossible ? Reason::implausible : Reason::not_understood;
}

namespace bit = telemetry_field;

constexpr std::uint64_t mebibyte = 1ULL << 20;

struct MemoryReader {
  const GpuRow& row;
  std::vector<Missing>& gone;

  std::optional<std::uint64_t> take(GpuColumn c, FieldSet bit) {
    const auto m = bytes_of(row[c].text, row[c].unit);
    if (!m.value) add_missing(gone, bit, m.why, row[c]);
    return m.value;
  }
};

// Checks total = reserved + free + used, each rounded to a MiB.
bool adds_up(const Pool& p, std::uint64_t reserved) {
  const auto taken = scan::sum(reserved, *p.used);
  const auto sum = taken ? scan::sum(*taken, *p.free) : std::nullopt;
  return sum && std::max(*sum, *p.total) - std::min(*sum, *p.total) <= 2 * mebibyte;
}

// Free and used may make up the total without the reserved part; otherwise nothing shows which is
// true.
void check(Pool& p, std::vector<Missing>& gone) {
  if (!p.reserved || !p.free || !p.used || adds_up(p, *p.reserved)) return;
  FieldSet doubted = pool_field::reserved;
  if (!adds_up(p, 0)) doubted |= pool_field::free | pool_field::used;
  forget(doubted, p);
  add_missing(gone, doubted, Status::backend,
              "nvidia-smi's reserved, free and used memory do not add up to the total",
              Reason::implausible);
}

Failure no_total(const Missing& why) {
  return {why.code, Source::nvidia_smi, {}, {"memory.total: ", why.message.view()}, why.stated};
}

// What a column's number is among the metrics, and its telemetry field.
struct NumberColumn {
  constexpr NumberColumn(GpuColumn c, MetricId m, std::uint32_t i, std::string_view u,
                         std::uint32_t t = 0, bool counts = false)
      : from(static_cast<std::uint8_t>(c)),
        id(static_cast<std::uint8_t>(m)),
        instance(static_cast<std::uint8_t>(i)),
        is_count(counts),
        unit(u),
        telemetry(t) {}
  std::uint8_t from, id, instance;
  bool is_count;
  std::string_view unit;
  std::uint32_t telemetry;  // presence bit; 0: none
};

using Col = GpuColumn;
constexpr NumberColumn number_columns[] = {
    {Col::gpu_busy, MetricId::engine_percent, which::engine::unknown, "%", bit::gpu_busy_percent},
    {Col::memory_busy, MetricId::engine_percent, which::engine::memory, "%",
     bit::memory_busy_percent},
    {Col::encoder_busy, MetricId::engine_percent, which::engine::encode, "%",
     bit::encoder_busy_percent},
    {Col::decoder_busy, MetricId::engine_percent, which::engine::decode, "%",
     bit::decoder_busy_percent},
    {Col::temperature, MetricId::temperature, which::sensor::core, "", bit::temperature_celsius},
    {Col::memory_temperature, MetricId::temperature, which::sensor::memory, "",
     bit::memory_celsius},
    {Col::power, MetricId::power_watts, which::power_reading::unknown, "W", bit::power_watts},
    {Col::power_limit, MetricId::power_limit_watts, which::power_limit::current, "W",
     bit::power_limit_watts},
    {Col::power_usual, MetricId::power_limit_watts, which::power_limit::default_limit, "W"},
    {Col::power_lowest, MetricId::power_limit_watts, which::power_limit::min, "W"},
    {Col::power_highest, MetricId::power_limit_watts, which::power_limit::max, "W"},
    {Col::core_clock, MetricId::clock_mhz, which::clock::core, "MHz", bit::core_clock_mhz},
    {Col::sm_clock, MetricId::clock_mhz, which::clock::sm, "MHz"},
    {Col::memory_clock, MetricId::clock_mhz, which::clock::memory, "MHz", bit::memory_clock_mhz},
    {Col::video_clock, MetricId::clock_mhz, which::clock::video, "MHz"},
    {Col::core_clock_limit, MetricId::clock_limit_mhz, which::clock::core, "MHz"},
    {Col::memory_clock_limit, MetricId::clock_limit_mhz, which::clock::memory, "MHz"},
    {Col::fan, MetricId::fan_percent, 1, "%", bit::fan_percent},
    {Col::pcie_generation, MetricId::unknown, 0, "", bit::pcie_generation},
    {Col::pcie_width, MetricId::unknown, 0, "", bit::pcie_width},
    {Col::ecc_corrected, MetricId::ecc_corrected, which::era::since_load, "", 0, true},
    {Col::ecc_corrected_ever, MetricId::ecc_corrected, which::era::lifetime, "", 0, true},
    {Col::ecc_uncorrected, MetricId::ecc_uncorrected, which::era::since_load, "", 0, true},
    {Col::ecc_uncorrected_ever, MetricId::ecc_uncorrected, which::era::lifetime, "", 0, true},
};

// Returns why the cell has no number.
Status take(const GpuCell& cell, const NumberColumn& c, Telemetry& into) {
  const Field& f = field_of(fields_of<Telemetry>(), c.telemetry);
  if (f.type == FieldType::real) {
    const auto real = number_of(cell.text, cell.unit, c.unit);
    if (real.value) f.set(&into, *real.value);
    return real.why;
  }
  const auto count = count_of(cell.text, cell.unit, c.unit);
  if (count.value) f.set(&into, *count.value);
  return count.why;
}

// A value out of range becomes the type's maximum, which the check of every value rejects.
std::uint64_t count_from(double value) {
  return value < 0x1p64 ? static_cast<std::uint64_t>(value) : UINT64_MAX;
}

}  // namespace

void add_missing(std::vector<Missing>& to, FieldSet field, Status code, const GpuCell& cell) {
  if (!cell.is_asked) {
    add_missing(to, field, Status::unsupported, "this nvidia-smi has no such column");
    return;
  }
  const Text<64> word(cell.text);
  add_missing(to, field, code, {"nvidia-smi prints \"", word.view(), "\"", advice_of(code)},
              reason_of(cell));
}

void metrics_of(const GpuRow& row, std::vector<Metric>& out,
                FunctionRef<void(FieldSet, Status, const GpuCell&)> refused) {
  for (const NumberColumn& m : number_columns) {
    const auto id = static_cast<MetricId>(m.id);
    if (id == MetricId::unknown) continue;
    const GpuCell& cell = row.cells[m.from];
    const auto reported = number_of(cell.text, cell.unit, m.unit);
    if (!reported.value) {
      if (cell.is_asked && reported.why != Status::unsupported) {
        refused(missing_metric(id, m.instance), reported.why, cell);
      }
      continue;
    }
    const Source from = Source::nvidia_smi;
    out.push_back(m.is_count ? counted(from, id, m.instance, count_from(*reported.value))
                             : hmn::measured(from, id, m.instance, *reported.value));
  }
}

Result<Pool> pool_of(const GpuRow& row, std::vector<Missing>& gone) {
  Pool p;
  p.from = Source::nvidia_smi;
  p.accounting = Accounting::allocated;
  p.is_main = true;
  MemoryReader m{row, gone};
  p.total = m.take(GpuColumn::memory_total, pool_field::total);
  const bool is_unified = identity_of(row).memory_kind == MemoryKind::unified;
  const bool has_failed = !p.total && gone.front().code != Status::unsupported;
  if (has_failed || (!p.total && !is_unified)) return no_total(gone.front());
  if (is_unified) {
    p.kind = PoolKind::unified;
    p.total.reset();
    return p;
  }
  p.kind = PoolKind::vram;
  p.used = m.take(GpuColumn::memory_used, pool_field::used);
  p.free = m.take(GpuColumn::memory_free, pool_field::free);
  p.reserved = m.take(GpuColumn::memory_reserved, pool_field::reserved);
  check(p, gone);
  return p;
}

Telemetry telemetry_of(const GpuRow& row, FieldSet fields, std::vector<Missing>& gone) {
  Telemetry t;
  t.from = Source::nvidia_smi;
  t.sources = 1ULL << static_cast<unsigned>(Source::nvidia_smi);
  const auto check = [&](FieldSet field, Status why, const GpuCell& cell) {
    if (why != Status::ok) add_missing(gone, field, why, cell);
  };
  for (const NumberColumn& c : number_columns) {
    const GpuCell& cell = row.cells[c.from];
    if ((fields & c.telemetry) != 0) check(c.telemetry, take(cell, c, t), cell);
  }
  if ((fields & bit::p_state) != 0) {
    const GpuCell& cell = row[GpuColumn::p_state];
    const auto state = p_state_of(cell.text);
    t.p_state = state.value;
    check(bit::p_state, state.why, cell);
  }
  if ((fields & bit::throttle) != 0) {
    const GpuCell& cell = row[GpuColumn::throttle];
    const auto reasons = hexadecimal_of(cell.text);
    if (reasons.value) t.throttle = nvidia::throttle_bits(*reasons.value);
    const bool is_refused = reasons.value && !t.throttle;
    check(bit::throttle, is_refused ? Status::backend : reasons.why, cell);
  }
  if ((fields & never_in_table) != 0) {
    add_missing(gone, fields & never_in_table, Status::unsupported,
                "nvidia-smi's table has no such column");
  }
  return t;
}

namespace {

Measured<std::uint64_t> memory_cell(const GpuRow& row, GpuColumn c) {
  return bytes_of(row[c].text, row[c].unit);
}

// An integrated GPU has no total, or that of the RAM which firmware sets aside for it. Others may
// lack a total as well. ATS: the host's memory is addressed, and own memory is a NUMA node of the
// host.
MemoryKind memory_kind_of(const GpuRow& row, bool is_integrated) {
  if (is_integrated) return MemoryKind::unified;
  const auto total = memory_cell(row, GpuColumn::memory_total);
  const bool translates = row.known(GpuColumn::addressing_mode) == "ATS";
  if (!row[GpuColumn::memory_total].is_asked) return MemoryKind::unknown;
  if (total.value.value_or(0) != 0) {
    return translates ? MemoryKind::coherent : MemoryKind::dedicated;
  }
  const bool has_none = total.value == 0 || total.why == Status::unsupported;
  return has_none && translates ? MemoryKind::unified : MemoryKind::unknown;
}

DeviceForm form_of(MemoryKind k) {
  switch (k) {
    case MemoryKind::dedicated:
    case MemoryKind::coherent:
      return DeviceForm::discrete;
    case MemoryKind::unified:
      return DeviceForm::integrated;
    case MemoryKind::unknown:
      break;
  }
  return DeviceForm::unknown;
}

State state_of(const GpuRow& row) {
  State worst = State::ready;
  for (const GpuCell& cell : row.cells) {
    const Status s = cell.is_asked ? status_of_cell(cell.text) : Status::ok;
    if (s == Status::device_lost) return State::lost;
    const bool is_error = s == Status::backend || s == Status::permission || s == Status::timeout;
    if (is_error) worst = State::unreadable;
  }
  return worst;
}

// Parses "0x233510DE": device and vendor.
std::optional<std::uint32_t> pci_device_of(const GpuRow& row) {
  const auto id = hexadecimal_of(row[GpuColumn::pci_device].text);
  if (!id.value || *id.value > 0xFFFFFFFF || (*id.value & 0xFFFF) != vendor::nvidia) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(*id.value >> 16);
}

std::optional<std::uint32_t> pci_subsystem_of(const GpuRow& row) {
  const auto id = hexadecimal_of(row[GpuColumn::pci_subsystem].text);
  if (!id.value || *id.value > 0xFFFFFFFF) return std::nullopt;
  return static_cast<std::uint32_t>(*id.value);
}

// Parses "8.9".
void read_compute_capability(const GpuRow& row, Device& out) {
  std::string_view rest = row.known(GpuColumn::compute_capability);
  const auto major = scan::number<std::uint16_t>(scan::take_until(rest, '.'));
  const auto minor = scan::number<std::uint16_t>(rest);
  if (!major || !minor) return;
  out.compute_capability_major = *major;
  out.compute_capability_minor = *minor;
}

}  // namespace

Device identity_of(const GpuRow& row) {
  Device d;
  d.from = Source::nvidia_smi;
  d.vendor = vendor::nvidia;
  d.state = state_of(row);
  d.driver_index = scan::number<std::uint32_t>(row[GpuColumn::index].text);
  d.pci_device = pci_device_of(row);
  d.pci_subsystem = pci_subsystem_of(row);
  read_compute_capability(row, d);
  d.name.assign(row.known(GpuColumn::name));
  d.memory_kind = memory_kind_of(row, pci::is_integrated_nvidia(d));
  d.form = form_of(d.memory_kind);
  d.uuid.assign(row.known(GpuColumn::uuid));
  d.pci_bus_id = normal_pci_address(row[GpuColumn::pci_bus_id].text);
  d.driver_version.assign(row.known(GpuColumn::driver_version));
  if (d.name.was_cut() || d.uuid.was_cut() || d.driver_version.was_cut())
    d.notes |= note::truncated;
  return d;
}

bool is_mig_on(const GpuRow& row) {
  return row.known(GpuColumn::mig_mode) == "Enabled";
}

}  // namespace hmn::nvidia_smi
