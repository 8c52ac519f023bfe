// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Running the command: what is asked, how often, and what each way to fail becomes.
#include <doctest/doctest.h>

#include <csignal>

#include "machine.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace amd_test;

namespace {

const std::string one_card = rocm_card(R"j("GPU use (%)": "3")j");

Failure why_not(Machine& m, std::uint64_t deadline_ms = 60'000) {
  PlainReading r(deadline_ms);
  const auto found = m.devices(r);
  REQUIRE_FALSE(found);
  CHECK_FALSE(found.why().message.view().empty());
  return found.why();
}

Failure says(const std::string& name, const std::string& body) {
  Machine m(name);
  m.script(body);
  return why_not(m);
}

bool mentions(const Failure& why, std::string_view words) {
  return why.message.view().find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("rocm-smi is started once for a reading, and never asked for PCIe traffic") {
  Machine m("rocm-smi");
  m.print("", one_card);
  PlainReading r(60'000, true);
  REQUIRE(m.devices(r));
  Telemetry t;
  std::vector<Usage> rows;
  REQUIRE(m.source().telemetry(0, telemetry_field::gpu_busy_percent, t, r));
  REQUIRE(m.source().processes(0, rows, r));
  REQUIRE(m.starts().size() == 1);
  CHECK(m.starts()[0].ends_with("--json"));
  CHECK(m.starts()[0].find("--showbw") == std::string::npos);
  const Diagnostic* trace = r.find(m.path() + " --show");
  REQUIRE(trace != nullptr);
  CHECK(trace->notes == note::trace);
  CHECK(trace->why.native.domain == NativeDomain::exit);
}

TEST_CASE("amd-smi is asked once for what does not change, and for processes on request") {
  Machine m("amd-smi");
  m.print("static", R"j([{"gpu": 0, "asic": {"market_name": "Navi 23"}}])j");
  m.print("metric", R"j([{"gpu": 0, "usage": {"gfx_activity": {"value": 1, "unit": "%"}}}])j");
  m.print("process", R"j([{"gpu": 0, "process_list": []}])j");
  for (int i = 0; i < 2; ++i) {
    PlainReading r;
    REQUIRE(m.devices(r));
    std::vector<Usage> rows;
    REQUIRE(m.source().processes(0, rows, r));
    CHECK(rows.empty());
  }
  const auto starts = m.starts();
  REQUIRE(starts.size() == 5);
  CHECK(starts[0] == "static --json");
  CHECK(starts[1].starts_with("metric --usage"));
  CHECK(starts[1].find("pcie") == std::string::npos);
  CHECK(starts[2] == "process --json");
  CHECK(starts[3] == starts[1]);
  CHECK(starts[4] == starts[2]);
}

TEST_CASE("a tool that refuses an option is asked again without it, and that is remembered") {
  Machine m("amd-smi");
  m.print("static", R"j([{"gpu": 0, "asic": {"market_name": "Navi 23"}}])j");
  m.print("metric", R"j([{"gpu": 0, "usage": {"gfx_activity": {"value": 1, "unit": "%"}}}])j");
  m.script(
      "case \"$*\" in *--fan*) echo '{\"error\": \"Parameter --fan is invalid. Run --help\", "
      "\"code\": -2}'; exit 254;; esac\nexec cat \"$0.$1.out\"");
  PlainReading first;
  PlainReading second;
  REQUIRE(m.devices(first));
  REQUIRE(m.devices(second));
  CHECK(m.starts().size() == 4);
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::gpu_busy_percent, t, second));
  CHECK(t.gpu_busy_percent == 1);
}

TEST_CASE("at the deadline it is killed with all that it started") {
  Machine m("rocm-smi");
  m.script("sleep 1000 & sleep 1000");
  const std::uint64_t begun = platform::monotonic_ns();
  const Failure why = why_not(m, 300);
  CHECK(why.code == Status::timeout);
  CHECK(platform::monotonic_ns() - begun < 30 * platform::ns_per_second);
}

TEST_CASE("a flood ends at the cap; what came whole before it counts") {
  Machine m("rocm-smi");
  m.script("exec yes");
  const Failure why = why_not(m);
  CHECK(why.code == Status::limit);
  Machine after("rocm-smi");
  after.print("", one_card);
  after.script("cat \"$0.out\"; exec yes");
  PlainReading r;
  const auto found = after.devices(r);
  REQUIRE(found);
  CHECK(found->size() == 1);
  REQUIRE(r.find("more than is read") != nullptr);
  CHECK(r.find("more than is read")->why.code == Status::limit);
}

TEST_CASE("its exit code and the signal that ended it are told") {
  const Failure code = says("rocm-smi", "exit 7");
  CHECK(code.code == Status::backend);
  CHECK(code.native.domain == NativeDomain::exit);
  CHECK(code.native.code == 7);
  CHECK(mentions(code, "exited with 7"));
  const Failure crash = says("amd-smi", "kill -9 $$");
  CHECK(crash.native.code == 128 + SIGKILL);
  CHECK(mentions(crash, "signal 9"));
  Machine m("rocm-smi");
  m.print("", one_card);
  m.script("cat \"$0.out\"; exit 3");
  PlainReading r;
  REQUIRE(m.devices(r));
  REQUIRE(r.find("exited with 3") != nullptr);
  CHECK(r.find("exited with 3")->why.native.code == 3);
}

TEST_CASE("what it says on stderr is its reason") {
  const Failure driver = says(
      "rocm-smi", "echo 'ERROR:root:Driver not initialized (amdgpu not found in modules)' >&2");
  CHECK(driver.code == Status::no_source);
  CHECK(mentions(driver, "amdgpu not found in modules"));
  CHECK(says("amd-smi", "echo \"error: unrecognized arguments: --json\" >&2; exit 2").code ==
        Status::unsupported);
  CHECK(
      says("amd-smi", "echo '{\"error\": \"Can not find a device: GPU 7\", \"code\": -3}'").code ==
      Status::no_device);
  CHECK(says("rocm-smi", "echo 'bash: permission denied' >&2; exit 1").code == Status::permission);
}

TEST_CASE("garbage, nothing, and JSON of something else are refused, each with words") {
  CHECK(mentions(says("rocm-smi", "printf '\\377\\000\\001garbage\\n'"), "garbage"));
  CHECK(mentions(says("rocm-smi", "exit 0"), "printed nothing that is known"));
  CHECK(mentions(says("rocm-smi", "echo '{}'"), "listed no GPU"));
  CHECK(mentions(says("rocm-smi", "echo '{\"system\": {\"Driver version\": \"6.16\"}}'"),
                 "listed no GPU"));
  CHECK(mentions(says("rocm-smi", "echo '{\"a\": 1}'"), "no JSON of GPUs"));
  CHECK(mentions(says("rocm-smi", "echo '{\"a\": 1}'"), "\"a\": 1"));
  CHECK(mentions(says("rocm-smi", "echo '{\"card0\": {\"GPU use (%)\": \"1'"),
                 "incomplete or invalid"));
}

TEST_CASE("an answer in unknown keys is not understood, which is not to list no GPU") {
  for (const char* key : {"gpu0", "GPU[0]", "device_0", "cardA", "card999999"}) {
    CAPTURE(key);
    const Failure why =
        says("rocm-smi", "echo '{\"" + std::string(key) + "\": {\"GPU use (%)\": \"1\"}}'");
    CHECK(why.code == Status::backend);
    CHECK(why.stated == Reason::not_understood);
    CHECK(mentions(why, key));
    CHECK_FALSE(mentions(why, "listed no GPU"));
  }
  // Next to GPUs that are known, a GPU may be missing.
  Machine m("rocm-smi");
  m.print("", R"j({"card0": {"GPU use (%)": "1"}, "gpu1": {"GPU use (%)": "2"}})j");
  PlainReading r;
  REQUIRE(m.devices(r));
  REQUIRE(r.find("unknown key \"gpu1\"") != nullptr);
  CHECK(r.find("unknown key \"gpu1\"")->about == subject::devices);
}

TEST_CASE("no device, said in words, is an empty list with the words as a remark") {
  Machine m("rocm-smi");
  m.script("echo 'WARNING: No JSON data to report' >&2");
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  CHECK(found->empty());
  REQUIRE(r.find("No JSON data") != nullptr);
  CHECK(r.find("No JSON data")->why.code == Status::no_device);
}

TEST_CASE("without a sign of an AMD card it is not run, whatever its path says") {
  Machine m("rocm-smi", false, false);
  m.print("", one_card);
  PlainReading r;
  const auto probed = m.source().probe();
  REQUIRE_FALSE(probed);
  CHECK(probed.why().code == Status::no_source);
  CHECK(mentions(why_not(m), "no AMD GPU here"));
  CHECK(m.starts().empty());
}

TEST_CASE("signs: an accelerator of AMD, a GPU of the compute driver; not its bridges or sound") {
  const auto runs = [](auto&& prepare) {
    Machine m("rocm-smi", false, false);
    m.print("", one_card);
    prepare(m.tree());
    PlainReading r;
    return bool(m.devices(r));
  };
  const auto device = [](std::uint16_t vendor, std::uint32_t code) {
    return [=](const hmn_fake::Tree& t) {
      hmn_fake::PciDevice d;
      d.address = "0000:03:00.0";
      d.vendor = vendor;
      d.device = 1;
      d.device_class = code;
      hmn_fake::add_pci_device(t, d);
    };
  };
  CHECK(runs(device(0x1002, 0x120000)));
  CHECK(runs(device(0x1002, 0x038000)));
  CHECK_FALSE(runs(device(0x1002, 0x040300)));
  CHECK_FALSE(runs(device(0x1022, 0x060400)));
  CHECK_FALSE(runs(device(0x10de, 0x030000)));
  const auto node = [](const char* id) {
    return
        [=](const hmn_fake::Tree& t) { t.write("sys/class/kfd/kfd/topology/nodes/1/gpu_id", id); };
  };
  CHECK(runs(node("46363\n")));
  CHECK_FALSE(runs(node("0\n")));
}

TEST_CASE("a path that is no program is no source") {
  Settings s;
  s.rocm_smi_path = "rocm-smi";
  CHECK(make_rocm_smi(s)->probe().why().code == Status::no_source);
  s.rocm_smi_path = "/nowhere/rocm-smi";
  CHECK(mentions(make_rocm_smi(s)->probe().why(), "/nowhere/rocm-smi"));
}

TEST_CASE("a sleeping card is not woken: the bus tells its identity") {
  Machine m("rocm-smi");
  m.print("", one_card);
  const std::string runtime = "sys/" + hmn_fake::pci_folder(card_address) + "/power/runtime_status";
  m.tree().write(runtime, "suspended\n");
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  REQUIRE(found->size() == 1);
  CHECK((*found)[0].state == State::asleep);
  CHECK((*found)[0].pci_bus_id.view() == card_address);
  CHECK((*found)[0].pci_device == 0x73ffu);
  Pools p;
  CHECK(m.source().memory(0, p, r).why().code == Status::asleep);
  CHECK(m.starts().empty());
  Machine woken("rocm-smi", true);
  woken.print("", one_card);
  woken.tree().write(runtime, "suspended\n");
  REQUIRE(woken.devices(r));
  CHECK(woken.starts().size() == 1);
}
