// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/guard.hpp"

#include <new>

#include "model/message_text.hpp"
#include "model/text.hpp"
#include "platform/thread.hpp"

namespace hmn::api {

Failure null_argument(const char* message) noexcept {
  return failed(Status::argument, message);
}

void clear_error(hmn_error* error) noexcept {
  if (error != nullptr) SizedOut::of(error).clear();
}

namespace {

// Returns unknown where the call itself was wrong: no value is missing then.
Reason reason_for_call(const Failure& why) noexcept {
  if (why.from != Source::none) return reason_for(why);
  switch (why.code) {
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
      return why.stated;
    default:
      return reason_for(why);
  }
}

}  // namespace

void write_error(hmn_error* error, const Failure& why) noexcept {
  if (error == nullptr) return;
  hmn_error full{};
  full.struct_size = error->struct_size;
  full.status = static_cast<hmn_status>(why.code);
  full.backend = static_cast<std::uint32_t>(why.from);
  full.reason = static_cast<std::uint32_t>(reason_for_call(why));
  full.native_domain = static_cast<std::uint32_t>(why.native.domain);
  full.native_code = why.native.code;
  copy_text(full.message, why.message, full.notes);
  SizedOut::of(error).write(&full);
}

namespace {

Result<void> check_bits(std::uint64_t given, std::uint64_t known, const char* refused) {
  const std::uint64_t unknown = given & ~known;
  if (unknown == 0) return {};
  return failed(Status::unknown_flag, {refused, hex(unknown)});
}

}  // namespace

Result<void> check_fields(hmn_fields fields, hmn_fields known) {
  return check_bits(fields, known, "fields: bits unknown, or past struct_size: 0x");
}

Result<void> check_flags(hmn_flags flags, hmn_flags known) {
  return check_bits(flags, known, "flags: unknown bits 0x");
}

Result<void> check_reserved(std::uint32_t reserved0) {
  return check_bits(reserved0, 0, "reserved0: unknown bits 0x");
}

hmn_status refuse(hmn_error* error, Status code, const char* message) noexcept {
  write_error(error, failed(code, message));
  return static_cast<hmn_status>(code);
}

hmn_status guarded(hmn_error* error, FunctionRef<Result<void>()> body) noexcept {
  const platform::NoCancel quiet;
  if (error != nullptr && !is_struct_size(error->struct_size, HMN_ERROR_SIZE_V1)) {
    return HMN_E_STRUCT_SIZE;
  }
  try {
    const Result<void> said = body();
    if (said) {
      clear_error(error);
      return HMN_OK;
    }
    write_error(error, said.why());
    return static_cast<hmn_status>(said.why().code);
  } catch (const std::bad_alloc&) {
    return refuse(error, Status::no_memory, "no memory");
  } catch (...) {
    return refuse(error, Status::internal, "a defect of this library");
  }
}

hmn_status with_context(hmn_context* handle, hmn_error* error,
                        FunctionRef<Result<void>(Context&)> body) noexcept {
  return guarded(error, [&]() -> Result<void> {
    if (Result<void> ok = check_context(handle); !ok) return ok;
    return body(object(handle));
  });
}

hmn_status fill_sized(SizedOut out, hmn_error* error,
                      FunctionRef<Result<void>(void*)> read) noexcept {
  return guarded(error, [&]() -> Result<void> {
    if (Result<void> ok = out.check(); !ok) return ok;
    ClearedUnlessWritten result_of(out);
    alignas(std::uint64_t) unsigned char full[largest_result];
    std::memset(full, 0, out.known_size);
    if (Result<void> ok = read(full); !ok) return ok;
    result_of.write(full);
    return {};
  });
}

hmn_status fill_sized(hmn_context* handle, SizedOut out, hmn_error* error,
                      FunctionRef<Result<void>(Context&, void*)> read) noexcept {
  return fill_sized(out, error, [&](void* full) -> Result<void> {
    if (Result<void> ok = check_context(handle); !ok) return ok;
    return read(object(handle), full);
  });
}

hmn_status fill_sized(const hmn_snapshot* handle, SizedOut out, hmn_error* error,
                      FunctionRef<Result<void>(const Snapshot&, void*)> read) noexcept {
  return fill_sized(out, error, [&](void* full) -> Result<void> {
    if (handle == nullptr) return null_argument("snapshot is NULL");
    return read(object(handle), full);
  });
}

hmn_status fill_sized(hmn_sampler* handle, SizedOut out, hmn_error* error,
                      FunctionRef<Result<void>(const Sampler&, void*)> read) noexcept {
  return fill_sized(out, error, [&](void* full) -> Result<void> {
    if (Result<void> ok = check_sampler(handle); !ok) return ok;
    return read(object(handle), full);
  });
}

hmn_status write_text(const TextOut& out, hmn_error* error,
                      FunctionRef<Result<void>(std::string&)> make) noexcept {
  return out.fill(error, [&](std::span<char> to) -> Result<std::size_t> {
    std::string text;
    if (Result<void> ok = make(text); !ok) return ok.why();
    text.copy(to.data(), to.size());
    return text.size();
  });
}

Result<void> check_usable(bool exists, bool is_forked, const char* noun) {
  if (!exists) return failed(Status::argument, {noun, " is NULL"});
  if (!is_forked) return {};
  return failed(Status::forked,
                {"the ", noun, " was made before this process was forked: make a new one"});
}

Result<void> check_context(hmn_context* handle) {
  return check_usable(handle, "context");
}

Result<void> check_sampler(hmn_sampler* handle) {
  return check_usable(handle, "sampler");
}

void copy_text(char (&to)[MessageText::capacity + 1], const MessageText& from,
               hmn_flags& notes) noexcept {
  bool cut = false;
  copy_utf8(to, sizeof to, from.view(), cut);
  if (cut || from.was_cut()) notes |= HMN_NOTE_TRUNCATED;
}

hmn_status TextOut::fill(hmn_error* error,
                         FunctionRef<Result<std::size_t>(std::span<char>)> write) const noexcept {
  if (needed != nullptr) *needed = 0;
  const hmn_status ended = guarded(error, [&]() -> Result<void> {
    if (buffer == nullptr && capacity != 0) {
      return null_argument("buffer is NULL and capacity is not 0");
    }
    const Result<std::size_t> size = write({buffer, capacity});
    if (!size) return size.why();
    return end(*size);
  });
  if (ended != HMN_OK && buffer != nullptr && capacity != 0) buffer[0] = '\0';
  return ended;
}

Result<void> TextOut::end(std::size_t size) const noexcept {
  if (size >= UINT32_MAX) return failed(Status::overflow, "the text is longer than 4 GiB");
  if (needed != nullptr) *needed = static_cast<std::uint32_t>(size) + 1;
  if (buffer == nullptr) return {};
  if (capacity <= size)
    return failed(Status::buffer,
                  {"capacity: ", capacity, " is less than the ", size + 1, " bytes of the text"});
  buffer[size] = '\0';
  return {};
}

Result<void> read_duration(const char* name, std::uint64_t ns, std::uint64_t& duration) {
  static_assert(HMN_NS_UNLIMITED == platform::no_deadline);
  // A smaller one is most likely a number of milliseconds or seconds.
  constexpr std::uint64_t shortest_ns = platform::ns_per_ms / 10;
  if (ns == 0) return {};
  if (ns != HMN_NS_IMMEDIATE && ns < shortest_ns) {
    return failed(Status::range, {name, ": ", ns, " is less than 0.1 ms"});
  }
  duration = ns != HMN_NS_IMMEDIATE ? ns : 0;
  return {};
}

}  // namespace hmn::api
