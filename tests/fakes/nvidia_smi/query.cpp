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

std::string trimmed(std::string text) {
  const auto first = text.find_first_not_of(' ');
  const auto last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from <= list.size();) {
    const auto comma = std::min(list.find(',', from), list.size());
    out.push_back(trimmed(list.substr(from, comma - from)));
    from = comma + 1;
  }
  return out;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void take_format(const std::string& list, Arguments& out) {
  const auto parts = parts_of(list);
  out.csv = contains(parts, "csv");
  out.header = !contains(parts, "noheader");
  out.units = !contains(parts, "nounits");
}

// "--id=0" and "-i 0": the value belongs to the option or is the next word.
bool take_option(const std::string& name, const std::string& value, Arguments& out) {
  if (name == "--query-gpu" || name == "--query-compute-apps") {
    out.what = name == "--query-gpu" ? Arguments::gpus : Arguments::apps;
    out.fields = parts_of(value);
  } else if (name == "--format") {
    take_format(value, out);
  } else if (name == "--id" || name == "-i") {
    out.ids = parts_of(value);
  } else {
    return false;
  }
  return true;
}

std::string timestamp() {
  using namespace std::chrono;
  const auto now = system_clock::now();
  const auto seconds = system_clock::to_time_t(now);
  const auto rest = duration_cast<milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[64];
  const auto length = std::strftime(text, sizeof text, "%Y/%m/%d %H:%M:%S", &local);
  std::snprintf(text + length, sizeof text - length, ".%03d", static_cast<int>(rest));
  return text;
}

std::string spelt(const json& cell, std::string_view unit, bool with_unit) {
  if (cell.is_string()) return cell.get<std::string>();
  char text[64];
  if (cell.is_number_float() || unit == "W")
    std::snprintf(text, sizeof text, "%.2f", cell.get<double>());
  else
    std::snprintf(text, sizeof text, "%lld", cell.get<long long>());
  std::string out = text;
  if (with_unit && !unit.empty()) out.append(" ").append(unit);
  return out;
}

std::string unit_in(const Scenario& scene, const std::string& field) {
  const auto it = scene.units.find(field);
  return it == scene.units.end() ? std::string(unit_of(field)) : it->second;
}

const json* cell_of(const Cells& row, const std::string& name) {
  const auto it = row.find(name);
  return it == row.end() ? nullptr : &it->second;
}

std::string gpu_cell(const Scenario& scene, std::size_t index, const std::string& field,
                     bool with_unit) {
  if (const json* cell = cell_of(scene.gpus[index].fields, field))
    return spelt(*cell, unit_in(scene, field), with_unit);
  if (field == "index") return std::to_string(index);
  if (field == "count") return std::to_string(scene.gpus.size());
  if (field == "timestamp") return timestamp();
  return scene.absent;
}

std::string app_cell(const Scenario& scene, std::size_t index, const Cells& app,
                     const std::string& field, bool with_unit) {
  if (const json* cell = cell_of(app, field)) return spelt(*cell, unit_in(scene, field), with_unit);
  if (field == "timestamp") return timestamp();
  if (field.starts_with("gpu_"))
    return gpu_cell(scene, index, std::string(canonical_gpu_field(field)), with_unit);
  return scene.absent;
}

std::string line_of(const std::vector<std::string>& values) {
  std::string out;
  for (const auto& one : values) out.append(out.empty() ? "" : ", ").append(one);
  return out + "\n";
}

std::string header_line(const Scenario& scene, const std::vector<std::string>& fields) {
  std::vector<std::string> names;
  for (const auto& one : fields) {
    const auto unit = unit_in(scene, one);
    names.push_back(unit.empty() ? one : one + " [" + unit + "]");
  }
  return line_of(names);
}

bool is_called(const Scenario& scene, std::size_t index, const std::string& id) {
  const auto& fields = scene.gpus[index].fields;
  for (const char* name : {"uuid", "pci.bus_id", "serial"})
    if (const json* cell = cell_of(fields, name); cell && *cell == id) return true;
  return gpu_cell(scene, index, "index", false) == id;
}

std::vector<std::size_t> chosen_gpus(const Scenario& scene, const Arguments& asked) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < scene.gpus.size(); ++i) {
    const auto matches = [&](const std::string& id) { return is_called(scene, i, id); };
    if (asked.ids.empty() || std::any_of(asked.ids.begin(), asked.ids.end(), matches))
      out.push_back(i);
  }
  return out;
}

std::string rows(const Scenario& scene, const Arguments& asked, std::size_t index,
                 const std::vector<std::string>& fields) {
  std::string out;
  std::vector<std::string> values;
  if (asked.what == Arguments::gpus) {
    for (const auto& one : fields) values.push_back(gpu_cell(scene, index, one, asked.units));
    return line_of(values);
  }
  for (const auto& app : scene.gpus[index].apps) {
    values.clear();
    for (const auto& one : fields) values.push_back(app_cell(scene, index, app, one, asked.units));
    out += line_of(values);
  }
  return out;
}

}  // namespace

Arguments arguments_from(const std::vector<std::string>& words) {
  Arguments out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out.joined.append(i ? " " : "").append(words[i]);
    const auto equals = words[i].find('=');
    const auto name = words[i].substr(0, equals);
    const bool attached = equals != std::string::npos;
    const bool last = !attached && i + 1 == words.size();
    const auto value = attached ? words[i].substr(equals + 1) : last ? "" : words[i + 1];
    if (!take_option(name, value, out))
      out.refusal =
          "ERROR: Option " + name + " is not recognized. Please run 'nvidia-smi -h' for help.\n\n";
    else if (last)
      out.refusal = "ERROR: Option " + name +
                    " is missing its value. Please run 'nvidia-smi -h' for help.\n\n";
    else if (!attached)
      out.joined.append(" ").append(words[++i]);
  }
  return out;
}

Output answer(const Scenario& scene, const Arguments& asked) {
  if (const auto raw = scene.raw.find(asked.joined); raw != scene.raw.end())
    return {raw->second, 0};
  if (scene.fails) return {scene.fails->text, scene.fails->exit_code};
  if (!asked.refusal.empty()) return {asked.refusal, exit_other};
  if (asked.what == Arguments::none || !asked.csv)
    return {"Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\n",
            exit_other};

  const bool gpus = asked.what == Arguments::gpus;
  const auto& raw = gpus ? scene.raw_query_gpu : scene.raw_query_compute_apps;
  if (raw) return {*raw, 0};

  std::vector<std::string> fields;
  for (const auto& one : asked.fields) {
    fields.emplace_back(gpus ? canonical_gpu_field(one) : canonical_app_field(one));
    const auto& known = gpus ? scene.known_fields : scene.known_app_fields;
    if (!contains(known, fields.back()) && !contains(known, one))
      return {"Field \"" + one + "\" is not a valid field to query.\n\n", exit_invalid};
  }
  const auto chosen = chosen_gpus(scene, asked);
  if (chosen.empty()) return {"No devices were found\n", exit_not_found};
  std::string text = asked.header ? header_line(scene, fields) : "";
  for (const auto index : chosen) text += rows(scene, asked, index, fields);
  return {text, 0};
}

}  // namespace fake_smi
