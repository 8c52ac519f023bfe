// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/server/connections.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <tuple>

namespace hmn::cli {
namespace {

// The descriptor stays that connection's until closed() has returned.
void end(Connections::Entry& which) {
  shutdown(which.socket, SHUT_RDWR);
  which.deadline = Connections::Clock::time_point::max();
}

constexpr int backlog = 64;

std::string shown(const std::string& address, const std::string& port) {
  return (address.find(':') == std::string::npos ? address : "[" + address + "]") + ":" + port;
}

std::string own_address(int socket) {
  sockaddr_storage at{};
  socklen_t length = sizeof at;
  char host[NI_MAXHOST];
  char service[NI_MAXSERV];
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&at), &length) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&at), length, host, sizeof host, service,
                  sizeof service, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return {};
  return shown(host, service);
}

// Returns the socket, or -1 with errno.
int open_at(const addrinfo& at) {
  const int made = socket(at.ai_family, at.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return -1;
  const int on = 1;
  const int off = 0;
  setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (at.ai_family == AF_INET6) setsockopt(made, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (bind(made, at.ai_addr, at.ai_addrlen) == 0 && listen(made, backlog) == 0) return made;
  const int error = errno;
  close(made);
  errno = error;
  return -1;
}

}  // namespace

Connections::Connections() : watch_([this] { watch(); }) {}

Connections::~Connections() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_one();
  }
  watch_.join();
}

Connections::Handle Connections::opened(int socket) {
  const std::lock_guard lock(mutex_);
  changed_.notify_one();
  if (all_.size() >= most_open) end_most_silent();
  return all_.insert(all_.end(), {socket, Clock::now() + longest_request});
}

void Connections::set(Handle which, std::chrono::seconds longest, bool is_answered) {
  const std::lock_guard lock(mutex_);
  which->deadline = Clock::now() + longest;
  which->is_answered = is_answered;
}

void Connections::end_most_silent() {
  const auto silent = std::min_element(all_.begin(), all_.end(), [](const auto& a, const auto& b) {
    return std::tie(a.is_answered, a.deadline) < std::tie(b.is_answered, b.deadline);
  });
  if (!silent->is_answered) end(*silent);
}

void Connections::closed(Handle which) {
  const std::lock_guard lock(mutex_);
  all_.erase(which);
}

void Connections::watch() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (all_.empty()) {
      changed_.wait(lock);
      continue;
    }
    // Looks at them in turn: a deadline is met within that time.
    constexpr std::chrono::seconds turn{5};
    changed_.wait_for(lock, turn, [this] { return stopped_; });
    const auto now = Clock::now();
    for (auto& each : all_)
      if (each.deadline <= now) end(each);
  }
}

Expected<Listener> listen_at(const std::string& address, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
  const auto service = std::to_string(port);
  const std::string asked = "--listen \"" + shown(address, service) + "\": ";
  int error = EADDRNOTAVAIL;
  // A kernel without IPv6 has every address of IPv4.
  for (const char* each : {address.empty() ? "::" : address.c_str(), "0.0.0.0"}) {
    addrinfo* list = nullptr;
    const int status = getaddrinfo(each, service.c_str(), &wanted, &list);
    if (status != 0) return failed(asked + gai_strerror(status));
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> held(list, &freeaddrinfo);
    const int made = open_at(*list);
    if (made >= 0) return Listener{made, own_address(made)};
    error = errno;
    if (!address.empty() || error != EAFNOSUPPORT) break;
  }
  return failed(asked + std::strerror(error));
}

}  // namespace hmn::cli
