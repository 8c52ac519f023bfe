// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/session.hpp"

#include <algorithm>
#include <utility>

#include "backends/nvml/call.hpp"
#include "backends/nvml/system.hpp"
#include "platform/clock.hpp"
#include "platform/process.hpp"

namespace hmn::nvml {
namespace {

constexpr std::uint64_t retry_after_ns = platform::ns_per_second;

bool is_initialised(Code c) noexcept {
  return c == success || c == already_initialized;
}

// Whether initialisation may succeed without NO_ATTACH.
bool is_about_flags(Code c) noexcept {
  return c == invalid_argument || c == not_supported || has_no_function(c) ||
         c == argument_version_mismatch || c == gpu_not_found;
}

}  // namespace

const Failure* Session::recent_refusal() const noexcept {
  const bool recent = why_ && platform::monotonic_ns() - failed_at_ns_ < retry_after_ns;
  return recent ? &*why_ : nullptr;
}

Result<void> Session::open(const Topic& t, std::size_t expected) {
  if (auto loaded = load(); !loaded) return loaded;
  if (auto done = initialise(t, expected); !done) return refuse(done.why());
  begin();
  read_versions(t);
  return {};
}

Result<void> Session::load() {
  if (library_) return {};
  auto opened = open_library(settings_);
  if (!opened) return refuse(opened.why());
  library_ = std::move(*opened);
  fn.find(library_);
  if (fn.init || fn.init_with_flags) return {};
  return refuse(fail(Status::backend, "the NVML library has no nvmlInit: it is not NVIDIA's"));
}

Result<void> Session::initialise(const Topic& t, std::size_t expected) {
  Code c = no_symbol;
  const bool may_detach = fn.init_with_flags && (!fn.init || may_list_unattached(settings_));
  if (may_detach && initialise_detached(t, expected, c)) return {};
  if (!is_about_flags(c)) return failure_for(c, fn.init_with_flags.name());
  const char* name = fn.init.name();
  if (fn.init) {
    c = call(t, fn.init);
  } else {
    c = call(t, fn.init_with_flags, 0U);
    name = fn.init_with_flags.name();
  }
  if (!is_initialised(c)) return failure_for(c, name);
  return {};
}

// Attaching initialises each GPU, which takes seconds without persistence mode. But without
// attaching, a driver may count attached GPUs only, and other users of NVML in this process would
// see only what the first one initialised: NVML is then shut down again and `answer` requests a
// plain initialisation.
bool Session::initialise_detached(const Topic& t, std::size_t expected, Code& answer) {
  answer = call(t, fn.init_with_flags, init_no_attach);
  if (!is_initialised(answer)) return false;
  unsigned count = 0;
  const bool counted = call(t, fn.count, &count) == success;
  if (counted && count >= std::max<std::size_t>(expected, 1)) return true;
  call(t, fn.shutdown);
  answer = gpu_not_found;
  return false;
}

void Session::begin() {
  open_ = true;
  ++number_;
  process_ = platform::process_generation();
  opened_at_ns_ = platform::monotonic_ns();
  refuses_memory_v2 = false;
  row_size.fill(0);
  events = nullptr;
  why_.reset();
}

void Session::read_versions(const Topic& t) {
  TextBuffer<version_capacity> buffer{};
  const Code c = call(t, fn.driver_version, &buffer, version_capacity);
  driver_version.assign(c == success ? buffer.bytes : "");
  no_driver_version.reset();
  if (c != success) no_driver_version = failure_for(c, fn.driver_version.name());
  read_cuda_version(t);
}

// _v2 queries libcuda, which may not be installed; the first generation then reports the version
// supported by the driver.
void Session::read_cuda_version(const Topic& t) {
  int version = 0;
  Code c = call(t, fn.cuda_version_v2, &version);
  if (c != success) c = call(t, fn.cuda_version, &version);
  if (c == success && (version < 1000 || version > 99'999)) c = unusable;
  cuda_version.reset();
  no_cuda_version.reset();
  if (c != success) {
    no_cuda_version = failure_for(c, fn.cuda_version.name());
  } else {
    cuda_version = static_cast<std::uint32_t>(version);
  }
}

Result<void> Session::refuse(const Failure& why) {
  library_.close();
  failed_at_ns_ = platform::monotonic_ns();
  why_ = why;
  return *why_;
}

void Session::close() noexcept {
  if (!open_) return;
  open_ = false;
  // A forked child shares the parent's session with the kernel driver, and must not end it.
  if (process_ != platform::process_generation()) {
    library_.leave_open();
    return;
  }
  free_events();
  if (fn.shutdown) fn.shutdown();
}

void Session::free_events() noexcept {
  if (events != nullptr && fn.free_events) fn.free_events(events);
  events = nullptr;
}

}  // namespace hmn::nvml
