// The three formats of data and the two of errors.
#include "cli/output.h"

#include <boost/json.hpp>
#include <ostream>

namespace sluice::cli {
namespace {

// Indented by two, members in the order they were put.
void write_json(const json::value& value, size_t indent, std::string& text) {
  auto new_line = [&](size_t depth) { text.append(1, '\n').append(depth, ' '); };
  if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
    char before = '{';
    for (const auto& member : *object) {
      text += before;
      new_line(indent + 2);
      text += json::serialize(json::value(member.key())) + ": ";
      write_json(member.value(), indent + 2, text);
      before = ',';
    }
    new_line(indent);
    text += '}';
  } else if (const auto* array = value.if_array(); array != nullptr && !array->empty()) {
    char before = '[';
    for (const auto& element : *array) {
      text += before;
      new_line(indent + 2);
      write_json(element, indent + 2, text);
      before = ',';
    }
    new_line(indent);
    text += ']';
  } else {
    text += json::serialize(value);
  }
}

}  // namespace

void Output::print(const json::value& value, const std::function<std::string(const Terminal&)>& render) {
  std::string text;
  switch (settings_.format) {
    case Format::table:
      text = render(settings_.out);
      break;
    case Format::json:
    case Format::yaml:
      write_json(value, 0, text);
      text += '\n';
      break;
  }
  out_ << text;
}

void Output::print_text(std::string_view text) { out_ << text; }

void Output::note(std::string_view sentence) {
  if (!settings_.quiet) err_ << printable(sentence, true) << '\n';
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
    err_ << json::serialize(problem(error)) << '\n';
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
