// SPDX-License-Identifier: MIT OR Apache-2.0
#include "scenario.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "fields.hpp"

namespace fake_smi {
namespace {

using fakes::Object;
using fakes::refuse;
using fakes::text_from;
using fakes::text_or;
using fakes::truth_or;

unsigned long long count_or(Object& in, const std::string& key, unsigned long long fallback) {
  const json* value = in.find(key);
  if (!value) return fallback;
  if (!value->is_number_unsigned()) refuse(in.at(key), "not a number");
  return value->get<unsigned long long>();
}

unsigned small_or(Object& in, const std::string& key, unsigned fallback) {
  return static_cast<unsigned>(count_or(in, key, fallback));
}

std::string bytes_from_hex(const std::string& hex) {
  std::istringstream in(hex);
  std::string out;
  unsigned byte = 0;
  while (in >> std::hex >> byte) out.push_back(static_cast<char>(byte));
  return out;
}

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A string, {"hex": "ff 00"} or {"file": "name beside the executable, or a path"}.
std::string bytes_from(const json& value, const std::string& place, const std::string& folder) {
  if (value.is_string()) return value.get<std::string>();
  Object in(value, place);
  std::string out;
  if (const json* hex = in.find("hex")) out = bytes_from_hex(text_from(*hex, in.at("hex")));
  if (const json* file = in.find("file")) {
    const auto path = text_from(*file, in.at("file"));
    out = file_text(path.starts_with('/') ? path : folder + "/" + path);
  }
  in.finish();
  return out;
}

std::vector<std::string> names_or(Object& in, const std::string& key,
                                  const std::vector<std::string>& fallback) {
  const json* value = in.find(key);
  if (!value) return fallback;
  std::vector<std::string> out;
  for (const auto& one : *value) out.push_back(text_from(one, in.at(key)));
  return out;
}

Cells cells_from(const json& value, const std::string& place) {
  if (!value.is_object()) refuse(place, "not an object");
  Cells out;
  for (const auto& [name, cell] : value.items()) {
    if (!cell.is_number() && !cell.is_string()) refuse(place + "." + name, "not text or number");
    out[name] = cell;
  }
  return out;
}

Gpu gpu_from(const json& value, const std::string& place) {
  Object in(value, place);
  Gpu out;
  if (const json* fields = in.find("fields")) out.fields = cells_from(*fields, in.at("fields"));
  if (const json* apps = in.find("compute_apps"))
    for (const auto& one : *apps) out.apps.push_back(cells_from(one, in.at("compute_apps")));
  in.finish();
  return out;
}

Failure failure_from(const json& value, const std::string& place) {
  Object in(value, place);
  Failure out;
  out.text = text_or(in, "text", "");
  out.exit_code = static_cast<int>(small_or(in, "exit_code", 255));
  const auto stream = text_or(in, "stream", "stdout");
  if (stream != "stdout" && stream != "stderr") refuse(in.at("stream"), "not stdout or stderr");
  out.on_stderr = stream == "stderr";
  in.finish();
  return out;
}

Behaviour behaviour_from(const json& value, const std::string& place) {
  Object in(value, place);
  Behaviour out;
  out.delay_ms = small_or(in, "delay_ms", 0);
  out.drip_ms = small_or(in, "drip_ms", 0);
  out.long_line_bytes = count_or(in, "long_line_bytes", 0);
  out.orphan_holds_stdout_ms = small_or(in, "orphan_holds_stdout_ms", 0);
  out.dies_by_signal = static_cast<int>(small_or(in, "dies_by_signal", 0));
  out.hang = truth_or(in, "hang", false);
  out.hang_after_output = truth_or(in, "hang_after_output", false);
  out.close_stdout_and_hang = truth_or(in, "close_stdout_and_hang", false);
  out.ignore_sigterm = truth_or(in, "ignore_sigterm", false);
  out.endless = text_or(in, "endless", "");
  in.finish();
  return out;
}

json chosen(json root, unsigned invocation) {
  const auto sequence = root.find("sequence");
  if (sequence == root.end() || sequence->empty()) return root;
  const auto last = sequence->size() - 1;
  const json patch = (*sequence)[std::min<std::size_t>(invocation, last)];
  root.erase("sequence");
  root.merge_patch(patch);
  return root;
}

void read_raw(Object& in, const std::string& folder, Scenario& out) {
  if (const json* raw = in.find("raw_query_gpu"))
    out.raw_query_gpu = bytes_from(*raw, in.at("raw_query_gpu"), folder);
  if (const json* raw = in.find("raw_query_compute_apps"))
    out.raw_query_compute_apps = bytes_from(*raw, in.at("raw_query_compute_apps"), folder);
  const json* raw = in.find("raw");
  if (!raw) return;
  for (const auto& [arguments, text] : raw->items())
    out.raw[arguments] = bytes_from(text, in.at("raw"), folder);
}

}  // namespace

Scenario scenario_from(const std::string& text, const std::string& folder, unsigned invocation) {
  const auto root = chosen(json::parse(text, nullptr, true, true), invocation);
  Object in(root, "scenario");
  Scenario out;
  if (const json* gpus = in.find("gpus"))
    for (std::size_t i = 0; i < gpus->size(); ++i)
      out.gpus.push_back(gpu_from((*gpus)[i], in.at("gpus[" + std::to_string(i) + "]")));
  out.known_fields = names_or(in, "known_fields", gpu_fields());
  out.known_app_fields = names_or(in, "known_app_fields", app_fields());
  if (const json* units = in.find("units"))
    for (const auto& [name, unit] : units->items())
      out.units[name] = text_from(unit, in.at("units"));
  out.absent = text_or(in, "absent", out.absent);
  if (const json* value = in.find("failure")) out.fails = failure_from(*value, in.at("failure"));
  if (const json* value = in.find("behaviour"))
    out.acts = behaviour_from(*value, in.at("behaviour"));
  if (const json* value = in.find("exit_code")) out.exit_code = value->get<int>();
  out.to_stderr = text_or(in, "stderr", "");
  read_raw(in, folder, out);
  in.finish();
  return out;
}

}  // namespace fake_smi
