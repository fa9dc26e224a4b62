// sluice bundles: what a team ships, as an archive. Building is in bundles_build.cc, the doctor in bundles_doctor.cc.
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/table.h"
#include "bundle/archive/extract.h"
#include "bundle/archive/inspect.h"
#include "bundle/archive/pack.h"
#include "bundle/trust/sidecar.h"
#include "bundle/trust/verify.h"
#include "bundle/trust/verify_archive.h"
#include "cli/all_commands.h"
#include "cli/bundle_words.h"
#include "cli/context.h"
#include "cli/home_trust.h"
#include "cli/nouns/bundles/bundles_build.h"
#include "cli/nouns/bundles/bundles_doctor.h"
#include "cli/nouns/bundles/bundles_reading.h"
#include "cli/nouns/bundles/bundles_registry.h"
#include "cli/opening.h"
#include "cli/outputs.h"
#include "cli/signing_key.h"
#include "cli/version.h"
#include "deploy/environment_rules.h"
#include "host/home_store.h"

namespace sluice::cli {
namespace bundles_commands {

std::string digest_of(const std::string& hex) { return "sha256:" + hex; }

Arg file_arg() { return {.name = "file", .help = "the archive", .kind = Kind::path}; }

// -------------------------------------------------------------------------------------------------------- inspect

outputs::ArchivedFile shown_of(const bundle::TreeEntry& entry) {
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", entry.mode);
  outputs::ArchivedFile shown{.path = entry.path, .type = std::string(to_string(entry.kind)), .mode = mode};
  if (entry.kind == bundle::EntryKind::file) {
    shown.size = entry.size;
    shown.sha256 = entry.sha256;
  }
  if (entry.kind == bundle::EntryKind::symlink) shown.target = entry.target;
  return shown;
}

std::string table_of_files(const bundle::Tree& tree, const Terminal& terminal) {
  Table table{.columns = {{"MODE"}, {"BYTES", Align::right}, {"PATH"}}, .empty = "There is nothing in it."};
  for (const auto& [path, entry] : tree.entries()) {
    bool link = entry.kind == bundle::EntryKind::symlink;
    table.rows.push_back({{shown_of(entry).mode},
                          {entry.kind == bundle::EntryKind::file ? std::to_string(entry.size) : ""},
                          {path + (entry.kind == bundle::EntryKind::dir ? "/"
                                   : link                               ? " -> " + entry.target
                                                                        : "")}});
  }
  return render(table, terminal);
}

// The ids in the sidecar, if there is one that can be read.
Result<std::optional<std::vector<std::string>>> key_ids_of(Context& context, const std::string& file) {
  using Ids = std::optional<std::vector<std::string>>;
  auto text = bundle::read_sidecar(context.disk, bundle::sidecar_path(file));
  if (!text) return text.error();
  if (!*text) return Ids();
  auto envelope = bundle::parse_sidecar(**text, bundle::sidecar_path(file));
  if (!envelope) return envelope.error();
  std::vector<std::string> ids;
  for (const crypto::EnvelopeSignature& each : envelope->signatures) ids.push_back(each.key_id);
  return Ids(std::move(ids));
}

Result<Code> inspect(Context& context) {
  const std::string file = context.given.text("file");
  Reading reading(context);
  auto inspected = bundle::inspect_archive(context.disk, file, reading.options());
  reading.done();
  if (!inspected) return inspected.error();
  // What is wrong with what says more of an archive is told after what the archive is.
  auto manifest = bundle::manifest_of(*inspected, file);
  auto keys = key_ids_of(context, file);
  outputs::BundleInspected shown{.file = file,
                                 .format = std::string(to_string(inspected->format)),
                                 .tree = digest_of(inspected->tree.digest()),
                                 .archive = digest_of(inspected->archive_sha256),
                                 .entries = inspected->tree.entries().size(),
                                 .bytes = inspected->tree.total_bytes(),
                                 .archiveBytes = inspected->archive_bytes};
  if (manifest) {
    shown.bundle = manifest->name.text;
    shown.version = manifest->version.text;
  }
  std::string signers;
  for (const std::string& id : keys&&* keys ? **keys : std::vector<std::string>{}) {
    shown.signatures.push_back(id);
    signers += (signers.empty() ? "" : ", ") + id;
  }
  bool list_files = context.given.flag("files");
  if (list_files) {
    shown.files.emplace();
    for (const auto& [path, entry] : inspected->tree.entries()) shown.files->push_back(shown_of(entry));
  }
  context.output.print(to_json(shown), [&](const Terminal& terminal) {
    std::string name = manifest                   ? manifest->name.text + " " + manifest->version.text
                       : inspected->manifest_text ? "its bundle.yaml is wrong"
                                                  : "no bundle.yaml in it";
    std::string text = "bundle   " + terminal.paint(Style::strong, name) + "\nformat   " +
                       std::string(to_string(inspected->format)) + ", " +
                       counted_things(inspected->tree.entries().size(), "entry", "entries") + ", " +
                       std::to_string(inspected->tree.total_bytes()) + " bytes in " +
                       std::to_string(inspected->archive_bytes) + "\ntree     " + digest_of(inspected->tree.digest()) +
                       "\narchive  " + digest_of(inspected->archive_sha256) + "\nsigned   " +
                       (!keys   ? "its sidecar cannot be read"
                        : *keys ? "by " + signers + ", not verified"
                                : std::string("no sidecar")) +
                       "\n";
    return list_files ? text + table_of_files(inspected->tree, terminal) : text;
  });
  if (inspected->manifest_text && !manifest) return manifest.error();
  if (!keys) return keys.error();
  return Code::ok;
}

// ----------------------------------------------------------------------------------------------------------- sign

Result<bundle::Statement> statement_of(const bundle::Inspected& inspected, const std::string& file) {
  auto manifest = bundle::manifest_of(inspected, file);
  if (!manifest) return manifest.error();
  RealClock clock;
  return bundle::Statement{.bundle = manifest->name.text,
                           .version = manifest->version.text,
                           .tree = *crypto::parse_sha256(digest_of(inspected.tree.digest())),
                           .archive = *crypto::parse_sha256(digest_of(inspected.archive_sha256)),
                           .parameters = {{"format", to_string(inspected.format)}},
                           .builder_version = {{"sluice", version().number}},
                           .finished_ms = clock.wall_ms()};
}

// The sidecar that is there, if it speaks of this archive.
Result<crypto::Envelope> envelope_to_add_to(const std::string& text, const bundle::Statement& wanted,
                                            const std::string& file) {
  auto envelope = bundle::parse_sidecar(text, bundle::sidecar_path(file));
  if (!envelope) return envelope;
  auto statement = bundle::read_statement(envelope->payload);
  if (!statement) return statement.error();
  if (statement->tree != wanted.tree || statement->archive != wanted.archive || statement->bundle != wanted.bundle) {
    return Error{.code = Code::verification_failed,
                 .message = bundle::sidecar_path(file) + " is of another archive; it was left as it was",
                 .next = "sluice bundles sign " + file + " --replace, if this is the archive that you mean"};
  }
  return envelope;
}

Result<Code> sign(Context& context) {
  const std::string file = context.given.text("file");
  Reading reading(context);
  auto inspected = bundle::inspect_archive(context.disk, file, reading.options());
  reading.done();
  if (!inspected) return inspected.error();
  auto statement = statement_of(*inspected, file);
  if (!statement) return statement.error();
  auto there = bundle::read_sidecar(context.disk, bundle::sidecar_path(file));
  if (!there) return there.error();
  bool adds = there->has_value() && !context.given.flag("replace");
  std::optional<crypto::Envelope> sidecar;
  if (adds) {
    auto envelope = envelope_to_add_to(**there, *statement, file);
    if (!envelope) return envelope.error();
    sidecar = *std::move(envelope);
  }
  auto key = signing_key(context);
  if (!key) return key.error();
  if (sidecar) {
    if (auto added = bundle::add_signature(*sidecar, *key); !added) return added.error();
  } else {
    auto made = bundle::sign_statement(*statement, {&*key, 1});
    if (!made) return made.error();
    sidecar = *std::move(made);
  }
  const std::string path = bundle::sidecar_path(file);
  if (auto written = bundle::write_sidecar(context.disk, path, *sidecar); !written) return written.error();
  const std::string id = key->public_key().key_id();
  context.output.print(to_json(outputs::BundleSigned{.file = file,
                                                     .sidecar = path,
                                                     .bundle = statement->bundle,
                                                     .key = id,
                                                     .signatures = sidecar->signatures.size()}),
                       [&](const Terminal& terminal) {
                         return terminal.paint(Style::good, "signed") + "  " + file + "  by " + id + ", " +
                                counted_things(sidecar->signatures.size(), "signature", "signatures") + "\n";
                       });
  return Code::ok;
}

// --------------------------------------------------------------------------------------------------------- verify

Result<bundle::TrustRoot> trust_root(Context& context) {
  if (!context.given.has("trust")) return trust_root_of_home(context);
  const std::string file = context.given.text("trust");
  auto text = read_file(context.disk, file, bundle::kMaxTrustRootBytes);
  if (!text) return text.error();
  return bundle::parse_trust_root(*text, file);
}

Result<Code> verify_bundle(Context& context) {
  const std::string file = context.given.text("file");
  const std::string environment = context.given.text("env");
  if (std::string fault = deploy::fault_of_environment_name(environment); !fault.empty()) {
    return Error{.code = Code::usage, .message = "--env: " + fault, .next = "sluice bundles verify --help"};
  }
  auto root = trust_root(context);
  if (!root) return root.error();
  RealClock clock;
  Reading reading(context);
  auto verdict = bundle::verify_archive(context.disk, file, *root, environment, clock.wall_ms(), reading.options());
  reading.done();
  if (!verdict) return verdict.error();
  if (const auto* refused = std::get_if<bundle::Refusal>(&*verdict)) {
    Error error = to_error(*refused);
    error.message = file + ": " + std::string(name_of(refused->clause)) + ": " + error.message;
    // A refusal is one line; programs get the next step as well.
    if (context.output.settings().format == Format::table) error.next.clear();
    return error;
  }
  const auto& [keys, statement] = std::get<bundle::Verified>(*verdict);
  std::string signers;
  for (const std::string& id : keys) signers += (signers.empty() ? "" : ", ") + id;
  context.output.print(to_json(outputs::BundleVerified{.file = file,
                                                       .bundle = statement.bundle,
                                                       .version = statement.version,
                                                       .env = environment,
                                                       .tree = crypto::to_string(statement.tree),
                                                       .archive = crypto::to_string(statement.archive),
                                                       .keys = {keys.begin(), keys.end()}}),
                       [&](const Terminal& terminal) {
                         return terminal.paint(Style::good, "verified") + "  " + statement.bundle + " " +
                                statement.version + " for " + environment + ", signed by " + signers + "\n";
                       });
  return Code::ok;
}

// ----------------------------------------------------------------------------------------------- diff and extract

Result<bundle::Tree> tree_at(Context& context, const std::string& path) {
  auto folder = is_folder(context, path);
  if (!folder) return folder.error();
  if (!*folder) {
    Reading reading(context);
    return bundle::tree_of_archive(context.disk, path, reading.options());
  }
  auto manifest = manifest_in(context, path);
  if (!manifest) return manifest.error();
  auto selection = selection_of(context, path, *manifest);
  if (!selection) return selection.error();
  return bundle::tree_of_folder(context.disk, path, selection->chosen);
}

Result<Code> diff(Context& context) {
  auto before = tree_at(context, plain_folder(context.given.text("before")));
  if (!before) return before.error();
  auto after = tree_at(context, plain_folder(context.given.text("after")));
  if (!after) return after.error();
  std::vector<bundle::TreeChange> changes = bundle::diff(*before, *after);
  using What = bundle::TreeChange::What;
  outputs::BundleDiff shown{.before = digest_of(before->digest()), .after = digest_of(after->digest())};
  for (const bundle::TreeChange& each : changes) {
    const char* what = each.what == What::added ? "added" : each.what == What::removed ? "removed" : "changed";
    shown.changes.push_back({what, each.path, each.detail});
  }
  context.output.print(to_json(shown), [&](const Terminal& terminal) {
    std::string text;
    for (const bundle::TreeChange& each : changes) {
      bool added = each.what == What::added, removed = each.what == What::removed;
      Style style = added ? Style::good : removed ? Style::bad : Style::warning;
      text += terminal.paint(style, added     ? "+"
                                    : removed ? "-"
                                              : "~") +
              " " + printable(each.path) + (each.detail.empty() ? "" : " (" + each.detail + ")") + "\n";
    }
    return text;
  });
  context.output.note(changes.empty() ? "They are the same."
                                      : counted_things(changes.size(), "difference", "differences"));
  return !changes.empty() && context.given.flag("exit-code") ? Code::changes_pending : Code::ok;
}

Result<Code> extract_bundle(Context& context) {
  const std::string file = context.given.text("file");
  const std::string folder = plain_folder(context.given.text("folder"));
  if (folder.empty()) return Error{.code = Code::usage, .message = "say into which new folder to unpack"};
  std::optional<bundle::TreeDigest> expected;
  if (context.given.has("tree")) {
    auto digest = crypto::parse_sha256(context.given.text("tree"));
    if (!digest) return Error{.code = Code::usage, .message = "--tree: " + digest.error().message};
    expected = crypto::to_string(*digest).substr(std::string_view("sha256:").size());
  }
  Reading reading(context);
  auto archive = bundle::open_archive(context.disk, file, reading.options());
  if (!archive) return archive.error();
  auto tree = bundle::extract(context.disk, **archive, folder, expected);
  reading.done();
  if (!tree) return tree.error();
  context.output.print(to_json(outputs::BundleExtracted{.folder = folder,
                                                        .tree = digest_of(tree->digest()),
                                                        .entries = tree->entries().size(),
                                                        .bytes = tree->total_bytes()}),
                       [&](const Terminal& terminal) {
                         return terminal.paint(Style::good, "unpacked") + "  " + folder + "  " +
                                counted_things(tree->entries().size(), "entry", "entries") + ", " +
                                std::to_string(tree->total_bytes()) + " bytes\n";
                       });
  return Code::ok;
}

std::vector<Option> sign_options() {
  std::vector<Option> options = {{.name = "replace", .help = "forget the signatures that are there"}};
  for (Option& each : signing_options()) options.push_back(std::move(each));
  return options;
}

}  // namespace bundles_commands

void add_bundles_commands(Commands& commands) {
  using namespace bundles_commands;
  commands.add_noun({.name = "bundles", .group = Group::build, .summary = "Pack, sign and check what a team ships"});
  commands.add(bundles_build_command());
  commands.add({.name = "bundles inspect",
                .summary = "Show an archive's digests, contents and signers",
                .details = "Reads SquashFS, tar, tar.gz, tar.zst and zip. Nothing is unpacked, nothing is verified.",
                .args = {file_arg()},
                .options = {{.name = "files", .help = "list its files"}},
                .example = "sluice bundles inspect tasks.bundle",
                .run = inspect});
  commands.add({.name = "bundles sign",
                .summary = "Sign an archive, in a file beside it",
                .details = "For a group of keys that must sign together, each key signs in turn. The sidecar of "
                           "another archive is refused.",
                .args = {file_arg()},
                .options = sign_options(),
                .example = "sluice bundles sign tasks.bundle",
                .run = sign});
  commands.add(
      {.name = "bundles verify",
       .summary = "Check whether an archive may be used in an environment",
       .details = "Judges the sidecar beside it by this home's trust, or by a trust root that was exported "
                  "elsewhere; no network is asked. If it may not, the exit code is 11 and one line says why: sidecar "
                  "missing or unreadable, unknown key, wrong key id, signature changed, revoked key, expired key, "
                  "key out of scope, threshold not met, payload changed.",
       .args = {file_arg()},
       .options =
           {{.name = "env", .value = "NAME", .help = "the environment", .fallback = "local"},
            {.name = "trust", .value = "FILE", .help = "a trust root from `sluice trust export`", .kind = Kind::path},
            lock_timeout_option()},
       .example = "sluice bundles verify tasks.bundle",
       .run = verify_bundle});
  commands.add(bundles_doctor_command());
  commands.add({.name = "bundles diff",
                .summary = "Show how two archives or folders differ",
                .details = "Of a folder it takes what would be packed, without building it.",
                .args = {{.name = "before", .help = "an archive or a folder", .kind = Kind::path},
                         {.name = "after", .help = "another one", .kind = Kind::path}},
                .options = {{.name = "exit-code", .help = "exit with 3 if they differ"}},
                .example = "sluice bundles diff tasks tasks.bundle",
                .run = diff});
  commands.add({.name = "bundles extract",
                .summary = "Unpack an archive into a new folder",
                .details = "Before anything appears, it refuses whatever could write elsewhere or fill the disk: "
                           "absolute paths, \"..\", links that lead out, hard links, devices, duplicate names and "
                           "archive bombs. A failed extraction leaves nothing behind.",
                .args = {file_arg(), {.name = "folder", .help = "the new folder", .kind = Kind::path}},
                .options = {{.name = "tree", .value = "DIGEST", .help = "refuse an archive with another tree digest"}},
                .example = "sluice bundles extract tasks.bundle tasks-unpacked",
                .run = extract_bundle});
  commands.add(bundles_push_command());
  commands.add(bundles_pull_command());
}

}  // namespace sluice::cli
