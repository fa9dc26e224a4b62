// The key comes first: a folder is not packed for half an hour to find that nobody can sign it.
#include "cli/nouns/bundles/bundles_build.h"

#include <boost/json.hpp>

#include "base/clock.h"
#include "base/progress.h"
#include "bundle/trust/sidecar.h"
#include "cli/bundle_words.h"
#include "cli/context.h"
#include "cli/deploy_build.h"
#include "cli/nouns/bundles/bundles_reading.h"
#include "cli/outputs.h"
#include "cli/signing_key.h"
#include "cli/version.h"
#include "deploy/build_bundle.h"
#include "deploy/concepts/artifact/artifact_builder.h"
#include "deploy/image_pin.h"

namespace sluice::cli {
namespace {

void tell_skipped(const std::vector<bundle::Skipped>& skipped, Output& output) {
  if (skipped.empty()) return;
  output.note("skipped " + counted_things(skipped.size(), "file or folder", "files and folders") + ":");
  for (const bundle::Skipped& each : skipped) output.note("  " + printable(each.path) + "  " + each.reason);
}

outputs::BundleBuilt shown_of(const deploy::BuiltBundle& built, const std::string& key) {
  outputs::BundleBuilt shown{.bundle = built.manifest.name.text,
                             .version = built.manifest.version.text,
                             .file = built.out,
                             .sidecar = bundle::sidecar_path(built.out),
                             .tree = "sha256:" + built.packed.tree_digest,
                             .archive = "sha256:" + built.packed.archive_sha256,
                             .entries = built.packed.tree.entries().size(),
                             .bytes = built.packed.tree.total_bytes(),
                             .archiveBytes = built.packed.archive_bytes,
                             .key = key,
                             .allowedSecrets = built.secrets.allowed,
                             .warnings = built.warnings};
  for (const bundle::Skipped& each : built.skipped) shown.skipped.push_back({printable(each.path), each.reason});
  return shown;
}

Result<Code> build(Context& context) {
  Output& output = context.output;
  auto key = signing_key(context);
  if (!key) return key.error();
  RealClock clock;
  process::RealRunner runner(clock);
  Interruption interruption;
  std::optional<Progress> progress;
  if (!output.settings().quiet) {
    progress.emplace(output.progress_stream(), output.settings().err, clock, "packing");
  }
  auto built = deploy::build_bundle(
      context.disk, runner, clock,
      {.folder = plain_folder(context.given.text("folder")),
       .out = context.given.text("out"),
       .environment = deploy::build_environment(context.variables),
       .version_of =
           [&](const std::string& name) {
             return deploy::artifact::version_of_tool(context.disk, name, context.variables);
           },
       .sluice_version = version().number,
       .pin =
           [&](const std::string& image) { return deploy::pin_image(context.disk, clock, context.variables, image); },
       .update_image = context.given.has("update-image")},
      {.stopped = [&] { return interruption.stopped(); },
       .progress =
           [&](const std::string& doing, uint64_t done, std::optional<uint64_t> total) {
             if (!progress) return;
             progress->now_doing(doing);
             if (total) {
               progress->update(done, total);
             } else {
               progress->tick();
             }
           },
       .said =
           [&](const std::string& line) {
             if (progress) progress->erase();
             output.note("  " + line);
           }});
  progress.reset();
  if (!built) return built.error();
  auto sidecar = bundle::sign_statement(built->statement, {&*key, 1});
  if (!sidecar) return sidecar.error();
  if (auto written = bundle::write_sidecar(context.disk, bundle::sidecar_path(built->out), *sidecar); !written) {
    return written.error();
  }
  tell_skipped(built->skipped, output);
  for (const std::string& each : built->warnings) output.warn(each);
  const std::string key_id = key->public_key().key_id();
  output.print(to_json(shown_of(*built, key_id)), [&](const Terminal& terminal) {
    return terminal.paint(Style::good, "built") + "    " + built->manifest.name.text + " " +
           built->manifest.version.text + "  " + built->out + "\n" + "packed   " +
           counted_things(built->packed.tree.entries().size(), "entry", "entries") + ", " +
           std::to_string(built->packed.tree.total_bytes()) + " bytes in " +
           std::to_string(built->packed.archive_bytes) + "\n" + "tree     sha256:" + built->packed.tree_digest +
           "\narchive  sha256:" + built->packed.archive_sha256 + "\nsigned   " + key_id + "\n";
  });
  return Code::ok;
}

}  // namespace

Command bundles_build_command() {
  std::vector<Option> options = {
      {.name = "out", .value = "FILE", .help = "the archive; else NAME-VERSION.bundle here", .kind = Kind::path},
      update_image_option()};
  for (Option& each : signing_options()) options.push_back(std::move(each));
  return {
      .name = "bundles build",
      .summary = "Pack a folder with a bundle.yaml into one signed archive",
      .details =
          "Runs the folder's `build` first, in a clean copy. Packs what `include` names, except for .sluiceignore, "
          "secrets, version control and editors' files; stderr names what is skipped. A file that looks like a "
          "secret, or an archive inside that cannot be searched, fails the build with its file and line (exit code "
          "11), unless bundle.yaml allows its hash. The same folder gives the same bytes on every machine. So does "
          "a `build` with a deterministic command: it sees its copy at the same path everywhere.\n\nThe image of a "
          "bundle "
          "that names one by a tag is looked up in its registry once, and written to image.lock.json; commit it.\n\n"
          "The archive is "
          "signed with the operator's key, made on first use, or with --key. The signature is written beside it, "
          "as FILE.sig.json; carry both.",
      .args = {{.name = "folder", .help = "the folder with the bundle.yaml", .kind = Kind::path}},
      .options = std::move(options),
      .example = "sluice bundles build tasks --out tasks.bundle",
      .run = build};
}

}  // namespace sluice::cli
