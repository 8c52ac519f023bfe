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

// The descriptor belongs to the connection until remove() has returned.
void shut_down(Connections::Entry& entry) {
  shutdown(entry.socket, SHUT_RDWR);
  entry.deadline = Connections::Clock::time_point::max();
}

constexpr int backlog = 64;

std::string format_address(const std::string& address, const std::string& port) {
  return (address.find(':') == std::string::npos ? address : "[" + address + "]") + ":" + port;
}

std::string read_own_address(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  char host[NI_MAXHOST];
  char service[NI_MAXSERV];
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&address), length, host, sizeof host, service,
                  sizeof service, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return {};
  return format_address(host, service);
}

// Returns the socket, or -1 with errno.
int open_socket(const addrinfo& address) {
  const int descriptor =
      socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  const int enabled = 1;
  const int disabled = 0;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &enabled, sizeof enabled);
  if (address.ai_family == AF_INET6)
    setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &disabled, sizeof disabled);
  if (bind(descriptor, address.ai_addr, address.ai_addrlen) == 0 &&
      listen(descriptor, backlog) == 0)
    return descriptor;
  const int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

}  // namespace

Connections::Connections() : watcher_([this] { watch(); }) {}

Connections::~Connections() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    changed_.notify_one();
  }
  watcher_.join();
}

Connections::Handle Connections::add(int socket) {
  const std::lock_guard lock(mutex_);
  changed_.notify_one();
  if (all_.size() >= max_open) end_most_silent();
  return all_.insert(all_.end(), {socket, Clock::now() + request_timeout});
}

void Connections::set_deadline(Handle handle, std::chrono::seconds timeout, bool is_answering) {
  const std::lock_guard lock(mutex_);
  handle->deadline = Clock::now() + timeout;
  handle->is_answering = is_answering;
}

void Connections::end_most_silent() {
  const auto silent = std::min_element(all_.begin(), all_.end(), [](const auto& a, const auto& b) {
    return std::tie(a.is_answering, a.deadline) < std::tie(b.is_answering, b.deadline);
  });
  if (!silent->is_answering) shut_down(*silent);
}

void Connections::remove(Handle handle) {
  const std::lock_guard lock(mutex_);
  all_.erase(handle);
}

void Connections::watch() {
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    if (all_.empty()) {
      changed_.wait(lock);
      continue;
    }
    // Looks at them in turn: a deadline is met within that time.
    constexpr std::chrono::seconds interval{5};
    changed_.wait_for(lock, interval, [this] { return is_stopped_; });
    const auto now = Clock::now();
    for (auto& entry : all_)
      if (entry.deadline <= now) shut_down(entry);
  }
}

Expected<Listener> open_listener(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
  const auto service = std::to_string(port);
  const std::string prefix = "--listen \"" + format_address(address, service) + "\": ";
  int error = EADDRNOTAVAIL;
  // A kernel without IPv6 has every address of IPv4.
  for (const char* host : {address.empty() ? "::" : address.c_str(), "0.0.0.0"}) {
    addrinfo* list = nullptr;
    const int status = getaddrinfo(host, service.c_str(), &hints, &list);
    if (status != 0) return make_failure(prefix + gai_strerror(status));
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list_owner(list, &freeaddrinfo);
    const int descriptor = open_socket(*list);
    if (descriptor >= 0) return Listener{descriptor, read_own_address(descriptor)};
    error = errno;
    if (!address.empty() || error != EAFNOSUPPORT) break;
  }
  return make_failure(prefix + std::strerror(error));
}

}  // namespace hmn::cli
