// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/tool.hpp"

#include "model/message_text.hpp"
#include "model/pci_address.hpp"
#include "model/scan.hpp"
#include "model/text.hpp"

namespace hmn::nvidia_smi {

Result<void> Tool::run(Reading& r, std::string_view option, ColumnChoice& choice,
                       FunctionRef<Parsed(std::string_view text, bool cut)> parse,
                       std::vector<Problem>& problems) {
  if (Result<void> here = program_.find(); !here) return here;
  if (program_.was_replaced()) {
    // The columns depend on the driver's version.
    gpu_columns_.reset();
    app_columns_.reset();
  }
  // Each round but the last gives up one rejected spelling.
  for (;;) {
    const platform::Outcome o =
        program_.run({compose({option, "=", choice.list()}), "--format=csv,nounits"}, false, r);
    const command_tool::Verdict v(smi, o);
    if (auto why = v.why_not_run(program_.path())) return *why;
    const Parsed a = parse(o.output, is_cut(o));
    if (a.is_table) {
      problems = problems_of(o, a.strays);
      const bool lacks_rows = a.is_truncated || o.what == platform::Outcome::Kind::output_too_long;
      if (lacks_rows) problems.push_back({too_many(a.count), {}});
      return {};
    }
    Refusal refused = why_no_table(o, a.strays);
    if (!refused.why) return {};
    if (!choice.refuse(refused.field)) return *refused.why;
  }
}

template <class Row>
Result<void> Tool::ask(Reading& r, std::string_view option, ColumnChoice& choice,
                       Answer<Row> (*parse)(std::string_view, bool), Reply<Row>& out) {
  out = {};
  const auto take = [&](std::string_view text, bool cut) -> Parsed {
    Answer<Row> a = parse(text, cut);
    out.rows = std::move(a.rows);
    a.count = out.rows.size();
    return a;
  };
  return run(r, option, choice, take, out.problems);
}

Result<void> Tool::ask_gpus(Reading& r, Reply<GpuRow>& out) {
  return ask(r, "--query-gpu", gpu_columns_, parse_gpus, out);
}

Result<void> Tool::ask_apps(Reading& r, Reply<AppRow>& out) {
  return ask(r, "--query-compute-apps", app_columns_, parse_apps, out);
}

namespace {

using About = Sentence::About;

constexpr const char* load_driver =
    "load it with 'modprobe nvidia', in a container start it with GPU access, or install the "
    "driver";

constexpr command_tool::Sentence known_sentences[] = {
    {"No devices were found", About::nothing, Status::no_device,
     "the driver runs and finds no GPU that it can use; see 'dmesg' for NVRM lines"},
    {"No running", About::nothing, Status::empty, "no process uses the GPU"},
    {"couldn't communicate with the NVIDIA driver", About::tool, Status::no_source, load_driver},
    {"couldn't find libnvidia-ml", About::tool, Status::no_source,
     "install the user-space part of the NVIDIA driver, or start the container with GPU access"},
    {"version mismatch", About::tool, Status::backend,
     "driver library and kernel module differ, as after an update; reload the nvidia modules or "
     "reboot"},
    {"Driver Not Loaded", About::tool, Status::no_source, load_driver},
    {"blocked by the operating system", About::tool, Status::permission,
     "give the container or service access to /dev/nvidia*"},
    {"ermission", About::tool, Status::permission, "run it as a user who may open /dev/nvidia*"},
    {"is lost", About::device, Status::device_lost,
     "see 'dmesg' for Xid lines, then reset the GPU or reboot"},
    {"requires reset", About::device, Status::backend,
     "reset it with 'nvidia-smi --gpu-reset', or reboot"},
    {"Unable to determine the device handle", About::device, Status::backend,
     "see 'dmesg' for NVRM lines; resetting the GPU or a reboot may help"},
    {"Failed to initialize NVML", About::tool, Status::backend,
     "see 'dmesg' for NVRM lines; a container that lost its devices must be started again"},
    {"infoROM is corrupted", About::warning, Status::ok, "the values are still valid"},
    {"is not recognized", About::tool, Status::unsupported, "this tool is too old"},
    {"is missing its value", About::tool, Status::unsupported, "this tool is too old"},
    {"Invalid combination of input arguments", About::tool, Status::unsupported,
     "this tool is too old"},
    {"NVIDIA-SMI has failed", About::tool, Status::backend, "see 'dmesg' for NVRM lines"},
};

// Parses "Field "cuda_version" is not a valid field to query."
std::optional<std::string> refused_field(std::string_view line) {
  if (!line.starts_with("Field \"") || line.find("not a valid field") == std::string_view::npos) {
    return std::nullopt;
  }
  line.remove_prefix(7);
  const std::size_t end = line.find('"');
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(line.substr(0, end));
}

// Finds the first word that is a PCI address: "GPU0: 0000:81:00.0: Unknown Error".
Text<32> bus_id_in(std::string_view line) {
  while (!scan::trim(line).empty()) {
    std::string_view word = scan::take_word(line);
    while (word.ends_with(':') || word.ends_with(',')) word.remove_suffix(1);
    if (const Text<32> id = normal_pci_address(word); !id.empty()) return id;
  }
  return {};
}

using Kind = platform::Outcome::Kind;
using About = Sentence::About;
using command_tool::Verdict;

constexpr int exit_corrupted_inforom = 14;  // warning: the values are valid

// nvidia-smi(1), RETURN VALUE
Status status_of_exit(int code) {
  switch (code) {
    case 2:
    case 3:
    case 13:
      return Status::unsupported;
    case 4:
      return Status::permission;
    case 9:
    case 12:
      return Status::no_source;
    case 15:
      return Status::device_lost;
    default:
      return Status::backend;
  }
}

Failure of_exit(const platform::Outcome& o, std::string_view what) {
  Failure why = Verdict(smi, o).of_exit(what);
  if (o.exit_known && o.signal == 0 && o.exit_code != 0) why.code = status_of_exit(o.exit_code);
  return why;
}

Failure of_sentence(const platform::Outcome& o, const Sentence& s, const Text<256>& line) {
  return Verdict(smi, o).of_sentence(s, line.view());
}

bool has_failed(const platform::Outcome& o) {
  if (!o.exit_known || o.what != Kind::finished) return false;
  return o.signal != 0 || (o.exit_code != 0 && o.exit_code != exit_corrupted_inforom);
}

}  // namespace

std::optional<Sentence> parse_sentence(std::string_view line) {
  if (auto field = refused_field(line)) {
    return Sentence{{{}, About::field, Status::unsupported, "this tool is too old for it"},
                    std::move(*field),
                    {}};
  }
  const command_tool::Sentence* const s = command_tool::find_sentence(known_sentences, line);
  if (s == nullptr) return std::nullopt;
  return Sentence{*s, {}, bus_id_in(line)};
}

bool is_cut(const platform::Outcome& o) noexcept {
  return o.what == Kind::output_too_long || (o.exit_known && o.signal != 0);
}

Failure too_many(std::size_t rows) {
  return smi.fail(Status::limit,
                  {"nvidia-smi printed more rows than the ", rows, " that are read"});
}

Refusal why_no_table(const platform::Outcome& o, const StrayLines& strays) {
  bool nothing_there = false;
  for (const Text<256>& line : strays.first()) {
    const auto s = parse_sentence(line.view());
    if (!s || s->what == About::warning) continue;
    if (s->what == About::nothing) {
      nothing_there = true;
      continue;
    }
    return {of_sentence(o, *s, line), s->field};
  }
  if (nothing_there) return {};
  if (o.what == Kind::output_too_long) {
    return {smi.fail(Status::limit, {"nvidia-smi printed no table, and more than is read"}), {}};
  }
  return {of_exit(o, strays.count() == 0 ? "printed nothing" : "printed no table that is known"),
          {}};
}

std::vector<Problem> problems_of(const platform::Outcome& o, const StrayLines& strays) {
  std::vector<Problem> all;
  const Text<256>* first_unknown = nullptr;
  std::size_t known = 0;
  for (const Text<256>& line : strays.first()) {
    const auto s = parse_sentence(line.view());
    known += s ? 1 : 0;
    if (!s && first_unknown == nullptr) first_unknown = &line;
    if (!s || s->what == About::nothing) continue;
    all.push_back({of_sentence(o, *s, line), s->bus_id});
  }
  if (first_unknown != nullptr) {
    all.push_back(
        {with_reason(
             Reason::not_understood,
             smi.fail(Status::backend, {strays.count() - known,
                                        " line(s) of nvidia-smi's table make no sense, the first: ",
                                        Text<120>(first_unknown->view()).view()})),
         {}});
  }
  if (has_failed(o) && all.empty()) all.push_back({of_exit(o, "printed its table"), {}});
  return all;
}

}  // namespace hmn::nvidia_smi
