// What is being made stands beside its final place under a name of its own, and is renamed when it is whole: a hidden
// name that ends in ".unfinished", as base/atomic_file.h uses it.
#pragma once

#include <memory>
#include <string>

#include "base/disk.h"
#include "base/result.h"

namespace sluice::bundle {

struct UnfinishedFile {
  std::string path;
  std::unique_ptr<File> file;
};

// A new file, mode 0600, open for reading and writing; or a new folder, mode 0700.
Result<UnfinishedFile> create_file_beside(Disk& disk, const std::string& path);
Result<std::string> make_folder_beside(Disk& disk, const std::string& path);

// Removes a folder with all that is in it, following no symlink. As much as can be removed is; the first error is told.
Result<void> remove_tree(Disk& disk, const std::string& path);

}  // namespace sluice::bundle
