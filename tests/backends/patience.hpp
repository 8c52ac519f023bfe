// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Waiting on a busy machine: tests wait for an event, never for a fixed time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

// Longer than any delay on a busy machine.
inline constexpr std::uint32_t patient_ms = 60'000;

// Returns whether the condition becomes true before the deadline.
template <class F>
bool becomes_true(F condition) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(patient_ms);
  while (!condition()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

template <class F>
double measure_ms(F call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// A call that waits does so every time; a delay of the machine occurs only now and then.
template <class F>
double measure_fastest_ms(int tries, F call) {
  double fastest = measure_ms(call);
  for (int i = 1; i < tries; ++i) fastest = std::min(fastest, measure_ms(call));
  return fastest;
}
