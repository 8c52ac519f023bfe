// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>

#include "driver.hpp"

// Of a program that makes its own calls fail, to which those of the fake do not belong.
extern "C" __attribute__((weak)) void fault_pause();
extern "C" __attribute__((weak)) void fault_resume();

namespace fake_nvml {
namespace {

using namespace std::chrono_literals;

// A handle is a mark, a generation and an identity.
constexpr unsigned part_bits = sizeof(std::uintptr_t) * 3;
constexpr std::uintptr_t part_mask = (std::uintptr_t{1} << part_bits) - 1;
constexpr std::uintptr_t mark = 0xFA;

void nap() {
  std::this_thread::sleep_for(1ms);
}

bool exists(const std::string& path) {
  struct stat s {};
  return stat(path.c_str(), &s) == 0;
}

void hang(Driver& d, const Rule& r) {
  const auto released = d.releases.load();
  ++d.hanging;
  while (d.releases.load() == released && (r.hang_until.empty() || !exists(r.hang_until))) nap();
  --d.hanging;
}

// Once at once, and once when the C library writes what it keeps.
void print(const std::string& text) {
  [[maybe_unused]] const auto written = write(STDOUT_FILENO, text.data(), text.size());
  std::fputs(text.c_str(), stdout);
}

void hold(Driver& d, const Rule& r) {
  if (r.holds_lock) ++d.lock_holders;
  if (r.delay_ms) std::this_thread::sleep_for(std::chrono::milliseconds(r.delay_ms));
  if (r.hang) hang(d, r);
  if (!r.prints.empty()) print(r.prints);
  if (r.ends != nullptr) r.ends();
  if (r.holds_lock) --d.lock_holders;
}

bool concerns(const Rule& r, const Device* target) {
  if (!r.device) return true;
  if (!target || target->index != *r.device) return false;
  return !r.slot || (target->parent && target->slot == *r.slot);
}

bool fires(const Rule& r) {
  if (r.ended.load()) return false;
  const auto n = r.matched.fetch_add(1) + 1;
  return n >= r.from && n - r.from < r.times;
}

void write_log(int fd, Call which, unsigned device, Status result) {
  char line[128];
  const auto name = name_of(which);
  const int length = device < counted_devices
                         ? std::snprintf(line, sizeof line, "%.*s %u %d\n",
                                         static_cast<int>(name.size()), name.data(), device, result)
                         : std::snprintf(line, sizeof line, "%.*s - %d\n",
                                         static_cast<int>(name.size()), name.data(), result);
  [[maybe_unused]] const auto written = write(fd, line, static_cast<std::size_t>(length));
}

}  // namespace

DeviceHandle handle_of(const Driver& d, const Device& target) {
  const auto generation = d.generation.load() & part_mask;
  const auto bits = (mark << part_bits | generation) << part_bits | target.identity;
  return reinterpret_cast<DeviceHandle>(bits);
}

// A handle of an earlier session is refused: a client that keeps one over a new init is wrong.
const Device* device_of(const Driver& d, const Scenario& scene, DeviceHandle handle, Status& why) {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  const auto identity = bits & part_mask;
  why = error_invalid_argument;
  if (bits >> 2 * part_bits != mark) return nullptr;
  if ((bits >> part_bits & part_mask) != (d.generation.load() & part_mask)) return nullptr;
  why = error_gpu_is_lost;
  return identity < scene.by_identity.size() ? scene.by_identity[identity] : nullptr;
}

Visit::Visit(Call which, Session s) : driver_(the_driver()), call_(which), session_(s) {
  if (fault_pause) fault_pause();
  present_lie = {};
  driver_.inside.fetch_add(1, std::memory_order_relaxed);
  driver_.calls[static_cast<unsigned>(which)].fetch_add(1, std::memory_order_relaxed);
  while (driver_.lock_holders.load(std::memory_order_relaxed) > 0) nap();
  scene_ = driver_.scene.load(std::memory_order_acquire);
  if (!scene_ || scene_->reread_each_call) {
    refresh(driver_, false);
    scene_ = driver_.scene.load(std::memory_order_acquire);
  }
}

Visit::~Visit() {
  if (const int fd = driver_.log.load(std::memory_order_relaxed); fd >= 0)
    write_log(fd, call_, device_, result_);
  driver_.inside.fetch_sub(1, std::memory_order_relaxed);
  if (fault_resume) fault_resume();
  errno = ENOTTY;  // as the real library leaves what its ioctls left
}

bool Visit::refuse(Status why) {
  result_ = why;
  return false;
}

bool Visit::obeys_rules(const Device* target) {
  auto left = driver_.calls_to_failure.load(std::memory_order_relaxed);
  while (left > 0 && !driver_.calls_to_failure.compare_exchange_weak(left, left - 1)) {
  }
  if (left == 1) return refuse(driver_.failure.load());
  for (const auto* r : scene_->rules_of[static_cast<unsigned>(call_)]) {
    if (!concerns(*r, target) || !fires(*r)) continue;
    hold(driver_, *r);
    present_lie = {r->lie, r->matched.load()};
    if (r->lie == Lie::untouched) return refuse(success);
    if (r->result) return *r->result == success || refuse(*r->result);
  }
  return true;
}

bool Visit::admitted(const Device* target) {
  if (!scene_) return refuse(error_unknown);
  if (session_ == needed && driver_.sessions.load(std::memory_order_acquire) <= 0)
    return refuse(error_uninitialized);
  if (target && target->index < counted_devices) {
    device_ = target->index;
    driver_.device_calls[device_][static_cast<unsigned>(call_)].fetch_add(
        1, std::memory_order_relaxed);
  }
  if (!obeys_rules(target)) return false;
  if (target)
    for (const auto& [which, code] : target->results)
      if (which == call_) return code == success || refuse(code);
  return true;
}

bool Visit::admitted(DeviceHandle handle, const Device*& target) {
  Status why = error_invalid_argument;
  target = scene_ ? device_of(driver_, *scene_, handle, why) : nullptr;
  if (!admitted(target)) return false;
  return target || refuse(why);
}

void distort(void* to, std::size_t size) {
  if (present_lie.how == Lie::all_bits) std::memset(to, 0xFF, size);
  if (present_lie.how == Lie::huge) std::memset(to, 0x77, size);
}

Status write_text(const std::string& text, char* to, unsigned length) {
  if (!to) return error_invalid_argument;
  if (length <= text.size()) return error_insufficient_size;
  std::memcpy(to, text.c_str(), text.size() + 1);
  distort(to, length);
  return success;
}

}  // namespace fake_nvml
