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

// Hooks of programs that make their own calls fail; calls of the fake are exempt.
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
  struct stat info {};
  return stat(path.c_str(), &info) == 0;
}

void hang(Driver& driver, const Rule& rule) {
  const auto released = driver.releases.load();
  ++driver.hanging;
  while (driver.releases.load() == released &&
         (rule.hang_until.empty() || !exists(rule.hang_until)))
    nap();
  --driver.hanging;
}

// Prints immediately, and again when the C library flushes its buffer.
void print_twice(const std::string& text) {
  [[maybe_unused]] const auto written_bytes = write(STDOUT_FILENO, text.data(), text.size());
  std::fputs(text.c_str(), stdout);
}

void hold(Driver& driver, const Rule& rule) {
  if (rule.holds_lock) ++driver.lock_holders;
  if (rule.delay_ms) std::this_thread::sleep_for(std::chrono::milliseconds(rule.delay_ms));
  if (rule.hang) hang(driver, rule);
  if (!rule.prints.empty()) print_twice(rule.prints);
  if (rule.end_program != nullptr) rule.end_program();
  if (rule.holds_lock) --driver.lock_holders;
}

bool applies_to(const Rule& rule, const Device* target) {
  if (!rule.device) return true;
  if (!target || target->index != *rule.device) return false;
  return !rule.slot || (target->parent && target->slot == *rule.slot);
}

bool fires(const Rule& rule) {
  if (rule.is_ended.load()) return false;
  const auto match = rule.match_count.fetch_add(1) + 1;
  return match >= rule.first_call && match - rule.first_call < rule.call_count_limit;
}

void write_log(int fd, Call function, unsigned device, Status result) {
  char line[128];
  const auto name = function_name(function);
  const int length = device < counted_devices
                         ? std::snprintf(line, sizeof line, "%.*s %u %d\n",
                                         static_cast<int>(name.size()), name.data(), device, result)
                         : std::snprintf(line, sizeof line, "%.*s - %d\n",
                                         static_cast<int>(name.size()), name.data(), result);
  [[maybe_unused]] const auto written_bytes = write(fd, line, static_cast<std::size_t>(length));
}

}  // namespace

DeviceHandle make_handle(const Driver& driver, const Device& target) {
  const auto generation = driver.generation.load() & part_mask;
  const auto bits = (mark << part_bits | generation) << part_bits | target.identity;
  return reinterpret_cast<DeviceHandle>(bits);
}

// A handle of an earlier session is refused: a client must not keep one across a new init.
const Device* find_device(const Driver& driver, const Scenario& scene, DeviceHandle handle,
                          Status& error) {
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  const auto identity = bits & part_mask;
  error = error_invalid_argument;
  if (bits >> 2 * part_bits != mark) return nullptr;
  if ((bits >> part_bits & part_mask) != (driver.generation.load() & part_mask)) return nullptr;
  error = error_gpu_is_lost;
  return identity < scene.devices_by_identity.size() ? scene.devices_by_identity[identity]
                                                     : nullptr;
}

Visit::Visit(Call function, Session session)
    : driver_(get_driver()), call_(function), session_(session) {
  if (fault_pause) fault_pause();
  current_lie = {};
  driver_.inside.fetch_add(1, std::memory_order_relaxed);
  driver_.calls[static_cast<unsigned>(function)].fetch_add(1, std::memory_order_relaxed);
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
  errno = ENOTTY;  // as the real library leaves the errno of its ioctls
}

bool Visit::refuse(Status error) {
  result_ = error;
  return false;
}

bool Visit::apply_rules(const Device* target) {
  auto calls_left = driver_.calls_to_failure.load(std::memory_order_relaxed);
  while (calls_left > 0 &&
         !driver_.calls_to_failure.compare_exchange_weak(calls_left, calls_left - 1)) {
  }
  if (calls_left == 1) return refuse(driver_.failure.load());
  for (const auto* rule : scene_->rules_by_function[static_cast<unsigned>(call_)]) {
    if (!applies_to(*rule, target) || !fires(*rule)) continue;
    hold(driver_, *rule);
    current_lie = {rule->lie, rule->match_count.load()};
    if (rule->lie == Lie::untouched) return refuse(success);
    if (rule->result) return *rule->result == success || refuse(*rule->result);
  }
  return true;
}

bool Visit::admit(const Device* target) {
  if (!scene_) return refuse(error_unknown);
  if (session_ == needed && driver_.sessions.load(std::memory_order_acquire) <= 0)
    return refuse(error_uninitialized);
  if (target && target->index < counted_devices) {
    device_ = target->index;
    driver_.device_calls[device_][static_cast<unsigned>(call_)].fetch_add(
        1, std::memory_order_relaxed);
  }
  if (!apply_rules(target)) return false;
  if (target)
    for (const auto& [function, code] : target->results)
      if (function == call_) return code == success || refuse(code);
  return true;
}

bool Visit::admit(DeviceHandle handle, const Device*& target) {
  Status error = error_invalid_argument;
  target = scene_ ? find_device(driver_, *scene_, handle, error) : nullptr;
  if (!admit(target)) return false;
  return target || refuse(error);
}

void distort(void* target, std::size_t size) {
  if (current_lie.lie == Lie::all_bits) std::memset(target, 0xFF, size);
  if (current_lie.lie == Lie::huge) std::memset(target, 0x77, size);
}

Status write_text(const std::string& text, char* buffer, unsigned length) {
  if (!buffer) return error_invalid_argument;
  if (length <= text.size()) return error_insufficient_size;
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  distort(buffer, length);
  return success;
}

}  // namespace fake_nvml
