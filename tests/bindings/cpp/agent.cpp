// SPDX-License-Identifier: MIT OR Apache-2.0
// Answers the requests of ../behaviour.py through hypomnesis.hpp alone.
#include <functional>
#include <hypomnesis.hpp>
#include <iomanip>
#include <iostream>
#include <map>

#include "say.hpp"

namespace {

using Words = std::vector<std::string>;

std::optional<hypomnesis::context> open_context;
std::map<std::string, hypomnesis::snapshot> snapshots;
std::map<std::string, hypomnesis::sampler> samplers;
std::optional<hypomnesis::tracker> tracker;
std::optional<hypomnesis::spill> spill;

std::uint32_t u32(const std::string& word) {
  return static_cast<std::uint32_t>(std::stoul(word));
}

template <class Enum>
Enum as(const std::string& word) {
  return static_cast<Enum>(static_cast<std::underlying_type_t<Enum>>(std::stoll(word)));
}

hypomnesis::context& context() {
  if (!open_context) throw hypomnesis::closed("nothing was opened");
  return *open_context;
}

hypomnesis::snapshot& taken(const std::string& name) {
  return snapshots.at(name);
}

void open(const Words& w) {
  hypomnesis::context_options options;
  options.flags = as<hypomnesis::context_flag>(w[1]);
  options.deadline = std::chrono::milliseconds(u32(w[2]));
  options.max_age = std::chrono::milliseconds(u32(w[3]));
  open_context.emplace(options);
  if (w[4] != "-") open_context->set_path(hypomnesis::path_kind::simulation, w[4]);
}

void set_path(const Words& w) {
  const auto path = as<hypomnesis::path_kind>(w[1]);
  if (w[2] == "-") return context().set_default_path(path);
  context().set_path(path, w[2]);
}

void take(const Words& w) {
  hypomnesis::snapshot_options options;
  const std::uint32_t flags = u32(w[2]);
  options.collect = as<hypomnesis::part>(w[3]);
  if ((flags & HMN_SNAPSHOT_ONE_DEVICE) != 0) options.device_index = u32(w[4]);
  if ((flags & HMN_SNAPSHOT_ONE_PROCESS) != 0) options.pid = u32(w[5]);
  options.slow = (flags & HMN_SNAPSHOT_SLOW) != 0;
  options.quick = (flags & HMN_SNAPSHOT_QUICK) != 0;
  snapshots.insert_or_assign(w[1], context().take(options));
}

void sample(const Words& w) {
  hypomnesis::sampler_options options;
  options.interval = std::chrono::hours(1);
  hypomnesis::snapshot_options what;
  what.collect = static_cast<hypomnesis::part>(u32(w[2]));
  hypomnesis::sampler made = context().sample(options, what);
  made.start();
  samplers.insert_or_assign(w[1], std::move(made));
}

void estimate_tensor(const Words& w) {
  const std::vector<std::uint64_t> shape{std::stoull(w[1]), std::stoull(w[2])};
  say("value", hypomnesis::estimate_tensor(shape, hypomnesis::dtype_from_name(w[3])));
}

void estimate_cache(const Words& w) {
  hypomnesis::cache c;
  c.kind = as<hypomnesis::cache_kind>(w[1]);
  c.dtype = hypomnesis::dtype_id::f16;
  c.layers = std::stoull(w[2]);
  c.kv_heads = std::stoull(w[3]);
  c.row_dim = std::stoull(w[4]);
  say("value", hypomnesis::estimate_cache(c, std::stoull(w[5])));
}

void estimate_packed(const Words& w) {
  hypomnesis::packing p;
  p.dtype = hypomnesis::dtype_from_name(w[3]);
  p.group_size = u32(w[4]);
  p.group_bits = u32(w[5]);
  say("value", hypomnesis::estimate_packed({std::stoull(w[1]), std::stoull(w[2])}, p));
}

void estimate_attention(const Words& w) {
  hypomnesis::attention a;
  if (u32(w[5]) != 0) a.flags = hypomnesis::attention_flag::fused;
  a.dtype = hypomnesis::dtype_id::f16;
  a.heads = std::stoull(w[1]);
  a.kv_heads = std::stoull(w[2]);
  a.sequence = std::stoull(w[3]);
  a.head_dim = std::stoull(w[4]);
  say("value", hypomnesis::estimate_attention(a));
}

void track(const Words& w) {
  hypomnesis::tracker_options options;
  options.limit_bytes = std::stoull(w[1]);
  tracker.emplace(context().track(0, options));
}

hypomnesis::spill_options spill_options(const Words& w, std::size_t first) {
  hypomnesis::spill_options options;
  options.episode_capacity = u32(w[first]);
  options.dedicated_threshold_bytes = std::stoull(w[first + 1]);
  options.growth_bytes = std::stoull(w[first + 2]);
  return options;
}

// When, dedicated, shared, then limit and evicted, of which `-` is not known; the label.
void spill_feed(const Words& w) {
  hypomnesis::spill_sample given;
  given.monotonic_ns = std::stoull(w[1]);
  given.dedicated_bytes = std::stoull(w[2]);
  given.shared_bytes = std::stoull(w[3]);
  if (w[4] != "-") given.limit_bytes = std::stoull(w[4]);
  if (w[5] != "-") given.evicted_bytes = std::stoull(w[5]);
  spill->feed(given, w[6]);
}

void sample_next(const Words& w) {
  auto pulled = samplers.at(w[1]).next(std::chrono::minutes(1));
  if (pulled) snapshots.insert_or_assign(w[2], *std::move(pulled));
}

void version() {
  say("value", std::string(hypomnesis::version_string()));
  say("number", hypomnesis::version_number());
}

const std::map<std::string, std::function<void(const Words&)>> commands = {
    {"open", open},
    {"close", [](const Words&) { open_context ? open_context->close() : void(); }},
    {"set_path", set_path},
    {"scan", [](const Words&) { say("value", context().scan().count); }},
    {"scan_generation", [](const Words&) { say("value", context().scan().generation); }},
    {"find_device", [](const Words& w) { say("value", context().find_device(w[1])); }},
    {"device", [](const Words& w) { say(context().device(u32(w[1]))); }},
    {"pool",
     [](const Words& w) { say(context().pool(u32(w[1]), as<hypomnesis::pool_kind>(w[2]))); }},
    {"telemetry",
     [](const Words& w) {
       say(context().telemetry(u32(w[1]), as<hypomnesis::telemetry_field>(w[2])));
     }},
    {"metric",
     [](const Words& w) {
       say(context().metric(u32(w[1]), as<hypomnesis::metric_id>(w[2]), u32(w[3])));
     }},
    {"usage", [](const Words& w) { say(context().usage(u32(w[1]), u32(w[2]))); }},
    {"own_usage", [](const Words& w) { say(context().own_usage(u32(w[1]))); }},
    {"process_memory",
     [](const Words& w) {
       say(context().process_memory(u32(w[1]), as<hypomnesis::process_memory_field>(w[2])));
     }},
    {"own_memory",
     [](const Words& w) { say(context().own_memory(as<hypomnesis::process_memory_field>(w[1]))); }},
    {"system_memory", [](const Words&) { say(context().system_memory()); }},
    {"backend", [](const Words& w) { say(context().backend(as<hypomnesis::backend_id>(w[1]))); }},
    {"take", take},
    {"drop", [](const Words& w) { taken(w[1]).close(); }},
    {"info", [](const Words& w) { say(taken(w[1]).info()); }},
    {"memory", [](const Words& w) { say(taken(w[1]).memory()); }},
    {"system", [](const Words& w) { say(taken(w[1]).system()); }},
    {"snapshot_device", [](const Words& w) { say(taken(w[1]).device(u32(w[2]))); }},
    {"snapshot_telemetry",
     [](const Words& w) { say(taken(w[1]).telemetry(taken(w[1]).device(u32(w[2])).index)); }},
    {"self",
     [](const Words& w) { say(taken(w[1]).own_usage(taken(w[1]).device(u32(w[2])).index)); }},
    {"snapshot_pool", [](const Words& w) { say(taken(w[1]).pool(u32(w[2]))); }},
    {"snapshot_usage", [](const Words& w) { say(taken(w[1]).usage(u32(w[2]))); }},
    {"process_name", [](const Words& w) { say("value", taken(w[1]).process_name(u32(w[2]))); }},
    {"process_command",
     [](const Words& w) { say("value", taken(w[1]).process_command(u32(w[2]))); }},
    {"process_container",
     [](const Words& w) { say("value", taken(w[1]).process_container(u32(w[2]))); }},
    {"snapshot_group", [](const Words& w) { say(taken(w[1]).group(u32(w[2]))); }},
    {"group_name", [](const Words& w) { say("value", taken(w[1]).group(u32(w[2])).name); }},
    {"snapshot_metric", [](const Words& w) { say(taken(w[1]).metric(u32(w[2]))); }},
    {"diagnostic", [](const Words& w) { say(taken(w[1]).diagnostic(u32(w[2]))); }},
    {"reason",
     [](const Words& w) {
       hypomnesis::reason_key key;
       key.device_index = u32(w[2]);
       key.subject = as<hypomnesis::part>(w[3]);
       key.field = u32(w[4]);
       key.metric = as<hypomnesis::metric_id>(w[5]);
       key.metric_instance = u32(w[6]);
       key.pool = as<hypomnesis::pool_kind>(w[7]);
       key.pid = u32(w[8]);
       say(taken(w[1]).reason(key));
     }},
    {"json", [](const Words& w) { say("value", taken(w[1]).json()); }},
    {"device_line",
     [](const Words& w) {
       say("value", taken(w[1]).device_line(u32(w[2]), as<hypomnesis::device_format>(w[3])));
     }},
    {"delta",
     [](const Words& w) { say(hypomnesis::compare(taken(w[1]), taken(w[2]), u32(w[3]))); }},
    {"delta_line",
     [](const Words& w) {
       say("value", hypomnesis::delta_line(taken(w[1]), taken(w[2]), u32(w[3]), w[4]));
     }},
    {"before_after",
     [](const Words& w) {
       say("value", hypomnesis::before_after_lines(taken(w[1]), taken(w[2]), u32(w[3]), w[4]));
     }},
    {"estimate_tensor", estimate_tensor},
    {"estimate_cache", estimate_cache},
    {"estimate_packed", estimate_packed},
    {"estimate_attention", estimate_attention},
    {"estimate_overhead",
     [](const Words& w) {
       say("value", hypomnesis::estimate_overhead(std::stoull(w[1]), u32(w[2])));
     }},
    {"estimate_sum",
     [](const Words& w) {
       say("value", hypomnesis::estimate_sum({std::stoull(w[1]), std::stoull(w[2])}));
     }},
    {"dtype_bits",
     [](const Words& w) {
       say("value", hypomnesis::bits(hypomnesis::dtype_from_name(w[1])));
     }},
    {"track_limit",
     [](const Words& w) {
       tracker->set_limit(w[1] != "-" ? std::optional(std::stoull(w[1])) : std::nullopt);
     }},
    {"track_reset", [](const Words&) { tracker->reset(); }},
    {"track", track},
    {"track_tag", [](const Words& w) { say("value", tracker->tag(w[1])); }},
    {"track_allocate", [](const Words& w) { tracker->allocate(std::stoull(w[1]), u32(w[2])); }},
    {"track_release", [](const Words& w) { tracker->release(std::stoull(w[1]), u32(w[2])); }},
    {"track_fits",
     [](const Words& w) { say("value", tracker->would_fit(std::stoull(w[1])) ? 1U : 0U); }},
    {"track_info", [](const Words&) { say(tracker->info()); }},
    {"track_read_tag", [](const Words& w) { say(tracker->tag_info(u32(w[1]))); }},
    {"spill",
     [](const Words& w) { spill.emplace(context().detect_spill(u32(w[1]), spill_options(w, 2))); }},
    {"spill_fed",
     [](const Words& w) { spill.emplace(hypomnesis::spill::fed(spill_options(w, 1))); }},
    {"spill_observe", [](const Words& w) { spill->observe(w[1]); }},
    {"spill_snapshot", [](const Words& w) { spill->observe(taken(w[1]), w[2]); }},
    {"spill_feed", spill_feed},
    {"spill_info", [](const Words&) { say(spill->info()); }},
    {"spill_episode", [](const Words& w) { say(spill->episode(std::stoull(w[1]))); }},
    {"sample", sample},
    {"sample_next", sample_next},
    {"sample_stop", [](const Words& w) { samplers.at(w[1]).stop(); }},
    {"sample_drop", [](const Words& w) { samplers.at(w[1]).close(); }},
    {"sample_info", [](const Words& w) { say(samplers.at(w[1]).info()); }},
    {"sample_pool", [](const Words& w) { say(samplers.at(w[1]).latest_pool(u32(w[2]))); }},
    {"sample_telemetry",
     [](const Words& w) { say(samplers.at(w[1]).latest_telemetry(u32(w[2]))); }},
    {"sample_peak", [](const Words& w) { say(samplers.at(w[1]).peak(u32(w[2]), u32(w[3]))); }},
    {"sample_device_peak", [](const Words& w) { say(samplers.at(w[1]).device_peak(u32(w[2]))); }},
    {"format_bytes",
     [](const Words& w) { say("value", hypomnesis::format_bytes(std::stoull(w[1]))); }},
    {"status_name",
     [](const Words& w) {
       say("value", std::string(hypomnesis::name(as<hypomnesis::status_code>(w[1]))));
     }},
    {"backend_name",
     [](const Words& w) {
       say("value", std::string(hypomnesis::name(as<hypomnesis::backend_id>(w[1]))));
     }},
    {"reason_name",
     [](const Words& w) {
       say("value", std::string(hypomnesis::name(as<hypomnesis::reason_id>(w[1]))));
     }},
    {"metric_name",
     [](const Words& w) {
       say("value", std::string(hypomnesis::name(as<hypomnesis::metric_id>(w[1]))));
     }},
    {"metric_unit",
     [](const Words& w) {
       say("value", std::string(hypomnesis::unit(as<hypomnesis::metric_id>(w[1]))));
     }},
    {"metric_instance_name",
     [](const Words& w) {
       const auto id = as<hypomnesis::metric_id>(w[1]);
       say("value", std::string(hypomnesis::instance_name(id, u32(w[2]))));
     }},
    {"backend_available",
     [](const Words& w) {
       say("value", hypomnesis::has_backend(as<hypomnesis::backend_id>(w[1])) ? 1U : 0U);
     }},
    {"feature",
     [](const Words&
            w) { say("value", hypomnesis::has_feature(as<hypomnesis::feature_id>(w[1])) ? 1U : 0U); }},
    {"version", [](const Words&) { version(); }}};

Words split(const std::string& line) {
  Words found(1);
  for (const char c : line) {
    if (c == '\t')
      found.emplace_back();
    else
      found.back() += c;
  }
  return found;
}

void answer(const Words& w) {
  try {
    commands.at(w[0])(w);
  } catch (const hypomnesis::error& e) {
    std::cout << "error\t" << e.status_name() << '\n';
    say("message", std::string(e.what()));
  } catch (const hypomnesis::closed&) {
    std::cout << "error\tclosed\n";
  }
}

}  // namespace

int main() {
  std::cout << std::setprecision(17);
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    answer(split(line));
    std::cout << std::endl;
  }
}
