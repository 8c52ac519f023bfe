// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/text.hpp"

#include <cstdint>
#include <cstring>

namespace hmn {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

struct ByteSequence {
  std::size_t length;  // bytes taken from the input
  bool is_valid;
};

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}

// Rule for well-formed byte sequences, from table 3-7 of the Unicode Standard.
struct LeadRule {
  std::size_t length;
  unsigned char second_low;
  unsigned char second_high;
};

LeadRule find_rule(unsigned char lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return {2, 0x80, 0xBF};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead >= 0xE1 && lead <= 0xEF) return {3, 0x80, 0xBF};
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead >= 0xF1 && lead <= 0xF3) return {4, 0x80, 0xBF};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

ByteSequence read_sequence(std::string_view bytes) {
  const auto byte_at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  if (byte_at(0) == 0) return {1, false};
  if (byte_at(0) < 0x80) return {1, true};
  const LeadRule rule = find_rule(byte_at(0));
  if (rule.length == 0) return {1, false};
  if (bytes.size() < 2 || byte_at(1) < rule.second_low || byte_at(1) > rule.second_high)
    return {1, false};
  for (std::size_t i = 2; i < rule.length; ++i) {
    if (i >= bytes.size() || !is_continuation(byte_at(i))) return {i, false};
  }
  return {rule.length, true};
}

// Returns how many bytes of the start are ASCII without NUL, or fewer where a DEL follows.
std::size_t plain_length(std::string_view bytes) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  std::size_t position = 0;
  for (std::uint64_t word; bytes.size() - position >= sizeof word; position += sizeof word) {
    std::memcpy(&word, bytes.data() + position, sizeof word);
    if (((word | (word - ones)) & ones << 7) != 0) break;  // a high bit, or a borrow of a 0
  }
  while (position < bytes.size() && bytes[position] > 0 && bytes[position] < 0x7f) ++position;
  return position;
}

}  // namespace

std::size_t utf8_length(std::string_view bytes) noexcept {
  std::size_t position = 0;
  for (;;) {
    position += plain_length(bytes.substr(position));
    if (position == bytes.size()) return position;
    const ByteSequence sequence = read_sequence(bytes.substr(position));
    if (!sequence.is_valid) return position;
    position += sequence.length;
  }
}

void append_utf8(std::string& out, std::string_view bytes) {
  for (;;) {
    const std::size_t valid = utf8_length(bytes);
    out += bytes.substr(0, valid);
    bytes.remove_prefix(valid);
    if (bytes.empty()) return;
    out += replacement;
    bytes.remove_prefix(read_sequence(bytes).length);
  }
}

std::size_t copy_utf8(char* out, std::size_t capacity, std::string_view bytes,
                      bool& was_cut) noexcept {
  const std::size_t limit = capacity == 0 ? 0 : capacity - 1;
  std::size_t used = 0;
  was_cut = false;
  while (!bytes.empty() && !was_cut) {
    const std::size_t valid = utf8_length(bytes);
    const std::string_view piece = valid != 0 ? bytes.substr(0, valid) : replacement;
    std::size_t length = piece.size();
    if (length > limit - used) {
      was_cut = true;
      length = valid != 0 ? limit - used : 0;
      while (length != 0 && is_continuation(static_cast<unsigned char>(piece[length]))) --length;
    }
    used += piece.copy(out + used, length);
    bytes.remove_prefix(valid != 0 ? valid : read_sequence(bytes).length);
  }
  if (capacity > 0) out[used] = '\0';
  return used;
}

}  // namespace hmn
