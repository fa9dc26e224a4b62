// The three formats of data and the two of errors.
#include "cli/output.h"

#include <boost/json.hpp>
#include <ostream>

#include "base/json.h"
#include "base/yaml_emit.h"
#include "host/problem.h"

namespace sluice::cli {
void Output::print(const json::value& value, const std::function<std::string(const Terminal&)>& render) {
  std::string text;
  switch (settings_.format) {
    case Format::table:
      text = render(settings_.out);
      break;
    case Format::json:
      text = write_pretty(value);
      break;
    case Format::yaml:
      text = emit_yaml(value);
      break;
  }
  print_text(text);
}

void Output::report(const json::value& value, const std::function<std::string(const Terminal&)>& render) {
  if (settings_.format != Format::table) return print(value, render);
  say(render(settings_.err));
}

void Output::print_text(std::string_view text) {
  std::lock_guard lock(mutex_);
  out_ << text;
}

void Output::say(const std::string& line) {
  std::lock_guard lock(mutex_);
  err_ << line;
}

void Output::note(std::string_view sentence, Style style) {
  if (!settings_.quiet) say(settings_.err.paint(style, printable(sentence, true)) + "\n");
}

void Output::detail(std::string_view sentence) {
  if (settings_.verbose && !settings_.quiet) {
    say(settings_.err.paint(Style::faint, printable(sentence, true)) + "\n");
  }
}

void Output::warn(std::string_view sentence) {
  say(settings_.err.paint(Style::warning, "warning:") + " " + printable(sentence, true) + "\n");
}

void Output::error(const Error& error) {
  if (settings_.format == Format::json) {
    return say(write(host::problem(error)) + "\n");
  }
  std::string text = settings_.err.paint(Style::bad, "error:") + " " + printable(to_string(error), true) + "\n";
  if (!error.next.empty()) {
    text += settings_.err.paint(Style::accent, "next:") + "  " + printable(error.next, true) + "\n";
  }
  say(text);
}

bool Output::flush() {
  std::lock_guard lock(mutex_);
  out_.flush();
  return static_cast<bool>(out_);
}

}  // namespace sluice::cli
