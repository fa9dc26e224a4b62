// A kit: a folder with a `suite.yaml`, the concepts, syncs and guards that it names, and those of the kits that it
// uses. `load_kit` reads and parses all of it and decides what is active; nothing is checked yet (lang/check/check.h).
//
// Which syncs are active:
// - An integration sync is inactive until every optional concept that it names is loaded.
// - `disable` and `overrides`, of the suite itself or of an overlay file, act on recommended and integration syncs by
//   their name (the alias of suite.yaml, else the sync's own). An overridden sync is inactive, its replacement active.
//   Naming a required sync is an error, and so is naming one twice in a file; an overlay has the last word.
// - `uses` brings in another kit's concepts and syncs, found by name in the search path.
//
// Optional concepts are all loaded unless the options name those that are wanted. An optional concept whose file is
// missing is not loaded, with a warning; a missing file of any other is an error. Likewise an integration sync whose
// file is missing is inactive with a warning.
//
// Every path that a suite or an overlay names leads to a file in its own folder: by its text it cannot lead out, and
// that no symlink does is the reader's to see to (base/jail.h).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lang/syntax/ast.h"
#include "lang/syntax/diagnostic.h"

namespace sluice::lang {

struct KitConcept {
  Concept tree;
  SuiteConcept entry;
  std::string kit;         // the name of the kit that it is from
  std::string suite_file;  // of that kit
  bool outside = false;    // no suite names it: KitOptions does
};

// A scope, and the suite that says it.
struct KitScope {
  SuiteScope scope;
  std::string suite_file;
};

struct AbsentConcept {
  std::string name;
  std::string why;
};

struct KitSync {
  Sync tree;
  Tier tier = Tier::required;
  std::string alias;  // the name by which it is overridden or disabled
  std::string kit;
  std::string inactive;   // why it is not active; empty if it is
  bool replaced = false;  // by another of `overrides`
  std::string replaces;   // the file and line of the one that it replaces
  bool again = false;     // a suite lists it a second time
  bool derived = false;   // it follows from a provider's `provides`, which the checker adds

  bool active() const { return inactive.empty(); }
  // Whether it is a sync of the kit: neither one whose file is missing, nor the one that another replaces.
  bool is_there() const { return !tree.when.empty() && !replaced && !again; }
};

struct KitGuard {
  Guard tree;
  std::string kit;
  std::string inactive;

  bool active() const { return inactive.empty(); }
};

// What an overlay, a file outside the kit, did to one of its syncs.
struct OverlayChange {
  std::string sync;
  std::string overlay;  // the file
  std::string by;       // the replacing file; empty: it is disabled
};

struct Kit {
  std::string folder;
  Suite suite;
  std::vector<KitScope> scopes;
  std::map<std::string, std::vector<Name>> rights;  // by the file of the suite that lists them
  std::vector<KitConcept> concepts;                 // in the order of the suite, those of used kits first
  std::vector<AbsentConcept> absent;
  std::vector<std::string> broken;  // concepts whose file has errors: rules that name them are not judged
  bool incomplete = false;          // a file has errors, so what follows from what is not judged
  std::vector<KitSync> syncs;
  bool derives = true;  // rules are to follow from `provides`; a set of syncs that was kept has them already
  std::vector<KitGuard> guards;
  std::vector<OverlayChange> overlaid;
  std::map<std::string, std::string> sources;  // text by file, for messages
  Diagnostics found;                           // what loading found
};

// Reads one file; a missing one is Code::not_found.
using ReadText = std::function<Result<std::string>(const std::string& path)>;

// A concept that comes to the kit from outside, under a name of its own: what it is called in its file does not matter,
// so that several versions of it can be loaded. What it `provides` is routed to it by its kind.
struct OutsideConcept {
  std::string name;
  std::string kind;
  std::string file;
  std::string text;

  bool operator==(const OutsideConcept&) const = default;
};

struct KitOptions {
  std::vector<std::string> search_path;          // folders that hold kits by name, for `uses`
  std::vector<std::string> overlays;             // files with `overrides:` and `disable:`; a missing one is nothing
  std::string overlay_folder;                    // if set, `<overlay_folder>/<kit>/overrides.yaml` is one more
  std::optional<std::vector<std::string>> load;  // the optional concepts to load; nothing: all
  std::vector<OutsideConcept> outside;
};

// Always gives a kit; whether it can be used is `check`'s to say.
Kit load_kit(const std::string& folder, const ReadText& read, const KitOptions& options = {});

std::string_view tier_name(Tier tier);

}  // namespace sluice::lang
