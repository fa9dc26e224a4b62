// The secrets doctor: names what looks like a secret in files and archives, also in archives inside them, so that none
// is shipped. It says where, what kind and the hash of a finding, by which a manifest can allow it; never the secret.
//
// Contents are looked at while they stream by, once. Binaries are searched only for what cannot be there by chance: a
// shared library that knows the words "BEGIN PRIVATE KEY" has no finding. Archives inside, and zips behind a program or
// a script, are read from memory, up to a size, and their own bytes are searched as well, for what lies beside their
// entries; what was too large or could not be read is listed, as the doctor cannot vouch for it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/archive_reader.h"
#include "bundle/pack.h"

namespace sluice::bundle {

struct SecretFinding {
  std::string path;   // "config.txt", or "app.zip!config.txt" inside an archive
  uint32_t line = 0;  // from 1; 0 if the file as a whole is meant
  std::string kind;   // "a private key", "an AWS access key"
  std::string hash;   // "sha256:…" of the kind and the secret, wherever it stands

  bool operator==(const SecretFinding&) const = default;
};

// "config.txt:3: an AWS access key (sha256:…)"
std::string to_string(const SecretFinding& finding);

struct SecretReport {
  std::vector<SecretFinding> findings;         // at most kMaxFindings
  std::vector<SecretFinding> not_looked_into;  // likewise; their kind says why: "an archive of more than … bytes"
  uint64_t files = 0;
  uint64_t allowed = 0;  // findings that the manifest allows
};

constexpr size_t kMaxFindings = 1'000;
constexpr uint64_t kMaxNestedBytes = uint64_t{256} << 20;

// Looks at one file's content, piece by piece.
class ContentScanner {
 public:
  // Findings get this path and are added to the report unless their hash is allowed.
  ContentScanner(std::string path, SecretReport& report, const std::set<std::string>& allowed);

  void feed(std::string_view piece);
  void finish();

  // Takes what comes for bytes without a form, such as those of an archive that is looked into by others.
  void expect_bytes();
  // After finish(): the zip that the content ends with, whatever stands before it; empty if there is none.
  std::string_view zip_behind() const;
  bool zip_behind_too_large() const;

 private:
  void begin();
  void append(std::string_view piece);
  void scan(size_t to);
  void scan_assignments(size_t from, size_t to);
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
  bool looks_for_zip_ = true;
  std::string zip_;  // from where one can begin
  bool holds_zip_ = false;
  bool cut_zip_ = false;  // zip_ has lost its beginning
  std::string text_;      // what is looked at, with some of what was before it
  size_t next_ = 0;       // in text_: everything before it has been looked at
  size_t counted_ = 0;    // in text_: the line breaks before it are in lines_
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

struct SecretScanOptions {
  std::set<std::string> allowed;                // hashes
  uint64_t max_nested_bytes = kMaxNestedBytes;  // of an archive inside another, or inside a folder
  int max_nesting = 4;
  ArchiveLimits limits = {};                    // of all that is read from archives
  std::function<void(uint64_t)> on_bytes = {};  // so many more were read from an archive
  std::function<bool()> stopped = {};           // asked often; ends the search with an error
};

// Looks on while a folder is packed (PackOptions::watcher).
class SecretScan final : public PackWatcher {
 public:
  explicit SecretScan(SecretScanOptions options = {});

  Result<void> begin_file(const std::string& path) override;
  Result<void> content(std::string_view piece) override;
  Result<void> end_file() override;

  const SecretReport& report() const { return report_; }

  // Looks at all that is in an archive; names of entries count, too. `prefix` stands before their paths.
  Result<void> archive(RawReader& reader, const std::string& prefix = "", int nesting = 0);
  // What lies beside the entries of an archive: its own bytes, of which only what is new is reported.
  Result<void> bytes_of_archive(ByteSource& source, const std::string& path);
  void not_searched(const std::string& path, const std::string& why);

 private:
  struct Open {
    std::string path;
    ContentScanner scanner;
    std::string first;  // until there is enough to tell an archive
    bool sniffed = false;
    bool is_archive = false;
    std::string bytes;  // of an archive: they are looked at as they are only if they cannot be read as one
  };
  Open begin(const std::string& path);
  void take(Open& open, std::string_view piece, int nesting);
  void deliver(Open& open, std::string_view piece);
  bool begins_archive(const Open& open, int nesting);
  void end(Open& open, int nesting);
  Result<void> look_into(std::string_view bytes, const std::string& path, int nesting);
  void judge_name(const std::string& path, bool is_folder, const std::string& prefix, std::set<std::string>& judged);

  SecretScanOptions options_;
  uint64_t read_bytes_ = 0;  // from archives
  SecretReport report_;
  std::vector<Open> open_;  // the file that is being packed
};

// What the doctor says of an archive, and of these files of a folder. An archive that turns out to be damaged is listed
// as not looked into, beside what was found until then.
Result<SecretReport> scan_archive(Disk& disk, const std::string& path, const SecretScanOptions& options = {});
Result<SecretReport> scan_folder(Disk& disk, const std::string& root, const std::vector<std::string>& paths,
                                 const SecretScanOptions& options = {});

// The error of a report with findings, or with what was not looked into: exit code 11, one line for each of the first;
// nothing without any.
std::optional<Error> refusal(const SecretReport& report);

}  // namespace sluice::bundle
