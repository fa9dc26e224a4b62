// A kit while it is loaded. For the loader's own files only: kit.cc has the order of things, kit_suites.cc reads the
// suites and their files, kit_changes.cc decides what is active and tells of what stands there twice or for nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lang/syntax/kit.h"

namespace sluice::lang {

class KitLoader {
 public:
  KitLoader(const ReadText& read, const KitOptions& options) : read_(read), options_(options) {}

  Kit load(const std::string& folder);

 private:
  // What one suite or overlay wants to be different.
  struct Change {
    std::string name;
    std::string file;  // where it is said
    Mark mark;
    std::string replace;  // the replacing .sync; empty: disable
    bool overlay = false;
  };

  // A `.sync`, parsed once.
  struct Rules {
    SyncFile tree;
    std::unordered_map<std::string_view, std::vector<const Sync*>> by_name;
    bool faulty = false;  // it has rules that could not be read
  };

  // Where a suite lists a sync.
  struct Entry {
    std::string suite;
    Mark mark;
  };

  struct AliasPlace {
    std::string file;
    Mark mark;
    std::string alias;
    std::string sync;  // whose it is
  };

  void tell(Diagnostic::Severity severity, const std::string& file, Mark mark, size_t length, std::string rule,
            std::string text, std::string hint);
  void error(const std::string& file, Mark mark, size_t length, std::string rule, std::string text, std::string hint);
  void warning(const std::string& file, Mark mark, size_t length, std::string rule, std::string text, std::string hint);
  void take(const Diagnostics& found);
  // Where a value stands after the key or the entry that is marked; the mark itself if it is written otherwise there.
  Mark value_after(const std::string& file, Mark mark, size_t skip, std::string_view value,
                   Diagnostic::Severity severity = Diagnostic::Severity::error) const;
  // Tells of a path that leads out of the folder of the file that names it; true if it does. It stands `skip` after the
  // mark.
  bool refuse_outside(const std::string& file, const std::string& path, Mark mark, size_t skip);

  std::optional<Suite> read_suite(const std::string& file);
  void load_suite(const Suite& suite, const std::string& folder);
  void load_use(const Suite& suite, const SuiteUse& use, const std::string& folder);
  void find_used(const Suite& suite, const SuiteUse& use);
  void load_used(const Suite& suite, const SuiteUse& use, const Suite& used, const std::string& folder);
  void load_concept(const Suite& suite, const SuiteConcept& entry, const std::string& folder);
  void load_outside(const Suite& suite, const OutsideConcept& given);
  const Rules* rules_of(const std::string& file);
  void load_guards(const Suite& suite, const std::string& file);
  void load_syncs(const Suite& suite, const SuiteSync& entry, const std::string& folder);
  void add_sync(const Suite& suite, const SuiteSync& entry, const Sync& sync);

  void read_overlay(const std::string& file);
  std::vector<size_t> syncs_named(const std::string& name);
  bool may_change(const Change& change, const std::vector<size_t>& targets);
  void apply(const Change& change);
  void replace(const Change& change, const KitSync& target);
  void activate();
  void tell_duplicates();
  void tell_unlisted();

  const ReadText& read_;
  const KitOptions& options_;
  Kit kit_;
  std::vector<std::string> loading_;  // suites on the way in, outermost first
  std::unordered_set<std::string> loaded_, guarded_;
  std::map<std::string, std::string> concept_places_;
  std::map<std::string, std::optional<Rules>> files_;
  std::map<std::string, Error> missing_;  // why a file could not be read
  bool faulty_ = false;                   // some file has rules that could not be read
  std::unordered_map<const Sync*, Entry> listed_;
  std::vector<AliasPlace> alias_places_;
  std::vector<Change> changes_;
  std::unordered_map<std::string, std::vector<size_t>> by_name_;  // the first `indexed_` syncs
  size_t indexed_ = 0;
  std::map<std::pair<std::string, size_t>, const Change*> changed_;  // by file and sync
};

// A path as a file of the folder names it.
std::string path_in(const std::string& folder, std::string path);
// What to do about a file that cannot be read.
std::string hint_of(const Error& error);

inline constexpr const char* kMendPath = "mend the path, or take the entry out";

}  // namespace sluice::lang
