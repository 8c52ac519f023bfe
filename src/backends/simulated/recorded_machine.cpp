// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/recorded_machine.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/message_text.hpp"
#include "model/scan.hpp"
#include "model/sort.hpp"
#include "platform/file.hpp"

namespace hmn::simulated {
namespace {

using platform::RecordedFile;
using platform::Recording;

// Not "/sys": the default tree would come with the nodes of /dev.
constexpr std::string_view sys = "/machine/sys";
// The render nodes of a copy are unknown: they are numbered as on a machine without other cards.
constexpr std::uint32_t first_render_minor = 128;  // drivers/gpu/drm/drm_drv.c

bool is_folder(const std::string& path) {
  const auto status = platform::read_status(path.c_str());
  return status && status.value.is_directory;
}

// Returns the value of a key in "uevent"; empty: it has none.
std::string_view find_value(std::string_view uevent, std::string_view key) {
  while (!uevent.empty()) {
    std::string_view line = scan::take_line(uevent);
    if (scan::take_until(line, '=') == key) return line;
  }
  return {};
}

void set_text(Recording& recording, const std::string& path, std::string text) {
  RecordedFile& file = recording.at(path);
  file.text = std::move(text);
  file.errors[RecordedFile::contents] = 0;
}

void set_link(Recording& recording, const std::string& path, std::string target) {
  RecordedFile& file = recording.at(path);
  file.link = std::move(target);
  file.errors[RecordedFile::target] = 0;
}

void add_name(Recording& recording, const std::string& folder, const std::string& name) {
  RecordedFile& file = recording.at(folder);
  file.entries.push_back(name);
  file.errors[RecordedFile::names] = 0;
}

// Restores what a copy of <sys>/class/drm/card<n> lost: its links, and its render node.
class CardFolder {
 public:
  CardFolder(std::string folder, std::uint32_t number, std::uint32_t position, Recording& recording)
      : folder_(std::move(folder)),
        number_(number),
        render_(first_render_minor + position),
        recording_(recording) {
    static_cast<void>(
        platform::read_whole((folder_ + "/device/uevent").c_str(), uevent_, std::size_t{65536}));
  }

  void add() {
    const std::string_view address = find_value(uevent_, "PCI_SLOT_NAME");
    const bool is_pci = !address.empty();
    const std::string card = compose({"card", number_});
    relative_path_ =
        is_pci ? compose({"/devices/pci/", address}) : compose({"/devices/platform/", card});
    device_path_ = compose({sys, relative_path_});
    recording_.mount(device_path_, folder_ + "/device");
    recording_.mount(compose({device_path_, "/drm/", card}), folder_);
    const std::string_view driver = find_value(uevent_, "DRIVER");
    if (!driver.empty())
      set_link(recording_, device_path_ + "/driver", compose({"drivers/", driver}));
    set_link(recording_, device_path_ + "/subsystem", is_pci ? "bus/pci" : "bus/platform");
    add_ids("PCI_ID", "vendor", "device");
    add_ids("PCI_SUBSYS_ID", "subsystem_vendor", "subsystem_device");
    add_node(card, number_, driver);
    add_node(compose({"renderD", render_}), render_, driver);
  }

 private:
  void add_node(const std::string& name, std::uint32_t minor, std::string_view driver) {
    const std::string entry = compose({sys, "/class/drm/", name});
    add_name(recording_, compose({sys, "/class/drm"}), name);
    add_name(recording_, device_path_ + "/drm", name);
    set_link(recording_, entry, compose({"../..", relative_path_, "/drm/", name}));
    set_link(recording_, entry + "/device/driver", compose({"drivers/", driver}));
    set_text(recording_, entry + "/dev", compose({"226:", minor, "\n"}));
  }

  // Takes the ids from "1002:15BF" if the two files are missing.
  void add_ids(std::string_view key, const char* first, const char* second) {
    std::string_view rest = find_value(uevent_, key);
    for (const char* const name : {first, second}) {
      const std::string_view id = scan::take_until(rest, ':');
      if (id.empty() || platform::exists(compose({folder_, "/device/", name}).c_str())) continue;
      set_text(recording_, compose({device_path_, "/", name}), compose({"0x", id, "\n"}));
    }
  }

  const std::string folder_;
  std::uint32_t number_;
  std::uint32_t render_;
  Recording& recording_;
  std::string uevent_;
  std::string relative_path_, device_path_;
};

std::optional<std::uint32_t> parse_card_number(std::string_view name) {
  constexpr std::string_view prefix = "card";
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto number = scan::parse_number<std::uint32_t>(name.substr(prefix.size()));
  return number && *number < first_render_minor / 2 ? number : std::nullopt;
}

bool add_cards(const std::string& folder, Recording& recording) {
  std::vector<std::uint32_t> numbers;
  static_cast<void>(platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    const auto number = parse_card_number(name);
    if (number && is_folder(compose({folder, "/", name, "/device"}))) numbers.push_back(*number);
    return true;
  }));
  std::sort(numbers.begin(), numbers.end());
  std::uint32_t position = 0;
  for (const std::uint32_t number : numbers) {
    CardFolder(compose({folder, "/card", number}), number, position++, recording).add();
  }
  if (!numbers.empty()) return true;
  if (!is_folder(folder + "/device")) return false;
  const auto number = parse_card_number(std::string_view(folder).substr(folder.rfind('/') + 1));
  CardFolder(folder, number.value_or(0), 0, recording).add();
  return true;
}

}  // namespace

bool open_plain_tree(const std::string& folder, Settings& settings, Recording& recording) {
  const bool has_sys = is_folder(folder + "/sys");
  const bool is_sys = !has_sys && is_folder(folder + "/class/drm");
  const bool has_dev = has_sys && is_folder(folder + "/dev");
  settings.proc_root = "/proc";
  settings.sys_root = has_dev ? "/sys" : sys;
  settings.dev_root.clear();
  settings.cgroup_root.clear();
  recording.mount("/proc", folder + "/proc");
  recording.mount("/dev", folder + "/dev");
  const std::string real_sys = is_sys ? folder : folder + "/sys";
  recording.mount("/sys", real_sys);
  recording.mount(std::string(sys), real_sys);
  return has_sys || is_sys || is_folder(folder + "/proc") || add_cards(folder, recording);
}

namespace {

using platform::Outcome;
using platform::RecordedAnswer;
using platform::RecordedRun;

constexpr std::uint64_t max_errno = 4095;
constexpr std::size_t longest_path = 4095;

bool climbs(std::string_view path) {
  while (!path.empty()) {
    if (scan::take_until(path, '/') == "..") return true;
  }
  return false;
}

std::string_view read_path(ObjectReader& reader, std::string_view key) {
  constexpr std::string_view expected = "an absolute path without \"..\"";
  const json::Value* value = reader.get(key);
  if (value == nullptr) {
    reader.report_missing(key, expected);
    return {};
  }
  const auto* path = value->get_if<std::string>();
  const bool is_valid = path != nullptr && path->starts_with('/') && path->size() <= longest_path &&
                        path->find('\0') == std::string::npos && !climbs(*path);
  if (!is_valid) reader.problems().reject(JsonPath(reader.path(), key), *value, expected);
  return is_valid ? std::string_view(*path) : std::string_view();
}

// Reads "text", or "hex" for binary data. Returns false if neither is there.
bool read_bytes(ObjectReader& reader, std::string& out) {
  const auto text = reader.text("text");
  const auto hex = reader.text("hex");
  if (text && hex) reader.problems().add(reader.path(), "one of \"text\" and \"hex\" is enough");
  if (text) out = *text;
  if (hex && !read_hex(*hex, out)) {
    reader.problems().add(JsonPath(reader.path(), "hex"),
                          "these are not pairs of hexadecimal digits");
  }
  return text || hex;
}

void read_errors(ObjectReader& reader, RecordedFile& file) {
  const json::Value* value = reader.get("errors");
  if (value == nullptr) return;
  const JsonPath path(reader.path(), "errors");
  ObjectReader errors(*value, path, reader.problems());
  for (unsigned p = 0; p < RecordedFile::parts; ++p) {
    const auto error = errors.integer(part_names[p], 1, max_errno);
    if (!error) continue;
    if (file.errors[p] == 0 && p != RecordedFile::presence) {
      reader.problems().add(JsonPath(path, part_names[p]), "it is given and cannot have failed");
    }
    file.errors[p] = static_cast<int>(*error);
  }
  errors.finish();
}

void read_status(ObjectReader& reader, RecordedFile& file) {
  const json::Value* value = reader.get("status");
  if (value == nullptr) return;
  const JsonPath path(reader.path(), "status");
  ObjectReader status_reader(*value, path, reader.problems());
  const auto type = status_reader.choice("type", type_words).value_or(0);
  file.file_status.is_directory = type == is_directory;
  file.file_status.is_character_device = type == is_character_device;
  file.file_status.device = status_reader.integer("device", 0, max_u64).value_or(0);
  file.file_status.inode = status_reader.integer("inode", 0, max_u64).value_or(0);
  file.file_status.size = status_reader.integer("size", 0, max_u64).value_or(0);
  file.file_status.owner = status_reader.integer32("owner").value_or(0);
  file.file_status.special_device_major = status_reader.integer("major", 0, max_u32).value_or(0);
  file.file_status.special_device_minor = status_reader.integer("minor", 0, max_u32).value_or(0);
  status_reader.finish();
  file.errors[RecordedFile::status] = 0;
}

std::unique_ptr<RecordedFile> read_file(const json::Value& value, const JsonPath& path,
                                        Problems& problems) {
  ObjectReader reader(value, path, problems);
  auto result = std::make_unique<RecordedFile>(std::string(read_path(reader, "path")));
  RecordedFile& file = *result;
  file.errors[RecordedFile::presence] = 0;
  if (read_bytes(reader, file.text)) file.errors[RecordedFile::contents] = 0;
  if (const auto link = reader.text("link")) {
    file.link = *link;
    file.errors[RecordedFile::target] = 0;
  }
  if (reader.get("list") != nullptr) file.errors[RecordedFile::names] = 0;
  reader.for_each("list", [&](const json::Value& name, const JsonPath& name_path) {
    const auto* text = name.get_if<std::string>();
    if (text == nullptr || text->empty() || text->find('/') != std::string::npos) {
      return problems.reject(name_path, name, "a name");
    }
    file.entries.push_back(*text);
  });
  read_status(reader, file);
  file.is_cut = reader.boolean("cut").value_or(false);
  file.is_program = reader.boolean("program").value_or(false);
  read_errors(reader, file);
  reader.finish();
  return result;
}

Recording::Files read_files(ObjectReader& reader, Problems& problems) {
  Recording::Files all;
  reader.for_each("files", [&](const json::Value& value, const JsonPath& path) {
    if (!problems.first()) all.push_back(read_file(value, path, problems));
  });
  Recording::Files sorted;
  sorted.reserve(all.size());
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
    return all[a]->path < all[b]->path;
  };
  for (const std::uint32_t i : sort_positions(all.size(), is_before)) {
    if (!sorted.empty() && sorted.back()->path == all[i]->path) {
      problems.add(JsonPath(JsonPath(JsonPath(reader.path(), "files"), i), "path"),
                   "it is in the list already");
    }
    sorted.push_back(std::move(all[i]));
  }
  return sorted;
}

RecordedRun read_run(const json::Value& value, const JsonPath& path, Problems& problems) {
  ObjectReader reader(value, path, problems);
  RecordedRun run;
  run.path = read_path(reader, "path");
  reader.for_each("arguments", [&](const json::Value& argument, const JsonPath& argument_path) {
    const auto* text = argument.get_if<std::string>();
    if (text == nullptr) return problems.reject(argument_path, argument, "a text");
    run.arguments.push_back(*text);
  });
  Outcome& outcome = run.outcome;
  outcome.kind = static_cast<Outcome::Kind>(
      reader.choice("outcome", outcome_words)
          .value_or(static_cast<std::uint32_t>(Outcome::Kind::finished)));
  outcome.error = static_cast<int>(reader.integer("errno", 0, max_errno).value_or(0));
  outcome.signal = static_cast<int>(reader.integer("signal", 0, 255).value_or(0));
  const auto code = reader.integer("exit", 0, 255);
  outcome.has_exit_status = code.has_value() || outcome.signal != 0;
  outcome.exit_code = static_cast<int>(code.value_or(0));
  read_bytes(reader, outcome.output);
  reader.finish();
  return run;
}

RecordedAnswer read_answer(const json::Value& value, const JsonPath& path, Problems& problems) {
  ObjectReader reader(value, path, problems);
  RecordedAnswer answer;
  answer.node = read_path(reader, "node");
  const auto language = reader.choice("language", language_words);
  if (!language) reader.report_missing("language", format_choices(language_words));
  answer.query.driver = static_cast<platform::QueryDriver>(language.value_or(0));
  answer.query.number = reader.integer32("number").value_or(0);
  answer.error = static_cast<int>(reader.integer("errno", 0, max_errno).value_or(0));
  read_bytes(reader, answer.bytes);
  reader.finish();
  return answer;
}

constexpr auto root_words = [] {
  std::array<Word, roots.size()> words{};
  for (std::size_t i = 0; i < roots.size(); ++i) words[i] = {roots[i].name, 1U << i};
  return words;
}();

int parse_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

bool read_hex(std::string_view digits, std::string& out) {
  out.clear();
  if (digits.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = parse_digit(digits[i]);
    const int low = parse_digit(digits[i + 1]);
    if (high < 0 || low < 0) return false;
    out += static_cast<char>(high * 16 + low);
  }
  return true;
}

RecordedMachine read_recording(const json::Value& value, const JsonPath& path, Problems& problems) {
  RecordedMachine machine;
  machine.recording = std::make_shared<Recording>(Recording::Mode::replay);
  ObjectReader reader(value, path, problems);
  if (!reader.integer("format", 1, 1))
    reader.report_missing("format", "1: what this version reads");
  reader.text("version");
  machine.recording->set_page_size(
      static_cast<std::size_t>(reader.integer("page_size", 512, 1U << 26).value_or(0)));
  machine.moved_roots = static_cast<std::uint32_t>(reader.flags("roots", root_words).value_or(0));
  machine.recording->set(read_files(reader, problems));
  reader.for_each("runs", [&](const json::Value& run, const JsonPath& item_path) {
    machine.recording->add(read_run(run, item_path, problems));
  });
  reader.for_each("answers", [&](const json::Value& answer, const JsonPath& item_path) {
    machine.recording->add(read_answer(answer, item_path, problems));
  });
  reader.finish();
  return machine;
}

}  // namespace hmn::simulated
