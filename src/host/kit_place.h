// Where a kit is, and the kit itself, checked.
//
// A kit is named by its folder, or by the name of one in $SLUICE_HOME/kits. Used kits are found beside the kit and in
// $SLUICE_HOME/kits; $SLUICE_HOME/kits/NAME/overrides.yaml changes which syncs of the kit NAME are active. Sluice's own
// kit, `deploy`, is part of the program, and is found by its name unless there is another one of that name.
#pragma once

#include <string>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "host/home.h"
#include "host/narrator.h"
#include "lang/check/check.h"

namespace sluice::host {

struct KitPlace {
  std::string folder;
  lang::KitOptions options;
  std::string home = {};  // whose packs belong to the kit; empty: none do
};

// $SLUICE_HOME/kits, if the home can be trusted.
Result<std::string> kits_of_home(const Result<Home>& home, Narrator& narrator);

// A name without a slash that is no folder here is looked up in the home. A kit given as a folder does not need the
// home, so a home that cannot be used is then left out. Empty: the folder that the person is in.
Result<KitPlace> place_of_kit(const std::string& given, const Result<Home>& home, Narrator& narrator);

// Whether that is the folder of a kit that is part of the program: a name that no disk has.
bool is_built_in(const std::string& folder);

Result<void> must_exist(const KitPlace& place);

// Reads the files of the kit, of kits that it uses and of its overlay, each only from below the folder that it belongs
// to, and through no symlink there. Both must outlive it.
lang::ReadText kit_reader(Disk& disk, const KitPlace& place);

// Narrates which syncs the home's overlay changes. With the concepts of the home's packs behind those that are `kept`;
// a pack whose concept does not fit the kit is left out, and told of.
lang::Checked check_place(const KitPlace& place, bool strict, Disk& disk, Narrator& narrator,
                          const std::vector<lang::OutsideConcept>& kept = {});

// "1 error", "2 errors"
std::string counted(size_t count, const std::string& noun);
// "0 errors, 1 warning in 2 concepts, 2 syncs"
std::string summary(const lang::Checked& checked);

// What a command says that needs a kit without errors.
Error kit_has_errors(const KitPlace& place, const lang::Checked& checked);

}  // namespace sluice::host
