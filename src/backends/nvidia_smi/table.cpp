// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/table.hpp"

#include <algorithm>
#include <charconv>

#include "model/character.hpp"
#include "model/scan.hpp"

namespace hmn::nvidia_smi {
namespace {

struct Spelling {
  std::string_view text;  // lower case
  Status status;
};

constexpr Spelling known_spellings[] = {
    {"n/a", Status::unsupported},
    {"not supported", Status::unsupported},
    {"not available", Status::unsupported},
    {"not found", Status::unsupported},
    {"requested functionality has been deprecated", Status::unsupported},
    {"function not found", Status::unsupported},
    {"no data", Status::empty},
    {"insufficient permissions", Status::permission},
    {"insufficient permission", Status::permission},
    {"no permission", Status::permission},
    {"gpu is lost", Status::device_lost},
    {"gpu requires reset", Status::backend},
    {"unknown error", Status::backend},
    {"error", Status::backend},
    {"err!", Status::backend},
    {"timeout", Status::timeout},
};

struct Amount {
  std::string_view number;
  std::string_view unit;
};

// Splits "8192 MiB" or "8192"; a unit that contradicts the header leaves no number.
Amount split_amount(std::string_view cell, std::string_view header_unit) {
  const std::string_view number = scan::take_word(cell);
  const std::string_view unit = scan::trim(cell);
  if (unit.empty()) return {number, header_unit};
  if (!header_unit.empty() && unit != header_unit) return {{}, unit};
  return {number, unit};
}

std::optional<std::uint64_t> find_factor(std::string_view unit) {
  if (unit == "B") return 1;
  if (unit == "KiB") return 1ULL << 10;
  if (unit == "MiB") return 1ULL << 20;
  if (unit == "GiB") return 1ULL << 30;
  return std::nullopt;
}

// Rejects "inf", "nan", "-1" and "1e9", which from_chars alone would accept.
std::optional<double> parse_decimal(std::string_view text) {
  if (text.empty() || !is_digit(text.front()) || !is_digit(text.back())) return std::nullopt;
  if (text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  double value = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result result =
      std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

// Drops what was read from a cell that has no value.
template <class T>
CellValue<T> require_value(std::string_view cell, std::optional<T> value) {
  const Status status = parse_status(cell);
  if (status != Status::ok) return {std::nullopt, status};
  return {value, value ? Status::ok : Status::backend};
}

}  // namespace

Status parse_status(std::string_view cell) noexcept {
  cell = scan::trim(cell);
  if (cell.empty()) return Status::empty;
  const bool bracketed = cell.size() >= 2 && cell.front() == '[' && cell.back() == ']';
  const std::string_view word = bracketed ? cell.substr(1, cell.size() - 2) : cell;
  for (const Spelling& spelling : known_spellings) {
    if (equal_ignoring_case(word, spelling.text)) return spelling.status;
  }
  return bracketed ? Status::backend : Status::ok;
}

CellValue<std::uint64_t> parse_bytes(std::string_view cell, std::string_view header_unit) noexcept {
  const Amount amount = split_amount(cell, header_unit);
  const auto factor = find_factor(amount.unit);
  const auto count = scan::parse_number(amount.number);
  return require_value(cell,
                       factor && count ? scan::checked_multiply(*count, *factor) : std::nullopt);
}

CellValue<double> parse_number(std::string_view cell, std::string_view header_unit,
                               std::string_view expected_unit) noexcept {
  const Amount amount = split_amount(cell, header_unit);
  return require_value(cell,
                       amount.unit == expected_unit ? parse_decimal(amount.number) : std::nullopt);
}

CellValue<std::uint32_t> parse_count(std::string_view cell, std::string_view header_unit,
                                     std::string_view expected_unit) noexcept {
  const Amount amount = split_amount(cell, header_unit);
  return require_value(cell, amount.unit == expected_unit
                                 ? scan::parse_number<std::uint32_t>(amount.number)
                                 : std::nullopt);
}

CellValue<std::uint64_t> parse_hexadecimal(std::string_view cell) noexcept {
  const std::string_view text = scan::trim(cell);
  const bool has_prefix = text.starts_with("0x") || text.starts_with("0X");
  return require_value(cell, has_prefix ? scan::parse_number(text.substr(2), 16) : std::nullopt);
}

CellValue<std::uint32_t> parse_p_state(std::string_view cell) noexcept {
  const std::string_view text = scan::trim(cell);
  auto state =
      text.starts_with('P') ? scan::parse_number<std::uint32_t>(text.substr(1)) : std::nullopt;
  if (state > 15U) state.reset();
  return require_value(cell, state);
}

namespace {

// Lines in the order of GpuColumn.
constexpr std::string_view gpu_columns =
    "index\n"
    "uuid gpu_uuid\n"
    "name gpu_name\n"
    "pci.bus_id gpu_bus_id\n"
    "pci.device_id\n"
    "pci.sub_device_id\n"
    "driver_version\n"
    "compute_cap\n"
    "mig.mode.current\n"
    "addressing_mode\n"
    "memory.total\n"
    "memory.used\n"
    "memory.free\n"
    "memory.reserved\n"
    "utilization.gpu\n"
    "utilization.memory\n"
    "utilization.encoder\n"
    "utilization.decoder\n"
    "temperature.gpu\n"
    "temperature.memory\n"
    "power.draw\n"
    "enforced.power.limit power.limit\n"
    "clocks.current.graphics clocks.gr\n"
    "clocks.current.memory clocks.mem\n"
    "fan.speed\n"
    "pcie.link.gen.current pcie.link.gen.gpucurrent\n"
    "pcie.link.width.current\n"
    "pstate\n"
    "clocks_event_reasons.active clocks_throttle_reasons.active\n"  // renamed in 535
    "clocks.current.sm\n"
    "clocks.current.video\n"
    "clocks.max.graphics\n"
    "clocks.max.memory\n"
    "power.default_limit\n"
    "power.min_limit\n"
    "power.max_limit\n"
    "ecc.errors.corrected.volatile.total\n"
    "ecc.errors.corrected.aggregate.total\n"
    "ecc.errors.uncorrected.volatile.total\n"
    "ecc.errors.uncorrected.aggregate.total\n";
static_assert(std::ranges::count(gpu_columns, '\n') == static_cast<int>(GpuColumn::count));

// Lines in the order of AppColumn; the name comes last, since it may contain commas.
constexpr std::string_view app_columns =
    "gpu_uuid\n"
    "gpu_bus_id\n"
    "pid\n"
    "used_gpu_memory used_memory\n"
    "process_name name\n";
static_assert(std::ranges::count(app_columns, '\n') == static_cast<int>(AppColumn::count));

}  // namespace

std::string_view gpu_spellings() noexcept {
  return gpu_columns;
}
std::string_view app_spellings() noexcept {
  return app_columns;
}

ColumnChoice::ColumnChoice(std::string_view columns) : columns_(columns) {
  reset();
}

std::string ColumnChoice::list() const {
  std::string names;
  for (std::string_view spellings : remaining_) {
    const std::string_view name = scan::take_word(spellings);
    if (name.empty()) continue;
    if (!names.empty()) names += ',';
    names += name;
  }
  return names;
}

bool ColumnChoice::reject(std::string_view name) {
  if (name.empty()) return false;
  for (std::string_view& spellings : remaining_) {
    std::string_view rest = spellings;
    if (scan::take_word(rest) != name) continue;
    spellings = rest;
    return true;
  }
  return false;
}

void ColumnChoice::reset() {
  remaining_.clear();
  for (std::string_view rest = columns_; !rest.empty();)
    remaining_.push_back(scan::take_line(rest));
}

bool ColumnChoice::is_rejected(std::size_t column) const {
  return remaining_[column].empty();
}

namespace {

bool is_name_character(char c) {
  return is_letter_or_digit(c) || c == '.' || c == '_';
}

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_name_character);
}

// Parses "memory.total [MiB]".
std::optional<Column> parse_column(std::string_view cell) {
  std::string_view rest = scan::trim(cell);
  const std::string_view name = scan::take_word(rest);
  std::string_view unit = scan::trim(rest);
  if (!is_name(name)) return std::nullopt;
  if (unit.empty()) return Column{name, {}};
  if (unit.size() < 3 || unit.front() != '[' || unit.back() != ']') return std::nullopt;
  return Column{name, unit.substr(1, unit.size() - 2)};
}

std::vector<std::string_view> split_cells(std::string_view line) {
  std::vector<std::string_view> parts;
  parts.reserve(static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) + 1);
  while (true) {
    const std::size_t comma = line.find(',');
    parts.push_back(scan::trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    line.remove_prefix(comma + 1);
  }
}

// Joins the parts of the free text at `index`, which was split at commas.
void join_surplus(std::vector<std::string_view>& parts, std::size_t count, std::size_t index) {
  const std::size_t surplus = parts.size() - count;
  const char* const begin = parts[index].data();
  const std::string_view last = parts[index + surplus];
  parts[index] = {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
  const auto next = parts.begin() + static_cast<std::ptrdiff_t>(index) + 1;
  parts.erase(next, next + static_cast<std::ptrdiff_t>(surplus));
}

void add_row(Table& table, std::string_view line, std::optional<std::size_t> free_index) {
  std::vector<std::string_view> parts = split_cells(line);
  const std::size_t count = table.columns.size();
  if (parts.size() > count && free_index) join_surplus(parts, count, *free_index);
  if (parts.size() == count) {
    table.rows.push_back(std::move(parts));
  } else {
    table.strays.add(line);
  }
}

// Reads the columns from a line whose cells are all column names, at least one of them known.
void read_header(Table& table, std::string_view line, std::string_view known_columns) {
  constexpr std::ptrdiff_t max_columns = 1024;
  if (std::count(line.begin(), line.end(), ',') >= max_columns) return;
  for (const std::string_view cell : split_cells(line)) {
    const auto column = parse_column(cell);
    if (!column || table.find(column->name)) return table.columns.clear();
    table.columns.push_back(*column);
  }
  while (!known_columns.empty()) {
    if (table.find_first(scan::take_line(known_columns))) return;
  }
  table.columns.clear();
}

}  // namespace

void StrayLines::add(std::string_view line) {
  constexpr std::size_t max_lines = 64;
  if (count_++ < max_lines) first_lines_.emplace_back(line);
}

std::optional<std::size_t> Table::find(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> Table::find_first(std::string_view names) const noexcept {
  std::optional<std::size_t> index;
  while (!index && !names.empty()) index = find(scan::take_word(names));
  return index;
}

Table parse_table(std::string_view text, std::string_view known_columns, std::string_view free_text,
                  std::size_t max_rows) {
  Table table;
  std::optional<std::size_t> free_index;
  while (!text.empty()) {
    const std::string_view line = scan::trim(scan::take_line(text));
    if (line.empty()) continue;
    if (table.columns.empty()) {
      read_header(table, line, known_columns);
      if (table.columns.empty()) table.strays.add(line);
      free_index = table.find_first(free_text);
      continue;
    }
    table.is_truncated = table.rows.size() == max_rows;
    if (table.is_truncated) break;
    add_row(table, line, free_index);
  }
  return table;
}

}  // namespace hmn::nvidia_smi
