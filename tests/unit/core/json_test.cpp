// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/snapshot_json.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "model/json_writer.hpp"
#include "sample.hpp"

using Json = nlohmann::ordered_json;

namespace {

std::string write_snapshot(const hmn::Snapshot& snapshot) {
  std::string out(hmn::write_json({}, snapshot), '?');
  REQUIRE(hmn::write_json(out, snapshot) == out.size());
  return out;
}

std::string write_text(std::string_view bytes) {
  std::array<char, 256> out;
  hmn::json::Writer writer(out);
  writer.text(bytes);
  return {out.data(), writer.size()};
}

std::string write_number(double value) {
  std::array<char, 32> out;
  hmn::json::Writer writer(out);
  writer.number(value);
  return {out.data(), writer.size()};
}

// Each key that has a value, with its path; in order.
void flatten(const Json& value, const std::string& path, std::string& out) {
  if (value.is_object() || (value.is_array() && !value.empty() && value[0].is_object())) {
    for (const auto& [key, inner] : value.items()) flatten(inner, path + "/" + key, out);
  } else {
    out += path + "=" + value.dump() + "\n";
  }
}

std::string flat_text(const Json& value) {
  std::string out;
  flatten(value, "", out);
  return out;
}

constexpr const char* json_row =
    R"("pid":4294967295,"backend":"nvidia-smi","notes":["lower_bound"],"name_state":"resolved",)"
    R"("name":"na\"ïve","container":"docker:0f","uid":417,"start_unix_ns":416,"process_key":18446744073709551614,"kinds":["compute","media"],)"
    R"("gpu_instance":401,"compute_instance":402,"accounting":"committed","used_bytes":403,)"
    R"("peak_used_bytes":419,"resident_bytes":404,"committed_bytes":405,"allocated_bytes":406,"shared_bytes":407,)"
    R"("purgeable_bytes":408,"evicted_bytes":409,"host_pool_bytes":410,"host_resident_bytes":415,)"
    R"("budget_bytes":411,"busy_ns":412,"busy_percent":41.3,"window_ns":414,)";

}  // namespace

TEST_CASE("an empty snapshot has nulls and empty lists") {
  CHECK(write_snapshot({}) ==
        R"({"schema":1,"unix_time_ns":0,"monotonic_ns":0,"duration_ns":0,"collect":[],"notes":[],)"
        R"("unreadable_process_count":0,"memory":null,"system":null,"devices":[],"pools":[],)"
        R"("usages":[],"groups":[],"diagnostics":[]})");
}

TEST_CASE("every field of every struct is there, in its order") {
  const std::string expected =
      std::string(R"({"schema":1,"unix_time_ns":1760000000123456789,"monotonic_ns":2,)") +
      R"("duration_ns":3,"collect":["memory","system","devices","pools","self","processes",)"
      R"("telemetry","metrics","groups"],"notes":["partial"],"unreadable_process_count":1,)"
      R"("memory":{"pid":4711,"backend":"os","notes":["stale"],"resident_bytes":101,)"
      R"("peak_resident_bytes":102,"virtual_bytes":103,"swap_bytes":104,"proportional_bytes":105,)"
      R"("private_bytes":106,"committed_bytes":107,"footprint_bytes":18446744073709551615,)"
      R"("peak_footprint_bytes":108,"peak_committed_bytes":109,"process_key":110},)"
      R"("system":{"backend":"os","notes":["estimated"],"total_bytes":201,"available_bytes":202,)"
      R"("swap_total_bytes":203,"swap_free_bytes":204,"limit_bytes":205,"limit_used_bytes":206,)"
      R"("commit_limit_bytes":207,"committed_bytes":208,"pressure":"warning",)"
      R"("stall_percent":20.25,"usable_bytes":209},)"
      R"("devices":[{"index":601,"name":"NVIDIA Test GPU","uuid":"GPU-1",)"
      R"("pci_bus_id":"0000:01:00.0","backend":"nvml","notes":["partial"],"device_class":"npu",)"
      R"("form":"integrated",)"
      R"("state":"ready","memory_kind":"coherent","vendor":"nvidia","vendor_id":4318,)"
      R"("pci_device":604,"pci_subsystem":605,"parent_index":602,"driver_index":603,)"
      R"("driver_version":"591.86","cuda_version_major":608,"cuda_version_minor":615,)"
      R"("compute_capability_major":613,"compute_capability_minor":616,)"
      R"("architecture":"Testing","render_minor":606,"numa_node":607,)"
      R"("gpu_instance":609,"compute_instance":610,"os_id":611,"age_ns":614,)"
      R"("telemetry":{"backend":"nvml","notes":["mixed"],"backends":["nvml","nvidia-smi"],)"
      R"("gpu_busy_percent":30.5,"memory_busy_percent":31,"encoder_busy_percent":32,)"
      R"("decoder_busy_percent":33,"temperature_celsius":-34.25,"hotspot_celsius":35,)"
      R"("memory_celsius":36,"power_watts":0.1,"power_limit_watts":450,"energy_joules":1e+21,)"
      R"("core_clock_mhz":301,"memory_clock_mhz":302,"fan_percent":303,"fan_rpm":304,)"
      R"("pcie_generation":305,"pcie_width":306,"pcie_rx_bytes":308,"pcie_tx_bytes":309,)"
      R"("throttle":["power","other"],"p_state":307,"window_ns":310,"age_ns":612},)"
      R"("metrics":[{"name":"temperature","instance":2,"instance_name":"hotspot","unit":"C",)"
      R"("backend":"drm","notes":["estimated"],"value":80.125,"count":null,)"
      R"("window_ns":802,"age_ns":803},{"name":"pcie_replays","instance":0,"instance_name":null,)"
      R"("unit":null,"backend":"nvml","notes":[],"value":null,)"
      R"("count":18446744073709551615,"window_ns":null,"age_ns":804}],)"
      R"("self":{"device_index":601,)" +
      json_row + R"("age_ns":613}}],)" +
      R"("pools":[{"device_index":601,"kind":"vram","instance":0,"is_main":true,)"
      R"("backend":"simulated",)"
      R"("notes":["truncated"],"accounting":"allocated","total_bytes":501,"free_bytes":502,)"
      R"("used_bytes":503,"reserved_bytes":504,"usable_bytes":505,"budget_bytes":506,)"
      R"("unattributed_bytes":507,"age_ns":508}],)"
      R"("usages":[{"device_index":601,)" +
      json_row + R"("age_ns":418}],)" +
      R"("groups":[{"device_index":601,"name":"docker:0f","backend":"dmem","notes":["stale"],)"
      R"("used_bytes":901,"limit_bytes":902,"age_ns":903}],)"
      R"("diagnostics":[{"reason":"not_permitted","status":"HMN_E_PERMISSION","backend":"nvml",)"
      R"("notes":["trace"],"subject":"telemetry","fields":["power_watts","window_ns"],)"
      R"("metric":null,"metric_instance":null,"pool":null,"pool_instance":null,"device_index":703,"pid":701,)"
      R"("count":704,"native_domain":"nvml","native_code":-4,"duration_ns":702,)"
      R"("message":"run as root\n"}]})";
  CHECK(flat_text(Json::parse(write_snapshot(sample::make_full_snapshot()))) ==
        flat_text(Json::parse(expected)));
  CHECK(write_snapshot(sample::make_full_snapshot()) == expected);
}

TEST_CASE("an unknown value is null, and its key is still written") {
  hmn::Snapshot bare;
  bare.memory.emplace();
  bare.system.emplace();
  bare.devices.resize(1);
  bare.devices[0].telemetry.emplace();
  bare.devices[0].self.emplace();
  bare.pools.resize(1);
  bare.usages.resize(1);
  bare.explanations.edit().diagnostics.resize(1);
  const Json bare_json = Json::parse(write_snapshot(bare));
  const Json full_json = Json::parse(write_snapshot(sample::make_full_snapshot()));
  const auto list_keys = [](const Json& value) {
    std::string keys;
    for (const auto& [key, inner] : value.items()) keys += key + " ";
    return keys;
  };
  CHECK(list_keys(bare_json) == list_keys(full_json));
  for (const char* path : {"/memory", "/system", "/devices/0", "/devices/0/telemetry",
                           "/devices/0/self", "/pools/0", "/usages/0", "/diagnostics/0"}) {
    const Json::json_pointer pointer(path);
    CAPTURE(path);
    CHECK(list_keys(bare_json[pointer]) == list_keys(full_json[pointer]));
  }
  CHECK(bare_json["memory"]["resident_bytes"].is_null());
  CHECK(bare_json["devices"][0]["name"].is_null());
  CHECK(bare_json["devices"][0]["vendor"] == "unknown");
  CHECK(bare_json["devices"][0]["vendor_id"].is_null());
  CHECK(bare_json["devices"][0]["telemetry"]["throttle"].is_null());
  CHECK(bare_json["usages"][0]["window_ns"].is_null());
  CHECK(bare_json["usages"][0]["kinds"].is_null());
  CHECK(bare_json["diagnostics"][0]["native_code"].is_null());
  CHECK(bare_json["diagnostics"][0]["message"] == "");
}

TEST_CASE("metrics are listed with their device; null if not requested, empty if there are none") {
  hmn::Snapshot snapshot;
  snapshot.devices = {sample::make_device(0, "a"), sample::make_device(1, "b")};
  CHECK(Json::parse(write_snapshot(snapshot))["devices"][0]["metrics"].is_null());
  snapshot.collect = hmn::subject::metrics;
  snapshot.metrics.push_back(
      hmn::make_count_metric(hmn::Source::os, hmn::MetricId::link_rx_bytes, 7, 9));
  snapshot.metrics[0].device_index = 1;
  const Json devices = Json::parse(write_snapshot(snapshot))["devices"];
  CHECK(devices[0]["metrics"] == Json::array());
  REQUIRE(devices[1]["metrics"].size() == 1);
  CHECK(devices[1]["metrics"][0]["instance"] == 7);
  CHECK(devices[1]["metrics"][0]["count"] == 9);
}

TEST_CASE("a diagnostic about a metric names that metric") {
  hmn::Snapshot snapshot;
  snapshot.explanations.edit().diagnostics.resize(2);
  for (hmn::SnapshotDiagnostic& diagnostic : snapshot.explanations.edit().diagnostics)
    diagnostic.value.subject = hmn::subject::metrics;
  snapshot.explanations.edit().diagnostics[0].value.field =
      static_cast<std::uint32_t>(hmn::MetricId::last_fault);
  const Json diagnostics = Json::parse(write_snapshot(snapshot))["diagnostics"];
  CHECK(diagnostics[0]["subject"] == "metrics");
  CHECK(diagnostics[0]["fields"] == Json::array());
  CHECK(diagnostics[0]["metric"] == "last_fault");
  CHECK(diagnostics[1]["fields"] == Json::array());
  CHECK(diagnostics[1]["metric"].is_null());
}

TEST_CASE("names are escaped, valid UTF-8 and harmless to a terminal") {
  CHECK(write_text("plain name") == "\"plain name\"");
  CHECK(write_text("") == "\"\"");
  CHECK(write_text("a\"b\\c") == R"("a\"b\\c")");
  CHECK(write_text("a\nb\rc\td") == R"("a\nb\rc\td")");
  CHECK(write_text("\x01\x1b[31m\x7f") == R"("\u0001\u001b[31m\u007f")");
  CHECK(write_text("\xC2\x85 \xC2\x9B") == R"("\u0085 \u009b")");
  CHECK(write_text("\xE2\x80\xAE\xE2\x81\xA6 \xE2\x80\xA8") == R"("\u202e\u2066 \u2028")");
  CHECK(write_text("é€😀/ \xC2\xA0\xE2\x80\xA7\xE2\x81\xA5") ==
        "\"é€😀/ \xC2\xA0\xE2\x80\xA7\xE2\x81\xA5\"");
  CHECK(write_text("\xFF\xC3") == "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  CHECK(write_text(std::string_view("a\0b", 3)) == R"("a\u0000b")");
}

namespace {

// NUL is kept; the bytes between NULs become valid UTF-8.
std::string valid_with_nuls(std::string_view bytes) {
  std::string valid;
  while (true) {
    const std::size_t length = std::min(bytes.find('\0'), bytes.size());
    hmn::append_utf8(valid, bytes.substr(0, length));
    if (length == bytes.size()) return valid;
    valid += '\0';
    bytes.remove_prefix(length + 1);
  }
}

}  // namespace

TEST_CASE("text from any bytes parses back to their valid UTF-8") {
  std::string bytes;
  for (int first = 0; first < 256; ++first) {
    for (const int second : {0x00, 0x22, 0x41, 0x80, 0x85, 0xA8, 0xC2, 0xE2, 0xFF}) {
      bytes = {static_cast<char>(first), static_cast<char>(second), '\x80', '\xAE'};
      CHECK(nlohmann::json::parse(write_text(bytes)) == valid_with_nuls(bytes));
    }
  }
}

TEST_CASE("whether a byte is escaped does not depend on its position") {
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t position = 0; position < 17; ++position) {
      std::string bytes(17, '~');
      bytes[position] = static_cast<char>(byte);
      const std::string valid = valid_with_nuls(bytes);
      const std::string text = write_text(bytes);
      CAPTURE(byte);
      CAPTURE(position);
      CHECK(nlohmann::json::parse(text) == valid);
      const bool is_plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
      CHECK((text == '"' + bytes + '"') == is_plain);
    }
  }
}

TEST_CASE("doubles are written in the shortest exact form, or as null") {
  for (const double value :
       {0.0, -0.0, 0.1, 1.0 / 3, 371.42, 1e-300, 1.7976931348623157e308, 5e-324}) {
    CHECK(nlohmann::json::parse(write_number(value)).get<double>() == value);
  }
  CHECK(write_number(0.1) == "0.1");
  CHECK(write_number(100) == "100");
  CHECK(write_number(std::numeric_limits<double>::infinity()) == "null");
  CHECK(write_number(std::nan("")) == "null");
}

TEST_CASE("numbers of a newer library are written as unknown") {
  hmn::Snapshot snapshot;
  snapshot.devices.resize(1);
  hmn::Device& device = snapshot.devices[0].identity.edit();
  device.form = static_cast<hmn::DeviceForm>(99);
  device.state = static_cast<hmn::State>(99);
  device.vendor = 0x1234;
  device.source = static_cast<hmn::Source>(63);
  snapshot.explanations.edit().diagnostics.resize(1);
  snapshot.explanations.edit().diagnostics[0].value.failure.code = static_cast<hmn::Status>(-999);
  snapshot.explanations.edit().diagnostics[0].value.subject = 1U << 31;
  snapshot.explanations.edit().diagnostics[0].value.field = UINT32_MAX;
  const Json json = Json::parse(write_snapshot(snapshot));
  CHECK(json["devices"][0]["form"] == "unknown");
  CHECK(json["devices"][0]["state"] == "unknown");
  CHECK(json["devices"][0]["vendor"] == "unknown");
  CHECK(json["devices"][0]["vendor_id"] == 0x1234);
  CHECK(json["devices"][0]["backend"] == "unknown");
  CHECK(json["diagnostics"][0]["status"] == "HMN_E_?");
  CHECK(json["diagnostics"][0]["subject"] == "unknown");
  CHECK(json["diagnostics"][0]["fields"].empty());
}

TEST_CASE("the JSON is one line") {
  const std::string out = write_snapshot(sample::make_full_snapshot());
  CHECK(out.starts_with("{\"schema\":1,"));
  CHECK(out.find('\n') == std::string::npos);
  CHECK(out.back() == '}');
}

TEST_CASE("a short buffer is not overrun, and the full size is returned") {
  const std::string expected = write_snapshot(sample::make_full_snapshot());
  std::string out(expected.size() + 64, '?');
  for (std::size_t capacity = 0; capacity <= expected.size() + 1; ++capacity) {
    out.assign(out.size(), '?');
    REQUIRE(hmn::write_json({out.data(), capacity}, sample::make_full_snapshot()) ==
            expected.size());
    REQUIRE(out.find_first_not_of('?', capacity) == std::string::npos);
    REQUIRE((out.compare(0, expected.size(), expected) == 0) == (capacity >= expected.size()));
  }
}
