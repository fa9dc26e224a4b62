// The doctor reads what an archive holds whatever its form: also what could never be unpacked.
#include "cli/nouns/bundles/bundles_doctor.h"

#include <boost/json.hpp>

#include "bundle/secrets/secret_scan.h"
#include "cli/bundle_words.h"
#include "cli/nouns/bundles/bundles_reading.h"
#include "cli/outputs.h"

namespace sluice::cli {
namespace {

std::set<std::string> allowed_by(const bundle::Manifest& manifest, std::set<std::string> hashes) {
  for (const bundle::FindingHash& each : manifest.allowed_secrets) hashes.insert(each.text);
  return hashes;
}

Result<bundle::SecretReport> look_into(Context& context, const std::string& path) {
  std::vector<std::string> given = context.given.texts("allow");
  std::set<std::string> allowed(given.begin(), given.end());
  auto folder = is_folder(context, path);
  if (!folder) return folder.error();
  if (*folder) {
    auto manifest = manifest_in(context, path);
    if (!manifest) return manifest.error();
    if (*manifest) allowed = allowed_by(**manifest, std::move(allowed));
    auto selection = selection_of(context, path, *manifest);
    if (!selection) return selection.error();
    return bundle::scan_folder(context.disk, path, selection->chosen, {.allowed = std::move(allowed)});
  }
  Reading reading(context);
  bundle::OpenOptions options = reading.options();
  return bundle::scan_archive(
      context.disk, path,
      {.allowed = std::move(allowed), .on_bytes = std::move(options.on_bytes), .stopped = std::move(options.stopped)});
}

Result<Code> examine(Context& context) {
  const std::string path = plain_folder(context.given.text("file"));
  for (const std::string& hash : context.given.texts("allow")) {
    if (auto sound = JsonScalar<bundle::FindingHash>::parse(hash); !sound) {
      return Error{.code = Code::usage, .message = "--allow is the hash of a finding, not '" + printable(hash) + "'"};
    }
  }
  auto report = look_into(context, path);
  if (!report) return report.error();
  outputs::BundleExamined shown{.file = path, .files = report->files, .allowed = report->allowed};
  for (const bundle::SecretFinding& each : report->findings) {
    shown.findings.push_back({each.path, each.line, each.kind, each.hash});
  }
  for (const bundle::SecretFinding& each : report->not_looked_into) shown.notLookedInto.push_back(to_string(each));
  context.output.report(to_json(shown), [&](const Terminal& terminal) {
    std::string text;
    for (const bundle::SecretFinding& each : report->findings) {
      text += terminal.paint(Style::bad, "secret") + "  " + to_string(each) + "\n";
    }
    for (const bundle::SecretFinding& each : report->not_looked_into) {
      text += terminal.paint(Style::warning, "unknown") + "  " + to_string(each) + "\n";
    }
    return text;
  });
  bool proven = report->findings.empty() && report->not_looked_into.empty();
  std::string files = counted_things(report->files, "file", "files");
  if (proven) {
    context.output.note("There are no secrets in " + files + ".", Style::good);
  } else {
    context.output.note(counted_things(report->findings.size(), "finding", "findings") + " in " + files +
                        (report->not_looked_into.empty()
                             ? ""
                             : ", " + std::to_string(report->not_looked_into.size()) + " could not be looked into"));
  }
  return proven ? Code::ok : Code::faults_found;
}

}  // namespace

Command bundles_doctor_command() {
  return {.name = "bundles doctor",
          .summary = "Search an archive or a folder for secrets",
          .details =
              "Searches every file, including archives inside it (tar, zip, SquashFS; gzip, zstd, xz, bzip2, lz4), for "
              "private keys, tokens, passwords and environment files. Names the file and the line, never the secret. A "
              "file that it cannot search counts as a fault. In a folder it searches what would be packed. It ignores "
              "an archive's own allowed_secrets: name hashes with --allow.",
          .args = {{.name = "file", .help = "an archive of any format, or a folder", .kind = Kind::path}},
          .options = {{.name = "allow", .value = "HASH", .help = "the hash of a false alarm", .repeated = true}},
          .example = "sluice bundles doctor tasks.bundle",
          .run = examine};
}

}  // namespace sluice::cli
