// A change is looked for with a new watch each time, as folders come and go.
#include "cli/kit_reload.h"

#include <algorithm>
#include <vector>

#include "lang/diagnostic.h"

namespace sluice::cli {
namespace {

std::vector<std::string> folders_of(const KitPlace& place) {
  std::vector<std::string> folders = {place.folder};
  if (!place.options.overlay_folder.empty()) folders.push_back(place.options.overlay_folder);
  return folders;
}

}  // namespace

KitReload::KitReload(const Context& context, const KitPlace& place, const LoadedConcepts& loaded)
    : context_(context), place_(place), loaded_(loaded) {
  watch_.emplace(folders_of(place));
}

bool KitReload::look(engine::Engine& engine) {
  if (!watch_->changed()) return false;
  watch_.emplace(folders_of(place_));
  auto done = load(engine);
  if (done) {
    said_.clear();
    context_.output.note("The kit in " + place_.folder + " has changed: flows that begin now run under its new syncs.");
    return true;
  }
  std::string wrong = done.error().message;
  if (wrong == said_) return true;
  said_ = wrong;
  context_.output.warn("the kit in " + place_.folder + " has changed, but the rules that run go on: " + wrong +
                       (done.error().next.empty() ? "" : "; next: " + done.error().next));
  return true;
}

Result<void> KitReload::load(engine::Engine& engine) {
  lang::Checked checked = check_place(place_, false, context_);
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
  return engine.load(std::move(kit));
}

}  // namespace sluice::cli
