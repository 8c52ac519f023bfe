// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The formats that the two commands print, and those known only from the tests of other readers.
#include "backends/amd_tool/answer.hpp"

#include <doctest/doctest.h>

using namespace hmn;
using namespace hmn::amd_tool;

namespace {

Answer parse(const Dialect& dialect, std::string_view text) {
  Answer answer;
  read_answer(dialect, text, answer);
  return answer;
}

const FieldAmount& get_only_field(const Answer& answer, Field field) {
  REQUIRE(answer.cards.size() == 1);
  return answer.cards[0][field];
}

FieldAmount parse_rocm_field(const std::string& member, Field field) {
  const Answer answer = parse(rocm_smi, "{\"card0\": {" + member + "}}");
  return get_only_field(answer, field);
}

bool mentions(const Answer& answer, std::string_view words) {
  for (const auto& problem : answer.problems) {
    if (problem.view().find(words) != std::string::npos) return true;
  }
  return false;
}

ProcessRow parse_only_process(const std::string& list) {
  const Answer answer = parse(amd_smi, "[{\"gpu\": 0, \"process_list\": [" + list + "]}]");
  REQUIRE(answer.processes.size() == 1);
  return answer.processes[0];
}

std::string make_vram_process(int pid, const std::string& bytes) {
  return "{\"process_info\": {\"pid\": " + std::to_string(pid) +
         ", \"memory_usage\": {\"vram_mem\": {\"value\": " + bytes + ", \"unit\": \"B\"}}}}";
}

}  // namespace

TEST_CASE("units are read from the key or the value, and must agree") {
  CHECK(parse_rocm_field(R"j("VRAM Total Memory (B)": "8573157376")j", Field::vram_total).whole ==
        8573157376);
  CHECK(parse_rocm_field(R"j("VRAM Total Memory (B)": 8573157376)j", Field::vram_total).whole ==
        8573157376);
  CHECK(parse_rocm_field(R"j("VRAM Total Memory": "16 MB")j", Field::vram_total).whole == 16 << 20);
  CHECK(parse_rocm_field(R"j("VRAM Total Memory (MiB)": "16 MB")j", Field::vram_total).whole ==
        16 << 20);
  CHECK(parse_rocm_field(R"j("sclk clock speed:": "(300Mhz)")j", Field::core_clock).number == 300);
  CHECK(parse_rocm_field(R"j("Voltage (mV)": "862")j", Field::core_voltage).number == 0.862);
  CHECK(parse_rocm_field(R"j("Accumulated Energy (uJ)": "2500000.5")j", Field::energy).number ==
        2.5000005);
  CHECK(parse_rocm_field(R"j("Temperature (Sensor edge) (C)": "-3.5")j", Field::edge).number ==
        -3.5);
  CHECK(parse_rocm_field(R"j("VRAM Total Memory (B)": "16 MB")j", Field::vram_total).status ==
        Status::backend);
  CHECK(parse_rocm_field(R"j("VRAM Total Memory": "24576")j", Field::vram_total).status ==
        Status::backend);
  CHECK(parse_rocm_field(R"j("GPU use (W)": "3")j", Field::gpu_busy).status == Status::backend);
}

TEST_CASE("a value that is not a number is absent, and its key and text are kept") {
  const FieldAmount none =
      parse_rocm_field(R"j("GPU use (%)": "N/A (Secondary die)")j", Field::gpu_busy);
  CHECK(none.status == Status::unsupported);
  CHECK(none.key.view() == "GPU use (%)");
  CHECK(none.text.view() == "N/A (Secondary die)");
  for (const char* text : {"NaN", "Infinity", "-Infinity", "\"nan\"", "1e999", "\"-5\"", "\"x\"",
                           "true", "[1]", "{\"a\": 1}", "101", "\"12 34\"", "\"0x12\""}) {
    CAPTURE(text);
    const FieldAmount amount =
        parse_rocm_field(std::string("\"GPU use (%)\": ") + text, Field::gpu_busy);
    CHECK_FALSE(amount.has_value());
  }
  CHECK(parse_rocm_field(R"j("GPU use (%)": NaN)j", Field::gpu_busy).key.view() == "GPU use (%)");
  CHECK(parse_rocm_field(R"j("GPU use (%)": null)j", Field::gpu_busy).status ==
        Status::unsupported);
  CHECK(parse_rocm_field(R"j("VRAM Total Memory (B)": "18446744073709551615")j", Field::vram_total)
            .whole == UINT64_MAX);
  CHECK_FALSE(
      parse_rocm_field(R"j("VRAM Total Memory (MB)": "18446744073709551615")j", Field::vram_total)
          .has_value());
  CHECK_FALSE(
      parse_rocm_field(R"j("VRAM Total Memory (B)": "18446744073709551616")j", Field::vram_total)
          .has_value());
  CHECK(parse_rocm_field(R"j("sclk clock speed:": "(65535Mhz)")j", Field::core_clock).status ==
        Status::unsupported);
}

TEST_CASE("a key that occurs twice has no value, and is named") {
  const FieldAmount amount =
      parse_rocm_field(R"j("GPU use (%)": "3", "GPU use (%)": "4")j", Field::gpu_busy);
  CHECK(amount.status == Status::backend);
  CHECK(amount.key.view() == "GPU use (%)");
  CHECK(amount.flaw == ", and appears twice");
  const Answer answer = parse(rocm_smi, R"j({"card0": {"GPU use (%)": "3"}, "card0": {}})j");
  CHECK_FALSE(get_only_field(answer, Field::gpu_busy).has_value());
  CHECK(mentions(answer, "GPU 0 twice"));
}

TEST_CASE("the newer of two keys is used") {
  const std::string both_keys =
      R"j("GPU memory use (%)": "3", "GPU Memory Read/Write Activity (%)": "4")j";
  CHECK(parse_rocm_field(both_keys, Field::memory_busy).number == 4);
  CHECK(parse_rocm_field(
            R"j("GPU memory use (%)": "3", "GPU Memory Read/Write Activity (%)": "N/A")j",
            Field::memory_busy)
            .number == 3);
}

TEST_CASE("the PCIe link is parsed from the clocks") {
  const auto link = [](const char* text) {
    return parse_rocm_field(std::string("\"pcie clock level\": \"") + text + "\"", Field::pcie_link)
        .whole;
  };
  CHECK(link("1 (16.0GT/s x16)") == (4 << 8 | 16));
  CHECK(link("0 (2.5GT/s x1)") == (1 << 8 | 1));
  CHECK(link("0 (8.0GT/s x16)") == (3 << 8 | 16));
  CHECK(link("0 (9.0GT/s x16)") == 0);
  CHECK(link("0 (8.0GT/s x99)") == 0);
  CHECK(link("8.0GT/s x16") == 0);
}

TEST_CASE("cards are found in an object, a list, a list in gpu_data, and by their numbers") {
  const Answer cards = parse(rocm_smi, R"j({"card3": {"GPU use (%)": "3"}, "system": {},
                                           "card1": {"GPU use (%)": "1"}})j");
  REQUIRE(cards.cards.size() == 2);
  CHECK(cards.cards[0].index == 3);
  CHECK(cards.cards[1][Field::gpu_busy].number == 1);
  const std::string card = R"j({"gpu": 2, "usage": {"gfx_activity": {"value": 7, "unit": "%"}}})j";
  for (const std::string& text :
       {"[" + card + "]", "{\"gpu_data\": [" + card + "]}", card, "[{}, " + card + "]"}) {
    CAPTURE(text);
    const Answer answer = parse(amd_smi, text);
    REQUIRE_FALSE(answer.cards.empty());
    CHECK(answer.cards.back().index == 2);
    CHECK(answer.cards.back()[Field::gpu_busy].number == 7);
  }
  CHECK(get_only_field(parse(rocm_smi, R"j([{"card0": {"GPU use (%)": "3"}}])j"), Field::gpu_busy)
            .number == 3);
}

// Shapes of hwLedger's tests that no released tool has printed.
TEST_CASE("predecessor: cards without numbers are counted, and a missing unit is not read as MB") {
  const Answer answer = parse(rocm_smi, R"j([{"gpu_unique_id": "0x1002:0x67a0",
      "product_name": "AMD Radeon RX 7900 XTX", "vram": "24576"}])j");
  CHECK(get_only_field(answer, Field::name).text.view() == "AMD Radeon RX 7900 XTX");
  CHECK(answer.cards[0].index == 0);
  CHECK(answer.cards[0][Field::vram_total].status == Status::backend);
  CHECK(answer.cards[0][Field::vram_total].flaw == ", without a unit that is known");
  CHECK(parse(rocm_smi, R"j([{"product_name": "x", "vram": "24576 MB"}])j")
            .cards[0][Field::vram_total]
            .whole == 24576ULL << 20);
  CHECK(parse(rocm_smi, R"j({"product_name": ["a", "b"], "gpu_use": ["1%", "2%"]})j").records == 0);
}

TEST_CASE("text before, between and behind the JSON is skipped") {
  const Answer answer =
      parse(rocm_smi,
            "\n[WARNING] a line {of words}\nWARNING: AMD GPU device(s) is/are in a "
            "low-power state. Check power control/runtime_status\n\n"
            R"j({"card0": {"GPU use (%)": "3"}})j"
            " and more\nbye [\n");
  CHECK(get_only_field(answer, Field::gpu_busy).number == 3);
  REQUIRE(answer.sentences.size() == 1);
  CHECK(answer.sentences[0].view().starts_with("WARNING: AMD GPU"));
  CHECK(answer.problems.empty());
}

TEST_CASE("a truncated answer yields the cards before the break, and names the last key") {
  const std::string whole =
      R"j([{"gpu": 0, "usage": {"gfx_activity": {"value": 7, "unit": "%"}}},
          {"gpu": 1, "usage": {"gfx_activity": {"value": 8, "unit": "%"}}}])j";
  for (std::size_t cut = whole.size() - 1; cut > 0; --cut) {
    CAPTURE(cut);
    const Answer answer = parse(amd_smi, whole.substr(0, cut));
    CHECK(answer.records == answer.cards.size());
    for (const Card& card : answer.cards) CHECK(card[Field::gpu_busy].number == 7 + card.index);
    if (cut > 10) CHECK(mentions(answer, "incomplete or invalid"));
  }
  const Answer named = parse(rocm_smi, R"j({"card0": {"VRAM Total Memory (B)": "85731)j");
  CHECK(named.cards.empty());
  CHECK(mentions(named, "\"VRAM Total Memory (B)\""));
}

TEST_CASE("process lines of rocm-smi are parsed") {
  const Answer answer = parse(rocm_smi, R"j({"card0": {"GPU use (%)": "3"}, "system": {
      "Driver version": "6.2.4", "PID28389": "llama-server, 1, 2353860608, 11011, 0",
      "PID7": "a, name, with, blanks, 2, 4096, 0, 0",
      "PID8": "x, unknown, unknown, unknown, unknown",
      "PID104225": "mlir-cpu-runner, 0, 0, 0, 0", "PID9": "vram, 1, 0, 0, 0", "PIDx": "y"}})j");
  CHECK(answer.driver.view() == "6.2.4");
  REQUIRE(answer.processes.size() == 5);
  CHECK(answer.processes[0].pid == 28389);
  CHECK(answer.processes[0].name.view() == "llama-server");
  CHECK(answer.processes[0].used == 2353860608);
  CHECK(answer.processes[0].card_count == 1);
  CHECK(answer.processes[1].name.view() == "a, name, with, blanks");
  CHECK(answer.processes[1].used == 4096);
  CHECK_FALSE(answer.processes[2].used);
  CHECK_FALSE(answer.processes[2].card_count);
  CHECK(answer.processes[3].card_count == 0);
  CHECK_FALSE(answer.processes[4].used);  // a zero with a card that it uses is no claim
}

TEST_CASE("the process list of amd-smi is parsed") {
  const ProcessRow row = parse_only_process(
      R"j({"process_info": {"name": "/usr/bin/python3", "pid": "12", "memory_usage": {
          "gtt_mem": {"value": 2, "unit": "MB"}, "vram_mem": {"value": 1048576, "unit": "B"}}}})j");
  CHECK(row.pid == 12);
  CHECK(row.card == 0);
  CHECK(row.name.view() == "python3");
  CHECK(row.used == 1048576);
  CHECK(row.host == 2097152);
  CHECK(parse(amd_smi, R"j([{"gpu": 0, "process_list": [
      {"process_info": "No running processes detected"}]}])j")
            .processes.empty());
  // Without the rights to look into it.
  const ProcessRow blind = parse_only_process(R"j({"process_info": {"name": "N/A", "pid": 12,
      "memory_usage": {"gtt_mem": {"value": 0, "unit": "B"}, "vram_mem": {"value": 0, "unit": "B"}},
      "mem_usage": {"value": 5, "unit": "B"}}})j");
  CHECK_FALSE(blind.used);
  CHECK(blind.name.empty());
  CHECK_FALSE(parse_only_process(R"j({"process_info": {"pid": 12, "name": "x"}})j").used);
}

// amd-smi 26.2.1 of ROCm 7.2 called 29429556 KiB "29429556000 B".
TEST_CASE("bytes that are KiB times 1000 are detected by their factors") {
  CHECK(parse_only_process(make_vram_process(7, "29429556000")).used == 29429556ULL * 1024);
  CHECK(parse_only_process(make_vram_process(7, "7889485824")).used == 7889485824);
  const Answer pair =
      parse(amd_smi, "[{\"gpu\": 0, \"process_list\": [" + make_vram_process(7, "29429556000") +
                         "," + make_vram_process(8, "2048000") + "]}]");
  CHECK(pair.processes[1].used == 2048ULL * 1024);
  CHECK_FALSE(pair.processes[1].is_estimated);
  // 2048000 alone may be either.
  const ProcessRow either = parse_only_process(make_vram_process(8, "2048000"));
  CHECK(either.used == 2048000);
  CHECK(either.is_estimated);
}

TEST_CASE("a process with the same value under every card has no use per card") {
  const auto list = [](const char* first, const char* second) {
    return std::string("[{\"gpu\": 0, \"process_list\": [") + make_vram_process(7, first) +
           "]}, {\"gpu\": 1, \"process_list\": [" + make_vram_process(7, second) + "]}]";
  };
  const Answer alike = parse(amd_smi, list("4096", "4096"));
  REQUIRE(alike.processes.size() == 2);
  CHECK_FALSE(alike.processes[0].used);
  CHECK_FALSE(alike.processes[1].used);
  CHECK(alike.processes[0].flaw.find("sum") != std::string_view::npos);
  const Answer differ = parse(amd_smi, list("4096", "8192"));
  CHECK(differ.processes[0].used == 4096);
  CHECK(differ.processes[1].used == 8192);
}

TEST_CASE("the numbers of cards and processes are limited") {
  std::string many = "{\"card0\": {\"GPU use (%)\": \"1\"}";
  for (int i = 1; i < 300; ++i) {
    many += ", \"card" + std::to_string(i) + "\": {\"GPU use (%)\": \"1\"}";
  }
  CHECK(parse(rocm_smi, many + "}").cards.size() == max_cards);
  std::string rows = "{\"card0\": {}, \"system\": {\"a\": \"b\"";
  for (int i = 1; i < 5000; ++i) rows += ", \"PID" + std::to_string(i) + "\": \"x, 1, 4096, 0, 0\"";
  const Answer answer = parse(rocm_smi, rows + "}}");
  CHECK(answer.processes.size() == max_processes);
  CHECK(answer.is_truncated);
  CHECK(parse(amd_smi, std::string(1 << 20, '[')).cards.empty());
}
