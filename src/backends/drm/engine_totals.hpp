// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Engines of a card by class, from fdinfo of all clients: load, number, and a busy time that only
// grows, though clients end and their counters vanish.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/drm/clients.hpp"
#include "model/metric.hpp"

namespace hmn::drm {

class engine_totals {
 public:
  // Saves the gain from `before` to `now`, before `before` is dropped. `loads` is overwritten.
  void keep(const client_list& now, const client_list& before, std::span<const card> cards,
            load_sum& loads);
  void forget() noexcept { kept_.clear(); }

  // `load` is since `before`.
  void write(const client_list& before, const card& of, const card_load& load,
             std::vector<metric>& out);

 private:
  struct total {
    slot card = 0;
    std::uint32_t engine = 0;
    std::uint64_t busy_ns = 0;
  };

  // Returns the total, created from what the clients had used by then if it is new.
  total& until(const client_list& then, slot card, std::uint32_t engine);

  std::vector<total> kept_;
};

}  // namespace hmn::drm
