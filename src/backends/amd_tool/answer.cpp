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

using About = Sentence::About;

constexpr Sentence sentences[] = {
    {"not found in modules", About::tool, Status::no_source, "load the amdgpu driver"},
    {"Driver not initialized", About::tool, Status::no_source, "load the amdgpu driver"},
    {"Unable to detect any GPU", About::tool, Status::no_source, "load the amdgpu driver"},
    {"ermission denied", About::tool, Status::permission, "it needs more rights"},
    {"rsmi_init", About::tool, Status::backend, "update ROCm to fit the driver"},
    {"expected value is 0", About::tool, Status::backend, "update ROCm to fit the driver"},
    {"Error:", About::tool, Status::backend, "its installation is incomplete"},
    {"an not find a device", About::tool, Status::no_device, "it is gone"},
    {"unrecognized arguments", About::tool, Status::unsupported, "update ROCm"},
    {"invalid choice", About::tool, Status::unsupported, "update ROCm"},
    {"is invalid", About::tool, Status::unsupported, "update ROCm"},
    {"No DRM devices", About::nothing, Status::no_device, "check that amdgpu has the card"},
    {"No AMD GPUs", About::nothing, Status::no_device, "check that amdgpu has the card"},
    {"No JSON data", About::nothing, Status::no_device, "check that amdgpu has the card"},
    {"required groups", About::warning, Status::permission, "add the user to the groups"},
    {"low-power state", About::warning, Status::asleep, "values of that card may be missing"},
};

constexpr unsigned most_false_starts = 32;
constexpr std::size_t most_sentences = 8;

// Key, and the unit in brackets after it.
struct SpelledKey {
  std::string name;
  std::string_view unit;
};

// Splits "VRAM Total Memory (B)", "sclk clock speed:".
SpelledKey spell(std::string_view key) {
  key = scan::trim(key);
  if (key.ends_with(':')) key.remove_suffix(1);
  SpelledKey s;
  const std::size_t open = key.rfind(" (");
  // These are parts of the name, not units: a fan's level is not its speed in percent.
  const std::string_view last = key.substr(std::min(open, key.size()));
  const bool is_name = last.starts_with(" (Sensor") || last == " (level)";
  if (key.ends_with(')') && open != key.npos && !is_name) {
    s.unit = key.substr(open + 2, key.size() - open - 3);
    key = key.substr(0, open);
  }
  s.name = lower_case(key);
  return s;
}

Card* find_card(Answer& in, std::uint32_t index) {
  for (Card& c : in.cards) {
    if (c.index == index) return &c;
  }
  if (in.cards.size() == most_cards) return nullptr;
  in.cards.emplace_back().index = index;
  return &in.cards.back();
}

// Of a dialect's rows, the first that has a value counts.
void merge(FieldAmount& known, const FieldAmount& fresh) {
  const bool is_better = fresh.has_value() && fresh.rank < known.rank;
  if (known.why == Status::empty || is_better) known = fresh;
  if (!known.has_value() && fresh.why != Status::empty) known = fresh;
}

// Finds where a list or an object may begin.
std::size_t find_begin(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '{' && text[at] != '[') continue;
    const std::size_t next = text.find_first_not_of(" \t\r\n", at + 1);
    if (next != text.npos && std::string_view("\"{[]}").find(text[next]) != text.npos) return at;
  }
  return text.npos;
}

class Reader {
 public:
  Reader(const Dialect& d, Answer& out) : d_(d), out_(out) {}

  void whole(std::string_view rest) {
    unsigned false_starts = 0;
    while (!rest.empty()) {
      const std::size_t at = std::min(find_begin(rest), rest.size());
      beside(rest.substr(0, at));
      rest.remove_prefix(at);
      std::size_t length = 0;
      const auto v = json::parse_front(rest, length);
      if (const auto* document = std::get_if<json::Value>(&v)) {
        ++out_.documents;
        any(*document, false_starts == 0);
        rest.remove_prefix(length);
      } else if (!rest.empty()) {
        if (false_starts++ == 0) broken(*std::get_if<json::SyntaxError>(&v));
        if (false_starts == most_false_starts) return;
        rest.remove_prefix(1);
      }
    }
  }

 private:
  void problem(std::initializer_list<Piece> parts) {
    if (out_.problems.size() < most_sentences) out_.problems.emplace_back(compose(parts));
  }

  void broken(const json::SyntaxError& e) {
    if (e.key.empty()) return;  // a line of words in brackets
    note_list({}, Status::backend, "its output is incomplete or invalid");
    problem({d_.tool.name, "'s output is incomplete or invalid after the key \"",
             Text<64>(e.key).view(), "\" in line ", e.line, ": ", e.what});
  }

  void beside(std::string_view lines) {
    while (!lines.empty()) note_line(scan::trim(scan::take_line(lines)));
  }

  void note_line(std::string_view line) {
    if (line.empty()) return;
    if (find_sentence(line) == nullptr) {
      if (out_.stray.empty()) out_.stray.assign(line);
    } else if (out_.sentences.size() < most_sentences) {
      out_.sentences.emplace_back(line);
    }
  }

  // `is_whole`: not in a truncated document, where positions mean nothing.
  void any(const json::Value& v, bool is_whole) {
    if (const auto* list = v.as<json::Array>()) {
      items(*list, is_whole);
    } else if (const auto* members = v.as<json::Object>()) {
      one(*members);
    }
  }

  void items(const json::Array& list, bool is_whole) {
    std::uint32_t place = 0;
    for (const json::Value& item : list.items) {
      const auto* members = item.as<json::Object>();
      if (members != nullptr && members->find("gpu") != nullptr) {
        one(*members);
      } else if (members != nullptr && is_whole) {
        holds_named_cards(*members) ? one(*members) : one_card(place, *members);
      }
      ++place;
    }
  }

  static bool holds_named_cards(const json::Object& o) {
    return !o.keys.empty() && o.keys[0].starts_with("card") &&
           o.values[0].as<json::Object>() != nullptr;
  }

  void one(const json::Object& o) {
    if (const json::Value* wrapped = o.find("gpu_data")) return any(*wrapped, true);
    if (const json::Value* said = o.find("error")) return note_line(said_by(*said));
    if (const json::Value* number = o.find("gpu")) {
      const auto* index = number->as<std::uint64_t>();
      if (index != nullptr && *index < most_cards) {
        return one_card(static_cast<std::uint32_t>(*index), o);
      }
      return problem({d_.tool.name, " numbers a GPU ", json::show(*number)});
    }
    for (std::size_t i = 0; i < o.keys.size(); ++i) named(o.keys[i], o.values[i]);
  }

  static std::string said_by(const json::Value& v) {
    const auto* text = v.as<std::string>();
    return text != nullptr ? *text : json::show(v);
  }

  // Handles "card0": {…}, "system": {…}. Other objects may be GPUs, too.
  void named(std::string_view key, const json::Value& v) {
    const auto* members = v.as<json::Object>();
    const auto index = key.starts_with("card") ? scan::number<std::uint32_t>(key.substr(4))
                                               : std::optional<std::uint32_t>();
    if (members == nullptr) {
      if (out_.stray.empty()) out_.stray.assign(compose({"\"", key, "\": ", json::show(v)}));
    } else if (index && *index < most_cards) {
      one_card(*index, *members);
    } else if (key != "system") {
      problem({d_.tool.name, "'s answer has the unknown key \"", Text<64>(key).view(), "\""});
    } else {
      for (std::size_t i = 0; i < members->keys.size(); ++i) {
        of_system(members->keys[i], members->values[i]);
      }
    }
  }

  void of_system(std::string_view key, const json::Value& v) {
    const auto* said = v.as<std::string>();
    if (said != nullptr && key == "Driver version" && !is_word_for_nothing(*said)) {
      out_.driver.assign(*said);
    }
    if (!key.starts_with("PID")) {
      // Name, GPUs, VRAM, SDMA, occupancy
      const bool is_row = said != nullptr && std::ranges::count(*said, ',') >= 4;
      return is_row ? note_list({}, Status::backend, "a row has an unknown key") : void();
    }
    const auto pid = pid_of(key.substr(3));
    if (!pid) return no_row({});
    if (said == nullptr) return note_list({}, Status::backend, "a row is no text");
    if (may_add()) out_.processes.push_back(row_of_line(*pid, *said));
  }

  void note_list(std::optional<std::uint32_t> card, Status why, std::string_view flaw) {
    if (out_.lists.size() < 2 * most_cards) out_.lists.push_back({card, why, Text<96>(flaw)});
  }

  void no_row(std::optional<std::uint32_t> card) {
    note_list(card, Status::backend, "a row has no pid, or one that cannot be");
  }

  bool may_add() {
    if (out_.processes.size() < most_processes) return true;
    out_.is_truncated = true;
    return false;
  }

  void one_card(std::uint32_t index, const json::Object& o) {
    ++out_.records;
    if (const json::Value* list = o.find("process_list")) return processes_of(index, *list);
    Card* const c = find_card(out_, index);
    if (c == nullptr) return;
    if (c->document == out_.documents) {
      problem({d_.tool.name, " lists GPU ", index, " twice in one answer"});
      c->amounts = {};
      return;
    }
    c->document = out_.documents;
    std::string path;
    members_of(*c, path, o);
    if (!c->is_reported()) {
      problem({d_.tool.name, " reports nothing known of GPU ", index});
    }
  }

  void processes_of(std::uint32_t index, const json::Value& v) {
    const auto* list = v.as<json::Array>();
    if (list == nullptr) return no_list(index, v);
    note_list(index, Status::ok, {});
    for (const json::Value& item : list->items) {
      const auto* members = item.as<json::Object>();
      const json::Value* inner = members != nullptr ? members->find("process_info") : nullptr;
      process_item(index, inner != nullptr ? *inner : item);
    }
  }

  // Text may replace the object.
  void process_item(std::uint32_t index, const json::Value& v) {
    const auto* row = v.as<json::Object>();
    if (row == nullptr) return no_list(index, v);
    const auto read = row_of_object(*row);
    if (!read) return no_row(index);
    if (!may_add()) return;
    out_.processes.push_back(*read);
    out_.processes.back().card = index;
  }

  void no_list(std::uint32_t index, const json::Value& v) {
    const std::string said = said_by(v);
    if (said.starts_with("No running process")) return note_list(index, Status::ok, {});
    const bool is_refused = said.find("ermission") != said.npos;
    const Status why = is_refused                  ? Status::permission
                       : is_word_for_nothing(said) ? Status::unsupported
                                                   : Status::backend;
    note_list(index, why, said);
  }

  void members_of(Card& c, std::string& path, const json::Object& o) {
    const std::size_t length = path.size();
    for (std::size_t i = 0; i < o.keys.size(); ++i) {
      const SpelledKey key = spell(o.keys[i]);
      path += key.name;
      const auto* inner = o.values[i].as<json::Object>();
      if (inner != nullptr && inner->find("value") == nullptr) {
        path += '/';
        members_of(c, path, *inner);
      } else {
        leaf(c, path, o.keys[i], o.values[i], key.unit);
      }
      path.resize(length);
    }
  }

  void leaf(Card& c, std::string_view path, const std::string& key, const json::Value& v,
            std::string_view unit) {
    for (std::size_t i = 0; i < d_.rows.size(); ++i) {
      if (d_.rows[i].path != path) continue;
      FieldAmount& old = c.amounts[static_cast<std::size_t>(d_.rows[i].what)];
      FieldAmount fresh = read_field_amount(d_.rows[i].as, v, unit);
      fresh.rank = static_cast<std::uint8_t>(i);
      fresh.key.assign(path.find('/') == path.npos ? std::string_view(key) : path);
      if (old.why != Status::empty && old.rank == fresh.rank) {
        old.why = Status::backend;
        old.flaw = ", and stands twice";
        old.stated = Reason::ambiguous;
      } else {
        merge(old, fresh);
      }
    }
  }

  const Dialect& d_;
  Answer& out_;
};

}  // namespace

const Sentence* find_sentence(std::string_view line) noexcept {
  return command_tool::find_sentence(sentences, line);
}

void merge(Answer& into, const Answer& from) {
  for (const Card& c : from.cards) {
    Card* const known = find_card(into, c.index);
    if (known == nullptr) return;
    for (std::size_t i = 0; i < c.amounts.size(); ++i) merge(known->amounts[i], c.amounts[i]);
  }
  if (into.driver.empty()) into.driver = from.driver;
}

void read_answer(const Dialect& d, std::string_view output, Answer& into) {
  std::string valid;
  append_utf8(valid, output);
  const std::size_t earlier = into.processes.size();
  Reader(d, into).whole(valid);
  check_processes(d, into, earlier);
}

}  // namespace hmn::amd_tool
