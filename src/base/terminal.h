// What a stream's terminal can do, and text as it stands on one.
//
//   Terminal out = detect_terminal(STDOUT_FILENO, variables, no_color);
//   std::cout << out.paint(Style::good, "healthy");
//
// Text that came from outside (a file, a server, a command line) goes through printable() before it is written, so
// that it cannot move the cursor, recolour the screen or break a line.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// How an environment variable is looked up: nothing when it is not set.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;

// The process's own environment variables.
Variables process_variables();

enum class Style { plain, heading, strong, faint, accent, good, warning, bad };

struct Terminal {
  bool tty = false;    // a person may be looking: fit the width, show progress
  bool color = false;  // styles become escape sequences
  size_t width = 80;   // in cells

  // The text in a style; as it is without color.
  std::string paint(Style style, std::string_view text) const;
};

// Color needs a terminal that is not TERM=dumb, no NO_COLOR (set and not empty) and no wish against it. The width is
// the terminal's, else COLUMNS, else 80.
Terminal detect_terminal(int fd, const Variables& variables, bool no_color);

// How many cells the text takes: escape sequences and combining marks none, wide characters two.
size_t display_width(std::string_view text);

// The text, cut to `width` cells with … as its last; text that fits stays. The text has no escape sequences.
std::string truncate_to_width(std::string_view text, size_t width);

// The text with every control character and every byte that is not UTF-8 replaced by a visible escape: \n, \t, \x1b.
// With keep_lines, line breaks stay.
std::string printable(std::string_view text, bool keep_lines = false);

// Breaks the text's paragraphs at blanks into lines of at most `width` cells; every line but the first is indented.
std::string wrap_text(std::string_view text, size_t width, size_t indent = 0);

}  // namespace sluice
