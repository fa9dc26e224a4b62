// The home is looked at without making it.
#include "host/kit_place.h"

#include <algorithm>
#include <filesystem>

#include "base/jail.h"
#include "deploy/app_kit_shelf.h"
#include "deploy/deploy_kit.h"
#include "host/home.h"
#include "host/pack_concepts.h"
#include "host/served_concepts.h"
#include "lang/syntax/text.h"

namespace sluice::host {

namespace fs = std::filesystem;

Result<std::string> kits_of_home(const Result<Home>& home, Narrator& narrator) {
  if (!home) return home.error();
  auto kits = home->check("kits");
  if (!kits) return kits.error();
  narrator.detail("home: " + home->root().string());
  return kits->string();
}

namespace {

// It uses no other kit.
Result<KitPlace> built_in_place(const Result<Home>& home, Narrator& narrator) {
  KitPlace place{.folder = std::string(deploy::kKitFolder)};
  if (auto kits = kits_of_home(home, narrator)) {
    place.options.overlay_folder = *kits;
    place.home = home->root().string();
  }
  return place;
}

}  // namespace

bool is_built_in(const std::string& folder) { return folder == deploy::kKitFolder; }

Result<KitPlace> place_of_kit(const std::string& given, const Result<Home>& home, Narrator& narrator) {
  KitPlace place{.folder = given.empty() ? "." : given};
  if (is_built_in(place.folder)) return built_in_place(home, narrator);
  while (place.folder.size() > 1 && place.folder.ends_with('/')) place.folder.pop_back();
  std::error_code ignored;
  bool named = place.folder.find('/') == std::string::npos && !fs::exists(place.folder, ignored);
  auto kits = kits_of_home(home, narrator);
  if (!kits && named) return kits.error();
  if (!kits) narrator.detail("the home is left out: " + kits.error().message);
  if (kits) {
    fs::path installed = fs::path(*kits) / place.folder;
    // Without a suite it is the folder of another kit's overrides.
    if (named && fs::exists(installed / "suite.yaml", ignored)) place.folder = installed.string();
    place.options.overlay_folder = *kits;
  }
  if (place.folder == deploy::kKitName && named) return built_in_place(home, narrator);
  place.options.search_path.push_back((fs::path(place.folder) / "..").lexically_normal().string());
  if (kits) place.options.search_path.push_back(*kits);
  return place;
}

Result<void> must_exist(const KitPlace& place) {
  std::error_code failed;
  if (is_built_in(place.folder)) return {};
  if (fs::status(place.folder, failed).type() != fs::file_type::not_found) return {};
  return Error{.code = Code::not_found,
               .message = "there is no folder " + place.folder + ", and no installed kit of that name",
               .next = "sluice kit list shows the installed kits, sluice kit init NAME begins one"};
}

namespace {

// The folder of the kit or overlay that the file belongs to, and the path from there.
std::pair<std::string, std::string> split_at_kit(const std::string& path, const KitPlace& place) {
  auto below = [&](const std::string& folder) {
    std::string prefix = folder == "." ? "" : folder.ends_with('/') ? folder : folder + "/";
    bool found = path.starts_with(prefix) && (!prefix.empty() || !path.starts_with('/'));
    return found ? std::optional(prefix.size()) : std::nullopt;
  };
  auto own = below(place.folder);
  // The kit's own files by their shortest spelling; `..` in what is left is another kit's.
  if (own && !path.substr(*own).starts_with("..")) return {place.folder, path.substr(*own)};
  std::vector<std::string> holders = place.options.search_path;
  holders.push_back(place.options.overlay_folder);
  for (const std::string& holder : holders) {
    auto within = holder.empty() ? std::nullopt : below(holder);
    size_t slash = within ? path.find('/', *within) : std::string::npos;
    if (slash != std::string::npos) return {path.substr(0, slash), path.substr(slash + 1)};
  }
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

lang::ReadText kit_reader(Disk& disk, const KitPlace& place) {
  return [&disk, &place](const std::string& path) -> Result<std::string> {
    if (path.starts_with(deploy::kKitFolder)) return deploy::read_kit_file(path);
    auto [folder, name] = split_at_kit(path, place);
    auto file = Jail(disk, folder).open(name, {});
    if (!file) return file.error();
    return lang::read_source(**file, path);
  };
}

namespace {

// Those of the home's packs that are not among the kept ones.
std::vector<lang::OutsideConcept> with_packs(const KitPlace& place, Disk& disk, Narrator& narrator,
                                             std::vector<lang::OutsideConcept> concepts) {
  if (place.home.empty()) return concepts;
  auto packs = pack::PackShelf(disk, place.home).all([&](const std::string& text) { narrator.warn(text); });
  for (lang::OutsideConcept& each : outside_concepts(packs)) {
    auto same = std::ranges::find(concepts, each.name, &lang::OutsideConcept::name);
    if (same == concepts.end()) concepts.push_back(std::move(each));
  }
  return concepts;
}

}  // namespace

namespace {

bool is_faulty(const lang::Checked& checked, const std::string& file) {
  return std::ranges::any_of(checked.diagnostics, [&](const lang::Diagnostic& one) {
    return one.severity == lang::Diagnostic::Severity::error && one.file == file;
  });
}

}  // namespace

lang::Checked check_place(const KitPlace& place, bool strict, Disk& disk, Narrator& narrator,
                          const std::vector<lang::OutsideConcept>& kept) {
  lang::KitOptions options = place.options;
  options.outside = with_packs(place, disk, narrator, kept);
  std::vector<deploy::KeptRule> rules;
  if (!place.home.empty()) {
    rules = deploy::AppKitShelf(disk, place.home).all([&](const std::string& text) { narrator.warn(text); });
  }
  for (lang::OutsideConcept& each : served_concepts(rules, place.home)) {
    auto same = std::ranges::find(options.outside, each.name, &lang::OutsideConcept::name);
    if (same == options.outside.end()) options.outside.push_back(std::move(each));
  }
  while (true) {
    lang::Kit kit = lang::load_kit(place.folder, kit_reader(disk, place), options);
    add_app_rules(rules, place.home, kit);
    for (const lang::OverlayChange& each : kit.overlaid) {
      if (kit.found.failed()) break;  // nothing is loaded, and what is told may be about this very change
      narrator.note("sync " + each.sync + " is " +
                    (each.by.empty() ? "disabled" : "replaced by the one in " + each.by) + ", as " + each.overlay +
                    " says");
    }
    narrator.detail("kit: " + place.folder + ", files read: " + std::to_string(kit.sources.size()));
    lang::Checked checked = lang::check(std::move(kit), {.strict = strict});
    if (checked.kit) return checked;
    // One pack, or one sync of an app, that does not fit takes nothing else with it.
    auto rule = std::ranges::find_if(rules, [&](const deploy::KeptRule& each) {
      return is_faulty(checked, place.home + "/app-kits/" + each.name + ".sync");
    });
    if (rule != rules.end()) {
      narrator.warn("the sync " + rule->name + " of the app " + rule->app +
                    " is left out, as it does not fit any more; next: deploy the app again");
      rules.erase(rule);
      continue;
    }
    auto faulty = std::ranges::find_if(options.outside,
                                       [&](const lang::OutsideConcept& each) { return is_faulty(checked, each.file); });
    if (faulty == options.outside.end()) return checked;
    if (faulty->file.starts_with(place.home + "/app-kits/")) {
      narrator.warn("the concept " + faulty->name +
                    " of an app is left out, as it does not fit any more; next: deploy " + "the app again");
      options.outside.erase(faulty);
      continue;
    }
    narrator.warn("the pack " + faulty->kind + " is left out, as its concept does not fit; next: sluice pack test " +
                  fs::path(faulty->file).parent_path().string());
    options.outside.erase(faulty);
  }
}

std::string counted(size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string summary(const lang::Checked& checked) {
  return counted(checked.errors, "error") + ", " + counted(checked.warnings, "warning") + " in " +
         counted(checked.concepts, "concept") + ", " + counted(checked.syncs, "sync") +
         (checked.guards > 0 ? ", " + counted(checked.guards, "guard") : "");
}

Error kit_has_errors(const KitPlace& place, const lang::Checked& checked) {
  return {.code = Code::faults_found,
          .message = "the kit in " + place.folder + " has errors: " + summary(checked),
          .next = "sluice kit check " + place.folder};
}

}  // namespace sluice::host
