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
void each_output(Handle& of, auto visit) {
  visit("", of);
}
void each_output(EventSet& of, auto visit) {
  visit("", of);
}
template <std::size_t N>
void each_output(TextBuffer<N>& text, auto visit) {
  visit("", text.bytes);
}
void each_output(MemoryV1& of, auto visit) {
  visit("total", of.total);
  visit("free", of.free);
  visit("used", of.used);
}
void each_output(MemoryV2& of, auto visit) {
  visit("total", of.total);
  visit("reserved", of.reserved);
  visit("free", of.free);
  visit("used", of.used);
}
void each_output(PciInfo& of, auto visit) {
  visit("bus_id_legacy", of.bus_id_legacy);
  visit("domain", of.domain);
  visit("bus", of.bus);
  visit("device", of.device);
  visit("device_id", of.device_id);
  visit("subsystem_id", of.subsystem_id);
  visit("bus_id", of.bus_id);
}
void each_output(C2cMode& of, auto visit) {
  visit("enabled", of.enabled);
}
void each_output(AddressingMode& of, auto visit) {
  visit("mode", of.value);
}
void each_output(Utilization& of, auto visit) {
  visit("gpu", of.gpu);
  visit("memory", of.memory);
}
void each_output(TemperatureV1& of, auto visit) {
  visit("celsius", of.celsius);
}
void each_output(AccountingStats& of, auto visit) {
  visit("gpu", of.gpu);
  visit("memory", of.memory);
  visit("max_memory", of.most_memory);
  visit("time", of.time_ms);
  visit("start", of.start_us);
  visit("is_running", of.is_running);
}
void each_output(EventData& of, auto visit) {
  visit("device", of.device);
  visit("type", of.type);
  visit("data", of.data);
}
void each_output(FieldValue& of, auto visit) {
  visit("field", of.id);
  visit("type", of.type);
  visit("result", of.result);
  visit("value", of.bits);
}
void each_output(ProcessSample& of, auto visit) {
  visit("pid", of.pid);
  visit("time", of.time_us);
  visit("sm", of.sm);
  visit("memory", of.memory);
  visit("encoder", of.encoder);
  visit("decoder", of.decoder);
}

template <class P>
constexpr bool is_input = std::integral<P> || std::same_as<P, Handle> || std::same_as<P, EventSet>;
// The readers of lists check each row.
template <class P>
constexpr bool is_list = std::same_as<P, RowCount*> || std::same_as<P, ProcessSample*> ||
                         std::same_as<P, FieldValue*> || std::same_as<P, void*>;

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
bool is_written(TextBuffer<N>* text) noexcept {
  const std::size_t length = strnlen(text->bytes, N);
  return length != 0 && length != N;
}

// Each field of a call has its own outcome.
constexpr Code outcome_of(const FieldValue& reported) noexcept {
  return reported.result == untouched_result ? unusable : static_cast<Code>(reported.result);
}

// What a trace says about a successful call: "nvmlDeviceGetMemoryInfo: ok, total=…, free=…,
// used=…".
class CallText {
 public:
  explicit CallText(std::string_view symbol) noexcept { add({symbol}); }

  void add(std::initializer_list<Piece> pieces) noexcept;
  template <class P>
  void add_input(P passed) noexcept {
    if constexpr (std::integral<P>) add({" ", passed});
  }
  // Overloads for the functions whose lists need more than one parameter.
  template <class... P>
  void add_outputs(P... passed) noexcept {
    (add_output(passed), ...);
  }
  void add_outputs(Handle of, RowCount* count, void* rows) noexcept;
  void add_outputs(Handle of, ProcessSample* samples, RowCount* count,
                   unsigned long long since_us) noexcept;
  void add_outputs(Handle of, int count, FieldValue* fields) noexcept;

  [[nodiscard]] MessageText text() const noexcept {
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

  std::array<char, MessageText::capacity + 1> bytes_;  // one more byte shows that the text was cut
  std::size_t length_ = 0;
};

template <class... P>
MessageText describe(const char* symbol, P... passed) noexcept {
  CallText out(symbol);
  (out.add_input(passed), ...);
  out.add({": ok"});
  out.add_outputs(passed...);
  return out.text();
}

// Devices that a function answers for (functions.def).
enum class Reach : std::uint8_t { any, gpu };

// A function of NVML in a loaded library, which may have several generations of it.
struct NamedSymbol {
  void* address = nullptr;
  const char* known_as = "";    // the name that was found; the newest one if none was
  std::uint8_t generation = 0;  // of the names in functions.def: that of the newest in the library
  Reach answers_for = Reach::any;

  // Searches for the names in order.
  void find(const platform::Library& in, Reach answers,
            std::initializer_list<const char*> names) noexcept;

  [[nodiscard]] const char* name() const noexcept { return known_as; }
  explicit operator bool() const noexcept { return address != nullptr; }
};

template <class F>
struct Function;

template <class... P>
struct Function<Code(P...)> : NamedSymbol {
  Code operator()(P... arguments) const {
    return static_cast<Code>(reinterpret_cast<int (*)(P...)>(address)(arguments...));
  }
};

using TextCall = Function<Code(Handle, TextBuffer<name_capacity>*, unsigned)>;
using NumberCall = Function<Code(Handle, unsigned*)>;
using WideCall = Function<Code(Handle, unsigned long long*)>;
using PercentCall = Function<Code(Handle, unsigned*, unsigned*)>;
using IndexedCall = Function<Code(Handle, unsigned, unsigned*)>;
using ListCall = Function<Code(Handle, RowCount*, void*)>;

struct Symbols {
#define HMN_NVML_FUNCTION(member, reach, parameters, ...) Function<Code parameters> member;
  HMN_NVML_FUNCTIONS(HMN_NVML_FUNCTION)
#undef HMN_NVML_FUNCTION

  void find(const platform::Library& in) noexcept;
};

// Opens only settings.nvml_path if set; else searches the system's places (system.hpp).
Result<platform::Library> open_library(const Settings& s);

// Maps NVML's return codes to statuses; failures have a message with advice.

Status status_of(Code c) noexcept;

constexpr bool is_of_driver(Code c) noexcept {
  return c < late;
}

// Whether the library or the driver has no such function.
constexpr bool has_no_function(Code c) noexcept {
  return c == no_symbol || c == function_not_found;
}

// Whether the device must not be queried further in this reading.
bool ends_it(Code c) noexcept;

// `what` names the call with the outcome `c`.
Failure failure_for(Code c, const char* what);

// For failures without an NVML code.
inline constexpr FailureOf fail{Source::nvml};

inline constexpr std::uint64_t ns_per_us = 1000;

constexpr std::uint64_t as_ns(std::uint64_t us) noexcept {
  return us <= UINT64_MAX / ns_per_us ? us * ns_per_us : UINT64_MAX;
}

// The reading that a call belongs to and what it is about, for its deadline and its diagnostics.
struct Topic {
  Reading& r;
  std::uint32_t about = 0;  // a bit of `subject`
  std::optional<Slot> device;
  std::optional<std::uint32_t> pid;
  bool is_opening = false;  // opening has a deadline of its own
  Code refused =
      success;  // the code that ended the reading of the device: no further calls are made
  bool is_instance = false;  // the device is a MIG instance

  // Whether diagnostics are wanted; otherwise they need not be built.
  [[nodiscard]] bool wants() const noexcept { return r.wants_diagnostics(); }
  void diagnose(const Failure& why, FieldSet field = 0, std::uint32_t notes = 0) const;
  // Reports a finding of this library.
  void report(Status found, std::initializer_list<Piece> message, FieldSet field = 0,
              Reason stated = Reason::unknown, std::uint32_t notes = 0) const;
  // Reports that a value is missing because `what` returned `c`.
  void missing(Code c, const char* what, FieldSet field) const;
  // Reports a value that a quick reading skips, since `what` takes milliseconds.
  void left_out(const NamedSymbol& what, FieldSet field) const;
  // Returns success if the function may be called.
  [[nodiscard]] Code why_not(const NamedSymbol& f) const noexcept;
  // Records a call of a traced reading.
  void trace(const Failure& outcome, std::uint64_t duration_ns) const;
  // Whether the function has no value of this device, but only of its whole GPU.
  [[nodiscard]] bool is_of_whole(const NamedSymbol& f) const noexcept {
    return is_instance && f.answers_for == Reach::gpu;
  }
  [[nodiscard]] Topic of_device(Slot number) const noexcept;
  [[nodiscard]] Topic of_process(std::uint32_t number) const noexcept;
  [[nodiscard]] bool is_late() const noexcept {
    return !is_opening && platform::monotonic_ns() > r.deadline_ns();
  }
};

// Tells the reading that a library is being opened, which has a deadline of its own.
class OpeningScope {
 public:
  explicit OpeningScope(Reading& r) noexcept : r_(r) { r_.opening(); }
  OpeningScope(const OpeningScope&) = delete;
  OpeningScope& operator=(const OpeningScope&) = delete;
  ~OpeningScope() { r_.opened(); }

 private:
  Reading& r_;
};

// Calls the driver, unless it is too late. The outputs of a failed call are undefined.
template <class... P>
Code call(const Topic& about, const Function<Code(P...)>& f, std::type_identity_t<P>... passed) {
  if (const Code c = about.why_not(f); c != success) return c;
  (mark(passed), ...);
  const std::uint64_t begin_ns = about.r.wants_trace() ? platform::monotonic_ns() : 0;
  const Code c = f(passed...);
  if (begin_ns != 0) {
    const std::uint64_t duration_ns = platform::monotonic_ns() - begin_ns;
    Failure outcome = failure_for(c, f.name());
    if (c == success) outcome.message = describe(f.name(), passed...);
    about.trace(outcome, duration_ns);
  }
  return c == success && !(is_written(passed) && ...) ? unusable : c;
}

}  // namespace hmn::nvml
