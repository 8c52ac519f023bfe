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

inline const SharedContext& get_shared_context(hmn_context* handle) noexcept {
  return *reinterpret_cast<const SharedContext*>(handle);
}
inline Context& object(hmn_context* handle) noexcept {
  return *get_shared_context(handle);
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
inline hmn_context* make_handle(std::unique_ptr<SharedContext> object) noexcept {
  return reinterpret_cast<hmn_context*>(object.release());
}
inline hmn_snapshot* make_handle(std::unique_ptr<Snapshot> object) noexcept {
  return reinterpret_cast<hmn_snapshot*>(object.release());
}
inline hmn_sampler* make_handle(std::unique_ptr<Sampler> object) noexcept {
  return reinterpret_cast<hmn_sampler*>(object.release());
}
inline hmn_tracker* make_handle(std::unique_ptr<Tracker> object) noexcept {
  return reinterpret_cast<hmn_tracker*>(object.release());
}
inline hmn_spill* make_handle(std::unique_ptr<Spill> object) noexcept {
  return reinterpret_cast<hmn_spill*>(object.release());
}

void write_error(hmn_error* error, const Failure& failure) noexcept;
void clear_error(hmn_error* error) noexcept;

Failure make_null_failure(const char* message) noexcept;

// Checks the `fields` of a direct reading: none may lie beyond the caller's struct.
Result<void> check_fields(hmn_fields fields, hmn_fields known_fields);
template <class T>
Result<void> check_fields(hmn_fields fields, const T* out,
                          hmn_fields known_fields = all_fields<T>) {
  return check_fields(fields, known_fields & bits_within(result_fields<T>, out->struct_size));
}

// Checks the `flags` of a function. Some functions have none yet.
Result<void> check_flags(hmn_flags flags, hmn_flags known_flags = 0);

Result<void> check_reserved(std::uint32_t reserved0);

hmn_status refuse(hmn_error* error, Status code, const char* message) noexcept;

// Runs `body`. An invalid error->struct_size fails the call.
hmn_status run_guarded(hmn_error* error, FunctionRef<Result<void>()> body) noexcept;

// Checks that an object exists and belongs to this process; `noun` names it in the message.
Result<void> check_handle(bool exists, bool is_forked, const char* noun);
template <class Handle>
Result<void> check_handle(Handle* handle, const char* noun) {
  return check_handle(handle != nullptr, handle != nullptr && object(handle).is_forked(), noun);
}
Result<void> check_context(hmn_context* handle);

hmn_status run_with_context(hmn_context* handle, hmn_error* error,
                            FunctionRef<Result<void>(Context&)> body) noexcept;

Result<void> check_sampler(hmn_sampler* handle);

template <class Handle>
void destroy(Handle* handle) noexcept {
  if (handle == nullptr) return;
  static_cast<void>(run_guarded(nullptr, [&]() -> Result<void> {
    const std::unique_ptr<std::remove_reference_t<decltype(object(handle))>> owner(&object(handle));
    return {};
  }));
}

// Copies the struct that `read` fills, zeroed before, to *out; zeroes *out on any failure.
hmn_status fill_sized(SizedOut out, hmn_error* error,
                      FunctionRef<Result<void>(void* result)> read) noexcept;
hmn_status fill_sized(hmn_context* handle, SizedOut out, hmn_error* error,
                      FunctionRef<Result<void>(Context&, void* result)> read) noexcept;
hmn_status fill_sized(const hmn_snapshot* handle, SizedOut out, hmn_error* error,
                      FunctionRef<Result<void>(const Snapshot&, void* result)> read) noexcept;
hmn_status fill_sized(hmn_sampler* handle, SizedOut out, hmn_error* error,
                      FunctionRef<Result<void>(const Sampler&, void* result)> read) noexcept;

template <class T, class Read>
hmn_status fill(T* out, hmn_error* error, Read&& read) noexcept {
  return fill_sized(SizedOut::wrap(out), error,
                    [&](void* result) { return read(*static_cast<T*>(result)); });
}

template <class T, class Read>
hmn_status fill_from(hmn_context* handle, T* out, hmn_error* error, Read&& read) noexcept {
  return fill_sized(handle, SizedOut::wrap(out), error, [&](Context& context, void* result) {
    return read(context, *static_cast<T*>(result));
  });
}

template <class T, class Read>
hmn_status fill_from(const hmn_snapshot* handle, T* out, hmn_error* error, Read&& read) noexcept {
  return fill_sized(handle, SizedOut::wrap(out), error,
                    [&](const Snapshot& snapshot, void* result) {
                      return read(snapshot, *static_cast<T*>(result));
                    });
}

template <class T, class Read>
hmn_status fill_from(hmn_sampler* handle, T* out, hmn_error* error, Read&& read) noexcept {
  return fill_sized(handle, SizedOut::wrap(out), error, [&](const Sampler& sampler, void* result) {
    return read(sampler, *static_cast<T*>(result));
  });
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
  [[nodiscard]] Result<void> finish(std::size_t size) const noexcept;
};

// Writes the text that `append_text` appends to an empty string, or nothing on failure.
hmn_status write_text(const TextOut& out, hmn_error* error,
                      FunctionRef<Result<void>(std::string&)> append_text) noexcept;

template <std::size_t N, std::size_t M>
void copy_text(char (&target)[N], const Text<M>& source, hmn_flags& notes) noexcept {
  static_assert(N >= M);
  std::memcpy(target, source.c_str(), source.view().size() + 1);
  if (source.was_cut()) notes |= HMN_NOTE_TRUNCATED;
}

void copy_text(char (&target)[MessageText::capacity + 1], const MessageText& source,
               hmn_flags& notes) noexcept;

// Sets a field and its presence bit if the value is known.
template <class T, class V>
void set_if_known(hmn_fields& present, hmn_fields bit, T& field,
                  const std::optional<V>& value) noexcept {
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
std::string_view select_unit(hmn_flags flags) noexcept;

// `default_collect` replaces a collect of 0.
Result<void> read_request(const hmn_snapshot_options* input, hmn_flags default_collect,
                          SnapshotRequest& request);

}  // namespace hmn::api
