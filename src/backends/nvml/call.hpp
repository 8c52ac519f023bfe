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

// Checks whether the driver wrote its outputs, and formats them for a trace.

// Visits what the driver writes, with its name, in the order of the struct.
void visit_outputs(std::integral auto& number, auto visit) {
  visit("", number);
}
void visit_outputs(Handle& handle, auto visit) {
  visit("", handle);
}
void visit_outputs(EventSet& events, auto visit) {
  visit("", events);
}
template <std::size_t N>
void visit_outputs(TextBuffer<N>& text, auto visit) {
  visit("", text.bytes);
}
void visit_outputs(MemoryV1& memory, auto visit) {
  visit("total", memory.total);
  visit("free", memory.free);
  visit("used", memory.used);
}
void visit_outputs(MemoryV2& memory, auto visit) {
  visit("total", memory.total);
  visit("reserved", memory.reserved);
  visit("free", memory.free);
  visit("used", memory.used);
}
void visit_outputs(PciInfo& pci, auto visit) {
  visit("bus_id_legacy", pci.bus_id_legacy);
  visit("domain", pci.domain);
  visit("bus", pci.bus);
  visit("device", pci.device);
  visit("device_id", pci.device_id);
  visit("subsystem_id", pci.subsystem_id);
  visit("bus_id", pci.bus_id);
}
void visit_outputs(C2cMode& mode, auto visit) {
  visit("enabled", mode.enabled);
}
void visit_outputs(AddressingMode& mode, auto visit) {
  visit("mode", mode.value);
}
void visit_outputs(Utilization& utilization, auto visit) {
  visit("gpu", utilization.gpu);
  visit("memory", utilization.memory);
}
void visit_outputs(TemperatureV1& temperature, auto visit) {
  visit("celsius", temperature.celsius);
}
void visit_outputs(AccountingStats& stats, auto visit) {
  visit("gpu", stats.gpu);
  visit("memory", stats.memory);
  visit("max_memory", stats.max_memory);
  visit("time", stats.time_ms);
  visit("start", stats.start_us);
  visit("is_running", stats.is_running);
}
void visit_outputs(EventData& event, auto visit) {
  visit("device", event.device);
  visit("type", event.type);
  visit("data", event.data);
}
void visit_outputs(FieldValue& field, auto visit) {
  visit("field", field.id);
  visit("type", field.type);
  visit("result", field.result);
  visit("value", field.bits);
}
void visit_outputs(ProcessSample& sample, auto visit) {
  visit("pid", sample.pid);
  visit("time", sample.time_us);
  visit("sm", sample.sm);
  visit("memory", sample.memory);
  visit("encoder", sample.encoder);
  visit("decoder", sample.decoder);
}

template <class P>
constexpr bool is_input = std::integral<P> || std::same_as<P, Handle> || std::same_as<P, EventSet>;
// The readers of lists check each row.
template <class P>
constexpr bool is_list = std::same_as<P, RowCount*> || std::same_as<P, ProcessSample*> ||
                         std::same_as<P, FieldValue*> || std::same_as<P, void*>;

// The driver writes the first number of an output whenever it succeeds.
void visit_first_number(auto& output, auto apply) {
  bool is_done = false;
  visit_outputs(output, [&](std::string_view, auto& value) {
    if constexpr (!std::is_array_v<std::remove_reference_t<decltype(value)>>) {
      if (!std::exchange(is_done, true)) apply(value);
    }
  });
}

// Handles are marked by null: those of a failed call must not be used.
template <class T>
constexpr T untouched_value() noexcept {
  if constexpr (std::is_pointer_v<T>) {
    return nullptr;
  } else {
    return static_cast<T>(untouched_bits);
  }
}

// Marks an output, so that one that the driver leaves alone is recognized.
template <class P>
void mark(P argument) noexcept {
  if constexpr (!is_input<P> && !is_list<P>) {
    visit_first_number(*argument, []<class T>(T& number) { number = untouched_value<T>(); });
  }
}

template <class P>
bool is_written(P argument) noexcept {
  bool written = true;
  if constexpr (!is_input<P> && !is_list<P>) {
    visit_first_number(*argument,
                       [&]<class T>(const T& number) { written = number != untouched_value<T>(); });
  }
  return written;
}
// A text must be terminated as well.
template <std::size_t N>
bool is_written(TextBuffer<N>* text) noexcept {
  const std::size_t length = strnlen(text->bytes, N);
  return length != 0 && length != N;
}

// Each field of a call has its own outcome.
constexpr Code get_outcome(const FieldValue& field) noexcept {
  return field.result == untouched_result ? unusable : static_cast<Code>(field.result);
}

// Text of a successful call in a trace: "nvmlDeviceGetMemoryInfo: ok, total=…, free=…,
// used=…".
class CallText {
 public:
  explicit CallText(std::string_view symbol) noexcept { add({symbol}); }

  void add(std::initializer_list<Piece> pieces) noexcept;
  template <class P>
  void add_input(P argument) noexcept {
    if constexpr (std::integral<P>) add({" ", argument});
  }
  // Overloads for the functions whose lists need more than one parameter.
  template <class... P>
  void add_outputs(P... arguments) noexcept {
    (add_output(arguments), ...);
  }
  void add_outputs(Handle handle, RowCount* count, void* rows) noexcept;
  void add_outputs(Handle handle, ProcessSample* samples, RowCount* count,
                   unsigned long long since_us) noexcept;
  void add_outputs(Handle handle, int count, FieldValue* fields) noexcept;

  [[nodiscard]] MessageText text() const noexcept {
    return std::string_view(bytes_.data(), length_);
  }

 private:
  template <class P>
  void add_output(P argument) noexcept {
    if constexpr (!is_input<P>) {
      visit_outputs(*argument, [this](std::string_view name, auto& value) {
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
MessageText describe(const char* symbol, P... arguments) noexcept {
  CallText out(symbol);
  (out.add_input(arguments), ...);
  out.add({": ok"});
  out.add_outputs(arguments...);
  return out.text();
}

// Devices that a function answers for (functions.def).
enum class DeviceScope : std::uint8_t { any, gpu };

// A function of NVML in a loaded library, which may have several generations of it.
struct NamedSymbol {
  void* address = nullptr;
  const char* symbol_name = "";  // the name under which it was found; the newest one if it was not
  std::uint8_t generation = 0;   // of the names in functions.def: that of the newest in the library
  DeviceScope device_scope = DeviceScope::any;

  // Searches for the names in order.
  void find(const platform::Library& library, DeviceScope scope,
            std::initializer_list<const char*> names) noexcept;

  [[nodiscard]] const char* name() const noexcept { return symbol_name; }
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
#define HMN_NVML_FUNCTION(member, scope, parameters, ...) Function<Code parameters> member;
  HMN_NVML_FUNCTIONS(HMN_NVML_FUNCTION)
#undef HMN_NVML_FUNCTION

  void find(const platform::Library& library) noexcept;
};

// Opens only settings.nvml_path if set; else searches the system's places (system.hpp).
Result<platform::Library> open_library(const Settings& settings);

// Maps NVML's return codes to statuses; failures have a message with advice.

Status get_status(Code code) noexcept;

constexpr bool is_driver_code(Code c) noexcept {
  return c < late;
}

// Whether the library or the driver has no such function.
constexpr bool has_no_function(Code c) noexcept {
  return c == no_symbol || c == function_not_found;
}

// Whether the device must not be queried further in this reading.
bool ends_reading(Code c) noexcept;

// `function_name` is the function that returned `code`.
Failure make_failure(Code code, const char* function_name);

// For failures without an NVML code.
inline constexpr FailureFactory fail{Source::nvml};

inline constexpr std::uint64_t ns_per_us = 1000;

constexpr std::uint64_t ns_from_us(std::uint64_t us) noexcept {
  return us <= UINT64_MAX / ns_per_us ? us * ns_per_us : UINT64_MAX;
}

// The reading that a call belongs to and what it is about, for its deadline and its diagnostics.
struct CallContext {
  Reading& reading;
  std::uint32_t subject = 0;  // a bit of `subject`
  std::optional<Slot> device;
  std::optional<std::uint32_t> pid;
  bool is_opening = false;  // opening has a deadline of its own
  // The code that ended the reading of the device: no further calls are made.
  Code refusal = success;
  bool is_instance = false;  // the device is a MIG instance

  // Whether diagnostics are wanted; otherwise they need not be built.
  [[nodiscard]] bool wants_diagnostics() const noexcept { return reading.wants_diagnostics(); }
  void diagnose(const Failure& failure, FieldSet field = 0, std::uint32_t notes = 0) const;
  // Reports a finding of this library.
  void report(Status status, std::initializer_list<Piece> message, FieldSet field = 0,
              Reason reason = Reason::unknown, std::uint32_t notes = 0) const;
  // Reports that a value is missing because the function returned `code`.
  void report_missing(Code code, const char* function_name, FieldSet field) const;
  // Reports a value that a quick reading skips, since the function takes milliseconds.
  void report_skipped(const NamedSymbol& function, FieldSet field) const;
  // Returns success if the function may be called.
  [[nodiscard]] Code check_callable(const NamedSymbol& function) const noexcept;
  // Records a call of a traced reading.
  void trace(const Failure& outcome, std::uint64_t duration_ns) const;
  // Whether the function reports on the whole GPU only, not on this instance.
  [[nodiscard]] bool is_whole_gpu_only(const NamedSymbol& function) const noexcept {
    return is_instance && function.device_scope == DeviceScope::gpu;
  }
  [[nodiscard]] CallContext for_device(Slot slot) const noexcept;
  [[nodiscard]] CallContext for_process(std::uint32_t number) const noexcept;
  [[nodiscard]] bool is_late() const noexcept {
    return !is_opening && platform::monotonic_ns() > reading.deadline_ns();
  }
};

// Tells the reading that a library is being opened, which has a deadline of its own.
class OpeningScope {
 public:
  explicit OpeningScope(Reading& reading) noexcept : reading_(reading) { reading_.begin_opening(); }
  OpeningScope(const OpeningScope&) = delete;
  OpeningScope& operator=(const OpeningScope&) = delete;
  ~OpeningScope() { reading_.end_opening(); }

 private:
  Reading& reading_;
};

// Calls the driver, unless it is too late. The outputs of a failed call are undefined.
template <class... P>
Code call(const CallContext& context, const Function<Code(P...)>& function,
          std::type_identity_t<P>... arguments) {
  if (const Code refusal = context.check_callable(function); refusal != success) return refusal;
  (mark(arguments), ...);
  const std::uint64_t begin_ns = context.reading.wants_trace() ? platform::monotonic_ns() : 0;
  const Code code = function(arguments...);
  if (begin_ns != 0) {
    const std::uint64_t duration_ns = platform::monotonic_ns() - begin_ns;
    Failure outcome = make_failure(code, function.name());
    if (code == success) outcome.message = describe(function.name(), arguments...);
    context.trace(outcome, duration_ns);
  }
  return code == success && !(is_written(arguments) && ...) ? unusable : code;
}

}  // namespace hmn::nvml
