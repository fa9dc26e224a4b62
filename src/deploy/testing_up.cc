// The handlers of LocalRuntime are its own; only what touches the world is replaced.
#include "deploy/testing_up.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>

#include "base/atomic_file.h"
#include "bundle/archive/pack.h"
#include "deploy/deploy_kit.h"
#include "deploy/providers/secret/store/backup_keys.h"

namespace sluice::deploy {
namespace {

using lang::Completion;
using lang::PerformedAction;

std::string text_at(const json::value& work, std::string_view name) {
  const json::value* value = work.as_object().if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

json::array programs_named(const std::string& service, int64_t count) {
  json::array programs;
  for (int64_t i = 0; i < count; ++i) {
    programs.push_back(json::object{{"name", service + "." + std::to_string(i)},
                                    {"endpoint", "http://127.0.0.1:" + std::to_string(i + 1)},
                                    {"pid", i + 1},
                                    {"log", ""}});
  }
  return programs;
}

// As many files as there are to be replicas; the first is the one that was deployed. While there is a file FOLDER/full,
// nothing grows.
Result<PerformedAction> scale_file(const std::string& folder, const json::value& work) {
  const json::value& deploy = work.at("deploy");
  const std::string service = text_at(deploy, "service");
  const int64_t count = deploy.at("replicas").as_int64();
  if (work.at("excess").as_array().empty() && std::filesystem::exists(folder + "/full")) {
    return PerformedAction(Completion{"failed", {{"instance", ""}, {"reason", "the machine is full"}}});
  }
  RealDisk disk;
  for (int64_t i = 1; i < count; ++i) {
    auto kept = write_atomically(disk, folder + "/running/" + service + "-" + std::to_string(i), "", 0644);
    if (!kept) return kept.error();
  }
  return PerformedAction(Completion{"ok",
                                    {{"service", service},
                                     {"endpoint", "http://127.0.0.1:1"},
                                     {"replicas", json::array()},
                                     {"programs", programs_named(service, count)}}});
}

Result<PerformedAction> deploy_file(const std::string& folder, const json::value& work, lang::Attempt& attempt) {
  const std::string service = text_at(work, "service");
  RealDisk disk;
  auto seen = BundleShelf(disk, "/none/shelf").look(text_at(work, "artifact"));
  if (!seen) return PerformedAction(Completion{"badBundle", {{"artifact", ""}, {"reason", to_string(seen.error())}}});
  if (seen->manifest.env.contains("BROKEN")) {
    return PerformedAction(Completion{
        "crashLoop",
        {{"replica", service}, {"reason", "it ended with exit code 1"}, {"lastLines", json::array{"out no luck"}}}});
  }
  // The first that stores something under a name leaves its version there.
  const std::string stored = folder + "/storage/" + text_at(work, "storage");
  if (!seen->manifest.storage.empty() && !std::filesystem::exists(stored + "/data")) {
    std::filesystem::create_directories(stored);
    auto data = write_atomically(disk, stored + "/data", seen->manifest.version.text, 0644);
    if (!data) return data.error();
  }
  if (const std::string sealed = text_at(work, "secrets"); !sealed.empty()) {
    std::filesystem::create_directories(folder + "/given");
    auto given =
        write_atomically(disk, folder + "/given/" + service, attempt.open(lang::Sealed::of_handle(sealed)), 0600);
    if (!given) return given.error();
  }
  auto kept = write_atomically(disk, folder + "/running/" + service, seen->manifest.version.text, 0644);
  if (!kept) return kept.error();
  return PerformedAction(Completion{
      "ok",
      {{"service", service},
       {"endpoint", "http://127.0.0.1:1"},
       {"artifactHash", "sha256:0"},
       {"programs", seen->manifest.replicas > 1 ? programs_named(service, seen->manifest.replicas) : json::array()}}});
}

Result<PerformedAction> destroy_file(const std::string& folder, const json::value& work) {
  const std::string service = text_at(work, "service");
  std::filesystem::remove(folder + "/running/" + service);
  for (int i = 1; std::filesystem::remove(folder + "/running/" + service + "-" + std::to_string(i)); ++i) {
  }
  return PerformedAction(Completion{"ok", {{"instance", ""}}});
}

Result<PerformedAction> make_folders(const std::string& folder, const json::value& work) {
  const std::string storage = text_at(work, "storage");
  if (std::filesystem::exists(folder + "/full")) {
    return PerformedAction(Completion{"failed", {{"storage", storage}, {"reason", "the disk is full"}}});
  }
  for (const json::value& each : work.at("names").as_array()) {
    std::filesystem::create_directories(folder + "/storage/" + storage + "/" + std::string(each.as_string()));
  }
  return PerformedAction(Completion{"ok", {{"storage", storage}}});
}

Result<PerformedAction> unmake_folders(const std::string& folder, const json::value& work) {
  const std::string storage = text_at(work, "storage"), place = folder + "/storage/" + storage;
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator(place, ignored)) {
    if (each.is_directory()) std::filesystem::remove(each, ignored);
  }
  std::filesystem::remove(place, ignored);
  const bool empty = !std::filesystem::exists(place);
  return PerformedAction(Completion{"ok", {{"storage", storage}, {"empty", empty}}});
}

Result<PerformedAction> forget_folder(const std::string& folder, const json::value& work) {
  const std::string storage = text_at(work, "storage");
  if (std::filesystem::exists(folder + "/storage/" + storage + "/stuck")) {
    return PerformedAction(Completion{"stuck", {{"storage", storage}, {"reason", "the disk is full"}}});
  }
  std::filesystem::remove_all(folder + "/storage/" + storage);
  return PerformedAction(Completion{"ok", {{"storage", storage}}});
}

}  // namespace

std::vector<lang::ConceptBinding> trusting(std::vector<lang::ConceptBinding> all) {
  auto trust = std::ranges::find(all, "Trust", &lang::ConceptBinding::name);
  for (lang::ActionBinding& action : trust->actions) {
    if (action.name != "verify") continue;
    action.act = [](const json::object&, lang::Rows&) -> Result<lang::Completion> {
      return lang::Completion{"ok", {{"keys", json::array()}}};
    };
  }
  return all;
}

std::vector<lang::ConceptBinding> concepts_with_files_for_programs(const std::string& folder,
                                                                   const std::function<void()>& before_deploy) {
  std::vector<lang::ConceptBinding> all;
  for (const lang::ConceptBinding* each : concepts()) all.push_back(*each);
  auto local = std::ranges::find(all, "LocalRuntime", &lang::ConceptBinding::name);
  for (lang::ActionBinding& action : local->actions) {
    if (action.name == "provision") {
      action.perform = [](const json::value&, lang::Attempt&) -> Result<PerformedAction> {
        return PerformedAction(Completion{"ok", {{"service", ""}, {"endpoint", ""}}});
      };
    } else if (action.name == "deploy") {
      action.perform = [=](const json::value& work, lang::Attempt& attempt) {
        if (before_deploy) before_deploy();
        return deploy_file(folder, work, attempt);
      };
    } else if (action.name == "scale") {
      action.perform = [=](const json::value& work, lang::Attempt&) { return scale_file(folder, work); };
    } else if (action.name == "destroy") {
      action.perform = [=](const json::value& work, lang::Attempt&) { return destroy_file(folder, work); };
    } else if (action.name == "makeStorage") {
      action.perform = [=](const json::value& work, lang::Attempt&) { return make_folders(folder, work); };
    } else if (action.name == "unmakeStorage") {
      action.perform = [=](const json::value& work, lang::Attempt&) { return unmake_folders(folder, work); };
    } else if (action.name == "forgetStorage") {
      action.perform = [=](const json::value& work, lang::Attempt&) { return forget_folder(folder, work); };
    } else if (action.name == "check") {
      action.begin = [=](const json::object& ask, lang::Rows&) -> Result<lang::BegunAction> {
        const std::string instance(ask.at("instance").as_string());
        if (std::filesystem::exists(folder + "/ill") || std::filesystem::exists(folder + "/silent/" + instance)) {
          return lang::BegunAction(Completion{"unreachable", {{"instance", instance}}});
        }
        return lang::BegunAction(Completion{"ok", {{"instance", ""}, {"latencyMs", 1}}});
      };
    }
  }
  return all;
}

UpTools::UpTools(const std::string& folder)
    : folder_(folder),
      shelf_(disk_, folder + "/blobs/bundles"),
      fleet_(disk_, folder + "/router", [this] { return crypto::PrivateKey::from_pem(key_.to_pem().reveal()); }),
      cookie_keys_(disk_, clock_, random_, folder + "/cookies.json") {
  std::filesystem::create_directories(folder + "/blobs");
  std::filesystem::create_directories(folder + "/running");
  tools_.add(seal_);
  tools_.add(shelf_);
  tools_.add(secrets_);
  tools_.add(fleet_);
  tools_.add(cookie_keys_);
  tools_.add<Disk>(disk_);
  tools_.add<Clock>(clock_);
}

void UpTools::answer(const std::string& instance, bool answers) const {
  const std::string file = folder_ + "/silent/" + instance;
  if (answers) {
    std::filesystem::remove(file);
  } else {
    std::filesystem::create_directories(file);
  }
}

std::string UpTools::put(const std::string& name, const std::string& version, const std::string& more,
                         const std::map<std::string, std::string>& files) {
  const std::string root = folder_ + "/in";
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root);
  const std::string manifest = "name: " + name + "\nversion: \"" + version + "\"\nrun: [./app]\n" + more;
  EXPECT_TRUE(write_atomically(disk_, root + "/bundle.yaml", manifest, 0644));
  EXPECT_TRUE(write_atomically(disk_, root + "/app", "#!/bin/sh\n", 0755));
  std::vector<std::string> paths = {"app", "bundle.yaml"};
  for (const auto& [path, text] : files) {
    std::filesystem::create_directories(std::filesystem::path(root + "/" + path).parent_path());
    EXPECT_TRUE(write_atomically(disk_, root + "/" + path, text, 0644));
    paths.push_back(path);
  }
  const std::string file = folder_ + "/packed.bundle";
  auto packed = bundle::pack(disk_, root, paths, file);
  EXPECT_TRUE(packed) << to_string(packed.error());
  const std::string digits = packed->archive_sha256;
  std::filesystem::create_directories(folder_ + "/blobs/uploads/" + digits.substr(0, 2));
  EXPECT_TRUE(disk_.rename(file, folder_ + "/blobs/uploads/" + digits.substr(0, 2) + "/" + digits.substr(2)));
  return "sha256:" + digits;
}

bool UpTools::has(const std::string& digest) const {
  return std::filesystem::exists(folder_ + "/blobs/uploads/" + digest.substr(7, 2) + "/" + digest.substr(9));
}

void UpTools::age(const std::string& digest, int days) const {
  const std::string path = folder_ + "/blobs/uploads/" + digest.substr(7, 2) + "/" + digest.substr(9);
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) - std::chrono::hours(24 * days));
}

MigrateMeans::Keys UpTools::backup_keys() { return secret_store::backup_keys(secrets_, random_); }

std::string UpTools::value_of(const std::string& name, int64_t version) {
  auto value = secrets_.get("local", name, version);
  return value ? std::string(value->reveal()) : "";
}

std::string UpTools::secrets_of(const std::string& service) const {
  RealDisk disk;
  auto text = read_file(disk, folder_ + "/given/" + service, 1 << 20);
  return text ? *text : "";
}

std::vector<std::string> UpTools::running() const {
  std::vector<std::string> names;
  for (const auto& each : std::filesystem::directory_iterator(folder_ + "/running")) {
    const std::string name = each.path().filename().string();
    if (!name.starts_with('.')) names.push_back(name);  // a kill beside a write leaves an unfinished file
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace sluice::deploy
