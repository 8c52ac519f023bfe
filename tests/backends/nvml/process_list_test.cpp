// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/processes.hpp"

#include <doctest/doctest.h>

#include <cstring>

using namespace hmn::nvml;

namespace {

struct Row {
  std::uint32_t pid;
  std::uint64_t used;
  std::uint32_t gi = no_instance;
  std::uint32_t ci = no_instance;
};

// As a driver fills it; bytes that a row does not have stay untouched.
std::vector<std::byte> make_buffer(const std::vector<Row>& rows, std::size_t row_size,
                                   std::size_t capacity = 64) {
  std::vector<std::byte> buffer(capacity * max_row_size, untouched);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::byte* const target = buffer.data() + i * row_size;
    std::memset(target, 0, row_size);
    std::memcpy(target, &rows[i].pid, 4);
    std::memcpy(target + 8, &rows[i].used, 8);
    if (row_size < 24) continue;
    std::memcpy(target + 16, &rows[i].gi, 4);
    std::memcpy(target + 20, &rows[i].ci, 4);
  }
  return buffer;
}

constexpr std::uint64_t list_gib = 1ULL << 30;

const std::vector<std::vector<Row>> sample_lists{
    {{4242, list_gib}},
    {{7, 2097152}},
    {{7, 4096}, {8, 4096}},
    {{1, value_not_available}},
    {{100, 0}, {101, 0}, {102, 0}},
    {{4000000, 80 * list_gib}, {12, 3}},
    {{4242, list_gib}, {4243, 2 * list_gib}, {4244, 3 * list_gib}, {4245, value_not_available}},
    {{4242, list_gib, 7, 0}, {4242, list_gib, 7, 1}, {9, list_gib, 1, 0}},
    {{1, 1, 0, 0}, {2, 2, 1, 1}, {3, 3, 2, 2}, {4, 4, 3, 3}},
};

}  // namespace

TEST_CASE("the row size is detected from what the driver wrote, whatever the usual size") {
  for (const auto& rows : sample_lists) {
    for (const std::size_t row_size : {16, 24, 32}) {
      for (const std::size_t usual : {16, 24}) {
        CAPTURE(rows.size());
        CAPTURE(rows[0].pid);
        CAPTURE(row_size);
        CAPTURE(usual);
        const auto buffer = make_buffer(rows, row_size);
        const auto guess = detect_row_size(buffer, rows.size(), usual);
        CHECK(guess.row_size == row_size);
        CHECK(guess.is_certain);
      }
    }
  }
}

TEST_CASE("every row is decoded under its own layout") {
  for (const auto& rows : sample_lists) {
    for (const std::size_t row_size : {16, 24, 32}) {
      const auto buffer = make_buffer(rows, row_size);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        ListedProcess process;
        REQUIRE(decode_row(buffer, i, row_size, process));
        CHECK(process.pid == rows[i].pid);
        CHECK(process.used == rows[i].used);
        CHECK(process.gpu_instance == (row_size == 16 ? no_instance : rows[i].gi));
        CHECK(process.compute_instance == (row_size == 16 ? no_instance : rows[i].ci));
      }
      ListedProcess beyond;
      CHECK_FALSE(decode_row(buffer, rows.size(), row_size, beyond));
    }
  }
}

TEST_CASE("rows that the driver counts but does not write do not change the layout") {
  const std::vector<Row> rows{{4242, list_gib}, {4243, 2 * list_gib}};
  for (const std::size_t row_size : {24, 32}) {
    const auto guess = detect_row_size(make_buffer(rows, row_size), 200, 24);
    CHECK(guess.row_size == row_size);
  }
}

TEST_CASE("the row size is detected if the driver clears the whole buffer first") {
  const std::vector<Row> rows{{4242, list_gib}, {4243, 2 * list_gib}, {4244, 3 * list_gib}};
  for (const std::size_t row_size : {24, 32}) {
    auto buffer = make_buffer(rows, row_size);
    for (std::size_t i = rows.size() * row_size; i < buffer.size(); ++i) buffer[i] = std::byte{0};
    CHECK(detect_row_size(buffer, rows.size(), 24).row_size == row_size);
  }
}

TEST_CASE("an untouched buffer yields no row size") {
  const std::vector<std::byte> buffer(64 * max_row_size, untouched);
  CHECK(detect_row_size(buffer, 3, 24).row_size == 0);
  CHECK(detect_row_size({}, 3, 24).row_size == 0);
  CHECK(detect_row_size(make_buffer({{1, 1}}, 24), 0, 24).row_size == 0);
  ListedProcess process;
  CHECK_FALSE(decode_row({}, 0, 24, process));
}
