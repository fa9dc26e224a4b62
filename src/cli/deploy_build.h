// From a folder with an app.deploy.yaml to what DeployPlan/plan is given: the manifest with its variables filled in,
// and the bundles of its components in the home.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_door.h"
#include "cli/context.h"
#include "crypto/ed25519.h"
#include "plan/app_manifest.h"

namespace sluice::cli {

// The manifest that a command line means: a file, or the app.deploy.yaml of a folder; of this one if nothing is said.
Result<std::string> manifest_path(Context& context, const std::string& given);

// Builds a folder with a bundle.yaml into one archive, and signs it. With `update_image` the registry is asked again
// what the image's tag means.
Result<void> pack_signed(Context& context, const std::string& folder, const std::string& out,
                         const crypto::PrivateKey& key, const std::function<bool()>& stopped = {},
                         bool update_image = false);
Option update_image_option();

// An app that was built: its archives, which go when it does.
class BuiltApp {
 public:
  // Reads the manifest, and builds and signs what is a folder. No door may be open: signing may need the store.
  static Result<std::unique_ptr<BuiltApp>> build(Context& context, const std::string& path,
                                                 const std::string& environment);
  ~BuiltApp();
  BuiltApp(const BuiltApp&) = delete;
  BuiltApp& operator=(const BuiltApp&) = delete;

  // Puts all of it into the home: the input of DeployPlan/plan.
  Result<json::object> put(CommandDoor& door);

 private:
  struct Part {
    std::string component;
    std::string path;
    bool made = false;  // for this alone
    std::optional<int64_t> spec_version;
  };

  explicit BuiltApp(Context& context) : context_(context) {}
  Result<void> add(const std::string& name, const plan::Component& component, const std::string& folder);
  Result<void> pack(const std::string& folder, const std::string& out);
  Result<void> pack_image(const std::string& name, const std::string& image, const std::string& out);

  Context& context_;
  json::object input_;
  std::string version_;  // of the app
  std::vector<Part> parts_;
  std::optional<crypto::PrivateKey> key_;
};

}  // namespace sluice::cli
