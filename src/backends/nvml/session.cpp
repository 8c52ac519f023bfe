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
bool is_flag_refusal(Code c) noexcept {
  return c == invalid_argument || c == not_supported || has_no_function(c) ||
         c == argument_version_mismatch || c == gpu_not_found;
}

}  // namespace

const Failure* Session::recent_refusal() const noexcept {
  const bool is_recent = failure_ && platform::monotonic_ns() - failure_time_ns_ < retry_after_ns;
  return is_recent ? &*failure_ : nullptr;
}

Result<void> Session::open(const CallContext& context, std::size_t gpu_count) {
  if (auto result = load(); !result) return result;
  if (auto result = initialise(context, gpu_count); !result)
    return record_failure(result.failure());
  begin();
  read_versions(context);
  return {};
}

Result<void> Session::load() {
  if (library_) return {};
  auto result = open_library(settings_);
  if (!result) return record_failure(result.failure());
  library_ = std::move(*result);
  fn.find(library_);
  if (fn.init || fn.init_with_flags) return {};
  return record_failure(
      fail(Status::backend, "the NVML library has no nvmlInit: it is not NVIDIA's"));
}

Result<void> Session::initialise(const CallContext& context, std::size_t gpu_count) {
  Code code = no_symbol;
  const bool may_detach = fn.init_with_flags && (!fn.init || may_list_unattached(settings_));
  if (may_detach && initialise_detached(context, gpu_count, code)) return {};
  if (!is_flag_refusal(code)) return make_failure(code, fn.init_with_flags.name());
  const char* function_name = fn.init.name();
  if (fn.init) {
    code = call(context, fn.init);
  } else {
    code = call(context, fn.init_with_flags, 0U);
    function_name = fn.init_with_flags.name();
  }
  if (!is_initialised(code)) return make_failure(code, function_name);
  return {};
}

// Attaching initialises each GPU, which takes seconds without persistence mode. But without
// attaching, a driver may count attached GPUs only, and other users of NVML in this process would
// see only what the first one initialised: NVML is then shut down again and `answer` requests a
// plain initialisation.
bool Session::initialise_detached(const CallContext& context, std::size_t gpu_count, Code& answer) {
  answer = call(context, fn.init_with_flags, init_no_attach);
  if (!is_initialised(answer)) return false;
  unsigned count = 0;
  const bool has_count = call(context, fn.count, &count) == success;
  if (has_count && count >= std::max<std::size_t>(gpu_count, 1)) return true;
  call(context, fn.shutdown);
  answer = gpu_not_found;
  return false;
}

void Session::begin() {
  is_open_ = true;
  ++number_;
  process_ = platform::process_generation();
  open_time_ns_ = platform::monotonic_ns();
  refuses_memory_v2 = false;
  row_sizes.fill(0);
  events = nullptr;
  failure_.reset();
}

void Session::read_versions(const CallContext& context) {
  TextBuffer<version_capacity> buffer{};
  const Code code = call(context, fn.driver_version, &buffer, version_capacity);
  driver_version.assign(code == success ? buffer.bytes : "");
  driver_version_failure.reset();
  if (code != success) driver_version_failure = make_failure(code, fn.driver_version.name());
  read_cuda_version(context);
}

// _v2 queries libcuda, which may not be installed; the first generation then reports the version
// supported by the driver.
void Session::read_cuda_version(const CallContext& context) {
  int version = 0;
  Code code = call(context, fn.cuda_version_v2, &version);
  if (code != success) code = call(context, fn.cuda_version, &version);
  if (code == success && (version < 1000 || version > 99'999)) code = unusable;
  cuda_version.reset();
  cuda_version_failure.reset();
  if (code != success) {
    cuda_version_failure = make_failure(code, fn.cuda_version.name());
  } else {
    cuda_version = static_cast<std::uint32_t>(version);
  }
}

Result<void> Session::record_failure(const Failure& failure) {
  library_.close();
  failure_time_ns_ = platform::monotonic_ns();
  failure_ = failure;
  return *failure_;
}

void Session::close() noexcept {
  if (!is_open_) return;
  is_open_ = false;
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
