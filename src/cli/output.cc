// The three formats of data and the two of errors.
#include "cli/output.h"

#include <boost/json.hpp>
#include <ostream>

#include "base/json.h"
#include "base/yaml_emit.h"

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
  out_ << text;
}

void Output::report(const json::value& value, const std::function<std::string(const Terminal&)>& render) {
  if (settings_.format != Format::table) return print(value, render);
  err_ << render(settings_.err);
}

void Output::print_text(std::string_view text) { out_ << text; }

void Output::note(std::string_view sentence, Style style) {
  if (!settings_.quiet) err_ << settings_.err.paint(style, printable(sentence, true)) << '\n';
}

void Output::detail(std::string_view sentence) {
  if (settings_.verbose && !settings_.quiet)
    err_ << settings_.err.paint(Style::faint, printable(sentence, true)) << '\n';
}

void Output::warn(std::string_view sentence) {
  err_ << settings_.err.paint(Style::warning, "warning:") << ' ' << printable(sentence, true) << '\n';
}

void Output::error(const Error& error) {
  if (settings_.format == Format::json) {
    err_ << write(problem(error)) << '\n';
    return;
  }
  err_ << settings_.err.paint(Style::bad, "error:") << ' ' << printable(to_string(error), true) << '\n';
  if (!error.next.empty()) {
    err_ << settings_.err.paint(Style::accent, "next:") << "  " << printable(error.next, true) << '\n';
  }
}

bool Output::flush() {
  out_.flush();
  return static_cast<bool>(out_);
}

json::object problem(const Error& error) {
  json::object object{{"type", problem_type(error.code)},
                      {"title", std::string(entry(error.code).meaning)},
                      {"status", http_status(error.code)},
                      {"detail", printable(error.message, true)},
                      {"code", std::string(code_name(error.code))}};
  if (!error.next.empty()) object["next"] = printable(error.next, true);
  if (!error.path.empty()) object["path"] = printable(error.path);
  if (error.position) {
    json::object position;
    if (!error.position->file.empty()) position["file"] = printable(error.position->file);
    position["line"] = error.position->line;
    position["column"] = error.position->column;
    object["position"] = std::move(position);
  }
  return object;
}

}  // namespace sluice::cli
