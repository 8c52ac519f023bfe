// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One call of the driver, and the reading it belongs to.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "backends/nvml/abi.hpp"
#include "backends/nvml/functions.def"
#include "model/failure.hpp"
#include "model/message_text.hpp"
#include "platform/clock.hpp"
#include "platform/library.hpp"
#include "source/interface.hpp"

namespace hmn::nvml {

// How the driver's outputs are checked: whether it wrote them, and what they are in a trace.

// Visits what the driver writes, with its name, in the order of the struct.
void each_output(std::integral auto& number, auto visit) {
  visit("", number);
}
void each_output(handle& of, auto visit) {
  visit("", of);
}
void each_output(event_set& of, auto visit) {
  visit("", of);
}
template <std::size_t N>
void each_output(text_buffer<N>& text, auto visit) {
  visit("", text.bytes);
}
void each_output(memory_v1& of, auto visit) {
  visit("total", of.total);
  visit("free", of.free);
  visit("used", of.used);
}
void each_output(memory_v2& of, auto visit) {
  visit("total", of.total);
  visit("reserved", of.reserved);
  visit("free", of.free);
  visit("used", of.used);
}
void each_output(pci_info& of, auto visit) {
  visit("bus_id_legacy", of.bus_id_legacy);
  visit("domain", of.domain);
  visit("bus", of.bus);
  visit("device", of.device);
  visit("device_id", of.device_id);
  visit("subsystem_id", of.subsystem_id);
  visit("bus_id", of.bus_id);
}
void each_output(c2c_mode& of, auto visit) {
  visit("enabled", of.enabled);
}
void each_output(addressing_mode& of, auto visit) {
  visit("mode", of.value);
}
void each_output(utilization& of, auto visit) {
  visit("gpu", of.gpu);
  visit("memory", of.memory);
}
void each_output(temperature_v1& of, auto visit) {
  visit("celsius", of.celsius);
}
void each_output(accounting_stats& of, auto visit) {
  visit("gpu", of.gpu);
  visit("memory", of.memory);
  visit("max_memory", of.most_memory);
  visit("time", of.time_ms);
  visit("start", of.start_us);
  visit("is_running", of.is_running);
}
void each_output(event_data& of, auto visit) {
  visit("device", of.device);
  visit("type", of.type);
  visit("data", of.data);
}
void each_output(field_value& of, auto visit) {
  visit("field", of.id);
  visit("type", of.type);
  visit("result", of.result);
  visit("value", of.bits);
}
void each_output(process_sample& of, auto visit) {
  visit("pid", of.pid);
  visit("time", of.time_us);
  visit("sm", of.sm);
  visit("memory", of.memory);
  visit("encoder", of.encoder);
  visit("decoder", of.decoder);
}

template <class P>
constexpr bool is_input = std::integral<P> || std::same_as<P, handle> || std::same_as<P, event_set>;
// The readers of lists check each row.
template <class P>
constexpr bool is_list = std::same_as<P, row_count*> || std::same_as<P, process_sample*> ||
                         std::same_as<P, field_value*> || std::same_as<P, void*>;

// The driver writes the first number of an output whenever it succeeds.
void first_number(auto& output, auto apply) {
  bool is_over = false;
  each_output(output, [&](std::string_view, auto& value) {
    if constexpr (!std::is_array_v<std::remove_reference_t<decltype(value)>>) {
      if (!std::exchange(is_over, true)) apply(value);
    }
  });
}

// Handles are marked by null: those of a failed call must not be used.
template <class T>
constexpr T mark_of() noexcept {
  if constexpr (std::is_pointer_v<T>) {
    return nullptr;
  } else {
    return static_cast<T>(untouched_bits);
  }
}

// Marks an output, so that one that the driver leaves alone is recognized.
template <class P>
void mark(P passed) noexcept {
  if constexpr (!is_input<P> && !is_list<P>) {
    first_number(*passed, []<class T>(T& number) { number = mark_of<T>(); });
  }
}

template <class P>
bool is_written(P passed) noexcept {
  bool is = true;
  if constexpr (!is_input<P> && !is_list<P>) {
    first_number(*passed, [&]<class T>(const T& number) { is = number != mark_of<T>(); });
  }
  return is;
}
// A text must be terminated as well.
template <std::size_t N>
bool is_written(text_buffer<N>* text) noexcept {
  const std::size_t length = strnlen(text->bytes, N);
  return length != 0 && length != N;
}

// Each field of a call has its own outcome.
constexpr code outcome_of(const field_value& reported) noexcept {
  return reported.result == untouched_result ? unusable : static_cast<code>(reported.result);
}

// What a trace says about a successful call: "nvmlDeviceGetMemoryInfo: ok, total=…, free=…,
// used=…".
class call_text {
 public:
  explicit call_text(std::string_view symbol) noexcept { add({symbol}); }

  void add(std::initializer_list<piece> pieces) noexcept;
  template <class P>
  void add_input(P passed) noexcept {
    if constexpr (std::integral<P>) add({" ", passed});
  }
  // Overloads for the functions whose lists need more than one parameter.
  template <class... P>
  void add_outputs(P... passed) noexcept {
    (add_output(passed), ...);
  }
  void add_outputs(handle of, row_count* count, void* rows) noexcept;
  void add_outputs(handle of, process_sample* samples, row_count* count,
                   unsigned long long since_us) noexcept;
  void add_outputs(handle of, int count, field_value* fields) noexcept;

  [[nodiscard]] message_text text() const noexcept {
    return std::string_view(bytes_.data(), length_);
  }

 private:
  template <class P>
  void add_output(P passed) noexcept {
    if constexpr (!is_input<P>) {
      each_output(*passed, [this](std::string_view name, auto& value) {
        add({", ", name, name.empty() ? "" : "="});
        add_value(value);
      });
    }
  }
  void add_value(std::integral auto number) noexcept { add({number}); }
  void add_value(const void* address) noexcept;
  template <std::size_t N>
  void add_value(const char (&text)[N]) noexcept {
    add_quoted({text, strnlen(text, N)});
  }
  void add_quoted(std::string_view text) noexcept;

  std::array<char, message_text::capacity + 1> bytes_;  // one more byte shows that the text was cut
  std::size_t length_ = 0;
};

template <class... P>
message_text describe(const char* symbol, P... passed) noexcept {
  call_text out(symbol);
  (out.add_input(passed), ...);
  out.add({": ok"});
  out.add_outputs(passed...);
  return out.text();
}

// Devices that a function answers for (functions.def).
enum class reach : std::uint8_t { any, gpu };

// A function of NVML in a loaded library, which may have several generations of it.
struct named_symbol {
  void* address = nullptr;
  const char* known_as = "";    // the name that was found; the newest one if none was
  std::uint8_t generation = 0;  // of the names in functions.def: that of the newest in the library
  reach answers_for = reach::any;

  // Searches for the names in order.
  void find(const platform::library& in, reach answers,
            std::initializer_list<const char*> names) noexcept;

  [[nodiscard]] const char* name() const noexcept { return known_as; }
  explicit operator bool() const noexcept { return address != nullptr; }
};

template <class F>
struct function;

template <class... P>
struct function<code(P...)> : named_symbol {
  code operator()(P... arguments) const {
    return static_cast<code>(reinterpret_cast<int (*)(P...)>(address)(arguments...));
  }
};

using text_call = function<code(handle, text_buffer<name_capacity>*, unsigned)>;
using number_call = function<code(handle, unsigned*)>;
using wide_call = function<code(handle, unsigned long long*)>;
using percent_call = function<code(handle, unsigned*, unsigned*)>;
using indexed_call = function<code(handle, unsigned, unsigned*)>;
using list_call = function<code(handle, row_count*, void*)>;

struct symbols {
#define HMN_NVML_FUNCTION(member, reach, parameters, ...) function<code parameters> member;
  HMN_NVML_FUNCTIONS(HMN_NVML_FUNCTION)
#undef HMN_NVML_FUNCTION

  void find(const platform::library& in) noexcept;
};

// Opens only settings.nvml_path if set; else searches the system's places (system.hpp).
result<platform::library> open_library(const settings& s);

// Maps NVML's return codes to statuses; failures have a message with advice.

status status_of(code c) noexcept;

constexpr bool is_of_driver(code c) noexcept {
  return c < late;
}

// Whether the library or the driver has no such function.
constexpr bool has_no_function(code c) noexcept {
  return c == no_symbol || c == function_not_found;
}

// Whether the device must not be queried further in this reading.
bool ends_it(code c) noexcept;

// `what` names the call with the outcome `c`.
failure failure_for(code c, const char* what);

// For failures without an NVML code.
inline constexpr failure_of fail{source::nvml};

inline constexpr std::uint64_t ns_per_us = 1000;

constexpr std::uint64_t as_ns(std::uint64_t us) noexcept {
  return us <= UINT64_MAX / ns_per_us ? us * ns_per_us : UINT64_MAX;
}

// The reading that a call belongs to and what it is about, for its deadline and its diagnostics.
struct topic {
  reading& r;
  std::uint32_t about = 0;  // a bit of `subject`
  std::optional<slot> device;
  std::optional<std::uint32_t> pid;
  bool is_opening = false;  // opening has a deadline of its own
  code refused =
      success;  // the code that ended the reading of the device: no further calls are made
  bool is_instance = false;  // the device is a MIG instance

  // Whether diagnostics are wanted; otherwise they need not be built.
  [[nodiscard]] bool wants() const noexcept { return r.wants_diagnostics(); }
  void diagnose(const failure& why, FieldSet field = 0, std::uint32_t notes = 0) const;
  // Reports a finding of this library.
  void report(status found, std::initializer_list<piece> message, FieldSet field = 0,
              reason stated = reason::unknown, std::uint32_t notes = 0) const;
  // Reports that a value is missing because `what` returned `c`.
  void missing(code c, const char* what, FieldSet field) const;
  // Reports a value that a quick reading skips, since `what` takes milliseconds.
  void left_out(const named_symbol& what, FieldSet field) const;
  // Returns success if the function may be called.
  [[nodiscard]] code why_not(const named_symbol& f) const noexcept;
  // Records a call of a traced reading.
  void trace(const failure& outcome, std::uint64_t duration_ns) const;
  // Whether the function has no value of this device, but only of its whole GPU.
  [[nodiscard]] bool is_of_whole(const named_symbol& f) const noexcept {
    return is_instance && f.answers_for == reach::gpu;
  }
  [[nodiscard]] topic of_device(slot number) const noexcept;
  [[nodiscard]] topic of_process(std::uint32_t number) const noexcept;
  [[nodiscard]] bool is_late() const noexcept {
    return !is_opening && platform::monotonic_ns() > r.deadline_ns();
  }
};

// Tells the reading that a library is being opened, which has a deadline of its own.
class opening_scope {
 public:
  explicit opening_scope(reading& r) noexcept : r_(r) { r_.opening(); }
  opening_scope(const opening_scope&) = delete;
  opening_scope& operator=(const opening_scope&) = delete;
  ~opening_scope() { r_.opened(); }

 private:
  reading& r_;
};

// Calls the driver, unless it is too late. The outputs of a failed call are undefined.
template <class... P>
code call(const topic& about, const function<code(P...)>& f, std::type_identity_t<P>... passed) {
  if (const code c = about.why_not(f); c != success) return c;
  (mark(passed), ...);
  const std::uint64_t begin_ns = about.r.wants_trace() ? platform::monotonic_ns() : 0;
  const code c = f(passed...);
  if (begin_ns != 0) {
    const std::uint64_t duration_ns = platform::monotonic_ns() - begin_ns;
    failure outcome = failure_for(c, f.name());
    if (c == success) outcome.message = describe(f.name(), passed...);
    about.trace(outcome, duration_ns);
  }
  return c == success && !(is_written(passed) && ...) ? unusable : c;
}

}  // namespace hmn::nvml
