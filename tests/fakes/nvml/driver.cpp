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

// The driver outlives its unloading on purpose (see get_driver), which leak checkers report.
extern "C" __attribute__((weak)) void __lsan_disable();
extern "C" __attribute__((weak)) void __lsan_enable();

namespace fake_nvml {
namespace {

class LeakExemption {
 public:
  LeakExemption() {
    if (__lsan_disable) __lsan_disable();
  }
  ~LeakExemption() {
    if (__lsan_enable) __lsan_enable();
  }
};

bool is_json(const std::string& text) {
  return !text.empty() && text.front() == '{';
}

std::string scenario_source(const Driver& driver) {
  if (!driver.loaded.empty()) return driver.loaded;
  const char* path = std::getenv("FAKE_NVML_SCENARIO");
  return path ? path : "";
}

FileStamp read_stamp(const std::string& path) {
  struct stat info {};
  if (is_json(path) || stat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino, static_cast<unsigned long long>(info.st_size),
          static_cast<unsigned long long>(info.st_mtim.tv_sec),
          static_cast<unsigned long long>(info.st_mtim.tv_nsec)};
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) fakes::refuse(path, "cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::unique_ptr<Scenario> load_scenario(const std::string& source) {
  if (source.empty()) return absent_driver();
  return parse_scenario(is_json(source) ? source : read_file(source));
}

std::string identity_key(const Device& device) {
  if (device.uuid.result == success) return device.uuid.value;
  return std::to_string(device.index) + (device.parent ? "/" + std::to_string(device.slot) : "");
}

void identify(Driver& driver, Scenario& scene, Device& device) {
  auto key = identity_key(device);
  do {  // another card may claim the same uuid
    const auto next = static_cast<unsigned>(driver.identities.size());
    device.identity = driver.identities.try_emplace(key, next).first->second;
    if (scene.devices_by_identity.size() <= device.identity)
      scene.devices_by_identity.resize(device.identity + 1);
    key += "#";
  } while (scene.devices_by_identity[device.identity]);
  scene.devices_by_identity[device.identity] = &device;
  for (const auto& instance : device.instances) identify(driver, scene, *instance);
}

bool replace(Driver& driver, const std::string& source) {
  const LeakExemption scope;
  try {
    const auto stamp = read_stamp(source);
    auto scene = load_scenario(source);
    for (const auto& device : scene->devices) identify(driver, *scene, *device);
    const Scenario* before = driver.scene.load();
    if (before && before->epoch != scene->epoch) end_sessions(driver);
    if (!scene->log.empty()) set_log(driver, scene->log.c_str());
    driver.stamp = stamp;
    driver.reader = getpid();
    driver.scene.store(scene.get());
    driver.scenes.push_back(std::move(scene));
    driver.problem.clear();
    driver.broken.store(false);
    return true;
  } catch (const std::exception& failure) {
    driver.problem = failure.what();
    driver.broken.store(true);
    std::fprintf(stderr, "fake nvml: %s\n", failure.what());
    return false;
  }
}

}  // namespace

Driver& get_driver() {
  alignas(Driver) static unsigned char storage[sizeof(Driver)];
  static Driver* const instance = new (storage) Driver;
  return *instance;
}

bool load(Driver& driver, const std::string& path_or_json) {
  const std::scoped_lock lock(driver.loading);
  const LeakExemption scope;
  if (!replace(driver, path_or_json)) return false;
  driver.loaded = path_or_json;
  return true;
}

bool refresh(Driver& driver, bool always) {
  const std::scoped_lock lock(driver.loading);
  const LeakExemption scope;
  const auto source = scenario_source(driver);
  const bool is_unchanged = read_stamp(source) == driver.stamp && driver.reader == getpid();
  if (!always && driver.scene.load() && is_unchanged) return true;
  return replace(driver, source);
}

void set_log(Driver& driver, const char* path) {
  const int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
  const int before = driver.log.exchange(fd);
  if (before >= 0) close(before);
}

void end_sessions(Driver& driver) {
  {
    const std::scoped_lock lock(driver.events);
    driver.sets.clear();
  }
  driver.sessions.store(0);
  driver.generation.fetch_add(1);
}

}  // namespace fake_nvml
