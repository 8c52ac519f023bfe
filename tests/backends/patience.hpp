// SPDX-License-Identifier: MIT OR Apache-2.0
//
// How a test waits on a machine that has much else to do: for what happens, not for a time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

// Later than whatever comes in between.
inline constexpr std::uint32_t patient_ms = 60'000;

// Whether it comes true, in its own time.
template <class F>
bool comes_true(F condition) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::milliseconds(patient_ms);
  while (!condition()) {
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

template <class F>
double milliseconds_of(F call) {
  const auto began = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
      .count();
}

// What waits for something else does so each time; what the machine holds up is so now and then.
template <class F>
double quickest_of(int tries, F call) {
  double least = milliseconds_of(call);
  for (int i = 1; i < tries; ++i) least = std::min(least, milliseconds_of(call));
  return least;
}
