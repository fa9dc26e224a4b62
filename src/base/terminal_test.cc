// What is printed, to the byte; a pseudoterminal stands for the real one.
#include "base/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <map>

namespace sluice {
namespace terminal_test {

Variables variables(const std::map<std::string, std::string>& set) {
  return [set](const std::string& name) -> std::optional<std::string> {
    auto found = set.find(name);
    if (found == set.end()) return std::nullopt;
    return found->second;
  };
}

// Both ends of a pseudoterminal, 100 cells wide.
class PseudoTerminal {
 public:
  PseudoTerminal() {
    main_ = posix_openpt(O_RDWR | O_NOCTTY);
    grantpt(main_);
    unlockpt(main_);
    fd = open(ptsname(main_), O_RDWR | O_NOCTTY);
    winsize size{.ws_row = 30, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
    ioctl(fd, TIOCSWINSZ, &size);
  }
  ~PseudoTerminal() {
    close(fd);
    close(main_);
  }
  int fd = -1;

 private:
  int main_ = -1;
};

TEST(Terminal, ColorsOnlyWhereItIsSeenAndWanted) {
  PseudoTerminal terminal;
  EXPECT_TRUE(detect_terminal(terminal.fd, variables({{"TERM", "xterm"}}), false).color);
  EXPECT_TRUE(detect_terminal(terminal.fd, variables({{"TERM", "xterm"}, {"NO_COLOR", ""}}), false).color);
  EXPECT_FALSE(detect_terminal(terminal.fd, variables({{"TERM", "xterm"}, {"NO_COLOR", "1"}}), false).color);
  EXPECT_FALSE(detect_terminal(terminal.fd, variables({{"TERM", "xterm"}}), true).color);
  EXPECT_FALSE(detect_terminal(terminal.fd, variables({{"TERM", "dumb"}}), false).color);
  EXPECT_FALSE(detect_terminal(terminal.fd, variables({}), false).color);
  EXPECT_TRUE(detect_terminal(terminal.fd, variables({}), true).tty);
}

TEST(Terminal, KnowsItsWidth) {
  PseudoTerminal terminal;
  EXPECT_EQ(detect_terminal(terminal.fd, variables({{"COLUMNS", "60"}}), false).width, 100U);
  int file = open("/dev/null", O_RDONLY);
  Terminal none = detect_terminal(file, variables({{"TERM", "xterm"}}), false);
  EXPECT_FALSE(none.tty);
  EXPECT_FALSE(none.color);
  EXPECT_EQ(none.width, 80U);
  EXPECT_EQ(detect_terminal(file, variables({{"COLUMNS", "60"}}), false).width, 60U);
  for (const char* bad : {"", "0", "-5", "60x", "99999999999999999999999"}) {
    EXPECT_EQ(detect_terminal(file, variables({{"COLUMNS", bad}}), false).width, 80U) << bad;
  }
  close(file);
}

TEST(Terminal, PaintsOnlyWithColor) {
  EXPECT_EQ((Terminal{.color = true}).paint(Style::good, "up"), "\x1b[32mup\x1b[0m");
  EXPECT_EQ((Terminal{.color = true}).paint(Style::plain, "up"), "up");
  EXPECT_EQ((Terminal{.color = true}).paint(Style::bad, ""), "");
  EXPECT_EQ((Terminal{.color = false}).paint(Style::good, "up"), "up");
}

TEST(DisplayWidth, CountsCells) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("sluice"), 6U);
  EXPECT_EQ(display_width("naïve"), 5U);
  EXPECT_EQ(display_width("nai\u0308ve"), 5U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("한글"), 4U);
  EXPECT_EQ(display_width("🚀"), 2U);
  EXPECT_EQ(display_width("├─ …"), 4U);
  EXPECT_EQ(display_width("\x1b[1;31mred\x1b[0m"), 3U);
  EXPECT_EQ(display_width("\x1b[1;31"), 0U);
  EXPECT_EQ(display_width("\xff\xfe"), 2U);
}

TEST(TruncateToWidth, EndsWithAnEllipsis) {
  EXPECT_EQ(truncate_to_width("deployment", 10), "deployment");
  EXPECT_EQ(truncate_to_width("deployment", 9), "deployme…");
  EXPECT_EQ(truncate_to_width("日本語", 5), "日本…");
  EXPECT_EQ(truncate_to_width("日本語", 4), "日…");
  EXPECT_EQ(truncate_to_width("two words", 5), "two…");
  EXPECT_EQ(truncate_to_width("ab", 1), "…");
  EXPECT_EQ(truncate_to_width("ab", 0), "");
}

TEST(Printable, ShowsWhatWouldDisturbTheScreen) {
  EXPECT_EQ(printable("plain naïve 日本"), "plain naïve 日本");
  EXPECT_EQ(printable("a\nb\tc\r"), "a\\nb\\tc\\x0d");
  EXPECT_EQ(printable("a\nb\x1b[2J", true), "a\nb\\x1b[2J");
  EXPECT_EQ(printable("\x7f\xff\xc2\x9b"
                      "2J"),
            "\\x7f\\xff\\x9b2J");
  EXPECT_EQ(printable("evil\u202Etxt"), "evil\\u202etxt");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(WrapText, BreaksAtBlanks) {
  EXPECT_EQ(wrap_text("one two three four", 9), "one two\nthree\nfour");
  EXPECT_EQ(wrap_text("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(wrap_text("unbreakable word", 5), "unbreakable\nword");
  EXPECT_EQ(wrap_text("first\n\nsecond", 20), "first\n\nsecond");
  EXPECT_EQ(wrap_text("", 20), "");
}

}  // namespace terminal_test
}  // namespace sluice
