// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/guard.hpp"

#include <new>

#include "model/message_text.hpp"
#include "model/text.hpp"
#include "platform/thread.hpp"

namespace hmn::api {

Failure make_null_failure(const char* message) noexcept {
  return make_failure(Status::argument, message);
}

void clear_error(hmn_error* error) noexcept {
  if (error != nullptr) SizedOut::wrap(error).clear();
}

namespace {

// Returns the failure's own reason (usually unknown) where the call itself was wrong: no value is
// missing then.
Reason derive_call_reason(const Failure& failure) noexcept {
  if (failure.source != Source::none) return resolve_reason(failure);
  switch (failure.code) {
    case Status::argument:
    case Status::struct_size:
    case Status::unknown_flag:
    case Status::range:
    case Status::overflow:
    case Status::forked:
    case Status::buffer:
    case Status::empty:
    case Status::internal:
    case Status::state:
      return failure.reason;
    default:
      return resolve_reason(failure);
  }
}

}  // namespace

void write_error(hmn_error* error, const Failure& failure) noexcept {
  if (error == nullptr) return;
  hmn_error full_error{};
  full_error.struct_size = error->struct_size;
  full_error.status = static_cast<hmn_status>(failure.code);
  full_error.backend = static_cast<std::uint32_t>(failure.source);
  full_error.reason = static_cast<std::uint32_t>(derive_call_reason(failure));
  full_error.native_domain = static_cast<std::uint32_t>(failure.native.domain);
  full_error.native_code = failure.native.code;
  copy_text(full_error.message, failure.message, full_error.notes);
  SizedOut::wrap(error).write(&full_error);
}

namespace {

Result<void> check_bits(std::uint64_t bits, std::uint64_t known_bits, const char* message) {
  const std::uint64_t unknown_bits = bits & ~known_bits;
  if (unknown_bits == 0) return {};
  return make_failure(Status::unknown_flag, {message, hex(unknown_bits)});
}

}  // namespace

Result<void> check_fields(hmn_fields fields, hmn_fields known_fields) {
  return check_bits(fields, known_fields, "fields: bits unknown, or past struct_size: 0x");
}

Result<void> check_flags(hmn_flags flags, hmn_flags known_flags) {
  return check_bits(flags, known_flags, "flags: unknown bits 0x");
}

Result<void> check_reserved(std::uint32_t reserved0) {
  return check_bits(reserved0, 0, "reserved0: unknown bits 0x");
}

hmn_status refuse(hmn_error* error, Status code, const char* message) noexcept {
  write_error(error, make_failure(code, message));
  return static_cast<hmn_status>(code);
}

hmn_status run_guarded(hmn_error* error, FunctionRef<Result<void>()> body) noexcept {
  const platform::NoCancel cancel_guard;
  if (error != nullptr && !is_struct_size(error->struct_size, HMN_ERROR_SIZE_V1)) {
    return HMN_E_STRUCT_SIZE;
  }
  try {
    const Result<void> outcome = body();
    if (outcome) {
      clear_error(error);
      return HMN_OK;
    }
    write_error(error, outcome.failure());
    return static_cast<hmn_status>(outcome.failure().code);
  } catch (const std::bad_alloc&) {
    return refuse(error, Status::no_memory, "no memory");
  } catch (...) {
    return refuse(error, Status::internal, "a defect of this library");
  }
}

hmn_status run_with_context(hmn_context* handle, hmn_error* error,
                            FunctionRef<Result<void>(Context&)> body) noexcept {
  return run_guarded(error, [&]() -> Result<void> {
    if (Result<void> ok = check_context(handle); !ok) return ok;
    return body(object(handle));
  });
}

hmn_status fill_sized(SizedOut out, hmn_error* error,
                      FunctionRef<Result<void>(void*)> read) noexcept {
  return run_guarded(error, [&]() -> Result<void> {
    if (Result<void> ok = out.check(); !ok) return ok;
    ClearUnlessWritten guard(out);
    alignas(std::uint64_t) unsigned char result[largest_result];
    std::memset(result, 0, out.known_size);
    if (Result<void> ok = read(result); !ok) return ok;
    guard.write(result);
    return {};
  });
}

hmn_status fill_sized(hmn_context* handle, SizedOut out, hmn_error* error,
                      FunctionRef<Result<void>(Context&, void*)> read) noexcept {
  return fill_sized(out, error, [&](void* result) -> Result<void> {
    if (Result<void> ok = check_context(handle); !ok) return ok;
    return read(object(handle), result);
  });
}

hmn_status fill_sized(const hmn_snapshot* handle, SizedOut out, hmn_error* error,
                      FunctionRef<Result<void>(const Snapshot&, void*)> read) noexcept {
  return fill_sized(out, error, [&](void* result) -> Result<void> {
    if (handle == nullptr) return make_null_failure("snapshot is NULL");
    return read(object(handle), result);
  });
}

hmn_status fill_sized(hmn_sampler* handle, SizedOut out, hmn_error* error,
                      FunctionRef<Result<void>(const Sampler&, void*)> read) noexcept {
  return fill_sized(out, error, [&](void* result) -> Result<void> {
    if (Result<void> ok = check_sampler(handle); !ok) return ok;
    return read(object(handle), result);
  });
}

hmn_status write_text(const TextOut& out, hmn_error* error,
                      FunctionRef<Result<void>(std::string&)> append_text) noexcept {
  return out.fill(error, [&](std::span<char> destination) -> Result<std::size_t> {
    std::string text;
    if (Result<void> ok = append_text(text); !ok) return ok.failure();
    text.copy(destination.data(), destination.size());
    return text.size();
  });
}

Result<void> check_handle(bool exists, bool is_forked, const char* noun) {
  if (!exists) return make_failure(Status::argument, {noun, " is NULL"});
  if (!is_forked) return {};
  return make_failure(Status::forked,
                      {"the ", noun, " was made before this process was forked: make a new one"});
}

Result<void> check_context(hmn_context* handle) {
  return check_handle(handle, "context");
}

Result<void> check_sampler(hmn_sampler* handle) {
  return check_handle(handle, "sampler");
}

void copy_text(char (&target)[MessageText::capacity + 1], const MessageText& source,
               hmn_flags& notes) noexcept {
  bool is_cut = false;
  copy_utf8(target, sizeof target, source.view(), is_cut);
  if (is_cut || source.was_cut()) notes |= HMN_NOTE_TRUNCATED;
}

hmn_status TextOut::fill(hmn_error* error,
                         FunctionRef<Result<std::size_t>(std::span<char>)> write) const noexcept {
  if (needed != nullptr) *needed = 0;
  const hmn_status status = run_guarded(error, [&]() -> Result<void> {
    if (buffer == nullptr && capacity != 0) {
      return make_null_failure("buffer is NULL and capacity is not 0");
    }
    const Result<std::size_t> size = write({buffer, capacity});
    if (!size) return size.failure();
    return finish(*size);
  });
  if (status != HMN_OK && buffer != nullptr && capacity != 0) buffer[0] = '\0';
  return status;
}

Result<void> TextOut::finish(std::size_t size) const noexcept {
  if (size >= UINT32_MAX) return make_failure(Status::overflow, "the text is longer than 4 GiB");
  if (needed != nullptr) *needed = static_cast<std::uint32_t>(size) + 1;
  if (buffer == nullptr) return {};
  if (capacity <= size)
    return make_failure(Status::buffer, {"capacity: ", capacity, " is less than the ", size + 1,
                                         " bytes of the text"});
  buffer[size] = '\0';
  return {};
}

Result<void> read_duration(const char* name, std::uint64_t ns, std::uint64_t& duration) {
  static_assert(HMN_NS_UNLIMITED == platform::no_deadline);
  // A smaller value is most likely meant in milliseconds or seconds.
  constexpr std::uint64_t min_duration_ns = platform::ns_per_ms / 10;
  if (ns == 0) return {};
  if (ns != HMN_NS_IMMEDIATE && ns < min_duration_ns) {
    return make_failure(Status::range, {name, ": ", ns, " is less than 0.1 ms"});
  }
  duration = ns != HMN_NS_IMMEDIATE ? ns : 0;
  return {};
}

}  // namespace hmn::api
