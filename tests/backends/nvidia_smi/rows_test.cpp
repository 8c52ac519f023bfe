// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Lines of the Rust predecessor's tests, which asked without a header; here the header is
// that of the same columns. Where the result differs the list in docs/backends/nvidia-smi.md
// explains why.
#include "backends/nvidia_smi/rows.hpp"

#include <doctest/doctest.h>

#include <string>

#include "machine.hpp"

using namespace hmn;
using namespace hmn::nvidia_smi;
using smi_test::mib;

namespace {

struct Sizes {
  hmn::nvidia_smi::CellValue<std::uint64_t> used;
  hmn::nvidia_smi::CellValue<std::uint64_t> total;
  std::string driver;
};

// A line of the predecessor's device query.
std::optional<Sizes> parse_device_line(const std::string& line) {
  const auto answer =
      parse_gpus("memory.used [MiB], memory.total [MiB], driver_version\n" + line + "\n", false);
  REQUIRE(answer.is_table);
  if (answer.rows.empty()) return std::nullopt;
  const GpuRow& row = answer.rows[0];
  const auto bytes = [&](GpuColumn column) {
    return parse_bytes(row[column].text, row[column].unit);
  };
  return Sizes{bytes(GpuColumn::memory_used), bytes(GpuColumn::memory_total),
               std::string(row.value_or_empty(GpuColumn::driver_version))};
}

// A line of its process query.
std::optional<AppRow> parse_app_line(const std::string& line) {
  const auto answer = parse_apps("pid, process_name, used_gpu_memory [MiB]\n" + line + "\n", false);
  REQUIRE(answer.is_table);
  if (answer.rows.empty()) return std::nullopt;
  return answer.rows[0];
}

}  // namespace

TEST_CASE("used, total and driver are parsed") {
  const auto whole = parse_device_line("1024, 16384, 610.88");
  REQUIRE(whole);
  CHECK(whole->used.value == 1'073'741'824);
  CHECK(whole->total.value == 17'179'869'184);
  CHECK(whole->driver == "610.88");
  const auto no_driver = parse_device_line("1024, 16384, ");
  REQUIRE(no_driver);
  CHECK(no_driver->used.value == 1'073'741'824);
  CHECK(no_driver->total.value == 17'179'869'184);
  CHECK(no_driver->driver.empty());
}

TEST_CASE("a line with fewer cells than the header is not a row") {
  CHECK_FALSE(parse_device_line("1024, 16384"));
  CHECK_FALSE(parse_device_line("1024"));
}

TEST_CASE("a cell that is not a number is absent, and the others are kept") {
  const auto used = parse_device_line("notanumber, 16384, 610.88");
  REQUIRE(used);
  CHECK_FALSE(used->used.value);
  CHECK(used->total.value == 17'179'869'184);
  CHECK(used->driver == "610.88");
  const auto total = parse_device_line("1024, notanumber, 610.88");
  REQUIRE(total);
  CHECK(total->used.value == 1'073'741'824);
  CHECK_FALSE(total->total.value);
  CHECK(total->driver == "610.88");
}

TEST_CASE("sentinels, units and surplus cells are handled") {
  const auto na = parse_device_line("[N/A], 16384, x");
  REQUIRE(na);
  CHECK_FALSE(na->used.value);
  CHECK(na->used.status == Status::unsupported);
  CHECK(na->total.value == 17'179'869'184);
  CHECK(na->driver == "x");
  const auto units = parse_device_line("1024 MiB, 16384 MiB, x");
  REQUIRE(units);
  CHECK(units->used.value == 1'073'741'824);
  CHECK(units->total.value == 17'179'869'184);
  const auto driver = parse_device_line("1024, 16384, [N/A]");
  REQUIRE(driver);
  CHECK(driver->used.value == 1'073'741'824);
  CHECK(driver->total.value == 17'179'869'184);
  CHECK(driver->driver.empty());
  CHECK_FALSE(parse_device_line("1024,16384,610.88,extra"));
}

TEST_CASE("a process is parsed, even if its name has a comma") {
  const auto plain = parse_app_line("12345, python.exe, 1024");
  REQUIRE(plain);
  CHECK(plain->pid == 12345);
  CHECK(plain->name == "python.exe");
  CHECK(plain->name_state == NameState::resolved);
  CHECK(plain->used.value == 1'073'741'824);
  const auto comma = parse_app_line("42, weird,name.exe, 8");
  REQUIRE(comma);
  CHECK(comma->pid == 42);
  CHECK(comma->name == "weird,name.exe");
  CHECK(comma->used.value == 8 * mib);
}

TEST_CASE("a name unknown to the tool becomes a state, never a name") {
  const auto hidden = parse_app_line("999, ?, 256");
  REQUIRE(hidden);
  CHECK(hidden->pid == 999);
  CHECK(hidden->name.empty());
  CHECK(hidden->name_state == NameState::unknown);
  CHECK(hidden->used.value == 268'435'456);
  CHECK(parse_app_line("999, [Insufficient Permissions], 256")->name_state ==
        NameState::protected_process);
  CHECK(parse_app_line("999, [Not Found], 256")->name_state == NameState::unknown);
  CHECK(parse_app_line("999, [N/A], 256")->name.empty());
}

TEST_CASE("a line without a PID or with too few cells is not a row") {
  CHECK_FALSE(parse_app_line(""));
  CHECK_FALSE(parse_app_line("   "));
  CHECK_FALSE(parse_app_line("notanumber, python.exe, 1024"));
  CHECK_FALSE(parse_app_line("123, python.exe"));
  CHECK_FALSE(parse_app_line("12345"));
  CHECK_FALSE(parse_app_line("4294967296, python.exe, 1024"));
  CHECK_FALSE(parse_app_line("-1, python.exe, 1024"));
}

TEST_CASE("a process whose use is unknown still has a row") {
  const auto nonsense = parse_app_line("123, python.exe, notanumber");
  REQUIRE(nonsense);
  CHECK(nonsense->pid == 123);
  CHECK(nonsense->name == "python.exe");
  CHECK_FALSE(nonsense->used.value);
  CHECK(nonsense->used.status == Status::backend);
  const auto na = parse_app_line("8, x, [N/A]");
  REQUIRE(na);
  CHECK(na->pid == 8);
  CHECK(na->name == "x");
  CHECK_FALSE(na->used.value);
  CHECK(na->used.status == Status::unsupported);
}

TEST_CASE("blanks, an empty name, a Windows path and PID 0 are handled") {
  const auto empty = parse_app_line("8, , 1");
  REQUIRE(empty);
  CHECK(empty->name.empty());
  CHECK(empty->used.value == mib);
  const auto path = parse_app_line(" 8 ,  C:\\a b.exe , 12 ");
  REQUIRE(path);
  CHECK(path->pid == 8);
  CHECK(path->name == "a b.exe");
  CHECK(path->used.value == 12'582'912);
  CHECK_FALSE(parse_app_line("No running processes found"));
  CHECK_FALSE(parse_app_line("0, x, 0"));
}

TEST_CASE("a program's name is the last part of its path") {
  CHECK(extract_program("/usr/bin/kwin_wayland") == "kwin_wayland");
  CHECK(extract_program("./gpu_burn") == "gpu_burn");
  CHECK(extract_program("ffmpeg") == "ffmpeg");
  CHECK(extract_program("VLLM::EngineCore") == "VLLM::EngineCore");
  CHECK(extract_program("C:\\Program Files\\NVIDIA App\\CEF\\NVIDIA Overlay.exe") ==
        "NVIDIA Overlay.exe");
  CHECK(extract_program("/opt/google/chrome/chrome --type=gpu-process --dir=/a/b") == "chrome");
  CHECK(extract_program("/opt/my tools/trainer") == "trainer");
  CHECK(extract_program("C:\\tools/trainer.exe") == "trainer.exe");
  CHECK(extract_program("a\\b") == "a\\b");
  CHECK(extract_program("").empty());
}

TEST_CASE("a name is valid UTF-8, whatever the tool printed") {
  const auto row = parse_app_line("8, a\xFF\xC3(b, 1");
  REQUIRE(row);
  CHECK(row->name == "a\xEF\xBF\xBD\xEF\xBF\xBD(b");
  const auto nul = parse_app_line(std::string("8, a\0b, 1", 9));
  REQUIRE(nul);
  CHECK(nul->name ==
        "a\xEF\xBF\xBD"
        "b");
}

TEST_CASE("old drivers report in the cells that they cannot list processes") {
  const auto row = parse_app_line("[Not Supported], [Not Supported], [Not Supported]");
  REQUIRE(row);
  CHECK(row->pid == 0);
  CHECK(row->list_status == Status::unsupported);
}

TEST_CASE("an incomplete last line of a truncated answer is not a row") {
  const std::string text = "index, memory.used [MiB]\n0, 1234\n1, 12";
  CHECK(parse_gpus(text, true).rows.size() == 1);
  CHECK(parse_gpus(text, false).rows.size() == 2);
  CHECK_FALSE(parse_gpus("index, memory.used [MiB]", true).is_table);
}

TEST_CASE("older spellings of columns are accepted") {
  const auto gpus =
      parse_gpus("gpu_uuid, gpu_bus_id, power.limit [W]\nGPU-1, 00000000:01:00.0, 5.00\n", false);
  REQUIRE(gpus.rows.size() == 1);
  CHECK(gpus.rows[0][GpuColumn::uuid].text == "GPU-1");
  CHECK(gpus.rows[0][GpuColumn::power_limit].text == "5.00");
  const auto apps = parse_apps("pid, name, used_memory [MiB]\n7, x, 1\n", false);
  REQUIRE(apps.rows.size() == 1);
  CHECK(apps.rows[0].used.value == mib);
}
