// SPDX-License-Identifier: MIT OR Apache-2.0
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <array>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "cli/text/unicode.hpp"
#include "cli/top/posix/restoring.hpp"
#include "cli/top/terminal.hpp"

namespace hmn::cli::top {
namespace {

constexpr int escape_delay_ms = 25;

struct ScreenSize {
  int width = 80;
  int height = 24;
};

ScreenSize size_of_terminal(int output) {
  winsize size{};
  if (ioctl(output, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

std::string capability(const char* name) {
  const char* const found = tigetstr(const_cast<char*>(name));
  return found != nullptr && found != reinterpret_cast<const char*>(-1) ? found : "";
}

// Returns what ends colours, the invisible cursor, the keypad and the second screen.
std::string restoring_sequence() {
  std::string all;
  for (const char* name : {"sgr0", "cnorm", "rmkx", "rmcup"}) all += capability(name);
  return all;
}

std::optional<Key> special_key(wint_t code) {
  switch (code) {
    case KEY_UP:
      return Key::up;
    case KEY_DOWN:
      return Key::down;
    case KEY_LEFT:
      return Key::left;
    case KEY_RIGHT:
      return Key::right;
    case KEY_PPAGE:
      return Key::page_up;
    case KEY_NPAGE:
      return Key::page_down;
    case KEY_HOME:
      return Key::home;
    case KEY_END:
      return Key::end;
    case KEY_ENTER:
      return Key::enter;
    case KEY_BACKSPACE:
      return Key::backspace;
    case KEY_F0 + 1:
      return Key::f1;
    case KEY_F0 + 9:
      return Key::f9;
    default:
      return std::nullopt;
  }
}

std::optional<KeyPress> plain_key(wint_t code) {
  switch (code) {
    case '\n':
    case '\r':
      return KeyPress{Key::enter};
    case '\t':
      return KeyPress{Key::tab};
    case 27:
      return KeyPress{Key::escape};
    case 8:
    case 127:
      return KeyPress{Key::backspace};
    case 12:
      break;
    default:
      if (code < 32) return std::nullopt;
  }
  return KeyPress{Key::character, static_cast<char32_t>(code)};
}

// Silences standard error where it is a terminal: what drivers' libraries print would be in the
// screen.
class Silence {
 public:
  Silence() {
    if (isatty(STDERR_FILENO) != 1) return;
    before_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (before_ >= 0 && nowhere >= 0) to(nowhere);
    if (nowhere >= 0) close(nowhere);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
  ~Silence() {
    if (before_ < 0) return;
    to(before_);
    close(before_);
  }

 private:
  static void to(int descriptor) {
    for (const int each : {STDOUT_FILENO, STDERR_FILENO}) dup2(descriptor, each);
  }

  int before_ = -1;
};

struct ScreenEnd {
  void operator()(SCREEN* of) const {
    curs_set(1);
    endwin();
    delscreen(of);
  }
};
using ScreenHandle = std::unique_ptr<SCREEN, ScreenEnd>;

class CursesTerminal : public Terminal {
 public:
  CursesTerminal(int output, ScreenHandle screen, bool has_colour);

  int width() const override { return COLS; }
  int height() const override { return LINES; }
  void show(const Frame& what) override;
  void redraw() override;
  Events wait() override;
  void wake() override { restoring_.wake(); }

 private:
  void make_colours(bool has_colour);
  void put(int x, int y, const Cell& what);
  void read_signals(Events& to);
  void read_keys(Events& to);
  void suspend();
  void take_size();

  int output_;
  Silence silence_;
  Restoring restoring_;
  ScreenHandle screen_;  // ends first
  std::array<attr_t, ink_count> attributes_{};
  std::array<short, ink_count> pairs_{};
  std::optional<Frame> shown_;
};

CursesTerminal::CursesTerminal(int output, ScreenHandle screen, bool has_colour)
    : output_(output), restoring_(restoring_sequence()), screen_(std::move(screen)) {
  cbreak();
  noecho();
  nonl();
  intrflush(stdscr, FALSE);
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  typeahead(-1);  // or each line that is written asks for keys
  set_escdelay(escape_delay_ms);
  curs_set(0);
  make_colours(has_colour);
  take_size();
}

void CursesTerminal::make_colours(bool has_colour) {
  const bool is_coloured = has_colour && has_colors() && start_color() == OK;
  if (is_coloured) use_default_colors();
  for (unsigned i = 0; i < ink_count; ++i) {
    const auto look = look_of(static_cast<Ink>(i));
    const short colour = COLORS >= 256 ? look.colour : look.basic_colour;
    if (look.is_bold) attributes_[i] |= A_BOLD;
    if (look.is_dim && (!is_coloured || colour < 0)) attributes_[i] |= A_DIM;
    if (!is_coloured || colour < 0) continue;
    const auto pair = static_cast<short>(i + 1);
    if (init_pair(pair, colour, -1) == OK) pairs_[i] = pair;
  }
}

void CursesTerminal::put(int x, int y, const Cell& what) {
  std::array<wchar_t, 4> text{};
  for (std::size_t i = 0; i < what.text.size(); ++i) text[i] = static_cast<wchar_t>(what.text[i]);
  // A character of which the C library has another width would shift the line.
  if (wcwidth(text[0]) != static_cast<int>(width_of(what.text[0]))) text = {L'?', 0, 0, 0};
  const auto with = static_cast<std::size_t>(what.with);
  auto attributes = attributes_[with];
  if (what.is_selected) attributes |= A_REVERSE;
  cchar_t made{};
  setcchar(&made, text.data(), attributes, pairs_[with], nullptr);
  mvadd_wch(y, x, &made);
}

void CursesTerminal::show(const Frame& what) {
  const bool is_same_size =
      shown_ && shown_->width() == what.width() && shown_->height() == what.height();
  if (!is_same_size) erase();
  for (int y = 0; y < what.height(); ++y)
    for (int x = 0; x < what.width(); ++x) {
      const auto& now = what.at(x, y);
      if (now.is_tail || (is_same_size && shown_->at(x, y) == now)) continue;
      put(x, y, now);
    }
  shown_ = what;
  refresh();
}

void CursesTerminal::redraw() {
  shown_.reset();
  clearok(stdscr, TRUE);
}

void CursesTerminal::take_size() {
  const auto size = size_of_terminal(output_);
  if (size.width != COLS || size.height != LINES) resizeterm(size.height, size.width);
}

void CursesTerminal::suspend() {
  endwin();
  restoring_.stop();
  reset_prog_mode();
  redraw();
  take_size();
}

void CursesTerminal::read_signals(Events& to) {
  std::array<char, 64> bytes;
  for (;;) {
    const auto got = read(restoring_.pipe_end(), bytes.data(), bytes.size());
    if (got <= 0) return;
    for (ssize_t i = 0; i < got; ++i) {
      const int number = bytes[static_cast<std::size_t>(i)];
      to.is_woken = to.is_woken || number == 0;
      to.is_changed = to.is_changed || number != 0;
      if (number == SIGTSTP) suspend();
      if (number == SIGCONT) redraw();
      if (number == SIGWINCH) take_size();
      to.is_ended = to.is_ended || number == SIGINT || number == SIGTERM || number == SIGHUP;
    }
  }
}

void CursesTerminal::read_keys(Events& to) {
  for (wint_t code = 0;;) {
    const int kind = get_wch(&code);
    if (kind == ERR) return;
    if (kind == KEY_CODE_YES) {
      if (const auto found = special_key(code)) to.keys.push_back({*found});
    } else if (const auto found = plain_key(code)) {
      to.keys.push_back(*found);
    }
  }
}

Terminal::Events CursesTerminal::wait() {
  Events out;
  pollfd both[] = {{STDIN_FILENO, POLLIN, 0}, {restoring_.pipe_end(), POLLIN, 0}};
  if (poll(both, 2, -1) <= 0) return out;
  if (both[1].revents != 0) read_signals(out);
  if ((both[0].revents & POLLIN) != 0) read_keys(out);
  if ((both[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) out.is_ended = true;
  return out;
}

// Lets curses write UTF-8 also where the locale's own files are not installed.
void set_character_set() {
  if (std::setlocale(LC_CTYPE, "") == nullptr) std::setlocale(LC_CTYPE, "C.UTF-8");
}

}  // namespace

Expected<std::unique_ptr<Terminal>> open_terminal(int output, const std::string& kind,
                                                  bool has_colour) {
  if (isatty(STDIN_FILENO) != 1)
    return failed("standard input is no terminal: expected one for the keys, or --once");
  set_character_set();
  keep_terminal(output);
  // Not closed: the screen writes to it until the end.
  ScreenHandle screen(newterm(kind.c_str(), fdopen(output, "w"), stdin));
  const auto refused = [&](const char* why) { return failed("TERM \"" + kind + "\": " + why); };
  if (!screen) return refused("the system does not know this terminal");
  if (capability("cup").empty()) return refused("the cursor of this terminal cannot be moved");
  return std::unique_ptr<Terminal>(
      std::make_unique<CursesTerminal>(output, std::move(screen), has_colour));
}

}  // namespace hmn::cli::top
