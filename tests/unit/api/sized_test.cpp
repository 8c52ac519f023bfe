// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/sized.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>

using hmn::api::read_sized;
using hmn::api::SizedField;
using hmn::api::SizedOut;

namespace {

constexpr std::uint64_t of_first = 1u << 0;
constexpr std::uint64_t of_later = 1u << 1;
constexpr std::uint64_t of_label = 1u << 2;
constexpr std::uint64_t of_last = std::uint64_t{1} << 63;

// A result of its third version: `later` came with the second, the others with the third.
struct Grown {
  std::uint32_t struct_size;
  std::uint32_t notes;
  std::uint64_t present;
  std::uint64_t first;
  std::uint64_t later;
  char label[16];
  std::uint64_t last;
};
constexpr std::uint32_t v1 = offsetof(Grown, later);
constexpr std::uint32_t v2 = offsetof(Grown, label);

constexpr std::array<SizedField, 4> fields{{
    {offsetof(Grown, first), offsetof(Grown, later), of_first},
    {offsetof(Grown, later), offsetof(Grown, label), of_later},
    {offsetof(Grown, label), offsetof(Grown, last), of_label},
    {offsetof(Grown, last), sizeof(Grown), of_last},
}};

constexpr Grown everything{0, 0, of_first | of_later | of_label | of_last, 11, 22, "a long label",
                           33};

// Caller's memory: a struct of some size, and bytes past it that are not the library's to write.
struct Caller {
  std::array<unsigned char, 64> bytes;

  explicit Caller(std::uint32_t size) {
    bytes.fill(0xAA);
    std::memcpy(bytes.data(), &size, sizeof size);
  }
  [[nodiscard]] SizedOut out() { return {bytes.data(), v1, sizeof(Grown), fields}; }
  [[nodiscard]] Grown read() const {
    Grown whole{};
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
  Caller c(sizeof(Grown));
  c.out().write(&everything);
  CHECK(c.read().present == everything.present);
  CHECK(c.read().last == 33);
  CHECK(c.is_untouched_from(sizeof(Grown)));
}

TEST_CASE("a caller of the first version gets no bit of a field that came later") {
  Caller c(v1);
  c.out().write(&everything);
  CHECK(c.read().present == of_first);
  CHECK(c.read().first == 11);
  CHECK(c.is_untouched_from(v1));
}

TEST_CASE("a caller of a version in the middle gets the fields that it knows") {
  Caller c(v2);
  c.out().write(&everything);
  CHECK(c.read().present == (of_first | of_later));
  CHECK(c.read().later == 22);
  CHECK(c.is_untouched_from(v2));
}

TEST_CASE("a field that does not fit completely is absent and zero") {
  Caller c(v2 + 8);
  c.out().write(&everything);
  CHECK(c.read().present == (of_first | of_later));
  CHECK(c.read().later == 22);
  for (std::uint32_t i = v2; i < v2 + 8; ++i) CHECK(c.bytes[i] == 0);
  CHECK(c.is_untouched_from(v2 + 8));
}

TEST_CASE("bytes of a version that is not known here are zero") {
  Caller c(sizeof(Grown) + 8);
  c.out().write(&everything);
  CHECK(c.read().last == 33);
  CHECK(c.bytes[sizeof(Grown)] == 0);
  CHECK(c.is_untouched_from(sizeof(Grown) + 8));
}

TEST_CASE("an input of a later version is refused when it asks for more than is known") {
  struct Longer {
    Grown known;
    std::uint64_t unknown;
  } input{{sizeof(Longer), 0, 0, 1, 2, {}, 3}, 0};
  Grown full{};
  REQUIRE(read_sized(&input, v1, &full, sizeof full));
  CHECK(full.last == 3);
  input.unknown = 1;
  const auto refused = read_sized(&input, v1, &full, sizeof full);
  REQUIRE(!refused);
  CHECK(refused.why().code == hmn::Status::unknown_flag);
}
