// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amd_tool/answer.hpp"

#include <algorithm>

#include "backends/amd_tool/processes.hpp"
#include "model/character.hpp"
#include "model/json.hpp"
#include "model/message_text.hpp"
#include "model/scan.hpp"

namespace hmn::amd_tool {
namespace {

using Subject = ToolMessage::Subject;

constexpr ToolMessage sentences[] = {
    {"not found in modules", Subject::tool, Status::no_source, "load the amdgpu driver"},
    {"Driver not initialized", Subject::tool, Status::no_source, "load the amdgpu driver"},
    {"Unable to detect any GPU", Subject::tool, Status::no_source, "load the amdgpu driver"},
    {"ermission denied", Subject::tool, Status::permission, "it needs more rights"},
    {"rsmi_init", Subject::tool, Status::backend, "update ROCm to fit the driver"},
    {"expected value is 0", Subject::tool, Status::backend, "update ROCm to fit the driver"},
    {"Error:", Subject::tool, Status::backend, "its installation is incomplete"},
    {"an not find a device", Subject::tool, Status::no_device, "it is gone"},
    {"unrecognized arguments", Subject::tool, Status::unsupported, "update ROCm"},
    {"invalid choice", Subject::tool, Status::unsupported, "update ROCm"},
    {"is invalid", Subject::tool, Status::unsupported, "update ROCm"},
    {"No DRM devices", Subject::nothing, Status::no_device, "check that amdgpu has the card"},
    {"No AMD GPUs", Subject::nothing, Status::no_device, "check that amdgpu has the card"},
    {"No JSON data", Subject::nothing, Status::no_device, "check that amdgpu has the card"},
    {"required groups", Subject::warning, Status::permission, "add the user to the groups"},
    {"low-power state", Subject::warning, Status::asleep, "values of that card may be missing"},
};

constexpr unsigned max_false_starts = 32;
constexpr std::size_t max_sentences = 8;

// Key, and the unit in brackets after it.
struct ParsedKey {
  std::string name;
  std::string_view unit;
};

// Splits "VRAM Total Memory (B)", "sclk clock speed:".
ParsedKey parse_key(std::string_view key) {
  key = scan::trim(key);
  if (key.ends_with(':')) key.remove_suffix(1);
  ParsedKey result;
  const std::size_t bracket = key.rfind(" (");
  // These are parts of the name, not units: a fan's level is not its speed in percent.
  const std::string_view last = key.substr(std::min(bracket, key.size()));
  const bool is_name = last.starts_with(" (Sensor") || last == " (level)";
  if (key.ends_with(')') && bracket != key.npos && !is_name) {
    result.unit = key.substr(bracket + 2, key.size() - bracket - 3);
    key = key.substr(0, bracket);
  }
  result.name = lower_case(key);
  return result;
}

Card* find_or_add_card(Answer& answer, std::uint32_t index) {
  for (Card& card : answer.cards) {
    if (card.index == index) return &card;
  }
  if (answer.cards.size() == max_cards) return nullptr;
  answer.cards.emplace_back().index = index;
  return &answer.cards.back();
}

// Of a dialect's rows, the first that has a value counts.
void merge(FieldAmount& current, const FieldAmount& candidate) {
  const bool is_better = candidate.has_value() && candidate.rank < current.rank;
  if (current.status == Status::empty || is_better) current = candidate;
  if (!current.has_value() && candidate.status != Status::empty) current = candidate;
}

// Finds where a list or an object may begin.
std::size_t find_json_start(std::string_view text) {
  for (std::size_t index = 0; index < text.size(); ++index) {
    if (text[index] != '{' && text[index] != '[') continue;
    const std::size_t next = text.find_first_not_of(" \t\r\n", index + 1);
    if (next != text.npos && std::string_view("\"{[]}").find(text[next]) != text.npos) return index;
  }
  return text.npos;
}

class AnswerReader {
 public:
  AnswerReader(const Dialect& dialect, Answer& answer) : dialect_(dialect), answer_(answer) {}

  void read_output(std::string_view rest) {
    unsigned false_starts = 0;
    while (!rest.empty()) {
      const std::size_t begin = std::min(find_json_start(rest), rest.size());
      add_lines(rest.substr(0, begin));
      rest.remove_prefix(begin);
      std::size_t length = 0;
      const auto result = json::parse_front(rest, length);
      if (const auto* document = std::get_if<json::Value>(&result)) {
        ++answer_.documents;
        read_value(*document, false_starts == 0);
        rest.remove_prefix(length);
      } else if (!rest.empty()) {
        if (false_starts++ == 0) report_syntax_error(*std::get_if<json::SyntaxError>(&result));
        if (false_starts == max_false_starts) return;
        rest.remove_prefix(1);
      }
    }
  }

 private:
  void add_problem(std::initializer_list<Piece> parts) {
    if (answer_.problems.size() < max_sentences) answer_.problems.emplace_back(compose(parts));
  }

  void report_syntax_error(const json::SyntaxError& error) {
    if (error.key.empty()) return;  // a line of words in brackets
    add_list({}, Status::backend, "its output is incomplete or invalid");
    add_problem({dialect_.tool.name, "'s output is incomplete or invalid after the key \"",
                 Text<64>(error.key).view(), "\" in line ", error.line, ": ", error.message});
  }

  void add_lines(std::string_view lines) {
    while (!lines.empty()) add_line(scan::trim(scan::take_line(lines)));
  }

  void add_line(std::string_view line) {
    if (line.empty()) return;
    if (find_message(line) == nullptr) {
      if (answer_.stray.empty()) answer_.stray.assign(line);
    } else if (answer_.sentences.size() < max_sentences) {
      answer_.sentences.emplace_back(line);
    }
  }

  // `is_whole`: not in a truncated document, where positions mean nothing.
  void read_value(const json::Value& value, bool is_whole) {
    if (const auto* list = value.get_if<json::Array>()) {
      read_items(*list, is_whole);
    } else if (const auto* members = value.get_if<json::Object>()) {
      read_object(*members);
    }
  }

  void read_items(const json::Array& list, bool is_whole) {
    std::uint32_t index = 0;
    for (const json::Value& item : list.items) {
      const auto* members = item.get_if<json::Object>();
      if (members != nullptr && members->find("gpu") != nullptr) {
        read_object(*members);
      } else if (members != nullptr && is_whole) {
        holds_named_cards(*members) ? read_object(*members) : read_card(index, *members);
      }
      ++index;
    }
  }

  static bool holds_named_cards(const json::Object& o) {
    return !o.keys.empty() && o.keys[0].starts_with("card") &&
           o.values[0].get_if<json::Object>() != nullptr;
  }

  void read_object(const json::Object& object) {
    if (const json::Value* data = object.find("gpu_data")) return read_value(*data, true);
    if (const json::Value* error = object.find("error")) return add_line(read_text(*error));
    if (const json::Value* number = object.find("gpu")) {
      const auto* index = number->get_if<std::uint64_t>();
      if (index != nullptr && *index < max_cards) {
        return read_card(static_cast<std::uint32_t>(*index), object);
      }
      return add_problem({dialect_.tool.name, " numbers a GPU ", json::summarize(*number)});
    }
    for (std::size_t i = 0; i < object.keys.size(); ++i)
      read_member(object.keys[i], object.values[i]);
  }

  static std::string read_text(const json::Value& value) {
    const auto* text = value.get_if<std::string>();
    return text != nullptr ? *text : json::summarize(value);
  }

  // Handles "card0": {…}, "system": {…}. Other objects may be GPUs, too.
  void read_member(std::string_view key, const json::Value& value) {
    const auto* members = value.get_if<json::Object>();
    const auto index = key.starts_with("card") ? scan::parse_number<std::uint32_t>(key.substr(4))
                                               : std::optional<std::uint32_t>();
    if (members == nullptr) {
      if (answer_.stray.empty())
        answer_.stray.assign(compose({"\"", key, "\": ", json::summarize(value)}));
    } else if (index && *index < max_cards) {
      read_card(*index, *members);
    } else if (key != "system") {
      add_problem(
          {dialect_.tool.name, "'s answer has the unknown key \"", Text<64>(key).view(), "\""});
    } else {
      for (std::size_t i = 0; i < members->keys.size(); ++i) {
        read_system_member(members->keys[i], members->values[i]);
      }
    }
  }

  void read_system_member(std::string_view key, const json::Value& value) {
    const auto* text = value.get_if<std::string>();
    if (text != nullptr && key == "Driver version" && !is_missing_value(*text)) {
      answer_.driver.assign(*text);
    }
    if (!key.starts_with("PID")) {
      // Name, GPUs, VRAM, SDMA, occupancy
      const bool is_row = text != nullptr && std::ranges::count(*text, ',') >= 4;
      return is_row ? add_list({}, Status::backend, "a row has an unknown key") : void();
    }
    const auto pid = parse_pid(key.substr(3));
    if (!pid) return add_invalid_row({});
    if (text == nullptr) return add_list({}, Status::backend, "a row is not text");
    if (can_add_process()) answer_.processes.push_back(parse_line(*pid, *text));
  }

  void add_list(std::optional<std::uint32_t> card, Status status, std::string_view flaw) {
    if (answer_.list_statuses.size() < 2 * max_cards)
      answer_.list_statuses.push_back({card, status, Text<96>(flaw)});
  }

  void add_invalid_row(std::optional<std::uint32_t> card) {
    add_list(card, Status::backend, "a row has no pid, or one that cannot be");
  }

  bool can_add_process() {
    if (answer_.processes.size() < max_processes) return true;
    answer_.is_truncated = true;
    return false;
  }

  void read_card(std::uint32_t index, const json::Object& object) {
    ++answer_.records;
    if (const json::Value* list = object.find("process_list")) return read_processes(index, *list);
    Card* const card = find_or_add_card(answer_, index);
    if (card == nullptr) return;
    if (card->document == answer_.documents) {
      add_problem({dialect_.tool.name, " lists GPU ", index, " twice in one answer"});
      card->amounts = {};
      return;
    }
    card->document = answer_.documents;
    std::string path;
    read_members(*card, path, object);
    if (!card->is_reported()) {
      add_problem({dialect_.tool.name, " reports nothing known of GPU ", index});
    }
  }

  void read_processes(std::uint32_t index, const json::Value& value) {
    const auto* list = value.get_if<json::Array>();
    if (list == nullptr) return add_unreadable_list(index, value);
    add_list(index, Status::ok, {});
    for (const json::Value& item : list->items) {
      const auto* members = item.get_if<json::Object>();
      const json::Value* inner = members != nullptr ? members->find("process_info") : nullptr;
      read_process_info(index, inner != nullptr ? *inner : item);
    }
  }

  // Text may replace the object.
  void read_process_info(std::uint32_t index, const json::Value& value) {
    const auto* members = value.get_if<json::Object>();
    if (members == nullptr) return add_unreadable_list(index, value);
    const auto row = parse_object(*members);
    if (!row) return add_invalid_row(index);
    if (!can_add_process()) return;
    answer_.processes.push_back(*row);
    answer_.processes.back().card = index;
  }

  void add_unreadable_list(std::uint32_t index, const json::Value& value) {
    const std::string text = read_text(value);
    if (text.starts_with("No running process")) return add_list(index, Status::ok, {});
    const bool is_refused = text.find("ermission") != text.npos;
    const Status status = is_refused               ? Status::permission
                          : is_missing_value(text) ? Status::unsupported
                                                   : Status::backend;
    add_list(index, status, text);
  }

  void read_members(Card& card, std::string& path, const json::Object& object) {
    const std::size_t length = path.size();
    for (std::size_t i = 0; i < object.keys.size(); ++i) {
      const ParsedKey key = parse_key(object.keys[i]);
      path += key.name;
      const auto* inner = object.values[i].get_if<json::Object>();
      if (inner != nullptr && inner->find("value") == nullptr) {
        path += '/';
        read_members(card, path, *inner);
      } else {
        read_leaf(card, path, object.keys[i], object.values[i], key.unit);
      }
      path.resize(length);
    }
  }

  void read_leaf(Card& card, std::string_view path, const std::string& key,
                 const json::Value& value, std::string_view unit) {
    for (std::size_t i = 0; i < dialect_.rows.size(); ++i) {
      if (dialect_.rows[i].path != path) continue;
      FieldAmount& current = card.amounts[static_cast<std::size_t>(dialect_.rows[i].field)];
      FieldAmount candidate = read_field_amount(dialect_.rows[i].form, value, unit);
      candidate.rank = static_cast<std::uint8_t>(i);
      candidate.key.assign(path.find('/') == path.npos ? std::string_view(key) : path);
      if (current.status != Status::empty && current.rank == candidate.rank) {
        current.status = Status::backend;
        current.flaw = ", and appears twice";
        current.reason = Reason::ambiguous;
      } else {
        merge(current, candidate);
      }
    }
  }

  const Dialect& dialect_;
  Answer& answer_;
};

}  // namespace

const ToolMessage* find_message(std::string_view line) noexcept {
  return command_tool::find_message(sentences, line);
}

void merge(Answer& target, const Answer& source) {
  for (const Card& card : source.cards) {
    Card* const target_card = find_or_add_card(target, card.index);
    if (target_card == nullptr) return;
    for (std::size_t i = 0; i < card.amounts.size(); ++i)
      merge(target_card->amounts[i], card.amounts[i]);
  }
  if (target.driver.empty()) target.driver = source.driver;
}

void read_answer(const Dialect& dialect, std::string_view output, Answer& answer) {
  std::string valid;
  append_utf8(valid, output);
  const std::size_t first_row = answer.processes.size();
  AnswerReader(dialect, answer).read_output(valid);
  check_processes(dialect, answer, first_row);
}

}  // namespace hmn::amd_tool
