// Jail opens files under one folder by paths that come from outside: an archive's names, a request, a manifest. No
// such path leads out of the folder, by `..`, by being absolute, or through a symlink, wherever that points.
//
//   Jail jail(disk, "/srv/bundles/01ARYZ6S41…");
//   auto file = jail.open(name_from_archive, {.write = true, .create = true, .exclusive = true});
//
// The check of symlinks and the open are one step (Disk::open_beneath), so nobody can put a symlink in between. The
// root itself is trusted and may be reached through symlinks.
#pragma once

#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"

namespace sluice {

class Jail {
 public:
  Jail(Disk& disk, std::string root) : disk_(disk), root_(std::move(root)) {}

  const std::string& root() const { return root_; }

  // The path in its plain form, "a/b" for "./a//b/", looking at its text alone. `denied` if it could lead out, which
  // `..` always could; `invalid` if it names nothing below the root, holds a NUL, or is longer than the system allows.
  Result<std::string> check(std::string_view path) const;

  Result<std::unique_ptr<File>> open(std::string_view path, const OpenFlags& flags) const;
  Result<void> make_folder(std::string_view path, uint32_t mode) const;

 private:
  Error explain(Error error, const std::string& path) const;

  Disk& disk_;
  std::string root_;
};

}  // namespace sluice
