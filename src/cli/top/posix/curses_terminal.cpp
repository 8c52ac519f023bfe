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
#include "cli/top/posix/terminal_restorer.hpp"
#include "cli/top/terminal.hpp"

namespace hmn::cli::top {
namespace {

constexpr int escape_delay_ms = 25;

struct ScreenSize {
  int width = 80;
  int height = 24;
};

ScreenSize read_terminal_size(int output) {
  winsize size{};
  if (ioctl(output, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

std::string find_capability(const char* name) {
  const char* const value = tigetstr(const_cast<char*>(name));
  return value != nullptr && value != reinterpret_cast<const char*>(-1) ? value : "";
}

// Returns the sequence that resets colours, cursor and keypad and leaves the alternate screen.
std::string make_restore_sequence() {
  std::string sequence;
  for (const char* name : {"sgr0", "cnorm", "rmkx", "rmcup"}) sequence += find_capability(name);
  return sequence;
}

std::optional<Key> translate_special_key(wint_t code) {
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

std::optional<KeyPress> translate_plain_key(wint_t code) {
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

// Silences descriptors 1 and 2 where standard error is a terminal: what drivers' libraries print
// would disturb the screen.
class DriverOutputGuard {
 public:
  DriverOutputGuard() {
    if (isatty(STDERR_FILENO) != 1) return;
    stderr_copy_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int null_device = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (stderr_copy_ >= 0 && null_device >= 0) redirect(null_device);
    if (null_device >= 0) close(null_device);
  }
  DriverOutputGuard(const DriverOutputGuard&) = delete;
  DriverOutputGuard& operator=(const DriverOutputGuard&) = delete;
  ~DriverOutputGuard() {
    if (stderr_copy_ < 0) return;
    redirect(stderr_copy_);
    close(stderr_copy_);
  }

 private:
  static void redirect(int descriptor) {
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) dup2(descriptor, stream);
  }

  int stderr_copy_ = -1;
};

struct ScreenDeleter {
  void operator()(SCREEN* screen) const {
    curs_set(1);
    endwin();
    delscreen(screen);
  }
};
using ScreenPointer = std::unique_ptr<SCREEN, ScreenDeleter>;

class CursesTerminal : public Terminal {
 public:
  CursesTerminal(int output, ScreenPointer screen, bool has_colour);

  int width() const override { return COLS; }
  int height() const override { return LINES; }
  void show(const Frame& frame) override;
  void redraw() override;
  Events wait() override;
  void wake() override { restorer_.wake(); }

 private:
  void init_colours(bool has_colour);
  void put(int x, int y, const Cell& cell);
  void read_signals(Events& events);
  void read_keys(Events& events);
  void suspend();
  void update_size();

  int output_;
  DriverOutputGuard stderr_guard_;
  TerminalRestorer restorer_;
  ScreenPointer screen_;  // destroyed first
  std::array<attr_t, style_count> attributes_{};
  std::array<short, style_count> pairs_{};
  std::optional<Frame> last_frame_;
};

CursesTerminal::CursesTerminal(int output, ScreenPointer screen, bool has_colour)
    : output_(output), restorer_(make_restore_sequence()), screen_(std::move(screen)) {
  cbreak();
  noecho();
  nonl();
  intrflush(stdscr, FALSE);
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  typeahead(-1);  // otherwise each written line polls for keys
  set_escdelay(escape_delay_ms);
  curs_set(0);
  init_colours(has_colour);
  update_size();
}

void CursesTerminal::init_colours(bool has_colour) {
  const bool is_coloured = has_colour && has_colors() && start_color() == OK;
  if (is_coloured) use_default_colors();
  for (unsigned i = 0; i < style_count; ++i) {
    const auto attributes = find_attributes(static_cast<CellStyle>(i));
    const short colour = COLORS >= 256 ? attributes.colour : attributes.basic_colour;
    if (attributes.is_bold) attributes_[i] |= A_BOLD;
    if (attributes.is_dim && (!is_coloured || colour < 0)) attributes_[i] |= A_DIM;
    if (!is_coloured || colour < 0) continue;
    const auto pair = static_cast<short>(i + 1);
    if (init_pair(pair, colour, -1) == OK) pairs_[i] = pair;
  }
}

void CursesTerminal::put(int x, int y, const Cell& cell) {
  std::array<wchar_t, 4> text{};
  for (std::size_t i = 0; i < cell.text.size(); ++i) text[i] = static_cast<wchar_t>(cell.text[i]);
  // A character to which the C library assigns another width would shift the line.
  if (wcwidth(text[0]) != static_cast<int>(code_point_width(cell.text[0]))) text = {L'?', 0, 0, 0};
  const auto style = static_cast<std::size_t>(cell.style);
  auto attributes = attributes_[style];
  if (cell.is_selected) attributes |= A_REVERSE;
  cchar_t character{};
  setcchar(&character, text.data(), attributes, pairs_[style], nullptr);
  mvadd_wch(y, x, &character);
}

void CursesTerminal::show(const Frame& frame) {
  const bool is_same_size = last_frame_ && last_frame_->width() == frame.width() &&
                            last_frame_->height() == frame.height();
  if (!is_same_size) erase();
  for (int y = 0; y < frame.height(); ++y)
    for (int x = 0; x < frame.width(); ++x) {
      const auto& cell = frame.at(x, y);
      if (cell.is_tail || (is_same_size && last_frame_->at(x, y) == cell)) continue;
      put(x, y, cell);
    }
  last_frame_ = frame;
  refresh();
}

void CursesTerminal::redraw() {
  last_frame_.reset();
  clearok(stdscr, TRUE);
}

void CursesTerminal::update_size() {
  const auto size = read_terminal_size(output_);
  if (size.width != COLS || size.height != LINES) resizeterm(size.height, size.width);
}

void CursesTerminal::suspend() {
  endwin();
  restorer_.stop_program();
  reset_prog_mode();
  redraw();
  update_size();
}

void CursesTerminal::read_signals(Events& events) {
  std::array<char, 64> bytes;
  for (;;) {
    const auto count = read(restorer_.signal_descriptor(), bytes.data(), bytes.size());
    if (count <= 0) return;
    for (ssize_t i = 0; i < count; ++i) {
      const int number = bytes[static_cast<std::size_t>(i)];
      events.is_woken = events.is_woken || number == 0;
      events.is_changed = events.is_changed || number != 0;
      if (number == SIGTSTP) suspend();
      if (number == SIGCONT) redraw();
      if (number == SIGWINCH) update_size();
      events.is_ended =
          events.is_ended || number == SIGINT || number == SIGTERM || number == SIGHUP;
    }
  }
}

void CursesTerminal::read_keys(Events& events) {
  for (wint_t code = 0;;) {
    const int kind = get_wch(&code);
    if (kind == ERR) return;
    if (kind == KEY_CODE_YES) {
      if (const auto key = translate_special_key(code)) events.keys.push_back({*key});
    } else if (const auto press = translate_plain_key(code)) {
      events.keys.push_back(*press);
    }
  }
}

Terminal::Events CursesTerminal::wait() {
  Events events;
  pollfd inputs[] = {{STDIN_FILENO, POLLIN, 0}, {restorer_.signal_descriptor(), POLLIN, 0}};
  if (poll(inputs, 2, -1) <= 0) return events;
  if (inputs[1].revents != 0) read_signals(events);
  if ((inputs[0].revents & POLLIN) != 0) read_keys(events);
  if ((inputs[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) events.is_ended = true;
  return events;
}

// Lets curses write UTF-8 even where the locale's own files are not installed.
void set_character_set() {
  if (std::setlocale(LC_CTYPE, "") == nullptr) std::setlocale(LC_CTYPE, "C.UTF-8");
}

}  // namespace

Expected<std::unique_ptr<Terminal>> open_terminal(int output, const std::string& terminal_type,
                                                  bool has_colour) {
  if (isatty(STDIN_FILENO) != 1)
    return make_failure("standard input is not a terminal: expected one for the keys, or --once");
  set_character_set();
  save_terminal(output);
  // Not closed: the screen writes to it until the end.
  ScreenPointer screen(newterm(terminal_type.c_str(), fdopen(output, "w"), stdin));
  const auto make_terminal_failure = [&](const char* reason) {
    return make_failure("TERM \"" + terminal_type + "\": " + reason);
  };
  if (!screen) return make_terminal_failure("the system does not know this terminal");
  if (find_capability("cup").empty())
    return make_terminal_failure("the cursor of this terminal cannot be moved");
  return std::unique_ptr<Terminal>(
      std::make_unique<CursesTerminal>(output, std::move(screen), has_colour));
}

}  // namespace hmn::cli::top
