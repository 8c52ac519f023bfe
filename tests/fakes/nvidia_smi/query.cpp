// SPDX-License-Identifier: MIT OR Apache-2.0
#include "query.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "fields.hpp"

namespace fake_smi {
namespace {

constexpr int exit_invalid = 2, exit_not_found = 6, exit_other = 255;

std::string trim(std::string text) {
  const auto first = text.find_first_not_of(' ');
  const auto last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t position = 0; position <= list.size();) {
    const auto comma = std::min(list.find(',', position), list.size());
    out.push_back(trim(list.substr(position, comma - position)));
    position = comma + 1;
  }
  return out;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void parse_format(const std::string& list, Arguments& out) {
  const auto parts = split_list(list);
  out.csv = contains(parts, "csv");
  out.header = !contains(parts, "noheader");
  out.units = !contains(parts, "nounits");
}

// "--id=0" and "-i 0": the value belongs to the option or is the next word.
bool parse_option(const std::string& name, const std::string& value, Arguments& out) {
  if (name == "--query-gpu" || name == "--query-compute-apps") {
    out.query = name == "--query-gpu" ? Arguments::gpus : Arguments::apps;
    out.fields = split_list(value);
  } else if (name == "--format") {
    parse_format(value, out);
  } else if (name == "--id" || name == "-i") {
    out.ids = split_list(value);
  } else {
    return false;
  }
  return true;
}

std::string timestamp() {
  using namespace std::chrono;
  const auto now = system_clock::now();
  const auto seconds = system_clock::to_time_t(now);
  const auto fraction = duration_cast<milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[64];
  const auto length = std::strftime(text, sizeof text, "%Y/%m/%d %H:%M:%S", &local);
  std::snprintf(text + length, sizeof text - length, ".%03d", static_cast<int>(fraction));
  return text;
}

std::string format_cell(const json& cell, std::string_view unit, bool show_unit) {
  if (cell.is_string()) return cell.get<std::string>();
  char text[64];
  if (cell.is_number_float() || unit == "W")
    std::snprintf(text, sizeof text, "%.2f", cell.get<double>());
  else
    std::snprintf(text, sizeof text, "%lld", cell.get<long long>());
  std::string out = text;
  if (show_unit && !unit.empty()) out.append(" ").append(unit);
  return out;
}

std::string find_unit(const Scenario& scene, const std::string& field) {
  const auto it = scene.units.find(field);
  return it == scene.units.end() ? std::string(column_unit(field)) : it->second;
}

const json* find_cell(const Cells& row, const std::string& name) {
  const auto it = row.find(name);
  return it == row.end() ? nullptr : &it->second;
}

std::string format_gpu_cell(const Scenario& scene, std::size_t index, const std::string& field,
                            bool show_unit) {
  if (const json* cell = find_cell(scene.gpus[index].fields, field))
    return format_cell(*cell, find_unit(scene, field), show_unit);
  if (field == "index") return std::to_string(index);
  if (field == "count") return std::to_string(scene.gpus.size());
  if (field == "timestamp") return timestamp();
  return scene.absent;
}

std::string format_app_cell(const Scenario& scene, std::size_t index, const Cells& app,
                            const std::string& field, bool show_unit) {
  if (const json* cell = find_cell(app, field))
    return format_cell(*cell, find_unit(scene, field), show_unit);
  if (field == "timestamp") return timestamp();
  if (field.starts_with("gpu_"))
    return format_gpu_cell(scene, index, std::string(canonical_gpu_field(field)), show_unit);
  return scene.absent;
}

std::string join_line(const std::vector<std::string>& values) {
  std::string out;
  for (const auto& value : values) out.append(out.empty() ? "" : ", ").append(value);
  return out + "\n";
}

std::string format_header(const Scenario& scene, const std::vector<std::string>& fields) {
  std::vector<std::string> names;
  for (const auto& field : fields) {
    const auto unit = find_unit(scene, field);
    names.push_back(unit.empty() ? field : field + " [" + unit + "]");
  }
  return join_line(names);
}

bool has_id(const Scenario& scene, std::size_t index, const std::string& id) {
  const auto& fields = scene.gpus[index].fields;
  for (const char* name : {"uuid", "pci.bus_id", "serial"})
    if (const json* cell = find_cell(fields, name); cell && *cell == id) return true;
  return format_gpu_cell(scene, index, "index", false) == id;
}

std::vector<std::size_t> select_gpus(const Scenario& scene, const Arguments& arguments) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < scene.gpus.size(); ++i) {
    const auto matches = [&](const std::string& id) { return has_id(scene, i, id); };
    if (arguments.ids.empty() || std::any_of(arguments.ids.begin(), arguments.ids.end(), matches))
      out.push_back(i);
  }
  return out;
}

std::string format_rows(const Scenario& scene, const Arguments& arguments, std::size_t index,
                        const std::vector<std::string>& fields) {
  std::string out;
  std::vector<std::string> values;
  if (arguments.query == Arguments::gpus) {
    for (const auto& field : fields)
      values.push_back(format_gpu_cell(scene, index, field, arguments.units));
    return join_line(values);
  }
  for (const auto& app : scene.gpus[index].apps) {
    values.clear();
    for (const auto& field : fields)
      values.push_back(format_app_cell(scene, index, app, field, arguments.units));
    out += join_line(values);
  }
  return out;
}

}  // namespace

Arguments parse_arguments(const std::vector<std::string>& words) {
  Arguments out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out.joined.append(i ? " " : "").append(words[i]);
    const auto equals = words[i].find('=');
    const auto name = words[i].substr(0, equals);
    const bool has_value = equals != std::string::npos;
    const bool last = !has_value && i + 1 == words.size();
    const auto value = has_value ? words[i].substr(equals + 1) : last ? "" : words[i + 1];
    if (!parse_option(name, value, out))
      out.refusal =
          "ERROR: Option " + name + " is not recognized. Please run 'nvidia-smi -h' for help.\n\n";
    else if (last)
      out.refusal = "ERROR: Option " + name +
                    " is missing its value. Please run 'nvidia-smi -h' for help.\n\n";
    else if (!has_value)
      out.joined.append(" ").append(words[++i]);
  }
  return out;
}

Output answer(const Scenario& scene, const Arguments& arguments) {
  if (const auto raw = scene.raw.find(arguments.joined); raw != scene.raw.end())
    return {raw->second, 0};
  if (scene.failure) return {scene.failure->text, scene.failure->exit_code};
  if (!arguments.refusal.empty()) return {arguments.refusal, exit_other};
  if (arguments.query == Arguments::none || !arguments.csv)
    return {"Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\n",
            exit_other};

  const bool is_gpu_query = arguments.query == Arguments::gpus;
  const auto& raw = is_gpu_query ? scene.raw_query_gpu : scene.raw_query_compute_apps;
  if (raw) return {*raw, 0};

  std::vector<std::string> fields;
  for (const auto& field : arguments.fields) {
    fields.emplace_back(is_gpu_query ? canonical_gpu_field(field) : canonical_app_field(field));
    const auto& known_fields = is_gpu_query ? scene.known_fields : scene.known_app_fields;
    if (!contains(known_fields, fields.back()) && !contains(known_fields, field))
      return {"Field \"" + field + "\" is not a valid field to query.\n\n", exit_invalid};
  }
  const auto indexes = select_gpus(scene, arguments);
  if (indexes.empty()) return {"No devices were found\n", exit_not_found};
  std::string text = arguments.header ? format_header(scene, fields) : "";
  for (const auto index : indexes) text += format_rows(scene, arguments, index, fields);
  return {text, 0};
}

}  // namespace fake_smi
