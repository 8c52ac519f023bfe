// SPDX-License-Identifier: MIT OR Apache-2.0
// Recorded output of real tools, given to the fake as numbers and texts, is printed byte for byte.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fake_tree.hpp"
#include "process_result.hpp"
#include "selftest.hpp"

namespace {

using json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* suite = "fakes.nvidia_smi_corpus";

using Row = std::vector<std::string>;

Row split_cells(const std::string& line) {
  Row cells;
  for (std::size_t position = 0; position <= line.size();) {
    const auto end = std::min(line.find(", ", position), line.size());
    cells.push_back(line.substr(position, end - position));
    position = end + 2;
  }
  return cells;
}

std::vector<Row> split_rows(const std::string& text) {
  std::vector<Row> rows;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) rows.push_back(split_cells(line));
  return rows;
}

struct Column {
  std::string name, unit;
};

Column parse_column(const std::string& title) {
  const auto bracket = title.find(" [");
  if (bracket == std::string::npos) return {title, ""};
  return {title.substr(0, bracket), title.substr(bracket + 2, title.size() - bracket - 3)};
}

json parse_cell(const std::string& text, const std::string& unit) {
  const auto suffix = " " + unit;
  if (unit.empty() || !text.ends_with(suffix)) return text;
  const auto number = text.substr(0, text.size() - suffix.size());
  if (number.find('.') != std::string::npos) return std::stod(number);
  return std::stoll(number);
}

// Columns that no monitor queries; the fake does not know their units.
bool is_exotic(const std::string& name) {
  for (const char* prefix : {"power_smoothing.", "edpp_", "gpu.base.", "bbx."})
    if (name.starts_with(prefix)) return true;
  return false;
}

json make_scenario(const std::vector<Row>& table, bool apps) {
  std::vector<Column> columns;
  json fields = json::array(), units = json::object();
  for (const auto& title : table.front()) {
    columns.push_back(parse_column(title));
    fields.push_back(columns.back().name);
    if (is_exotic(columns.back().name)) units[columns.back().name] = columns.back().unit;
  }
  json gpus = json::array(), app_rows = json::array();
  for (std::size_t i = 1; i < table.size(); ++i) {
    REQUIRE(table[i].size() == columns.size());
    json cells;
    for (std::size_t column = 0; column < columns.size(); ++column)
      cells[columns[column].name] = parse_cell(table[i][column], columns[column].unit);
    (apps ? app_rows : gpus).push_back(apps ? cells : json{{"fields", cells}});
  }
  if (apps) gpus.push_back({{"compute_apps", app_rows}});
  return {{"gpus", gpus}, {"known_fields", fields}, {"known_app_fields", fields}, {"units", units}};
}

std::string make_query(const Row& titles, bool apps) {
  std::string out = apps ? "--query-compute-apps=" : "--query-gpu=";
  for (const auto& title : titles) out += parse_column(title).name + ",";
  out.pop_back();
  return out;
}

void check_same(const std::vector<Row>& actual, const std::vector<Row>& expected) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    REQUIRE(actual[i].size() == expected[i].size());
    for (std::size_t column = 0; column < actual[i].size(); ++column)
      CHECK(actual[i][column] == expected[i][column]);
  }
}

unsigned replay(const std::string& ending, bool apps) {
  unsigned count = 0;
  for (const auto& entry : fs::directory_iterator(HMN_CORPUS_DIR "/nvidia-smi-csv")) {
    if (!entry.path().filename().string().ends_with(ending)) continue;
    CAPTURE(entry.path().filename().string());
    const auto text = selftest::read_file(entry.path());
    const auto table = split_rows(text);
    const hmn_fake::Tree tree;
    fs::copy_file(FAKES_DIR "/nvidia-smi/nvidia-smi", tree.path("nvidia-smi"));
    tree.write("nvidia-smi.json", make_scenario(table, apps).dump());
    const auto result =
        selftest::run(tree.path("nvidia-smi"), {make_query(table.front(), apps), "--format=csv"});
    CHECK(result.exit_code == 0);
    check_same(split_rows(result.out), table);
    CHECK((result.out == text));
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("nvidia_smi_corpus: recorded answers are reproduced byte for byte") {
  if (selftest::is_absent(suite, HMN_CORPUS_DIR "/nvidia-smi-csv")) return;
  CHECK(replay("query-gpu.csv", false) >= 8);
  CHECK(replay("compute-apps.csv", true) >= 5);
}

TEST_CASE("nvidia_smi_corpus: an unknown field is rejected with the recorded message") {
  const char* path = HMN_CORPUS_DIR "/nvidia-smi-errors/field-not-valid.txt";
  if (selftest::is_absent(suite, path)) return;
  const auto recorded = selftest::read_file(path);
  const hmn_fake::Tree tree;
  fs::copy_file(FAKES_DIR "/nvidia-smi/nvidia-smi", tree.path("nvidia-smi"));
  tree.write("nvidia-smi.json", R"({"gpus": [{}]})");
  const auto result =
      selftest::run(tree.path("nvidia-smi"), {"--query-gpu=cuda_version", "--format=csv"});
  // The recording was trimmed to one newline; the tool prints two.
  CHECK(result.out == recorded + "\n");
}
