// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The shapes that the two commands print, and those that only their readers' tests know.
#include "backends/amd_tool/answer.hpp"

#include <doctest/doctest.h>

using namespace hmn;
using namespace hmn::amd_tool;

namespace {

Answer read(const Dialect& d, std::string_view text) {
  Answer a;
  read_answer(d, text, a);
  return a;
}

const FieldAmount& only(const Answer& a, Field f) {
  REQUIRE(a.cards.size() == 1);
  return a.cards[0][f];
}

FieldAmount rocm(const std::string& member, Field f) {
  const Answer a = read(rocm_smi, "{\"card0\": {" + member + "}}");
  return only(a, f);
}

bool mentions(const Answer& a, std::string_view words) {
  for (const auto& p : a.problems) {
    if (p.view().find(words) != std::string::npos) return true;
  }
  return false;
}

ProcessRow only_process(const std::string& list) {
  const Answer a = read(amd_smi, "[{\"gpu\": 0, \"process_list\": [" + list + "]}]");
  REQUIRE(a.processes.size() == 1);
  return a.processes[0];
}

std::string vram_of(int pid, const std::string& bytes) {
  return "{\"process_info\": {\"pid\": " + std::to_string(pid) +
         ", \"memory_usage\": {\"vram_mem\": {\"value\": " + bytes + ", \"unit\": \"B\"}}}}";
}

}  // namespace

TEST_CASE("units are read from the key or the value, and must agree") {
  CHECK(rocm(R"j("VRAM Total Memory (B)": "8573157376")j", Field::vram_total).whole == 8573157376);
  CHECK(rocm(R"j("VRAM Total Memory (B)": 8573157376)j", Field::vram_total).whole == 8573157376);
  CHECK(rocm(R"j("VRAM Total Memory": "16 MB")j", Field::vram_total).whole == 16 << 20);
  CHECK(rocm(R"j("VRAM Total Memory (MiB)": "16 MB")j", Field::vram_total).whole == 16 << 20);
  CHECK(rocm(R"j("sclk clock speed:": "(300Mhz)")j", Field::core_clock).number == 300);
  CHECK(rocm(R"j("Voltage (mV)": "862")j", Field::core_voltage).number == 0.862);
  CHECK(rocm(R"j("Accumulated Energy (uJ)": "2500000.5")j", Field::energy).number == 2.5000005);
  CHECK(rocm(R"j("Temperature (Sensor edge) (C)": "-3.5")j", Field::edge).number == -3.5);
  CHECK(rocm(R"j("VRAM Total Memory (B)": "16 MB")j", Field::vram_total).why == Status::backend);
  CHECK(rocm(R"j("VRAM Total Memory": "24576")j", Field::vram_total).why == Status::backend);
  CHECK(rocm(R"j("GPU use (W)": "3")j", Field::gpu_busy).why == Status::backend);
}

TEST_CASE("a figure that is none is absent, and says what stood there") {
  const FieldAmount none = rocm(R"j("GPU use (%)": "N/A (Secondary die)")j", Field::gpu_busy);
  CHECK(none.why == Status::unsupported);
  CHECK(none.key.view() == "GPU use (%)");
  CHECK(none.text.view() == "N/A (Secondary die)");
  for (const char* text : {"NaN", "Infinity", "-Infinity", "\"nan\"", "1e999", "\"-5\"", "\"x\"",
                           "true", "[1]", "{\"a\": 1}", "101", "\"12 34\"", "\"0x12\""}) {
    CAPTURE(text);
    const FieldAmount f = rocm(std::string("\"GPU use (%)\": ") + text, Field::gpu_busy);
    CHECK_FALSE(f.has_value());
  }
  CHECK(rocm(R"j("GPU use (%)": NaN)j", Field::gpu_busy).key.view() == "GPU use (%)");
  CHECK(rocm(R"j("GPU use (%)": null)j", Field::gpu_busy).why == Status::unsupported);
  CHECK(rocm(R"j("VRAM Total Memory (B)": "18446744073709551615")j", Field::vram_total).whole ==
        UINT64_MAX);
  CHECK_FALSE(
      rocm(R"j("VRAM Total Memory (MB)": "18446744073709551615")j", Field::vram_total).has_value());
  CHECK_FALSE(
      rocm(R"j("VRAM Total Memory (B)": "18446744073709551616")j", Field::vram_total).has_value());
  CHECK(rocm(R"j("sclk clock speed:": "(65535Mhz)")j", Field::core_clock).why ==
        Status::unsupported);
}

TEST_CASE("a key that stands twice is absent, and named") {
  const FieldAmount f = rocm(R"j("GPU use (%)": "3", "GPU use (%)": "4")j", Field::gpu_busy);
  CHECK(f.why == Status::backend);
  CHECK(f.key.view() == "GPU use (%)");
  CHECK(f.flaw == ", and stands twice");
  const Answer a = read(rocm_smi, R"j({"card0": {"GPU use (%)": "3"}, "card0": {}})j");
  CHECK_FALSE(only(a, Field::gpu_busy).has_value());
  CHECK(mentions(a, "GPU 0 twice"));
}

TEST_CASE("the newer of two names counts") {
  const std::string both =
      R"j("GPU memory use (%)": "3", "GPU Memory Read/Write Activity (%)": "4")j";
  CHECK(rocm(both, Field::memory_busy).number == 4);
  CHECK(rocm(R"j("GPU memory use (%)": "3", "GPU Memory Read/Write Activity (%)": "N/A")j",
             Field::memory_busy)
            .number == 3);
}

TEST_CASE("the PCIe link stands among the clocks") {
  const auto link = [](const char* text) {
    return rocm(std::string("\"pcie clock level\": \"") + text + "\"", Field::pcie_link).whole;
  };
  CHECK(link("1 (16.0GT/s x16)") == (4 << 8 | 16));
  CHECK(link("0 (2.5GT/s x1)") == (1 << 8 | 1));
  CHECK(link("0 (8.0GT/s x16)") == (3 << 8 | 16));
  CHECK(link("0 (9.0GT/s x16)") == 0);
  CHECK(link("0 (8.0GT/s x99)") == 0);
  CHECK(link("8.0GT/s x16") == 0);
}

TEST_CASE("cards are found in an object, a list, a list in gpu_data, and by their numbers") {
  const Answer cards = read(rocm_smi, R"j({"card3": {"GPU use (%)": "3"}, "system": {},
                                           "card1": {"GPU use (%)": "1"}})j");
  REQUIRE(cards.cards.size() == 2);
  CHECK(cards.cards[0].index == 3);
  CHECK(cards.cards[1][Field::gpu_busy].number == 1);
  const std::string one = R"j({"gpu": 2, "usage": {"gfx_activity": {"value": 7, "unit": "%"}}})j";
  for (const std::string& text :
       {"[" + one + "]", "{\"gpu_data\": [" + one + "]}", one, "[{}, " + one + "]"}) {
    CAPTURE(text);
    const Answer a = read(amd_smi, text);
    REQUIRE_FALSE(a.cards.empty());
    CHECK(a.cards.back().index == 2);
    CHECK(a.cards.back()[Field::gpu_busy].number == 7);
  }
  CHECK(only(read(rocm_smi, R"j([{"card0": {"GPU use (%)": "3"}}])j"), Field::gpu_busy).number ==
        3);
}

// Shapes of hwLedger's tests that no released tool has printed.
TEST_CASE("predecessor: a list of cards without numbers has them by place; MB are never assumed") {
  const Answer a = read(rocm_smi, R"j([{"gpu_unique_id": "0x1002:0x67a0",
      "product_name": "AMD Radeon RX 7900 XTX", "vram": "24576"}])j");
  CHECK(only(a, Field::name).text.view() == "AMD Radeon RX 7900 XTX");
  CHECK(a.cards[0].index == 0);
  CHECK(a.cards[0][Field::vram_total].why == Status::backend);
  CHECK(a.cards[0][Field::vram_total].flaw == ", without a unit that is known");
  CHECK(read(rocm_smi, R"j([{"product_name": "x", "vram": "24576 MB"}])j")
            .cards[0][Field::vram_total]
            .whole == 24576ULL << 20);
  CHECK(read(rocm_smi, R"j({"product_name": ["a", "b"], "gpu_use": ["1%", "2%"]})j").records == 0);
}

TEST_CASE("chatter before, between and behind the JSON") {
  const Answer a = read(rocm_smi,
                        "\n[WARNING] a line {of words}\nWARNING: AMD GPU device(s) is/are in a "
                        "low-power state. Check power control/runtime_status\n\n"
                        R"j({"card0": {"GPU use (%)": "3"}})j"
                        " and more\nbye [\n");
  CHECK(only(a, Field::gpu_busy).number == 3);
  REQUIRE(a.sentences.size() == 1);
  CHECK(a.sentences[0].view().starts_with("WARNING: AMD GPU"));
  CHECK(a.problems.empty());
}

TEST_CASE("an answer that breaks off gives the cards before the break, and names the last key") {
  const std::string whole =
      R"j([{"gpu": 0, "usage": {"gfx_activity": {"value": 7, "unit": "%"}}},
          {"gpu": 1, "usage": {"gfx_activity": {"value": 8, "unit": "%"}}}])j";
  for (std::size_t cut = whole.size() - 1; cut > 0; --cut) {
    CAPTURE(cut);
    const Answer a = read(amd_smi, whole.substr(0, cut));
    CHECK(a.records == a.cards.size());
    for (const Card& c : a.cards) CHECK(c[Field::gpu_busy].number == 7 + c.index);
    if (cut > 10) CHECK(mentions(a, "incomplete or invalid"));
  }
  const Answer named = read(rocm_smi, R"j({"card0": {"VRAM Total Memory (B)": "85731)j");
  CHECK(named.cards.empty());
  CHECK(mentions(named, "\"VRAM Total Memory (B)\""));
}

TEST_CASE("the process lines of rocm-smi") {
  const Answer a = read(rocm_smi, R"j({"card0": {"GPU use (%)": "3"}, "system": {
      "Driver version": "6.2.4", "PID28389": "llama-server, 1, 2353860608, 11011, 0",
      "PID7": "a, name, with, blanks, 2, 4096, 0, 0",
      "PID8": "x, unknown, unknown, unknown, unknown",
      "PID104225": "mlir-cpu-runner, 0, 0, 0, 0", "PID9": "vram, 1, 0, 0, 0", "PIDx": "y"}})j");
  CHECK(a.driver.view() == "6.2.4");
  REQUIRE(a.processes.size() == 5);
  CHECK(a.processes[0].pid == 28389);
  CHECK(a.processes[0].name.view() == "llama-server");
  CHECK(a.processes[0].used == 2353860608);
  CHECK(a.processes[0].cards == 1);
  CHECK(a.processes[1].name.view() == "a, name, with, blanks");
  CHECK(a.processes[1].used == 4096);
  CHECK_FALSE(a.processes[2].used);
  CHECK_FALSE(a.processes[2].cards);
  CHECK(a.processes[3].cards == 0);
  CHECK_FALSE(a.processes[4].used);  // a zero with a card that it uses is no claim
}

TEST_CASE("the process list of amd-smi") {
  const ProcessRow row = only_process(
      R"j({"process_info": {"name": "/usr/bin/python3", "pid": "12", "memory_usage": {
          "gtt_mem": {"value": 2, "unit": "MB"}, "vram_mem": {"value": 1048576, "unit": "B"}}}})j");
  CHECK(row.pid == 12);
  CHECK(row.card == 0);
  CHECK(row.name.view() == "python3");
  CHECK(row.used == 1048576);
  CHECK(row.host == 2097152);
  CHECK(read(amd_smi, R"j([{"gpu": 0, "process_list": [
      {"process_info": "No running processes detected"}]}])j")
            .processes.empty());
  // Without the rights to look into it.
  const ProcessRow blind = only_process(R"j({"process_info": {"name": "N/A", "pid": 12,
      "memory_usage": {"gtt_mem": {"value": 0, "unit": "B"}, "vram_mem": {"value": 0, "unit": "B"}},
      "mem_usage": {"value": 5, "unit": "B"}}})j");
  CHECK_FALSE(blind.used);
  CHECK(blind.name.empty());
  CHECK_FALSE(only_process(R"j({"process_info": {"pid": 12, "name": "x"}})j").used);
}

// amd-smi 26.2.1 of ROCm 7.2 called 29429556 KiB "29429556000 B".
TEST_CASE("bytes that are KiB times 1000 are told by their factors") {
  CHECK(only_process(vram_of(7, "29429556000")).used == 29429556ULL * 1024);
  CHECK(only_process(vram_of(7, "7889485824")).used == 7889485824);
  const Answer both =
      read(amd_smi, "[{\"gpu\": 0, \"process_list\": [" + vram_of(7, "29429556000") + "," +
                        vram_of(8, "2048000") + "]}]");
  CHECK(both.processes[1].used == 2048ULL * 1024);
  CHECK_FALSE(both.processes[1].is_estimated);
  // 2048000 alone may be either.
  const ProcessRow either = only_process(vram_of(8, "2048000"));
  CHECK(either.used == 2048000);
  CHECK(either.is_estimated);
}

TEST_CASE("the same figure under each card is not the use of one") {
  const auto list = [](const char* first, const char* second) {
    return std::string("[{\"gpu\": 0, \"process_list\": [") + vram_of(7, first) +
           "]}, {\"gpu\": 1, \"process_list\": [" + vram_of(7, second) + "]}]";
  };
  const Answer alike = read(amd_smi, list("4096", "4096"));
  REQUIRE(alike.processes.size() == 2);
  CHECK_FALSE(alike.processes[0].used);
  CHECK_FALSE(alike.processes[1].used);
  CHECK(alike.processes[0].flaw.find("sum") != std::string_view::npos);
  const Answer differ = read(amd_smi, list("4096", "8192"));
  CHECK(differ.processes[0].used == 4096);
  CHECK(differ.processes[1].used == 8192);
}

TEST_CASE("numbers of cards and processes are bounded") {
  std::string many = "{\"card0\": {\"GPU use (%)\": \"1\"}";
  for (int i = 1; i < 300; ++i) {
    many += ", \"card" + std::to_string(i) + "\": {\"GPU use (%)\": \"1\"}";
  }
  CHECK(read(rocm_smi, many + "}").cards.size() == most_cards);
  std::string rows = "{\"card0\": {}, \"system\": {\"a\": \"b\"";
  for (int i = 1; i < 5000; ++i) rows += ", \"PID" + std::to_string(i) + "\": \"x, 1, 4096, 0, 0\"";
  const Answer a = read(rocm_smi, rows + "}}");
  CHECK(a.processes.size() == most_processes);
  CHECK(a.is_truncated);
  CHECK(read(amd_smi, std::string(1 << 20, '[')).cards.empty());
}
