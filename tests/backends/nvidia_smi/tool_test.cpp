// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Running the tool: what is asked, how often, and what each way to fail becomes.
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

Result<std::vector<Device>> list(const json& scenario, PlainReading& r) {
  Machine m(scenario);
  return m.devices(r);
}

Failure why_not(const json& scenario, std::uint64_t deadline_ms = 20'000) {
  PlainReading r(deadline_ms);
  const auto found = list(scenario, r);
  REQUIRE_FALSE(found);
  return found.why();
}

Failure says(const char* text, int exit_code) {
  return why_not({{"failure", {{"text", std::string(text) + "\n"}, {"exit_code", exit_code}}}});
}

// What an old tool knows: all columns but `names`.
json without(json scene, const std::vector<std::string>& names) {
  json known = json::array();
  for (std::string_view columns = gpu_spellings(); !columns.empty();) {
    for (std::string_view line = scan::take_line(columns); !line.empty();) {
      const std::string_view name = scan::take_word(line);
      if (std::find(names.begin(), names.end(), name) == names.end()) known.push_back(name);
    }
  }
  scene["known_fields"] = known;
  return scene;
}

}  // namespace

TEST_CASE("one start for all GPUs, with absolute path, fixed arguments and a clean environment") {
  Machine m(scenario({gpu(0), gpu(1), gpu(2)}));
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found);
  CHECK(found->size() == 3);
  Pools p;
  Telemetry t;
  for (Slot number = 0; number < 3; ++number) {
    REQUIRE(m.source().memory(number, p, r));
    REQUIRE(m.source().telemetry(number, telemetry_field::power_watts, t, r));
  }
  const auto starts = m.starts();
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].at("argv").at(0) == m.path());
  CHECK(starts[0].at("argv").at(1).get<std::string>().starts_with("--query-gpu=index,uuid,name,"));
  CHECK(starts[0].at("argv").at(2) == "--format=csv,nounits");
  CHECK(starts[0].at("argv").size() == 3);
}

TEST_CASE("a second reading starts it again, processes once more") {
  Machine m(scenario({gpu(0, {}, {app(7, 1, "a")}), gpu(1)}));
  PlainReading r;
  REQUIRE(m.devices(r));
  REQUIRE(m.devices(r));
  std::vector<Usage> rows;
  Usage one;
  REQUIRE(m.source().processes(0, rows, r));
  REQUIRE(m.source().processes(1, rows, r));
  REQUIRE(m.source().process(0, 7, false, one, r));
  CHECK(m.starts().size() == 3);
}

TEST_CASE("a column that the tool does not know costs that column, and is asked for once") {
  const std::vector<std::string> missing = {"memory.reserved", "utilization.encoder",
                                            "clocks_event_reasons.active"};
  json g = gpu(0);
  g["fields"]["clocks_throttle_reasons.active"] = "0x0000000000000001";
  Machine m(without(scenario({g}), missing));
  PlainReading r;
  REQUIRE(m.devices(r));
  CHECK(m.starts().size() == 4);
  Pools p;
  REQUIRE(m.source().memory(0, p, r));
  CHECK(p.find(PoolKind::main)->used == 9123 * mib);
  CHECK_FALSE(p.find(PoolKind::main)->reserved);
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
  CHECK(t.gpu_busy_percent == 64);
  CHECK_FALSE(t.encoder_busy_percent);
  CHECK(t.throttle == throttle::idle);
  REQUIRE(m.devices(r));
  CHECK(m.starts().size() == 5);
}

TEST_CASE("a tool that was replaced is asked for everything again") {
  Machine m(without(scenario({gpu(0)}), {"memory.reserved"}));
  PlainReading r;
  REQUIRE(m.devices(r));
  m.change(scenario({gpu(0)}));
  std::filesystem::rename(m.path(), m.path() + ".old");
  std::filesystem::copy_file(HMN_FAKE_NVIDIA_SMI, m.path());
  REQUIRE(m.devices(r));
  Pools p;
  REQUIRE(m.source().memory(0, p, r));
  CHECK(p.find(PoolKind::main)->reserved == 599 * mib);
}

TEST_CASE("a tool that refuses every column ends") {
  json scene = scenario({gpu(0)});
  scene["known_fields"] = json::array();
  const Failure why = why_not(scene);
  CHECK(why.code == Status::unsupported);
}

TEST_CASE("a tool that refuses a column nobody asked for") {
  CHECK(says("Field \"cuda_version\" is not a valid field to query.", 2).code ==
        Status::unsupported);
}

TEST_CASE("what it says in words, with its exit code") {
  const Failure driver =
      says("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", 9);
  CHECK(driver.code == Status::no_source);
  CHECK(driver.native.domain == NativeDomain::exit);
  CHECK(driver.native.code == 9);
  CHECK(mentions(driver, "modprobe"));
  CHECK(says("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: "
             "595.91",
             18)
            .code == Status::backend);
  CHECK(says("Failed to initialize NVML: GPU access blocked by the operating system", 255).code ==
        Status::permission);
  CHECK(says("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", 12).code ==
        Status::no_source);
  CHECK(says("Unable to determine the device handle for GPU0: 0000:81:00.0: Unknown Error\n"
             "No devices were found",
             6)
            .code == Status::backend);
}

TEST_CASE("an exit code alone") {
  CHECK(says("Etwas ist schiefgegangen", 9).code == Status::no_source);
  CHECK(says("", 4).code == Status::permission);
  CHECK(says("", 15).code == Status::device_lost);
  CHECK(says("", 255).code == Status::backend);
  const Failure silent = says("", 0);
  CHECK(silent.code == Status::backend);
  CHECK(mentions(silent, "nothing"));
}

TEST_CASE("no devices is an answer, not an error") {
  PlainReading r;
  const auto found = list(scenario({}), r);
  REQUIRE(found);
  CHECK(found->empty());
  CHECK(r.diagnostics.empty());
}

TEST_CASE("a table and a non-zero exit: the rows count, the exit is told") {
  json scene = scenario({gpu(0)});
  scene["exit_code"] = 15;
  PlainReading r;
  const auto found = list(scene, r);
  REQUIRE(found);
  CHECK(found->size() == 1);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].why.code == Status::device_lost);
  CHECK(r.diagnostics[0].why.native.code == 15);
  PlainReading quiet;
  scene["exit_code"] = 14;  // corrupted infoROM
  REQUIRE(list(scene, quiet));
  CHECK(quiet.diagnostics.empty());
}

TEST_CASE("what it prints on stderr is nobody's business") {
  json scene = scenario({gpu(0)});
  scene["stderr"] = "warning\n";
  PlainReading r;
  REQUIRE(list(scene, r));
  CHECK(r.diagnostics.empty());
}

TEST_CASE("a tool that hangs is ended at the deadline") {
  for (const char* how : {"hang", "hang_after_output", "close_stdout_and_hang"}) {
    CAPTURE(how);
    json scene = scenario({gpu(0)});
    scene["behaviour"] = {{how, true}, {"ignore_sigterm", true}};
    const std::uint64_t begun = platform::monotonic_ns();
    CHECK(why_not(scene, 300).code == Status::timeout);
    CHECK(platform::monotonic_ns() - begun < 60 * platform::ns_per_second);
  }
}

TEST_CASE("a tool that dies after its table: whole rows count") {
  json scene = scenario({gpu(0), gpu(1)});
  scene["behaviour"] = {{"dies_by_signal", 11}};
  PlainReading r;
  const auto found = list(scene, r);
  REQUIRE(found);
  CHECK(found->size() == 2);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].why.native.code == 128 + 11);
  scene["raw_query_gpu"] = "index, uuid, memory.total [MiB]\n0, GPU-a, 1000\n1, GPU-b, 10";
  PlainReading cut;
  CHECK(list(scene, cut)->size() == 1);
}

TEST_CASE("output without an end is cut, and a cut row is no row") {
  json scene = scenario({gpu(0)});
  scene["behaviour"] = {{"endless", "0, GPU-a, "}};
  CHECK(why_not(scene).code == Status::limit);
  scene["behaviour"] = {{"long_line_bytes", 10 << 20}};
  CHECK(why_not(scene).code == Status::limit);
  scene.erase("behaviour");
  std::string rows = "index, uuid, memory.total [MiB]\n0, GPU-a, 1000\n";
  while (rows.size() < (5 << 20)) rows += "0, GPU-a, 1000\n";
  scene["raw_query_gpu"] = rows;
  PlainReading r;
  const auto found = list(scene, r);
  REQUIRE(found);
  CHECK(found->size() == 1);
  CHECK(r.count(Status::limit) == 1);
}

TEST_CASE("bytes that are no text") {
  json scene = scenario({gpu(0)});
  scene["raw_query_gpu"] = {{"hex", "ff fe 00 01 0a 00 00 0a"}};
  const Failure why = why_not(scene);
  CHECK(why.code == Status::backend);
  CHECK(why.message.view().find('\0') == std::string::npos);
  scene["raw_query_gpu"] = std::string("index, uuid, name\n0, GPU-a, A\0B\n", 31);
  PlainReading r;
  const auto found = list(scene, r);
  REQUIRE(found);
  CHECK(found->at(0).name.view() ==
        "A\xEF\xBF\xBD"
        "B");
}

TEST_CASE("a row that makes no sense is told once, with the first of its kind") {
  json scene = scenario({gpu(0)});
  scene["raw_query_gpu"] = "index, uuid, memory.total [MiB]\nx\ny\n0, GPU-a, 1000\nz, z\n";
  PlainReading r;
  REQUIRE(list(scene, r));
  REQUIRE(r.count(Status::backend) == 1);
  CHECK(mentions(r.find(Status::backend)->why, "3 line(s)"));
}

TEST_CASE("where the tool is looked for") {
  PlainReading r;
  for (const char* wrong : {"nvidia-smi", "/nowhere/nvidia-smi", "/etc/passwd", "/"}) {
    command_tool::Program p(smi, wrong);
    Reply<GpuRow> none;
    CHECK(Tool(p).ask_gpus(r, none).why().code == Status::no_source);
    CHECK(none.rows.empty());
  }
}

TEST_CASE("each start is traced with arguments, duration and exit code, if asked") {
  Machine m(without(scenario({gpu(0)}), {"memory.reserved"}));
  PlainReading r(20'000, true);
  REQUIRE(m.devices(r));
  REQUIRE(r.diagnostics.size() == 2);
  for (const Diagnostic& d : r.diagnostics) {
    CHECK(d.notes == note::trace);
    CHECK(d.why.code == Status::ok);
    CHECK(d.why.native.domain == NativeDomain::exit);
    CHECK(d.why.message.view().starts_with(m.path() + " --query-gpu="));
    CHECK(d.duration_ns.value_or(0) > 0);
  }
  CHECK(r.diagnostics[0].why.native.code == 2);
  CHECK(r.diagnostics[1].why.native.code == 0);
}
