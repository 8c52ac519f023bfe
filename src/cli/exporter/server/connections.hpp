// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "cli/expected.hpp"

namespace hmn::cli {

// Ends connections that take too long as a whole, however busy they look: a client that sends, or
// reads, a byte now and then never runs into a time limit on silence.
class Connections {
 public:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    int socket;
    Clock::time_point deadline;
    bool is_answering = false;  // one of its requests is being answered now
  };
  using Handle = std::list<Entry>::iterator;

  // A client may take this long to send a request, and to wait between two.
  static constexpr std::chrono::seconds request_timeout{75};
  // It may take this long to read an answer.
  static constexpr std::chrono::seconds answer_timeout{40};

  // As more are open, the one that is silent for longest ends for each new one: clients that only
  // hold connections, from however many addresses, leave some to others.
  static constexpr std::size_t max_open = 192;

  Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;
  ~Connections();

  Handle add(int socket);
  void begin_answer(Handle handle) { set_deadline(handle, answer_timeout, true); }
  void end_answer(Handle handle) { set_deadline(handle, request_timeout, false); }
  void remove(Handle handle);

 private:
  void set_deadline(Handle handle, std::chrono::seconds timeout, bool is_answering);
  void end_most_silent();
  void watch();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Entry> all_;
  bool is_stopped_ = false;
  std::thread watcher_;
};

// A listening socket, and the address that it has.
struct Listener {
  int socket = -1;
  std::string address;  // "127.0.0.1:10077", "[::1]:10077"
};

// `address` is numeric; "": every address, of IPv6 and IPv4. Port 0 is any free port. The caller
// closes the socket.
Expected<Listener> open_listener(const std::string& address, std::uint16_t port);

}  // namespace hmn::cli
