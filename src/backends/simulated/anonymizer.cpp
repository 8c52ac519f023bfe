// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/anonymizer.hpp"

#include <algorithm>
#include <array>

#include "backends/simulated/recording_filter.hpp"
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
std::string_view leading_path(std::string_view text) {
  return text.substr(0, text.find_first_of(std::string_view(" \t\n\r\"',;()[]{}\0", 14)));
}

// Counts the bytes of characters beyond ASCII, too.
bool is_word_char(char c) {
  return is_letter_or_digit(c) || (static_cast<unsigned char>(c) & 0x80) != 0;
}

std::string_view leading_word(std::string_view text) {
  return text.substr(
      0, static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_word_char) -
                                  text.begin()));
}

std::string_view leading_token(std::string_view text) {
  return text.substr(0, text.find_first_of(std::string_view(" \t\n\r\"',;]}\0", 11)));
}

// Returns the length of "10.0.0.5", "fe80::1" or "0a:1b:2c:3d:4e:5f" at the start of the text.
std::size_t address_length(std::string_view text) {
  const auto leading_run = [&](std::string_view extra) {
    std::size_t length = 0;
    while (length < text.size() &&
           (is_hex_digit(text[length]) || extra.find(text[length]) != extra.npos))
      ++length;
    return text.substr(0, length);
  };
  const auto is_whole = [&](std::string_view run) {
    return run.size() == text.size() || !is_letter_or_digit(text[run.size()]);
  };
  const std::string_view ipv6 = leading_run(":");
  const auto colons = std::ranges::count(ipv6, ':');
  const bool is_short = ipv6.find("::") != ipv6.npos && ipv6.size() > 4;
  if (is_whole(ipv6) && (colons > 2 || is_short)) return ipv6.size();
  const std::string_view mac = leading_run("-");
  if (is_whole(mac) && mac.size() == 17 && std::ranges::count(mac, '-') == 5) return 17;
  std::string_view ipv4 = leading_run(".");
  while (ipv4.ends_with('.')) ipv4.remove_suffix(1);
  if (!is_whole(ipv4) || std::ranges::count(ipv4, '.') != 3) return 0;
  for (std::string_view rest = ipv4; !rest.empty();) {
    const auto part = scan::parse_decimal(scan::take_until(rest, '.'));
    if (!part || *part > 255) return 0;
  }
  return ipv4.size();
}

// Returns the length of what is neither a word nor a number: an escape in unit names or mounts, a
// PCI address, the ids in "1002:73BF", a set of capabilities.
std::size_t fixed_length(std::string_view text, bool is_start) {
  if (text[0] == '\\' && text.size() > 3) {
    if (text[1] == 'x' && hex_run(text.substr(2, 2)) == 2) return 4;
    if (std::ranges::all_of(text.substr(1, 3), is_digit)) return 4;
  }
  if (!is_start || !is_hex_digit(text[0])) return 0;
  const std::size_t end = std::min(text.find_first_not_of("0123456789abcdefABCDEF:."), text.size());
  std::string_view run = text.substr(0, end);
  while (run.ends_with('.') || run.ends_with(':')) run.remove_suffix(1);
  const bool is_whole = run.size() == text.size() || !is_word_char(text[run.size()]);
  if (!is_whole) return 0;
  if (run.size() >= 12 && parse_pci_address(run)) return run.size();
  if (run.size() == 9 && run[4] == ':' && hex_run(run) == 4) return 9;
  return run.size() == 16 && run.starts_with("0000") && hex_run(run) == 16 ? 16 : 0;
}

// Whether it is a number, possibly with a unit or after "0x", or a word that sources look for.
bool is_safe_word(std::string_view word) {
  if (word.starts_with("0x") || word.starts_with("0X")) {
    return word.size() <= 18 && hex_run(word.substr(2)) == word.size() - 2;
  }
  if (is_known_word(word)) return true;
  const auto digits =
      static_cast<std::size_t>(std::find_if_not(word.begin(), word.end(), is_digit) - word.begin());
  if (digits > longest_number) return false;
  std::string_view stem = word.substr(digits);
  const std::size_t last = stem.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
  if (stem.size() - last > longest_index) return false;
  stem = stem.substr(0, last);
  return is_known_word(stem);
}

bool is_placeholder(std::string_view id) {
  return id.find_first_not_of("0xX") == std::string_view::npos || id.find('/') != id.npos ||
         std::ranges::none_of(id, is_digit);
}

std::string_view cut_title(std::string_view title) {
  return title.substr(0, title.find_first_of(std::string_view(" :@\t\n\0", 6)));
}

}  // namespace

void Anonymizer::add_name(std::string_view real, Kind kind) {
  const bool is_common = std::ranges::find(common, real) != std::end(common);
  if (real.size() < 2 || is_common) return;
  for (const Name& name : names_) {
    if (name.real == real || name.substitute == real) return;
  }
  Name added{std::string(real),
             kind == Kind::user ? compose({"user", ++users_}) : compose({"host", ++hosts_})};
  const auto it =
      std::ranges::find_if(names_, [&](const Name& n) { return n.real.size() <= real.size(); });
  names_.insert(it, std::move(added));
}

void Anonymizer::learn_names(std::string_view text) {
  for (const std::string_view home : homes) {
    std::size_t position = 0;
    while ((position = text.find(home, position)) != std::string_view::npos) {
      position += home.size();
      std::string_view rest = leading_path(text.substr(position));
      add_name(scan::take_until(rest, '/'), Kind::user);
    }
  }
}

const Anonymizer::Name* Anonymizer::find_name(std::string_view text, std::size_t position) const {
  if (position != 0 && is_letter_or_digit(text[position - 1])) return nullptr;
  const std::string_view rest = text.substr(position);
  for (const Name& name : names_) {
    if (!rest.starts_with(name.real)) continue;
    if (rest.size() == name.real.size() || !is_letter_or_digit(rest[name.real.size()]))
      return &name;
  }
  return nullptr;
}

std::size_t Anonymizer::assign_number(std::string_view id) {
  std::string key(id);
  for (char& c : key) c = c == '_' ? '-' : lower_case(c);
  const auto it = std::ranges::find(ids_, key);
  if (it != ids_.end()) return static_cast<std::size_t>(it - ids_.begin()) + 1;
  ids_.push_back(std::move(key));
  return ids_.size();
}

std::string Anonymizer::format_number(std::size_t number, int base, std::size_t width) {
  const std::string numeral = base == 16 ? compose({hex(number)}) : compose({number});
  return numeral.size() < width ? std::string(width - numeral.size(), '0') + numeral : numeral;
}

std::size_t Anonymizer::take_uuid(std::string_view rest, std::string& out) {
  if (!is_uuid(rest)) return 0;
  const std::string_view uuid = rest.substr(0, uuid_shape.size());
  const std::string suffix = format_number(assign_number(uuid), 16, 12);
  for (std::size_t i = 0; i < uuid_shape.size(); ++i) {
    out += i >= 24 ? suffix[i - 24] : uuid_shape[i] == 'h' ? '0' : uuid[i];
  }
  return uuid.size();
}

std::size_t Anonymizer::take_hex_id(std::string_view rest, std::string& out) {
  const std::size_t length = hex_run(rest);
  if (length < shortest_id) return 0;
  out += format_number(assign_number(rest.substr(0, length)), 16, length);
  return length;
}

// What any text may contain: names, UUIDs, ids of containers, network addresses.
std::size_t Anonymizer::take_id(std::string_view text, std::size_t position, std::string& out) {
  const std::string_view rest = text.substr(position);
  const bool is_start = position == 0 || !is_word_char(text[position - 1]);
  if (const Name* const name = is_start ? find_name(text, position) : nullptr) {
    out += name->substitute;
    return name->real.size();
  }
  if (is_start && rest.starts_with(pod) && is_uuid(rest.substr(pod.size()))) {
    out += pod;
    return pod.size();
  }
  std::size_t length = take_uuid(rest, out);
  if (length == 0 && (is_start || !is_hex_digit(text[position - 1])))
    length = take_hex_id(rest, out);
  if (length != 0 || !is_start) return length;
  length = address_length(rest);
  for (const char c : rest.substr(0, length)) out += is_hex_digit(c) ? '0' : c;
  return length;
}

std::size_t Anonymizer::take_path(std::string_view text, std::size_t position, std::string& out) {
  const std::string_view rest = text.substr(position);
  const bool is_continuation =
      position != 0 && (is_word_char(text[position - 1]) || text[position - 1] == ']');
  const bool is_drive = rest.size() > 2 && rest[1] == ':' && rest[2] == '\\';
  if (is_continuation ||
      !(is_drive || (rest[0] == '/' && rest.size() > 1 && is_word_char(rest[1])))) {
    return 0;
  }
  const std::string_view path = leading_path(rest);
  out += anonymize_words(path);
  return path.size();
}

// Takes the value in "key=value", both sides of "user@host", and long words with digits.
std::size_t Anonymizer::take_secret(std::string_view text, std::size_t position, std::string& out) {
  if (!is_word_char(text[position]) || (position != 0 && is_word_char(text[position - 1])))
    return 0;
  const std::string_view word = leading_word(text.substr(position));
  const char before = position == 0 ? ' ' : text[position - 1];
  const char after = position + word.size() < text.size() ? text[position + word.size()] : ' ';
  const bool is_mixed = word.size() >= shortest_token && std::ranges::any_of(word, is_digit) &&
                        !std::ranges::all_of(word, is_digit);
  if (before != '=' && before != '@' && after != '@' && !is_mixed) return 0;
  return take_word(text.substr(position), out);
}

std::string_view Anonymizer::find_substitute(std::string_view word) {
  for (const Name& name : words_) {
    if (name.real == word) return name.substitute;
  }
  words_.push_back({std::string(word), compose({"name", words_.size() + 1})});
  return words_.back().substitute;
}

std::size_t Anonymizer::take_word(std::string_view rest, std::string& out) {
  const std::string_view word = leading_word(rest);
  if (is_safe_word(word)) {
    out += word;
  } else {
    out += find_substitute(word);
  }
  return word.size();
}

std::string Anonymizer::anonymize_words(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    const std::string_view rest = text.substr(position);
    std::size_t length = fixed_length(rest, position == 0 || !is_word_char(text[position - 1]));
    out += rest.substr(0, length);
    if (length == 0) length = take_id(text, position, out);
    if (length == 0 && is_word_char(rest[0])) length = take_word(rest, out);
    if (length == 0) {
      out += rest[0];
      length = 1;
    }
    position += length;
  }
  return out;
}

void Anonymizer::add_program(std::string_view comm) {
  programs_.emplace_back(cut_title(comm));
}

// A program may write anything in place of its name: only the kernel's name can be trusted.
std::string Anonymizer::anonymize_program(std::string_view title, std::string_view comm) {
  if (!comm.empty()) return anonymize_free_text(cut_title(procfs::find_full_name(comm, title)));
  std::string_view first = title.substr(0, title.find_first_of(std::string_view(" \0", 2)));
  first = cut_title(first.substr(first.find_last_of("/\\") + 1));
  const bool is_known = std::ranges::find(programs_, first) != programs_.end();
  return is_known ? anonymize_free_text(first) : anonymize_words(first);
}

// Replaces the rest of a line after a key such as "Serial Number".
std::size_t Anonymizer::take_serial(std::string_view rest, std::string& out) {
  const auto is_key = [&](std::string_view word) { return starts_alike(rest, word); };
  if (std::ranges::none_of(serial_words, is_key)) return 0;
  std::string_view line = rest;
  line = scan::take_line(line);
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon > longest_serial_key) return 0;
  const std::size_t start = line.find_first_not_of(" \t\"", colon + 1);
  if (start == std::string_view::npos) return 0;
  const std::string_view serial = leading_token(line.substr(start));
  if (is_placeholder(serial)) return 0;
  out += anonymize_words(line.substr(0, start));
  out += anonymize_id(serial, 16);
  return start + serial.size();
}

std::string Anonymizer::anonymize_free_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    const std::string_view rest = text.substr(position);
    const bool is_start = position == 0 || !is_word_char(text[position - 1]);
    std::size_t length = is_start ? take_serial(rest, out) : 0;
    if (length == 0) length = take_id(text, position, out);
    if (length == 0) length = take_path(text, position, out);
    if (length == 0) length = take_secret(text, position, out);
    if (length == 0) {
      out += rest[0];
      length = 1;
    }
    position += length;
  }
  return out;
}

std::string Anonymizer::anonymize_id(std::string_view text, int base) {
  std::string_view line = text;
  line = scan::trim(scan::take_line(line));
  const bool has_prefix = line.starts_with("0x") || line.starts_with("0X");
  const std::string_view value = line.substr(has_prefix ? 2 : 0);
  if (value.empty() || is_placeholder(value)) return anonymize_words(text);
  // The same number may be written in hexadecimal here and in decimal there.
  const auto number = scan::parse_number<std::uint64_t>(value, static_cast<unsigned>(base));
  const std::string key = number ? compose({"number ", *number}) : std::string(value);
  const std::string substitute = format_number(assign_number(key), base, value.size());
  const std::size_t start = static_cast<std::size_t>(value.data() - text.data());
  std::string out(text.substr(0, start));
  out += substitute;
  out += anonymize_words(text.substr(start + value.size()));
  return out;
}

}  // namespace hmn::simulated
