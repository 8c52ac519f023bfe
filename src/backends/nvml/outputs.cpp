// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/arguments.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "model/compose.hpp"

namespace hmn::nvml {
namespace {

constexpr std::uint64_t untouched_bits = 0xA5A5A5A5A5A5A5A5U;
constexpr auto untouched_result = static_cast<std::int32_t>(untouched_bits);
constexpr std::uint64_t most_rows_shown = 2;

// Members in order, each a letter of its type and its name: u and i have 4 bytes, q has 8, p is an
// address, c and d are 16 and 32 characters; U and Q are set by the caller. One text: in a table,
// each would need a relocation.
constexpr char layouts[] =
    "u\0"
    "i\0"
    "q\0"
    "p\0"
    "qtotal qfree qused\0"
    "Uversion qtotal qreserved qfree qused\0"
    "cbus_id_legacy udomain ubus udevice udevice_id usubsystem_id dbus_id\0"
    "uenabled\0"
    "Uversion umode\0"
    "ugpu umemory\0"
    "Uversion Usensor icelsius\0"
    "ugpu umemory qmax_memory qtime qstart uis_running\0"
    "pdevice qtype qdata\0"
    "ufield Uscope Qtimestamp Qlatency utype iresult qvalue\0"
    "u\0"
    "upid qtime usm umemory uencoder udecoder\0"
    // Words of rows, whose layout differs between drivers.
    "uwords u u u u u";

constexpr const char* layout_of(role of) noexcept {
  const char* at = layouts;
  for (auto n = static_cast<unsigned>(of); n != 0; --n) {
    at += std::char_traits<char>::length(at) + 1;
  }
  return at;
}
static_assert(layout_of(role::number) == layouts);
static_assert(std::string_view(layout_of(role::fields)).starts_with("ufield "));
static_assert(layout_of(role::rows) + sizeof "uwords u u u u u" == std::end(layouts));

struct member {
  char type;
  std::size_t offset;
  std::string_view name;

  [[nodiscard]] constexpr bool is_input() const noexcept { return type == 'U' || type == 'Q'; }
  [[nodiscard]] constexpr bool is_text() const noexcept { return type == 'c' || type == 'd'; }
  [[nodiscard]] constexpr std::size_t size() const noexcept {
    if (is_text()) return type == 'c' ? 16 : 32;
    if (type == 'p') return sizeof(void*);
    return type == 'q' || type == 'Q' ? 8 : 4;
  }
};

template <class T>
T read(const char* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

bool has_layout(const argument& a) noexcept {
  return a.is <= role::rows && a.value != 0;
}

// Calls `visit` for each member; returns the size of all.
template <class Visit>
constexpr std::size_t each_member(role of, Visit&& visit) {
  std::size_t end = 0;
  for (const char* at = layout_of(of); *at != '\0';) {
    member m{*at++, end, {}};
    m.name = at;
    m.name = m.name.substr(0, m.name.find(' '));
    if (m.size() == 8) m.offset += end % (4 + padding);
    end = m.offset + m.size();
    visit(m);
    at += m.name.size();
    if (*at == ' ') ++at;
  }
  return end;
}

// First number of what a call returns, which shows whether the driver wrote it.
struct marked {
  std::uint8_t offset = 0;
  std::uint8_t size = 0;
  bool is_address = false;

  void put_into(char* output) const noexcept {
    const std::uint64_t bits = mark();
    std::memcpy(output + offset, &bits, size == 8 ? 8 : 4);
  }
  [[nodiscard]] bool is_in(const char* output) const noexcept {
    const char* const at = output + offset;
    return size == 8 ? read<std::uint64_t>(at) == mark()
                     : read<std::uint32_t>(at) == static_cast<std::uint32_t>(mark());
  }

 private:
  // Addresses are marked by null: of a failed call they must not be used.
  [[nodiscard]] std::uint64_t mark() const noexcept { return is_address ? 0 : untouched_bits; }
};

constexpr marked first_output(role of) noexcept {
  marked found;
  each_member(of, [&](const member& m) {
    if (found.size != 0 || m.is_input() || m.is_text()) return;
    found = {static_cast<std::uint8_t>(m.offset), static_cast<std::uint8_t>(m.size()),
             m.type == 'p'};
  });
  return found;
}

constexpr auto first_outputs = [] {
  std::array<marked, static_cast<std::size_t>(role::fields)> all;
  for (std::size_t n = 0; n < all.size(); ++n) all[n] = first_output(static_cast<role>(n));
  return all;
}();

// Returns where the mark is of what the driver writes whenever it succeeds, in one of the first
// roles.
const marked& mark_of(const argument& a) noexcept {
  return first_outputs[static_cast<std::size_t>(a.is)];
}

std::span<field_value> fields_at(argument_list all, std::size_t i) noexcept {
  return {reinterpret_cast<field_value*>(all[i].address()),
          static_cast<std::size_t>(all[i - 1].value)};
}

bool is_terminated(argument_list all, std::size_t i) noexcept {
  const auto capacity = static_cast<std::size_t>(all[i + 1].value);
  const std::size_t length = strnlen(all[i].address(), capacity);
  return length != 0 && length != capacity;
}

class description {
 public:
  void add(std::initializer_list<piece> pieces) noexcept {
    length_ += compose_in(std::span(bytes_).subspan(length_), pieces).size();
  }
  void add_text(std::string_view text) noexcept;
  // Returns the size of all.
  std::size_t add_members(role of, const char* from);
  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), length_}; }

 private:
  std::array<char, message_text::capacity + 1> bytes_;  // one more shows that it was cut
  std::size_t length_ = 0;
};

void description::add_text(std::string_view text) noexcept {
  add({"\""});
  for (const char& c : text) {
    if (c >= ' ' && c <= '~') {
      add({std::string_view(&c, 1)});
    } else {
      add({"\\x", hex(static_cast<unsigned char>(c), 2)});
    }
  }
  add({"\""});
}

std::size_t description::add_members(role of, const char* from) {
  return each_member(of, [&](const member& m) {
    if (m.is_input()) return;
    add({", ", m.name, m.name.empty() ? "" : "="});
    const char* const at = from + m.offset;
    if (m.is_text()) return add_text({at, strnlen(at, m.size())});
    const std::uint64_t number = m.size() == 8 ? read<std::uint64_t>(at) : read<std::uint32_t>(at);
    if (m.type == 'i') return add({static_cast<std::int32_t>(number)});
    if (m.type == 'p' || of == role::rows) return add({"0x", hex(number)});
    add({number});
  });
}

// How many of them are shown, though more are there.
std::uint64_t shown(argument_list all, std::size_t i) noexcept {
  if (all[i].is == role::fields) return all[i - 1].value;
  if (all[i].is != role::rows && all[i].is != role::samples) return 1;
  const argument& count = all[all[i].is == role::rows ? i - 1 : i + 1];
  return std::min<std::uint64_t>(read<unsigned>(count.address()), most_rows_shown);
}

}  // namespace

void mark(argument_list all) noexcept {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].is < role::fields) {
      mark_of(all[i]).put_into(all[i].address());
    } else if (all[i].is == role::fields) {
      for (field_value& f : fields_at(all, i)) f.result = untouched_result;
    }
  }
}

bool are_written(argument_list all) noexcept {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].is < role::fields && mark_of(all[i]).is_in(all[i].address())) return false;
    if (all[i].is == role::text && !is_terminated(all, i)) return false;
  }
  return true;
}

code outcome_of(const field_value& reported) noexcept {
  return reported.result == untouched_result ? unusable : static_cast<code>(reported.result);
}

message_text describe(const char* symbol, argument_list all) noexcept {
  description out;
  out.add({symbol});
  for (const argument& a : all) {
    if (a.is == role::input) out.add({" ", a.value});
  }
  out.add({": ok"});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const argument& a = all[i];
    if (a.is == role::text) {
      out.add({", "});
      out.add_text({a.address(), strnlen(a.address(), static_cast<std::size_t>(all[i + 1].value))});
    }
    if (!has_layout(a)) continue;
    const char* from = a.address();
    for (std::uint64_t n = shown(all, i); n != 0; --n) from += out.add_members(a.is, from);
  }
  return out.view();
}

}  // namespace hmn::nvml
