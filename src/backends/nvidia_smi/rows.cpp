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
std::vector<std::optional<std::size_t>> find_columns(const Table& table, std::string_view columns) {
  std::vector<std::optional<std::size_t>> indexes;
  while (!columns.empty()) indexes.push_back(table.find_first(scan::take_line(columns)));
  return indexes;
}

std::string join_cells(const std::vector<std::string_view>& cells) {
  std::string out;
  for (const std::string_view cell : cells) out += compose({out.empty() ? "" : ", ", cell});
  return out;
}

std::string_view keep_whole_lines(std::string_view text, bool cut) {
  return cut ? text.substr(0, text.rfind('\n') + 1) : text;  // npos + 1 is 0
}

std::string to_utf8(std::string_view bytes) {
  std::string valid;
  append_utf8(valid, bytes);
  return valid;
}

bool is_windows_path(std::string_view path) {
  return path.size() > 2 && path[1] == ':' && path[2] == '\\';
}

// Old drivers print "[Not Supported]" in every column for a GPU whose processes they cannot list.
bool read_pid(std::string_view cell, AppRow& row) {
  row.list_status = parse_status(cell);
  if (row.list_status != Status::ok) return row.list_status != Status::empty;
  row.pid = scan::parse_number<std::uint32_t>(cell).value_or(0);
  return row.pid != 0;
}

void read_name(std::string_view cell, AppRow& row) {
  const Status status = parse_status(cell);
  if (status == Status::permission) row.name_state = NameState::protected_process;
  // "?" and "[Not Found]": unknown to the tool, possibly known to the host.
  if (status != Status::ok || cell == "?") return;
  append_utf8(row.name, extract_program(cell));
  if (!row.name.empty()) row.name_state = NameState::resolved;
}

}  // namespace

std::string_view GpuRow::value_or_empty(GpuColumn column) const {
  const GpuCell& cell = (*this)[column];
  return parse_status(cell.text) == Status::ok ? std::string_view(cell.text) : std::string_view();
}

Answer<GpuRow> parse_gpus(std::string_view text, bool cut) {
  const Table table =
      parse_table(keep_whole_lines(text, cut), gpu_spellings(), free_gpu_texts, max_gpus);
  const auto indexes = find_columns(table, gpu_spellings());
  Answer<GpuRow> answer;
  answer.is_table = !table.columns.empty();
  answer.strays = table.strays;
  answer.is_truncated = table.is_truncated;
  const auto name_index = indexes[static_cast<std::size_t>(GpuColumn::name)];
  const auto bus_index = indexes[static_cast<std::size_t>(GpuColumn::pci_bus_id)];
  for (const auto& cells : table.rows) {
    // If a name has commas, the cells after it may be those of other columns.
    const bool is_joined = name_index && cells[*name_index].find(',') != std::string_view::npos;
    if (is_joined && bus_index && parse_status(cells[*bus_index]) == Status::ok &&
        normalize_pci_address(cells[*bus_index]).empty()) {
      answer.strays.add(join_cells(cells));
      continue;
    }
    GpuRow& row = answer.rows.emplace_back();
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      if (indexes[i])
        row.cells[i] = {true, to_utf8(cells[*indexes[i]]),
                        to_utf8(table.columns[*indexes[i]].unit)};
    }
  }
  return answer;
}

Answer<AppRow> parse_apps(std::string_view text, bool cut) {
  const Table table =
      parse_table(keep_whole_lines(text, cut), app_spellings(), free_app_texts, max_apps);
  const auto indexes = find_columns(table, app_spellings());
  const auto column_index = [&](AppColumn column) {
    return indexes[static_cast<std::size_t>(column)];
  };
  Answer<AppRow> answer;
  // The name is requested last: a header without it is incomplete.
  answer.is_table = column_index(AppColumn::pid) && column_index(AppColumn::used) &&
                    column_index(AppColumn::name);
  answer.strays = table.strays;
  answer.is_truncated = table.is_truncated;
  if (!answer.is_table) {
    if (!table.columns.empty()) answer.strays.add(table.columns.front().name);
    return answer;
  }
  const std::string_view unit = table.columns[*column_index(AppColumn::used)].unit;
  for (const auto& cells : table.rows) {
    std::array<std::string_view, static_cast<std::size_t>(AppColumn::count)> values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (indexes[i]) values[i] = cells[*indexes[i]];
    }
    const auto cell = [&](AppColumn column) { return values[static_cast<std::size_t>(column)]; };
    AppRow row;
    const std::string_view uuid = cell(AppColumn::gpu_uuid);
    if (parse_status(uuid) == Status::ok) row.gpu_uuid = to_utf8(uuid);
    row.gpu_bus_id = normalize_pci_address(cell(AppColumn::gpu_bus_id));
    if (!read_pid(cell(AppColumn::pid), row)) {
      answer.strays.add(join_cells(cells));
      continue;
    }
    row.used = parse_bytes(cell(AppColumn::used), unit);
    read_name(cell(AppColumn::name), row);
    answer.rows.push_back(std::move(row));
  }
  return answer;
}

std::string_view extract_program(std::string_view process_name) noexcept {
  std::string_view name = scan::trim(process_name);
  if (is_windows_path(name)) return name.substr(name.find_last_of("\\/") + 1);
  // Some programs overwrite argv[0] with their whole command line.
  if (name.starts_with('/')) name = name.substr(0, name.find(" -"));
  return name.substr(name.rfind('/') + 1);  // npos + 1 is 0
}

namespace {

std::string_view get_advice(Status code) {
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
Reason derive_reason(const GpuCell& cell) {
  const std::string_view text = scan::trim(cell.text);
  if (text.empty()) return Reason::not_understood;
  if (parse_status(text) != Status::ok || text.front() == '[') return Reason::unknown;
  const bool is_digits = text.find_first_not_of("0123456789", text.front() == '-') == text.npos;
  const bool is_impossible = is_digits && (text.front() == '-' || text.size() > 10);
  return is_impossible ? Reason::implausible : Reason::not_understood;
}

namespace bit = telemetry_field;

constexpr std::uint64_t mebibyte = 1ULL << 20;

struct MemoryReader {
  const GpuRow& row;
  std::vector<MissingFields>& gaps;

  std::optional<std::uint64_t> read(GpuColumn column, FieldSet bit) {
    const auto bytes = parse_bytes(row[column].text, row[column].unit);
    if (!bytes.value) add_missing(gaps, bit, bytes.status, row[column]);
    return bytes.value;
  }
};

// Checks total = reserved + free + used, each rounded to a MiB.
bool adds_up(const Pool& pool, std::uint64_t reserved) {
  const auto occupied = scan::checked_add(reserved, *pool.used);
  const auto sum = occupied ? scan::checked_add(*occupied, *pool.free) : std::nullopt;
  return sum && std::max(*sum, *pool.total) - std::min(*sum, *pool.total) <= 2 * mebibyte;
}

// Free and used may make up the total without the reserved part; otherwise nothing shows which is
// true.
void check_sizes(Pool& pool, std::vector<MissingFields>& gaps) {
  if (!pool.reserved || !pool.free || !pool.used || adds_up(pool, *pool.reserved)) return;
  FieldSet doubtful = pool_field::reserved;
  if (!adds_up(pool, 0)) doubtful |= pool_field::free | pool_field::used;
  clear_fields(doubtful, pool);
  add_missing(gaps, doubtful, Status::backend,
              "nvidia-smi's reserved, free and used memory do not add up to the total",
              Reason::implausible);
}

Failure make_no_total_failure(const MissingFields& gap) {
  return {gap.code, Source::nvidia_smi, {}, {"memory.total: ", gap.message.view()}, gap.reason};
}

// Metric of a column's number, and its telemetry field.
struct NumberColumn {
  constexpr NumberColumn(GpuColumn table_column, MetricId metric, std::uint32_t metric_instance,
                         std::string_view unit_name, std::uint32_t presence_bit = 0,
                         bool counter = false)
      : column(static_cast<std::uint8_t>(table_column)),
        id(static_cast<std::uint8_t>(metric)),
        instance(static_cast<std::uint8_t>(metric_instance)),
        is_count(counter),
        unit(unit_name),
        telemetry(presence_bit) {}
  std::uint8_t column, id, instance;
  bool is_count;
  std::string_view unit;
  std::uint32_t telemetry;  // presence bit; 0: none
};

using Col = GpuColumn;
constexpr NumberColumn number_columns[] = {
    {Col::gpu_busy, MetricId::engine_percent, metric_instance::engine::unknown, "%",
     bit::gpu_busy_percent},
    {Col::memory_busy, MetricId::engine_percent, metric_instance::engine::memory, "%",
     bit::memory_busy_percent},
    {Col::encoder_busy, MetricId::engine_percent, metric_instance::engine::encode, "%",
     bit::encoder_busy_percent},
    {Col::decoder_busy, MetricId::engine_percent, metric_instance::engine::decode, "%",
     bit::decoder_busy_percent},
    {Col::temperature, MetricId::temperature, metric_instance::sensor::core, "",
     bit::temperature_celsius},
    {Col::memory_temperature, MetricId::temperature, metric_instance::sensor::memory, "",
     bit::memory_celsius},
    {Col::power, MetricId::power_watts, metric_instance::power_reading::unknown, "W",
     bit::power_watts},
    {Col::power_limit, MetricId::power_limit_watts, metric_instance::power_limit::current, "W",
     bit::power_limit_watts},
    {Col::power_default, MetricId::power_limit_watts, metric_instance::power_limit::default_limit,
     "W"},
    {Col::power_min, MetricId::power_limit_watts, metric_instance::power_limit::min, "W"},
    {Col::power_max, MetricId::power_limit_watts, metric_instance::power_limit::max, "W"},
    {Col::core_clock, MetricId::clock_mhz, metric_instance::clock::core, "MHz",
     bit::core_clock_mhz},
    {Col::sm_clock, MetricId::clock_mhz, metric_instance::clock::sm, "MHz"},
    {Col::memory_clock, MetricId::clock_mhz, metric_instance::clock::memory, "MHz",
     bit::memory_clock_mhz},
    {Col::video_clock, MetricId::clock_mhz, metric_instance::clock::video, "MHz"},
    {Col::core_clock_limit, MetricId::clock_limit_mhz, metric_instance::clock::core, "MHz"},
    {Col::memory_clock_limit, MetricId::clock_limit_mhz, metric_instance::clock::memory, "MHz"},
    {Col::fan, MetricId::fan_percent, 1, "%", bit::fan_percent},
    {Col::pcie_generation, MetricId::unknown, 0, "", bit::pcie_generation},
    {Col::pcie_width, MetricId::unknown, 0, "", bit::pcie_width},
    {Col::ecc_corrected, MetricId::ecc_corrected, metric_instance::era::since_load, "", 0, true},
    {Col::ecc_corrected_lifetime, MetricId::ecc_corrected, metric_instance::era::lifetime, "", 0,
     true},
    {Col::ecc_uncorrected, MetricId::ecc_uncorrected, metric_instance::era::since_load, "", 0,
     true},
    {Col::ecc_uncorrected_lifetime, MetricId::ecc_uncorrected, metric_instance::era::lifetime, "",
     0, true},
};

// Returns why the cell has no number.
Status set_number(const GpuCell& cell, const NumberColumn& column, Telemetry& telemetry) {
  const Field& field = find_field(record_fields<Telemetry>(), column.telemetry);
  if (field.type == FieldType::real) {
    const auto value = parse_number(cell.text, cell.unit, column.unit);
    if (value.value) field.set(&telemetry, *value.value);
    return value.status;
  }
  const auto count = parse_count(cell.text, cell.unit, column.unit);
  if (count.value) field.set(&telemetry, *count.value);
  return count.status;
}

// A value out of range becomes the type's maximum, which the check of every value rejects.
std::uint64_t to_count(double value) {
  return value < 0x1p64 ? static_cast<std::uint64_t>(value) : UINT64_MAX;
}

}  // namespace

void add_missing(std::vector<MissingFields>& gaps, FieldSet field, Status code,
                 const GpuCell& cell) {
  if (!cell.is_present) {
    add_missing(gaps, field, Status::unsupported, "this nvidia-smi has no such column");
    return;
  }
  const Text<64> word(cell.text);
  add_missing(gaps, field, code, {"nvidia-smi prints \"", word.view(), "\"", get_advice(code)},
              derive_reason(cell));
}

void append_metrics(const GpuRow& row, std::vector<Metric>& metrics,
                    FunctionRef<void(FieldSet, Status, const GpuCell&)> on_error) {
  for (const NumberColumn& column : number_columns) {
    const auto id = static_cast<MetricId>(column.id);
    if (id == MetricId::unknown) continue;
    const GpuCell& cell = row.cells[column.column];
    const auto value = parse_number(cell.text, cell.unit, column.unit);
    if (!value.value) {
      if (cell.is_present && value.status != Status::unsupported) {
        on_error(missing_metric(id, column.instance), value.status, cell);
      }
      continue;
    }
    const Source source = Source::nvidia_smi;
    metrics.push_back(column.is_count
                          ? make_count_metric(source, id, column.instance, to_count(*value.value))
                          : hmn::make_value_metric(source, id, column.instance, *value.value));
  }
}

Result<Pool> read_pool(const GpuRow& row, std::vector<MissingFields>& gaps) {
  Pool pool;
  pool.source = Source::nvidia_smi;
  pool.accounting = Accounting::allocated;
  pool.is_main = true;
  MemoryReader reader{row, gaps};
  pool.total = reader.read(GpuColumn::memory_total, pool_field::total);
  const bool is_unified = read_identity(row).memory_kind == MemoryKind::unified;
  const bool has_failed = !pool.total && gaps.front().code != Status::unsupported;
  if (has_failed || (!pool.total && !is_unified)) return make_no_total_failure(gaps.front());
  if (is_unified) {
    pool.kind = PoolKind::unified;
    pool.total.reset();
    return pool;
  }
  pool.kind = PoolKind::vram;
  pool.used = reader.read(GpuColumn::memory_used, pool_field::used);
  pool.free = reader.read(GpuColumn::memory_free, pool_field::free);
  pool.reserved = reader.read(GpuColumn::memory_reserved, pool_field::reserved);
  check_sizes(pool, gaps);
  return pool;
}

Telemetry read_telemetry(const GpuRow& row, FieldSet fields, std::vector<MissingFields>& gaps) {
  Telemetry telemetry;
  telemetry.source = Source::nvidia_smi;
  telemetry.sources = 1ULL << static_cast<unsigned>(Source::nvidia_smi);
  const auto check_cell = [&](FieldSet field, Status status, const GpuCell& cell) {
    if (status != Status::ok) add_missing(gaps, field, status, cell);
  };
  for (const NumberColumn& column : number_columns) {
    const GpuCell& cell = row.cells[column.column];
    if ((fields & column.telemetry) != 0)
      check_cell(column.telemetry, set_number(cell, column, telemetry), cell);
  }
  if ((fields & bit::p_state) != 0) {
    const GpuCell& cell = row[GpuColumn::p_state];
    const auto state = parse_p_state(cell.text);
    telemetry.p_state = state.value;
    check_cell(bit::p_state, state.status, cell);
  }
  if ((fields & bit::throttle) != 0) {
    const GpuCell& cell = row[GpuColumn::throttle];
    const auto reasons = parse_hexadecimal(cell.text);
    if (reasons.value) telemetry.throttle = nvidia::convert_throttle(*reasons.value);
    const bool is_refused = reasons.value && !telemetry.throttle;
    check_cell(bit::throttle, is_refused ? Status::backend : reasons.status, cell);
  }
  if ((fields & fields_without_column) != 0) {
    add_missing(gaps, fields & fields_without_column, Status::unsupported,
                "nvidia-smi's table has no such column");
  }
  return telemetry;
}

namespace {

CellValue<std::uint64_t> read_bytes(const GpuRow& row, GpuColumn column) {
  return parse_bytes(row[column].text, row[column].unit);
}

// An integrated GPU has no total, or that of the RAM which firmware sets aside for it. Others may
// lack a total as well. ATS: the host's memory is addressed, and own memory is a NUMA node of the
// host.
MemoryKind derive_memory_kind(const GpuRow& row, bool is_integrated) {
  if (is_integrated) return MemoryKind::unified;
  const auto total = read_bytes(row, GpuColumn::memory_total);
  const bool translates_addresses = row.value_or_empty(GpuColumn::addressing_mode) == "ATS";
  if (!row[GpuColumn::memory_total].is_present) return MemoryKind::unknown;
  if (total.value.value_or(0) != 0) {
    return translates_addresses ? MemoryKind::coherent : MemoryKind::dedicated;
  }
  const bool has_none = total.value == 0 || total.status == Status::unsupported;
  return has_none && translates_addresses ? MemoryKind::unified : MemoryKind::unknown;
}

DeviceForm derive_form(MemoryKind kind) {
  switch (kind) {
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

State derive_state(const GpuRow& row) {
  State worst = State::ready;
  for (const GpuCell& cell : row.cells) {
    const Status status = cell.is_present ? parse_status(cell.text) : Status::ok;
    if (status == Status::device_lost) return State::lost;
    const bool is_error =
        status == Status::backend || status == Status::permission || status == Status::timeout;
    if (is_error) worst = State::unreadable;
  }
  return worst;
}

// Parses "0x233510DE": device and vendor.
std::optional<std::uint32_t> read_pci_device(const GpuRow& row) {
  const auto id = parse_hexadecimal(row[GpuColumn::pci_device].text);
  if (!id.value || *id.value > 0xFFFFFFFF || (*id.value & 0xFFFF) != vendor::nvidia) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(*id.value >> 16);
}

std::optional<std::uint32_t> read_pci_subsystem(const GpuRow& row) {
  const auto id = parse_hexadecimal(row[GpuColumn::pci_subsystem].text);
  if (!id.value || *id.value > 0xFFFFFFFF) return std::nullopt;
  return static_cast<std::uint32_t>(*id.value);
}

// Parses "8.9".
void read_compute_capability(const GpuRow& row, Device& device) {
  std::string_view rest = row.value_or_empty(GpuColumn::compute_capability);
  const auto major = scan::parse_number<std::uint16_t>(scan::take_until(rest, '.'));
  const auto minor = scan::parse_number<std::uint16_t>(rest);
  if (!major || !minor) return;
  device.compute_capability_major = *major;
  device.compute_capability_minor = *minor;
}

}  // namespace

Device read_identity(const GpuRow& row) {
  Device device;
  device.source = Source::nvidia_smi;
  device.vendor = vendor::nvidia;
  device.state = derive_state(row);
  device.driver_index = scan::parse_number<std::uint32_t>(row[GpuColumn::index].text);
  device.pci_device = read_pci_device(row);
  device.pci_subsystem = read_pci_subsystem(row);
  read_compute_capability(row, device);
  device.name.assign(row.value_or_empty(GpuColumn::name));
  device.memory_kind = derive_memory_kind(row, pci::is_integrated_nvidia(device));
  device.form = derive_form(device.memory_kind);
  device.uuid.assign(row.value_or_empty(GpuColumn::uuid));
  device.pci_bus_id = normalize_pci_address(row[GpuColumn::pci_bus_id].text);
  device.driver_version.assign(row.value_or_empty(GpuColumn::driver_version));
  if (device.name.was_cut() || device.uuid.was_cut() || device.driver_version.was_cut())
    device.notes |= note::truncated;
  return device;
}

bool is_mig_on(const GpuRow& row) {
  return row.value_or_empty(GpuColumn::mig_mode) == "Enabled";
}

}  // namespace hmn::nvidia_smi
