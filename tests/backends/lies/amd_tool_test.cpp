// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Wrong output of amd-smi and rocm-smi.
#include <doctest/doctest.h>

#include "witness.hpp"

using namespace lies_test;

namespace {

constexpr const char* address = "0000:0b:00.0";

const std::string identity =
    R"j([{"gpu": 0, "asic": {"market_name": "AMD Radeon"}, "bus": {"bdf": "0000:0b:00.0"},
          "limit": {"socket_power": {"value": 300, "unit": "W"}},
          "vram": {"size": {"value": 16, "unit": "MB"}}}])j";

// One of the commands over a card that no driver of the kernel reports on.
class Tools {
 public:
  explicit Tools(std::uint32_t command, std::uint32_t deadline_ms = patient_ms)
      : witness(backend_bit(command), deadline_ms) {
    hmn_fake::add_pci_device(witness.tree(), hmn_fake::amd_card(address));
    witness.set_path(HMN_PATH_AMD_SMI, witness.tree().path("tool/amd-smi"));
    witness.set_path(HMN_PATH_ROCM_SMI, witness.tree().path("tool/rocm-smi"));
  }
  void set_amd_answer(const std::string& question, const std::string& answer) const {
    witness.tree().write("tool/amd-smi." + question, answer);
    script("amd-smi", "exec cat \"$0.$1\"\n");
  }
  void set_rocm_answer(const std::string& answer) const {
    witness.tree().write("tool/rocm-smi.out", answer);
    script("rocm-smi", "exec cat \"$0.out\"\n");
  }
  void script(const std::string& name, const std::string& body) const {
    witness.tree().script("tool/" + name, body);
  }

  Witness witness;
};

std::string rocm_card(const std::string& members) {
  return R"j({"card0": {"Card series": "Navi 23", "PCI Bus": "0000:0B:00.0", )j" + members + "}}";
}

std::string amd_metric(const std::string& members) {
  return R"j([{"gpu": 0, )j" + members + "}]";
}

std::string make_use(const std::string& value) {
  return R"j("VRAM Total Memory (B)": "4194304", "VRAM Total Used Memory (B)": )j" + value;
}

}  // namespace

TEST_CASE("rocm-smi: an impossible value of a card is absent, with a reason") {
  const Lie all[] = {
      {"honest", make_use("\"1024\""), {{"used_bytes", "1024"}, {"total_bytes", "4194304"}}},
      {"a number", make_use("1024"), {{"used_bytes", "1024"}}},
      {"a list", make_use("[1024]"), {{"used_bytes", "not_understood"}}},
      {"an object", make_use("{\"a\": 1024}"), {{"used_bytes", "unsupported"}}},
      {"a truth", make_use("true"), {{"used_bytes", "not_understood"}}},
      {"nothing", make_use("null"), {{"used_bytes", "unsupported"}}},
      {"NaN", make_use("NaN"), {{"used_bytes", "not_understood"}}},
      {"below 0", make_use("\"-1024\""), {{"used_bytes", "implausible"}}},
      {"more than the card has",
       make_use("\"4194305\""),
       {{"used_bytes", "implausible"}, {"total_bytes", "4194304"}}},
      {"huge", make_use("\"99999999999999999999\""), {{"used_bytes", "implausible"}}},
      {"words", make_use("\"much\""), {{"used_bytes", "not_understood"}}},
      {"twice",
       make_use("\"1024\", \"VRAM Total Used Memory (B)\": \"1025\""),
       {{"used_bytes", "ambiguous"}}},
      {"no such key", R"j("VRAM Total Memory (B)": "4194304")j", {{"used_bytes", "unsupported"}}},
      {"another unit",
       R"j("VRAM Total Memory (B)": "4194304", "GPU use (W)": "3", "Temperature (Sensor edge) (F)": "100")j",
       {{"gpu_busy_percent", "not_understood"}, {"temperature_celsius", "not_understood"}}},
      {"above 100 %",
       R"j("VRAM Total Memory (B)": "4194304", "GPU use (%)": "101")j",
       {{"gpu_busy_percent", "implausible"}}},
      {"no temperature can be that",
       R"j("VRAM Total Memory (B)": "4194304", "Temperature (Sensor edge) (C)": "5000")j",
       {{"temperature_celsius", "implausible"}}},
      {"a filler",
       R"j("VRAM Total Memory (B)": "4194304", "sclk clock speed:": "(65535Mhz)")j",
       {{"core_clock_mhz", "unsupported"}}},
      {"two quantities of a fan",
       R"j("VRAM Total Memory (B)": "4194304", "Fan speed (level)": "51", "Fan speed (%)": "20")j",
       {{"fan_percent", "20"}}},
      {"a level of a fan alone",
       R"j("VRAM Total Memory (B)": "4194304", "Fan speed (level)": "51")j",
       {{"fan_percent", "unsupported"}}},
  };
  for (const Lie& lie : all) {
    Tools tools(HMN_BACKEND_ROCM_SMI);
    tools.set_rocm_answer(rocm_card(lie.output));
    tools.witness.take_snapshot();
    check_lie(tools.witness, lie);
  }
}

TEST_CASE("rocm-smi: an answer of an impossible shape is refused, with a reason") {
  const std::string card = rocm_card(make_use("\"1024\""));
  const std::string inside = card.substr(1, card.size() - 2);
  const Lie all[] = {
      {"cut",
       card.substr(0, card.size() - 10),
       {{"used_bytes", "none"}},
       "incomplete or invalid",
       "not_understood"},
      {"nothing", "", {{"used_bytes", "none"}}, "printed nothing that is known", "failed"},
      {"words", "all is well\n", {{"used_bytes", "none"}}, "all is well", "failed"},
      {"a card twice",
       "{" + inside + ", " + inside + "}",
       {{"used_bytes", "none"}},
       "GPU 0 twice",
       "not_understood"},
      {"two cards in one place",
       "{" + inside + ", \"card1\"" + inside.substr(7) + "}",
       {{"used_bytes", "1024"}},
       "more than one GPU at",
       "unsupported"},
      {"a card that is a number",
       R"j({"card0": 7})j",
       {{"used_bytes", "none"}},
       "no JSON of GPUs and exited with 0: \"card0\": 7",
       "failed"},
      {"bytes that are no text", "\xff\xfe" + card, {{"used_bytes", "1024"}}},
      {"a million brackets",
       std::string(1 << 20, '['),
       {{"used_bytes", "none"}},
       "printed nothing that is known",
       "failed"},
  };
  for (const Lie& lie : all) {
    Tools tools(HMN_BACKEND_ROCM_SMI);
    tools.set_rocm_answer(lie.output);
    tools.witness.take_snapshot();
    check_lie(tools.witness, lie);
  }
}

TEST_CASE("amd-smi: an impossible value of a card is absent, with a reason") {
  const std::string total =
      R"j("mem_usage": {"total_vram": {"value": 16, "unit": "MB"}, "used_vram": )j";
  const auto used = [&](const std::string& value) { return total + value + "}"; };
  const Lie all[] = {
      {"honest",
       used(R"j({"value": 5, "unit": "MB"})j"),
       {{"used_bytes", "5242880"}, {"power_limit_watts", "300"}}},
      {"no unit", used(R"j({"value": 5})j"), {{"used_bytes", "not_understood"}}},
      {"another unit", used(R"j({"value": 5, "unit": "W"})j"), {{"used_bytes", "not_understood"}}},
      {"below 0", used(R"j({"value": -5, "unit": "MB"})j"), {{"used_bytes", "implausible"}}},
      {"more than the card has",
       used(R"j({"value": 17, "unit": "MB"})j"),
       {{"used_bytes", "implausible"}}},
      {"huge",
       used(R"j({"value": 18446744073709551615, "unit": "MB"})j"),
       {{"used_bytes", "implausible"}}},
      {"NaN", used(R"j({"value": NaN, "unit": "MB"})j"), {{"used_bytes", "not_understood"}}},
      {"words", used(R"j({"value": "N/A", "unit": "MB"})j"), {{"used_bytes", "unsupported"}}},
      {"a list", used("[]"), {{"used_bytes", "not_understood"}}},
      {"a string for a group",
       R"j("mem_usage": "N/A", "usage": "broken")j",
       {{"used_bytes", "unsupported"},
        {"gpu_busy_percent", "unsupported"},
        {"total_bytes", "16777216"}}},
      {"above 100 %",
       used("\"N/A\"") + R"j(, "usage": {"gfx_activity": {"value": 300, "unit": "%"}})j",
       {{"gpu_busy_percent", "implausible"}}},
  };
  for (const Lie& lie : all) {
    Tools tools(HMN_BACKEND_AMD_SMI);
    tools.set_amd_answer("static", identity);
    tools.set_amd_answer("process", "[]");
    tools.set_amd_answer("metric", amd_metric(lie.output));
    tools.witness.take_snapshot();
    check_lie(tools.witness, lie);
  }
}

TEST_CASE("amd-smi: each of its answers is used without the other") {
  const std::string values = amd_metric(
      R"j("usage": {"gfx_activity": {"value": 31, "unit": "%"}},
          "mem_usage": {"total_vram": {"value": 16, "unit": "MB"},
                        "used_vram": {"value": 5, "unit": "MB"}})j");
  SUBCASE("static fails") {
    Tools tools(HMN_BACKEND_AMD_SMI);
    tools.set_amd_answer("metric", values);
    tools.set_amd_answer("process", "[]");
    tools.script("amd-smi", "[ $1 != static ] || exit 7\nexec cat \"$0.$1\"\n");
    tools.witness.take_snapshot();
    tools.witness.check({{"used_bytes", "5242880"},
                         {"gpu_busy_percent", "31"},
                         {"power_limit_watts", "failed"},
                         {"power_watts", "unsupported"}});
    CHECK(tools.witness.find_reason("exited with 7") == "failed");
  }
  SUBCASE("metric fails") {
    Tools tools(HMN_BACKEND_AMD_SMI);
    tools.set_amd_answer("static", identity);
    tools.set_amd_answer("process", "[]");
    tools.script("amd-smi", "[ $1 != metric ] || exit 7\nexec cat \"$0.$1\"\n");
    for (int reading = 0; reading < 2; ++reading) {
      tools.witness.take_snapshot();
      tools.witness.check({{"total_bytes", "16777216"},
                           {"used_bytes", "failed"},
                           {"gpu_busy_percent", "failed"},
                           {"power_limit_watts", "300"}});
    }
  }
  SUBCASE("both fail") {
    Tools tools(HMN_BACKEND_AMD_SMI);
    tools.set_amd_answer("process", "[]");
    tools.script("amd-smi", "exit 7\n");
    tools.witness.take_snapshot();
    CHECK(tools.witness.count_devices() == 0);
    CHECK(tools.witness.find_reason("exited with 7") == "failed");
  }
  SUBCASE("static hangs, and the next reading runs it last") {
    Tools tools(HMN_BACKEND_AMD_SMI, 1'500);
    tools.set_amd_answer("metric", values);
    tools.set_amd_answer("process", "[]");
    tools.script("amd-smi", "[ $1 != static ] || exec sleep 60\nexec cat \"$0.$1\"\n");
    tools.witness.take_snapshot();
    CHECK(tools.witness.count_devices() == 0);
    CHECK(tools.witness.find_reason("did not answer within the deadline") == "timed_out");
    tools.witness.take_snapshot();
    tools.witness.check({{"used_bytes", "5242880"}, {"power_limit_watts", "timed_out"}});
  }
}

namespace {

// A process row of amd-smi with `vram` MB.
std::string amd_row(const std::string& pid, int vram) {
  return R"j({"process_info": {"name": "a", )j" + pid +
         R"j("memory_usage": {"gtt_mem": {"value": 0, "unit": "B"}, "cpu_mem": {"value": 0, "unit": "B"},
             "vram_mem": {"value": )j" +
         std::to_string(vram) + R"j(, "unit": "MB"}}}})j";
}

std::string amd_list(const std::string& list) {
  return R"j([{"gpu": 0, "process_list": )j" + list + "}]";
}

}  // namespace

TEST_CASE("amd-smi: impossible process rows are dropped, and make the list incomplete") {
  const std::string seven = amd_row(R"j("pid": 7, )j", 1);
  const std::string words = R"j({"process_info": "%"})j";
  const auto make_words = [&](std::string_view text) {
    std::string row = words;
    return amd_list("[" + row.replace(row.find('%'), 1, text) + "]");
  };
  const std::vector<Expectation> none{{"processes", "listed"}, {"unattributed_bytes", "8388608"}};
  const auto unknown = [](const char* reason) {
    return std::vector<Expectation>{
        {"processes", reason}, {"pid:7", "unlisted"}, {"unattributed_bytes", reason}};
  };
  const std::vector<Expectation> at_least{
      {"processes", "not_understood"}, {"pid:7", ">=1048576"}, {"unattributed_bytes", "ambiguous"}};
  const Lie all[] = {
      {"honest",
       amd_list("[" + seven + "]"),
       {{"processes", "listed"}, {"pid:7", "1048576"}, {"unattributed_bytes", "7340032"}}},
      {"an empty list", amd_list("[]"), none},
      {"its words for none", make_words("No running processes detected"), none},
      {"other words", make_words("Insufficient permissions"), unknown("not_permitted")},
      {"no words", make_words("N/A"), unknown("unsupported")},
      {"an error for the list", amd_list("\"Failed to get process list\""),
       unknown("not_understood")},
      {"N/A for the list", amd_list("\"N/A\""), unknown("unsupported")},
      {"null for the list", amd_list("null"), unknown("unsupported")},
      {"a number for the list", amd_list("7"), unknown("not_understood")},
      {"no list", R"j([{"gpu": 0}])j", unknown("unsupported")},
      {"the list of another GPU", R"j([{"gpu": 1, "process_list": []}])j", unknown("unsupported")},
      {"no pid", amd_list("[" + amd_row("", 2) + "]"), unknown("not_understood")},
      {"no pid, beside one", amd_list("[" + amd_row("", 2) + "," + seven + "]"), at_least},
      {"pid 0", amd_list("[" + seven + "," + amd_row(R"j("pid": 0, )j", 2) + "]"), at_least},
      {"a pid below 0", amd_list("[" + seven + "," + amd_row(R"j("pid": -1, )j", 2) + "]"),
       at_least},
      {"a word among rows", amd_list("[" + seven + R"j(, "broken"])j"), at_least},
  };
  for (const Lie& lie : all) {
    Tools tools(HMN_BACKEND_AMD_SMI);
    tools.set_amd_answer("static", identity);
    tools.set_amd_answer("metric", amd_metric(
                                       R"j("mem_usage": {"total_vram": {"value": 16, "unit": "MB"},
                          "used_vram": {"value": 8, "unit": "MB"}})j"));
    tools.set_amd_answer("process", lie.output);
    tools.witness.take_snapshot();
    check_lie(tools.witness, lie);
  }
}

TEST_CASE("amd-smi: a truncated process list is reported as not understood") {
  const std::string list =
      amd_list("[" + amd_row(R"j("pid": 7, )j", 1) + "," + amd_row(R"j("pid": 8, )j", 2) + "]");
  Tools tools(HMN_BACKEND_AMD_SMI);
  tools.set_amd_answer("static", identity);
  tools.set_amd_answer("metric", amd_metric(
                                     R"j("mem_usage": {"total_vram": {"value": 16, "unit": "MB"},
                        "used_vram": {"value": 8, "unit": "MB"}})j"));
  for (const std::size_t length : {list.size() - 60, list.size() - 1, std::size_t{40}}) {
    CAPTURE(length);
    tools.set_amd_answer("process", list.substr(0, length));
    tools.witness.take_snapshot();
    CHECK(tools.witness.read("processes") == "not_understood");
    CHECK(tools.witness.read("unattributed_bytes") != "8388608");
    CHECK(tools.witness.read("unattributed_bytes").find_first_of("0123456789") ==
          std::string::npos);
  }
}

TEST_CASE("rocm-smi: impossible process rows are dropped, and make the list incomplete") {
  const auto card = [](const std::string& system) {
    const std::string text = rocm_card(make_use("\"2048\""));
    return text.substr(0, text.size() - 1) + system + "}";
  };
  const auto row = [](const std::string& pid, const std::string& value) {
    return R"j(, "system": {"Driver version": "6.7", "PID7": "a, 1, 1024, 0, 0", "PID)j" + pid +
           R"j(": )j" + value + "}";
  };
  const std::vector<Expectation> at_least{
      {"processes", "not_understood"}, {"pid:7", ">=1024"}, {"unattributed_bytes", "ambiguous"}};
  const Lie all[] = {
      {"honest",
       card(R"j(, "system": {"PID7": "a, 1, 1024, 0, 0"})j"),
       {{"processes", "listed"}, {"pid:7", "1024"}, {"unattributed_bytes", "1024"}}},
      {"none", card(""), {{"processes", "listed"}, {"unattributed_bytes", "2048"}}},
      {"pid 0", card(row("0", "\"b, 1, 512, 0, 0\"")), at_least},
      {"no number for a pid", card(row("x", "\"b, 1, 512, 0, 0\"")), at_least},
      {"an object for a row", card(row("8", R"j({"a": 1})j")), at_least},
      {"an object alone",
       card(R"j(, "system": {"PID7": {"a": 1}})j"),
       {{"processes", "not_understood"},
        {"pid:7", "unlisted"},
        {"unattributed_bytes", "not_understood"}}},
      {"a word for a row",
       card(row("8", "\"N/A\"")),
       {{"pid:7", "1024"}, {"pid:8", "unsupported"}, {"unattributed_bytes", "ambiguous"}}},
  };
  for (const Lie& lie : all) {
    Tools tools(HMN_BACKEND_ROCM_SMI);
    tools.set_rocm_answer(lie.output);
    tools.witness.take_snapshot();
    check_lie(tools.witness, lie);
  }
}
