// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "core/environment.hpp"
#include "model/message_text.hpp"
#include "model/words.hpp"

namespace hmn::api {
namespace {

constexpr hmn_flags context_flags = HMN_CONTEXT_NO_SUBPROCESS | HMN_CONTEXT_WAKE_DEVICES |
                                    HMN_CONTEXT_NO_THREADS | HMN_CONTEXT_ENVIRONMENT |
                                    HMN_CONTEXT_TRACE | HMN_CONTEXT_RECORD;

Result<void> check_options(const hmn_context_options& options) {
  if (Result<void> ok = check_flags(options.flags, context_flags); !ok) return ok;
  if (const std::uint32_t unknown = options.device_classes & ~all_device_classes; unknown != 0) {
    return make_failure(Status::unknown_flag, {"device_classes: unknown bits 0x", hex(unknown)});
  }
  return (options.flags & HMN_CONTEXT_RECORD) != 0 ? require(Source::simulated) : Result<void>();
}

Result<void> read_options(const hmn_context_options& options, Settings& settings, Limits& limits) {
  settings.no_subprocess = (options.flags & HMN_CONTEXT_NO_SUBPROCESS) != 0;
  settings.wake_devices = (options.flags & HMN_CONTEXT_WAKE_DEVICES) != 0;
  settings.no_threads = (options.flags & HMN_CONTEXT_NO_THREADS) != 0;
  settings.trace = (options.flags & HMN_CONTEXT_TRACE) != 0;
  settings.record = (options.flags & HMN_CONTEXT_RECORD) != 0;
  settings.disabled_sources = options.backends_off;
  if (options.device_classes != 0) settings.device_classes = options.device_classes;
  if (options.rescan_percent != 0) settings.rescan_percent = options.rescan_percent;
  const struct {
    const char* name;
    std::uint64_t option;
    std::uint64_t& target;
  } durations[] = {
      {"deadline_ns", options.deadline_ns, limits.deadline_ns},
      {"stale_ns", options.stale_ns, limits.stale_ns},
      {"open_deadline_ns", options.open_deadline_ns, limits.open_deadline_ns},
      {"max_age_ns", options.max_age_ns, limits.max_age_ns},
      {"idle_close_ns", options.idle_close_ns, settings.idle_close_ns},
      {"rescan_ns", options.rescan_ns, settings.rescan_ns},
  };
  for (const auto& duration : durations) {
    if (Result<void> ok = read_duration(duration.name, duration.option, duration.target); !ok)
      return ok;
  }
  return {};
}

bool is_path(std::uint32_t path) {
  return path >= HMN_PATH_PROC && path <= HMN_PATH_DEV;
}

bool is_backend(std::uint32_t backend) {
  return backend != HMN_BACKEND_NONE && lookup_word(words::sources(), backend) != nullptr;
}

void copy_backend(std::uint32_t backend, const SourceState& source_state, hmn_backend_info& out) {
  out.backend = backend;
  out.state = static_cast<std::uint32_t>(source_state.state);
  out.status = static_cast<hmn_status>(source_state.failure.code);
  out.native_domain = static_cast<std::uint32_t>(source_state.failure.native.domain);
  out.native_code = source_state.failure.native.code;
  if (!source_state.version.empty()) out.present |= HMN_BACKEND_INFO_HAS_VERSION;
  copy_text(out.version, source_state.version, out.notes);
  copy_text(out.message, source_state.failure.message, out.notes);
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_context_create(const hmn_context_options* options, hmn_context** out,
                              hmn_error* error) noexcept {
  clear_out(out);
  return run_guarded(error, [&]() -> Result<void> {
    if (out == nullptr) return make_null_failure("out is NULL");
    hmn_context_options full_options{};
    if (Result<void> ok = read_input(options, full_options); !ok) return ok;
    if (Result<void> ok = check_options(full_options); !ok) return ok;
    Settings settings;
    Limits limits;
    if (Result<void> ok = read_options(full_options, settings, limits); !ok) return ok;
    const auto context = std::make_shared<Context>(settings, limits);
    if ((full_options.flags & HMN_CONTEXT_ENVIRONMENT) != 0) {
      if (Result<void> ok = apply_environment(*context); !ok) return ok;
    }
    *out = make_handle(std::make_unique<SharedContext>(context));
    return {};
  });
}

hmn_status hmn_context_set_path(hmn_context* handle, uint32_t path, const char* value,
                                hmn_error* error) noexcept {
  return run_with_context(handle, error, [&](Context& context) -> Result<void> {
    if (!is_path(path)) {
      return make_failure(Status::range, {"path: ", path, " is not a known path"});
    }
    if (value != nullptr) {
      if (Result<void> ok = check_path(value); !ok) return ok;
    }
    return context.set_path(static_cast<PathKind>(path), value != nullptr ? value : "");
  });
}

hmn_status hmn_context_backend(hmn_context* handle, uint32_t backend, hmn_backend_info* out,
                               hmn_error* error) noexcept {
  return fill_from(
      handle, out, error, [&](Context& context, hmn_backend_info& result) -> Result<void> {
        if (!is_backend(backend)) {
          return make_failure(Status::range, {"backend: ", backend, " is not a known backend"});
        }
        const Result<SourceState> source_state = context.backend(static_cast<Source>(backend));
        if (!source_state) return source_state.failure();
        copy_backend(backend, *source_state, result);
        return {};
      });
}

hmn_status hmn_context_recording(hmn_context* handle, hmn_flags flags, char* buffer,
                                 uint32_t capacity, uint32_t* needed, hmn_error* error) noexcept {
  return write_text({buffer, capacity, needed}, error, [&](std::string& text) -> Result<void> {
    if (Result<void> ok = check_context(handle); !ok) return ok;
    if (Result<void> ok = check_flags(flags); !ok) return ok;
    return object(handle).recording(text);
  });
}

hmn_status hmn_context_cancel(hmn_context* handle, hmn_error* error) noexcept {
  return run_with_context(handle, error, [](Context& context) -> Result<void> {
    context.set_cancelled(true);
    return {};
  });
}

hmn_status hmn_context_resume(hmn_context* handle, hmn_error* error) noexcept {
  return run_with_context(handle, error, [](Context& context) -> Result<void> {
    context.set_cancelled(false);
    return {};
  });
}

void hmn_context_destroy(hmn_context* handle) noexcept {
  if (handle == nullptr) return;
  static_cast<void>(run_guarded(nullptr, [&]() -> Result<void> {
    const std::unique_ptr<const SharedContext> owner(&get_shared_context(handle));
    return {};
  }));
}
