// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Running the tool: its arguments, how often it is started, and how its failures are reported.
#include "backends/nvidia_smi/tool.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "machine.hpp"
#include "model/scan.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace hmn::nvidia_smi;
using namespace smi_test;

namespace {

Result<std::vector<Device>> run_tool(const json& scenario, PlainReading& reading) {
  Machine machine(scenario);
  return machine.devices(reading);
}

Failure get_failure(const json& scenario, std::uint64_t deadline_ms = 20'000) {
  PlainReading reading(deadline_ms);
  const auto devices = run_tool(scenario, reading);
  REQUIRE_FALSE(devices);
  return devices.failure();
}

Failure fail_with(const char* text, int exit_code) {
  return get_failure({{"failure", {{"text", std::string(text) + "\n"}, {"exit_code", exit_code}}}});
}

// A scenario of an older tool, which lacks the columns `names`.
json remove_columns(json scene, const std::vector<std::string>& names) {
  json known_fields = json::array();
  for (std::string_view columns = gpu_spellings(); !columns.empty();) {
    for (std::string_view line = scan::take_line(columns); !line.empty();) {
      const std::string_view name = scan::take_word(line);
      if (std::find(names.begin(), names.end(), name) == names.end()) known_fields.push_back(name);
    }
  }
  scene["known_fields"] = known_fields;
  return scene;
}

}  // namespace

TEST_CASE("the tool is started once for all GPUs, with an absolute path and fixed arguments") {
  Machine machine(scenario({gpu(0), gpu(1), gpu(2)}));
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices);
  CHECK(devices->size() == 3);
  PoolList pools;
  Telemetry telemetry;
  for (Slot number = 0; number < 3; ++number) {
    REQUIRE(machine.source().memory(number, pools, reading));
    REQUIRE(machine.source().telemetry(number, telemetry_field::power_watts, telemetry, reading));
  }
  const auto starts = machine.starts();
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].at("argv").at(0) == machine.path());
  CHECK(starts[0].at("argv").at(1).get<std::string>().starts_with("--query-gpu=index,uuid,name,"));
  CHECK(starts[0].at("argv").at(2) == "--format=csv,nounits");
  CHECK(starts[0].at("argv").size() == 3);
}

TEST_CASE("the tool is started again for a second reading, and once more for processes") {
  Machine machine(scenario({gpu(0, {}, {app(7, 1, "a")}), gpu(1)}));
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  REQUIRE(machine.devices(reading));
  std::vector<Usage> rows;
  Usage usage;
  REQUIRE(machine.source().processes(0, rows, reading));
  REQUIRE(machine.source().processes(1, rows, reading));
  REQUIRE(machine.source().process(0, 7, false, usage, reading));
  CHECK(machine.starts().size() == 3);
}

TEST_CASE("a column unknown to the tool is lost, and not requested again") {
  const std::vector<std::string> missing = {"memory.reserved", "utilization.encoder",
                                            "clocks_event_reasons.active"};
  json card = gpu(0);
  card["fields"]["clocks_throttle_reasons.active"] = "0x0000000000000001";
  Machine machine(remove_columns(scenario({card}), missing));
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  CHECK(machine.starts().size() == 4);
  PoolList pools;
  REQUIRE(machine.source().memory(0, pools, reading));
  CHECK(pools.find(PoolKind::main)->used == 9123 * mib);
  CHECK_FALSE(pools.find(PoolKind::main)->reserved);
  Telemetry telemetry;
  REQUIRE(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  CHECK(telemetry.gpu_busy_percent == 64);
  CHECK_FALSE(telemetry.encoder_busy_percent);
  CHECK(telemetry.throttle == throttle::idle);
  REQUIRE(machine.devices(reading));
  CHECK(machine.starts().size() == 5);
}

TEST_CASE("a tool that was replaced is asked for every column again") {
  Machine machine(remove_columns(scenario({gpu(0)}), {"memory.reserved"}));
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  machine.change(scenario({gpu(0)}));
  std::filesystem::rename(machine.path(), machine.path() + ".old");
  std::filesystem::copy_file(HMN_FAKE_NVIDIA_SMI, machine.path());
  REQUIRE(machine.devices(reading));
  PoolList pools;
  REQUIRE(machine.source().memory(0, pools, reading));
  CHECK(pools.find(PoolKind::main)->reserved == 599 * mib);
}

TEST_CASE("a tool that refuses every column is reported as unsupported") {
  json scene = scenario({gpu(0)});
  scene["known_fields"] = json::array();
  const Failure failure = get_failure(scene);
  CHECK(failure.code == Status::unsupported);
}

TEST_CASE("a tool that refuses a column not requested is reported as unsupported") {
  CHECK(fail_with("Field \"cuda_version\" is not a valid field to query.", 2).code ==
        Status::unsupported);
}

TEST_CASE("messages of the tool are reported with its exit code") {
  const Failure driver =
      fail_with("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", 9);
  CHECK(driver.code == Status::no_source);
  CHECK(driver.native.domain == NativeDomain::exit);
  CHECK(driver.native.code == 9);
  CHECK(mentions(driver, "modprobe"));
  CHECK(
      fail_with("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: "
                "595.91",
                18)
          .code == Status::backend);
  CHECK(fail_with("Failed to initialize NVML: GPU access blocked by the operating system", 255)
            .code == Status::permission);
  CHECK(fail_with("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", 12).code ==
        Status::no_source);
  CHECK(fail_with("Unable to determine the device handle for GPU0: 0000:81:00.0: Unknown Error\n"
                  "No devices were found",
                  6)
            .code == Status::backend);
}

TEST_CASE("an exit code without a known message has its own status") {
  CHECK(fail_with("Etwas ist schiefgegangen", 9).code == Status::no_source);
  CHECK(fail_with("", 4).code == Status::permission);
  CHECK(fail_with("", 15).code == Status::device_lost);
  CHECK(fail_with("", 255).code == Status::backend);
  const Failure silent = fail_with("", 0);
  CHECK(silent.code == Status::backend);
  CHECK(mentions(silent, "nothing"));
}

TEST_CASE("no devices is an empty list, not an error") {
  PlainReading reading;
  const auto devices = run_tool(scenario({}), reading);
  REQUIRE(devices);
  CHECK(devices->empty());
  CHECK(reading.diagnostics.empty());
}

TEST_CASE("with a table and a non-zero exit the rows are kept, and the exit is reported") {
  json scene = scenario({gpu(0)});
  scene["exit_code"] = 15;
  PlainReading reading;
  const auto devices = run_tool(scene, reading);
  REQUIRE(devices);
  CHECK(devices->size() == 1);
  REQUIRE(reading.diagnostics.size() == 1);
  CHECK(reading.diagnostics[0].failure.code == Status::device_lost);
  CHECK(reading.diagnostics[0].failure.native.code == 15);
  PlainReading quiet;
  scene["exit_code"] = 14;  // corrupted infoROM
  REQUIRE(run_tool(scene, quiet));
  CHECK(quiet.diagnostics.empty());
}

TEST_CASE("output on stderr is ignored") {
  json scene = scenario({gpu(0)});
  scene["stderr"] = "warning\n";
  PlainReading reading;
  REQUIRE(run_tool(scene, reading));
  CHECK(reading.diagnostics.empty());
}

TEST_CASE("a tool that hangs is ended at the deadline") {
  for (const char* behaviour : {"hang", "hang_after_output", "close_stdout_and_hang"}) {
    CAPTURE(behaviour);
    json scene = scenario({gpu(0)});
    scene["behaviour"] = {{behaviour, true}, {"ignore_sigterm", true}};
    const std::uint64_t start_ns = platform::monotonic_ns();
    CHECK(get_failure(scene, 300).code == Status::timeout);
    CHECK(platform::monotonic_ns() - start_ns < 60 * platform::ns_per_second);
  }
}

TEST_CASE("complete rows are kept if the tool dies after its table") {
  json scene = scenario({gpu(0), gpu(1)});
  scene["behaviour"] = {{"dies_by_signal", 11}};
  PlainReading reading;
  const auto devices = run_tool(scene, reading);
  REQUIRE(devices);
  CHECK(devices->size() == 2);
  REQUIRE(reading.diagnostics.size() == 1);
  CHECK(reading.diagnostics[0].failure.native.code == 128 + 11);
  scene["raw_query_gpu"] = "index, uuid, memory.total [MiB]\n0, GPU-a, 1000\n1, GPU-b, 10";
  PlainReading cut;
  CHECK(run_tool(scene, cut)->size() == 1);
}

TEST_CASE("endless output is truncated, and an incomplete row is dropped") {
  json scene = scenario({gpu(0)});
  scene["behaviour"] = {{"endless", "0, GPU-a, "}};
  CHECK(get_failure(scene).code == Status::limit);
  scene["behaviour"] = {{"long_line_bytes", 10 << 20}};
  CHECK(get_failure(scene).code == Status::limit);
  scene.erase("behaviour");
  std::string rows = "index, uuid, memory.total [MiB]\n0, GPU-a, 1000\n";
  while (rows.size() < (5 << 20)) rows += "0, GPU-a, 1000\n";
  scene["raw_query_gpu"] = rows;
  PlainReading reading;
  const auto devices = run_tool(scene, reading);
  REQUIRE(devices);
  CHECK(devices->size() == 1);
  CHECK(reading.count(Status::limit) == 1);
}

TEST_CASE("bytes that are not text are refused or replaced") {
  json scene = scenario({gpu(0)});
  scene["raw_query_gpu"] = {{"hex", "ff fe 00 01 0a 00 00 0a"}};
  const Failure failure = get_failure(scene);
  CHECK(failure.code == Status::backend);
  CHECK(failure.message.view().find('\0') == std::string::npos);
  scene["raw_query_gpu"] = std::string("index, uuid, name\n0, GPU-a, A\0B\n", 31);
  PlainReading reading;
  const auto devices = run_tool(scene, reading);
  REQUIRE(devices);
  CHECK(devices->at(0).name.view() ==
        "A\xEF\xBF\xBD"
        "B");
}

TEST_CASE("unparsable rows are reported once, with their number") {
  json scene = scenario({gpu(0)});
  scene["raw_query_gpu"] = "index, uuid, memory.total [MiB]\nx\ny\n0, GPU-a, 1000\nz, z\n";
  PlainReading reading;
  REQUIRE(run_tool(scene, reading));
  REQUIRE(reading.count(Status::backend) == 1);
  CHECK(mentions(reading.find(Status::backend)->failure, "3 line(s)"));
}

TEST_CASE("a wrong path of the tool is reported as no_source") {
  PlainReading reading;
  for (const char* wrong : {"nvidia-smi", "/nowhere/nvidia-smi", "/etc/passwd", "/"}) {
    command_tool::Program program(smi, wrong);
    Reply<GpuRow> none;
    CHECK(Tool(program).query_gpus(reading, none).failure().code == Status::no_source);
    CHECK(none.rows.empty());
  }
}

TEST_CASE("a traced reading records every start with arguments, duration and exit code") {
  Machine machine(remove_columns(scenario({gpu(0)}), {"memory.reserved"}));
  PlainReading reading(20'000, true);
  REQUIRE(machine.devices(reading));
  REQUIRE(reading.diagnostics.size() == 2);
  for (const Diagnostic& diagnostic : reading.diagnostics) {
    CHECK(diagnostic.notes == note::trace);
    CHECK(diagnostic.failure.code == Status::ok);
    CHECK(diagnostic.failure.native.domain == NativeDomain::exit);
    CHECK(diagnostic.failure.message.view().starts_with(machine.path() + " --query-gpu="));
    CHECK(diagnostic.duration_ns.value_or(0) > 0);
  }
  CHECK(reading.diagnostics[0].failure.native.code == 2);
  CHECK(reading.diagnostics[1].failure.native.code == 0);
}
