// Renders diagnostics. The caret line repeats the tabs of the source line and counts wide characters twice, so that
// the caret stands under its character in any terminal.
#include "lang/diagnostic.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/terminal.h"
#include "base/utf8.h"
#include "lang/text.h"

namespace sluice::lang {
namespace {

// Longer source lines are not shown: nobody reads a caret at column 40,000.
constexpr size_t kMaxShownColumns = 400;

std::string_view source_line(std::string_view source, uint32_t line) {
  for (uint32_t at = 1; at < line; ++at) {
    size_t end = source.find('\n');
    if (end == std::string_view::npos) return {};
    source.remove_prefix(end + 1);
  }
  source = source.substr(0, source.find('\n'));
  if (!source.empty() && source.back() == '\r') source.remove_suffix(1);
  if (source.starts_with("\xEF\xBB\xBF")) source.remove_prefix(3);
  return source;
}

// A control or bidi character must not reach the terminal raw: it could hide the very fault that is reported.
void append_visible(std::string& out, char32_t point, std::string_view bytes) {
  if (point == '\t' || (point >= 0x20 && point != 0x7F && !is_forbidden(point))) {
    out += bytes;
  } else {
    out += "\xEF\xBF\xBD";
  }
}

void append_excerpt(std::string& out, const Diagnostic& diagnostic, std::string_view source) {
  std::string_view line = source_line(source, diagnostic.mark.line);
  if (line.empty()) return;
  std::string shown, caret;
  uint32_t column = 1;
  for (size_t at = 0; at < line.size(); ++column) {
    CodePoint next = first_code_point(line.substr(at));
    std::string_view bytes = next.valid ? line.substr(at, next.bytes) : std::string_view("\xEF\xBF\xBD");
    append_visible(shown, next.value, bytes);
    if (column < diagnostic.mark.column) {
      caret.append(next.value == '\t' ? 1 : display_width(bytes), next.value == '\t' ? '\t' : ' ');
    } else if (column < diagnostic.mark.column + std::max(diagnostic.length, 1u)) {
      caret.append(next.value == '\t' ? 1 : display_width(bytes), '^');
    }
    at += next.bytes;
  }
  if (column > kMaxShownColumns) return;
  if (column <= diagnostic.mark.column) caret.append(diagnostic.mark.column - column, ' ').append(1, '^');
  out += "  " + shown + "\n  " + caret + "\n";
}

}  // namespace

void Diagnostics::add(Diagnostic diagnostic) {
  if (diagnostic.severity == Diagnostic::Severity::error && ++errors_ > kMaxErrors) return;
  if (all_.size() < 2 * kMaxErrors) all_.push_back(std::move(diagnostic));
}

std::string render(const Diagnostic& diagnostic, std::string_view source) {
  std::string out = diagnostic.file;
  if (diagnostic.mark.line > 0) {
    if (!out.empty()) out += ':';
    out += std::to_string(diagnostic.mark.line) + ':' + std::to_string(diagnostic.mark.column);
  }
  if (!out.empty()) out += ": ";
  out += diagnostic.severity == Diagnostic::Severity::error ? "error: " : "warning: ";
  out += diagnostic.text + '\n';
  if (diagnostic.mark.line > 0) append_excerpt(out, diagnostic, source);
  if (!diagnostic.hint.empty()) out += "  hint: " + diagnostic.hint + '\n';
  return out;
}

std::string render(const Diagnostics& diagnostics, std::string_view source) {
  auto sorted = diagnostics.all();
  std::ranges::stable_sort(sorted, [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.mark.line, a.mark.column) < std::pair(b.mark.line, b.mark.column);
  });
  std::string out;
  for (const auto& diagnostic : sorted) out += render(diagnostic, source);
  if (diagnostics.errors() > Diagnostics::kMaxErrors) {
    out += std::to_string(diagnostics.errors() - Diagnostics::kMaxErrors) + " further errors are not shown\n";
  }
  return out;
}

json::value to_json(const Diagnostic& diagnostic) {
  json::object object;
  object["severity"] = diagnostic.severity == Diagnostic::Severity::error ? "error" : "warning";
  object["file"] = diagnostic.file;
  object["line"] = diagnostic.mark.line;
  object["column"] = diagnostic.mark.column;
  object["length"] = diagnostic.length;
  object["text"] = diagnostic.text;
  if (!diagnostic.hint.empty()) object["hint"] = diagnostic.hint;
  object["rule"] = diagnostic.rule;
  return object;
}

Error to_error(const Diagnostics& diagnostics) {
  for (const auto& found : diagnostics.all()) {
    if (found.severity != Diagnostic::Severity::error) continue;
    Error error{.code = Code::invalid, .message = found.text, .next = found.hint};
    if (found.mark.line > 0) error.position = Position{found.file, found.mark.line, found.mark.column};
    return error;
  }
  return Error{.code = Code::invalid, .message = "the file could not be read"};
}

}  // namespace sluice::lang
