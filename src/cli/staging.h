// What `bundles add` and `revisions stage` share: the archive that is to become a revision, and its config.
#pragma once

#include <string>
#include <vector>

#include "bundle/manifest/manifest.h"
#include "cli/objects.h"
#include "deployment.gen.h"

namespace sluice::cli {

struct ArchiveToStage {
  std::string path;    // absolute: another process may read it, from another folder
  std::string bundle;  // its name, from its manifest
  bundle::Manifest manifest;
  std::string tree;    // its digest
  std::string config;  // JSON, as Revision/stage takes it
};

// --set, --runtime-ref and --drain-seconds
std::vector<Option> staging_options();

// Looks at the archive before anything is changed. What is no bundle is an error here.
Result<ArchiveToStage> archive_to_stage(Context& context);
Result<ArchiveToStage> archive_to_stage(Context& context, const std::string& file);

// Whether its questions have answers, as staging will look: what cannot be staged is not begun.
Result<void> check_config(const ArchiveToStage& archive, const std::string& environment, const std::string& overrides,
                          const std::string& config);

// Makes a revision of it, and tells. `part` as in Objects::change.
Result<Code> stage_archive(Context& context, Objects& objects, const deploy::deployment::DeploymentFound& deployment,
                           const ArchiveToStage& archive, std::string_view part);

}  // namespace sluice::cli
