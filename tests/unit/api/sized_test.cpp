// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/sized.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>

using hmn::api::read_sized;
using hmn::api::SizedField;
using hmn::api::SizedOut;

namespace {

constexpr std::uint64_t first_bit = 1u << 0;
constexpr std::uint64_t later_bit = 1u << 1;
constexpr std::uint64_t label_bit = 1u << 2;
constexpr std::uint64_t last_bit = std::uint64_t{1} << 63;

// A struct in its third version: `later` was added in the second, `label` and `last` in the third.
struct GrownRecord {
  std::uint32_t struct_size;
  std::uint32_t notes;
  std::uint64_t present;
  std::uint64_t first;
  std::uint64_t later;
  char label[16];
  std::uint64_t last;
};
constexpr std::uint32_t v1 = offsetof(GrownRecord, later);
constexpr std::uint32_t v2 = offsetof(GrownRecord, label);

constexpr std::array<SizedField, 4> fields{{
    {offsetof(GrownRecord, first), offsetof(GrownRecord, later), first_bit},
    {offsetof(GrownRecord, later), offsetof(GrownRecord, label), later_bit},
    {offsetof(GrownRecord, label), offsetof(GrownRecord, last), label_bit},
    {offsetof(GrownRecord, last), sizeof(GrownRecord), last_bit},
}};

constexpr GrownRecord everything{
    0, 0, first_bit | later_bit | label_bit | last_bit, 11, 22, "a long label", 33};

// Caller's memory: a struct of some size, and bytes past it that are not the library's to write.
struct CallerMemory {
  std::array<unsigned char, 64> bytes;

  explicit CallerMemory(std::uint32_t size) {
    bytes.fill(0xAA);
    std::memcpy(bytes.data(), &size, sizeof size);
  }
  [[nodiscard]] SizedOut out() { return {bytes.data(), v1, sizeof(GrownRecord), fields}; }
  [[nodiscard]] GrownRecord read() const {
    GrownRecord record{};
    std::memcpy(&record, bytes.data(), sizeof record);
    return record;
  }
  [[nodiscard]] bool is_untouched_from(std::size_t size) const {
    for (std::size_t i = size; i < bytes.size(); ++i) {
      if (bytes[i] != 0xAA) return false;
    }
    return true;
  }
};

}  // namespace

TEST_CASE("a caller built with the newest version gets every field") {
  CallerMemory caller(sizeof(GrownRecord));
  caller.out().write(&everything);
  CHECK(caller.read().present == everything.present);
  CHECK(caller.read().last == 33);
  CHECK(caller.is_untouched_from(sizeof(GrownRecord)));
}

TEST_CASE("a caller built with the first version gets no bit of a later field") {
  CallerMemory caller(v1);
  caller.out().write(&everything);
  CHECK(caller.read().present == first_bit);
  CHECK(caller.read().first == 11);
  CHECK(caller.is_untouched_from(v1));
}

TEST_CASE("a caller built with a version in between gets the fields that it knows") {
  CallerMemory caller(v2);
  caller.out().write(&everything);
  CHECK(caller.read().present == (first_bit | later_bit));
  CHECK(caller.read().later == 22);
  CHECK(caller.is_untouched_from(v2));
}

TEST_CASE("a field that does not fit completely is absent and zero") {
  CallerMemory caller(v2 + 8);
  caller.out().write(&everything);
  CHECK(caller.read().present == (first_bit | later_bit));
  CHECK(caller.read().later == 22);
  for (std::uint32_t i = v2; i < v2 + 8; ++i) CHECK(caller.bytes[i] == 0);
  CHECK(caller.is_untouched_from(v2 + 8));
}

TEST_CASE("bytes beyond the known struct are zeroed") {
  CallerMemory caller(sizeof(GrownRecord) + 8);
  caller.out().write(&everything);
  CHECK(caller.read().last == 33);
  CHECK(caller.bytes[sizeof(GrownRecord)] == 0);
  CHECK(caller.is_untouched_from(sizeof(GrownRecord) + 8));
}

TEST_CASE("an input of a later version is refused if it sets unknown fields") {
  struct LongerRecord {
    GrownRecord record;
    std::uint64_t extra;
  } input{{sizeof(LongerRecord), 0, 0, 1, 2, {}, 3}, 0};
  GrownRecord record{};
  REQUIRE(read_sized(&input, v1, &record, sizeof record));
  CHECK(record.last == 3);
  input.extra = 1;
  const auto result = read_sized(&input, v1, &record, sizeof record);
  REQUIRE(!result);
  CHECK(result.failure().code == hmn::Status::unknown_flag);
}
