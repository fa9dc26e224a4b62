// Contents flow through a window: what was looked at is dropped but for the little that a name before a sign needs, and
// what is at the end waits for the next piece.
#include "bundle/secret_scan.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/terminal.h"
#include "bundle/deny_list.h"
#include "bundle/known_keys.h"
#include "bundle/secret_patterns.h"
#include "bundle/zip_directory.h"
#include "crypto/sha256.h"

namespace sluice::bundle {

namespace {

constexpr size_t kDecideBytes = 8192;  // a NUL among the first bytes means binary, as git has it
constexpr size_t kHeadBytes = 64;      // tell UTF-16
constexpr size_t kDerBytes = 4096;
constexpr size_t kZipEndBytes = 128 * 1024;  // the end of a zip and its comment are shorter
constexpr std::string_view kAssignment = "a secret in an assignment";
constexpr std::string_view kEnvContent = "an environment file's secret";
constexpr std::string_view kPrivateKeyFile = "a private key";
constexpr std::string_view kNotSearched = "not searched";

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

// Windows writes text in two bytes a character, with a mark before it or without.
bool is_utf16(std::string_view head) {
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) return true;
  if (head.size() < 8) return false;
  for (size_t odd : {0, 1}) {
    bool fits = true;
    for (size_t i = 0; i < head.size() && fits; ++i) fits = (head[i] == '\0') == (i % 2 == odd);
    if (fits) return true;
  }
  return false;
}

// "./a//b/" as "a/b", fit to be shown.
std::string shown_path(std::string_view raw) {
  std::string path;
  while (!raw.empty()) {
    const size_t slash = std::min(raw.find('/'), raw.size());
    std::string_view part = raw.substr(0, slash);
    raw.remove_prefix(std::min(slash + 1, raw.size()));
    if (part.empty() || part == ".") continue;
    path += (path.empty() ? "" : "/") + printable(part);
  }
  return path;
}

}  // namespace

std::string to_string(const SecretFinding& finding) {
  std::string place = printable(finding.path) + (finding.line == 0 ? "" : ":" + std::to_string(finding.line));
  return place + ": " + finding.kind + " (" + finding.hash + ")";
}

ContentScanner::ContentScanner(std::string path, SecretReport& report, const std::set<std::string>& allowed)
    : path_(std::move(path)),
      report_(report),
      allowed_(allowed),
      is_env_named_(std::string_view(path_).substr(path_.find_last_of("/!") + 1).starts_with(".env")) {}

void ContentScanner::expect_bytes() {
  begun_ = decided_ = is_binary_ = true;
  looks_for_zip_ = false;
}

std::string_view ContentScanner::zip_behind() const {
  return holds_zip_ && !cut_zip_ && ends_as_zip(zip_) ? std::string_view(zip_) : std::string_view();
}

bool ContentScanner::zip_behind_too_large() const { return cut_zip_ && zip_comment_at(zip_).has_value(); }

void ContentScanner::feed(std::string_view piece) {
  bytes_ += piece.size();
  if (begun_) return append(piece);
  head_ += piece;
  if (head_.size() >= kHeadBytes) begin();
}

void ContentScanner::begin() {
  begun_ = true;
  is_wide_ = is_utf16(head_);
  append(std::exchange(head_, {}));
}

void ContentScanner::append(std::string_view piece) {
  const bool may_be_der = der_.empty() ? bytes_ == piece.size() && piece.starts_with('\x30') : der_.size() < kDerBytes;
  if (may_be_der) der_ += piece.substr(0, kDerBytes - der_.size());
  if (holds_zip_) {
    zip_ += piece;
    if (zip_.size() > kMaxNestedBytes || (cut_zip_ && zip_.size() > 8 * kZipEndBytes)) {
      cut_zip_ = true;
      zip_.erase(0, zip_.size() - kZipEndBytes);
      zip_.shrink_to_fit();
    }
  }
  if (is_wide_) {
    std::ranges::copy_if(piece, std::back_inserter(text_), [](char c) { return c != '\0'; });
  } else {
    text_ += piece;
  }
  if (!decided_ && text_.size() >= kDecideBytes) {
    decided_ = true;
    is_binary_ = std::memchr(text_.data(), '\0', kDecideBytes) != nullptr;
  }
  if (decided_ && text_.size() > next_ + 4 * kSecretLookAhead) scan(text_.size() - kSecretLookAhead);
}

void ContentScanner::finish() {
  if (!begun_) begin();
  if (!decided_) is_binary_ = text_.find('\0') != std::string::npos;
  decided_ = true;
  scan(text_.size());
  if (is_der_key(der_, bytes_)) {
    report_finding(report_, allowed_, {path_, 0, std::string(kPrivateKeyFile), hash_of(kPrivateKeyFile, der_)});
  }
  // Files of settings have few names that are all capitals; environment files have little else.
  if (is_env_named_ || (env_lines_ >= 2 && env_lines_ * 2 >= all_lines_)) {
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
  size_t zip_at = std::string::npos;
  size_t* zip = looks_for_zip_ && !holds_zip_ ? &zip_at : nullptr;
  while (auto match = find_token(text_, from, to, is_binary_, zip)) {
    if (!is_binary_) scan_assignments(next_, match->begin);
    add(match->kind, std::string_view(text_).substr(match->begin, match->length), match->begin);
    from = std::max(match->begin + std::max<size_t>(match->length, 1), match->found_at + 1);
    next_ = std::max(next_, from);
  }
  if (!is_binary_ && next_ < to) scan_assignments(next_, to);
  if (zip_at != std::string::npos) {
    holds_zip_ = true;
    zip_ = text_.substr(zip_at);
  }
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

void SecretScan::not_searched(const std::string& path, const std::string& why) {
  SecretFinding unknown{path, 0, why, hash_of(kNotSearched, path)};
  auto same = [&](const SecretFinding& other) { return other.hash == unknown.hash; };
  if (std::ranges::any_of(report_.not_looked_into, same)) return;
  if (options_.allowed.contains(unknown.hash)) {
    ++report_.allowed;
  } else if (report_.not_looked_into.size() < kMaxFindings) {
    report_.not_looked_into.push_back(std::move(unknown));
  }
}

bool SecretScan::begins_archive(const Open& open, int nesting) {
  if (auto kind = sniff_unread(open.first)) {
    not_searched(open.path, "an archive that is not looked into (" + std::string(*kind) + ")");
    return false;
  }
  if (!sniff_for_search(open.first)) return false;
  if (nesting < options_.max_nesting) return true;
  not_searched(open.path, "an archive in more than " + std::to_string(options_.max_nesting) + " others");
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
  not_searched(open.path, "an archive of more than " + std::to_string(options_.max_nested_bytes) + " bytes");
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
    auto looked = look_into(open.bytes, open.path, nesting);
    if (!looked) not_searched(open.path, looked.error().message);
    return;
  }
  open.scanner.finish();
  if (open.scanner.zip_behind_too_large()) {
    not_searched(open.path, "an archive of more than " + std::to_string(kMaxNestedBytes) + " bytes");
  }
  std::string_view zip = open.scanner.zip_behind();
  if (zip.empty()) return;
  if (nesting >= options_.max_nesting) {
    return not_searched(open.path, "an archive in more than " + std::to_string(options_.max_nesting) + " others");
  }
  if (auto looked = look_into(zip, open.path, nesting); !looked) not_searched(open.path, looked.error().message);
}

Result<void> SecretScan::look_into(std::string_view bytes, const std::string& path, int nesting) {
  auto reader = open_for_search(source_of_view(bytes), options_.limits);
  auto looked = reader ? archive(**reader, path + "!", nesting + 1) : Result<void>(reader.error());
  auto source = source_of_view(bytes);
  if (auto beside = bytes_of_archive(*source, path); !beside) return beside;
  return looked;
}

Result<void> SecretScan::bytes_of_archive(ByteSource& source, const std::string& path) {
  constexpr size_t kPieceBytes = 256 * 1024;
  SecretReport beside;
  ContentScanner bytes(path, beside, options_.allowed);
  bytes.expect_bytes();
  std::string piece(kPieceBytes, '\0');
  std::string end;
  for (uint64_t at = 0;; at += piece.size()) {
    auto got = source.read_at(at, piece);
    if (!got) return got.error();
    bytes.feed(std::string_view(piece).substr(0, *got));
    end = end.substr(end.size() - std::min(end.size(), kZipEndBytes)) + piece.substr(0, *got);
    if (*got < piece.size()) break;
  }
  bytes.finish();
  ContentScanner comment(path, beside, options_.allowed);
  if (auto begin = zip_comment_at(end)) comment.feed(std::string_view(end).substr(*begin));
  comment.finish();
  for (SecretFinding& finding : beside.findings) {
    auto same = [&](const SecretFinding& other) { return other.hash == finding.hash; };
    if (std::ranges::any_of(report_.findings, same) || report_.findings.size() >= kMaxFindings) continue;
    finding.line = 0;
    report_.findings.push_back(std::move(finding));
  }
  return {};
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

// A name counts wherever it stands in a path: archives need not list the folders that their entries lie in.
void SecretScan::judge_name(const std::string& path, bool is_folder, const std::string& prefix,
                            std::set<std::string>& judged) {
  for (size_t end = path.find('/');; end = path.find('/', end + 1)) {
    const bool is_last = end == std::string::npos;
    const std::string part = path.substr(0, end);
    auto found = denied(part, is_folder || !is_last);
    if (found && found->secret) {
      if (judged.size() >= kMaxFindings || !judged.insert(part).second) return;
      const std::string place = prefix + part;
      report_finding(report_, options_.allowed, {place, 0, std::string(found->what), hash_of(found->what, place)});
      return;
    }
    if (is_last) return;
  }
}

Result<void> SecretScan::archive(RawReader& reader, const std::string& prefix, int nesting) {
  std::set<std::string> judged;
  for (uint64_t entries = 0;; ++entries) {
    auto entry = reader.next();
    if (!entry) return entry.error();
    if (!*entry) return {};
    if (entries >= options_.limits.max_entries) {
      return Error{.code = Code::limit,
                   .message = "it has more than " + std::to_string(options_.limits.max_entries) + " entries"};
    }
    const std::string inner = shown_path((*entry)->path);
    judge_name(inner, (*entry)->kind == RawEntry::Kind::dir, prefix, judged);
    if ((*entry)->kind != RawEntry::Kind::file && (*entry)->kind != RawEntry::Kind::hard_link) continue;
    Open open = begin(prefix + inner);
    for (;;) {
      auto piece = reader.read();
      if (!piece) return piece.error();
      if (piece->empty()) break;
      read_bytes_ += piece->size();
      if (options_.on_bytes) options_.on_bytes(piece->size());
      if (options_.stopped && options_.stopped()) return Error{.code = Code::failed, .message = "stopped"};
      if (read_bytes_ > options_.limits.max_total_bytes) {
        return Error{
            .code = Code::limit,
            .message = "it unpacks to more than " + std::to_string(options_.limits.max_total_bytes) + " bytes"};
      }
      take(open, *piece, nesting);
    }
    end(open, nesting);
  }
}

Result<SecretReport> scan_archive(Disk& disk, const std::string& path, const SecretScanOptions& options) {
  auto open = [&]() -> Result<std::unique_ptr<ByteSource>> {
    auto file = open_plain_file(disk, path);
    if (!file) return file.error();
    return source_of_file(*std::move(file));
  };
  auto source = open();
  if (!source) return source.error();
  auto reader = open_for_search(*std::move(source), options.limits);
  if (!reader) {
    return Error{.code = reader.error().code,
                 .message = path + ": " + reader.error().message,
                 .next = "give a bundle, a tar or a zip, or a folder"};
  }
  SecretScan scan(options);
  auto looked = scan.archive(**reader);
  if (!looked && options.stopped && options.stopped()) return looked.error();
  if (!looked) scan.not_searched(path, looked.error().message);
  auto bytes = open();
  if (!bytes) return bytes.error();
  if (auto beside = scan.bytes_of_archive(**bytes, path); !beside) return beside.error();
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
  const size_t count = report.findings.size(), unknown = report.not_looked_into.size();
  if (count == 0 && unknown == 0) return std::nullopt;
  Error error{.code = Code::verification_failed};
  if (count > 0) {
    error.message = count == 1 ? "there is a secret in it:" : "there are " + std::to_string(count) + " secrets in it:";
    error.next = "take it out, or name its hash under allowed_secrets in bundle.yaml if it is none";
  }
  for (size_t i = 0; i < std::min(count, kShown); ++i) error.message += "\n" + to_string(report.findings[i]);
  if (count > kShown) error.message += "\n… and " + std::to_string(count - kShown) + " more";
  if (unknown > 0) {
    if (count == 0)
      error.next = "leave it out, or name its hash under allowed_secrets in bundle.yaml if you know what is in it";
    error.message += (count == 0 ? "" : "\n") + std::string("this could not be searched for secrets:");
  }
  for (size_t i = 0; i < std::min(unknown, kShown); ++i) error.message += "\n" + to_string(report.not_looked_into[i]);
  if (unknown > kShown) error.message += "\n… and " + std::to_string(unknown - kShown) + " more";
  return error;
}

}  // namespace sluice::bundle
