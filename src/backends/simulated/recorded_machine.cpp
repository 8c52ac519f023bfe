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
  const auto found = platform::status_of(path.c_str());
  return found && found.value.is_directory;
}

// Returns the value of a key in "uevent"; empty: it has none.
std::string_view reported(std::string_view uevent, std::string_view key) {
  while (!uevent.empty()) {
    std::string_view line = scan::take_line(uevent);
    if (scan::take_until(line, '=') == key) return line;
  }
  return {};
}

void set_text(Recording& out, const std::string& path, std::string text) {
  RecordedFile& f = out.at(path);
  f.text = std::move(text);
  f.errors[RecordedFile::contents] = 0;
}

void set_link(Recording& out, const std::string& path, std::string target) {
  RecordedFile& f = out.at(path);
  f.link = std::move(target);
  f.errors[RecordedFile::target] = 0;
}

void add_name(Recording& out, const std::string& folder, const std::string& name) {
  RecordedFile& f = out.at(folder);
  f.entries.push_back(name);
  f.errors[RecordedFile::names] = 0;
}

// Restores what a copy of <sys>/class/drm/card<n> lost: its links, and its render node.
class CardFolder {
 public:
  CardFolder(std::string folder, std::uint32_t number, std::uint32_t position, Recording& out)
      : folder_(std::move(folder)),
        number_(number),
        render_(first_render_minor + position),
        out_(out) {
    static_cast<void>(
        platform::read_whole((folder_ + "/device/uevent").c_str(), uevent_, std::size_t{65536}));
  }

  void add() {
    const std::string_view address = reported(uevent_, "PCI_SLOT_NAME");
    const bool is_pci = !address.empty();
    const std::string card = compose({"card", number_});
    below_ = is_pci ? compose({"/devices/pci/", address}) : compose({"/devices/platform/", card});
    device_ = compose({sys, below_});
    out_.mount(device_, folder_ + "/device");
    out_.mount(compose({device_, "/drm/", card}), folder_);
    const std::string_view driver = reported(uevent_, "DRIVER");
    if (!driver.empty()) set_link(out_, device_ + "/driver", compose({"drivers/", driver}));
    set_link(out_, device_ + "/subsystem", is_pci ? "bus/pci" : "bus/platform");
    add_ids("PCI_ID", "vendor", "device");
    add_ids("PCI_SUBSYS_ID", "subsystem_vendor", "subsystem_device");
    add_node(card, number_, driver);
    add_node(compose({"renderD", render_}), render_, driver);
  }

 private:
  void add_node(const std::string& name, std::uint32_t minor, std::string_view driver) {
    const std::string entry = compose({sys, "/class/drm/", name});
    add_name(out_, compose({sys, "/class/drm"}), name);
    add_name(out_, device_ + "/drm", name);
    set_link(out_, entry, compose({"../..", below_, "/drm/", name}));
    set_link(out_, entry + "/device/driver", compose({"drivers/", driver}));
    set_text(out_, entry + "/dev", compose({"226:", minor, "\n"}));
  }

  // Takes the ids from "1002:15BF" if the two files are missing.
  void add_ids(std::string_view key, const char* first, const char* second) {
    std::string_view rest = reported(uevent_, key);
    for (const char* const name : {first, second}) {
      const std::string_view id = scan::take_until(rest, ':');
      if (id.empty() || platform::exists(compose({folder_, "/device/", name}).c_str())) continue;
      set_text(out_, compose({device_, "/", name}), compose({"0x", id, "\n"}));
    }
  }

  const std::string folder_;
  std::uint32_t number_;
  std::uint32_t render_;
  Recording& out_;
  std::string uevent_;
  std::string below_, device_;
};

std::optional<std::uint32_t> card_number(std::string_view name) {
  constexpr std::string_view prefix = "card";
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto number = scan::number<std::uint32_t>(name.substr(prefix.size()));
  return number && *number < first_render_minor / 2 ? number : std::nullopt;
}

bool add_cards(const std::string& folder, Recording& out) {
  std::vector<std::uint32_t> numbers;
  static_cast<void>(platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    const auto number = card_number(name);
    if (number && is_folder(compose({folder, "/", name, "/device"}))) numbers.push_back(*number);
    return true;
  }));
  std::sort(numbers.begin(), numbers.end());
  std::uint32_t position = 0;
  for (const std::uint32_t number : numbers) {
    CardFolder(compose({folder, "/card", number}), number, position++, out).add();
  }
  if (!numbers.empty()) return true;
  if (!is_folder(folder + "/device")) return false;
  const auto number = card_number(std::string_view(folder).substr(folder.rfind('/') + 1));
  CardFolder(folder, number.value_or(0), 0, out).add();
  return true;
}

}  // namespace

bool open_plain_tree(const std::string& folder, Settings& s, Recording& out) {
  const bool has_sys = is_folder(folder + "/sys");
  const bool is_sys = !has_sys && is_folder(folder + "/class/drm");
  const bool has_dev = has_sys && is_folder(folder + "/dev");
  s.proc_root = "/proc";
  s.sys_root = has_dev ? "/sys" : sys;
  s.dev_root.clear();
  s.cgroup_root.clear();
  out.mount("/proc", folder + "/proc");
  out.mount("/dev", folder + "/dev");
  const std::string real_sys = is_sys ? folder : folder + "/sys";
  out.mount("/sys", real_sys);
  out.mount(std::string(sys), real_sys);
  return has_sys || is_sys || is_folder(folder + "/proc") || add_cards(folder, out);
}

namespace {

using platform::Outcome;
using platform::RecordedAnswer;
using platform::RecordedFile;
using platform::RecordedRun;
using platform::Recording;

constexpr std::uint64_t most_errno = 4095;
constexpr std::size_t longest_path = 4095;

bool climbs(std::string_view path) {
  while (!path.empty()) {
    if (scan::take_until(path, '/') == "..") return true;
  }
  return false;
}

std::string_view read_path(ObjectReader& o, std::string_view key) {
  constexpr std::string_view expected = "an absolute path without \"..\"";
  const json::Value* v = o.get(key);
  if (v == nullptr) {
    o.missing(key, expected);
    return {};
  }
  const auto* path = v->as<std::string>();
  const bool is_one = path != nullptr && path->starts_with('/') && path->size() <= longest_path &&
                      path->find('\0') == std::string::npos && !climbs(*path);
  if (!is_one) o.found().refuse(Place(o.at(), key), *v, expected);
  return is_one ? std::string_view(*path) : std::string_view();
}

// Reads "text", or "hex" for binary data. Returns false if neither is there.
bool read_bytes(ObjectReader& o, std::string& out) {
  const auto text = o.text("text");
  const auto hex = o.text("hex");
  if (text && hex) o.found().add(o.at(), "one of \"text\" and \"hex\" is enough");
  if (text) out = *text;
  if (hex && !read_hex(*hex, out)) {
    o.found().add(Place(o.at(), "hex"), "these are not pairs of hexadecimal digits");
  }
  return text || hex;
}

void read_errors(ObjectReader& o, RecordedFile& f) {
  const json::Value* v = o.get("errors");
  if (v == nullptr) return;
  const Place here(o.at(), "errors");
  ObjectReader e(*v, here, o.found());
  for (unsigned p = 0; p < RecordedFile::parts; ++p) {
    const auto error = e.whole(part_names[p], 1, most_errno);
    if (!error) continue;
    if (f.errors[p] == 0 && p != RecordedFile::presence) {
      o.found().add(Place(here, part_names[p]), "it is given and cannot have failed");
    }
    f.errors[p] = static_cast<int>(*error);
  }
  e.finish();
}

void read_status(ObjectReader& o, RecordedFile& f) {
  const json::Value* v = o.get("status");
  if (v == nullptr) return;
  const Place here(o.at(), "status");
  ObjectReader s(*v, here, o.found());
  const auto type = s.one_word("type", type_words).value_or(0);
  f.about.is_directory = type == is_directory;
  f.about.is_character_device = type == is_character_device;
  f.about.device = s.whole("device", 0, most64).value_or(0);
  f.about.inode = s.whole("inode", 0, most64).value_or(0);
  f.about.size = s.whole("size", 0, most64).value_or(0);
  f.about.owner = s.whole32("owner").value_or(0);
  f.about.special_device_major = s.whole("major", 0, most32).value_or(0);
  f.about.special_device_minor = s.whole("minor", 0, most32).value_or(0);
  s.finish();
  f.errors[RecordedFile::status] = 0;
}

std::unique_ptr<RecordedFile> read_file(const json::Value& v, const Place& at, Problems& found) {
  ObjectReader o(v, at, found);
  auto made = std::make_unique<RecordedFile>(std::string(read_path(o, "path")));
  RecordedFile& f = *made;
  f.errors[RecordedFile::presence] = 0;
  if (read_bytes(o, f.text)) f.errors[RecordedFile::contents] = 0;
  if (const auto link = o.text("link")) {
    f.link = *link;
    f.errors[RecordedFile::target] = 0;
  }
  if (o.get("list") != nullptr) f.errors[RecordedFile::names] = 0;
  o.each("list", [&](const json::Value& name, const Place& here) {
    const auto* text = name.as<std::string>();
    if (text == nullptr || text->empty() || text->find('/') != std::string::npos) {
      return found.refuse(here, name, "a name");
    }
    f.entries.push_back(*text);
  });
  read_status(o, f);
  f.is_cut = o.truth("cut").value_or(false);
  f.is_program = o.truth("program").value_or(false);
  read_errors(o, f);
  o.finish();
  return made;
}

Recording::Files read_files(ObjectReader& o, Problems& found) {
  Recording::Files all;
  o.each("files", [&](const json::Value& f, const Place& here) {
    if (!found.first()) all.push_back(read_file(f, here, found));
  });
  Recording::Files sorted;
  sorted.reserve(all.size());
  const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
    return all[a]->path < all[b]->path;
  };
  for (const std::uint32_t i : sorted_positions(all.size(), is_before)) {
    if (!sorted.empty() && sorted.back()->path == all[i]->path) {
      found.add(Place(Place(Place(o.at(), "files"), i), "path"), "it is in the list already");
    }
    sorted.push_back(std::move(all[i]));
  }
  return sorted;
}

RecordedRun read_run(const json::Value& v, const Place& at, Problems& found) {
  ObjectReader o(v, at, found);
  RecordedRun run;
  run.path = read_path(o, "path");
  o.each("arguments", [&](const json::Value& argument, const Place& here) {
    const auto* text = argument.as<std::string>();
    if (text == nullptr) return found.refuse(here, argument, "a text");
    run.arguments.push_back(*text);
  });
  Outcome& reported = run.reported;
  reported.what = static_cast<Outcome::Kind>(
      o.one_word("outcome", outcome_words)
          .value_or(static_cast<std::uint32_t>(Outcome::Kind::finished)));
  reported.error = static_cast<int>(o.whole("errno", 0, most_errno).value_or(0));
  reported.signal = static_cast<int>(o.whole("signal", 0, 255).value_or(0));
  const auto code = o.whole("exit", 0, 255);
  reported.exit_known = code.has_value() || reported.signal != 0;
  reported.exit_code = static_cast<int>(code.value_or(0));
  read_bytes(o, reported.output);
  o.finish();
  return run;
}

RecordedAnswer read_answer(const json::Value& v, const Place& at, Problems& found) {
  ObjectReader o(v, at, found);
  RecordedAnswer a;
  a.node = read_path(o, "node");
  const auto language = o.one_word("language", language_words);
  if (!language) o.missing("language", list_of(language_words));
  a.what.in = static_cast<platform::QueryLanguage>(language.value_or(0));
  a.what.number = o.whole32("number").value_or(0);
  a.error = static_cast<int>(o.whole("errno", 0, most_errno).value_or(0));
  read_bytes(o, a.bytes);
  o.finish();
  return a;
}

constexpr auto root_words = [] {
  std::array<Word, roots.size()> words{};
  for (std::size_t i = 0; i < roots.size(); ++i) words[i] = {roots[i].name, 1U << i};
  return words;
}();

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

bool read_hex(std::string_view digits, std::string& out) {
  out.clear();
  if (digits.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit(digits[i]);
    const int low = digit(digits[i + 1]);
    if (high < 0 || low < 0) return false;
    out += static_cast<char>(high * 16 + low);
  }
  return true;
}

RecordedMachine read_recording(const json::Value& v, const Place& at, Problems& found) {
  RecordedMachine m;
  m.answers = std::make_shared<Recording>(Recording::Use::replay);
  ObjectReader o(v, at, found);
  if (!o.whole("format", 1, 1)) o.missing("format", "1: what this version reads");
  o.text("version");
  m.answers->set_page_size(
      static_cast<std::size_t>(o.whole("page_size", 512, 1U << 26).value_or(0)));
  m.moved = static_cast<std::uint32_t>(o.any_words("roots", root_words).value_or(0));
  m.answers->set(read_files(o, found));
  o.each("runs", [&](const json::Value& r, const Place& here) {
    m.answers->add(read_run(r, here, found));
  });
  o.each("answers", [&](const json::Value& a, const Place& here) {
    m.answers->add(read_answer(a, here, found));
  });
  o.finish();
  return m;
}

}  // namespace hmn::simulated
