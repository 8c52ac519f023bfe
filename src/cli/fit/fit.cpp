// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/device_argument.hpp"
#include "cli/diagnostics.hpp"
#include "cli/fit/answer.hpp"
#include "cli/look.hpp"
#include "cli/no_gpu.hpp"
#include "cli/output.hpp"
#include "cli/size.hpp"
#include "cli/system/waiting_notice.hpp"
#include "cli/words.hpp"

namespace hmn::cli {
namespace {

using namespace fit;

expected<hmn_snapshot_options> wanted(const context& in, const options& asked) {
  auto what = sized<hmn_snapshot_options>();
  what.collect = HMN_COLLECT_SYSTEM | HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS;
  if (!asked.device) return what;
  const waiting_notice notice;
  return of_one_device(in, asked.device, what);
}

// What is available, as far as the control group lets this process have it.
std::optional<std::uint64_t> usable_ram(const snapshot& picture) {
  const auto system = picture.system();
  if (!system || !has(*system, HMN_SYSTEM_MEMORY_HAS_AVAILABLE)) return std::nullopt;
  if (!has(*system, HMN_SYSTEM_MEMORY_HAS_LIMIT)) return system->available_bytes;
  const auto used = has(*system, HMN_SYSTEM_MEMORY_HAS_LIMIT_USED) ? system->limit_used_bytes : 0;
  const auto left = system->limit_bytes - std::min(used, system->limit_bytes);
  return std::min(system->available_bytes, left);
}

std::optional<std::uint64_t> usable_of(const hmn_pool& pool) {
  std::optional<std::uint64_t> bytes = known(pool, HMN_POOL_HAS_USABLE, pool.usable_bytes);
  if (!bytes) bytes = known(pool, HMN_POOL_HAS_FREE, pool.free_bytes);
  if (!bytes) return std::nullopt;
  if (has(pool, HMN_POOL_HAS_BUDGET)) bytes = std::min(*bytes, pool.budget_bytes);
  return *bytes - std::min(*bytes, reserve_bytes);
}

bool lies_in_ram(const gpu& of) {
  if (of.device.memory_kind == HMN_MEMORY_KIND_UNIFIED) return true;
  return of.memory && (of.memory->kind == HMN_POOL_HOST || of.memory->kind == HMN_POOL_UNIFIED);
}

bool is_split(const std::vector<gpu>& all, const gpu& of) {
  return std::any_of(all.begin(), all.end(), [&of](const gpu& each) {
    return has(each.device, HMN_DEVICE_HAS_PARENT) && each.device.parent_index == of.device.index;
  });
}

std::string why_unknown(const gpu& of, bool split) {
  if (split) return "it is divided, its parts have the memory";
  if (of.device.state != HMN_STATE_READY && state_word(of.device.state))
    return std::string(*state_word(of.device.state));
  return "free memory is not known";
}

device_answer answer_of(gpu on, const std::vector<gpu>& all, const snapshot& picture,
                        const demand& needs, std::optional<std::uint64_t> ram) {
  device_answer made;
  for (const auto& each : picture.pools())
    if (each.device_index == on.device.index) made.pools.push_back(each);
  const bool split = is_split(all, on);
  if (on.memory && !split) made.usable = usable_of(*on.memory);
  made.shares_ram = lies_in_ram(on);
  if (!made.usable) made.why_unknown = why_unknown(on, split);
  made.placed = place(needs, {made.usable, ram, made.shares_ram});
  if (made.usable && !ram && made.placed.is == verdict::unknown)
    made.why_unknown = "free RAM is not known";
  made.on = std::move(on);
  return made;
}

void note_rooms(answer& all) {
  auto& told = all.needs.assumptions;
  if (all.devices.empty()) return;
  told.push_back(
      fmt::format("{} of each device are left to the runtime", size_text(reserve_bytes)));
  if (all.devices.size() > 1) told.push_back("each device by itself, not several together");
  for (const auto& each : all.devices)
    if (each.placed.is == verdict::partly && each.placed.layers != 0) {
      told.push_back(
          "in part: the last layers with their cache on the GPU; all else in RAM, "
          "working memory in both");
      return;
    }
}

void print_remarks(const context& in, const snapshot& picture, const demand& needs) {
  for (const auto& each : needs.warnings) write_remark(each);
  const bool none = picture.info().device_count == 0;
  const bool told = none && !search_failed(picture);
  print_diagnostics(picture, told);
  if (told) write_remark("GPU: " + why_no_gpu(in, picture));
}

}  // namespace

expected<exit_code> run_fit(const context& in, const options& asked, const style& as) {
  auto of = read_model(asked.fit.model);
  if (!of) return of.why();
  auto needs = demand_of(*of, asked.fit);
  if (!needs) return needs.why();
  const auto what = wanted(in, asked);
  if (!what) return what.why();
  const auto picture = look(in, *what, asked.trace);
  if (!picture) return picture.why();

  answer all{*std::move(of), *std::move(needs), {}, usable_ram(*picture), {}};
  all.in_ram = place_in_ram(all.needs, all.ram_usable);
  const auto gpus = gpus_of(*picture);
  for (const auto& each : gpus)
    all.devices.push_back(answer_of(each, gpus, *picture, all.needs, all.ram_usable));
  note_rooms(all);
  print_remarks(in, *picture, all.needs);
  const auto written =
      write_output(asked.json ? answer_json(all, asked.fit) : answer_text(all, asked.fit, as));
  return written == exit_code::done ? exit_code_of(verdict_of(all)) : written;
}

}  // namespace hmn::cli
