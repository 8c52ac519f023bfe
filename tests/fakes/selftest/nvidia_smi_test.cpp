// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fake_tree.hpp"
#include "process_result.hpp"

namespace {

using json = nlohmann::json;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr const char* two_gpus = R"({"gpus": [
  {"fields": {"name": "NVIDIA L40S", "uuid": "GPU-a", "pci.bus_id": "00000000:01:00.0",
              "memory.total": 46068, "memory.used": 9123, "power.draw": 58.98, "power.limit": 300,
              "fan.speed": "[N/A]", "temperature.gpu": 45},
   "compute_apps": [{"pid": 10, "process_name": "a b", "used_gpu_memory": 538}]},
  {"fields": {"name": "NVIDIA GB10", "uuid": "GPU-b", "memory.total": "[N/A]"}}]})";

class Tool {
 public:
  explicit Tool(const std::string& scenario) {
    fs::copy_file(FAKES_DIR "/nvidia-smi/nvidia-smi", tree_.path("nvidia-smi"));
    if (!scenario.empty()) tree_.write("nvidia-smi.json", scenario);
  }

  selftest::ProcessResult operator()(const std::vector<std::string>& arguments,
                                     std::chrono::milliseconds limit = 10s,
                                     bool keep = true) const {
    return selftest::run(tree_.path("nvidia-smi"), arguments, limit, keep);
  }

  std::vector<json> log() const {
    std::ifstream file(tree_.path("nvidia-smi.log"));
    std::vector<json> out;
    for (std::string line; std::getline(file, line);) out.push_back(json::parse(line));
    return out;
  }

  std::string folder() const { return tree_.root().string(); }

 private:
  hmn_fake::Tree tree_;
};

}  // namespace

TEST_CASE("nvidia_smi: a query prints header and units") {
  const Tool smi(two_gpus);
  const auto result =
      smi({"--query-gpu=index,gpu_name,memory.total,memory.used,power.draw,power.limit,"
           "fan.speed,temperature.gpu,mig.mode.current",
           "--format=csv"});
  CHECK(result.exit_code == 0);
  CHECK(result.out ==
        "index, name, memory.total [MiB], memory.used [MiB], power.draw [W], power.limit [W], "
        "fan.speed [%], temperature.gpu, mig.mode.current\n"
        "0, NVIDIA L40S, 46068 MiB, 9123 MiB, 58.98 W, 300.00 W, [N/A], 45, [N/A]\n"
        "1, NVIDIA GB10, [N/A], [N/A], [N/A], [N/A], [N/A], [N/A], [N/A]\n");
}

TEST_CASE("nvidia_smi: a GPU is selected by index, UUID or bus id, without header and units") {
  const Tool smi(two_gpus);
  for (const std::vector<std::string>& id : {std::vector<std::string>{"--id=0"},
                                             {"-i", "0"},
                                             {"--id=GPU-a"},
                                             {"-i", "00000000:01:00.0"}}) {
    auto arguments = id;
    arguments.insert(arguments.end(),
                     {"--query-gpu=memory.used,power.limit", "--format=csv,noheader,nounits"});
    CHECK(smi(arguments).out == "9123, 300.00\n");
  }
  const auto none = smi({"--query-gpu=name", "--format=csv", "--id=5"});
  CHECK(none.out == "No devices were found\n");
  CHECK(none.exit_code == 6);
}

TEST_CASE("nvidia_smi: processes are printed with their GPU") {
  const Tool smi(two_gpus);
  CHECK(smi({"--query-compute-apps=pid,process_name,used_memory,gpu_uuid", "--format=csv"}).out ==
        "pid, process_name, used_gpu_memory [MiB], gpu_uuid\n10, a b, 538 MiB, GPU-a\n");
  CHECK(smi({"--query-compute-apps=pid", "--format=csv,noheader", "--id=1"}).out == "");
}

TEST_CASE("nvidia_smi: an unknown column fails the whole query on stdout") {
  auto scenario = json::parse(two_gpus);
  scenario["known_fields"] = {"name", "memory.total"};
  const Tool smi(scenario.dump());
  const auto result = smi({"--query-gpu=name,memory.reserved", "--format=csv"});
  CHECK(result.out == "Field \"memory.reserved\" is not a valid field to query.\n\n");
  CHECK(result.err == "");
  CHECK(result.exit_code == 2);
  CHECK(smi({"--query-gpu=name", "--format=csv,noheader", "-i", "0"}).out == "NVIDIA L40S\n");
}

TEST_CASE("nvidia_smi: invalid arguments are rejected") {
  const Tool smi(two_gpus);
  CHECK(smi({"--frobnicate"}).out ==
        "ERROR: Option --frobnicate is not recognized. Please run 'nvidia-smi -h' for help.\n\n");
  CHECK(smi({"--query-gpu"}).out ==
        "ERROR: Option --query-gpu is missing its value. Please run 'nvidia-smi -h' for help.\n\n");
  CHECK(smi({"--format=csv"}).exit_code == 255);
}

TEST_CASE("nvidia_smi: a failure uses the stream and exit code of the scenario") {
  const Tool broken(R"({"failure": {"text": "Failed to initialize NVML: Unknown Error\n"}})");
  const auto result = broken({"--query-gpu=name", "--format=csv"});
  CHECK(result.out == "Failed to initialize NVML: Unknown Error\n");
  CHECK(result.exit_code == 255);
  const Tool loud_tool(R"({"failure": {"text": "x", "exit_code": 12, "stream": "stderr"}})");
  CHECK(loud_tool({"--query-gpu=name", "--format=csv"}).err == "x");
  const Tool absent("");
  CHECK(absent({}).exit_code == 9);
}

TEST_CASE("nvidia_smi: raw output may contain bytes that JSON cannot") {
  const Tool smi(
      R"({"raw_query_gpu": "a\u0000b\n", "raw_query_compute_apps": {"hex": "ff c3 28 0a"},
                     "raw": {"-q -x": "<xml/>"}, "exit_code": 3})");
  CHECK(smi({"--query-gpu=name", "--format=csv"}).out == std::string("a\0b\n", 4));
  const auto apps = smi({"--query-compute-apps=pid", "--format=csv"});
  CHECK(apps.out == "\xff\xc3(\n");
  CHECK(apps.exit_code == 3);
  CHECK(smi({"-q", "-x"}).out == "<xml/>");
}

TEST_CASE("nvidia_smi: a sequence gives each start its own answer") {
  const Tool smi(R"({"raw_query_gpu": "base", "sequence": [{}, {"raw_query_gpu": "second"}]})");
  const std::vector<std::string> query = {"--query-gpu=name", "--format=csv"};
  CHECK(smi(query).out == "base");
  CHECK(smi(query).out == "second");
  CHECK(smi(query).out == "second");
}

TEST_CASE("nvidia_smi: each start is logged") {
  const Tool smi(two_gpus);
  smi({"--query-gpu=name", "--format=csv"});
  smi({"-L"});
  const auto log = smi.log();
  REQUIRE(log.size() == 2);
  CHECK(log[0].at("argv").at(1) == "--query-gpu=name");
  CHECK(log[0].at("env") == json::object());
  CHECK(log[0].at("cwd") == fs::current_path().string());
  CHECK(log[0].at("ppid") == getpid());
  CHECK(log[0].at("fds").contains("1"));
  CHECK(log[0].at("signals_blocked").get<std::string>().size() == 16);
}

TEST_CASE("nvidia_smi: each kind of misbehaviour takes place") {
  const std::vector<std::string> query = {"--query-gpu=name", "--format=csv"};
  CHECK(Tool(R"({"behaviour": {"hang": true}})")(query, 200ms).signal == SIGKILL);
  const auto after =
      Tool(R"({"raw_query_gpu": "x", "behaviour": {"hang_after_output": true}})")(query, 500ms);
  CHECK(after.out == "x");
  CHECK(after.signal == SIGKILL);
  CHECK(Tool(R"({"behaviour": {"endless": "line\n"}})")(query, 200ms, false).signal == SIGKILL);
  CHECK(Tool(R"({"raw_query_gpu": "", "behaviour": {"long_line_bytes": 10485760}})")(query)
            .out.size() == 10485760);
  CHECK(Tool(R"({"raw_query_gpu": "x", "behaviour": {"dies_by_signal": 6}})")(query).signal ==
        SIGABRT);
  const auto start = std::chrono::steady_clock::now();
  const auto orphan =
      Tool(R"({"raw_query_gpu": "x", "behaviour": {"orphan_holds_stdout_ms": 300}})")(query);
  CHECK(orphan.exit_code == 0);
  CHECK(std::chrono::steady_clock::now() - start >= 300ms);
}

TEST_CASE("nvidia_smi: an error in the scenario is reported") {
  const auto result = Tool(R"({"gpuz": []})")({"-L"});
  CHECK(result.exit_code == 70);
  CHECK(result.err.find("gpuz") != std::string::npos);
}
