// The walk: a folder that is ignored or denied is not entered.
#include "bundle/manifest/selection.h"

#include <algorithm>
#include <set>

#include "base/atomic_file.h"
#include "bundle/manifest/glob.h"
#include "bundle/manifest/ignore.h"
#include "bundle/manifest/image_lock.h"
#include "bundle/manifest/manifest.h"
#include "bundle/secrets/deny_list.h"

namespace sluice::bundle {

namespace {

constexpr size_t kMaxIgnoreBytes = 4 << 20;

class Walk {
 public:
  Walk(Disk& disk, const std::string& root, const std::vector<std::string>& include, const ArchiveLimits& limits)
      : disk_(disk), root_(root), include_(include), limits_(limits) {}

  Result<Selection> run() {
    if (auto read = read_ignore(); !read) return read.error();
    std::vector<std::string> folders{""};
    while (!folders.empty()) {
      std::string folder = std::move(folders.back());
      folders.pop_back();
      auto entries = disk_.list(folder.empty() ? root_ : root_ + "/" + folder);
      if (!entries) return entries.error();
      bool is_empty = true;
      for (const FolderEntry& entry : *entries) {
        std::string path = folder.empty() ? entry.name : folder + "/" + entry.name;
        if (++seen_ > limits_.max_entries) {
          return refuse("it has more than " + std::to_string(limits_.max_entries) + " entries");
        }
        is_empty = false;
        if (!take(path, entry.kind)) continue;
        if (entry.kind == FileKind::folder) {
          if (static_cast<size_t>(std::count(path.begin(), path.end(), '/')) + 1 >= limits_.max_depth) {
            return refuse("it is deeper than " + std::to_string(limits_.max_depth) + " folders");
          }
          folders.push_back(std::move(path));
        } else {
          selection_.chosen.push_back(std::move(path));
        }
      }
      if (is_empty && !folder.empty() && included(folder)) selection_.chosen.push_back(folder);
    }
    std::sort(selection_.chosen.begin(), selection_.chosen.end());
    leave_out_bundles();
    std::sort(selection_.skipped.begin(), selection_.skipped.end(),
              [](const Skipped& a, const Skipped& b) { return a.path < b.path; });
    return std::move(selection_);
  }

 private:
  Error refuse(const std::string& reason) const { return {.code = Code::limit, .message = root_ + ": " + reason}; }

  Result<void> read_ignore() {
    std::string path = root_ + "/" + std::string(kIgnoreName);
    auto text = read_file(disk_, path, kMaxIgnoreBytes);
    if (!text && text.error().code == Code::not_found) return {};
    if (!text) return text.error();
    auto rules = IgnoreRules::parse(*text, path);
    if (!rules) return rules.error();
    ignore_ = *std::move(rules);
    return {};
  }

  bool included(const std::string& path) const {
    return std::any_of(include_.begin(), include_.end(), [&](const auto& glob) { return glob_covers(glob, path); });
  }
  bool may_hold_included(const std::string& folder) const {
    return included(folder) || std::any_of(include_.begin(), include_.end(),
                                           [&](const auto& glob) { return glob_may_match_below(glob, folder); });
  }

  void skip(const std::string& path, FileKind kind, Skipped skipped) {
    skipped.path = kind == FileKind::folder ? path + "/" : path;
    selection_.skipped.push_back(std::move(skipped));
  }

  // A file with a sidecar beside it is an archive that was built here before.
  void leave_out_bundles() {
    constexpr std::string_view kSidecarEnd = ".sig.json";
    std::set<std::string> left_out;
    for (const std::string& path : selection_.chosen) {
      if (!path.ends_with(kSidecarEnd)) continue;
      std::string archive = path.substr(0, path.size() - kSidecarEnd.size());
      if (std::ranges::binary_search(selection_.chosen, archive)) left_out.insert({archive, path});
    }
    for (const std::string& path : left_out) skip(path, FileKind::file, {.reason = "a bundle that was built before"});
    std::erase_if(selection_.chosen, [&](const std::string& path) { return left_out.contains(path); });
  }

  bool take(const std::string& path, FileKind kind) {
    bool is_folder = kind == FileKind::folder;
    if (kind == FileKind::other) {
      skip(path, kind, {.reason = "a FIFO, socket or device", .is_special = true});
      return false;
    }
    if ((path == kManifestName || path == kImageLockName) && kind == FileKind::file) return true;
    if (auto found = denied(path, is_folder)) {
      skip(path, kind, {.reason = std::string(found->what), .secret = found->secret});
      return false;
    }
    if (auto match = ignore_.match(path, is_folder); match && match->ignored) {
      skip(path, kind, {.reason = std::string(kIgnoreName) + ":" + std::to_string(match->line)});
      return false;
    }
    if (is_folder ? may_hold_included(path) : included(path)) return true;
    skip(path, kind, {.reason = "not included"});
    return false;
  }

  Disk& disk_;
  std::string root_;
  std::vector<std::string> include_;
  ArchiveLimits limits_;
  IgnoreRules ignore_;
  Selection selection_;
  uint64_t seen_ = 0;
};

}  // namespace

Result<Selection> select(Disk& disk, const std::string& folder, const std::vector<std::string>& include,
                         const ArchiveLimits& limits) {
  return Walk(disk, folder, include, limits).run();
}

}  // namespace sluice::bundle
