// The secrets doctor: names what looks like a secret in files and archives, also in archives inside them, so that none
// is shipped.
//
// Contents are looked at while they stream by, once. Archives inside, wherever in a file they begin, are read from
// memory, up to a size. What lies beside the entries of an archive is searched as a file of its own, and all its bytes,
// compressed or not, for what has a form; what was too large or could not be read is listed, as the doctor cannot vouch
// for it.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/archive/archive_reader.h"
#include "bundle/archive/pack.h"
#include "bundle/secrets/content_scanner.h"
#include "bundle/secrets/secret_report.h"

namespace sluice::bundle {

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

  Result<void> entry(const std::string& path, const std::string& target) override;
  Result<void> begin_file(const std::string& path) override;
  Result<void> content(std::string_view piece) override;
  Result<void> end_file() override;

  const SecretReport& report() const { return report_; }

  // Looks at all that is in an archive; names of entries count, too. `prefix` stands before their paths. `open` gives
  // its bytes, each time that it is called.
  using OpenSource = std::function<Result<std::unique_ptr<ByteSource>>()>;
  Result<void> archive(const OpenSource& open, const std::string& path, const std::string& prefix, int nesting);
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
  void look_for_archives(const Open& open, int nesting);
  Result<void> look_into(std::string_view bytes, const std::string& path, int nesting);
  Result<void> entries_of(RawReader& reader, const std::string& prefix, int nesting);
  Result<void> beside_entries(RawReader& reader, ByteSource& source, const std::string& prefix, int nesting);
  Result<void> bytes_of_archive(ByteSource& source, const std::string& path, const std::string& prefix, int nesting);
  // Adds what was not found otherwise.
  void add_new(SecretReport& beside);
  // A secret can stand in a name, or in what a symlink leads to.
  void look_at_path(const std::string& path, const std::string& prefix);
  void look_at_target(const std::string& path, const std::string& target, const std::string& prefix);
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

}  // namespace sluice::bundle
