// What `bundles add` and `revisions stage` share: the archive that is to become a revision, and its config.
#pragma once

#include <string>
#include <vector>

#include "bundle/manifest/manifest.h"
#include "cli/command_door.h"
#include "deploy/views/objects.h"

namespace sluice::cli {

struct ArchiveToStage {
  std::string path;    // absolute: another process may read it, from another folder
  std::string bundle;  // its name, from its manifest
  bundle::Manifest manifest;
  std::string tree;         // its digest
  json::object answers;     // --set, and what --answers says to its questions
  json::object references;  // --runtime-ref
  std::string config;       // both, as Revision/stage takes it
};

// --set, --runtime-ref and --drain-seconds
std::vector<Option> staging_options();
// --unset
Option unset_option();

// Whether the command line names a bundle in a registry: "oci://registry.example/team/shop:1.4".
bool names_registry(const Context& context);
// Has the environment pull it into its home.
Result<ArchiveToStage> registry_to_stage(Context& context, CommandDoor& door, const std::string& environment);

// Looks at the archive before anything is changed. What is no bundle is an error here.
Result<ArchiveToStage> archive_to_stage(Context& context);
Result<ArchiveToStage> archive_to_stage(Context& context, const std::string& file);

// Whether its questions have answers, as staging will look: what cannot be staged is not begun.
Result<void> check_config(const ArchiveToStage& archive, const std::string& environment, const std::string& overrides,
                          const std::string& config);

// What --answers says besides arguments of the action are answers to what the bundle asks.
Result<void> take_answers(Context& context, ArchiveToStage& archive, const std::string& action);

// Asks the person at a terminal for what the bundle wants to know and nobody has answered, and keeps what is secret
// among the environment's secrets. Elsewhere what is open is left to staging, which names it.
Result<void> ask_open(Context& context, CommandDoor& door, const std::string& environment, ArchiveToStage& archive);

// With --schema: what the bundle asks, if it asks anything; says whether that was printed.
bool print_questions(Context& context, const bundle::Manifest& manifest);

// Makes a revision of it, and tells. `part` as in CommandDoor::call.
Result<Code> stage_archive(Context& context, CommandDoor& door, const deploy::views::DeploymentDocument& deployment,
                           const ArchiveToStage& archive, std::string_view part);

}  // namespace sluice::cli
