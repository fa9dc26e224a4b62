// Lines of an ignore file into globs relative to its folder.
#include "bundle/manifest/ignore.h"

#include <algorithm>

#include "base/utf8.h"
#include "bundle/manifest/glob.h"

namespace sluice::bundle {

namespace {

constexpr size_t kMaxLines = 10'000;
constexpr size_t kMaxLineBytes = 4'096;

// Blanks at the end do not count, unless a backslash stands before them.
std::string_view without_trailing_blanks(std::string_view line) {
  while (line.ends_with(' ') || line.ends_with('\t')) {
    std::string_view before = line.substr(0, line.size() - 1);
    size_t slashes = 0;
    while (slashes < before.size() && before[before.size() - 1 - slashes] == '\\') ++slashes;
    if (slashes % 2 == 1) break;
    line = before;
  }
  return line;
}

}  // namespace

Result<IgnoreRules> IgnoreRules::parse(std::string_view text, const std::string& file) {
  IgnoreRules rules;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (uint32_t number = 1; !text.empty(); ++number) {
    auto refuse = [&](std::string message, Code code) {
      return Error{.code = code, .message = std::move(message), .position = Position{file, number, 1}};
    };
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (number > kMaxLines) return refuse("more than 10000 lines", Code::limit);
    if (line.size() > kMaxLineBytes) return refuse("a line is longer than 4096 bytes", Code::limit);
    if (!valid_utf8(line)) return refuse("the line is not UTF-8", Code::invalid);
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = without_trailing_blanks(line);
    if (line.empty() || line.starts_with('#')) continue;
    Rule rule{.line = number};
    if (line.starts_with('!')) {
      rule.negated = true;
      line.remove_prefix(1);
    }
    if (line.ends_with('/')) {
      rule.folders_only = true;
      line.remove_suffix(1);
    }
    bool anchored = line.find('/') != std::string_view::npos;
    while (line.starts_with('/')) line.remove_prefix(1);
    if (line.empty()) continue;
    rule.pattern = anchored ? std::string(line) : "**/" + std::string(line);
    rules.rules_.push_back(std::move(rule));
  }
  return rules;
}

std::optional<IgnoreRules::Match> IgnoreRules::match(std::string_view path, bool is_folder) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (rule->folders_only && !is_folder) continue;
    // "folder/**" means what is in the folder, not the folder.
    bool inside_only = rule->pattern.ends_with("/**");
    std::string pattern = inside_only ? rule->pattern + "/*" : rule->pattern;
    if (glob_matches(pattern, path)) return Match{!rule->negated, rule->line};
  }
  return std::nullopt;
}

}  // namespace sluice::bundle
