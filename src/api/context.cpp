// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.h>

#include "api/guard.hpp"
#include "core/environment.hpp"
#include "model/message_text.hpp"
#include "model/words.hpp"

namespace hmn::api {
namespace {

constexpr hmn_flags known_flags = HMN_CONTEXT_NO_SUBPROCESS | HMN_CONTEXT_WAKE_DEVICES |
                                  HMN_CONTEXT_NO_THREADS | HMN_CONTEXT_ENVIRONMENT |
                                  HMN_CONTEXT_TRACE | HMN_CONTEXT_RECORD;

Result<void> check_options(const hmn_context_options& o) {
  if (Result<void> ok = check_flags(o.flags, known_flags); !ok) return ok;
  if (const std::uint32_t unknown = o.device_classes & ~all_device_classes; unknown != 0) {
    return failed(Status::unknown_flag, {"device_classes: unknown bits 0x", hex(unknown)});
  }
  return (o.flags & HMN_CONTEXT_RECORD) != 0 ? require(Source::simulated) : Result<void>();
}

Result<void> read_options(const hmn_context_options& o, Settings& s, Limits& l) {
  s.no_subprocess = (o.flags & HMN_CONTEXT_NO_SUBPROCESS) != 0;
  s.wake_devices = (o.flags & HMN_CONTEXT_WAKE_DEVICES) != 0;
  s.no_threads = (o.flags & HMN_CONTEXT_NO_THREADS) != 0;
  s.trace = (o.flags & HMN_CONTEXT_TRACE) != 0;
  s.record = (o.flags & HMN_CONTEXT_RECORD) != 0;
  s.sources_off = o.backends_off;
  if (o.device_classes != 0) s.device_classes = o.device_classes;
  if (o.rescan_percent != 0) s.rescan_percent = o.rescan_percent;
  const struct {
    const char* name;
    std::uint64_t option;
    std::uint64_t& duration;
  } durations[] = {
      {"deadline_ns", o.deadline_ns, l.deadline_ns},
      {"stale_ns", o.stale_ns, l.stale_ns},
      {"open_deadline_ns", o.open_deadline_ns, l.open_deadline_ns},
      {"max_age_ns", o.max_age_ns, l.max_age_ns},
      {"idle_close_ns", o.idle_close_ns, s.idle_close_ns},
      {"rescan_ns", o.rescan_ns, s.rescan_ns},
  };
  for (const auto& each : durations) {
    if (Result<void> ok = read_duration(each.name, each.option, each.duration); !ok) return ok;
  }
  return {};
}

bool is_path(std::uint32_t path) {
  return path >= HMN_PATH_PROC && path <= HMN_PATH_DEV;
}

bool is_backend(std::uint32_t backend) {
  return backend != HMN_BACKEND_NONE && word_of(words::sources(), backend) != nullptr;
}

void copy_backend(std::uint32_t backend, const SourceState& s, hmn_backend_info& out) {
  out.backend = backend;
  out.state = static_cast<std::uint32_t>(s.state);
  out.status = static_cast<hmn_status>(s.why.code);
  out.native_domain = static_cast<std::uint32_t>(s.why.native.domain);
  out.native_code = s.why.native.code;
  if (!s.version.empty()) out.present |= HMN_BACKEND_INFO_HAS_VERSION;
  copy_text(out.version, s.version, out.notes);
  copy_text(out.message, s.why.message, out.notes);
}

}  // namespace
}  // namespace hmn::api

using namespace hmn;
using namespace hmn::api;

hmn_status hmn_context_create(const hmn_context_options* options, hmn_context** out,
                              hmn_error* error) noexcept {
  clear_out(out);
  return guarded(error, [&]() -> Result<void> {
    if (out == nullptr) return null_argument("out is NULL");
    hmn_context_options o{};
    if (Result<void> ok = read_input(options, o); !ok) return ok;
    if (Result<void> ok = check_options(o); !ok) return ok;
    Settings s;
    Limits l;
    if (Result<void> ok = read_options(o, s, l); !ok) return ok;
    const auto made = std::make_shared<Context>(s, l);
    if ((o.flags & HMN_CONTEXT_ENVIRONMENT) != 0) {
      if (Result<void> ok = apply_environment(*made); !ok) return ok;
    }
    *out = handle_of(std::make_unique<SharedContext>(made));
    return {};
  });
}

hmn_status hmn_context_set_path(hmn_context* handle, uint32_t path, const char* value,
                                hmn_error* error) noexcept {
  return with_context(handle, error, [&](Context& c) -> Result<void> {
    if (!is_path(path)) {
      return failed(Status::range, {"path: ", path, " is not a known path"});
    }
    if (value != nullptr) {
      if (Result<void> ok = check_path(value); !ok) return ok;
    }
    return c.set_path(static_cast<PathKind>(path), value != nullptr ? value : "");
  });
}

hmn_status hmn_context_backend(hmn_context* handle, uint32_t backend, hmn_backend_info* out,
                               hmn_error* error) noexcept {
  return fill_from(handle, out, error, [&](Context& c, hmn_backend_info& full) -> Result<void> {
    if (!is_backend(backend)) {
      return failed(Status::range, {"backend: ", backend, " is not a known backend"});
    }
    const Result<SourceState> said = c.backend(static_cast<Source>(backend));
    if (!said) return said.why();
    copy_backend(backend, *said, full);
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
  return with_context(handle, error, [](Context& c) -> Result<void> {
    c.set_cancelled(true);
    return {};
  });
}

hmn_status hmn_context_resume(hmn_context* handle, hmn_error* error) noexcept {
  return with_context(handle, error, [](Context& c) -> Result<void> {
    c.set_cancelled(false);
    return {};
  });
}

void hmn_context_destroy(hmn_context* handle) noexcept {
  if (handle == nullptr) return;
  static_cast<void>(guarded(nullptr, [&]() -> Result<void> {
    const std::unique_ptr<const SharedContext> ended(&shared(handle));
    return {};
  }));
}
