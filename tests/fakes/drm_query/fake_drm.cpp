// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fake_drm.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>

#include "kernel.hpp"

namespace fake_drm {
namespace {

struct OpenNode {
  std::string name;
  Session state;
};

struct World {
  std::mutex lock;
  bool is_loaded = false;
  Scenario scenario;
  std::map<int, OpenNode> nodes;
  std::string log, last_log;
};

// Never destroyed: programs close descriptors until the very end.
World& get_world() {
  static World* const instance = new World;
  return *instance;
}

template <class F>
F find_next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

void write_log(World& world, const char* action, const std::string& name) {
  const std::string line = std::string(action) + " " + name + "\n";
  world.log += line;
  const char* const path = getenv("FAKE_DRM_LOG");
  if (path == nullptr) return;
  using OpenCall = int (*)(const char*, int, ...);
  const int fd = find_next<OpenCall>("open")(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (write(fd, line.data(), line.size()) < 0) std::abort();
  find_next<int (*)(int)>("close")(fd);
}

void load(World& world) {
  if (world.is_loaded) return;
  world.is_loaded = true;
  const char* const path = getenv("FAKE_DRM_SCENARIO");
  if (path == nullptr) return;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  world.scenario = parse(text.str());
}

// "renderD128" of ".../dri/renderD128"; empty: no node.
std::string node_name(const char* path) {
  const std::string text = path == nullptr ? "" : path;
  for (const char* folder : {"/dri/", "/accel/"}) {
    const std::size_t position = text.rfind(folder);
    if (position == std::string::npos) continue;
    const std::string name = text.substr(position + std::string(folder).size());
    if (name.find('/') == std::string::npos) return name;
  }
  return {};
}

// An O_PATH descriptor reaches no driver.
int open_node(const char* path, int flags, int (*open_real)(const void*), const void* call_data) {
  const std::string name = (flags & O_PATH) != 0 ? std::string() : node_name(path);
  if (name.empty()) return open_real(call_data);
  World& world = get_world();
  const std::lock_guard<std::mutex> lock(world.lock);
  load(world);
  const auto node = world.scenario.nodes.find(name);
  write_log(world, "open", name);
  if (node != world.scenario.nodes.end() && node->second.rule("open") != 0) {
    write_log(world, "close", name);
    errno = static_cast<int>(node->second.rule("open"));
    return -1;
  }
  const int fd = open_real(call_data);
  if (fd >= 0) world.nodes[fd] = {name, {}};
  return fd;
}

struct Call {
  const char* symbol;
  int folder_fd;
  const char* path;
  int flags;
  mode_t mode;
};

int open_at(const void* call_data) {
  const Call& request = *static_cast<const Call*>(call_data);
  return find_next<int (*)(int, const char*, int, ...)>(request.symbol)(
      request.folder_fd, request.path, request.flags, request.mode);
}

int open_here(const void* call_data) {
  const Call& request = *static_cast<const Call*>(call_data);
  return find_next<int (*)(const char*, int, ...)>(request.symbol)(request.path, request.flags,
                                                                   request.mode);
}

mode_t mode_of(int flags, va_list more) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
}

}  // namespace
}  // namespace fake_drm

using namespace fake_drm;

extern "C" {

#define SHOWN __attribute__((visibility("default")))

#define OPEN(name)                                             \
  SHOWN int name(const char* path, int flags, ...) {           \
    va_list more;                                              \
    va_start(more, flags);                                     \
    const Call c{#name, 0, path, flags, mode_of(flags, more)}; \
    va_end(more);                                              \
    return open_node(path, flags, open_here, &c);              \
  }
#define OPEN_AT(name)                                           \
  SHOWN int name(int at, const char* path, int flags, ...) {    \
    va_list more;                                               \
    va_start(more, flags);                                      \
    const Call c{#name, at, path, flags, mode_of(flags, more)}; \
    va_end(more);                                               \
    return open_node(path, flags, open_at, &c);                 \
  }

#undef open64
#undef openat64
OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)

// As fortified programs call them.
SHOWN int __open_2(const char* path, int flags) {
  return open(path, flags);
}
SHOWN int __openat_2(int at, const char* path, int flags) {
  return openat(at, path, flags);
}

SHOWN int close(int number) {
  World& world = get_world();
  {
    const std::lock_guard<std::mutex> lock(world.lock);
    const auto open_node_it = world.nodes.find(number);
    if (open_node_it != world.nodes.end()) {
      write_log(world, "close", open_node_it->second.name);
      world.nodes.erase(open_node_it);
    }
  }
  return find_next<int (*)(int)>("close")(number);
}

SHOWN int ioctl(int number, unsigned long request, ...) noexcept {
  va_list more;
  va_start(more, request);
  void* const argument = va_arg(more, void*);
  va_end(more);
  World& world = get_world();
  std::unique_lock<std::mutex> lock(world.lock);
  const auto open_node_it = world.nodes.find(number);
  if (open_node_it == world.nodes.end()) {
    lock.unlock();
    return find_next<int (*)(int, unsigned long, ...)>("ioctl")(number, request, argument);
  }
  const auto node = world.scenario.nodes.find(open_node_it->second.name);
  const int error =
      node == world.scenario.nodes.end()
          ? EINVAL
          : answer(world.scenario, node->second, open_node_it->second.state, request, argument);
  write_log(world, open_node_it->second.state.is_data_pass ? "ask" : "measure",
            open_node_it->second.name);
  errno = error;
  return error == 0 ? 0 : -1;
}

SHOWN void fake_drm_load(const char* scenario) {
  World& world = get_world();
  const std::lock_guard<std::mutex> lock(world.lock);
  world.is_loaded = true;
  world.scenario = parse(scenario);
  world.log.clear();
}

SHOWN const char* fake_drm_log(void) {
  World& world = get_world();
  const std::lock_guard<std::mutex> lock(world.lock);
  world.last_log = std::move(world.log);
  world.log.clear();
  return world.last_log.c_str();
}

SHOWN int fake_drm_open_nodes(void) {
  World& world = get_world();
  const std::lock_guard<std::mutex> lock(world.lock);
  return static_cast<int>(world.nodes.size());
}

}  // extern "C"
