// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/neutral.hpp"

#include <algorithm>
#include <array>

#include "model/compose.hpp"
#include "model/scan.hpp"

namespace hmn::simulated {
namespace {

constexpr std::string_view homes[] = {"/home/", "/Users/", "/media/"};
constexpr std::string_view common[] = {"root",   "user", "users", "nobody", "localhost",
                                       "ubuntu", "host", "admin", "docker", "nvidia"};
constexpr std::string_view serial_words[] = {"serial", "unique id", "unique_id"};
constexpr std::size_t longest_serial_key = 40;
constexpr std::size_t shortest_id = 32;  // hexadecimal digits, in ids of containers and machines
constexpr std::string_view uuid_shape = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_word(char c) {
  const auto letter = static_cast<unsigned char>(c | 0x20);
  return (c >= '0' && c <= '9') || (letter >= 'a' && letter <= 'z');
}

bool is_alike(char a, char b) {
  return (is_word(a) ? a | 0x20 : a) == (is_word(b) ? b | 0x20 : b);
}

bool starts_alike(std::string_view text, std::string_view word) {
  return text.size() >= word.size() && std::equal(word.begin(), word.end(), text.begin(), is_alike);
}

std::size_t hex_run(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_hex(text[length])) ++length;
  return length;
}

bool is_uuid(std::string_view text) {
  if (text.size() < uuid_shape.size()) return false;
  for (std::size_t i = 0; i < uuid_shape.size(); ++i) {
    const bool fits = uuid_shape[i] == 'h' ? is_hex(text[i]) : text[i] == '-' || text[i] == '_';
    if (!fits) return false;
  }
  return text.size() == uuid_shape.size() || !is_hex(text[uuid_shape.size()]);
}

// Returns the text up to the end of the path.
std::string_view path_at(std::string_view text) {
  return text.substr(0, text.find_first_of(std::string_view(" \t\n\r\"',;:[]{}()\0", 16)));
}

std::string_view token_at(std::string_view text) {
  return text.substr(0, text.find_first_of(std::string_view(" \t\n\r\"',;]}\0", 11)));
}

bool is_nothing(std::string_view id) {
  return id.find_first_not_of("0xX") == std::string_view::npos || id.find('/') != id.npos ||
         std::ranges::none_of(id, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

void neutral::know(std::string_view real, kind of) {
  const bool is_common = std::ranges::find(common, real) != std::end(common);
  if (real.size() < 2 || is_common) return;
  for (const name& n : names_) {
    if (n.real == real || n.stand_in == real) return;
  }
  name fresh{std::string(real),
             of == kind::user ? compose({"user", ++users_}) : compose({"host", ++hosts_})};
  const auto at =
      std::ranges::find_if(names_, [&](const name& n) { return n.real.size() <= real.size(); });
  names_.insert(at, std::move(fresh));
}

void neutral::learn(std::string_view text) {
  for (const std::string_view home : homes) {
    std::size_t at = 0;
    while ((at = text.find(home, at)) != std::string_view::npos) {
      at += home.size();
      std::string_view rest = path_at(text.substr(at));
      know(scan::take_until(rest, '/'), kind::user);
    }
  }
}

const neutral::name* neutral::name_at(std::string_view text, std::size_t at) const {
  if (at != 0 && is_word(text[at - 1])) return nullptr;
  const std::string_view rest = text.substr(at);
  for (const name& n : names_) {
    if (!rest.starts_with(n.real)) continue;
    if (rest.size() == n.real.size() || !is_word(rest[n.real.size()])) return &n;
  }
  return nullptr;
}

std::size_t neutral::number_of(std::string_view id) {
  std::string key(id);
  for (char& c : key) c = c == '_' ? '-' : is_word(c) ? static_cast<char>(c | 0x20) : c;
  const auto known = std::ranges::find(ids_, key);
  if (known != ids_.end()) return static_cast<std::size_t>(known - ids_.begin()) + 1;
  ids_.push_back(std::move(key));
  return ids_.size();
}

std::string neutral::digits(std::size_t number, int base, std::size_t width) {
  const std::string plain = base == 16 ? compose({hex(number)}) : compose({number});
  return plain.size() < width ? std::string(width - plain.size(), '0') + plain : plain;
}

// Returns the length of an id at the start of `rest`; 0: none.
std::size_t neutral::take_uuid(std::string_view rest, std::string& out) {
  if (!is_uuid(rest)) return 0;
  const std::string_view uuid = rest.substr(0, uuid_shape.size());
  const std::string last = digits(number_of(uuid), 16, 12);
  for (std::size_t i = 0; i < uuid_shape.size(); ++i) {
    out += i >= 24 ? last[i - 24] : uuid_shape[i] == 'h' ? '0' : uuid[i];
  }
  return uuid.size();
}

std::size_t neutral::take_digits(std::string_view rest, std::string& out) {
  const std::size_t run = hex_run(rest);
  if (run < shortest_id) return 0;
  out += digits(number_of(rest.substr(0, run)), 16, run);
  return run;
}

// Keeps only the last name of a path in a home folder.
std::size_t neutral::take_home(std::string_view rest, std::string& out) {
  for (const std::string_view home : homes) {
    if (!rest.starts_with(home)) continue;
    const std::string_view path = path_at(rest);
    std::string_view below = path.substr(home.size());
    const std::string_view who = scan::take_until(below, '/');
    const name* const known = name_at(who, 0);
    out += home;
    out += known != nullptr && known->real == who ? std::string_view(known->stand_in) : who;
    if (below.empty()) return path.size();
    out += '/';
    out += plain(below.substr(below.rfind('/') + 1));
    return path.size();
  }
  return 0;
}

// Replaces the rest of a line after a key such as "Serial Number".
std::size_t neutral::take_serial(std::string_view rest, std::string& out) {
  const auto is_key = [&](std::string_view word) { return starts_alike(rest, word); };
  if (std::ranges::none_of(serial_words, is_key)) return 0;
  std::string_view line = rest;
  line = scan::take_line(line);
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon > longest_serial_key) return 0;
  const std::size_t start = line.find_first_not_of(" \t\"", colon + 1);
  if (start == std::string_view::npos) return 0;
  const std::string_view reported = token_at(line.substr(start));
  if (is_nothing(reported)) return 0;
  out += line.substr(0, start);
  out += id(reported, 16);
  return start + reported.size();
}

std::string neutral::plain(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const bool starts = at == 0 || !is_word(text[at - 1]);
    std::size_t taken = rest[0] == '/' ? take_home(rest, out) : 0;
    if (taken == 0 && starts) {
      if (const name* const n = name_at(text, at)) {
        out += n->stand_in;
        taken = n->real.size();
      }
    }
    if (taken == 0) taken = take_uuid(rest, out);
    if (taken == 0 && (starts || !is_hex(text[at - 1]))) taken = take_digits(rest, out);
    if (taken == 0 && starts) taken = take_serial(rest, out);
    if (taken == 0) {
      out += rest[0];
      taken = 1;
    }
    at += taken;
  }
  return out;
}

std::string neutral::command(std::string_view cmdline) {
  const std::string_view first = cmdline.substr(0, cmdline.find('\0'));
  std::string out = plain(first);
  if (first.size() < cmdline.size()) out += '\0';
  return out;
}

std::string neutral::mounts(std::string_view mountinfo) {
  std::string out;
  while (!mountinfo.empty()) {
    const std::string_view line = scan::take_line(mountinfo);
    const std::size_t type = line.find(" - ");
    if (type == std::string_view::npos) continue;
    const std::string_view rest = line.substr(type + 3);
    if (!rest.starts_with("cgroup") && !rest.starts_with("proc ")) continue;
    out += plain(line);
    out += '\n';
  }
  return out;
}

std::string neutral::id(std::string_view text, int base) {
  std::string_view line = text;
  line = scan::trim(scan::take_line(line));
  const bool is_marked = line.starts_with("0x") || line.starts_with("0X");
  const std::string_view value = line.substr(is_marked ? 2 : 0);
  if (value.empty() || is_nothing(value)) return std::string(text);
  // The same number may be hexadecimal here and decimal there.
  const auto number = scan::number<std::uint64_t>(value, static_cast<unsigned>(base));
  const std::string key = number ? compose({"number ", *number}) : std::string(value);
  const std::string stand_in = digits(number_of(key), base, value.size());
  const std::size_t start = static_cast<std::size_t>(value.data() - text.data());
  std::string out(text.substr(0, start));
  out += stand_in;
  out += text.substr(start + value.size());
  return out;
}

std::string neutral::properties(std::string_view text) {
  constexpr std::string_view key = "unique_id ";
  std::string out;
  while (!text.empty()) {
    const std::string_view line = scan::take_until(text, '\n');
    if (line.starts_with(key) && line != "unique_id 0") {
      const auto number = scan::decimal(line.substr(key.size()));
      out += key;
      out += digits(number ? number_of(compose({"number ", *number})) : 0, 10, 0);
    } else {
      out += line;
    }
    out += '\n';
  }
  return out;
}

}  // namespace hmn::simulated
