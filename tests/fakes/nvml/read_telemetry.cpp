// SPDX-License-Identifier: MIT OR Apache-2.0
#include "reader.hpp"

namespace fake_nvml {
namespace {

Utilization parse_utilization(const json& value, const std::string& location) {
  Object object(value, location);
  const Utilization out{read_unsigned_or(object, "gpu", 0), read_unsigned_or(object, "memory", 0)};
  object.finish();
  return out;
}

EngineUse parse_engine(const json& value, const std::string& location) {
  if (!value.is_object()) return {parse_unsigned(value, location), 1000000};
  Object object(value, location);
  const EngineUse out{read_unsigned_or(object, "percent", 0),
                      read_unsigned_or(object, "period_us", 1000000)};
  object.finish();
  return out;
}

std::vector<unsigned> parse_fans(const json& value, const std::string& location) {
  if (!value.is_array()) return {parse_unsigned(value, location)};
  std::vector<unsigned> out;
  for (const auto& fan : value) out.push_back(parse_unsigned(fan, location));
  return out;
}

EccMode parse_mode(const json& value, const std::string& location) {
  Object object(value, location);
  const auto current = read_unsigned_or(object, "current", 0);
  const EccMode out{current, read_unsigned_or(object, "pending", current)};
  object.finish();
  return out;
}

RemappedRows parse_remapped(const json& value, const std::string& location) {
  Object object(value, location);
  const RemappedRows out{
      read_unsigned_or(object, "corrected", 0), read_unsigned_or(object, "uncorrected", 0),
      read_unsigned_or(object, "pending", 0), read_unsigned_or(object, "failed", 0)};
  object.finish();
  return out;
}

PowerRange parse_power_range(const json& value, const std::string& location) {
  Object object(value, location);
  const PowerRange out{read_unsigned_or(object, "min", 0), read_unsigned_or(object, "max", 0)};
  object.finish();
  return out;
}

void read_clocks(Object& object, const std::string& key, Answer<unsigned> (&out)[4]) {
  const json* value = object.find(key);
  if (!value) return;
  Object clocks(*value, object.locate(key));
  read_answer(clocks, "graphics", out[0]);
  read_answer(clocks, "sm", out[1]);
  read_answer(clocks, "memory", out[2]);
  read_answer(clocks, "video", out[3]);
  clocks.finish();
}

void read_pcie(Object& object, Device& out) {
  const json* value = object.find("pcie");
  if (!value) return;
  Object pcie(*value, object.locate("pcie"));
  read_answer(pcie, "gen", out.pcie_gen);
  read_answer(pcie, "width", out.pcie_width);
  read_answer(pcie, "max_gen", out.max_pcie_gen);
  read_answer(pcie, "max_width", out.max_pcie_width);
  read_answer(pcie, "tx_kib_s", out.pcie_throughput[0]);
  read_answer(pcie, "rx_kib_s", out.pcie_throughput[1]);
  read_answer(pcie, "replays", out.pcie_replays);
  pcie.finish();
}

void read_ecc_errors(Object& object, Device& out) {
  const json* value = object.find("ecc_errors");
  if (!value) return;
  Object errors(*value, object.locate("ecc_errors"));
  read_answer(errors, "corrected_volatile", out.ecc_errors[0][0]);
  read_answer(errors, "corrected_aggregate", out.ecc_errors[0][1]);
  read_answer(errors, "uncorrected_volatile", out.ecc_errors[1][0]);
  read_answer(errors, "uncorrected_aggregate", out.ecc_errors[1][1]);
  errors.finish();
}

void read_thresholds(Object& object, Device& out) {
  constexpr const char* names[8] = {"shutdown",         "slowdown",         "memory_max",
                                    "gpu_max",          "acoustic_minimum", "acoustic_now",
                                    "acoustic_maximum", "gps_now"};
  const json* value = object.find("temperature_thresholds");
  if (!value) return;
  Object limits(*value, object.locate("temperature_thresholds"));
  for (unsigned i = 0; i < 8; ++i) read_answer(limits, names[i], out.thresholds[i]);
  limits.finish();
}

unsigned find_type(const std::string& name, const std::string& location) {
  constexpr const char* names[] = {"double", "uint", "ulong", "ulonglong", "longlong", "int"};
  for (unsigned i = 0; i < std::size(names); ++i)
    if (name == names[i]) return i;
  refuse(location, "not a field's type");
}

Field parse_field(const json& value, const std::string& location) {
  Field out;
  if (const auto code = parse_error(value, location)) {
    out.result = *code;
  } else if (value.is_object()) {
    Object object(value, location);
    out.type = find_type(read_text_or(object, "type", "uint"), object.locate("type"));
    const json* number = object.find("value");
    if (!number || !number->is_number()) refuse(location, "a field without a value");
    out.real = number->get<double>();
    if (number->is_number_unsigned())
      out.bits = number->get<unsigned long long>();
    else
      out.bits = static_cast<unsigned long long>(static_cast<long long>(out.real));
    object.finish();
  } else {
    out.bits = parse_number(value, location);
    out.type = out.bits > 0xFFFFFFFFULL ? field_unsigned_long_long : field_unsigned_int;
  }
  return out;
}

void read_xids(Object& object, Device& out) {
  const json* value = object.find("xids");
  for (std::size_t i = 0; value && i < value->size(); ++i)
    out.xids.push_back(parse_number((*value)[i], object.locate("xids")));
}

void read_fields(Object& object, Device& out) {
  const json* value = object.find("fields");
  if (!value) return;
  Object fields(*value, object.locate("fields"));
  for (const auto& [id, field] : value->items())
    out.fields[parse_unsigned(id, fields.location())] = parse_field(field, fields.locate(id));
}

}  // namespace

void read_telemetry(Object& object, Device& out) {
  read_answer(object, "utilization", out.use, parse_utilization);
  read_answer(object, "encoder", out.encoder, parse_engine);
  read_answer(object, "decoder", out.decoder, parse_engine);
  read_answer(object, "jpeg", out.jpeg, parse_engine);
  read_answer(object, "ofa", out.ofa, parse_engine);
  read_answer(object, "temperature", out.temperature);
  read_answer(object, "power_usage_mw", out.power_usage);
  read_answer(object, "power_limit_mw", out.power_limit);
  read_answer(object, "enforced_power_limit_mw", out.enforced_power_limit);
  read_answer(object, "default_power_limit_mw", out.default_power_limit);
  read_answer(object, "power_limits_mw", out.power_limits, parse_power_range);
  read_answer(object, "energy_mj", out.energy);
  read_answer(object, "clocks_event_reasons", out.clocks_event_reasons);
  read_answer(object, "fans", out.fans, parse_fans);
  read_answer(object, "pstate", out.pstate);
  read_answer(object, "ecc", out.ecc, parse_mode);
  read_answer(object, "remapped_rows", out.remapped, parse_remapped);
  read_clocks(object, "clocks_mhz", out.clocks);
  read_clocks(object, "max_clocks_mhz", out.max_clocks);
  read_pcie(object, out);
  read_ecc_errors(object, out);
  read_thresholds(object, out);
  read_fields(object, out);
  read_answer(object, "event_types", out.event_types);
  read_xids(object, out);
}

}  // namespace fake_nvml
