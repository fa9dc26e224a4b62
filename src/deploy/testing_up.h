// A home for tests of whole workflows: the kit with bundles on a real disk, and a local runtime whose programs are
// files. One whose manifest sets BROKEN in its environment never becomes healthy.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "crypto/ed25519.h"
#include "deploy/bundle_shelf.h"
#include "deploy/cookie_keys.h"
#include "deploy/migrate_means.h"
#include "deploy/providers/secret/store/sealed_store.h"
#include "deploy/revenue_policy.h"
#include "deploy/router_fleet.h"
#include "lang/run/binding.h"
#include "lang/run/handler.h"

namespace sluice::deploy {

// All of the kit's concepts, with a LocalRuntime that keeps a file a running instance in FOLDER/running, and calls
// `before_deploy` first. While there is a file FOLDER/ill, no instance answers its health check; while there is one
// FOLDER/full, none gets more replicas.
std::vector<lang::ConceptBinding> concepts_with_files_for_programs(const std::string& folder,
                                                                   const std::function<void()>& before_deploy = {});

// With them every bundle is trusted everywhere.
std::vector<lang::ConceptBinding> trusting(std::vector<lang::ConceptBinding> all);

// The tools of the kit's effects, in a folder.
class UpTools {
 public:
  explicit UpTools(const std::string& folder);

  // Puts a bundle's archive into the home's blobs: its digest. Each line of `more` is one of the manifest's.
  // `files` are further files, by their paths.
  std::string put(const std::string& name, const std::string& version, const std::string& more = "",
                  const std::map<std::string, std::string>& files = {});
  // Whether the bytes are there still.
  bool has(const std::string& digest) const;
  // As if they had been put so many days ago.
  void age(const std::string& digest, int days) const;
  // A secret's value in local; empty if there is none.
  std::string value_of(const std::string& name, int64_t version);
  // What the program of this instance was given as its secrets; empty if none were.
  std::string secrets_of(const std::string& service) const;
  // Of backups of databases.
  MigrateMeans::Keys backup_keys();
  // Whether an instance answers health checks from now on.
  void answer(const std::string& instance, bool answers) const;
  // The instances that run, as the files say.
  std::vector<std::string> running() const;

  lang::Tools& tools() { return tools_; }

 private:
  const std::string folder_;
  RealDisk disk_;
  RealClock clock_;
  SeededRandom random_{7};
  crypto::PrivateKey key_ = crypto::PrivateKey::generate();
  PolicySeal seal_{[this] { return crypto::PrivateKey::from_pem(key_.to_pem().reveal()); }};
  BundleShelf shelf_;
  process::RealRunner runner_{clock_};
  secret_store::SealedStore secrets_{
      disk_, random_, runner_, {.folder = folder_ + "/secrets", .keys = folder_ + "/keys"}};
  RouterFleet fleet_;
  CookieKeys cookie_keys_;
  lang::Tools tools_;
};

}  // namespace sluice::deploy
