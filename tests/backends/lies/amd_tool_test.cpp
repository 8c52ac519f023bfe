// SPDX-License-Identifier: MIT OR Apache-2.0
//
// amd-smi and rocm-smi lie.
#include <doctest/doctest.h>

#include "witness.hpp"

using namespace lies_test;

namespace {

constexpr const char* address = "0000:0b:00.0";

const std::string named =
    R"j([{"gpu": 0, "asic": {"market_name": "AMD Radeon"}, "bus": {"bdf": "0000:0b:00.0"},
          "limit": {"socket_power": {"value": 300, "unit": "W"}},
          "vram": {"size": {"value": 16, "unit": "MB"}}}])j";

// One of the commands over a card that no driver of the kernel reports on.
class tools {
 public:
  explicit tools(std::uint32_t command, std::uint32_t deadline_ms = patient_ms)
      : w(bit_of(command), deadline_ms) {
    hmn_fake::add_pci_device(w.tree(), hmn_fake::amd_card(address));
    w.set(HMN_PATH_AMD_SMI, w.tree().path("tool/amd-smi"));
    w.set(HMN_PATH_ROCM_SMI, w.tree().path("tool/rocm-smi"));
  }
  void amd(const std::string& question, const std::string& answer) const {
    w.tree().write("tool/amd-smi." + question, answer);
    script("amd-smi", "exec cat \"$0.$1\"\n");
  }
  void rocm(const std::string& answer) const {
    w.tree().write("tool/rocm-smi.out", answer);
    script("rocm-smi", "exec cat \"$0.out\"\n");
  }
  void script(const std::string& name, const std::string& body) const {
    w.tree().script("tool/" + name, body);
  }

  witness w;
};

std::string rocm_card(const std::string& members) {
  return R"j({"card0": {"Card series": "Navi 23", "PCI Bus": "0000:0B:00.0", )j" + members + "}}";
}

std::string amd_metric(const std::string& members) {
  return R"j([{"gpu": 0, )j" + members + "}]";
}

std::string use_of(const std::string& value) {
  return R"j("VRAM Total Memory (B)": "4096", "VRAM Total Used Memory (B)": )j" + value;
}

}  // namespace

TEST_CASE("rocm-smi: what it prints of one card") {
  const lie all[] = {
      {"honest", use_of("\"1024\""), {{"used_bytes", "1024"}, {"total_bytes", "4096"}}},
      {"a number", use_of("1024"), {{"used_bytes", "1024"}}},
      {"a list", use_of("[1024]"), {{"used_bytes", "not_understood"}}},
      {"an object", use_of("{\"a\": 1024}"), {{"used_bytes", "unsupported"}}},
      {"a truth", use_of("true"), {{"used_bytes", "not_understood"}}},
      {"nothing", use_of("null"), {{"used_bytes", "unsupported"}}},
      {"NaN", use_of("NaN"), {{"used_bytes", "not_understood"}}},
      {"below 0", use_of("\"-1024\""), {{"used_bytes", "implausible"}}},
      {"more than the card has",
       use_of("\"4097\""),
       {{"used_bytes", "implausible"}, {"total_bytes", "4096"}}},
      {"huge", use_of("\"99999999999999999999\""), {{"used_bytes", "implausible"}}},
      {"words", use_of("\"much\""), {{"used_bytes", "not_understood"}}},
      {"twice",
       use_of("\"1024\", \"VRAM Total Used Memory (B)\": \"1025\""),
       {{"used_bytes", "ambiguous"}}},
      {"no such key", R"j("VRAM Total Memory (B)": "4096")j", {{"used_bytes", "unsupported"}}},
      {"another unit",
       R"j("VRAM Total Memory (B)": "4096", "GPU use (W)": "3", "Temperature (Sensor edge) (F)": "100")j",
       {{"gpu_busy_percent", "not_understood"}, {"temperature_celsius", "not_understood"}}},
      {"above 100 %",
       R"j("VRAM Total Memory (B)": "4096", "GPU use (%)": "101")j",
       {{"gpu_busy_percent", "implausible"}}},
      {"no temperature can be that",
       R"j("VRAM Total Memory (B)": "4096", "Temperature (Sensor edge) (C)": "5000")j",
       {{"temperature_celsius", "implausible"}}},
      {"a filler",
       R"j("VRAM Total Memory (B)": "4096", "sclk clock speed:": "(65535Mhz)")j",
       {{"core_clock_mhz", "unsupported"}}},
      {"two quantities of a fan",
       R"j("VRAM Total Memory (B)": "4096", "Fan speed (level)": "51", "Fan speed (%)": "20")j",
       {{"fan_percent", "20"}}},
      {"a level of a fan alone",
       R"j("VRAM Total Memory (B)": "4096", "Fan speed (level)": "51")j",
       {{"fan_percent", "unsupported"}}},
  };
  for (const lie& l : all) {
    tools t(HMN_BACKEND_ROCM_SMI);
    t.rocm(rocm_card(l.printed));
    t.w.take();
    check_lie(t.w, l);
  }
}

TEST_CASE("rocm-smi: the shape of its answer") {
  const std::string card = rocm_card(use_of("\"1024\""));
  const std::string inside = card.substr(1, card.size() - 2);
  const lie all[] = {
      {"cut",
       card.substr(0, card.size() - 10),
       {{"used_bytes", "none"}},
       "breaks off",
       "not_understood"},
      {"nothing", "", {{"used_bytes", "none"}}, "listed no GPU", "failed"},
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
       "listed no GPU",
       "failed"},
      {"bytes that are no text", "\xff\xfe" + card, {{"used_bytes", "1024"}}},
      {"a million brackets",
       std::string(1 << 20, '['),
       {{"used_bytes", "none"}},
       "listed no GPU",
       "failed"},
  };
  for (const lie& l : all) {
    tools t(HMN_BACKEND_ROCM_SMI);
    t.rocm(l.printed);
    t.w.take();
    check_lie(t.w, l);
  }
}

TEST_CASE("amd-smi: what it prints of one card") {
  const std::string total =
      R"j("mem_usage": {"total_vram": {"value": 16, "unit": "MB"}, "used_vram": )j";
  const auto used = [&](const std::string& value) { return total + value + "}"; };
  const lie all[] = {
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
  for (const lie& l : all) {
    tools t(HMN_BACKEND_AMD_SMI);
    t.amd("static", named);
    t.amd("process", "[]");
    t.amd("metric", amd_metric(l.printed));
    t.w.take();
    check_lie(t.w, l);
  }
}

TEST_CASE("amd-smi: either of its answers is used without the other") {
  const std::string values = amd_metric(
      R"j("usage": {"gfx_activity": {"value": 31, "unit": "%"}},
          "mem_usage": {"total_vram": {"value": 16, "unit": "MB"},
                        "used_vram": {"value": 5, "unit": "MB"}})j");
  SUBCASE("static fails") {
    tools t(HMN_BACKEND_AMD_SMI);
    t.amd("metric", values);
    t.amd("process", "[]");
    t.script("amd-smi", "[ $1 != static ] || exit 7\nexec cat \"$0.$1\"\n");
    t.w.take();
    t.w.check({{"used_bytes", "5242880"},
               {"gpu_busy_percent", "31"},
               {"power_limit_watts", "failed"},
               {"power_watts", "unsupported"}});
    CHECK(t.w.diagnosed("exited with 7") == "failed");
  }
  SUBCASE("metric fails") {
    tools t(HMN_BACKEND_AMD_SMI);
    t.amd("static", named);
    t.amd("process", "[]");
    t.script("amd-smi", "[ $1 != metric ] || exit 7\nexec cat \"$0.$1\"\n");
    for (int reading = 0; reading < 2; ++reading) {
      t.w.take();
      t.w.check({{"total_bytes", "16777216"},
                 {"used_bytes", "failed"},
                 {"gpu_busy_percent", "failed"},
                 {"power_limit_watts", "300"}});
    }
  }
  SUBCASE("both fail") {
    tools t(HMN_BACKEND_AMD_SMI);
    t.amd("process", "[]");
    t.script("amd-smi", "exit 7\n");
    t.w.take();
    CHECK(t.w.devices() == 0);
    CHECK(t.w.diagnosed("exited with 7") == "failed");
  }
  SUBCASE("static hangs: the next reading asks it last") {
    tools t(HMN_BACKEND_AMD_SMI, 1'500);
    t.amd("metric", values);
    t.amd("process", "[]");
    t.script("amd-smi", "[ $1 != static ] || exec sleep 60\nexec cat \"$0.$1\"\n");
    t.w.take();
    CHECK(t.w.devices() == 0);
    CHECK(t.w.diagnosed("did not answer within the deadline") == "timed_out");
    t.w.take();
    t.w.check({{"used_bytes", "5242880"}, {"power_limit_watts", "timed_out"}});
  }
}
