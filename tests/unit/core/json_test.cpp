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

using Tree = nlohmann::ordered_json;

namespace {

std::string written(const hmn::Snapshot& s) {
  std::string out(hmn::write_json({}, s), '?');
  REQUIRE(hmn::write_json(out, s) == out.size());
  return out;
}

std::string json_text(std::string_view bytes) {
  std::array<char, 256> out;
  hmn::json::Writer w(out);
  w.text(bytes);
  return {out.data(), w.size()};
}

std::string number(double n) {
  std::array<char, 32> out;
  hmn::json::Writer w(out);
  w.number(n);
  return {out.data(), w.size()};
}

// Each key that has a value, with its path; in order.
void flatten(const Tree& v, const std::string& path, std::string& out) {
  if (v.is_object() || (v.is_array() && !v.empty() && v[0].is_object())) {
    for (const auto& [key, inner] : v.items()) flatten(inner, path + "/" + key, out);
  } else {
    out += path + "=" + v.dump() + "\n";
  }
}

std::string flat(const Tree& v) {
  std::string out;
  flatten(v, "", out);
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

TEST_CASE("an empty snapshot is nulls and empty lists") {
  CHECK(written({}) ==
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
  CHECK(flat(Tree::parse(written(sample::full()))) == flat(Tree::parse(expected)));
  CHECK(written(sample::full()) == expected);
}

TEST_CASE("what is unknown is null, and has a key all the same") {
  hmn::Snapshot bare;
  bare.memory.emplace();
  bare.system.emplace();
  bare.devices.resize(1);
  bare.devices[0].telemetry.emplace();
  bare.devices[0].self.emplace();
  bare.pools.resize(1);
  bare.usages.resize(1);
  bare.why.edit().diagnostics.resize(1);
  const Tree of_bare = Tree::parse(written(bare));
  const Tree of_full = Tree::parse(written(sample::full()));
  const auto keys = [](const Tree& v) {
    std::string all;
    for (const auto& [key, inner] : v.items()) all += key + " ";
    return all;
  };
  CHECK(keys(of_bare) == keys(of_full));
  for (const char* at : {"/memory", "/system", "/devices/0", "/devices/0/telemetry",
                         "/devices/0/self", "/pools/0", "/usages/0", "/diagnostics/0"}) {
    const Tree::json_pointer place(at);
    CAPTURE(at);
    CHECK(keys(of_bare[place]) == keys(of_full[place]));
  }
  CHECK(of_bare["memory"]["resident_bytes"].is_null());
  CHECK(of_bare["devices"][0]["name"].is_null());
  CHECK(of_bare["devices"][0]["vendor"] == "unknown");
  CHECK(of_bare["devices"][0]["vendor_id"].is_null());
  CHECK(of_bare["devices"][0]["telemetry"]["throttle"].is_null());
  CHECK(of_bare["usages"][0]["window_ns"].is_null());
  CHECK(of_bare["usages"][0]["kinds"].is_null());
  CHECK(of_bare["diagnostics"][0]["native_code"].is_null());
  CHECK(of_bare["diagnostics"][0]["message"] == "");
}

TEST_CASE(
    "metrics are listed with their device; null is not asked for, an empty list is no metric") {
  hmn::Snapshot s;
  s.devices = {sample::device(0, "a"), sample::device(1, "b")};
  CHECK(Tree::parse(written(s))["devices"][0]["metrics"].is_null());
  s.collect = hmn::subject::metrics;
  s.metrics.push_back(hmn::counted(hmn::Source::os, hmn::MetricId::link_rx_bytes, 7, 9));
  s.metrics[0].device_index = 1;
  const Tree devices = Tree::parse(written(s))["devices"];
  CHECK(devices[0]["metrics"] == Tree::array());
  REQUIRE(devices[1]["metrics"].size() == 1);
  CHECK(devices[1]["metrics"][0]["instance"] == 7);
  CHECK(devices[1]["metrics"][0]["count"] == 9);
}

TEST_CASE("what is missing of the metrics is one, by its name") {
  hmn::Snapshot s;
  s.why.edit().diagnostics.resize(2);
  for (hmn::SnapshotDiagnostic& d : s.why.edit().diagnostics) d.value.about = hmn::subject::metrics;
  s.why.edit().diagnostics[0].value.field = static_cast<std::uint32_t>(hmn::MetricId::last_fault);
  const Tree all = Tree::parse(written(s))["diagnostics"];
  CHECK(all[0]["subject"] == "metrics");
  CHECK(all[0]["fields"] == Tree::array());
  CHECK(all[0]["metric"] == "last_fault");
  CHECK(all[1]["fields"] == Tree::array());
  CHECK(all[1]["metric"].is_null());
}

TEST_CASE("names are escaped, valid, and act on no terminal") {
  CHECK(json_text("plain name") == "\"plain name\"");
  CHECK(json_text("") == "\"\"");
  CHECK(json_text("a\"b\\c") == R"("a\"b\\c")");
  CHECK(json_text("a\nb\rc\td") == R"("a\nb\rc\td")");
  CHECK(json_text("\x01\x1b[31m\x7f") == R"("\u0001\u001b[31m\u007f")");
  CHECK(json_text("\xC2\x85 \xC2\x9B") == R"("\u0085 \u009b")");
  CHECK(json_text("\xE2\x80\xAE\xE2\x81\xA6 \xE2\x80\xA8") == R"("\u202e\u2066 \u2028")");
  CHECK(json_text("é€😀/ \xC2\xA0\xE2\x80\xA7\xE2\x81\xA5") ==
        "\"é€😀/ \xC2\xA0\xE2\x80\xA7\xE2\x81\xA5\"");
  CHECK(json_text("\xFF\xC3") == "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  CHECK(json_text(std::string_view("a\0b", 3)) == R"("a\u0000b")");
}

namespace {

// NUL is kept, and separates what may be UTF-8.
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

TEST_CASE("any bytes give a text that reads back as their UTF-8") {
  std::string bytes;
  for (int first = 0; first < 256; ++first) {
    for (const int second : {0x00, 0x22, 0x41, 0x80, 0x85, 0xA8, 0xC2, 0xE2, 0xFF}) {
      bytes = {static_cast<char>(first), static_cast<char>(second), '\x80', '\xAE'};
      CHECK(nlohmann::json::parse(json_text(bytes)) == valid_with_nuls(bytes));
    }
  }
}

TEST_CASE("a byte is escaped or not wherever it is in a text") {
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t at = 0; at < 17; ++at) {
      std::string bytes(17, '~');
      bytes[at] = static_cast<char>(byte);
      const std::string valid = valid_with_nuls(bytes);
      const std::string text = json_text(bytes);
      CAPTURE(byte);
      CAPTURE(at);
      CHECK(nlohmann::json::parse(text) == valid);
      const bool is_plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
      CHECK((text == '"' + bytes + '"') == is_plain);
    }
  }
}

TEST_CASE("doubles are the shortest that read back the same, or null") {
  for (const double n : {0.0, -0.0, 0.1, 1.0 / 3, 371.42, 1e-300, 1.7976931348623157e308, 5e-324}) {
    CHECK(nlohmann::json::parse(number(n)).get<double>() == n);
  }
  CHECK(number(0.1) == "0.1");
  CHECK(number(100) == "100");
  CHECK(number(std::numeric_limits<double>::infinity()) == "null");
  CHECK(number(std::nan("")) == "null");
}

TEST_CASE("numbers of a newer library are words all the same") {
  hmn::Snapshot s;
  s.devices.resize(1);
  hmn::Device& d = s.devices[0].identity.edit();
  d.form = static_cast<hmn::DeviceForm>(99);
  d.state = static_cast<hmn::State>(99);
  d.vendor = 0x1234;
  d.from = static_cast<hmn::Source>(63);
  s.why.edit().diagnostics.resize(1);
  s.why.edit().diagnostics[0].value.why.code = static_cast<hmn::Status>(-999);
  s.why.edit().diagnostics[0].value.about = 1U << 31;
  s.why.edit().diagnostics[0].value.field = UINT32_MAX;
  const Tree j = Tree::parse(written(s));
  CHECK(j["devices"][0]["form"] == "unknown");
  CHECK(j["devices"][0]["state"] == "unknown");
  CHECK(j["devices"][0]["vendor"] == "unknown");
  CHECK(j["devices"][0]["vendor_id"] == 0x1234);
  CHECK(j["devices"][0]["backend"] == "unknown");
  CHECK(j["diagnostics"][0]["status"] == "HMN_E_?");
  CHECK(j["diagnostics"][0]["subject"] == "unknown");
  CHECK(j["diagnostics"][0]["fields"].empty());
}

TEST_CASE("it is one line") {
  const std::string out = written(sample::full());
  CHECK(out.starts_with("{\"schema\":1,"));
  CHECK(out.find('\n') == std::string::npos);
  CHECK(out.back() == '}');
}

TEST_CASE("what does not fit is counted, and nothing is written behind the buffer") {
  const std::string whole = written(sample::full());
  std::string out(whole.size() + 64, '?');
  for (std::size_t capacity = 0; capacity <= whole.size() + 1; ++capacity) {
    out.assign(out.size(), '?');
    REQUIRE(hmn::write_json({out.data(), capacity}, sample::full()) == whole.size());
    REQUIRE(out.find_first_not_of('?', capacity) == std::string::npos);
    REQUIRE((out.compare(0, whole.size(), whole) == 0) == (capacity >= whole.size()));
  }
}
