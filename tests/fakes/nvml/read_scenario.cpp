// SPDX-License-Identifier: MIT OR Apache-2.0
#include <unistd.h>

#include <cstdlib>

#include "reader.hpp"

namespace fake_nvml {
namespace {

unsigned parse_layout(Object& object, const std::string& key, unsigned fallback) {
  const auto bytes = read_unsigned_or(object, key, fallback);
  if (bytes != sizeof(ProcessV1) && bytes != sizeof(ProcessV2) && bytes != sizeof(ProcessDetail))
    refuse(object.locate(key), "a process row has 16, 24 or 32 bytes");
  return bytes;
}

void read_layouts(Object& object, Scenario& out) {
  const json* value = object.find("process_layout");
  if (!value) return;
  Object layouts(*value, object.locate("process_layout"));
  out.layout[0] = parse_layout(layouts, "v1", out.layout[0]);
  out.layout[1] = parse_layout(layouts, "v2", out.layout[1]);
  out.layout[2] = parse_layout(layouts, "v3", out.layout[2]);
  layouts.finish();
}

bool is_reread_each_call(Object& object) {
  const auto reread = read_text_or(object, "reread", "init");
  if (reread != "init" && reread != "call") refuse(object.locate("reread"), "not init or call");
  return reread == "call";
}

void read_devices(Object& object, Scenario& out) {
  const json* list = object.find("devices");
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    auto device = std::make_unique<Device>();
    device->index = static_cast<unsigned>(i);
    Object fields((*list)[i], object.locate("devices[" + std::to_string(i) + "]"));
    read_identity(fields, *device);
    read_memory(fields, *device);
    read_telemetry(fields, *device);
    read_processes(fields, *device);
    read_results(fields, *device);
    read_mig(fields, *device);
    fields.finish();
    out.devices.push_back(std::move(device));
  }
  if (const json* count = object.find("device_count"))
    out.device_count = parse_unsigned(*count, object.locate("device_count"));
}

void read_hang(Object& object, Rule& out) {
  const json* value = object.find("hang");
  if (!value) return;
  if (value->is_boolean()) {
    out.hang = value->get<bool>();
    return;
  }
  Object hang(*value, object.locate("hang"));
  out.hang = true;
  out.hang_until = read_text_or(hang, "until_file", "");
  hang.finish();
}

Lie parse_lie(const json& value, const std::string& location) {
  const auto text = parse_text(value, location);
  if (text == "untouched") return Lie::untouched;
  if (text == "all_bits") return Lie::all_bits;
  if (text == "huge") return Lie::huge;
  if (text == "growing") return Lie::growing;
  if (text == "next_device") return Lie::next_device;
  refuse(location, "not a lie");
}

auto parse_end(const json& value, const std::string& location) -> void (*)() {
  const auto text = parse_text(value, location);
  if (text == "exit") return [] { std::exit(0); };
  if (text == "quick_exit") return [] { std::quick_exit(0); };
  if (text == "_exit") return [] { _exit(0); };
  refuse(location, "not an end");
}

std::unique_ptr<Rule> parse_rule(const json& value, const std::string& location) {
  auto out = std::make_unique<Rule>();
  Object object(value, location);
  const json* pattern = object.find("call");
  if (!pattern) refuse(location, "a rule without a call");
  out->calls = parse_calls(*pattern, object.locate("call"));
  if (const json* index = object.find("device"))
    out->device = parse_unsigned(*index, object.locate("device"));
  if (const json* slot = object.find("mig"))
    out->slot = parse_unsigned(*slot, object.locate("mig"));
  if (const json* code = object.find("result"))
    out->result = parse_status(*code, object.locate("result"));
  out->first_call = read_number_or(object, "from", 1);
  out->call_count_limit = read_number_or(object, "times", ~0ULL);
  out->delay_ms = read_unsigned_or(object, "delay_ms", 0);
  out->holds_lock = read_bool_or(object, "holds_lock", false);
  out->until_init = read_bool_or(object, "until_init", false);
  out->prints = read_text_or(object, "prints", "");
  if (const json* end = object.find("ends"))
    out->end_program = parse_end(*end, object.locate("ends"));
  if (const json* lie = object.find("lie")) out->lie = parse_lie(*lie, object.locate("lie"));
  read_hang(object, *out);
  object.finish();
  const bool has_effect = out->lie != Lie::none || !out->prints.empty();
  if (!out->result && !out->hang && !out->delay_ms && !has_effect && !out->end_program)
    refuse(location, "a rule that does nothing");
  return out;
}

void read_rules(Object& object, Scenario& out) {
  const json* list = object.find("rules");
  for (std::size_t i = 0; list && i < list->size(); ++i)
    out.rules.push_back(parse_rule((*list)[i], object.locate("rules[" + std::to_string(i) + "]")));
  for (const auto& rule : out.rules)
    for (const auto function : rule->calls)
      out.rules_by_function[static_cast<unsigned>(function)].push_back(rule.get());
}

}  // namespace

std::unique_ptr<Scenario> parse_scenario(const std::string& text) {
  const auto root = json::parse(text, nullptr, true, true);
  auto out = std::make_unique<Scenario>();
  Object object(root, "scenario");
  out->driver_version = read_text_or(object, "driver_version", "550.163.01");
  out->nvml_version = read_text_or(object, "nvml_version", "12." + out->driver_version);
  out->cuda_version = static_cast<int>(read_unsigned_or(object, "cuda_version", 12040));
  if (const json* code = object.find("without_gpus"))
    out->without_gpus = parse_status(*code, object.locate("without_gpus"));
  out->reread_each_call = is_reread_each_call(object);
  out->epoch = read_number_or(object, "epoch", 0);
  out->log = read_text_or(object, "log", "");
  read_layouts(object, *out);
  read_devices(object, *out);
  read_rules(object, *out);
  object.finish();
  return out;
}

std::unique_ptr<Scenario> absent_driver() {
  return parse_scenario(R"({"rules": [{"call": "nvmlInit*", "result": "DRIVER_NOT_LOADED"}]})");
}

}  // namespace fake_nvml
