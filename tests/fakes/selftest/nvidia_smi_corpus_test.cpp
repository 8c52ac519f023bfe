// SPDX-License-Identifier: MIT OR Apache-2.0
// Recorded output of real tools, given to the fake as numbers and texts, comes back byte for byte.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fake_tree.hpp"
#include "ran.hpp"
#include "selftest.hpp"

namespace {

using json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* suite = "fakes.nvidia_smi_corpus";

using Row = std::vector<std::string>;

Row cells_of(const std::string& line) {
  Row out;
  for (std::size_t from = 0; from <= line.size();) {
    const auto end = std::min(line.find(", ", from), line.size());
    out.push_back(line.substr(from, end - from));
    from = end + 2;
  }
  return out;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<Row> rows_of(const std::string& text) {
  std::vector<Row> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(cells_of(line));
  return out;
}

struct Column {
  std::string name, unit;
};

Column column_of(const std::string& title) {
  const auto bracket = title.find(" [");
  if (bracket == std::string::npos) return {title, ""};
  return {title.substr(0, bracket), title.substr(bracket + 2, title.size() - bracket - 3)};
}

json cell_of(const std::string& text, const std::string& unit) {
  const auto suffix = " " + unit;
  if (unit.empty() || !text.ends_with(suffix)) return text;
  const auto number = text.substr(0, text.size() - suffix.size());
  if (number.find('.') != std::string::npos) return std::stod(number);
  return std::stoll(number);
}

// Columns that no monitor asks for, and whose units the fake therefore does not know.
bool is_exotic(const std::string& name) {
  for (const char* prefix : {"power_smoothing.", "edpp_", "gpu.base.", "bbx."})
    if (name.starts_with(prefix)) return true;
  return false;
}

json scenario_from(const std::vector<Row>& table, bool apps) {
  std::vector<Column> columns;
  json known = json::array(), units = json::object();
  for (const auto& title : table.front()) {
    columns.push_back(column_of(title));
    known.push_back(columns.back().name);
    if (is_exotic(columns.back().name)) units[columns.back().name] = columns.back().unit;
  }
  json gpus = json::array(), listed = json::array();
  for (std::size_t i = 1; i < table.size(); ++i) {
    REQUIRE(table[i].size() == columns.size());
    json cells;
    for (std::size_t k = 0; k < columns.size(); ++k)
      cells[columns[k].name] = cell_of(table[i][k], columns[k].unit);
    (apps ? listed : gpus).push_back(apps ? cells : json{{"fields", cells}});
  }
  if (apps) gpus.push_back({{"compute_apps", listed}});
  return {{"gpus", gpus}, {"known_fields", known}, {"known_app_fields", known}, {"units", units}};
}

std::string query_for(const Row& titles, bool apps) {
  std::string out = apps ? "--query-compute-apps=" : "--query-gpu=";
  for (const auto& title : titles) out += column_of(title).name + ",";
  out.pop_back();
  return out;
}

void check_same(const std::vector<Row>& got, const std::vector<Row>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    REQUIRE(got[i].size() == expected[i].size());
    for (std::size_t k = 0; k < got[i].size(); ++k) CHECK(got[i][k] == expected[i][k]);
  }
}

unsigned replay(const std::string& ending, bool apps) {
  unsigned count = 0;
  for (const auto& entry : fs::directory_iterator(HMN_CORPUS_DIR "/nvidia-smi-csv")) {
    if (!entry.path().filename().string().ends_with(ending)) continue;
    CAPTURE(entry.path().filename().string());
    const auto text = text_of(entry.path());
    const auto table = rows_of(text);
    const hmn_fake::Tree tree;
    fs::copy_file(FAKES_DIR "/nvidia-smi/nvidia-smi", tree.path("nvidia-smi"));
    tree.write("nvidia-smi.json", scenario_from(table, apps).dump());
    const auto got =
        selftest::run(tree.path("nvidia-smi"), {query_for(table.front(), apps), "--format=csv"});
    CHECK(got.exit_code == 0);
    check_same(rows_of(got.out), table);
    CHECK((got.out == text));
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("nvidia_smi_corpus: recorded answers come back as they were") {
  if (selftest::is_absent(suite, HMN_CORPUS_DIR "/nvidia-smi-csv")) return;
  CHECK(replay("query-gpu.csv", false) >= 8);
  CHECK(replay("compute-apps.csv", true) >= 5);
}

TEST_CASE("nvidia_smi_corpus: the refusal of a field is worded as recorded") {
  const char* path = HMN_CORPUS_DIR "/nvidia-smi-errors/field-not-valid.txt";
  if (selftest::is_absent(suite, path)) return;
  const auto recorded = text_of(path);
  const hmn_fake::Tree tree;
  fs::copy_file(FAKES_DIR "/nvidia-smi/nvidia-smi", tree.path("nvidia-smi"));
  tree.write("nvidia-smi.json", R"({"gpus": [{}]})");
  const auto got =
      selftest::run(tree.path("nvidia-smi"), {"--query-gpu=cuda_version", "--format=csv"});
  // The recording was trimmed to one newline; the tool prints two.
  CHECK(got.out == recorded + "\n");
}
