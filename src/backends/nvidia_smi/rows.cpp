// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/rows.hpp"

#include "model/compose.hpp"
#include "model/pci_address.hpp"
#include "model/scan.hpp"
#include "model/text.hpp"

namespace hmn::nvidia_smi {
namespace {

constexpr std::string_view free_gpu_texts = "name gpu_name";
constexpr std::string_view free_app_texts = "process_name name gpu_name";

// Index of each known column in this table; the first spelling wins.
std::vector<std::optional<std::size_t>> places(const table& t, std::string_view columns) {
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
bool take_pid(std::string_view cell, app_row& row) {
  row.why_none = status_of_cell(cell);
  if (row.why_none != status::ok) return row.why_none != status::empty;
  row.pid = scan::number<std::uint32_t>(cell).value_or(0);
  return row.pid != 0;
}

void take_name(std::string_view cell, app_row& row) {
  const status s = status_of_cell(cell);
  if (s == status::permission) row.name_state = name_state::protected_process;
  // "?" and "[Not Found]": unknown to the tool, possibly known to the host.
  if (s != status::ok || cell == "?") return;
  append_utf8(row.name, program_of(cell));
  if (!row.name.empty()) row.name_state = name_state::resolved;
}

}  // namespace

std::string_view gpu_row::known(gpu_column c) const {
  const gpu_cell& cell = (*this)[c];
  return status_of_cell(cell.text) == status::ok ? std::string_view(cell.text) : std::string_view();
}

answer<gpu_row> parse_gpus(std::string_view text, bool cut) {
  const table t = parse_table(whole_lines(text, cut), gpu_spellings(), free_gpu_texts, most_gpus);
  const auto at = places(t, gpu_spellings());
  answer<gpu_row> out;
  out.is_table = !t.columns.empty();
  out.strays = t.strays;
  out.is_truncated = t.is_truncated;
  const auto name_at = at[static_cast<std::size_t>(gpu_column::name)];
  const auto bus_at = at[static_cast<std::size_t>(gpu_column::pci_bus_id)];
  for (const auto& cells : t.rows) {
    // With commas in the name, the cells after it may be those of other columns.
    const bool is_joined = name_at && cells[*name_at].find(',') != std::string_view::npos;
    if (is_joined && bus_at && status_of_cell(cells[*bus_at]) == status::ok &&
        normal_pci_address(cells[*bus_at]).empty()) {
      out.strays.add(written(cells));
      continue;
    }
    gpu_row& row = out.rows.emplace_back();
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (at[i]) row.cells[i] = {true, utf8(cells[*at[i]]), utf8(t.columns[*at[i]].unit)};
    }
  }
  return out;
}

answer<app_row> parse_apps(std::string_view text, bool cut) {
  const table t = parse_table(whole_lines(text, cut), app_spellings(), free_app_texts, most_apps);
  const auto at = places(t, app_spellings());
  const auto place = [&](app_column c) { return at[static_cast<std::size_t>(c)]; };
  answer<app_row> out;
  // The name is requested last: a header without it is a part of one.
  out.is_table = place(app_column::pid) && place(app_column::used) && place(app_column::name);
  out.strays = t.strays;
  out.is_truncated = t.is_truncated;
  if (!out.is_table) {
    if (!t.columns.empty()) out.strays.add(t.columns.front().name);
    return out;
  }
  const std::string_view unit = t.columns[*place(app_column::used)].unit;
  for (const auto& cells : t.rows) {
    std::array<std::string_view, static_cast<std::size_t>(app_column::count)> found;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (at[i]) found[i] = cells[*at[i]];
    }
    const auto cell = [&](app_column c) { return found[static_cast<std::size_t>(c)]; };
    app_row row;
    row.gpu_uuid = utf8(cell(app_column::gpu_uuid));
    row.gpu_bus_id = normal_pci_address(cell(app_column::gpu_bus_id));
    if (!take_pid(cell(app_column::pid), row)) {
      out.strays.add(written(cells));
      continue;
    }
    row.used = bytes_of(cell(app_column::used), unit);
    take_name(cell(app_column::name), row);
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

}  // namespace hmn::nvidia_smi
