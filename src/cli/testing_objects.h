// A home of its own with everything that the kit's effects need but a machine to run on: what tests of the commands on
// environments, deployments, revisions and traffic share. Nothing can be warmed in it.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "cli/testing_commands.h"
#include "crypto/ed25519.h"
#include "deploy/bundle_shelf.h"
#include "deploy/certificate_shelf.h"
#include "deploy/local_means.h"
#include "deploy/revenue_policy.h"
#include "host/loaded_concepts.h"

namespace sluice::cli {

class ObjectsHome {
 public:
  ObjectsHome();

  Ran run(const std::vector<std::string>& words);
  // What a command printed as JSON; a failed one throws.
  json::value data(std::vector<std::string> words);
  // An unsigned archive of a bundle of this name.
  std::string archive(const std::string& name = "shop");

  TestingFolder folder;

 private:
  RealDisk disk_;
  crypto::PrivateKey key_ = crypto::PrivateKey::generate();
  deploy::PolicySeal seal_{[this] { return crypto::PrivateKey::from_pem(key_.to_pem().reveal()); }};
  deploy::BundleShelf shelf_{disk_, folder.path("home/blobs/bundles")};
  deploy::LocalMeans means_{.disk = &disk_, .home = folder.path("home")};
  RealClock clock_;
  deploy::CertificateShelf certificates_{disk_, folder.path("home")};
  host::LoadedConcepts loaded_;
  Commands commands_ = all_commands();
};

}  // namespace sluice::cli
