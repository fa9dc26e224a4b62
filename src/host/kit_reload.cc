// A change is looked for with a new watch each time, as folders come and go.
#include "host/kit_reload.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/pack_concepts.h"
#include "host/served_concepts.h"
#include "lang/syntax/diagnostic.h"

namespace sluice::host {
namespace {

std::vector<std::string> folders_of(const KitPlace& place) {
  std::vector<std::string> folders = {place.folder};
  if (!place.options.overlay_folder.empty()) folders.push_back(place.options.overlay_folder);
  if (!place.home.empty()) folders.push_back(place.home + "/packs");
  return folders;
}

// The concepts from outside that run: they stay, also if their packs are removed.
std::vector<lang::OutsideConcept> outside_of(const lang::CheckedKit& kit) {
  std::vector<lang::OutsideConcept> all;
  for (const lang::KitConcept& each : kit.kit().concepts) {
    if (!each.outside) continue;
    const std::string& file = each.tree.file;
    all.push_back({.name = each.tree.name, .kind = each.tree.kind, .file = file, .text = kit.kit().sources.at(file)});
  }
  return all;
}

}  // namespace

KitReload::KitReload(Disk& disk, Narrator& narrator, const KitPlace& place, const LoadedConcepts& loaded)
    : disk_(disk), narrator_(narrator), place_(place), loaded_(loaded) {
  watch_.emplace(folders_of(place));
}

Result<std::shared_ptr<const lang::CheckedKit>> KitReload::first() {
  lang::Checked checked = check_place(place_, false, disk_, narrator_);
  if (!checked.kit) return kit_has_errors(place_, checked);
  auto kit = std::make_shared<const lang::CheckedKit>(*std::move(checked.kit));
  if (auto fits = check_handlers(loaded_, *kit); !fits) return fits.error();
  return kit;
}

KitReload::~KitReload() {
  if (serves_ != nullptr) serves_->shelf().load_with(nullptr);
}

bool KitReload::look(engine::Engine& engine) {
  if (serves_ == nullptr && !place_.home.empty() && loaded_.packs != nullptr && loaded_.packs->served() != nullptr) {
    serves_ = loaded_.packs->served();
    serves_->shelf().load_with([this, &engine]() -> Result<void> {
      auto done = load(engine);
      return done ? Result<void>() : Result<void>(done.error());
    });
  }
  if (!watch_->changed()) return false;
  watch_.emplace(folders_of(place_));
  auto done = load(engine);
  if (done) {
    bool was_wrong = !std::exchange(said_, "").empty();
    if (*done) {
      narrator_.note("The kit in " + place_.folder + " has changed: flows that begin now run under its new syncs.");
    } else if (was_wrong) {
      narrator_.note("The kit in " + place_.folder + " is again the one that runs.");
    }
    return true;
  }
  std::string wrong = done.error().message;
  if (wrong == said_) return true;
  said_ = wrong;
  narrator_.warn("the kit in " + place_.folder + " has changed, but the rules that run go on: " + wrong +
                 (done.error().next.empty() ? "" : "; next: " + done.error().next));
  return true;
}

Result<bool> KitReload::load(engine::Engine& engine) {
  std::lock_guard lock(loading_);
  const auto running = engine.kit();
  lang::Checked checked = check_place(place_, false, disk_, narrator_, outside_of(*running));
  if (!checked.kit) {
    Error error = kit_has_errors(place_, checked);
    auto first = std::ranges::find(checked.diagnostics, lang::Diagnostic::Severity::error, &lang::Diagnostic::severity);
    if (first != checked.diagnostics.end()) {
      error.message = first->file + ":" + std::to_string(first->mark.line) + ": " + first->text;
    }
    return error;
  }
  auto kit = std::make_shared<const lang::CheckedKit>(*std::move(checked.kit));
  if (auto fits = check_handlers(loaded_, *kit); !fits) return fits.error();
  if (kit->kit().sources == running->kit().sources) return false;
  if (auto loaded = engine.load(kit, handlers_of_packs(loaded_, kit)); !loaded) return loaded.error();
  return true;
}

}  // namespace sluice::host
