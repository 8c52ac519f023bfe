// SPDX-License-Identifier: MIT OR Apache-2.0
#include <unistd.h>

#include <cstdlib>

#include "reader.hpp"

namespace fake_nvml {
namespace {

unsigned layout_from(Object& in, const std::string& key, unsigned fallback) {
  const auto bytes = small_or(in, key, fallback);
  if (bytes != sizeof(ProcessV1) && bytes != sizeof(ProcessV2) && bytes != sizeof(ProcessDetail))
    refuse(in.at(key), "a process row has 16, 24 or 32 bytes");
  return bytes;
}

void read_layouts(Object& in, Scenario& out) {
  const json* value = in.find("process_layout");
  if (!value) return;
  Object layouts(*value, in.at("process_layout"));
  out.layout[0] = layout_from(layouts, "v1", out.layout[0]);
  out.layout[1] = layout_from(layouts, "v2", out.layout[1]);
  out.layout[2] = layout_from(layouts, "v3", out.layout[2]);
  layouts.finish();
}

bool at_each_call(Object& in) {
  const auto when = text_or(in, "reread", "init");
  if (when != "init" && when != "call") refuse(in.at("reread"), "not init or call");
  return when == "call";
}

void read_devices(Object& in, Scenario& out) {
  const json* list = in.find("devices");
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    auto one = std::make_unique<Device>();
    one->index = static_cast<unsigned>(i);
    Object from((*list)[i], in.at("devices[" + std::to_string(i) + "]"));
    read_identity(from, *one);
    read_memory(from, *one);
    read_telemetry(from, *one);
    read_processes(from, *one);
    read_results(from, *one);
    read_mig(from, *one);
    from.finish();
    out.devices.push_back(std::move(one));
  }
  if (const json* count = in.find("device_count"))
    out.device_count = small_from(*count, in.at("device_count"));
}

void read_hang(Object& in, Rule& out) {
  const json* value = in.find("hang");
  if (!value) return;
  if (value->is_boolean()) {
    out.hang = value->get<bool>();
    return;
  }
  Object hang(*value, in.at("hang"));
  out.hang = true;
  out.hang_until = text_or(hang, "until_file", "");
  hang.finish();
}

Lie lie_from(const json& value, const std::string& place) {
  const auto text = text_from(value, place);
  if (text == "untouched") return Lie::untouched;
  if (text == "all_bits") return Lie::all_bits;
  if (text == "huge") return Lie::huge;
  if (text == "growing") return Lie::growing;
  if (text == "next_device") return Lie::next_device;
  refuse(place, "not a lie");
}

auto end_from(const json& value, const std::string& place) -> void (*)() {
  const auto text = text_from(value, place);
  if (text == "exit") return [] { std::exit(0); };
  if (text == "quick_exit") return [] { std::quick_exit(0); };
  if (text == "_exit") return [] { _exit(0); };
  refuse(place, "not an end");
}

std::unique_ptr<Rule> rule_from(const json& value, const std::string& place) {
  auto out = std::make_unique<Rule>();
  Object in(value, place);
  const json* pattern = in.find("call");
  if (!pattern) refuse(place, "a rule without a call");
  out->calls = calls_from(*pattern, in.at("call"));
  if (const json* index = in.find("device")) out->device = small_from(*index, in.at("device"));
  if (const json* slot = in.find("mig")) out->slot = small_from(*slot, in.at("mig"));
  if (const json* code = in.find("result")) out->result = status_from(*code, in.at("result"));
  out->from = number_or(in, "from", 1);
  out->times = number_or(in, "times", ~0ULL);
  out->delay_ms = small_or(in, "delay_ms", 0);
  out->holds_lock = truth_or(in, "holds_lock", false);
  out->until_init = truth_or(in, "until_init", false);
  out->prints = text_or(in, "prints", "");
  if (const json* how = in.find("ends")) out->ends = end_from(*how, in.at("ends"));
  if (const json* how = in.find("lie")) out->lie = lie_from(*how, in.at("lie"));
  read_hang(in, *out);
  in.finish();
  const bool speaks = out->lie != Lie::none || !out->prints.empty();
  if (!out->result && !out->hang && !out->delay_ms && !speaks && !out->ends)
    refuse(place, "a rule that does nothing");
  return out;
}

void read_rules(Object& in, Scenario& out) {
  const json* list = in.find("rules");
  for (std::size_t i = 0; list && i < list->size(); ++i)
    out.rules.push_back(rule_from((*list)[i], in.at("rules[" + std::to_string(i) + "]")));
  for (const auto& one : out.rules)
    for (const auto c : one->calls) out.rules_of[static_cast<unsigned>(c)].push_back(one.get());
}

}  // namespace

std::unique_ptr<Scenario> parse_scenario(const std::string& text) {
  const auto root = json::parse(text, nullptr, true, true);
  auto out = std::make_unique<Scenario>();
  Object in(root, "scenario");
  out->driver_version = text_or(in, "driver_version", "550.163.01");
  out->nvml_version = text_or(in, "nvml_version", "12." + out->driver_version);
  out->cuda_version = static_cast<int>(small_or(in, "cuda_version", 12040));
  if (const json* code = in.find("without_gpus"))
    out->without_gpus = status_from(*code, in.at("without_gpus"));
  out->reread_each_call = at_each_call(in);
  out->epoch = number_or(in, "epoch", 0);
  out->log = text_or(in, "log", "");
  read_layouts(in, *out);
  read_devices(in, *out);
  read_rules(in, *out);
  in.finish();
  return out;
}

std::unique_ptr<Scenario> absent_driver() {
  return parse_scenario(R"({"rules": [{"call": "nvmlInit*", "result": "DRIVER_NOT_LOADED"}]})");
}

}  // namespace fake_nvml
