// The views of promotion by their names.
#include "deploy/views/releases.h"

namespace sluice::deploy::views {

std::vector<lang::View> releases_views() {
  return {
      lang::make_view("definitions", "What is applied: components, types, settings, releases, pins", read_definitions),
      lang::make_view("releases", "Releases, the newest first, and where they are pinned", read_releases),
      lang::make_view("release-diff", "What two releases say otherwise", read_release_diff),
      lang::make_view("pins", "Which release each environment is to run, and runs", read_pins),
      lang::make_view("pin-history", "What a pin has run, the newest first", read_pin_history),
      lang::make_view("release-history", "What ran where, and what was rejected, the newest first",
                      read_release_history),
      lang::make_view("pipelines", "The ways that releases take", read_pipelines),
      lang::make_view("promotion-plan", "What a promotion would change", read_promotion_plan),
      lang::make_view("git-sources", "Branches that are kept applied, and how that went", read_git_sources)};
}

}  // namespace sluice::deploy::views
