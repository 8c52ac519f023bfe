// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/memory_line.hpp"

#include <doctest/doctest.h>
#include <hypomnesis.hpp>

#include "cli/text/width.hpp"

using namespace hmn::cli;

namespace {

using hypomnesis::note;

constexpr std::uint64_t line_mib = 1 << 20;

memory_line card() {
  memory_line line;
  line.label = "GPU 0 [Card]";
  line.free = 1024 * line_mib + line_mib - 1;
  line.total = 4096 * line_mib;
  line.used = 0.75;
  line.after = ", driver 5";
  return line;
}

memory_line ram() {
  memory_line line;
  line.label = "RAM";
  line.verb = "available";
  line.free = 100 * line_mib;
  line.total = 16384 * line_mib;
  return line;
}

style line_terminal(unsigned width) {
  style as;
  as.terminal = true;
  as.width = width;
  return as;
}

}  // namespace

TEST_CASE("in a pipe a line is its words, sizes in whole MiB rounded down") {
  CHECK(render({card()}, {}) == "GPU 0 [Card]: free 1024 MiB / 4096 MiB, driver 5\n");
  CHECK(render({ram()}, {}) == "RAM: available 100 MiB / 16384 MiB\n");
}

TEST_CASE("what is unknown is said to be") {
  auto line = card();
  line.free.reset();
  CHECK(render({line}, {}) == "GPU 0 [Card]: total 4096 MiB, driver 5\n");
  line.total.reset();
  CHECK(render({line}, {}) == "GPU 0 [Card]: memory unknown, driver 5\n");
  line.free = 5 * line_mib;
  CHECK(render({line}, {}) == "GPU 0 [Card]: free 5 MiB, total unknown, driver 5\n");
  line.silent = true;
  line.before = "none";
  line.after = "";
  CHECK(render({line}, {}) == "GPU 0 [Card]: none\n");
}

TEST_CASE("marks stand before the number that they are about") {
  auto line = card();
  line.mark = mark_of(note::estimated);
  CHECK(render({line}, {}).find("free ~1024 MiB") != std::string::npos);
  line.mark = mark_of(note::lower_bound);
  CHECK(render({line}, {}).find("free >=1024 MiB") != std::string::npos);
  CHECK(mark_of(note::stale).empty());
}

TEST_CASE("on a line_terminal labels, bars and numbers are in columns") {
  CHECK(render({ram(), card()}, line_terminal(100)) ==
        "RAM                                   available  100 MiB / 16384 MiB\n"
        "GPU 0 [Card]  [###############-----]  free 1024 MiB /  4096 MiB, driver 5\n");
}

TEST_CASE("a line keeps within the line_terminal, its bar and its amounts") {
  for (unsigned width = 50; width <= 120; ++width) {
    const auto text = render({card()}, line_terminal(width));
    CHECK(display_width(text) <= width + 1);
    CHECK(text.find("] [") == std::string::npos);
    CHECK(text.find("  [#") != std::string::npos);
    CHECK(text.find("free 1024 MiB / 4096 MiB") != std::string::npos);
  }
}

TEST_CASE("without an edge nothing is cut") {
  auto named = card();
  named.label = "GPU 0 [A card with a long name]";
  const auto text = render({named}, line_terminal(0));
  CHECK(text.find("[A card with a long name]  [###############-----]  free") != std::string::npos);
  CHECK(text.find("driver 5\n") != std::string::npos);
}

TEST_CASE("the bar gets shorter, then the label, then what follows the amounts") {
  auto named = card();
  named.label = "GPU 0 [A card with a long name]";
  CHECK(render({named}, line_terminal(80)) ==
        "GPU 0 [A card with a long name]  [#######--]  free 1024 MiB / 4096 MiB, driver 5\n");
  CHECK(render({named}, line_terminal(60)) ==
        "GPU 0 [A card...  [######--]  free 1024 MiB / 4096 MiB, d...\n");
  CHECK(render({named}, line_terminal(40)) == "GPU 0 [A card...  free 1024 MiB / 4096 MiB\n");
  CHECK(render({named}, line_terminal(48)) == "GPU 0 [A card...  free 1024 MiB / 4096 MiB, d...\n");
}

TEST_CASE("a reason is told in full, however long") {
  memory_line none;
  none.label = "GPU";
  none.before = "none found: " + std::string(200, 'x');
  none.silent = true;
  const auto text = render({ram(), none}, line_terminal(80));
  CHECK(text.find("GPU  none found: " + std::string(200, 'x') + "\n") != std::string::npos);
}
