// Contents flow through a window: what was looked at is dropped but for the little that a name before a sign needs, and
// what is at the end waits for the next piece.
#include "bundle/secret_scan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/terminal.h"
#include "bundle/deny_list.h"
#include "bundle/known_keys.h"
#include "bundle/secret_patterns.h"
#include "crypto/sha256.h"

namespace sluice::bundle {

namespace {

constexpr size_t kDecideBytes = 8192;  // a NUL among the first bytes means binary, as git has it
constexpr std::string_view kAssignment = "a secret in an assignment";
constexpr std::string_view kEnvContent = "an environment file's secret";

std::string hash_of(std::string_view kind, std::string_view secret) {
  return crypto::to_string(crypto::sha256("sluice.finding.v1\n" + std::string(kind) + "\n" + std::string(secret)));
}

void report_finding(SecretReport& report, const std::set<std::string>& allowed, SecretFinding finding) {
  if (is_public_test_key(finding.hash)) return;
  if (allowed.contains(finding.hash)) {
    ++report.allowed;
  } else if (report.findings.size() < kMaxFindings) {
    report.findings.push_back(std::move(finding));
  }
}

bool is_env_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace

std::string to_string(const SecretFinding& finding) {
  std::string place = printable(finding.path) + (finding.line == 0 ? "" : ":" + std::to_string(finding.line));
  return place + ": " + finding.kind + " (" + finding.hash + ")";
}

ContentScanner::ContentScanner(std::string path, SecretReport& report, const std::set<std::string>& allowed)
    : path_(std::move(path)), report_(report), allowed_(allowed) {}

void ContentScanner::feed(std::string_view piece) {
  text_ += piece;
  if (!decided_ && text_.size() >= kDecideBytes) {
    decided_ = true;
    is_binary_ = std::memchr(text_.data(), '\0', kDecideBytes) != nullptr;
  }
  if (decided_ && text_.size() > next_ + 4 * kSecretLookAhead) scan(text_.size() - kSecretLookAhead);
}

void ContentScanner::finish() {
  if (!decided_) is_binary_ = text_.find('\0') != std::string::npos;
  decided_ = true;
  scan(text_.size());
  // Files of settings have few names that are all capitals; environment files have little else.
  if (env_lines_ >= 2 && env_lines_ * 2 >= all_lines_) {
    for (const Weak& weak : weak_) {
      report_finding(report_, allowed_,
                     {path_, weak.line, std::string(kEnvContent), hash_of(kEnvContent, weak.secret)});
    }
  }
}

uint32_t ContentScanner::line_at(size_t at) {
  const char* end = text_.data() + at;
  for (const char* here = text_.data() + counted_; here < end; ++here) {
    here = static_cast<const char*>(std::memchr(here, '\n', static_cast<size_t>(end - here)));
    if (here == nullptr) break;
    ++lines_;
  }
  counted_ = std::max(counted_, at);
  return lines_;
}

void ContentScanner::add(std::string_view kind, std::string_view secret, size_t at) {
  report_finding(report_, allowed_, {path_, line_at(at), std::string(kind), hash_of(kind, secret)});
}

void ContentScanner::scan(size_t to) {
  size_t from = next_;
  while (auto match = find_token(text_, from, to, is_binary_)) {
    if (!is_binary_) scan_assignments(next_, match->begin);
    add(match->kind, std::string_view(text_).substr(match->begin, match->length), match->begin);
    from = match->begin + std::max<size_t>(match->length, 1);
    next_ = std::max(next_, from);
  }
  if (!is_binary_ && next_ < to) scan_assignments(next_, to);
  next_ = std::max(next_, to);
  size_t keep = next_ > kSecretLookBehind ? next_ - kSecretLookBehind : 0;
  line_at(keep);
  text_.erase(0, keep);
  next_ -= keep;
  counted_ -= keep;
}

void ContentScanner::scan_assignments(size_t from, size_t to) {
  for (size_t at = from; at < to; ++at) {
    char c = text_[at];
    if (c == '\n') ++all_lines_;
    if (c != '=' && c != ':') continue;
    auto found = assignment_at(text_, at);
    if (!found) continue;
    bool is_env = c == '=' && found->at_line_start && is_env_name(found->name);
    if (is_env) ++env_lines_;
    if (!names_a_secret(found->name) || is_placeholder(found->value)) continue;
    // Names with dots and arrows between them are code, and what has a form of its own is found by that.
    bool is_code = !found->quoted && !is_env && found->value.find_first_of(".>") != std::string_view::npos;
    if (is_code || find_token(found->value, 0, found->value.size(), false)) continue;
    if (looks_random(found->value)) {
      add(kAssignment, found->value, static_cast<size_t>(found->value.data() - text_.data()));
    } else if (is_env && found->value.size() >= 6 && weak_.size() < kMaxFindings) {
      weak_.push_back({std::string(found->value), line_at(at)});
    }
  }
}

SecretScan::SecretScan(SecretScanOptions options) : options_(std::move(options)) {}

SecretScan::Open SecretScan::begin(const std::string& path) {
  ++report_.files;
  return {.path = path, .scanner = ContentScanner(path, report_, options_.allowed)};
}

bool SecretScan::begins_archive(const Open& open, int nesting) {
  // A file of zeros begins as an empty tar does.
  if (open.first.find_first_not_of('\0') == std::string::npos || !sniff(open.first)) return false;
  if (nesting < options_.max_nesting) return true;
  report_.not_looked_into.push_back(open.path + ": an archive in more than " + std::to_string(options_.max_nesting) +
                                    " others");
  return false;
}

void SecretScan::take(Open& open, std::string_view piece, int nesting) {
  if (open.sniffed) return deliver(open, piece);
  open.first += piece;
  if (open.first.size() < kSniffBytes) return;
  open.sniffed = true;
  open.is_archive = begins_archive(open, nesting);
  deliver(open, std::exchange(open.first, {}));
}

void SecretScan::deliver(Open& open, std::string_view piece) {
  if (!open.is_archive) return open.scanner.feed(piece);
  if (open.bytes.size() + piece.size() <= options_.max_nested_bytes) {
    open.bytes += piece;
    return;
  }
  report_.not_looked_into.push_back(open.path + ": an archive of more than " +
                                    std::to_string(options_.max_nested_bytes) + " bytes");
  open.is_archive = false;
  open.scanner.feed(std::exchange(open.bytes, {}));
  open.scanner.feed(piece);
}

void SecretScan::end(Open& open, int nesting) {
  if (!open.sniffed) {
    open.is_archive = begins_archive(open, nesting);
    deliver(open, open.first);
  }
  if (open.is_archive) {
    auto reader =
        open_archive(source_of_view(open.bytes), open.path, {.limits = options_.limits, .single_files = true});
    auto looked = reader ? archive(**reader, open.path + "!", nesting + 1) : Result<void>(reader.error());
    // What cannot be read as the archive that it begins as is told, and is no failure: it may be something else.
    if (!looked) {
      report_.not_looked_into.push_back(looked.error().message);
      open.scanner.feed(open.bytes);
    }
  }
  open.scanner.finish();
}

Result<void> SecretScan::begin_file(const std::string& path) {
  open_.clear();
  open_.push_back(begin(path));
  return {};
}

Result<void> SecretScan::content(std::string_view piece) {
  take(open_.back(), piece, 0);
  return {};
}

Result<void> SecretScan::end_file() {
  end(open_.back(), 0);
  open_.clear();
  return {};
}

Result<void> SecretScan::archive(ArchiveReader& reader, const std::string& prefix, int nesting) {
  for (;;) {
    auto entry = reader.next();
    if (!entry) return entry.error();
    if (!*entry) return {};
    const std::string path = prefix + (*entry)->path;
    if (auto found = denied((*entry)->path, (*entry)->kind == EntryKind::dir); found && found->secret) {
      report_finding(report_, options_.allowed, {path, 0, std::string(found->what), hash_of(found->what, path)});
    }
    if ((*entry)->kind != EntryKind::file) continue;
    Open open = begin(path);
    for (;;) {
      auto piece = reader.read();
      if (!piece) return piece.error();
      if (piece->empty()) break;
      take(open, *piece, nesting);
    }
    end(open, nesting);
  }
}

Result<SecretReport> scan_archive(Disk& disk, const std::string& path, const SecretScanOptions& options) {
  auto reader = open_archive(disk, path, {.limits = options.limits});
  if (!reader) return reader.error();
  SecretScan scan(options);
  if (auto done = scan.archive(**reader); !done) return done.error();
  return scan.report();
}

Result<SecretReport> scan_folder(Disk& disk, const std::string& root, const std::vector<std::string>& paths,
                                 const SecretScanOptions& options) {
  SecretScan scan(options);
  auto tree = tree_of_folder(disk, root, paths, {.limits = options.limits, .watcher = &scan});
  if (!tree) return tree.error();
  return scan.report();
}

std::optional<Error> refusal(const SecretReport& report) {
  constexpr size_t kShown = 20;
  if (report.findings.empty()) return std::nullopt;
  size_t count = report.findings.size();
  Error error{
      .code = Code::verification_failed,
      .message = count == 1 ? "there is a secret in it:" : "there are " + std::to_string(count) + " secrets in it:",
      .next = "take it out, or name its hash under allowed_secrets in bundle.yaml if it is none"};
  for (size_t i = 0; i < std::min(count, kShown); ++i) error.message += "\n" + to_string(report.findings[i]);
  if (count > kShown) error.message += "\n… and " + std::to_string(count - kShown) + " more";
  return error;
}

}  // namespace sluice::bundle
