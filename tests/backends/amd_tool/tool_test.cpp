// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Running the command: its arguments, how often it is started, and how its failures are reported.
#include <doctest/doctest.h>

#include <csignal>

#include "machine.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace amd_test;

namespace {

const std::string one_card = rocm_card(R"j("GPU use (%)": "3")j");

Failure get_failure(Machine& machine, std::uint64_t deadline_ms = 60'000) {
  PlainReading reading(deadline_ms);
  const auto devices = machine.devices(reading);
  REQUIRE_FALSE(devices);
  CHECK_FALSE(devices.failure().message.view().empty());
  return devices.failure();
}

Failure fail_with(const std::string& name, const std::string& body) {
  Machine machine(name);
  machine.script(body);
  return get_failure(machine);
}

bool mentions(const Failure& failure, std::string_view words) {
  return failure.message.view().find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("rocm-smi is started once per reading, and never for PCIe traffic") {
  Machine machine("rocm-smi");
  machine.print("", one_card);
  PlainReading reading(60'000, true);
  REQUIRE(machine.devices(reading));
  Telemetry telemetry;
  std::vector<Usage> rows;
  REQUIRE(machine.source().telemetry(0, telemetry_field::gpu_busy_percent, telemetry, reading));
  REQUIRE(machine.source().processes(0, rows, reading));
  REQUIRE(machine.starts().size() == 1);
  CHECK(machine.starts()[0].ends_with("--json"));
  CHECK(machine.starts()[0].find("--showbw") == std::string::npos);
  const Diagnostic* trace = reading.find(machine.path() + " --show");
  REQUIRE(trace != nullptr);
  CHECK(trace->notes == note::trace);
  CHECK(trace->failure.native.domain == NativeDomain::exit);
}

TEST_CASE("amd-smi is asked once for static values, and for processes only on request") {
  Machine machine("amd-smi");
  machine.print("static", R"j([{"gpu": 0, "asic": {"market_name": "Navi 23"}}])j");
  machine.print("metric",
                R"j([{"gpu": 0, "usage": {"gfx_activity": {"value": 1, "unit": "%"}}}])j");
  machine.print("process", R"j([{"gpu": 0, "process_list": []}])j");
  for (int i = 0; i < 2; ++i) {
    PlainReading reading;
    REQUIRE(machine.devices(reading));
    std::vector<Usage> rows;
    REQUIRE(machine.source().processes(0, rows, reading));
    CHECK(rows.empty());
  }
  const auto starts = machine.starts();
  REQUIRE(starts.size() == 5);
  CHECK(starts[0] == "static --json");
  CHECK(starts[1].starts_with("metric --usage"));
  CHECK(starts[1].find("pcie") == std::string::npos);
  CHECK(starts[2] == "process --json");
  CHECK(starts[3] == starts[1]);
  CHECK(starts[4] == starts[2]);
}

TEST_CASE("a tool that refuses an option is run without it, and the option is remembered") {
  Machine machine("amd-smi");
  machine.print("static", R"j([{"gpu": 0, "asic": {"market_name": "Navi 23"}}])j");
  machine.print("metric",
                R"j([{"gpu": 0, "usage": {"gfx_activity": {"value": 1, "unit": "%"}}}])j");
  machine.script(
      "case \"$*\" in *--fan*) echo '{\"error\": \"Parameter --fan is invalid. Run --help\", "
      "\"code\": -2}'; exit 254;; esac\nexec cat \"$0.$1.out\"");
  PlainReading first;
  PlainReading second;
  REQUIRE(machine.devices(first));
  REQUIRE(machine.devices(second));
  CHECK(machine.starts().size() == 4);
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::gpu_busy_percent, telemetry, second));
  CHECK(telemetry.gpu_busy_percent == 1);
}

TEST_CASE("at the deadline the tool is killed with everything that it started") {
  Machine machine("rocm-smi");
  machine.script("sleep 1000 & sleep 1000");
  const std::uint64_t start_ns = platform::monotonic_ns();
  const Failure failure = get_failure(machine, 300);
  CHECK(failure.code == Status::timeout);
  CHECK(platform::monotonic_ns() - start_ns < 30 * platform::ns_per_second);
}

TEST_CASE("endless output is cut at the limit, and complete cards before it are kept") {
  Machine machine("rocm-smi");
  machine.script("exec yes");
  const Failure failure = get_failure(machine);
  CHECK(failure.code == Status::limit);
  Machine after("rocm-smi");
  after.print("", one_card);
  after.script("cat \"$0.out\"; exec yes");
  PlainReading reading;
  const auto devices = after.devices(reading);
  REQUIRE(devices);
  CHECK(devices->size() == 1);
  REQUIRE(reading.find("more than is read") != nullptr);
  CHECK(reading.find("more than is read")->failure.code == Status::limit);
}

TEST_CASE("an exit code and a fatal signal are reported") {
  const Failure code = fail_with("rocm-smi", "exit 7");
  CHECK(code.code == Status::backend);
  CHECK(code.native.domain == NativeDomain::exit);
  CHECK(code.native.code == 7);
  CHECK(mentions(code, "exited with 7"));
  const Failure crash = fail_with("amd-smi", "kill -9 $$");
  CHECK(crash.native.code == 128 + SIGKILL);
  CHECK(mentions(crash, "signal 9"));
  Machine machine("rocm-smi");
  machine.print("", one_card);
  machine.script("cat \"$0.out\"; exit 3");
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  REQUIRE(reading.find("exited with 3") != nullptr);
  CHECK(reading.find("exited with 3")->failure.native.code == 3);
}

TEST_CASE("the tool's message on stderr becomes the reason") {
  const Failure driver = fail_with(
      "rocm-smi", "echo 'ERROR:root:Driver not initialized (amdgpu not found in modules)' >&2");
  CHECK(driver.code == Status::no_source);
  CHECK(mentions(driver, "amdgpu not found in modules"));
  CHECK(fail_with("amd-smi", "echo \"error: unrecognized arguments: --json\" >&2; exit 2").code ==
        Status::unsupported);
  CHECK(fail_with("amd-smi", "echo '{\"error\": \"Can not find a device: GPU 7\", \"code\": -3}'")
            .code == Status::no_device);
  CHECK(fail_with("rocm-smi", "echo 'bash: permission denied' >&2; exit 1").code ==
        Status::permission);
}

TEST_CASE("garbage, no output and unrelated JSON are refused with a message") {
  CHECK(mentions(fail_with("rocm-smi", "printf '\\377\\000\\001garbage\\n'"), "garbage"));
  CHECK(mentions(fail_with("rocm-smi", "exit 0"), "printed nothing that is known"));
  CHECK(mentions(fail_with("rocm-smi", "echo '{}'"), "listed no GPU"));
  CHECK(mentions(fail_with("rocm-smi", "echo '{\"system\": {\"Driver version\": \"6.16\"}}'"),
                 "listed no GPU"));
  CHECK(mentions(fail_with("rocm-smi", "echo '{\"a\": 1}'"), "no JSON of GPUs"));
  CHECK(mentions(fail_with("rocm-smi", "echo '{\"a\": 1}'"), "\"a\": 1"));
  CHECK(mentions(fail_with("rocm-smi", "echo '{\"card0\": {\"GPU use (%)\": \"1'"),
                 "incomplete or invalid"));
}

TEST_CASE("an answer with unknown keys is reported as not understood, not as without GPUs") {
  for (const char* key : {"gpu0", "GPU[0]", "device_0", "cardA", "card999999"}) {
    CAPTURE(key);
    const Failure failure =
        fail_with("rocm-smi", "echo '{\"" + std::string(key) + "\": {\"GPU use (%)\": \"1\"}}'");
    CHECK(failure.code == Status::backend);
    CHECK(failure.reason == Reason::not_understood);
    CHECK(mentions(failure, key));
    CHECK_FALSE(mentions(failure, "listed no GPU"));
  }
  // With known GPUs in the answer, an unknown key may be a missing GPU.
  Machine machine("rocm-smi");
  machine.print("", R"j({"card0": {"GPU use (%)": "1"}, "gpu1": {"GPU use (%)": "2"}})j");
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  REQUIRE(reading.find("unknown key \"gpu1\"") != nullptr);
  CHECK(reading.find("unknown key \"gpu1\"")->subject == subject::devices);
}

TEST_CASE("a message about no device gives an empty list with a diagnostic") {
  Machine machine("rocm-smi");
  machine.script("echo 'WARNING: No JSON data to report' >&2");
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices);
  CHECK(devices->empty());
  REQUIRE(reading.find("No JSON data") != nullptr);
  CHECK(reading.find("No JSON data")->failure.code == Status::no_device);
}

TEST_CASE("without a sign of an AMD card the tool is not started") {
  Machine machine("rocm-smi", false, false);
  machine.print("", one_card);
  PlainReading reading;
  const auto probed = machine.source().probe();
  REQUIRE_FALSE(probed);
  CHECK(probed.failure().code == Status::no_source);
  CHECK(mentions(get_failure(machine), "no AMD GPU here"));
  CHECK(machine.starts().empty());
}

TEST_CASE("accelerators and compute nodes are signs of an AMD GPU, bridges and sound are not") {
  const auto runs = [](auto&& prepare) {
    Machine machine("rocm-smi", false, false);
    machine.print("", one_card);
    prepare(machine.tree());
    PlainReading reading;
    return bool(machine.devices(reading));
  };
  const auto device = [](std::uint16_t vendor, std::uint32_t code) {
    return [=](const hmn_fake::Tree& tree) {
      hmn_fake::PciDevice function;
      function.address = "0000:03:00.0";
      function.vendor = vendor;
      function.device = 1;
      function.device_class = code;
      hmn_fake::add_pci_device(tree, function);
    };
  };
  CHECK(runs(device(0x1002, 0x120000)));
  CHECK(runs(device(0x1002, 0x038000)));
  CHECK_FALSE(runs(device(0x1002, 0x040300)));
  CHECK_FALSE(runs(device(0x1022, 0x060400)));
  CHECK_FALSE(runs(device(0x10de, 0x030000)));
  const auto node = [](const char* id) {
    return [=](const hmn_fake::Tree& tree) {
      tree.write("sys/class/kfd/kfd/topology/nodes/1/gpu_id", id);
    };
  };
  CHECK(runs(node("46363\n")));
  CHECK_FALSE(runs(node("0\n")));
}

TEST_CASE("a path that is not a program is reported as no_source") {
  Settings settings;
  settings.rocm_smi_path = "rocm-smi";
  CHECK(make_rocm_smi(settings)->probe().failure().code == Status::no_source);
  settings.rocm_smi_path = "/nowhere/rocm-smi";
  CHECK(mentions(make_rocm_smi(settings)->probe().failure(), "/nowhere/rocm-smi"));
}

TEST_CASE("a sleeping card is not woken, and its identity comes from the bus") {
  Machine machine("rocm-smi");
  machine.print("", one_card);
  const std::string runtime = "sys/" + hmn_fake::pci_folder(card_address) + "/power/runtime_status";
  machine.tree().write(runtime, "suspended\n");
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices);
  REQUIRE(devices->size() == 1);
  CHECK((*devices)[0].state == State::asleep);
  CHECK((*devices)[0].pci_bus_id.view() == card_address);
  CHECK((*devices)[0].pci_device == 0x73ffu);
  PoolList pools;
  CHECK(machine.source().memory(0, pools, reading).failure().code == Status::asleep);
  CHECK(machine.starts().empty());
  Machine woken("rocm-smi", true);
  woken.print("", one_card);
  woken.tree().write(runtime, "suspended\n");
  REQUIRE(woken.devices(reading));
  CHECK(woken.starts().size() == 1);
}
