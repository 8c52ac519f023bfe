// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include "machine.hpp"

using hypomnesis::backend_id;
using hypomnesis::status_code;

namespace {

template <class Call>
hypomnesis::error catch_error(Call call) {
  try {
    call();
  } catch (const hypomnesis::error& e) {
    return e;
  }
  FAIL("nothing was thrown");
  return {status_code::ok, ""};
}

}  // namespace

TEST_CASE("an error has a status, a backend, a native code, a reason and a message") {
  const hypomnesis::context context = open_machine("failures.json");
  const auto e = catch_error([&] { context.telemetry(12, hypomnesis::telemetry_field::power); });
  CHECK(e.status() == status_code::permission);
  CHECK(std::string(e.status_name()) == "HMN_E_PERMISSION");
  CHECK(e.backend() == backend_id::simulated);
  CHECK(e.native_domain() == hypomnesis::domain::nvml);
  CHECK(e.native_code() == 4);
  CHECK(e.reason() == hypomnesis::reason_id::not_permitted);
  CHECK(std::string(e.what()) == "the power is for root");
}

TEST_CASE("an error is a std::runtime_error, a closed handle a std::logic_error") {
  hypomnesis::context context = open_machine("failures.json");
  CHECK_THROWS_AS(context.pool(0), std::runtime_error);
  context.close();
  CHECK_THROWS_AS(context.pool(0), std::logic_error);
}

TEST_CASE("each failure of a driver has its own status") {
  const hypomnesis::context context = open_machine("failures.json");
  constexpr status_code statuses[] = {
      status_code::no_memory, status_code::unsupported, status_code::no_source,
      status_code::no_device, status_code::no_process,  status_code::permission,
      status_code::timeout,   status_code::device_lost, status_code::backend,
      status_code::limit,     status_code::overflow,    status_code::asleep};
  std::uint32_t index = 0;
  for (const status_code status : statuses) {
    CHECK(catch_error([&] { context.pool(index); }).status() == status);
    ++index;
  }
}

TEST_CASE("a refused argument has no backend and no native domain") {
  hypomnesis::context context = open_machine("small.json");
  const auto e =
      catch_error([&] { context.set_path(hypomnesis::path_kind::proc, "not/absolute"); });
  CHECK(e.status() == status_code::argument);
  CHECK(e.backend() == backend_id::none);
  CHECK(e.reason() == hypomnesis::reason_id::unknown);
  CHECK(e.native_domain() == hypomnesis::domain::none);
  CHECK(catch_error([&] { context.pool(0, static_cast<hypomnesis::pool_kind>(77)); }).status() ==
        status_code::range);
  hypomnesis::context_options options;
  options.flags = static_cast<hypomnesis::context_flag>(1U << 31);
  CHECK(catch_error([&] { hypomnesis::context broken(options); }).status() ==
        status_code::unknown_flag);
}

TEST_CASE("a text with a zero byte is refused, not cut") {
  hypomnesis::context context = open_machine("small.json");
  using namespace std::string_view_literals;
  CHECK(catch_error([&] {
          context.set_path(hypomnesis::path_kind::proc, "/proc\0/x"sv);
        }).status() == status_code::argument);
  CHECK(catch_error([&] { context.find_device("driver:nvidia:0\0"sv); }).status() ==
        status_code::argument);
  const auto snapshot = context.take();
  CHECK(catch_error([&] { hypomnesis::delta_line(snapshot, snapshot, 0, "a\0b"sv); }).status() ==
        status_code::argument);
}

TEST_CASE("a duration that is negative or below 0.1 ms is refused by name") {
  hypomnesis::context_options options;
  options.stale = std::chrono::milliseconds(-1);
  CHECK(std::string(catch_error([&] { hypomnesis::context context(options); }).what())
            .find("stale: ") == 0);
  options.stale = std::chrono::nanoseconds(500);
  const auto error = catch_error([&] { hypomnesis::context context(options); });
  CHECK(error.status() == status_code::range);
  CHECK(std::string(error.what()) == "stale_ns: 500 is less than 0.1 ms");
  for (const std::chrono::nanoseconds duration :
       {std::chrono::nanoseconds(std::chrono::hours(24 * 50)), hypomnesis::immediate,
        hypomnesis::unlimited, std::chrono::nanoseconds(100'000)}) {
    options.stale = duration;
    CHECK(hypomnesis::context(options).is_open());
  }
}
