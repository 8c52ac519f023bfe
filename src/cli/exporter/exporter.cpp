// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/exporter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "cli/exporter/collector.hpp"
#include "cli/exporter/compat.hpp"
#include "cli/exporter/devices.hpp"
#include "cli/exporter/samples.hpp"
#include "cli/exporter/server.hpp"
#include "cli/exporter/workloads.hpp"
#include "cli/measure/session.hpp"
#include "cli/system/file.hpp"
#include "cli/system/waiting.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli {
namespace {

struct scraped {
  samples made;
  std::optional<std::string> search_failure;  // why it is not known which GPUs there are
};

// Reads the machine, again and again. Not for several threads at once.
class scraper {
 public:
  scraper(const session& in, const exporter_settings& how);
  scraper(const scraper&) = delete;
  scraper& operator=(const scraper&) = delete;

  // Ends by the deadline; what could not be read is among the samples, with the reason.
  scraped scrape(std::chrono::milliseconds deadline);

 private:
  const session& in_;
  const exporter_settings& how_;
  known_devices devices_;
  transfer_rates rates_;
  workloads workloads_;
};

scraper::scraper(const session& in, const exporter_settings& how)
    : in_(in), how_(how), workloads_(how.per, in) {}

scraped scraper::scrape(std::chrono::milliseconds deadline) {
  hypomnesis::snapshot_options what;
  what.collect = exported_parts;
  what.deadline = std::min(deadline, std::chrono::milliseconds(how_.timeout_ms));
  const auto end = user_names::clock::now() + what.deadline;
  const auto snapshot = in_.library().take(what);
  if (how_.is_traced) print_trace(snapshot);
  auto values = snapshot.values();
  devices_.complete(values.devices);
  const device_ids ids(values.devices);
  scraped out;
  collect(values, ids, out.made);
  rates_.update(values);
  for (const auto each : how_.compatible)
    collect_compatible(each, values.devices, rates_, out.made);
  workloads_.collect(values, ids, end, out.made);
  out.search_failure = why_search_failed(snapshot);
  return out;
}

using std::chrono::milliseconds;

scraped scrape_now(scraper& from, const exporter_settings& how) {
  auto done = from.scrape(milliseconds(how.timeout_ms));
  if (done.search_failure) write_notice(*done.search_failure);
  return done;
}

exit_code result_of(const scraped& of) {
  return of.search_failure ? exit_code::failed : exit_code::done;
}

expected<exit_code> print(scraper& from, const exporter_settings& how) {
  const auto done = scrape_now(from, how);
  return std::max(result_of(done), write_output(write_samples(done.made, how.format, how.names)));
}

// A failure to write is reported and tried again: a full disk may have space later.
expected<exit_code> write_text_file(scraper& from, const exporter_settings& how) {
  auto to = *how.text_file;
  stop_request stop;
  for (auto next = stop_request::clock::now();;) {
    const auto done = scrape_now(from, how);
    auto wrong = write_file(to, write_samples(done.made, how.format, how.names), readers::everyone);
    if (!how.interval_ms) return wrong ? expected<exit_code>(*std::move(wrong)) : result_of(done);
    if (wrong) write_notice(wrong->message);
    to.force = to.force || !wrong;  // replaces what it has written
    next = std::max(next + milliseconds(*how.interval_ms), stop_request::clock::now());
    if (stop.wait_until(next)) return exit_code::done;
  }
}

rendering scrape_or_report(scraper& from, const exporter_settings& how, milliseconds deadline) {
  try {
    return [made = from.scrape(deadline).made, &how](text_format format) {
      return write_samples(made, format, how.names);
    };
  } catch (const std::exception& why) {
    write_notice(why.what());
    return nullptr;
  }
}

expected<exit_code> serve_until_stopped(scraper& from, const exporter_settings& how) {
  server_settings server;
  server.command_line = how.command_line;
  server.address = how.address;
  server.port = how.port;
  server.web_config = how.web_config;
  server.max_age = milliseconds(how.max_age_ms);
  server.scrape = [&](milliseconds deadline) { return scrape_or_report(from, how, deadline); };
  server.listening = [](const std::string& url) {
    write_notice(fmt::format("listening at {}/metrics", url));
  };
  server.wait_for_stop = [] {
    stop_request stop;
    while (!stop.wait_until(stop_request::clock::now() + std::chrono::hours(1))) {
    }
  };
  if (auto wrong = serve(server)) return *std::move(wrong);
  return exit_code::done;
}

}  // namespace

expected<exit_code> run_exporter(const session& in, const exporter_settings& how) {
  scraper from(in, how);
  if (how.once) return print(from, how);
  return how.text_file ? write_text_file(from, how) : serve_until_stopped(from, how);
}

}  // namespace hmn::cli
