// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <ranges>
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

sampler start_sampler(const hypomnesis::context& context,
                      const hypomnesis::sampler_options& options = {}) {
  sampler s = context.sample(options);
  s.start();
  return s;
}

}  // namespace

TEST_CASE("a sampler returns snapshots, latest values and peaks") {
  const hypomnesis::context context = open_machine("small.json");
  sampler s = start_sampler(context);
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
  CHECK(catch_status([&] { s.latest_pool(7); }) == status_code::no_device);
  CHECK(catch_status([&] { s.peak(0, 1); }) == status_code::no_process);
}

TEST_CASE("a sampler that was not started has no values, and calls in the wrong state fail") {
  const hypomnesis::context context = open_machine("small.json");
  sampler s = context.sample();
  CHECK(s.info().state == sampler_state::idle);
  CHECK_FALSE(s.info().last_status);
  CHECK_FALSE(s.latest_pool(0));
  CHECK_FALSE(s.latest_telemetry(0));
  CHECK(catch_status([&] { (void)s.next(60s); }) == status_code::state);
  CHECK(catch_status([&] { s.stop(); }) == status_code::state);
  s.start();
  CHECK(catch_status([&] { s.start(); }) == status_code::state);
}

TEST_CASE("sampler options are applied") {
  const hypomnesis::context context = open_machine("small.json");
  hypomnesis::sampler_options options;
  options.flags = hypomnesis::sampler_flag::peaks_only;
  sampler peaks = start_sampler(context, options);
  CHECK(catch_status([&] { (void)peaks.next(60s); }) == status_code::state);
  options.flags = {};
  options.capacity = 65537;
  CHECK(catch_status([&] { (void)context.sample(options); }) == status_code::range);
  options.capacity = 2;
  options.interval = 1ms;
  sampler small = start_sampler(context, options);
  while (small.info().taken_count < 5) std::this_thread::sleep_for(1ms);
  CHECK(small.info().pending == 2);
  hypomnesis::snapshot_options snapshot_options;
  snapshot_options.collect = hypomnesis::part::pools;
  sampler pools = context.sample({}, snapshot_options);
  pools.start();
  CHECK(pools.next(60s)->info().collect == (hypomnesis::part::devices | hypomnesis::part::pools));
}

TEST_CASE("close wakes a waiting thread after the context is gone") {
  hypomnesis::context context = open_machine("small.json");
  hypomnesis::sampler_options options;
  options.interval = 1h;
  sampler s = start_sampler(context, options);
  context.close();
  CHECK(s.next(60s));
  bool is_empty = false;
  std::thread waiter([&] { is_empty = !s.next(60s); });
  std::this_thread::sleep_for(20ms);
  s.close();
  s.close();
  waiter.join();
  CHECK(is_empty);
  CHECK_THROWS_AS(s.info(), hypomnesis::closed);
}

TEST_CASE("a range ends with the sampler") {
  const hypomnesis::context context = open_machine("small.json");
  hypomnesis::sampler_options options;
  options.interval = 5ms;
  sampler s = start_sampler(context, options);
  int count = 0;
  for (const hypomnesis::snapshot& snapshot : s) {
    CHECK(snapshot.info().device_count == 1);
    if (++count == 3) s.stop();
  }
  CHECK(count >= 3);
  CHECK(s.has_ended());
  CHECK_FALSE(s.next(60s));
}

TEST_CASE("a timeout is not the end") {
  const hypomnesis::context context = open_machine("small.json");
  hypomnesis::sampler_options options;
  options.interval = 1h;
  sampler s = start_sampler(context, options);
  CHECK(s.next(60s));
  CHECK_FALSE(s.next(20ms));
  CHECK_FALSE(s.has_ended());
}

#if defined(__cpp_lib_jthread)
static_assert(std::ranges::input_range<sampler>);

TEST_CASE("a stop token ends the wait of its caller alone") {
  const hypomnesis::context context = open_machine("small.json");
  hypomnesis::sampler_options options;
  options.interval = 1h;
  sampler s = start_sampler(context, options);
  std::stop_source source;
  CHECK(s.next(source.get_token()));
  CHECK_FALSE(s.next(source.get_token(), 20ms));
  std::atomic<bool> is_done{false};
  std::thread other([&] {
    CHECK_FALSE(s.next(60s));
    is_done = true;
  });
  std::thread waiter([&] { CHECK_FALSE(s.next(source.get_token())); });
  std::this_thread::sleep_for(20ms);
  source.request_stop();
  waiter.join();
  CHECK_FALSE(is_done);
  CHECK_FALSE(s.has_ended());
  s.stop();
  other.join();
  CHECK_FALSE(s.next(std::stop_token()));
  CHECK(s.has_ended());
}

TEST_CASE("a wait with a stop token reports that the context was cancelled") {
  const hypomnesis::context context = open_machine("small.json");
  hypomnesis::sampler_options options;
  options.interval = 1h;
  sampler s = start_sampler(context, options);
  const std::stop_source source;
  CHECK(s.next(source.get_token()));
  context.cancel();
  CHECK(catch_status([&] { (void)s.next(source.get_token()); }) == status_code::cancelled);
}
#endif
