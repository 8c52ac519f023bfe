// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Load, temperature, power and clocks of a device.
#pragma once

#include <cstdint>

#include "backends/nvml/call.hpp"
#include "backends/nvml/known_device.hpp"
#include "backends/nvml/session.hpp"
#include "model/telemetry.hpp"

namespace hmn::nvml {

// Pure. Converts NVML's clock event reasons to `throttle` bits.
std::uint32_t throttle_bits(std::uint64_t reasons) noexcept;

class telemetry_reader {
 public:
  telemetry_reader(const topic& t, const session& s, const known_device& of, std::uint32_t fields,
                   telemetry& out) noexcept
      : t_(t), s_(s), of_(of), fields_(fields), out_(out) {}

  // Reports each missing wanted field; fails if all are missing.
  result<void> read();
  // Returns the code that ended it early: gpu_is_lost, uninitialized; else success.
  [[nodiscard]] code ended_by() const noexcept { return ended_by_; }

 private:
  template <class F, class... A>
  code ask(const F& from, A... arguments) {
    return ended_by_ != success ? ended_by_ : call(t_, from, of_.h, arguments...);
  }
  [[nodiscard]] bool wants(std::uint32_t bits) const noexcept;
  bool take(code c, const char* from, std::uint32_t bits);
  void refuse(status s, const char* from, const char* why, std::uint32_t bits);
  void percent(unsigned reported, std::uint32_t bit, std::optional<double>& out);

  void read_utilization();
  void read_engine(const percent_call& from, std::uint32_t bit, std::optional<double>& out);
  void read_temperature();
  void read_memory_temperature();
  void read_power();
  void read_energy();
  void read_clocks();
  void read_fan();
  void read_pcie();
  void read_p_state();
  void read_throttle();
  // `unknown`: what the driver writes where it has no value.
  void read_number(const number_call& from, std::uint32_t bit, std::optional<std::uint32_t>& out,
                   std::optional<unsigned> unknown = {});
  void read_watts(const number_call& from, std::uint32_t bit, std::optional<double>& out);
  void read_clock(unsigned which, std::uint32_t bit, std::optional<std::uint32_t>& out);
  void refuse_what_nvml_lacks();

  const topic& t_;
  const session& s_;
  const known_device& of_;
  const std::uint32_t fields_;
  telemetry& out_;
  bool any_ = false;
  code ended_by_ = success;
  code first_code_ = success;
  const char* first_from_ = "";
};

}  // namespace hmn::nvml
