// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "backends/simulated/script.hpp"

using hmn::simulated::Problem;
using hmn::simulated::read_script;

namespace {

constexpr std::uint32_t self_pid = 4711;

std::string refusal(const std::string& text) {
  const auto result = read_script(text, self_pid);
  CAPTURE(text);
  const auto* problem = std::get_if<Problem>(&result);
  REQUIRE(problem != nullptr);
  return problem->pointer + ": " + problem->sentence;
}

void check_accepted(const std::string& text) {
  const auto result = read_script(text, self_pid);
  const auto* problem = std::get_if<Problem>(&result);
  CAPTURE(text);
  INFO((problem != nullptr ? problem->pointer + ": " + problem->sentence : std::string()));
  CHECK(problem == nullptr);
}

std::string make_device(const std::string& members) {
  return "{\"devices\":[{" + members + "}]}";
}
std::string make_pool(const std::string& members) {
  return make_device("\"pools\":[{\"kind\":\"vram\"," + members + "}]");
}
std::string make_row(const std::string& members) {
  return make_device("\"processes\":[{" + members + "}]");
}
std::string make_failure(const std::string& members) {
  return make_device("\"failures\":[{" + members + "}]");
}
std::string make_delay(const std::string& members) {
  return make_device("\"delays\":[{" + members + "}]");
}

}  // namespace

TEST_CASE("a syntax error has line and column") {
  CHECK(refusal("{\n\"devices\": [}") == ": line 2, column 13: not a JSON value");
  CHECK(refusal("") == ": line 1, column 1: not a JSON value");
}

TEST_CASE("a document that is not an object is rejected") {
  CHECK(refusal("[]") == ": a list is not an object");
  CHECK(refusal("7") == ": 7 is not an object");
}

TEST_CASE("for an unknown key the most similar known key or all of them are named") {
  CHECK(refusal(R"({"device":[]})") ==
        ": the key \"device\" is not known; did you mean \"devices\"?");
  CHECK(refusal(make_device(R"("nmae":"GPU")")) ==
        "/devices/0: the key \"nmae\" is not known; did you mean \"name\"?");
  CHECK(refusal(make_device(R"("uuidd":"GPU")")) ==
        "/devices/0: the key \"uuidd\" is not known; did you mean \"uuid\"?");
  CHECK(refusal(R"({"chnages":[]})") ==
        ": the key \"chnages\" is not known; did you mean \"changes\"?");
  CHECK(refusal(R"({"host":{"x":1}})") ==
        "/host: the key \"x\" is not known; known here: otherwise self system processes");
  CHECK(refusal(make_pool(R"("colour":1)")) ==
        "/devices/0/pools/0: the key \"colour\" is not known; known here: kind instance total free "
        "used "
        "reserved usable budget accounting main notes");
  CHECK(refusal(make_device(R"("a/b~c":1)")).find("/devices/0: the key \"a/b~c\" is not known") ==
        0);
  CHECK(refusal(make_device("\"" + std::string(5000, 'k') + "\":1")).size() < 1000);
}

TEST_CASE("a size must be whole, not negative and below 2^64") {
  const std::string end =
      " is not a size: whole bytes from 0 to 2^64-1, or a text such as \"16GiB\"";
  CHECK(refusal(make_pool(R"("total":-5)")) == "/devices/0/pools/0/total: -5" + end);
  CHECK(refusal(make_pool(R"("used":18446744073709551616)")) ==
        "/devices/0/pools/0/used: 18446744073709551616" + end);
  CHECK(refusal(make_pool(R"("free":1.5)")) == "/devices/0/pools/0/free: 1.5" + end);
  CHECK(refusal(make_pool(R"("reserved":"16GB")")) ==
        "/devices/0/pools/0/reserved: \"16GB\"" + end);
  CHECK(refusal(make_pool(R"("usable":true)")) == "/devices/0/pools/0/usable: true" + end);
  CHECK(refusal(make_pool(R"("budget":[1])")) == "/devices/0/pools/0/budget: a list" + end);
  check_accepted(make_pool(R"("total":18446744073709551615,"used":0)"));
}

TEST_CASE("a number must be in its range") {
  CHECK(refusal(make_device(R"("driver_index":4294967296)")) ==
        "/devices/0/driver_index: 4294967296 is not a whole number from 0 to 4294967295");
  CHECK(refusal(make_device(R"("cuda_version":{"major":"12.4"})")) ==
        "/devices/0/cuda_version/major: \"12.4\" is not a whole number from 0 to 4294967295");
  CHECK(refusal(make_device(R"("render_minor":-1)")) ==
        "/devices/0/render_minor: -1 is not a whole number from 0 to 4294967295");
  CHECK(refusal(make_device(R"("telemetry":{"gpu_busy_percent":100.5})")) ==
        "/devices/0/telemetry/gpu_busy_percent: 100.5 is not a number from 0 to 100");
  CHECK(refusal(make_device(R"("telemetry":{"temperature_celsius":-300})")) ==
        "/devices/0/telemetry/temperature_celsius: -300 is not a number from -273 to 10000");
  CHECK(refusal(make_device(R"("telemetry":{"power_watts":"9W"})")) ==
        "/devices/0/telemetry/power_watts: \"9W\" is not a number from 0 to 1000000000000000");
  CHECK(refusal(make_device(R"("telemetry":{"fan_rpm":1e3})")) ==
        "/devices/0/telemetry/fan_rpm: 1e3 is not a whole number from 0 to 4294967295");
  CHECK(refusal(make_device(R"("telemetry":{"window_ns":-1})")) ==
        "/devices/0/telemetry/window_ns: -1 is not a whole number from 0 to 2^64-1");
  CHECK(refusal(R"({"format":2})") == "/format: 2 is not a whole number from 1 to 1");
}

TEST_CASE("ids must be whole numbers or hexadecimal texts") {
  const std::string end =
      " is not a whole number from 0 to 65535, or such a number as a text like \"0x10de\"";
  CHECK(refusal(make_device(R"("pci_device":65536)")) == "/devices/0/pci_device: 65536" + end);
  CHECK(refusal(make_device(R"("pci_device":"0x10000")")) ==
        "/devices/0/pci_device: \"0x10000\"" + end);
  CHECK(refusal(make_device(R"("pci_device":"2684")")) == "/devices/0/pci_device: \"2684\"" + end);
  CHECK(refusal(make_device(R"("pci_device":"0x")")) == "/devices/0/pci_device: \"0x\"" + end);
  CHECK(refusal(make_device(R"("vendor":"voodoo")")) == "/devices/0/vendor: \"voodoo\"" + end);
  check_accepted(make_device(
      R"("pci_device":"0x2684","pci_subsystem":"0x40e519da","os_id":"0xffffffffffffffff")"));
}

TEST_CASE("a word must be one of the known ones") {
  CHECK(refusal(make_device(R"("state":"hung")")) ==
        "/devices/0/state: \"hung\" is not one of ready, asleep, lost, unreadable");
  CHECK(refusal(make_device(R"("form":"Discrete")")) ==
        "/devices/0/form: \"Discrete\" is not one of unknown, discrete, integrated, virtual");
  CHECK(refusal(make_device(R"("device_class":"tpu")")) ==
        "/devices/0/device_class: \"tpu\" is not one of unknown, gpu, npu");
  CHECK(refusal(make_device(R"("memory_kind":3)")) ==
        "/devices/0/memory_kind: 3 is not one of unknown, dedicated, unified, coherent");
  CHECK(refusal(make_device(R"("pools":[{"kind":"vrm"}])")) ==
        "/devices/0/pools/0/kind: \"vrm\" is not one of vram, vram_visible, host, unified, stolen");
  CHECK(
      refusal(make_pool(R"("accounting":"rss")")) ==
      "/devices/0/pools/0/accounting: \"rss\" is not one of none, resident, committed, allocated");
  CHECK(refusal(make_pool(R"("notes":["stale","old"])")) ==
        "/devices/0/pools/0/notes/1: \"old\" is not one of stale, lower_bound, estimated, "
        "truncated, mixed, foreign_pid");
  CHECK(refusal(make_pool(R"("notes":"stale")")) ==
        "/devices/0/pools/0/notes: \"stale\" is not a list");
  CHECK(refusal(make_device(R"("telemetry":{"throttle":["hot"]})")) ==
        "/devices/0/telemetry/throttle/0: \"hot\" is not one of idle, power, thermal, hardware, "
        "setting, other");
  CHECK(refusal(R"({"pid_namespace":"other"})") ==
        "/pid_namespace: \"other\" is not one of own, foreign");
  CHECK(refusal(R"({"host":"fake"})") == "/host: \"fake\" is not \"real\" or an object");
  CHECK(refusal(R"({"host":{"otherwise":"zero"}})") ==
        "/host/otherwise: \"zero\" is not one of absent, real");
}

TEST_CASE("a value must have its type") {
  CHECK(refusal(R"({"devices":{}})") == "/devices: an object is not a list");
  CHECK(refusal(R"({"devices":["GPU"]})") == "/devices/0: \"GPU\" is not an object");
  CHECK(refusal(make_device(R"("name":7)")) == "/devices/0/name: 7 is not a text");
  CHECK(refusal(make_device(R"("pools":[[]])")) == "/devices/0/pools/0: a list is not an object");
  CHECK(refusal(make_device(R"("telemetry":1)")) == "/devices/0/telemetry: 1 is not an object");
  CHECK(refusal(make_device(R"("instance":{"gpu":-1})")) ==
        "/devices/0/instance/gpu: -1 is not a whole number from 0 to 4294967295");
  CHECK(refusal(make_pool(R"("main":1)")) == "/devices/0/pools/0/main: 1 is not true or false");
}

TEST_CASE("a PCI address must be in the system's spelling") {
  const std::string end = " is not an address such as \"0000:01:00.0\", in lower case";
  for (const char* text : {"01:00.0", "0000:01:00", "0000:01:00.8", "0000:0G:00.0", "0000:AF:00.0",
                           "000000000:01:00.0", "0000-01:00.0", "", "0000:01:00.00"}) {
    CHECK(refusal(make_device(std::string(R"("pci_bus_id":")") + text + "\"")) ==
          std::string("/devices/0/pci_bus_id: \"") + text + "\"" + end);
  }
  check_accepted(make_device(R"("pci_bus_id":"0000:af:00.0")"));
  check_accepted(make_device(R"("pci_bus_id":"00010000:01:1f.7")"));
}

TEST_CASE("pools: one per kind, one main, and values that add up") {
  CHECK(
      refusal(make_device(R"("pools":[{}])")) ==
      "/devices/0/pools/0: \"kind\" is missing: one of vram, vram_visible, host, unified, stolen");
  CHECK(refusal(make_device(R"("pools":[{"kind":"vram"},{"kind":"host"},{"kind":"vram"}])")) ==
        "/devices/0/pools/2: a pool of this kind is listed already");
  CHECK(refusal(
            make_device(R"("pools":[{"kind":"vram","main":true},{"kind":"host","main":true}])")) ==
        "/devices/0/pools/1: another pool is the main one already");
  CHECK(refusal(make_pool(R"("total":"1GiB","used":"2GiB")")) ==
        "/devices/0/pools/0: the values exceed \"total\": correct them, or give both \"free\" and "
        "\"used\"");
  CHECK(refusal(make_pool(R"("total":10,"reserved":11,"free":0)")) ==
        "/devices/0/pools/0: the values exceed \"total\": correct them, or give both \"free\" and "
        "\"used\"");
  check_accepted(make_pool(R"("total":10,"used":20,"free":0)"));
  check_accepted(make_pool(R"("total":10,"used":20,"free":null)"));
}

TEST_CASE("two devices must not have the same identity") {
  const std::string end =
      ": it shares its id, uuid, PCI address, driver index or render node with a device before it";
  const auto make_two = [](const std::string& members) {
    return "{\"devices\":[{" + members + "},{\"name\":\"other\"," + members + "}]}";
  };
  CHECK(refusal(make_two(R"("uuid":"GPU-1")")) == "/devices/1" + end);
  CHECK(refusal(make_two(R"("id":"a")")) == "/devices/1" + end);
  CHECK(refusal(make_two(R"("pci_bus_id":"0000:01:00.0")")) == "/devices/1" + end);
  CHECK(refusal(make_two(R"("driver_index":0)")) == "/devices/1" + end);
  CHECK(refusal(make_two(R"("render_minor":128)")) == "/devices/1" + end);
  CHECK(refusal(make_device(R"("uuid":"A","partitions":[{"uuid":"B"},{"uuid":"A"}])")) ==
        "/devices/0/partitions/1" + end);
  CHECK(refusal(R"({"devices":[{"driver_index":2},{"driver_index":0},{"driver_index":1},)"
                R"({"driver_index":0}]})") == "/devices/3" + end);
  check_accepted(make_two(R"("vendor":"nvidia","numa_node":1)"));
  check_accepted(
      make_device(R"("driver_index":0,"partitions":[{"driver_index":0},{"driver_index":0}])"));
}

TEST_CASE("the size of all states of a machine is limited") {
  std::string list = "0";
  for (int i = 1; i < 3'000; ++i) list += ",0";
  std::string changes;
  for (int i = 0; i < 800; ++i) changes += ",{\"at_reading\":2,\"version\":\"1\"}";
  const std::string problem_text =
      refusal("{\"comment\":[" + list + "],\"changes\":[" + changes.substr(1) + "]}");
  CHECK(problem_text.find("more than two million values in all its states") != problem_text.npos);
}

TEST_CASE("a partition must not have partitions") {
  CHECK(refusal(make_device(R"("partitions":[{"partitions":[]}])"))
            .find("/devices/0/partitions/0: the key \"partitions\" is not known") == 0);
}

TEST_CASE("a process must have a PID, and each PID only once") {
  const std::string expected = "a process id from 1 to 4294967295, or \"self\"";
  CHECK(refusal(make_row(R"("used":1)")) ==
        "/devices/0/processes/0: \"pid\" is missing: " + expected);
  CHECK(refusal(make_row(R"("pid":0)")) == "/devices/0/processes/0/pid: 0 is not " + expected);
  CHECK(refusal(make_row(R"("pid":4294967296)")) ==
        "/devices/0/processes/0/pid: 4294967296 is not " + expected);
  CHECK(refusal(make_row(R"("pid":"me")")) ==
        "/devices/0/processes/0/pid: \"me\" is not " + expected);
  CHECK(refusal(make_device(R"("processes":[{"pid":7},{"pid":7}])")) ==
        "/devices/0/processes/1: this process is listed for the device already");
  CHECK(refusal(make_device(R"("processes":[{"pid":"self"},{"pid":"self"}])")) ==
        "/devices/0/processes/1: this process is listed for the device already");
  CHECK(refusal(R"({"host":{"processes":[{"pid":7},{"pid":7}]}})") ==
        "/host/processes/1: this process is listed here already");
  CHECK(refusal(R"({"host":{"processes":[{"pid":"self"}]}})") ==
        "/host/processes/0: this process is described by \"self\" of \"host\"");
}

TEST_CASE("a file is accepted even if it names the PID of this process") {
  check_accepted(make_device(R"("processes":[{"pid":"self"},{"pid":4711}])"));
  check_accepted(make_device(R"("processes":[{"pid":4711},{"pid":"self"}])"));
}

TEST_CASE("a name and its state must agree") {
  const std::string end = "/name_state: a name is there when, and only when, it is \"resolved\"";
  CHECK(refusal(make_row(R"("pid":7,"name":"a","name_state":"exited")")) ==
        "/devices/0/processes/0" + end);
  CHECK(refusal(make_row(R"("pid":7,"name_state":"resolved")")) == "/devices/0/processes/0" + end);
  CHECK(refusal(R"({"host":{"self":{"name":"a","name_state":"kernel"}}})") == "/host/self" + end);
  CHECK(refusal(make_row(R"("pid":7,"name":"")")) ==
        "/devices/0/processes/0/name: the name is empty");
  check_accepted(make_row(R"("pid":7,"name":"a","name_state":"resolved")"));
}

TEST_CASE("a start is a date or an age, not both") {
  CHECK(refusal(make_row(R"("pid":7,"start_unix_ns":1,"running_s":2)")) ==
        "/devices/0/processes/0/running_s: \"start_unix_ns\" is given as well");
}

TEST_CASE("a value that is given cannot be missing") {
  CHECK(refusal(make_row(R"("pid":7,"used":1,"missing":{"status":"backend"})")) ==
        "/devices/0/processes/0/missing: \"used\" is given and cannot be missing");
  CHECK(refusal(make_row(R"("pid":7,"missing":{})"))
            .find("/devices/0/processes/0/missing: \"status\" is missing: one of no_memory") == 0);
}

TEST_CASE("a metric must be known and have one value or a reason") {
  const auto make_metric = [](const std::string& members) {
    return R"({"devices":[{"metrics":[{)" + members + "}]}]}";
  };
  CHECK(refusal(make_metric(R"("value":1)")) ==
        "/devices/0/metrics/0: \"metric\" is missing: a metric, such as \"temperature\"");
  CHECK(refusal(make_metric(R"("metric":"temper","value":1)")) ==
        "/devices/0/metrics/0/metric: \"temper\" is not a metric, such as \"temperature\"");
  CHECK(refusal(make_metric(R"("metric":"temperature","instance":"fabric","value":1)")) ==
        "/devices/0/metrics/0/instance: \"fabric\" is not a number, or an instance of the metric");
  const std::string one_value =
      "/devices/0/metrics/0: exactly one of \"value\", \"count\" and \"missing\" is needed";
  CHECK(refusal(make_metric(R"("metric":"fan_rpm")")) == one_value);
  CHECK(refusal(make_metric(R"("metric":"fan_rpm","value":1,"count":1)")) == one_value);
  CHECK(refusal(R"({"devices":[{"metrics":[{"metric":"fan_rpm","value":1},
      {"metric":"fan_rpm","value":2}]}]})") ==
        "/devices/0/metrics/1: this metric is listed for the device already");
}

TEST_CASE("a failure must have a call and a status") {
  CHECK(refusal(make_failure(R"("status":"backend")")) ==
        "/devices/0/failures/0: \"call\" is missing: one of any, pools, telemetry, self, process, "
        "processes, metrics");
  CHECK(refusal(make_failure(R"("call":"pools")"))
            .find("/devices/0/failures/0: \"status\" is missing: one of no_memory, ") == 0);
  CHECK(refusal(make_failure(R"("call":"open","status":"backend")")) ==
        "/devices/0/failures/0/call: \"open\" is not one of any, pools, telemetry, self, process, "
        "processes, metrics");
  CHECK(refusal(make_failure(R"("call":"pools","status":"ok")"))
            .find("/devices/0/failures/0/status: \"ok\" is not one of no_memory, ") == 0);
  CHECK(refusal(make_failure(R"("call":"pools","status":"backend","from_reading":0)")) ==
        "/devices/0/failures/0/from_reading: 0 is not a whole number from 1 to 2^64-1");
  CHECK(refusal(make_failure(R"("call":"pools","status":"backend","readings":0)")) ==
        "/devices/0/failures/0/readings: 0 is not a whole number from 1 to 2^64-1");
  CHECK(refusal(make_failure(R"("call":"pools","status":"backend","native":{"domain":"nvml"})")) ==
        "/devices/0/failures/0/native: \"code\" is missing: the number that the driver or system "
        "gave");
  CHECK(refusal(make_failure(R"("call":"pools","status":"backend","native":{"code":1})")) ==
        "/devices/0/failures/0/native: \"domain\" is missing: one of errno, nvml, exit");
  CHECK(refusal(make_failure(
            R"("call":"pools","status":"backend","native":{"domain":"nvml","code":2147483648})")) ==
        "/devices/0/failures/0/native/code: 2147483648 is not a whole number from 0 to 2147483647");
}

TEST_CASE("a failure of single fields must name a call of a device and fields of that call") {
  CHECK(refusal(make_failure(R"("call":"pools","status":"backend","fields":["power_watts"])")) ==
        "/devices/0/failures/0/fields/0: \"power_watts\" is not one of total, free, used, "
        "reserved, usable, budget");
  CHECK(refusal(make_failure(R"("call":"self","status":"backend","fields":["shared"])")) ==
        "/devices/0/failures/0/fields/0: \"shared\" is not one of used");
  CHECK(refusal(make_failure(R"("call":"any","status":"backend","fields":["used"])"))
            .find("/devices/0/failures/0: the key \"fields\" is not known") == 0);
  CHECK(refusal(R"({"failures":[{"call":"pools","status":"backend","fields":["used"]}]})")
            .find("/failures/0: the key \"fields\" is not known") == 0);
  check_accepted(
      make_failure(R"("call":"telemetry","status":"backend","fields":["power_watts","throttle"])"));
}

TEST_CASE("a delay must have one duration") {
  const std::string expected = "exactly one of \"ms\", \"hang\" and \"hang_until\" is needed";
  CHECK(refusal(make_delay(R"("call":"pools")")) == "/devices/0/delays/0: " + expected);
  CHECK(refusal(make_delay(R"("call":"pools","ms":1,"hang":"forever")")) ==
        "/devices/0/delays/0: " + expected);
  CHECK(refusal(make_delay(R"("call":"pools","hang":"a while")"))
            .find("/devices/0/delays/0/hang: ") == 0);
  CHECK(refusal(make_delay(R"("call":"pools","hang_until":"here")")) ==
        "/devices/0/delays/0/hang_until: the path is not absolute");
  CHECK(refusal(make_delay(R"("call":"pools","ms":86400001)")) ==
        "/devices/0/delays/0/ms: 86400001 is not a whole number from 0 to 86400000");
  CHECK(refusal(R"({"delays":[{"call":"memory","ms":1}]})") ==
        "/delays/0/call: \"memory\" is not one of any, pools, telemetry, self, process, processes, "
        "metrics, open, devices");
}

TEST_CASE("a change must have a time and parts of the machine") {
  const auto make_change = [](const std::string& members) {
    return "{\"devices\":[{\"name\":\"a\"}],\"changes\":[{" + members + "}]}";
  };
  CHECK(refusal(R"({"changes":{}})") == "/changes: an object is not a list");
  CHECK(refusal(make_change(R"("devices":[])")) ==
        "/changes/0: exactly one of \"at_reading\" and \"after_ms\" is needed");
  CHECK(refusal(make_change(R"("at_reading":1,"after_ms":1,"devices":[])")) ==
        "/changes/0: exactly one of \"at_reading\" and \"after_ms\" is needed");
  CHECK(refusal(make_change(R"("at_reading":0,"devices":[])")) ==
        "/changes/0/at_reading: 0 is not a whole number from 1 to 2^64-1");
  CHECK(refusal(make_change(R"("at_reading":1,"patch":[{"op":"remove","path":"/devices/0"}])")) ==
        "/changes/0/patch: patches are no longer read; expected the whole \"devices\" or \"host\" "
        "from this time on");
  CHECK(refusal(make_change(R"("at_reading":1,"devices":[{"state":"gone"}])")) ==
        "/changes/0/devices/0/state: \"gone\" is not one of ready, asleep, lost, unreadable");
  CHECK(refusal(make_change(R"("at_reading":1,"changes":[])"))
            .find("/changes/0: the key \"changes\" is not known") == 0);
  std::string many = "{\"changes\":[";
  for (int i = 0; i < 1001; ++i) many += R"({"at_reading":1,"devices":[]},)";
  many.back() = ']';
  CHECK(refusal(many + "}") == "/changes: more than 1000 changes");
}

TEST_CASE("null is the same as an absent member") {
  check_accepted(
      R"({"devices":null,"host":null,"version":null,"failures":null,"changes":null,"format":null})");
  check_accepted(
      make_device(R"("name":null,"uuid":null,"pools":null,"telemetry":null,"processes":null,
                   "vendor":null,"device_class":null,"form":null,"state":null,"notes":null,"instance":null)"));
  check_accepted(make_row(R"("pid":7,"used":null,"kinds":null,"missing":null,"name":null)"));
  CHECK(refusal(make_row(R"("pid":null)")).find("/devices/0/processes/0: \"pid\" is missing") == 0);
}

TEST_CASE("a comment is allowed anywhere") {
  check_accepted(R"({"comment":["a",1],"host":{"comment":"b","self":{"comment":null}},"changes":[
      {"comment":"c","at_reading":1,"devices":[{"comment":"d"}]}]})");
  check_accepted(
      make_device(R"("comment":"e","failures":[{"comment":"f","call":"any","status":"asleep"}])"));
}

TEST_CASE("only the first error is reported, with its value shortened") {
  CHECK(refusal(make_device(R"("name":1,"uuid":2)")) == "/devices/0/name: 1 is not a text");
  CHECK(refusal(make_device("\"kind\":\"" + std::string(500, 'x') + "\"")).size() < 200);
  CHECK(refusal(make_device(R"("state":"a\u0007b\nc")")).find("\"a b c\"") != std::string::npos);
}
