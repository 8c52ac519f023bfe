// SPDX-License-Identifier: MIT OR Apache-2.0
#include <unistd.h>

#include "reader.hpp"

namespace fake_nvml {
namespace {

unsigned pid_from(const json& value, const std::string& place) {
  if (value == "self") return static_cast<unsigned>(getpid());
  if (value == "parent") return static_cast<unsigned>(getppid());
  return small_from(value, place);
}

unsigned long long used_from(Object& in) {
  const json* value = in.find("used");
  return !value || value->is_null() ? value_not_available : number_from(*value, in.at("used"));
}

void add_process(const json& value, const std::string& place, ProcessList& to) {
  Object in(value, place);
  ProcessDetail out{};
  const json* pid = in.find("pid");
  if (!pid) refuse(place, "a process without a pid");
  out.pid = pid_from(*pid, in.at("pid"));
  out.used = used_from(in);
  out.gpu_instance = small_or(in, "gi", no_instance);
  out.compute_instance = small_or(in, "ci", no_instance);
  out.protected_used = number_or(in, "protected", 0);
  if (const json* name = in.find("name")) to.names[out.pid] = text_from(*name, in.at("name"));
  in.finish();
  to.rows.push_back(out);
}

void generate(const json& value, const std::string& place, ProcessList& out) {
  Object in(value, place);
  const auto count = small_or(in, "count", 0);
  const auto first = small_or(in, "first_pid", 100000);
  ProcessDetail row{};
  row.used = used_from(in);
  row.gpu_instance = small_or(in, "gi", no_instance);
  row.compute_instance = small_or(in, "ci", no_instance);
  in.finish();
  for (unsigned i = 0; i < count; ++i) {
    row.pid = first + i;
    out.rows.push_back(row);
  }
}

void grow(const json& value, const std::string& place, ProcessList& out) {
  Object in(value, place);
  out.grow_by = small_or(in, "rows", 1);
  const auto times = small_or(in, "times", 1);
  ProcessDetail row{0, 0, no_instance, no_instance, 0};
  row.pid = small_or(in, "first_pid", 900000);
  row.used = used_from(in);
  in.finish();
  out.late_rows = out.grow_by * times;
  for (unsigned i = 0; i < out.late_rows; ++i, ++row.pid) out.rows.push_back(row);
}

void read_rows(const json& value, const std::string& place, ProcessList& out) {
  if (!value.is_array()) refuse(place, "not a list of processes");
  for (const auto& one : value) add_process(one, place, out);
}

std::unique_ptr<ProcessList> list_from(const json& value, const std::string& place) {
  auto out = std::make_unique<ProcessList>();
  if (const auto code = error_in(value, place)) {
    out->result = *code;
    return out;
  }
  if (value.is_array()) {
    read_rows(value, place, *out);
    return out;
  }
  Object in(value, place);
  if (const json* rows = in.find("rows")) read_rows(*rows, in.at("rows"), *out);
  if (const json* more = in.find("generate")) generate(*more, in.at("generate"), *out);
  if (const json* later = in.find("grow")) grow(*later, in.at("grow"), *out);
  if (const json* claim = in.find("claim")) out->claim = small_from(*claim, in.at("claim"));
  out->always_insufficient = truth_or(in, "always_insufficient", false);
  out->fill_when_insufficient = truth_or(in, "fill_when_insufficient", false);
  in.finish();
  return out;
}

UtilizationSample sample_from(const json& value, const std::string& place) {
  Object in(value, place);
  UtilizationSample out;
  const json* pid = in.find("pid");
  if (!pid) refuse(place, "a sample without a pid");
  out.pid = pid_from(*pid, in.at("pid"));
  if (const json* time = in.find("time_us")) out.time_us = number_from(*time, in.at("time_us"));
  out.age_ms = small_or(in, "age_ms", 0);
  out.sm = small_or(in, "sm", 0);
  out.memory = small_or(in, "memory", 0);
  out.encoder = small_or(in, "encoder", 0);
  out.decoder = small_or(in, "decoder", 0);
  out.jpeg = small_or(in, "jpeg", 0);
  out.ofa = small_or(in, "ofa", 0);
  in.finish();
  return out;
}

std::vector<UtilizationSample> samples_from(const json& value, const std::string& place) {
  if (!value.is_array()) refuse(place, "not a list of samples");
  std::vector<UtilizationSample> out;
  for (const auto& one : value) out.push_back(sample_from(one, place));
  return out;
}

Account account_from(const json& value, const std::string& place) {
  Object in(value, place);
  Account out;
  const json* pid = in.find("pid");
  if (!pid) refuse(place, "an account without a pid");
  out.pid = pid_from(*pid, in.at("pid"));
  const json* most = in.find("most");
  out.most_memory =
      !most || most->is_null() ? value_not_available : number_from(*most, in.at("most"));
  if (const json* start = in.find("start_us"))
    out.start_us = number_from(*start, in.at("start_us"));
  out.is_running = truth_or(in, "running", false);
  in.finish();
  return out;
}

// A list turns the mode on.
void read_accounts(Object& in, Device& out) {
  const json* value = in.find("accounts");
  if (!value) return;
  if (!value->is_array()) refuse(in.at("accounts"), "not a list of accounts");
  out.accounting_mode = Answer<unsigned>(1);
  for (const auto& one : *value) out.accounts.push_back(account_from(one, in.at("accounts")));
}

}  // namespace

void read_processes(Object& in, Device& out) {
  read_accounts(in, out);
  take(in, "accounting_mode", out.accounting_mode);
  take(in, "process_utilization", out.samples, samples_from);
  const json* value = in.find("processes");
  if (!value) return;
  constexpr const char* names[3] = {"compute", "graphics", "mps"};
  const auto place = in.at("processes");
  if (const auto code = error_in(*value, place)) {
    for (auto& list : out.lists) {
      list = std::make_unique<ProcessList>();
      list->result = *code;
    }
    return;
  }
  Object lists(*value, place);
  for (unsigned kind = 0; kind < 3; ++kind) {
    const json* list = lists.find(names[kind]);
    out.lists[kind] =
        list ? list_from(*list, lists.at(names[kind])) : std::make_unique<ProcessList>();
  }
  lists.finish();
}

}  // namespace fake_nvml
