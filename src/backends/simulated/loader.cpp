// SPDX-License-Identifier: MIT OR Apache-2.0
#include <array>
#include <atomic>
#include <cstring>

#include "backends/simulated/module.hpp"
#include "model/compose.hpp"
#include "platform/file.hpp"
#include "platform/library.hpp"
#include "platform/process.hpp"

namespace hmn::simulated {
namespace {

constinit std::atomic<sources_maker> found{nullptr};

// Required path of the module: below the folder of this library's own file.
class module_path {
 public:
  module_path() noexcept {
    const std::size_t length = platform::own_folder(buffer_).size();
    if (length == 0) return;
    const auto rest = std::span(buffer_).subspan(length, buffer_.size() - length - 1);
    rest[compose_in(rest, {"/" HMN_MODULE_FILE}).size()] = '\0';
  }
  [[nodiscard]] const char* c_str() const noexcept { return buffer_.data(); }
  [[nodiscard]] bool is_there() const noexcept {
    return buffer_[0] != '\0' && platform::exists(buffer_.data());
  }

 private:
  std::array<char, platform::longest_path + sizeof HMN_MODULE_FILE + 2> buffer_{};
};

failure refused(std::initializer_list<piece> why) {
  return {status::unsupported, source::simulated, {}, compose(why)};
}

bool is_alike(const char* a, const char* b) noexcept {
  return std::strcmp(a, b) == 0;
}

// The path comes last, where a long message is truncated.
result<sources_maker> check(const module_table& is, const char* path) {
  if (is.interface != module_interface) {
    return refused(
        {"a module with interface ", is.interface, ", expected ", module_interface, ": ", path});
  }
  if (!is_alike(is.version, HMN_MODULE_VERSION)) {
    return refused(
        {"a module of version ", is.version, ", expected " HMN_MODULE_VERSION ": ", path});
  }
  if (is.layout != module_layout() || !is_alike(is.headers, module_headers) ||
      !is_alike(is.compiler, __VERSION__)) {
    return refused({"a module of build ", is.headers, " (", is.compiler, "), expected ",
                    module_headers, " (" __VERSION__ "): ", path});
  }
  return is.make;
}

}  // namespace

bool has_code() noexcept {
  if (found.load(std::memory_order_acquire) != nullptr) return true;
  return !platform::is_privileged_start() && module_path().is_there();
}

result<sources_maker> find_code() {
  if (const sources_maker known = found.load(std::memory_order_acquire)) return known;
  if (platform::is_privileged_start())
    return refused({"a set-user-id program loads no code for simulation and recording"});
  const module_path path;
  if (!path.is_there()) {
    return refused({"the file that simulation and recording need is missing: ", path.c_str()});
  }
  platform::library::open_result opened = platform::library::open(path.c_str());
  if (opened.lacked_memory) return failure{status::no_memory, source::simulated, {}, "no memory"};
  if (!opened) return refused({"simulation and recording cannot be loaded: ", opened.error_text});
  using entry = const module_table* (*)();
  void* const address = opened.value.symbol(module_entry);
  if (address == nullptr) {
    return refused({"no module of this library, it lacks ", module_entry, ": ", path.c_str()});
  }
  result<sources_maker> checked = check(*reinterpret_cast<entry>(address)(), path.c_str());
  if (!checked) return checked;
  opened.value.leave_open();
  found.store(*checked, std::memory_order_release);
  return checked;
}

}  // namespace hmn::simulated
