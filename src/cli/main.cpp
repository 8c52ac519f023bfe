// SPDX-License-Identifier: MIT OR Apache-2.0
#include <exception>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"

namespace hmn::cli {
namespace {

expected<exit_code> run(const options& asked) {
  const auto in = context::open({asked.timeout_ms, asked.trace, asked.machine});
  if (!in) return in.why();
  const auto as = choose_style(standard_output_surroundings(), asked.colour);
  switch (asked.run) {
    case command::ps:
      return run_ps(*in, asked, as);
    case command::snapshot:
      return run_snapshot(*in, asked, as);
    case command::doctor:
      return run_doctor(*in, asked, as);
    case command::summary:
      break;
  }
  return run_summary(*in, asked, as);
}

exit_code refuse(const failure& why) {
  write_remark(why.message);
  return why.code;
}

exit_code main_of(int argc, const char* const* argv) {
  prepare_output();
  const auto parsed = parse_options(argc, argv);
  if (!parsed) return refuse(parsed.why());
  if (const auto* answer = std::get_if<information>(&*parsed)) return write_output(answer->text);
  const auto result = run(std::get<options>(*parsed));
  return result ? *result : refuse(result.why());
}

}  // namespace
}  // namespace hmn::cli

int main(int argc, char** argv) {
  using namespace hmn::cli;
  try {
    return static_cast<int>(main_of(argc, argv));
  } catch (const std::exception& error) {
    write_remark(error.what());
    return static_cast<int>(exit_code::failed);
  }
}
