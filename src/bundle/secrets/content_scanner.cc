// Contents flow through a window: what was looked at is dropped but for the little that a name before a sign needs, and
// what is at the end waits for the next piece.
#include "bundle/secrets/content_scanner.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "bundle/archive/zip_directory.h"
#include "bundle/secrets/private_keys.h"
#include "bundle/secrets/secret_patterns.h"

namespace sluice::bundle {

namespace {

constexpr size_t kDecideBytes = 8192;  // a NUL among the first bytes means binary, as git has it
constexpr size_t kHeadBytes = 64;      // tell UTF-16
constexpr size_t kDerBytes = 4096;
constexpr size_t kLeastSecretBytes = 6;
constexpr std::string_view kAssignment = "a secret in an assignment";
constexpr std::string_view kEnvContent = "an environment file's secret";
constexpr std::string_view kPrivateKeyFile = "a private key";
constexpr std::string_view kEncodedLogin = "a login in base64";

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

}  // namespace

ContentScanner::ContentScanner(std::string path, SecretReport& report, const std::set<std::string>& allowed)
    : path_(std::move(path)),
      report_(report),
      allowed_(allowed),
      is_env_named_(std::string_view(path_).substr(path_.find_last_of("/!") + 1).starts_with(".env")) {}

void ContentScanner::expect_bytes() {
  begun_ = decided_ = is_binary_ = true;
  looks_for_archives_ = false;
}

void ContentScanner::feed(std::string_view piece) {
  bytes_ += piece.size();
  if (begun_) return append(piece);
  head_ += piece;
  if (head_.size() >= kHeadBytes) begin();
}

void ContentScanner::begin() {
  begun_ = true;
  is_wide_ = is_utf16(head_);
  looks_for_archives_ = looks_for_archives_ && !is_wide_;
  append(std::exchange(head_, {}));
}

void ContentScanner::append(std::string_view piece) {
  const bool may_be_der = der_.empty() ? bytes_ == piece.size() && piece.starts_with('\x30') : der_.size() < kDerBytes;
  if (may_be_der) der_ += piece.substr(0, kDerBytes - der_.size());
  if (!held_.empty() && !cut_) {
    held_ += piece;
    cut_ = held_.size() > kMaxNestedBytes;
  } else if (cut_) {
    end_ += piece;
    if (end_.size() > 8 * kZipEndBytes) end_.erase(0, end_.size() - kZipEndBytes);
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
    add_finding(report_, allowed_, {path_, 0, std::string(kPrivateKeyFile), finding_hash(kPrivateKeyFile, der_)});
  }
  // Files of settings have few names that are all capitals; environment files have little else.
  if (is_env_named_ || (env_lines_ >= 2 && env_lines_ * 2 >= all_lines_)) {
    for (const Weak& weak : weak_) {
      add_finding(report_, allowed_,
                  {path_, weak.line, std::string(kEnvContent), finding_hash(kEnvContent, weak.secret)});
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
  add_finding(report_, allowed_, {path_, line_at(at), std::string(kind), finding_hash(kind, secret)});
}

void ContentScanner::scan(size_t to) {
  size_t from = next_;
  std::vector<size_t> archives_at;
  const bool looks = looks_for_archives_ && !cut_ && archives_at_.size() < kMaxArchivesInside;
  while (auto match = find_token(text_, from, to, is_binary_, looks ? &archives_at : nullptr)) {
    if (!is_binary_) scan_assignments(next_, match->begin);
    add(match->kind, std::string_view(text_).substr(match->begin, match->length), match->begin);
    from = std::max(match->begin + std::max<size_t>(match->length, 1), match->found_at + 1);
    next_ = std::max(next_, from);
  }
  if (!is_binary_ && next_ < to) scan_assignments(next_, to);
  if (!archives_at.empty()) {
    if (held_.empty()) held_ = text_.substr(archives_at.front());
    // Both end with what came last.
    for (size_t at : archives_at) archives_at_.push_back(held_.size() - (text_.size() - at));
  }
  next_ = std::max(next_, to);
  size_t keep = next_ > kSecretLookBehind ? next_ - kSecretLookBehind : 0;
  line_at(keep);
  text_.erase(0, keep);
  next_ -= keep;
  counted_ -= keep;
}

void ContentScanner::scan_assignments(size_t from, size_t to) {
  if (from == 0 && to > 0) {
    if (auto found = docker_env_at(text_, 0)) judge(*found, found->name, false, 0);
  }
  for (size_t at = from; at < to; ++at) {
    char c = text_[at];
    if (c == '\n') {
      ++all_lines_;
      if (auto found = docker_env_at(text_, at + 1)) judge(*found, found->name, false, at);
    }
    if (c != '=' && c != ':' && c != '>') continue;
    auto found = c == '>' ? element_at(text_, at) : assignment_at(text_, at);
    if (!found) continue;
    bool is_env = c == '=' && found->at_line_start && is_env_name(found->name);
    if (is_env) ++env_lines_;
    if (found->value.size() < kLeastSecretBytes) continue;
    std::string_view called = name_of_value(text_, found->name, static_cast<size_t>(found->name.data() - text_.data()));
    judge(*found, called.empty() ? found->name : called, is_env, at);
  }
}

// A value that was given to this name.
void ContentScanner::judge(const Assignment& found, std::string_view name, bool is_env, size_t at) {
  const size_t value_at = static_cast<size_t>(found.value.data() - text_.data());
  if ((name == "auth" || name == "_auth") && is_login(found.value)) return add(kEncodedLogin, found.value, value_at);
  if (!names_a_secret(name) || is_placeholder(found.value)) return;
  // Names with dots and arrows between them are code, and what has a form of its own is found by that.
  bool is_code = !found.quoted && !is_env && found.value.find_first_of(".>") != std::string_view::npos;
  if (is_code || find_token(found.value, 0, found.value.size(), false)) return;
  const bool is_password = found.quoted && names_a_password(name) && looks_thought_up(found.value);
  if (is_password || looks_random(found.value)) {
    add(kAssignment, found.value, value_at);
  } else if (is_env && weak_.size() < kMaxFindings) {
    weak_.push_back({std::string(found.value), line_at(at)});
  }
}

}  // namespace sluice::bundle
