// SPDX-License-Identifier: MIT OR Apache-2.0
#include "reader.hpp"

namespace fake_nvml {
namespace {

Utilization utilization_from(const json& value, const std::string& place) {
  Object in(value, place);
  const Utilization out{small_or(in, "gpu", 0), small_or(in, "memory", 0)};
  in.finish();
  return out;
}

EngineUse engine_from(const json& value, const std::string& place) {
  if (!value.is_object()) return {small_from(value, place), 1000000};
  Object in(value, place);
  const EngineUse out{small_or(in, "percent", 0), small_or(in, "period_us", 1000000)};
  in.finish();
  return out;
}

std::vector<unsigned> fans_from(const json& value, const std::string& place) {
  if (!value.is_array()) return {small_from(value, place)};
  std::vector<unsigned> out;
  for (const auto& one : value) out.push_back(small_from(one, place));
  return out;
}

EccMode mode_from(const json& value, const std::string& place) {
  Object in(value, place);
  const auto current = small_or(in, "current", 0);
  const EccMode out{current, small_or(in, "pending", current)};
  in.finish();
  return out;
}

RemappedRows remapped_from(const json& value, const std::string& place) {
  Object in(value, place);
  const RemappedRows out{small_or(in, "corrected", 0), small_or(in, "uncorrected", 0),
                         small_or(in, "pending", 0), small_or(in, "failed", 0)};
  in.finish();
  return out;
}

PowerRange power_range_from(const json& value, const std::string& place) {
  Object in(value, place);
  const PowerRange out{small_or(in, "min", 0), small_or(in, "max", 0)};
  in.finish();
  return out;
}

void read_clocks(Object& in, const std::string& key, Answer<unsigned> (&out)[4]) {
  const json* value = in.find(key);
  if (!value) return;
  Object clocks(*value, in.at(key));
  take(clocks, "graphics", out[0]);
  take(clocks, "sm", out[1]);
  take(clocks, "memory", out[2]);
  take(clocks, "video", out[3]);
  clocks.finish();
}

void read_pcie(Object& in, Device& out) {
  const json* value = in.find("pcie");
  if (!value) return;
  Object pcie(*value, in.at("pcie"));
  take(pcie, "gen", out.pcie_gen);
  take(pcie, "width", out.pcie_width);
  take(pcie, "max_gen", out.max_pcie_gen);
  take(pcie, "max_width", out.max_pcie_width);
  take(pcie, "tx_kib_s", out.pcie_throughput[0]);
  take(pcie, "rx_kib_s", out.pcie_throughput[1]);
  take(pcie, "replays", out.pcie_replays);
  pcie.finish();
}

void read_ecc_errors(Object& in, Device& out) {
  const json* value = in.find("ecc_errors");
  if (!value) return;
  Object errors(*value, in.at("ecc_errors"));
  take(errors, "corrected_volatile", out.ecc_errors[0][0]);
  take(errors, "corrected_aggregate", out.ecc_errors[0][1]);
  take(errors, "uncorrected_volatile", out.ecc_errors[1][0]);
  take(errors, "uncorrected_aggregate", out.ecc_errors[1][1]);
  errors.finish();
}

void read_thresholds(Object& in, Device& out) {
  constexpr const char* names[8] = {"shutdown",         "slowdown",         "memory_max",
                                    "gpu_max",          "acoustic_minimum", "acoustic_now",
                                    "acoustic_maximum", "gps_now"};
  const json* value = in.find("temperature_thresholds");
  if (!value) return;
  Object limits(*value, in.at("temperature_thresholds"));
  for (unsigned i = 0; i < 8; ++i) take(limits, names[i], out.thresholds[i]);
  limits.finish();
}

unsigned type_named(const std::string& name, const std::string& place) {
  constexpr const char* names[] = {"double", "uint", "ulong", "ulonglong", "longlong", "int"};
  for (unsigned i = 0; i < std::size(names); ++i)
    if (name == names[i]) return i;
  refuse(place, "not a field's type");
}

Field field_from(const json& value, const std::string& place) {
  Field out;
  if (const auto code = error_in(value, place)) {
    out.result = *code;
  } else if (value.is_object()) {
    Object in(value, place);
    out.type = type_named(text_or(in, "type", "uint"), in.at("type"));
    const json* number = in.find("value");
    if (!number || !number->is_number()) refuse(place, "a field without a value");
    out.real = number->get<double>();
    if (number->is_number_unsigned())
      out.bits = number->get<unsigned long long>();
    else
      out.bits = static_cast<unsigned long long>(static_cast<long long>(out.real));
    in.finish();
  } else {
    out.bits = number_from(value, place);
    out.type = out.bits > 0xFFFFFFFFULL ? field_unsigned_long_long : field_unsigned_int;
  }
  return out;
}

void read_xids(Object& in, Device& out) {
  const json* value = in.find("xids");
  for (std::size_t i = 0; value && i < value->size(); ++i)
    out.xids.push_back(number_from((*value)[i], in.at("xids")));
}

void read_fields(Object& in, Device& out) {
  const json* value = in.find("fields");
  if (!value) return;
  Object fields(*value, in.at("fields"));
  for (const auto& [id, one] : value->items())
    out.fields[small_from(id, fields.place())] = field_from(one, fields.at(id));
}

}  // namespace

void read_telemetry(Object& in, Device& out) {
  take(in, "utilization", out.use, utilization_from);
  take(in, "encoder", out.encoder, engine_from);
  take(in, "decoder", out.decoder, engine_from);
  take(in, "jpeg", out.jpeg, engine_from);
  take(in, "ofa", out.ofa, engine_from);
  take(in, "temperature", out.temperature);
  take(in, "power_usage_mw", out.power_usage);
  take(in, "power_limit_mw", out.power_limit);
  take(in, "enforced_power_limit_mw", out.enforced_power_limit);
  take(in, "default_power_limit_mw", out.default_power_limit);
  take(in, "power_limits_mw", out.power_limits, power_range_from);
  take(in, "energy_mj", out.energy);
  take(in, "clocks_event_reasons", out.clocks_event_reasons);
  take(in, "fans", out.fans, fans_from);
  take(in, "pstate", out.pstate);
  take(in, "ecc", out.ecc, mode_from);
  take(in, "remapped_rows", out.remapped, remapped_from);
  read_clocks(in, "clocks_mhz", out.clocks);
  read_clocks(in, "max_clocks_mhz", out.max_clocks);
  read_pcie(in, out);
  read_ecc_errors(in, out);
  read_thresholds(in, out);
  read_fields(in, out);
  take(in, "event_types", out.event_types);
  read_xids(in, out);
}

}  // namespace fake_nvml
