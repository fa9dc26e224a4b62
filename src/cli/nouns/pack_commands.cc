// sluice pack: for those who write packs.
#include <boost/json.hpp>
#include <filesystem>

#include "base/clock.h"
#include "bundle/archive/unfinished.h"
#include "bundle/trust/sidecar.h"
#include "cli/all_commands.h"
#include "cli/asking.h"
#include "cli/context.h"
#include "cli/nouns/bundles/bundles_registry.h"
#include "cli/outputs.h"
#include "cli/signing_key.h"
#include "cli/version.h"
#include "host/kit_place.h"
#include "host/pack_trial.h"

namespace sluice::cli {
namespace pack_commands {

Arg path_arg() { return {.name = "path", .help = "the pack's folder or archive", .kind = Kind::path}; }

// A folder that goes when this does.
class Scratch {
 public:
  static Result<std::unique_ptr<Scratch>> make(Disk& disk) {
    std::error_code failed;
    std::string beside = (std::filesystem::temp_directory_path(failed) / "sluice-pack").string();
    auto made = bundle::make_folder_beside(disk, beside);
    if (!made) return made.error();
    return std::unique_ptr<Scratch>(new Scratch(disk, *std::move(made)));
  }
  ~Scratch() { (void)bundle::remove_tree(disk_, path_); }

  const std::string& path() const { return path_; }

 private:
  Scratch(Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}

  Disk& disk_;
  std::string path_;
};

Result<Code> test(Context& context) {
  auto scratch = Scratch::make(context.disk);
  if (!scratch) return scratch.error();
  RealClock clock;
  auto checks = host::try_pack(context.disk, clock, context.variables, context.given.text("path"), (*scratch)->path());
  size_t failed = 0;
  outputs::PackTested shown;
  for (const host::TrialCheck& each : checks) {
    failed += each.fault.empty() ? 0 : 1;
    shown.checks.push_back({each.what, each.fault.empty(), each.fault});
  }
  shown.failed = failed;
  context.output.print(to_json(shown), [&](const Terminal& terminal) {
    std::string text;
    for (const host::TrialCheck& each : checks) {
      text += terminal.paint(each.fault.empty() ? Style::good : Style::bad, each.fault.empty() ? "ok    " : "fails ") +
              printable(each.what) + (each.fault.empty() ? "" : ": " + printable(each.fault)) + "\n";
    }
    return text + (failed == 0 ? "The pack does what it says.\n" : host::counted(failed, "check") + " failed.\n");
  });
  return failed == 0 ? Code::ok : Code::faults_found;
}

Result<Code> questions(Context& context) {
  auto scratch = Scratch::make(context.disk);
  if (!scratch) return scratch.error();
  auto pack = pack::PackShelf(context.disk, "").open(context.given.text("path"), (*scratch)->path() + "/pack");
  if (!pack) return pack.error();
  const auto& asked = pack->manifest.questions;
  context.output.print(bundle::answers_schema(asked, to_string(pack->manifest.kind)),
                       [&](const Terminal& terminal) { return questions_table(asked, terminal); });
  return Code::ok;
}

Result<Code> sign(Context& context) {
  const std::string path = context.given.text("path");
  auto scratch = Scratch::make(context.disk);
  if (!scratch) return scratch.error();
  auto pack = pack::PackShelf(context.disk, "").open(path, (*scratch)->path() + "/pack");
  if (!pack) return pack.error();
  auto key = signing_key(context);
  if (!key) return key.error();
  RealClock clock;
  bundle::Statement statement{.bundle = "packs/" + pack->manifest.kind.path,
                              .version = pack->manifest.kind.version,
                              .tree = *crypto::parse_sha256(pack->digest),
                              .archive = *crypto::parse_sha256(pack->digest),
                              .builder_version = {{"sluice", version().number}},
                              .finished_ms = clock.wall_ms()};
  auto sidecar = bundle::sign_statement(statement, std::span(&*key, 1));
  if (!sidecar) return sidecar.error();
  const std::string file = bundle::sidecar_path(path);
  if (auto written = bundle::write_sidecar(context.disk, file, *sidecar); !written) return written.error();
  const std::string id = key->public_key().key_id();
  context.output.print(to_json(outputs::PackSigned{.file = file, .digest = pack->digest, .key = id}),
                       [&](const Terminal&) { return "signed  " + file + " with key " + id + "\n"; });
  return Code::ok;
}

// A folder is packed first; its signatures are over its tree, whichever form it has.
Result<Code> push(Context& context) {
  return push_to_registry(context,
                          [&](oci::Registry& registry, const std::string& path) -> Result<deploy::PushedBundle> {
                            auto scratch = Scratch::make(context.disk);
                            if (!scratch) return scratch.error();
                            const pack::PackShelf shelf(context.disk, "");
                            auto pack = shelf.open(path, (*scratch)->path() + "/pack");
                            if (!pack) return pack.error();
                            auto stat = context.disk.stat(path, FollowLinks::yes);
                            if (!stat) return stat.error();
                            std::string archive = path;
                            if (stat->kind == FileKind::folder) {
                              archive = (*scratch)->path() + "/archive";
                              if (auto packed = shelf.write_archive(path, archive); !packed) return packed.error();
                            }
                            return deploy::push_pack(context.disk, registry,
                                                     {.archive = archive,
                                                      .sidecar = bundle::sidecar_path(path),
                                                      .name = pack->manifest.kind.path,
                                                      .version = pack->manifest.kind.version});
                          });
}

Result<Code> pull(Context& context) {
  return pull_from_registry(context, deploy::kPackType, "sluice env-packs install");
}

}  // namespace pack_commands

void add_pack_commands(Commands& commands) {
  using namespace pack_commands;
  commands.add_noun({.name = "pack", .group = Group::build, .summary = "Test, sign and ship packs that you write"});
  commands.add({.name = "pack test",
                .summary = "Test whether a pack does what its concept says",
                .details =
                    "It runs every fixture and invariant of the concept against the pack's program, repeats what "
                    "is safe to repeat, and looks at what the pack leaves behind.",
                .args = {path_arg()},
                .example = "sluice pack test examples/packs/telemetry-file",
                .run = test});
  commands.add({.name = "pack questions",
                .summary = "Show what a pack asks for",
                .details = "With -o json: the JSON Schema of the answers.",
                .args = {path_arg()},
                .example = "sluice pack questions examples/packs/telemetry-file",
                .run = questions});
  commands.add({.name = "pack sign",
                .summary = "Sign a pack, for environments outside local",
                .details = "The signature goes to PATH.sig.json. It counts where the key is trusted for packs: sluice "
                           "trust add KEY --bundle packs.",
                .args = {path_arg()},
                .options = signing_options(),
                .example = "sluice pack sign examples/packs/telemetry-file",
                .run = sign});
  Arg file = path_arg();
  file.name = "file";
  commands.add({.name = "pack push",
                .summary = "Send a signed pack to an OCI registry",
                .details = "A folder is packed first. The archive and its signatures become one artifact, which any "
                           "registry keeps and any tool copies. The login is that of REGISTRY_AUTH_FILE or of Docker's "
                           "config.json.",
                .args = {file, registry_reference()},
                .example = "sluice pack push examples/packs/telemetry-file oci://127.0.0.1:5000/packs/file:1.0",
                .run = push});
  commands.add({.name = "pack pull",
                .summary = "Fetch a pack and its signatures from an OCI registry",
                .details = "Every byte is verified by its digest. Whether the signatures count is decided where an "
                           "environment outside local is to use the pack.",
                .args = {registry_reference()},
                .options = pulled_options(),
                .example = "sluice pack pull oci://127.0.0.1:5000/packs/file:1.0 --out file.pack",
                .run = pull});
}

}  // namespace sluice::cli
