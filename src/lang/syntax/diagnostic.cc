// Renders diagnostics. The caret line repeats the tabs of the source line and counts wide characters twice, so that
// the caret stands under its character in any terminal.
#include "lang/syntax/diagnostic.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/terminal.h"
#include "base/utf8.h"
#include "lang/syntax/text.h"

namespace sluice::lang {
namespace {

// A source line longer than this is shown around its caret alone: so much before it, so much from it on.
constexpr uint32_t kMaxShownColumns = 400;
constexpr uint32_t kShownBefore = 60;
constexpr uint32_t kShownAfter = 100;

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

// A control, bidi or invisible character must not reach the terminal raw: it could hide the very fault that is
// reported.
std::string visible(const CodePoint& point, std::string_view bytes) {
  auto hex = [](uint32_t value) {
    std::string digits;
    for (; value > 0 || digits.size() < 2; value >>= 4) digits.insert(0, 1, "0123456789ABCDEF"[value & 15]);
    return digits;
  };
  if (!point.valid) return "\\x" + hex(static_cast<unsigned char>(bytes[0]));
  if (point.value != '\t' && is_invisible(point.value)) return "\\u{" + hex(point.value) + "}";
  return std::string(bytes);
}

std::string visible(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    CodePoint next = first_code_point(text.substr(at));
    out += next.value == '\t' && next.valid ? "\\u{09}" : visible(next, text.substr(at, next.bytes));
    at += next.bytes;
  }
  return out;
}

void append_excerpt(std::string& out, const Diagnostic& diagnostic, std::string_view source) {
  if (source.empty()) return;
  std::string_view line = source_line(source, diagnostic.mark.line);
  uint32_t from = diagnostic.mark.column;
  uint32_t to = from + std::max(diagnostic.length, 1u);
  bool trim = count_code_points(line) > kMaxShownColumns;
  uint32_t first = trim && from > kShownBefore ? from - kShownBefore : 1;
  uint32_t last = trim ? from + kShownAfter : UINT32_MAX;
  std::string shown = first > 1 ? "…" : "", caret = first > 1 ? " " : "";
  uint32_t column = 1;
  for (size_t at = 0; at < line.size() && column < last; ++column) {
    CodePoint next = first_code_point(line.substr(at));
    std::string text = visible(next, line.substr(at, next.bytes));
    at += next.bytes;
    if (column < first) continue;
    shown += text;
    bool tab = text == "\t";
    size_t width = tab ? 1 : display_width(text);
    if (column < from) caret.append(width, tab ? '\t' : ' ');
    if (column >= from && column < to) caret.append(width, '^');
  }
  if (column == last) shown += "…";
  if (column <= from) caret.append(from - column, ' ').append(1, '^');
  out += "  " + shown + "\n  " + caret + "\n";
}

}  // namespace

void Diagnostics::add(Diagnostic diagnostic) {
  bool error = diagnostic.severity == Diagnostic::Severity::error;
  ++(error ? errors_ : warnings_);
  Kept& kept = kept_[diagnostic.file];
  if (++(error ? kept.errors : kept.warnings) <= kMaxErrors) all_.push_back(std::move(diagnostic));
}

void Diagnostics::add(const Diagnostics& found) {
  size_t errors = errors_ + found.errors_, warnings = warnings_ + found.warnings_;
  for (const Diagnostic& each : found.all_) add(each);
  errors_ = errors;
  warnings_ = warnings;
}

bool Diagnostics::keeps(const std::string& file, Diagnostic::Severity severity) const {
  auto kept = kept_.find(file);
  if (kept == kept_.end()) return true;
  return (severity == Diagnostic::Severity::error ? kept->second.errors : kept->second.warnings) < kMaxErrors;
}

std::string Diagnostics::rest() const {
  std::vector<std::string> parts;
  size_t errors = errors_, warnings = warnings_;
  for (const Diagnostic& each : all_) --(each.severity == Diagnostic::Severity::error ? errors : warnings);
  if (errors > 0) parts.push_back(std::to_string(errors) + " further error" + (errors == 1 ? "" : "s"));
  if (warnings > 0) parts.push_back(std::to_string(warnings) + " further warning" + (warnings == 1 ? "" : "s"));
  if (parts.empty()) return {};
  return parts[0] + (parts.size() > 1 ? " and " + parts[1] : "") +
         (errors + warnings == 1 ? " is not shown" : " are not shown");
}

std::string render(const Diagnostic& diagnostic, std::string_view source) {
  std::string out = visible(diagnostic.file);
  if (diagnostic.mark.line > 0) {
    if (!out.empty()) out += ':';
    out += std::to_string(diagnostic.mark.line) + ':' + std::to_string(diagnostic.mark.column);
  }
  if (!out.empty()) out += ": ";
  out += diagnostic.severity == Diagnostic::Severity::error ? "error: " : "warning: ";
  out += visible(diagnostic.text) + '\n';
  if (diagnostic.mark.line > 0) append_excerpt(out, diagnostic, source);
  if (!diagnostic.hint.empty()) out += "  hint: " + visible(diagnostic.hint) + '\n';
  return out;
}

std::string render(const Diagnostics& diagnostics, std::string_view source) {
  auto sorted = diagnostics.all();
  std::ranges::stable_sort(sorted, [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.mark.line, a.mark.column) < std::pair(b.mark.line, b.mark.column);
  });
  std::string out;
  for (const auto& diagnostic : sorted) out += render(diagnostic, source);
  std::string rest = diagnostics.rest();
  return rest.empty() ? out : out + rest + "\n";
}

json::value json_of(const Diagnostic& diagnostic) {
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

Diagnostic unreadable(const std::string& file, const Error& error) {
  return {.file = file,
          .text = error.message,
          .hint = error.next.empty() ? "name a text file that can be read" : error.next,
          .rule = "source-file"};
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
