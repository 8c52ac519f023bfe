// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/neutral.hpp"

#include <algorithm>
#include <array>

#include "backends/simulated/kept.hpp"
#include "model/character.hpp"
#include "model/message_text.hpp"
#include "model/pci_address.hpp"
#include "model/scan.hpp"
#include "procfs/process.hpp"

namespace hmn::simulated {
namespace {

constexpr std::string_view homes[] = {"/home/", "/Users/", "/media/"};
constexpr std::string_view common[] = {"root",   "user", "users", "nobody", "localhost",
                                       "ubuntu", "host", "admin", "docker", "nvidia"};
constexpr std::string_view serial_words[] = {"serial", "unique id", "unique_id"};
constexpr std::size_t longest_serial_key = 40;
constexpr std::size_t shortest_token = 10;
constexpr std::size_t longest_number = 20, longest_index = 5;
constexpr std::size_t shortest_id = 32;  // hexadecimal digits, in ids of containers and machines
constexpr std::string_view pod = "pod";  // before its UUID in the name of a control group
constexpr std::string_view uuid_shape = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";

bool starts_alike(std::string_view text, std::string_view word) {
  return equal_ignoring_case(text.substr(0, word.size()), word);
}

std::size_t hex_run(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_hex_digit(text[length])) ++length;
  return length;
}

bool is_uuid(std::string_view text) {
  if (text.size() < uuid_shape.size()) return false;
  for (std::size_t i = 0; i < uuid_shape.size(); ++i) {
    const bool fits =
        uuid_shape[i] == 'h' ? is_hex_digit(text[i]) : text[i] == '-' || text[i] == '_';
    if (!fits) return false;
  }
  return text.size() == uuid_shape.size() || !is_hex_digit(text[uuid_shape.size()]);
}

// Returns the path at the start of the text.
std::string_view path_at(std::string_view text) {
  return text.substr(0, text.find_first_of(std::string_view(" \t\n\r\"',;()[]{}\0", 14)));
}

// Counts the bytes of characters beyond ASCII, too.
bool is_of_word(char c) {
  return is_letter_or_digit(c) || (static_cast<unsigned char>(c) & 0x80) != 0;
}

std::string_view word_at(std::string_view text) {
  return text.substr(0, static_cast<std::size_t>(
                            std::find_if_not(text.begin(), text.end(), is_of_word) - text.begin()));
}

std::string_view token_at(std::string_view text) {
  return text.substr(0, text.find_first_of(std::string_view(" \t\n\r\"',;]}\0", 11)));
}

// Returns the length of "10.0.0.5", "fe80::1" or "0a:1b:2c:3d:4e:5f" at the start of the text.
std::size_t address_at(std::string_view text) {
  const auto run_of = [&](std::string_view more) {
    std::size_t n = 0;
    while (n < text.size() && (is_hex_digit(text[n]) || more.find(text[n]) != more.npos)) ++n;
    return text.substr(0, n);
  };
  const auto is_whole = [&](std::string_view run) {
    return run.size() == text.size() || !is_letter_or_digit(text[run.size()]);
  };
  const std::string_view six = run_of(":");
  const auto colons = std::ranges::count(six, ':');
  const bool is_short = six.find("::") != six.npos && six.size() > 4;
  if (is_whole(six) && (colons > 2 || is_short)) return six.size();
  const std::string_view mac = run_of("-");
  if (is_whole(mac) && mac.size() == 17 && std::ranges::count(mac, '-') == 5) return 17;
  std::string_view four = run_of(".");
  while (four.ends_with('.')) four.remove_suffix(1);
  if (!is_whole(four) || std::ranges::count(four, '.') != 3) return 0;
  for (std::string_view rest = four; !rest.empty();) {
    const auto part = scan::decimal(scan::take_until(rest, '.'));
    if (!part || *part > 255) return 0;
  }
  return four.size();
}

// Returns the length of what is neither a word nor a number: an escape in unit names or mounts, a
// PCI address, the ids in "1002:73BF", a set of capabilities.
std::size_t fixed_at(std::string_view text, bool starts) {
  if (text[0] == '\\' && text.size() > 3) {
    if (text[1] == 'x' && hex_run(text.substr(2, 2)) == 2) return 4;
    if (std::ranges::all_of(text.substr(1, 3), is_digit)) return 4;
  }
  if (!starts || !is_hex_digit(text[0])) return 0;
  const std::size_t end = std::min(text.find_first_not_of("0123456789abcdefABCDEF:."), text.size());
  std::string_view run = text.substr(0, end);
  while (run.ends_with('.') || run.ends_with(':')) run.remove_suffix(1);
  const bool is_whole = run.size() == text.size() || !is_of_word(text[run.size()]);
  if (!is_whole) return 0;
  if (run.size() >= 12 && parse_pci_address(run)) return run.size();
  if (run.size() == 9 && run[4] == ':' && hex_run(run) == 4) return 9;
  return run.size() == 16 && run.starts_with("0000") && hex_run(run) == 16 ? 16 : 0;
}

// Whether it is a number, possibly with a unit or after "0x", or a word that sources look for.
bool is_kept(std::string_view word) {
  if (word.starts_with("0x") || word.starts_with("0X")) {
    return word.size() <= 18 && hex_run(word.substr(2)) == word.size() - 2;
  }
  if (is_kept_word(word)) return true;
  const auto digits =
      static_cast<std::size_t>(std::find_if_not(word.begin(), word.end(), is_digit) - word.begin());
  if (digits > longest_number) return false;
  std::string_view stem = word.substr(digits);
  const std::size_t last = stem.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
  if (stem.size() - last > longest_index) return false;
  stem = stem.substr(0, last);
  return is_kept_word(stem);
}

bool is_nothing(std::string_view id) {
  return id.find_first_not_of("0xX") == std::string_view::npos || id.find('/') != id.npos ||
         std::ranges::none_of(id, is_digit);
}

std::string_view start_of_title(std::string_view title) {
  return title.substr(0, title.find_first_of(std::string_view(" :@\t\n\0", 6)));
}

}  // namespace

void Neutral::know(std::string_view real, Kind of) {
  const bool is_common = std::ranges::find(common, real) != std::end(common);
  if (real.size() < 2 || is_common) return;
  for (const Name& n : names_) {
    if (n.real == real || n.substitute == real) return;
  }
  Name fresh{std::string(real),
             of == Kind::user ? compose({"user", ++users_}) : compose({"host", ++hosts_})};
  const auto at =
      std::ranges::find_if(names_, [&](const Name& n) { return n.real.size() <= real.size(); });
  names_.insert(at, std::move(fresh));
}

void Neutral::learn(std::string_view text) {
  for (const std::string_view home : homes) {
    std::size_t at = 0;
    while ((at = text.find(home, at)) != std::string_view::npos) {
      at += home.size();
      std::string_view rest = path_at(text.substr(at));
      know(scan::take_until(rest, '/'), Kind::user);
    }
  }
}

const Neutral::Name* Neutral::name_at(std::string_view text, std::size_t at) const {
  if (at != 0 && is_letter_or_digit(text[at - 1])) return nullptr;
  const std::string_view rest = text.substr(at);
  for (const Name& n : names_) {
    if (!rest.starts_with(n.real)) continue;
    if (rest.size() == n.real.size() || !is_letter_or_digit(rest[n.real.size()])) return &n;
  }
  return nullptr;
}

std::size_t Neutral::number_of(std::string_view id) {
  std::string key(id);
  for (char& c : key) c = c == '_' ? '-' : lower_case(c);
  const auto known = std::ranges::find(ids_, key);
  if (known != ids_.end()) return static_cast<std::size_t>(known - ids_.begin()) + 1;
  ids_.push_back(std::move(key));
  return ids_.size();
}

std::string Neutral::digits(std::size_t number, int base, std::size_t width) {
  const std::string plain = base == 16 ? compose({hex(number)}) : compose({number});
  return plain.size() < width ? std::string(width - plain.size(), '0') + plain : plain;
}

std::size_t Neutral::take_uuid(std::string_view rest, std::string& out) {
  if (!is_uuid(rest)) return 0;
  const std::string_view uuid = rest.substr(0, uuid_shape.size());
  const std::string last = digits(number_of(uuid), 16, 12);
  for (std::size_t i = 0; i < uuid_shape.size(); ++i) {
    out += i >= 24 ? last[i - 24] : uuid_shape[i] == 'h' ? '0' : uuid[i];
  }
  return uuid.size();
}

std::size_t Neutral::take_digits(std::string_view rest, std::string& out) {
  const std::size_t run = hex_run(rest);
  if (run < shortest_id) return 0;
  out += digits(number_of(rest.substr(0, run)), 16, run);
  return run;
}

// What any text may contain: names, UUIDs, ids of containers, network addresses.
std::size_t Neutral::take_id(std::string_view text, std::size_t at, std::string& out) {
  const std::string_view rest = text.substr(at);
  const bool starts = at == 0 || !is_of_word(text[at - 1]);
  if (const Name* const n = starts ? name_at(text, at) : nullptr) {
    out += n->substitute;
    return n->real.size();
  }
  if (starts && rest.starts_with(pod) && is_uuid(rest.substr(pod.size()))) {
    out += pod;
    return pod.size();
  }
  std::size_t taken = take_uuid(rest, out);
  if (taken == 0 && (starts || !is_hex_digit(text[at - 1]))) taken = take_digits(rest, out);
  if (taken != 0 || !starts) return taken;
  taken = address_at(rest);
  for (const char c : rest.substr(0, taken)) out += is_hex_digit(c) ? '0' : c;
  return taken;
}

std::size_t Neutral::take_path(std::string_view text, std::size_t at, std::string& out) {
  const std::string_view rest = text.substr(at);
  const bool follows = at != 0 && (is_of_word(text[at - 1]) || text[at - 1] == ']');
  const bool is_drive = rest.size() > 2 && rest[1] == ':' && rest[2] == '\\';
  if (follows || !(is_drive || (rest[0] == '/' && rest.size() > 1 && is_of_word(rest[1])))) {
    return 0;
  }
  const std::string_view path = path_at(rest);
  out += known(path);
  return path.size();
}

// Takes the value in "key=value", both sides of "user@host", and long words with digits.
std::size_t Neutral::take_secret(std::string_view text, std::size_t at, std::string& out) {
  if (!is_of_word(text[at]) || (at != 0 && is_of_word(text[at - 1]))) return 0;
  const std::string_view word = word_at(text.substr(at));
  const char before = at == 0 ? ' ' : text[at - 1];
  const char after = at + word.size() < text.size() ? text[at + word.size()] : ' ';
  const bool is_mixed = word.size() >= shortest_token && std::ranges::any_of(word, is_digit) &&
                        !std::ranges::all_of(word, is_digit);
  if (before != '=' && before != '@' && after != '@' && !is_mixed) return 0;
  return take_known(text.substr(at), out);
}

std::string_view Neutral::substitute_for(std::string_view word) {
  for (const Name& n : words_) {
    if (n.real == word) return n.substitute;
  }
  words_.push_back({std::string(word), compose({"name", words_.size() + 1})});
  return words_.back().substitute;
}

std::size_t Neutral::take_known(std::string_view rest, std::string& out) {
  const std::string_view word = word_at(rest);
  if (is_kept(word)) {
    out += word;
  } else {
    out += substitute_for(word);
  }
  return word.size();
}

std::string Neutral::known(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    std::size_t taken = fixed_at(rest, at == 0 || !is_of_word(text[at - 1]));
    out += rest.substr(0, taken);
    if (taken == 0) taken = take_id(text, at, out);
    if (taken == 0 && is_of_word(rest[0])) taken = take_known(rest, out);
    if (taken == 0) {
      out += rest[0];
      taken = 1;
    }
    at += taken;
  }
  return out;
}

void Neutral::know_program(std::string_view comm) {
  programs_.emplace_back(start_of_title(comm));
}

// A program may write anything in place of its name: only the kernel's name can be trusted.
std::string Neutral::program(std::string_view title, std::string_view comm) {
  if (!comm.empty()) return plain(start_of_title(procfs::full_name(comm, title)));
  std::string_view first = title.substr(0, title.find_first_of(std::string_view(" \0", 2)));
  first = start_of_title(first.substr(first.find_last_of("/\\") + 1));
  const bool is_one = std::ranges::find(programs_, first) != programs_.end();
  return is_one ? plain(first) : known(first);
}

// Replaces the rest of a line after a key such as "Serial Number".
std::size_t Neutral::take_serial(std::string_view rest, std::string& out) {
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
  out += known(line.substr(0, start));
  out += id(reported, 16);
  return start + reported.size();
}

std::string Neutral::plain(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const bool starts = at == 0 || !is_of_word(text[at - 1]);
    std::size_t taken = starts ? take_serial(rest, out) : 0;
    if (taken == 0) taken = take_id(text, at, out);
    if (taken == 0) taken = take_path(text, at, out);
    if (taken == 0) taken = take_secret(text, at, out);
    if (taken == 0) {
      out += rest[0];
      taken = 1;
    }
    at += taken;
  }
  return out;
}

std::string Neutral::id(std::string_view text, int base) {
  std::string_view line = text;
  line = scan::trim(scan::take_line(line));
  const bool is_marked = line.starts_with("0x") || line.starts_with("0X");
  const std::string_view value = line.substr(is_marked ? 2 : 0);
  if (value.empty() || is_nothing(value)) return known(text);
  // The same number may be written in hexadecimal here and in decimal there.
  const auto number = scan::number<std::uint64_t>(value, static_cast<unsigned>(base));
  const std::string key = number ? compose({"number ", *number}) : std::string(value);
  const std::string substitute = digits(number_of(key), base, value.size());
  const std::size_t start = static_cast<std::size_t>(value.data() - text.data());
  std::string out(text.substr(0, start));
  out += substitute;
  out += known(text.substr(start + value.size()));
  return out;
}

}  // namespace hmn::simulated
