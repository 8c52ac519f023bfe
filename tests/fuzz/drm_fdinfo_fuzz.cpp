// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/fdinfo.hpp"

#include "backends/drm/discovery.hpp"
#include "backends/drm/sensors.hpp"
#include "fuzz.hpp"

using namespace hmn;
using namespace hmn::drm;

namespace {

void check_names(std::string_view input) {
  Node n;
  parse_numbers(input, n);
  const auto named = parse_node(input);
  promise(!named || input.size() >= named->name.view().size());
  promise(is_inside(device_part(input), input));
  const auto generation = generation_of(input);
  promise(!generation || (*generation >= 1 && *generation <= 6));
}

void check_use(const Fdinfo& info) {
  const ClientUse u = measure(
      info, [](std::string_view region) { return usual_role(region); },
      [](std::string_view engine) { return usual_kind(engine); });
  promise(u.is_partial == info.is_partial);
  promise(!u.shared || !u.used() || *u.shared <= *u.used());
  promise(!u.purgeable || !u.used() || *u.purgeable <= *u.used());
  ClientUse twice = u;
  add(twice, u);
  promise(!twice.used() || *twice.used() / 2 == *u.used());
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
  for (const Region& r : info->regions()) promise(is_inside(r.name, input));
  for (const Engine& e : info->engines()) promise(is_inside(e.name, input) && e.capacity != 0);
  check_use(*info);
  // What is cut off the end takes at most what stood there.
  const auto cut = parse_fdinfo(input.substr(0, input.size() - 1));
  promise(!cut || cut->regions().size() <= info->regions().size());
  (void)amount_of(input, "amd-evicted-vram");
}
