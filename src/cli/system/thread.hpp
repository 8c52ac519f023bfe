// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <system_error>
#include <thread>
#include <utility>

namespace hmn::cli {

// Starts a thread. Throws std::system_error, which says what could not be done.
template <class Function>
std::thread start_thread(Function run) {
  try {
    return std::thread(std::move(run));
  } catch (const std::system_error& why) {
    throw std::system_error(why.code(), "no thread could be started");
  }
}

}  // namespace hmn::cli
