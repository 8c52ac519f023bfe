// SPDX-License-Identifier: MIT OR Apache-2.0
#include "scenario.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "fields.hpp"

namespace fake_smi {
namespace {

using fakes::Object;
using fakes::parse_text;
using fakes::read_bool_or;
using fakes::read_text_or;
using fakes::refuse;

unsigned long long read_count_or(Object& object, const std::string& key,
                                 unsigned long long fallback) {
  const json* value = object.find(key);
  if (!value) return fallback;
  if (!value->is_number_unsigned()) refuse(object.locate(key), "not a number");
  return value->get<unsigned long long>();
}

unsigned read_small_or(Object& object, const std::string& key, unsigned fallback) {
  return static_cast<unsigned>(read_count_or(object, key, fallback));
}

std::string parse_hex(const std::string& hex) {
  std::istringstream stream(hex);
  std::string out;
  unsigned byte = 0;
  while (stream >> std::hex >> byte) out.push_back(static_cast<char>(byte));
  return out;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A string, {"hex": "ff 00"} or {"file": "name beside the executable, or a path"}.
std::string parse_bytes(const json& value, const std::string& location, const std::string& folder) {
  if (value.is_string()) return value.get<std::string>();
  Object object(value, location);
  std::string out;
  if (const json* hex = object.find("hex")) out = parse_hex(parse_text(*hex, object.locate("hex")));
  if (const json* file = object.find("file")) {
    const auto path = parse_text(*file, object.locate("file"));
    out = read_file(path.starts_with('/') ? path : folder + "/" + path);
  }
  object.finish();
  return out;
}

std::vector<std::string> read_names_or(Object& object, const std::string& key,
                                       const std::vector<std::string>& fallback) {
  const json* value = object.find(key);
  if (!value) return fallback;
  std::vector<std::string> out;
  for (const auto& name : *value) out.push_back(parse_text(name, object.locate(key)));
  return out;
}

Cells parse_cells(const json& value, const std::string& location) {
  if (!value.is_object()) refuse(location, "not an object");
  Cells out;
  for (const auto& [name, cell] : value.items()) {
    if (!cell.is_number() && !cell.is_string()) refuse(location + "." + name, "not text or number");
    out[name] = cell;
  }
  return out;
}

Gpu parse_gpu(const json& value, const std::string& location) {
  Object object(value, location);
  Gpu out;
  if (const json* fields = object.find("fields"))
    out.fields = parse_cells(*fields, object.locate("fields"));
  if (const json* apps = object.find("compute_apps"))
    for (const auto& app : *apps)
      out.apps.push_back(parse_cells(app, object.locate("compute_apps")));
  object.finish();
  return out;
}

Failure parse_failure(const json& value, const std::string& location) {
  Object object(value, location);
  Failure out;
  out.text = read_text_or(object, "text", "");
  out.exit_code = static_cast<int>(read_small_or(object, "exit_code", 255));
  const auto stream = read_text_or(object, "stream", "stdout");
  if (stream != "stdout" && stream != "stderr")
    refuse(object.locate("stream"), "not stdout or stderr");
  out.uses_stderr = stream == "stderr";
  object.finish();
  return out;
}

Behaviour parse_behaviour(const json& value, const std::string& location) {
  Object object(value, location);
  Behaviour out;
  out.delay_ms = read_small_or(object, "delay_ms", 0);
  out.drip_ms = read_small_or(object, "drip_ms", 0);
  out.long_line_bytes = read_count_or(object, "long_line_bytes", 0);
  out.orphan_holds_stdout_ms = read_small_or(object, "orphan_holds_stdout_ms", 0);
  out.dies_by_signal = static_cast<int>(read_small_or(object, "dies_by_signal", 0));
  out.hang = read_bool_or(object, "hang", false);
  out.hang_after_output = read_bool_or(object, "hang_after_output", false);
  out.close_stdout_and_hang = read_bool_or(object, "close_stdout_and_hang", false);
  out.ignore_sigterm = read_bool_or(object, "ignore_sigterm", false);
  out.endless = read_text_or(object, "endless", "");
  object.finish();
  return out;
}

json select_invocation(json root, unsigned invocation) {
  const auto sequence = root.find("sequence");
  if (sequence == root.end() || sequence->empty()) return root;
  const auto last = sequence->size() - 1;
  const json patch = (*sequence)[std::min<std::size_t>(invocation, last)];
  root.erase("sequence");
  root.merge_patch(patch);
  return root;
}

void read_raw(Object& object, const std::string& folder, Scenario& out) {
  if (const json* raw = object.find("raw_query_gpu"))
    out.raw_query_gpu = parse_bytes(*raw, object.locate("raw_query_gpu"), folder);
  if (const json* raw = object.find("raw_query_compute_apps"))
    out.raw_query_compute_apps = parse_bytes(*raw, object.locate("raw_query_compute_apps"), folder);
  const json* raw = object.find("raw");
  if (!raw) return;
  for (const auto& [arguments, text] : raw->items())
    out.raw[arguments] = parse_bytes(text, object.locate("raw"), folder);
}

}  // namespace

Scenario parse_scenario(const std::string& text, const std::string& folder, unsigned invocation) {
  const auto root = select_invocation(json::parse(text, nullptr, true, true), invocation);
  Object object(root, "scenario");
  Scenario out;
  if (const json* gpus = object.find("gpus"))
    for (std::size_t i = 0; i < gpus->size(); ++i)
      out.gpus.push_back(parse_gpu((*gpus)[i], object.locate("gpus[" + std::to_string(i) + "]")));
  out.known_fields = read_names_or(object, "known_fields", gpu_fields());
  out.known_app_fields = read_names_or(object, "known_app_fields", app_fields());
  if (const json* units = object.find("units"))
    for (const auto& [name, unit] : units->items())
      out.units[name] = parse_text(unit, object.locate("units"));
  out.absent = read_text_or(object, "absent", out.absent);
  if (const json* value = object.find("failure"))
    out.failure = parse_failure(*value, object.locate("failure"));
  if (const json* value = object.find("behaviour"))
    out.behaviour = parse_behaviour(*value, object.locate("behaviour"));
  if (const json* value = object.find("exit_code")) out.exit_code = value->get<int>();
  out.stderr_text = read_text_or(object, "stderr", "");
  read_raw(object, folder, out);
  object.finish();
  return out;
}

}  // namespace fake_smi
