// Names count up until one is free: exclusive creation settles races, and steps over what crashed processes left.
#include "bundle/archive/unfinished.h"

#include <unistd.h>

#include <vector>

namespace sluice::bundle {

namespace {

constexpr size_t kMaxStemBytes = 200;  // leaves room for the rest of the name within the 255 bytes of a component
constexpr int kMaxNames = 1'000;

std::string stem_of(const std::string& path) {
  return folder_of(path) + "/." + name_of(path).substr(0, kMaxStemBytes) + "." + std::to_string(::getpid()) + ".";
}

}  // namespace

Result<UnfinishedFile> create_file_beside(Disk& disk, const std::string& path) {
  const std::string stem = stem_of(path);
  for (int n = 0;; ++n) {
    std::string candidate = stem + std::to_string(n) + ".unfinished";
    auto file = disk.open(candidate, {.write = true, .create = true, .exclusive = true, .mode = 0600});
    if (file) return UnfinishedFile{std::move(candidate), *std::move(file)};
    if (file.error().code != Code::conflict || n == kMaxNames) return file.error();
  }
}

Result<std::string> make_folder_beside(Disk& disk, const std::string& path) {
  const std::string stem = stem_of(path);
  for (int n = 0;; ++n) {
    std::string candidate = stem + std::to_string(n) + ".unfinished";
    auto made = disk.make_folder(candidate, 0700);
    if (made) return candidate;
    if (made.error().code != Code::conflict || n == kMaxNames) return made.error();
  }
}

Result<void> remove_tree(Disk& disk, const std::string& path) {
  Result<void> result;
  auto note = [&](const Result<void>& done) {
    if (!done && result) result = done;
  };
  // Folders in the order in which they are met; in reverse, every folder comes after those inside it.
  std::vector<std::string> folders{path};
  for (size_t i = 0; i < folders.size(); ++i) {
    // A build may have made folders that nobody may write to; it is its entries' removal that fails then.
    (void)disk.chmod(folders[i], 0700);
    auto entries = disk.list(folders[i]);
    if (!entries) {
      note(entries.error());
      continue;
    }
    for (const FolderEntry& entry : *entries) {
      std::string child = folders[i] + "/" + entry.name;
      if (entry.kind == FileKind::folder) {
        folders.push_back(std::move(child));
      } else {
        note(disk.remove(child));
      }
    }
  }
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) note(disk.remove_folder(*folder));
  return result;
}

}  // namespace sluice::bundle
