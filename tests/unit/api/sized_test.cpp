// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/sized.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>

using hmn::api::read_sized;
using hmn::api::sized_field;
using hmn::api::sized_out;

namespace {

constexpr std::uint64_t of_first = 1u << 0;
constexpr std::uint64_t of_later = 1u << 1;
constexpr std::uint64_t of_label = 1u << 2;
constexpr std::uint64_t of_last = std::uint64_t{1} << 63;

// A result of its third version: `later` came with the second, the others with the third.
struct grown {
  std::uint32_t struct_size;
  std::uint32_t notes;
  std::uint64_t present;
  std::uint64_t first;
  std::uint64_t later;
  char label[16];
  std::uint64_t last;
};
constexpr std::uint32_t v1 = offsetof(grown, later);
constexpr std::uint32_t v2 = offsetof(grown, label);

constexpr std::array<sized_field, 4> fields{{
    {offsetof(grown, first), offsetof(grown, later), of_first},
    {offsetof(grown, later), offsetof(grown, label), of_later},
    {offsetof(grown, label), offsetof(grown, last), of_label},
    {offsetof(grown, last), sizeof(grown), of_last},
}};

constexpr grown everything{0, 0, of_first | of_later | of_label | of_last, 11, 22, "a long label", 33};

// Caller's memory: a struct of some size, and bytes past it that are not the library's to write.
struct caller {
  std::array<unsigned char, 64> bytes;

  explicit caller(std::uint32_t size) {
    bytes.fill(0xAA);
    std::memcpy(bytes.data(), &size, sizeof size);
  }
  [[nodiscard]] sized_out out() { return {bytes.data(), v1, sizeof(grown), fields}; }
  [[nodiscard]] grown read() const {
    grown whole{};
    std::memcpy(&whole, bytes.data(), sizeof whole);
    return whole;
  }
  [[nodiscard]] bool is_untouched_from(std::size_t size) const {
    for (std::size_t i = size; i < bytes.size(); ++i) {
      if (bytes[i] != 0xAA) return false;
    }
    return true;
  }
};

}  // namespace

TEST_CASE("a caller of the newest version gets every field") {
  caller c(sizeof(grown));
  c.out().write(&everything);
  CHECK(c.read().present == everything.present);
  CHECK(c.read().last == 33);
  CHECK(c.is_untouched_from(sizeof(grown)));
}

TEST_CASE("a caller of the first version gets no bit of a field that came later") {
  caller c(v1);
  c.out().write(&everything);
  CHECK(c.read().present == of_first);
  CHECK(c.read().first == 11);
  CHECK(c.is_untouched_from(v1));
}

TEST_CASE("a caller of a version in the middle gets the fields that it knows") {
  caller c(v2);
  c.out().write(&everything);
  CHECK(c.read().present == (of_first | of_later));
  CHECK(c.read().later == 22);
  CHECK(c.is_untouched_from(v2));
}

TEST_CASE("a field that does not fit completely is absent and zero") {
  caller c(v2 + 8);
  c.out().write(&everything);
  CHECK(c.read().present == (of_first | of_later));
  CHECK(c.read().later == 22);
  for (std::uint32_t i = v2; i < v2 + 8; ++i) CHECK(c.bytes[i] == 0);
  CHECK(c.is_untouched_from(v2 + 8));
}

TEST_CASE("bytes of a version that is not known here are zero") {
  caller c(sizeof(grown) + 8);
  c.out().write(&everything);
  CHECK(c.read().last == 33);
  CHECK(c.bytes[sizeof(grown)] == 0);
  CHECK(c.is_untouched_from(sizeof(grown) + 8));
}

TEST_CASE("an input of a later version is refused when it asks for more than is known") {
  struct longer {
    grown known;
    std::uint64_t unknown;
  } input{{sizeof(longer), 0, 0, 1, 2, {}, 3}, 0};
  grown full{};
  REQUIRE(read_sized(&input, v1, &full, sizeof full));
  CHECK(full.last == 3);
  input.unknown = 1;
  const auto refused = read_sized(&input, v1, &full, sizeof full);
  REQUIRE(!refused);
  CHECK(refused.why().code == hmn::status::unknown_flag);
}
