// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Wrong output of nvidia-smi.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "witness.hpp"

using namespace lies_test;
using nlohmann::json;

namespace {

const std::string header =
    "index, uuid, name, pci.bus_id, memory.total [MiB], memory.used [MiB], memory.free [MiB], "
    "memory.reserved [MiB], utilization.gpu [%], temperature.gpu, power.draw [W], "
    "clocks.current.graphics [MHz]\n";

// Row of the first GPU, with `cells` from the total on.
std::string row(const std::string& cells) {
  return "0, GPU-1, NVIDIA L40S, 00000000:01:00.0, " + cells + "\n";
}

const std::string honest_cells = "46068, 9123, 36346, 599, 64, 45, 58.98, 2520";
const std::string honest = header + row(honest_cells);
const std::string apps_header = "gpu_uuid, gpu_bus_id, pid, used_gpu_memory [MiB], process_name\n";
const std::string app_prefix = "GPU-1, 00000000:01:00.0, ";

constexpr const char* used = "9566158848";  // 9123 MiB

class SmiTool {
 public:
  explicit SmiTool(std::uint32_t deadline_ms = patient_ms)
      : witness(backend_bit(HMN_BACKEND_NVIDIA_SMI), deadline_ms) {
    witness.tree().directory("tool");
    std::filesystem::copy_file(HMN_FAKE_NVIDIA_SMI, witness.tree().path("tool/nvidia-smi"));
    witness.set_path(HMN_PATH_NVIDIA_SMI, witness.tree().path("tool/nvidia-smi"));
  }
  // Sets the output of the tool, byte for byte; `extra`: how the tool ends.
  void print(const std::string& gpus, const std::string& apps = apps_header, json extra = {}) {
    witness.tree().write("tool/gpus", gpus);
    witness.tree().write("tool/apps", apps);
    extra["raw_query_gpu"]["file"] = "gpus";
    extra["raw_query_compute_apps"]["file"] = "apps";
    witness.tree().write("tool/nvidia-smi.json", extra.dump());
    witness.take_snapshot();
  }
  void replace(const std::string& script) {
    witness.tree().script("tool/nvidia-smi", script);
    witness.take_snapshot();
  }

  Witness witness;
};

}  // namespace

TEST_CASE("nvidia-smi: an impossible value of a GPU is absent, with a reason") {
  const Lie all[] = {
      {"honest",
       honest,
       {{"used_bytes", used}, {"power_watts", "58.98"}, {"core_clock_mhz", "2520"}}},
      {"a cell is missing",
       header + row("46068, 9123, 36346, 599, 64, 45, 58.98"),
       {{"used_bytes", "none"}},
       "make no sense",
       "not_understood"},
      {"a cell too many",
       header + row(honest_cells + ", 7"),
       {{"used_bytes", "none"}},
       "make no sense",
       "not_understood"},
      {"commas in the name",
       header + "0, GPU-1, NVIDIA L40S, rev. 2, 00000000:01:00.0, " + honest_cells + "\n",
       {{"used_bytes", used}}},
      {"empty cells",
       header + row("46068, , , , , , , "),
       {{"used_bytes", "not_understood"},
        {"power_watts", "not_understood"},
        {"total_bytes", "48305799168"}}},
      {"below 0",
       header + row("46068, -9123, 36346, 599, -1, 45, -5, -2520"),
       {{"used_bytes", "implausible"},
        {"gpu_busy_percent", "implausible"},
        {"power_watts", "implausible"},
        {"core_clock_mhz", "implausible"}}},
      {"huge",
       header + row("46068, 99999999999999999999, 18446744073709551615, 599, 640, 45000, "
                    "1000000000, 99999999999"),
       {{"used_bytes", "implausible"},
        {"gpu_busy_percent", "implausible"},
        {"temperature_celsius", "implausible"},
        {"power_watts", "implausible"},
        {"core_clock_mhz", "implausible"}}},
      {"words in columns of numbers",
       header + row("46068, many, some, few, busy, hot, NaN, inf"),
       {{"used_bytes", "not_understood"},
        {"gpu_busy_percent", "not_understood"},
        {"temperature_celsius", "not_understood"},
        {"power_watts", "not_understood"},
        {"core_clock_mhz", "not_understood"}}},
      {"its own words",
       header + row("46068, [N/A], [Unknown Error], [N/A], [Insufficient Permissions], [GPU "
                    "requires reset], [Timeout], [Not Supported]"),
       {{"used_bytes", "unsupported"},
        {"free_bytes", "failed"},
        {"gpu_busy_percent", "not_permitted"},
        {"temperature_celsius", "failed"},
        {"power_watts", "timed_out"},
        {"core_clock_mhz", "unsupported"}}},
      {"columns in another order",
       "power.draw [W], memory.free [MiB], uuid, memory.total [MiB], memory.used [MiB]\n58.98, "
       "36346, GPU-1, 46068, 9123\n",
       {{"used_bytes", used}, {"power_watts", "58.98"}, {"core_clock_mhz", "unsupported"}}},
      {"a column twice",
       "uuid, memory.used [MiB], memory.used [MiB]\nGPU-1, 1, 2\n",
       {{"used_bytes", "none"}},
       "printed no table",
       "failed"},
      {"another unit",
       "uuid, memory.total [MiB], memory.used [MB], power.draw [kW]\nGPU-1, 46068, 9123, 1\n",
       {{"used_bytes", "not_understood"}, {"power_watts", "not_understood"}}},
      {"used above the total",
       header + row("46068, 46069, 0, 0, 64, 45, 58.98, 2520"),
       {{"used_bytes", "implausible"}, {"total_bytes", "48305799168"}}},
      {"parts that do not add up",
       header + row("46068, 9123, 36346, 9000, 64, 45, 58.98, 2520"),
       {{"reserved_bytes", "implausible"},
        {"used_bytes", "implausible"},
        {"free_bytes", "implausible"},
        {"total_bytes", "48305799168"}}},
      {"a used that holds what is reserved",
       header + row("46068, 9123, 36945, 599, 64, 45, 58.98, 2520"),
       {{"reserved_bytes", "implausible"}, {"used_bytes", used}}},
      {"no rows", header, {{"used_bytes", "none"}}},
      {"a GPU twice",
       honest + row("46068, 1, 2, 3, 4, 5, 6, 7"),
       {{"used_bytes", used}},
       "lists twice",
       "ambiguous"},
      {"cut within a row",
       honest.substr(0, honest.size() - 12),
       {{"used_bytes", "none"}},
       "make no sense",
       "not_understood"},
      {"bytes that are no text",
       header + "0, GPU-1, NVIDIA \xff\xfe, 00000000:01:00.0, " + honest_cells + "\n",
       {{"used_bytes", used}}},
      {"zero bytes",
       header + row(std::string("46068, 91\0"
                                "23, 36346, 599, 64, 45, 58.98, 2520",
                                44)),
       {{"used_bytes", "not_understood"}}},
      {"nothing", "", {{"used_bytes", "none"}}, "printed nothing", "failed"},
      {"a warning",
       honest + "WARNING: infoROM is corrupted at gpu 0000:01:00.0\n",
       {{"used_bytes", used}, {"fan_percent", "unsupported"}},
       "infoROM is corrupted",
       "unknown"},
  };
  for (const Lie& lie : all) {
    SmiTool tool;
    tool.print(lie.output);
    check_lie(tool.witness, lie);
  }
}

TEST_CASE("nvidia-smi: a warning does not make a snapshot partial, and is listed once") {
  const std::string warning = "WARNING: infoROM is corrupted at gpu 0000:01:00.0\n";
  SmiTool tool;
  tool.print(honest + warning, apps_header + warning);
  CHECK_FALSE(tool.witness.is_partial());
  CHECK(tool.witness.find_reason("infoROM is corrupted") == "unknown");
  SmiTool quiet;
  quiet.print(honest, apps_header, {{"exit_code", 14}});
  CHECK_FALSE(quiet.witness.is_partial());
}

TEST_CASE("nvidia-smi: impossible process rows are dropped, and make the list incomplete") {
  const std::string app = app_prefix + "7, 538, /bin/a\n";
  const std::vector<Expectation> at_least{{"processes", "not_understood"},
                                          {"pid:7", ">=564133888"},
                                          {"unattributed_bytes", "ambiguous"}};
  const Lie all[] = {
      {"honest", app, {{"pid:7", "564133888"}, {"unattributed_bytes", "9002024960"}}},
      {"none", "", {{"processes", "listed"}, {"unattributed_bytes", used}}},
      {"a row of pid 0", app_prefix + "0, 3, /bin/a\n" + app, at_least, "make no sense",
       "not_understood"},
      {"a row cut in the middle", app + app_prefix + "8", at_least, "make no sense",
       "not_understood"},
      {"a line that is no row", app + "Segmentation fault\n", at_least, "make no sense",
       "not_understood"},
      {"a lost GPU that is not this one",
       app + "Unable to determine the device handle for GPU 0000:09:00.0: GPU is lost.\n",
       {{"pid:7", "564133888"}, {"unattributed_bytes", "9002024960"}}},
      {"a process twice",
       app_prefix + "7, 538, /bin/a\n" + app_prefix + "7, 538, /bin/a\n",
       {{"pid:7", "564133888"}}},
      {"below 0", app_prefix + "7, -538, /bin/a\n", {{"pid:7", "not_understood"}}},
      {"more than the GPU has", app_prefix + "7, 46069, /bin/a\n", {{"pid:7", "implausible"}}},
      {"words", app_prefix + "7, much, /bin/a\n", {{"pid:7", "not_understood"}}},
      {"its own words",
       app_prefix + "7, [N/A], /bin/a\n" + app_prefix + "8, [Insufficient Permissions], /bin/b\n",
       {{"pid:7", "unsupported"}, {"pid:8", "not_permitted"}}},
      {"no pid",
       app_prefix + "x, 538, /bin/a\n",
       {{"pid:7", "unlisted"}, {"processes", "not_understood"}},
       "make no sense",
       "not_understood"},
      {"a pid below 0",
       app_prefix + "-7, 538, /bin/a\n",
       {{"pid:7", "unlisted"},
        {"processes", "not_understood"},
        {"unattributed_bytes", "not_understood"}},
       "make no sense",
       "not_understood"},
      {"of no GPU here", "GPU-2, 00000000:09:00.0, 7, 538, /bin/a\n", {{"pid:7", "unlisted"}}},
      {"a name that is no text", app_prefix + "7, 538, /bin/\xff, x\n", {{"pid:7", "564133888"}}},
  };
  for (const Lie& lie : all) {
    SmiTool tool;
    tool.print(honest, apps_header + lie.output);
    check_lie(tool.witness, lie);
  }
}

TEST_CASE("nvidia-smi: a process list that is not a list is a failure") {
  const Lie all[] = {
      {"its words for none",
       "No running processes found\n",
       {{"processes", "listed"}, {"unattributed_bytes", used}}},
      {"nothing", "", {{"processes", "failed"}, {"unattributed_bytes", "failed"}}},
      {"half a header", "pid, proc", {{"processes", "failed"}, {"unattributed_bytes", "failed"}}},
      {"half a header, further on",
       "gpu_uuid, gpu_bus_id, pid, used_gpu_memory [MiB]\n",
       {{"processes", "failed"}, {"unattributed_bytes", "failed"}}},
      {"other columns",
       "timestamp, driver_version\n",
       {{"processes", "failed"}, {"unattributed_bytes", "failed"}}},
  };
  for (const Lie& lie : all) {
    SmiTool tool;
    tool.print(honest, lie.output);
    check_lie(tool.witness, lie);
  }
}

TEST_CASE("nvidia-smi: a process list beyond the limit is incomplete") {
  std::string rows;
  for (int pid = 1000; pid < 1000 + 65'537; ++pid) {
    rows += app_prefix + std::to_string(pid) + ", 0, x\n";
  }
  SmiTool tool;
  tool.print(honest, apps_header + app_prefix + "7, 538, /bin/a\n" + rows);
  tool.witness.check({{"pid:7", ">=564133888"}, {"unattributed_bytes", "ambiguous"}});
  CHECK(tool.witness.find_reason("more rows than") == "limit");
}

TEST_CASE("nvidia-smi: an exit code, a hang and endless output are reported") {
  SUBCASE("an exit code with a table") {
    SmiTool tool;
    tool.print(honest, apps_header, {{"exit_code", 15}});
    tool.witness.check({{"used_bytes", used}});
    CHECK(tool.witness.find_reason("exited with 15") == "lost");
  }
  SUBCASE("an exit code without output") {
    SmiTool tool;
    tool.print("", "", {{"exit_code", 9}});
    CHECK(tool.witness.count_devices() == 0);
    CHECK(tool.witness.find_reason("exited with 9") == "not_present");
  }
  SUBCASE("a hang, with a table and without") {
    for (const char* behaviour : {"hang", "hang_after_output"}) {
      CAPTURE(behaviour);
      SmiTool tool(1'500);
      json hung;
      hung["behaviour"][behaviour] = true;
      tool.print(honest, apps_header, hung);
      CHECK(tool.witness.count_devices() == 0);
      CHECK(tool.witness.find_reason("did not answer within the deadline") == "timed_out");
    }
  }
  SUBCASE("endless output") {
    SmiTool tool;
    tool.replace("exec yes 'no table'\n");
    CHECK(tool.witness.count_devices() == 0);
    CHECK(tool.witness.find_reason("more than is read") == "limit");
  }
  SUBCASE("endless rows") {
    SmiTool tool;
    tool.witness.tree().write("tool/head", header);
    tool.witness.tree().write("tool/row", row(honest_cells));
    tool.replace("cd \"${0%/*}\"; cat head; exec yes \"$(cat row)\"\n");
    tool.witness.check({{"used_bytes", used}});
    CHECK(tool.witness.find_reason("more rows than") == "limit");
  }
}
