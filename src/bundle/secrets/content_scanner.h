// Looks for secrets in one file's content while it streams by. Binaries are searched only for what cannot be there by
// chance: a shared library that knows the words "BEGIN PRIVATE KEY" has no finding.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/secrets/secret_assignments.h"
#include "bundle/secrets/secret_report.h"

namespace sluice::bundle {

constexpr uint64_t kMaxNestedBytes = uint64_t{256} << 20;
constexpr size_t kMaxArchivesInside = 10'000;  // of one file
constexpr size_t kZipEndBytes = 128 * 1024;    // the end of a zip and its comment are shorter

// Looks at one file's content, piece by piece.
class ContentScanner {
 public:
  // Findings get this path and are added to the report unless their hash is allowed.
  ContentScanner(std::string path, SecretReport& report, const std::set<std::string>& allowed);

  void feed(std::string_view piece);
  void finish();

  // Takes what comes for bytes without a form, such as those of an archive that is looked into by others.
  void expect_bytes();
  // After finish(): the content from where the first archive in it can begin, and all places in that at which one can.
  // What is longer than kMaxNestedBytes is cut.
  struct Inside {
    std::string_view bytes;
    const std::vector<size_t>& archives_at;
    bool cut = false;
    std::string_view end;  // of the content, if it is cut
  };
  Inside inside() const { return {held_, archives_at_, cut_, end_}; }

 private:
  void begin();
  void append(std::string_view piece);
  void scan(size_t to);
  void scan_assignments(size_t from, size_t to);
  void judge(const Assignment& found, std::string_view name, bool is_env, size_t at);
  void add(std::string_view kind, std::string_view secret, size_t at);
  uint32_t line_at(size_t at);

  std::string path_;
  SecretReport& report_;
  const std::set<std::string>& allowed_;
  bool is_env_named_;  // any secret in it counts, however few lines it has
  std::string head_;   // until there is enough to tell UTF-16
  bool begun_ = false;
  bool is_wide_ = false;  // UTF-16, of which every other byte is left out
  uint64_t bytes_ = 0;    // of all that came
  std::string der_;       // the first bytes of what may be a key in DER
  bool looks_for_archives_ = true;
  std::string held_;                 // from where the first archive can begin
  std::vector<size_t> archives_at_;  // in held_
  bool cut_ = false;                 // there is more than held_ has
  std::string end_;                  // then
  std::string text_;                 // what is looked at, with some of what was before it
  size_t next_ = 0;                  // in text_: everything before it has been looked at
  size_t counted_ = 0;               // in text_: the line breaks before it are in lines_
  uint32_t lines_ = 1;
  bool decided_ = false;  // whether is_binary_ is known
  bool is_binary_ = false;
  uint64_t env_lines_ = 0;  // lines like NAME=value
  uint64_t all_lines_ = 1;
  struct Weak {
    std::string secret;
    uint32_t line;
  };
  std::vector<Weak> weak_;  // findings if the file turns out to be an environment file
};

}  // namespace sluice::bundle
