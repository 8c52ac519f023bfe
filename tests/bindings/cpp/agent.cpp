// SPDX-License-Identifier: MIT OR Apache-2.0
// Answers the requests of ../behaviour.py through hypomnesis.hpp alone.
#include <functional>
#include <hypomnesis.hpp>
#include <iomanip>
#include <iostream>
#include <map>

#include "say.hpp"

namespace {

using words = std::vector<std::string>;

std::optional<hypomnesis::context> open_context;
std::map<std::string, hypomnesis::snapshot> snapshots;
std::map<std::string, hypomnesis::sampler> samplers;
std::optional<hypomnesis::tracker> tracker;
std::optional<hypomnesis::spill> spill;

std::uint32_t u32(const std::string& word) {
  return static_cast<std::uint32_t>(std::stoul(word));
}

template <class Enum>
Enum parse(const std::string& word) {
  return static_cast<Enum>(static_cast<std::underlying_type_t<Enum>>(std::stoll(word)));
}

hypomnesis::context& context() {
  if (!open_context) throw hypomnesis::closed("nothing was opened");
  return *open_context;
}

hypomnesis::snapshot& snapshot(const std::string& name) {
  return snapshots.at(name);
}

void open(const words& w) {
  hypomnesis::context_options options;
  options.flags = parse<hypomnesis::context_flag>(w[1]);
  options.deadline = std::chrono::milliseconds(u32(w[2]));
  options.max_age = std::chrono::milliseconds(u32(w[3]));
  open_context.emplace(options);
  if (w[4] != "-") open_context->set_path(hypomnesis::path_kind::simulation, w[4]);
}

void set_path(const words& w) {
  const auto path = parse<hypomnesis::path_kind>(w[1]);
  if (w[2] == "-") return context().set_default_path(path);
  context().set_path(path, w[2]);
}

void take(const words& w) {
  hypomnesis::snapshot_options options;
  const std::uint32_t flags = u32(w[2]);
  options.collect = parse<hypomnesis::part>(w[3]);
  if ((flags & HMN_SNAPSHOT_ONE_DEVICE) != 0) options.device_index = u32(w[4]);
  if ((flags & HMN_SNAPSHOT_ONE_PROCESS) != 0) options.pid = u32(w[5]);
  options.slow = (flags & HMN_SNAPSHOT_SLOW) != 0;
  options.quick = (flags & HMN_SNAPSHOT_QUICK) != 0;
  snapshots.insert_or_assign(w[1], context().take(options));
}

void sample_idle(const words& w) {
  hypomnesis::sampler_options options;
  options.interval = std::chrono::hours(1);
  hypomnesis::snapshot_options snapshot_options;
  snapshot_options.collect = static_cast<hypomnesis::part>(u32(w[2]));
  samplers.insert_or_assign(w[1], context().sample(options, snapshot_options));
}

void sample(const words& w) {
  sample_idle(w);
  samplers.at(w[1]).start();
}

void estimate_tensor(const words& w) {
  const std::vector<std::uint64_t> shape{std::stoull(w[1]), std::stoull(w[2])};
  write_field("value", hypomnesis::estimate_tensor(shape, hypomnesis::dtype_from_name(w[3])));
}

void estimate_cache(const words& w) {
  hypomnesis::cache cache;
  cache.kind = parse<hypomnesis::cache_kind>(w[1]);
  cache.dtype = hypomnesis::dtype_id::f16;
  cache.layers = std::stoull(w[2]);
  cache.kv_heads = std::stoull(w[3]);
  cache.row_dim = std::stoull(w[4]);
  write_field("value", hypomnesis::estimate_cache(cache, std::stoull(w[5])));
}

void estimate_packed(const words& w) {
  hypomnesis::packing packing;
  packing.dtype = hypomnesis::dtype_from_name(w[3]);
  packing.group_size = u32(w[4]);
  packing.group_bits = u32(w[5]);
  write_field("value",
              hypomnesis::estimate_packed({std::stoull(w[1]), std::stoull(w[2])}, packing));
}

void estimate_attention(const words& w) {
  hypomnesis::attention attention;
  if (u32(w[5]) != 0) attention.flags = hypomnesis::attention_flag::fused;
  attention.dtype = hypomnesis::dtype_id::f16;
  attention.heads = std::stoull(w[1]);
  attention.kv_heads = std::stoull(w[2]);
  attention.sequence = std::stoull(w[3]);
  attention.head_dim = std::stoull(w[4]);
  write_field("value", hypomnesis::estimate_attention(attention));
}

void track(const words& w) {
  hypomnesis::tracker_options options;
  options.limit_bytes = std::stoull(w[1]);
  tracker.emplace(context().track(0, options));
}

hypomnesis::spill_options spill_options(const words& w, std::size_t first) {
  hypomnesis::spill_options options;
  options.episode_capacity = u32(w[first]);
  options.dedicated_threshold_bytes = std::stoull(w[first + 1]);
  options.growth_bytes = std::stoull(w[first + 2]);
  return options;
}

// Words: time, dedicated, shared, limit, evicted, label; an unknown limit or evicted is `-`.
void spill_feed(const words& w) {
  hypomnesis::spill_sample sample;
  sample.monotonic_ns = std::stoull(w[1]);
  sample.dedicated_bytes = std::stoull(w[2]);
  sample.shared_bytes = std::stoull(w[3]);
  if (w[4] != "-") sample.limit_bytes = std::stoull(w[4]);
  if (w[5] != "-") sample.evicted_bytes = std::stoull(w[5]);
  spill->feed(sample, w[6]);
}

void sample_next(const words& w) {
  hypomnesis::sampler& sampler = samplers.at(w[1]);
  auto snapshot = sampler.next(std::chrono::milliseconds(std::stoul(w[3])));
  const char* outcome = snapshot ? "sample" : sampler.has_ended() ? "end" : "timeout";
  if (snapshot) snapshots.insert_or_assign(w[2], *std::move(snapshot));
  write_field("value", std::string(outcome));
}

void version() {
  write_field("value", std::string(hypomnesis::version_string()));
  write_field("number", hypomnesis::version_number());
}

const std::map<std::string, std::function<void(const words&)>> commands = {
    {"open", open},
    {"close", [](const words&) { open_context ? open_context->close() : void(); }},
    {"set_path", set_path},
    {"scan", [](const words&) { write_field("value", context().scan().count); }},
    {"scan_generation", [](const words&) { write_field("value", context().scan().generation); }},
    {"find_device", [](const words& w) { write_field("value", context().find_device(w[1])); }},
    {"device", [](const words& w) { write_record(context().device(u32(w[1]))); }},
    {"pool",
     [](const words& w) {
       write_record(context().pool(u32(w[1]), parse<hypomnesis::pool_kind>(w[2])));
     }},
    {"telemetry",
     [](const words& w) {
       write_record(context().telemetry(u32(w[1]), parse<hypomnesis::telemetry_field>(w[2])));
     }},
    {"metric",
     [](const words& w) {
       write_record(context().metric(u32(w[1]), parse<hypomnesis::metric_id>(w[2]), u32(w[3])));
     }},
    {"usage", [](const words& w) { write_record(context().usage(u32(w[1]), u32(w[2]))); }},
    {"own_usage", [](const words& w) { write_record(context().own_usage(u32(w[1]))); }},
    {"process_memory",
     [](const words& w) {
       const auto fields = parse<hypomnesis::process_memory_field>(w[2]);
       write_record(context().process_memory(u32(w[1]), fields));
     }},
    {"own_memory",
     [](const words& w) {
       write_record(context().own_memory(parse<hypomnesis::process_memory_field>(w[1])));
     }},
    {"system_memory", [](const words&) { write_record(context().system_memory()); }},
    {"backend",
     [](const words& w) {
       write_record(context().backend(parse<hypomnesis::backend_id>(w[1])));
     }},
    {"take", take},
    {"drop", [](const words& w) { snapshot(w[1]).close(); }},
    {"info", [](const words& w) { write_record(snapshot(w[1]).info()); }},
    {"memory", [](const words& w) { write_record(snapshot(w[1]).memory()); }},
    {"system", [](const words& w) { write_record(snapshot(w[1]).system()); }},
    {"snapshot_device", [](const words& w) { write_record(snapshot(w[1]).device(u32(w[2]))); }},
    {"snapshot_telemetry",
     [](const words& w) {
       write_record(snapshot(w[1]).telemetry(snapshot(w[1]).device(u32(w[2])).index));
     }},
    {"self",
     [](const words& w) {
       write_record(snapshot(w[1]).own_usage(snapshot(w[1]).device(u32(w[2])).index));
     }},
    {"snapshot_pool", [](const words& w) { write_record(snapshot(w[1]).pool(u32(w[2]))); }},
    {"snapshot_usage", [](const words& w) { write_record(snapshot(w[1]).usage(u32(w[2]))); }},
    {"process_name",
     [](const words& w) {
       write_field("value", snapshot(w[1]).process_name(u32(w[2])));
     }},
    {"process_command",
     [](const words& w) { write_field("value", snapshot(w[1]).process_command(u32(w[2]))); }},
    {"process_container",
     [](const words& w) { write_field("value", snapshot(w[1]).process_container(u32(w[2]))); }},
    {"snapshot_group", [](const words& w) { write_record(snapshot(w[1]).group(u32(w[2]))); }},
    {"group_name",
     [](const words& w) {
       write_field("value", snapshot(w[1]).group(u32(w[2])).name);
     }},
    {"snapshot_metric", [](const words& w) { write_record(snapshot(w[1]).metric(u32(w[2]))); }},
    {"diagnostic", [](const words& w) { write_record(snapshot(w[1]).diagnostic(u32(w[2]))); }},
    {"reason",
     [](const words& w) {
       hypomnesis::reason_key key;
       key.device_index = u32(w[2]);
       key.subject = parse<hypomnesis::part>(w[3]);
       key.field = u32(w[4]);
       key.metric = parse<hypomnesis::metric_id>(w[5]);
       key.metric_instance = u32(w[6]);
       key.pool = parse<hypomnesis::pool_kind>(w[7]);
       key.pid = u32(w[8]);
       write_record(snapshot(w[1]).reason(key));
     }},
    {"json", [](const words& w) { write_field("value", snapshot(w[1]).json()); }},
    {"device_line",
     [](const words& w) {
       const auto format = parse<hypomnesis::device_format>(w[3]);
       write_field("value", snapshot(w[1]).device_line(u32(w[2]), format));
     }},
    {"delta",
     [](const words& w) {
       write_record(hypomnesis::compare(snapshot(w[1]), snapshot(w[2]), u32(w[3])));
     }},
    {"delta_line",
     [](const words& w) {
       const auto line = hypomnesis::delta_line(snapshot(w[1]), snapshot(w[2]), u32(w[3]), w[4]);
       write_field("value", line);
     }},
    {"before_after",
     [](const words& w) {
       const auto lines =
           hypomnesis::before_after_lines(snapshot(w[1]), snapshot(w[2]), u32(w[3]), w[4]);
       write_field("value", lines);
     }},
    {"estimate_tensor", estimate_tensor},
    {"estimate_cache", estimate_cache},
    {"estimate_packed", estimate_packed},
    {"estimate_attention", estimate_attention},
    {"estimate_overhead",
     [](const words& w) {
       write_field("value", hypomnesis::estimate_overhead(std::stoull(w[1]), u32(w[2])));
     }},
    {"estimate_sum",
     [](const words& w) {
       write_field("value", hypomnesis::estimate_sum({std::stoull(w[1]), std::stoull(w[2])}));
     }},
    {"dtype_bits",
     [](const words& w) {
       write_field("value", hypomnesis::bits(hypomnesis::dtype_from_name(w[1])));
     }},
    {"track_limit",
     [](const words& w) {
       tracker->set_limit(w[1] != "-" ? std::optional(std::stoull(w[1])) : std::nullopt);
     }},
    {"track_reset", [](const words&) { tracker->reset(); }},
    {"track", track},
    {"track_tag", [](const words& w) { write_field("value", tracker->tag(w[1])); }},
    {"track_allocate", [](const words& w) { tracker->allocate(std::stoull(w[1]), u32(w[2])); }},
    {"track_release", [](const words& w) { tracker->release(std::stoull(w[1]), u32(w[2])); }},
    {"track_fits",
     [](const words& w) { write_field("value", tracker->would_fit(std::stoull(w[1])) ? 1U : 0U); }},
    {"track_info", [](const words&) { write_record(tracker->info()); }},
    {"track_read_tag", [](const words& w) { write_record(tracker->tag_info(u32(w[1]))); }},
    {"spill",
     [](const words& w) { spill.emplace(context().detect_spill(u32(w[1]), spill_options(w, 2))); }},
    {"spill_fed",
     [](const words& w) { spill.emplace(hypomnesis::spill::fed(spill_options(w, 1))); }},
    {"spill_observe", [](const words& w) { spill->observe(w[1]); }},
    {"spill_snapshot", [](const words& w) { spill->observe(snapshot(w[1]), w[2]); }},
    {"spill_feed", spill_feed},
    {"spill_info", [](const words&) { write_record(spill->info()); }},
    {"spill_episode", [](const words& w) { write_record(spill->episode(std::stoull(w[1]))); }},
    {"sample", sample},
    {"sample_idle", sample_idle},
    {"sample_next", sample_next},
    {"sample_stop", [](const words& w) { samplers.at(w[1]).stop(); }},
    {"sample_drop", [](const words& w) { samplers.at(w[1]).close(); }},
    {"sample_info", [](const words& w) { write_record(samplers.at(w[1]).info()); }},
    {"sample_pool", [](const words& w) { write_record(samplers.at(w[1]).latest_pool(u32(w[2]))); }},
    {"sample_telemetry",
     [](const words& w) { write_record(samplers.at(w[1]).latest_telemetry(u32(w[2]))); }},
    {"sample_peak",
     [](const words& w) {
       write_record(samplers.at(w[1]).peak(u32(w[2]), u32(w[3])));
     }},
    {"sample_device_peak",
     [](const words& w) {
       write_record(samplers.at(w[1]).device_peak(u32(w[2])));
     }},
    {"format_bytes",
     [](const words& w) { write_field("value", hypomnesis::format_bytes(std::stoull(w[1]))); }},
    {"status_name",
     [](const words& w) {
       write_field("value", std::string(hypomnesis::name(parse<hypomnesis::status_code>(w[1]))));
     }},
    {"backend_name",
     [](const words& w) {
       write_field("value", std::string(hypomnesis::name(parse<hypomnesis::backend_id>(w[1]))));
     }},
    {"reason_name",
     [](const words& w) {
       write_field("value", std::string(hypomnesis::name(parse<hypomnesis::reason_id>(w[1]))));
     }},
    {"metric_name",
     [](const words& w) {
       write_field("value", std::string(hypomnesis::name(parse<hypomnesis::metric_id>(w[1]))));
     }},
    {"metric_unit",
     [](const words& w) {
       write_field("value", std::string(hypomnesis::unit(parse<hypomnesis::metric_id>(w[1]))));
     }},
    {"metric_instance_name",
     [](const words& w) {
       const auto id = parse<hypomnesis::metric_id>(w[1]);
       write_field("value", std::string(hypomnesis::instance_name(id, u32(w[2]))));
     }},
    {"backend_available",
     [](const words& w) {
       write_field("value", hypomnesis::has_backend(parse<hypomnesis::backend_id>(w[1])) ? 1U : 0U);
     }},
    {"feature",
     [](const words& w) {
       write_field("value", hypomnesis::has_feature(parse<hypomnesis::feature_id>(w[1])) ? 1U : 0U);
     }},
    {"version", [](const words&) { version(); }}};

words split(const std::string& line) {
  words fields(1);
  for (const char c : line) {
    if (c == '\t')
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

void answer(const words& w) {
  try {
    commands.at(w[0])(w);
  } catch (const hypomnesis::error& e) {
    std::cout << "error\t" << e.status_name() << '\n';
    write_field("message", std::string(e.what()));
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
