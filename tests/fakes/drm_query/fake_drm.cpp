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

struct Opened {
  std::string name;
  Session state;
};

struct World {
  std::mutex lock;
  bool is_loaded = false;
  Scenario now;
  std::map<int, Opened> nodes;
  std::string log, shown;
};

// Never destroyed: programs close descriptors until the very end.
World& all() {
  static World* const only = new World;
  return *only;
}

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

void write_log(World& w, const char* what, const std::string& name) {
  const std::string line = std::string(what) + " " + name + "\n";
  w.log += line;
  const char* const path = getenv("FAKE_DRM_LOG");
  if (path == nullptr) return;
  using OpenCall = int (*)(const char*, int, ...);
  const int to = next<OpenCall>("open")(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (write(to, line.data(), line.size()) < 0) std::abort();
  next<int (*)(int)>("close")(to);
}

void load(World& w) {
  if (w.is_loaded) return;
  w.is_loaded = true;
  const char* const path = getenv("FAKE_DRM_SCENARIO");
  if (path == nullptr) return;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  w.now = parse(text.str());
}

// "renderD128" of ".../dri/renderD128"; empty: no node.
std::string node_name(const char* path) {
  const std::string whole = path == nullptr ? "" : path;
  for (const char* folder : {"/dri/", "/accel/"}) {
    const std::size_t at = whole.rfind(folder);
    if (at == std::string::npos) continue;
    const std::string name = whole.substr(at + std::string(folder).size());
    if (name.find('/') == std::string::npos) return name;
  }
  return {};
}

// An O_PATH descriptor reaches no driver.
int open_node(const char* path, int flags, int (*really)(const void*), const void* what) {
  const std::string name = (flags & O_PATH) != 0 ? std::string() : node_name(path);
  if (name.empty()) return really(what);
  World& w = all();
  const std::lock_guard<std::mutex> held(w.lock);
  load(w);
  const auto known = w.now.nodes.find(name);
  write_log(w, "open", name);
  if (known != w.now.nodes.end() && known->second.rule("open") != 0) {
    write_log(w, "close", name);
    errno = static_cast<int>(known->second.rule("open"));
    return -1;
  }
  const int to = really(what);
  if (to >= 0) w.nodes[to] = {name, {}};
  return to;
}

struct Call {
  const char* symbol;
  int at;
  const char* path;
  int flags;
  mode_t mode;
};

int open_at(const void* what) {
  const Call& c = *static_cast<const Call*>(what);
  return next<int (*)(int, const char*, int, ...)>(c.symbol)(c.at, c.path, c.flags, c.mode);
}

int open_here(const void* what) {
  const Call& c = *static_cast<const Call*>(what);
  return next<int (*)(const char*, int, ...)>(c.symbol)(c.path, c.flags, c.mode);
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
  World& w = all();
  {
    const std::lock_guard<std::mutex> held(w.lock);
    const auto at = w.nodes.find(number);
    if (at != w.nodes.end()) {
      write_log(w, "close", at->second.name);
      w.nodes.erase(at);
    }
  }
  return next<int (*)(int)>("close")(number);
}

SHOWN int ioctl(int number, unsigned long request, ...) noexcept {
  va_list more;
  va_start(more, request);
  void* const argument = va_arg(more, void*);
  va_end(more);
  World& w = all();
  std::unique_lock<std::mutex> held(w.lock);
  const auto at = w.nodes.find(number);
  if (at == w.nodes.end()) {
    held.unlock();
    return next<int (*)(int, unsigned long, ...)>("ioctl")(number, request, argument);
  }
  const auto known = w.now.nodes.find(at->second.name);
  const int error = known == w.now.nodes.end()
                        ? EINVAL
                        : answer(w.now, known->second, at->second.state, request, argument);
  write_log(w, at->second.state.is_data_pass ? "ask" : "measure", at->second.name);
  errno = error;
  return error == 0 ? 0 : -1;
}

SHOWN void fake_drm_load(const char* scenario) {
  World& w = all();
  const std::lock_guard<std::mutex> held(w.lock);
  w.is_loaded = true;
  w.now = parse(scenario);
  w.log.clear();
}

SHOWN const char* fake_drm_log(void) {
  World& w = all();
  const std::lock_guard<std::mutex> held(w.lock);
  w.shown = std::move(w.log);
  w.log.clear();
  return w.shown.c_str();
}

SHOWN int fake_drm_open_nodes(void) {
  World& w = all();
  const std::lock_guard<std::mutex> held(w.lock);
  return static_cast<int>(w.nodes.size());
}

}  // extern "C"
