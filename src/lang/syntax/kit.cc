// Loading, from outside in: suites and their files once each, then overrides, disabling and activation.
#include "lang/syntax/kit.h"

#include <algorithm>

#include "lang/syntax/kit_loader.h"
#include "lang/syntax/suite_parser.h"
#include "lang/syntax/text.h"

namespace sluice::lang {
namespace {

Mark mark_of(std::string_view text, size_t at) {
  Mark mark{1, 1};
  for (char c : text.substr(0, at)) {
    bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    mark.column += continues ? 0 : 1;
    if (c == '\n') mark = {mark.line + 1, 1};
  }
  return mark;
}

// Whether a path could lead out of the folder that it is relative to.
bool leads_out(std::string_view path) {
  if (path.starts_with('/')) return true;
  for (size_t at = 0; at <= path.size();) {
    size_t end = std::min(path.find('/', at), path.size());
    if (path.substr(at, end - at) == "..") return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

std::string hint_of(const Error& error) { return error.next.empty() ? kMendPath : error.next; }

std::string path_in(const std::string& folder, std::string path) {
  while (path.starts_with("./")) path.erase(0, 2);
  if (path.starts_with('/') || folder.empty() || folder == ".") return path;
  return folder.ends_with('/') ? folder + path : folder + "/" + path;
}

Kit KitLoader::load(const std::string& folder) {
  kit_.folder = folder;
  auto suite = read_suite(path_in(folder, "suite.yaml"));
  if (suite) {
    kit_.suite = *suite;
    load_suite(*suite, folder);
    for (const OutsideConcept& each : options_.outside) load_outside(*suite, each);
    for (const std::string& overlay : options_.overlays) read_overlay(overlay);
    if (!options_.overlay_folder.empty() && is_kit_name(suite->name)) {
      read_overlay(path_in(path_in(options_.overlay_folder, suite->name), "overrides.yaml"));
    }
    for (Change& change : changes_) apply(change);
    activate();
    tell_duplicates();
    tell_unlisted();
  }
  return std::move(kit_);
}

void KitLoader::tell(Diagnostic::Severity severity, const std::string& file, Mark mark, size_t length, std::string rule,
                     std::string text, std::string hint) {
  // After these errors all that the suites name is there; after any other, something may be missing.
  bool whole = rule == "duplicate" || rule == "required-sync" || rule == "changed-twice";
  if (severity == Diagnostic::Severity::error && (!whole || file.ends_with(".sync"))) kit_.incomplete = true;
  kit_.found.add({.severity = severity,
                  .file = file,
                  .mark = mark,
                  .length = static_cast<uint32_t>(std::max<size_t>(1, length)),
                  .text = std::move(text),
                  .hint = std::move(hint),
                  .rule = std::move(rule)});
}

void KitLoader::error(const std::string& file, Mark mark, size_t length, std::string rule, std::string text,
                      std::string hint) {
  tell(Diagnostic::Severity::error, file, mark, length, std::move(rule), std::move(text), std::move(hint));
}

void KitLoader::warning(const std::string& file, Mark mark, size_t length, std::string rule, std::string text,
                        std::string hint) {
  tell(Diagnostic::Severity::warning, file, mark, length, std::move(rule), std::move(text), std::move(hint));
}

void KitLoader::take(const Diagnostics& found) {
  kit_.found.add(found);
  if (found.failed()) kit_.incomplete = true;
}

Mark KitLoader::value_after(const std::string& file, Mark mark, size_t skip, std::string_view value,
                            Diagnostic::Severity severity) const {
  auto source = kit_.sources.find(file);
  // What is only counted needs no place.
  if (source == kit_.sources.end() || value.empty() || !kit_.found.keeps(file, severity)) return mark;
  std::string_view text = source->second;
  size_t begin = 0;
  for (uint32_t line = 1; line < mark.line && begin != std::string_view::npos; ++line) {
    begin = text.find('\n', begin);
    if (begin != std::string_view::npos) ++begin;
  }
  if (begin == std::string_view::npos) return mark;
  size_t at = text.find(value, std::min(text.size(), begin + mark.column - 1 + skip));
  return at == std::string_view::npos ? mark : mark_of(text, at);
}

bool KitLoader::refuse_outside(const std::string& file, const std::string& path, Mark mark, size_t skip) {
  if (!leads_out(path)) return false;
  error(file, value_after(file, mark, skip, path), count_code_points(path), "outside-folder",
        quoted(path) + " leads out of the folder of " + file,
        "copy the file into the folder; what another kit has comes with `uses`");
  return true;
}

Kit load_kit(const std::string& folder, const ReadText& read, const KitOptions& options) {
  return KitLoader(read, options).load(folder);
}

std::string_view tier_name(Tier tier) {
  switch (tier) {
    case Tier::required:
      return "required";
    case Tier::recommended:
      return "recommended";
    case Tier::integration:
      return "integration";
  }
  return "";
}

}  // namespace sluice::lang
