// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <thread>

#include "machine.hpp"

using namespace std::chrono_literals;
using hypomnesis::sampler;
using hypomnesis::sampler_state;
using hypomnesis::status_code;

static_assert(!std::is_copy_constructible_v<sampler>);
static_assert(std::is_nothrow_move_constructible_v<sampler>);
static_assert(std::is_nothrow_destructible_v<sampler>);

namespace {

template <class Call>
status_code sampler_status(Call call) {
  try {
    call();
  } catch (const hypomnesis::error& e) {
    return e.status();
  } catch (const hypomnesis::closed&) {
    return status_code::state;  // it came too late to be reported by the library
  }
  return status_code::ok;
}

sampler running(const hypomnesis::context& c, const hypomnesis::sampler_options& options = {}) {
  sampler s = c.sample(options);
  s.start();
  return s;
}

}  // namespace

TEST_CASE("a sampler gives snapshots, latest figures and peaks") {
  const hypomnesis::context c = machine("small.json");
  sampler s = running(c);
  const auto first = s.next(60s);
  REQUIRE(first);
  CHECK(first->info().collect ==
        (hypomnesis::part::devices | hypomnesis::part::pools | hypomnesis::part::telemetry));
  CHECK(s.latest_pool(0)->used_bytes == 3221225472U);
  CHECK(s.device_peak(0)->used_bytes == 3221225472U);
  CHECK(s.info().state == sampler_state::running);
  CHECK(s.info().taken_count == 1);
  CHECK(s.info().last_status == status_code::ok);
  CHECK_FALSE(s.next(0s));
  CHECK(sampler_status([&] { s.latest_pool(7); }) == status_code::no_device);
  CHECK(sampler_status([&] { s.peak(0, 1); }) == status_code::no_process);
}

TEST_CASE("what has no snapshot yet is nothing, and the wrong moment is an error") {
  const hypomnesis::context c = machine("small.json");
  sampler s = c.sample();
  CHECK(s.info().state == sampler_state::idle);
  CHECK_FALSE(s.info().last_status);
  CHECK_FALSE(s.latest_pool(0));
  CHECK_FALSE(s.latest_telemetry(0));
  CHECK(sampler_status([&] { s.next(60s); }) == status_code::state);
  CHECK(sampler_status([&] { s.stop(); }) == status_code::state);
  s.start();
  CHECK(sampler_status([&] { s.start(); }) == status_code::state);
}

TEST_CASE("options arrive") {
  const hypomnesis::context c = machine("small.json");
  hypomnesis::sampler_options options;
  options.flags = hypomnesis::sampler_flag::peaks_only;
  sampler peaks = running(c, options);
  CHECK(sampler_status([&] { peaks.next(60s); }) == status_code::state);
  options.flags = {};
  options.capacity = 65537;
  CHECK(sampler_status([&] { c.sample(options); }) == status_code::range);
  options.capacity = 2;
  options.interval = 1ms;
  sampler small = running(c, options);
  while (small.info().taken_count < 5) std::this_thread::sleep_for(1ms);
  CHECK(small.info().pending == 2);
  hypomnesis::snapshot_options what;
  what.collect = hypomnesis::part::pools;
  sampler pools = c.sample({}, what);
  pools.start();
  CHECK(pools.next(60s)->info().collect == (hypomnesis::part::devices | hypomnesis::part::pools));
}

TEST_CASE("closing wakes one that waits, and outlives its context") {
  hypomnesis::context c = machine("small.json");
  hypomnesis::sampler_options options;
  options.interval = 1h;
  sampler s = running(c, options);
  c.close();
  CHECK(s.next(60s));
  status_code reported = status_code::ok;
  std::thread waiter([&] { reported = sampler_status([&] { s.next(60s); }); });
  std::this_thread::sleep_for(20ms);
  s.close();
  s.close();
  waiter.join();
  CHECK(reported == status_code::state);
  CHECK_THROWS_AS(s.info(), hypomnesis::closed);
}
