// SPDX-License-Identifier: MIT OR Apache-2.0
#include <unistd.h>

#include "reader.hpp"

namespace fake_nvml {
namespace {

unsigned parse_pid(const json& value, const std::string& location) {
  if (value == "self") return static_cast<unsigned>(getpid());
  if (value == "parent") return static_cast<unsigned>(getppid());
  return parse_unsigned(value, location);
}

unsigned long long read_used(Object& object) {
  const json* value = object.find("used");
  return !value || value->is_null() ? value_not_available
                                    : parse_number(*value, object.locate("used"));
}

void add_process(const json& value, const std::string& location, ProcessList& list) {
  Object object(value, location);
  ProcessDetail out{};
  const json* pid = object.find("pid");
  if (!pid) refuse(location, "a process without a pid");
  out.pid = parse_pid(*pid, object.locate("pid"));
  out.used = read_used(object);
  out.gpu_instance = read_unsigned_or(object, "gi", no_instance);
  out.compute_instance = read_unsigned_or(object, "ci", no_instance);
  out.protected_used = read_number_or(object, "protected", 0);
  if (const json* name = object.find("name"))
    list.names[out.pid] = parse_text(*name, object.locate("name"));
  object.finish();
  list.rows.push_back(out);
}

void generate(const json& value, const std::string& location, ProcessList& out) {
  Object object(value, location);
  const auto count = read_unsigned_or(object, "count", 0);
  const auto first = read_unsigned_or(object, "first_pid", 100000);
  ProcessDetail row{};
  row.used = read_used(object);
  row.gpu_instance = read_unsigned_or(object, "gi", no_instance);
  row.compute_instance = read_unsigned_or(object, "ci", no_instance);
  object.finish();
  for (unsigned i = 0; i < count; ++i) {
    row.pid = first + i;
    out.rows.push_back(row);
  }
}

void grow(const json& value, const std::string& location, ProcessList& out) {
  Object object(value, location);
  out.grow_by = read_unsigned_or(object, "rows", 1);
  const auto times = read_unsigned_or(object, "times", 1);
  ProcessDetail row{0, 0, no_instance, no_instance, 0};
  row.pid = read_unsigned_or(object, "first_pid", 900000);
  row.used = read_used(object);
  object.finish();
  out.late_rows = out.grow_by * times;
  for (unsigned i = 0; i < out.late_rows; ++i, ++row.pid) out.rows.push_back(row);
}

void read_rows(const json& value, const std::string& location, ProcessList& out) {
  if (!value.is_array()) refuse(location, "not a list of processes");
  for (const auto& row : value) add_process(row, location, out);
}

std::unique_ptr<ProcessList> parse_list(const json& value, const std::string& location) {
  auto out = std::make_unique<ProcessList>();
  if (const auto code = parse_error(value, location)) {
    out->result = *code;
    return out;
  }
  if (value.is_array()) {
    read_rows(value, location, *out);
    return out;
  }
  Object object(value, location);
  if (const json* rows = object.find("rows")) read_rows(*rows, object.locate("rows"), *out);
  if (const json* generated = object.find("generate"))
    generate(*generated, object.locate("generate"), *out);
  if (const json* growth = object.find("grow")) grow(*growth, object.locate("grow"), *out);
  if (const json* claim = object.find("claim"))
    out->claim = parse_unsigned(*claim, object.locate("claim"));
  out->always_insufficient = read_bool_or(object, "always_insufficient", false);
  out->fill_when_insufficient = read_bool_or(object, "fill_when_insufficient", false);
  object.finish();
  return out;
}

UtilizationSample parse_sample(const json& value, const std::string& location) {
  Object object(value, location);
  UtilizationSample out;
  const json* pid = object.find("pid");
  if (!pid) refuse(location, "a sample without a pid");
  out.pid = parse_pid(*pid, object.locate("pid"));
  if (const json* time = object.find("time_us"))
    out.time_us = parse_number(*time, object.locate("time_us"));
  out.age_ms = read_unsigned_or(object, "age_ms", 0);
  out.sm = read_unsigned_or(object, "sm", 0);
  out.memory = read_unsigned_or(object, "memory", 0);
  out.encoder = read_unsigned_or(object, "encoder", 0);
  out.decoder = read_unsigned_or(object, "decoder", 0);
  out.jpeg = read_unsigned_or(object, "jpeg", 0);
  out.ofa = read_unsigned_or(object, "ofa", 0);
  object.finish();
  return out;
}

std::vector<UtilizationSample> parse_samples(const json& value, const std::string& location) {
  if (!value.is_array()) refuse(location, "not a list of samples");
  std::vector<UtilizationSample> out;
  for (const auto& sample : value) out.push_back(parse_sample(sample, location));
  return out;
}

Account parse_account(const json& value, const std::string& location) {
  Object object(value, location);
  Account out;
  const json* pid = object.find("pid");
  if (!pid) refuse(location, "an account without a pid");
  out.pid = parse_pid(*pid, object.locate("pid"));
  const json* peak = object.find("most");
  out.most_memory =
      !peak || peak->is_null() ? value_not_available : parse_number(*peak, object.locate("most"));
  if (const json* start = object.find("start_us"))
    out.start_us = parse_number(*start, object.locate("start_us"));
  out.is_running = read_bool_or(object, "running", false);
  object.finish();
  return out;
}

// A list turns the mode on.
void read_accounts(Object& object, Device& out) {
  const json* value = object.find("accounts");
  if (!value) return;
  if (!value->is_array()) refuse(object.locate("accounts"), "not a list of accounts");
  out.accounting_mode = Answer<unsigned>(1);
  for (const auto& account : *value)
    out.accounts.push_back(parse_account(account, object.locate("accounts")));
}

}  // namespace

void read_processes(Object& object, Device& out) {
  read_accounts(object, out);
  read_answer(object, "accounting_mode", out.accounting_mode);
  read_answer(object, "process_utilization", out.samples, parse_samples);
  const json* value = object.find("processes");
  if (!value) return;
  constexpr const char* names[3] = {"compute", "graphics", "mps"};
  const auto location = object.locate("processes");
  if (const auto code = parse_error(*value, location)) {
    for (auto& list : out.lists) {
      list = std::make_unique<ProcessList>();
      list->result = *code;
    }
    return;
  }
  Object lists(*value, location);
  for (unsigned kind = 0; kind < 3; ++kind) {
    const json* list = lists.find(names[kind]);
    out.lists[kind] =
        list ? parse_list(*list, lists.locate(names[kind])) : std::make_unique<ProcessList>();
  }
  lists.finish();
}

}  // namespace fake_nvml
