// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/fdinfo.hpp"

#include "backends/drm/discovery.hpp"
#include "backends/drm/sensors.hpp"
#include "fuzz.hpp"

using namespace hmn;
using namespace hmn::drm;

namespace {

void check_names(std::string_view input) {
  Node numbers;
  parse_numbers(input, numbers);
  const auto node = parse_node(input);
  promise(!node || input.size() >= node->name.view().size());
  promise(is_inside(device_part(input), input));
  const auto generation = parse_link_speed(input);
  promise(!generation || (*generation >= 1 && *generation <= 6));
}

void check_use(const Fdinfo& info) {
  const ClientUse use = measure(
      info, [](std::string_view region) { return classify_region_by_name(region); },
      [](std::string_view engine) { return classify_engine_by_name(engine); });
  promise(use.is_partial == info.is_partial);
  promise(!use.shared || !use.used() || *use.shared <= *use.used());
  promise(!use.purgeable || !use.used() || *use.purgeable <= *use.used());
  ClientUse twice = use;
  add(twice, use);
  promise(!twice.used() || *twice.used() / 2 == *use.used());
}

}  // namespace

void fuzz(std::string_view input) {
  check_names(input);
  const auto amount = parse_amount(input);
  promise(!amount || !input.empty());
  const auto info = parse_fdinfo(input);
  if (!info) return;
  promise(is_inside(info->text, input) && info->text.ends_with('\n'));
  promise(info->driver == "amdgpu" || (!info->driver.empty() && is_inside(info->driver, input)));
  promise(is_inside(info->pci_address, input) && is_inside(info->client_name, input));
  promise(info->regions().size() <= 16 && info->engines().size() <= 16);
  for (const Region& region : info->regions()) promise(is_inside(region.name, input));
  for (const Engine& engine : info->engines())
    promise(is_inside(engine.name, input) && engine.capacity != 0);
  check_use(*info);
  // Cutting off the end removes regions at most.
  const auto cut = parse_fdinfo(input.substr(0, input.size() - 1));
  promise(!cut || cut->regions().size() <= info->regions().size());
  (void)find_amount(input, "amd-evicted-vram");
}
