// SPDX-License-Identifier: MIT OR Apache-2.0
#include "driver.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <sstream>

#include "../strict_json.hpp"

// The driver outlives its unloading on purpose (see the_driver), which a leak checker dislikes.
extern "C" __attribute__((weak)) void __lsan_disable();
extern "C" __attribute__((weak)) void __lsan_enable();

namespace fake_nvml {
namespace {

class LeaksAllowed {
 public:
  LeaksAllowed() {
    if (__lsan_disable) __lsan_disable();
  }
  ~LeaksAllowed() {
    if (__lsan_enable) __lsan_enable();
  }
};

bool is_json(const std::string& text) {
  return !text.empty() && text.front() == '{';
}

std::string source_of(const Driver& d) {
  if (!d.loaded.empty()) return d.loaded;
  const char* path = std::getenv("FAKE_NVML_SCENARIO");
  return path ? path : "";
}

FileStamp stamp_of(const std::string& path) {
  struct stat s {};
  if (is_json(path) || stat(path.c_str(), &s) != 0) return {};
  return {s.st_dev, s.st_ino, static_cast<unsigned long long>(s.st_size),
          static_cast<unsigned long long>(s.st_mtim.tv_sec),
          static_cast<unsigned long long>(s.st_mtim.tv_nsec)};
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) fakes::refuse(path, "cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::unique_ptr<Scenario> scene_from(const std::string& source) {
  if (source.empty()) return absent_driver();
  return parse_scenario(is_json(source) ? source : text_of(source));
}

std::string key_of(const Device& one) {
  if (one.uuid.result == success) return one.uuid.value;
  return std::to_string(one.index) + (one.parent ? "/" + std::to_string(one.slot) : "");
}

void identify(Driver& d, Scenario& scene, Device& one) {
  auto key = key_of(one);
  do {  // another card may claim the same uuid
    const auto next = static_cast<unsigned>(d.identities.size());
    one.identity = d.identities.try_emplace(key, next).first->second;
    if (scene.by_identity.size() <= one.identity) scene.by_identity.resize(one.identity + 1);
    key += "#";
  } while (scene.by_identity[one.identity]);
  scene.by_identity[one.identity] = &one;
  for (const auto& instance : one.instances) identify(d, scene, *instance);
}

bool replace(Driver& d, const std::string& source) {
  const LeaksAllowed scope;
  try {
    const auto stamp = stamp_of(source);
    auto scene = scene_from(source);
    for (const auto& one : scene->devices) identify(d, *scene, *one);
    const Scenario* before = d.scene.load();
    if (before && before->epoch != scene->epoch) end_sessions(d);
    if (!scene->log.empty()) set_log(d, scene->log.c_str());
    d.stamp = stamp;
    d.reader = getpid();
    d.scene.store(scene.get());
    d.scenes.push_back(std::move(scene));
    d.problem.clear();
    d.broken.store(false);
    return true;
  } catch (const std::exception& failure) {
    d.problem = failure.what();
    d.broken.store(true);
    std::fprintf(stderr, "fake nvml: %s\n", failure.what());
    return false;
  }
}

}  // namespace

Driver& the_driver() {
  alignas(Driver) static unsigned char storage[sizeof(Driver)];
  static Driver* const only = new (storage) Driver;
  return *only;
}

bool load(Driver& d, const std::string& path_or_json) {
  const std::scoped_lock lock(d.loading);
  const LeaksAllowed scope;
  if (!replace(d, path_or_json)) return false;
  d.loaded = path_or_json;
  return true;
}

bool refresh(Driver& d, bool always) {
  const std::scoped_lock lock(d.loading);
  const LeaksAllowed scope;
  const auto source = source_of(d);
  const bool same = stamp_of(source) == d.stamp && d.reader == getpid();
  if (!always && d.scene.load() && same) return true;
  return replace(d, source);
}

void set_log(Driver& d, const char* path) {
  const int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
  const int before = d.log.exchange(fd);
  if (before >= 0) close(before);
}

void end_sessions(Driver& d) {
  {
    const std::scoped_lock lock(d.events);
    d.sets.clear();
  }
  d.sessions.store(0);
  d.generation.fetch_add(1);
}

}  // namespace fake_nvml
