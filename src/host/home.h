// Sluice's home: the only place where it writes unasked. docs/internals/home.md describes what is in it.
//
//   auto home = find_home(disk, variables);  // where it is; touches nothing
//   auto kits = home->folder("kits");        // makes the home and the folder when they are first needed
//   auto kits = home->check("kits");         // the same for reading: makes nothing
//
// The home holds keys, so it is trusted only if it is a real folder, owned by the caller, that nobody else can write.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "base/terminal.h"

namespace sluice::host {

struct HomeFolder {
  std::string name;
  std::string holds;
};

// The names that stand in a home. Nothing else is written there.
const std::vector<HomeFolder>& home_layout();

class Home {
 public:
  Home(Disk& disk, std::filesystem::path root) : disk_(&disk), root_(std::move(root)) {}

  const std::filesystem::path& root() const { return root_; }

  // Makes the home with mode 0700 if there is none, and refuses one that cannot be trusted.
  Result<void> ensure() const;

  // A folder of the layout, made like the home itself.
  Result<std::filesystem::path> folder(std::string_view name) const;

  // Where that folder is, or would be. Makes nothing; refuses a home or a folder that is there and cannot be trusted.
  Result<std::filesystem::path> check(std::string_view name) const;

 private:
  Disk* disk_;
  std::filesystem::path root_;
};

// $SLUICE_HOME, which must be absolute, else $HOME/.sluice.
Result<Home> find_home(Disk& disk, const Variables& variables);

}  // namespace sluice::host
