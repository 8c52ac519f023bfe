// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/machine_file.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "model/error_number.hpp"
#include "platform/clock.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"

namespace hmn::simulated {
namespace {

failure unreadable(int error, const std::string& path) {
  failure why;
  why.from = source::simulated;
  why.native = {native_domain::error_number, error};
  if (error == ENOENT || error == ENOTDIR) {
    why.code = status::no_source;
    why.message = "there is no machine file: " + path;
  } else if (is_refused(error)) {
    why.code = status::permission;
    why.message = "this user may not read the machine file: " + path;
  } else {
    why.code = status::backend;
    why.message = "the machine file cannot be read: " + path;
  }
  return why;
}

failure malformed(const problem& p, const std::string& path) {
  const std::string where = p.pointer.empty() ? "" : p.pointer + ": ";
  return {
      status::argument, source::simulated, {}, where + p.sentence + " (machine file " + path + ")"};
}

}  // namespace

machine_file::machine_file(std::string path, result<script> content)
    : path_(std::move(path)),
      loaded_(std::move(content)),
      loaded_at_ns_(platform::monotonic_ns()) {}

result<script> machine_file::load() {
  std::string text;
  const platform::errno_or<bool> read = platform::read_whole(path_.c_str(), text, most_file_bytes);
  if (!read) return unreadable(read.error, path_);
  if (read.value) return malformed({"", "it is larger than 16 MiB"}, path_);
  auto parsed = read_script(text, platform::current_pid());
  if (const auto* p = std::get_if<problem>(&parsed)) return malformed(*p, path_);
  return std::move(*std::get_if<script>(&parsed));
}

result<void> machine_file::open() {
  if (!loaded_) {
    loaded_.emplace(load());
    loaded_at_ns_ = platform::monotonic_ns();
  }
  if (!*loaded_) return loaded_->why();
  return {};
}

view machine_file::at(std::uint64_t reading) const noexcept {
  const std::uint64_t elapsed = platform::monotonic_ns() - loaded_at_ns_;
  const script& s = **loaded_;
  return {&s.at(reading, elapsed / platform::ns_per_ms), reading};
}

result<view> machine_file::next(counter of) {
  const std::lock_guard guard(lock_);
  if (result<void> opened = open(); !opened) return opened.why();
  return at(++readings_[static_cast<std::size_t>(of)]);
}

result<view> machine_file::next_of_process(std::uint32_t pid) {
  const std::lock_guard guard(lock_);
  if (result<void> opened = open(); !opened) return opened.why();
  return at((*loaded_)->knows(pid) ? ++process_readings_[pid] : 1);
}

recorded_machine machine_file::recorded() {
  const std::lock_guard guard(lock_);
  if (result<void> opened = open(); !opened) return {};
  return (*loaded_)->recorded();
}

bool machine_file::has_devices() {
  const std::lock_guard guard(lock_);
  return open() && !(*loaded_)->beginning().devices.empty();
}

result<view> machine_file::latest() {
  const std::lock_guard guard(lock_);
  if (result<void> opened = open(); !opened) return opened.why();
  const std::uint64_t readings = readings_[static_cast<std::size_t>(counter::devices)];
  return at(std::max<std::uint64_t>(readings, 1));
}

}  // namespace hmn::simulated
