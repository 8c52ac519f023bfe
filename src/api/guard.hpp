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
using shared_context = std::shared_ptr<context>;

inline const shared_context& shared(hmn_context* handle) noexcept {
  return *reinterpret_cast<const shared_context*>(handle);
}
inline context& object(hmn_context* handle) noexcept {
  return *shared(handle);
}
inline const snapshot& object(const hmn_snapshot* handle) noexcept {
  return *reinterpret_cast<const snapshot*>(handle);
}
inline sampler& object(hmn_sampler* handle) noexcept {
  return *reinterpret_cast<sampler*>(handle);
}
inline spill& object(hmn_spill* handle) noexcept {
  return *reinterpret_cast<spill*>(handle);
}
inline tracker& object(hmn_tracker* handle) noexcept {
  return *reinterpret_cast<tracker*>(handle);
}
inline hmn_context* handle_of(std::unique_ptr<shared_context> object) noexcept {
  return reinterpret_cast<hmn_context*>(object.release());
}
inline hmn_snapshot* handle_of(std::unique_ptr<snapshot> object) noexcept {
  return reinterpret_cast<hmn_snapshot*>(object.release());
}
inline hmn_sampler* handle_of(std::unique_ptr<sampler> object) noexcept {
  return reinterpret_cast<hmn_sampler*>(object.release());
}
inline hmn_tracker* handle_of(std::unique_ptr<tracker> object) noexcept {
  return reinterpret_cast<hmn_tracker*>(object.release());
}
inline hmn_spill* handle_of(std::unique_ptr<spill> object) noexcept {
  return reinterpret_cast<hmn_spill*>(object.release());
}

void write_error(hmn_error* error, const failure& why) noexcept;
void clear_error(hmn_error* error) noexcept;

failure null_argument(const char* message) noexcept;

// Checks `fields` of a direct reading, which may name no field beyond the caller's struct.
result<void> check_fields(hmn_fields fields, hmn_fields known);
template <class T>
result<void> check_fields(hmn_fields fields, const T* out, hmn_fields known = all_fields<T>) {
  return check_fields(fields, known & bits_within(fields_of<T>, out->struct_size));
}

// Checks the `flags` of a function. Some functions have none yet.
result<void> check_flags(hmn_flags flags, hmn_flags known = 0);

result<void> check_reserved(std::uint32_t reserved0);

hmn_status refuse(hmn_error* error, status code, const char* message) noexcept;

// Runs `body`. An invalid error->struct_size fails the call.
hmn_status guarded(hmn_error* error, function_ref<result<void>()> body) noexcept;

// Checks that an object exists and belongs to this process; `noun` names it.
result<void> check_usable(bool exists, bool is_forked, const char* noun);
template <class Handle>
result<void> check_usable(Handle* handle, const char* noun) {
  return check_usable(handle != nullptr, handle != nullptr && object(handle).is_forked(), noun);
}
result<void> check_context(hmn_context* handle);

hmn_status with_context(hmn_context* handle, hmn_error* error,
                        function_ref<result<void>(context&)> body) noexcept;

result<void> check_sampler(hmn_sampler* handle);

template <class Handle>
void destroy(Handle* handle) noexcept {
  if (handle == nullptr) return;
  static_cast<void>(guarded(nullptr, [&]() -> result<void> {
    const std::unique_ptr<std::remove_reference_t<decltype(object(handle))>> ended(&object(handle));
    return {};
  }));
}

// Copies to *out what `read` stores in a zeroed struct of its type, and zeroes *out on any failure.
hmn_status fill_sized(sized_out out, hmn_error* error,
                      function_ref<result<void>(void* full)> read) noexcept;
hmn_status fill_sized(hmn_context* handle, sized_out out, hmn_error* error,
                      function_ref<result<void>(context&, void* full)> read) noexcept;
hmn_status fill_sized(const hmn_snapshot* handle, sized_out out, hmn_error* error,
                      function_ref<result<void>(const snapshot&, void* full)> read) noexcept;
hmn_status fill_sized(hmn_sampler* handle, sized_out out, hmn_error* error,
                      function_ref<result<void>(const sampler&, void* full)> read) noexcept;

template <class T, class Read>
hmn_status fill(T* out, hmn_error* error, Read&& read) noexcept {
  return fill_sized(sized_out::of(out), error,
                    [&](void* full) { return read(*static_cast<T*>(full)); });
}

template <class T, class Read>
hmn_status fill_from(hmn_context* handle, T* out, hmn_error* error, Read&& read) noexcept {
  return fill_sized(handle, sized_out::of(out), error,
                    [&](context& c, void* full) { return read(c, *static_cast<T*>(full)); });
}

template <class T, class Read>
hmn_status fill_from(const hmn_snapshot* handle, T* out, hmn_error* error, Read&& read) noexcept {
  return fill_sized(handle, sized_out::of(out), error,
                    [&](const snapshot& s, void* full) { return read(s, *static_cast<T*>(full)); });
}

template <class T, class Read>
hmn_status fill_from(hmn_sampler* handle, T* out, hmn_error* error, Read&& read) noexcept {
  return fill_sized(handle, sized_out::of(out), error,
                    [&](const sampler& s, void* full) { return read(s, *static_cast<T*>(full)); });
}

// Handles and numbers stay zero unless the call succeeds.
template <class T>
void clear_out(T* out) noexcept {
  if (out != nullptr) *out = T{};
}

// Destination of a text: (buffer, capacity, needed).
struct text_out {
  char* buffer;
  std::uint32_t capacity;
  std::uint32_t* needed;

  // Lets `write` put as much of the text as fits into the buffer and return its size. Leaves an
  // empty text on failure.
  hmn_status fill(hmn_error* error,
                  function_ref<result<std::size_t>(std::span<char>)> write) const noexcept;

 private:
  [[nodiscard]] result<void> end(std::size_t size) const noexcept;
};

// Writes the text that `make` appends to an empty one, or nothing on failure.
hmn_status write_text(const text_out& out, hmn_error* error,
                      function_ref<result<void>(std::string&)> make) noexcept;

template <std::size_t N, std::size_t M>
void copy_text(char (&to)[N], const text<M>& from, hmn_flags& notes) noexcept {
  static_assert(N >= M);
  std::memcpy(to, from.c_str(), from.view().size() + 1);
  if (from.was_cut()) notes |= HMN_NOTE_TRUNCATED;
}

void copy_text(char (&to)[message_text::capacity + 1], const message_text& from,
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
result<void> read_duration(const char* name, std::uint64_t ns, std::uint64_t& duration);

result<void> check_pool_kind(std::uint32_t kind, const char* name = "kind");
result<void> check_metric(std::uint32_t id, std::uint32_t instance, const char* id_name,
                          const char* instance_name);

// Returns the word for MiB that HMN_LINE_* selects.
std::string_view unit_from(hmn_flags flags) noexcept;

// `default_collect` replaces a collect of 0.
result<void> read_request(const hmn_snapshot_options* options, hmn_flags default_collect,
                          snapshot_request& r);

}  // namespace hmn::api
