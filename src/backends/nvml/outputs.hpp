// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Outputs of a call of the driver: whether it wrote them, and what they are.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>

#include "backends/nvml/abi.hpp"
#include "model/compose.hpp"
#include "model/message_text.hpp"

namespace hmn::nvml {

// Visits what the driver writes, in the order of the struct, each with its name.
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
// Their readers check each row.
template <class P>
constexpr bool is_list = std::same_as<P, row_count*> || std::same_as<P, process_sample*> ||
                         std::same_as<P, field_value*> || std::same_as<P, void*>;

// Applies to the first number, which the driver writes whenever it succeeds.
void first_number(auto& output, auto apply) {
  bool is_over = false;
  each_output(output, [&](std::string_view, auto& value) {
    if constexpr (!std::is_array_v<std::remove_reference_t<decltype(value)>>) {
      if (!std::exchange(is_over, true)) apply(value);
    }
  });
}

// Addresses are marked by null: of a failed call they must not be used.
template <class T>
constexpr T mark_of() noexcept {
  if constexpr (std::is_pointer_v<T>) {
    return nullptr;
  } else {
    return static_cast<T>(untouched_bits);
  }
}

// Marks an output, so that one which the driver leaves alone is recognized.
template <class P>
void mark(P passed) noexcept {
  if constexpr (!is_input<P> && !is_list<P>) {
    first_number(*passed, []<class T>(T& number) { number = mark_of<T>(); });
  }
}

// Whether the driver wrote it.
template <class P>
bool is_written(P passed) noexcept {
  bool is = true;
  if constexpr (!is_input<P> && !is_list<P>) {
    first_number(*passed, [&]<class T>(const T& number) { is = number != mark_of<T>(); });
  }
  return is;
}
// Also whether it terminated it.
template <std::size_t N>
bool is_written(text_buffer<N>* text) noexcept {
  const std::size_t length = strnlen(text->bytes, N);
  return length != 0 && length != N;
}

// A field has its own outcome.
constexpr code outcome_of(const field_value& reported) noexcept {
  return reported.result == untouched_result ? unusable : static_cast<code>(reported.result);
}

// Sentence on a successful call: "nvmlDeviceGetMemoryInfo: ok, total=…, free=…, used=…".
class call_text {
 public:
  explicit call_text(std::string_view symbol) noexcept { add({symbol}); }

  void add(std::initializer_list<piece> pieces) noexcept;
  template <class P>
  void add_input(P passed) noexcept {
    if constexpr (std::integral<P>) add({" ", passed});
  }
  // By the parameters of the function.
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

  std::array<char, message_text::capacity + 1> bytes_;  // one more shows that it was cut
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

}  // namespace hmn::nvml
