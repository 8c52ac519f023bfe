// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Common entry into the library: no exception leaves it.
#pragma once

#include <hypomnesis.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "api/sized.hpp"
#include "core/context.hpp"
#include "core/sampler.hpp"
#include "core/snapshot.hpp"
#include "core/spill.hpp"
#include "core/tracker.hpp"
#include "model/function_ref.hpp"
#include "model/record.hpp"
#include "platform/clock.hpp"

namespace hmn::api {

// What a context handle points to; a context is shared with its samplers.
using SharedContext = std::shared_ptr<Context>;

inline const SharedContext& shared(hmn_context* handle) noexcept {
  return *reinterpret_cast<const SharedContext*>(handle);
}
inline Context& object(hmn_context* handle) noexcept {
  return *shared(handle);
}
inline const Snapshot& object(const hmn_snapshot* handle) noexcept {
  return *reinterpret_cast<const Snapshot*>(handle);
}
inline Sampler& object(hmn_sampler* handle) noexcept {
  return *reinterpret_cast<Sampler*>(handle);
}
inline Spill& object(hmn_spill* handle) noexcept {
  return *reinterpret_cast<Spill*>(handle);
}
inline Tracker& object(hmn_tracker* handle) noexcept {
  return *reinterpret_cast<Tracker*>(handle);
}
inline hmn_context* handle_of(std::unique_ptr<SharedContext> object) noexcept {
  return reinterpret_cast<hmn_context*>(object.release());
}
inline hmn_snapshot* handle_of(std::unique_ptr<Snapshot> object) noexcept {
  return reinterpret_cast<hmn_snapshot*>(object.release());
}
inline hmn_sampler* handle_of(std::unique_ptr<Sampler> object) noexcept {
  return reinterpret_cast<hmn_sampler*>(object.release());
}
inline hmn_tracker* handle_of(std::unique_ptr<Tracker> object) noexcept {
  return reinterpret_cast<hmn_tracker*>(object.release());
}
inline hmn_spill* handle_of(std::unique_ptr<Spill> object) noexcept {
  return reinterpret_cast<hmn_spill*>(object.release());
}

void write_error(hmn_error* error, const Failure& why) noexcept;
void clear_error(hmn_error* error) noexcept;

Failure null_argument(const char* message) noexcept;

// Checks `fields` of a direct reading, which may name no field beyond the caller's struct.
Result<void> check_fields(hmn_fields fields, hmn_fields known);
template <class T>
Result<void> check_fields(hmn_fields fields, const T* out, hmn_fields known = all_fields<T>) {
  return check_fields(fields, known & bits_within(fields_of<T>, out->struct_size));
}

// Checks the `flags` of a function. Some functions have none yet.
Result<void> check_flags(hmn_flags flags, hmn_flags known = 0);

Result<void> check_reserved(std::uint32_t reserved0);

hmn_status refuse(hmn_error* error, Status code, const char* message) noexcept;

// Runs `body`. An invalid error->struct_size fails the call.
hmn_status guarded(hmn_error* error, FunctionRef<Result<void>()> body) noexcept;

// Checks that an object exists and belongs to this process; `noun` names it.
Result<void> check_usable(bool exists, bool is_forked, const char* noun);
template <class Handle>
Result<void> check_usable(Handle* handle, const char* noun) {
  return check_usable(handle != nullptr, handle != nullptr && object(handle).is_forked(), noun);
}
Result<void> check_context(hmn_context* handle);

hmn_status with_context(hmn_context* handle, hmn_error* error,
                        FunctionRef<Result<void>(Context&)> body) noexcept;

Result<void> check_sampler(hmn_sampler* handle);

template <class Handle>
void destroy(Handle* handle) noexcept {
  if (handle == nullptr) return;
  static_cast<void>(guarded(nullptr, [&]() -> Result<void> {
    const std::unique_ptr<std::remove_reference_t<decltype(object(handle))>> ended(&object(handle));
    return {};
  }));
}

// Copies to *out what `read` stores in a zeroed struct of its type, and zeroes *out on any failure.
hmn_status fill_sized(SizedOut out, hmn_error* error,
                      FunctionRef<Result<void>(void* full)> read) noexcept;
hmn_status fill_sized(hmn_context* handle, SizedOut out, hmn_error* error,
                      FunctionRef<Result<void>(Context&, void* full)> read) noexcept;
hmn_status fill_sized(const hmn_snapshot* handle, SizedOut out, hmn_error* error,
                      FunctionRef<Result<void>(const Snapshot&, void* full)> read) noexcept;
hmn_status fill_sized(hmn_sampler* handle, SizedOut out, hmn_error* error,
                      FunctionRef<Result<void>(const Sampler&, void* full)> read) noexcept;

template <class T, class Read>
hmn_status fill(T* out, hmn_error* error, Read&& read) noexcept {
  return fill_sized(SizedOut::of(out), error,
                    [&](void* full) { return read(*static_cast<T*>(full)); });
}

template <class T, class Read>
hmn_status fill_from(hmn_context* handle, T* out, hmn_error* error, Read&& read) noexcept {
  return fill_sized(handle, SizedOut::of(out), error,
                    [&](Context& c, void* full) { return read(c, *static_cast<T*>(full)); });
}

template <class T, class Read>
hmn_status fill_from(const hmn_snapshot* handle, T* out, hmn_error* error, Read&& read) noexcept {
  return fill_sized(handle, SizedOut::of(out), error,
                    [&](const Snapshot& s, void* full) { return read(s, *static_cast<T*>(full)); });
}

template <class T, class Read>
hmn_status fill_from(hmn_sampler* handle, T* out, hmn_error* error, Read&& read) noexcept {
  return fill_sized(handle, SizedOut::of(out), error,
                    [&](const Sampler& s, void* full) { return read(s, *static_cast<T*>(full)); });
}

// Handles and numbers stay zero unless the call succeeds.
template <class T>
void clear_out(T* out) noexcept {
  if (out != nullptr) *out = T{};
}

// Destination of a text: (buffer, capacity, needed).
struct TextOut {
  char* buffer;
  std::uint32_t capacity;
  std::uint32_t* needed;

  // Lets `write` put as much of the text as fits into the buffer and return its size. Leaves an
  // empty text on failure.
  hmn_status fill(hmn_error* error,
                  FunctionRef<Result<std::size_t>(std::span<char>)> write) const noexcept;

 private:
  [[nodiscard]] Result<void> end(std::size_t size) const noexcept;
};

// Writes the text that `make` appends to an empty one, or nothing on failure.
hmn_status write_text(const TextOut& out, hmn_error* error,
                      FunctionRef<Result<void>(std::string&)> make) noexcept;

template <std::size_t N, std::size_t M>
void copy_text(char (&to)[N], const Text<M>& from, hmn_flags& notes) noexcept {
  static_assert(N >= M);
  std::memcpy(to, from.c_str(), from.view().size() + 1);
  if (from.was_cut()) notes |= HMN_NOTE_TRUNCATED;
}

void copy_text(char (&to)[MessageText::capacity + 1], const MessageText& from,
               hmn_flags& notes) noexcept;

// Sets a field and its presence bit when the value is known.
template <class T, class V>
void give(hmn_fields& present, hmn_fields bit, T& field, const std::optional<V>& value) noexcept {
  if (!value) return;
  present |= bit;
  field = static_cast<T>(*value);
}

// Conversions of options that several files need.

// Reads an option that is a duration. Zero keeps the default in `duration`, an immediate one
// becomes 0, and an unlimited one is platform::no_deadline.
Result<void> read_duration(const char* name, std::uint64_t ns, std::uint64_t& duration);

Result<void> check_pool_kind(std::uint32_t kind, const char* name = "kind");
Result<void> check_metric(std::uint32_t id, std::uint32_t instance, const char* id_name,
                          const char* instance_name);

// Returns the word for MiB that HMN_LINE_* selects.
std::string_view unit_from(hmn_flags flags) noexcept;

// `default_collect` replaces a collect of 0.
Result<void> read_request(const hmn_snapshot_options* options, hmn_flags default_collect,
                          SnapshotRequest& r);

}  // namespace hmn::api
