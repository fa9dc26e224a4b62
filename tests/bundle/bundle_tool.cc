// Sluice's archives as a program, so that tests can set them beside mksquashfs, unsquashfs, sqfs2tar and tar. Results
// go to standard output; a refusal is a line on standard error and the exit code of its kind.
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "base/real_disk.h"
#include "bundle/archive/extract.h"
#include "bundle/archive/pack.h"
#include "bundle/manifest/selection.h"
#include "bundle/secrets/secret_scan.h"
#include "bundle/trust/verify.h"

namespace {

using namespace sluice;
using namespace sluice::bundle;

constexpr std::string_view kUsage =
    "usage: bundle_tool pack FOLDER OUT [WORKERS] | digest ARCHIVE | tree ARCHIVE | extract ARCHIVE FOLDER | "
    "diff A B |\n       select FOLDER [GLOB…] | doctor ARCHIVE-OR-FOLDER\n";

Result<SecretReport> scan_all(Disk& disk, const std::string& folder) {
  auto selection = select(disk, folder);
  if (!selection) return selection.error();
  return scan_folder(disk, folder, selection->chosen);
}

// What the command writes.
Result<std::string> run(Disk& disk, const std::string& command, const std::vector<std::string>& words) {
  if (command == "pack" && words.size() >= 2) {
    auto selection = select(disk, words[0]);
    if (!selection) return selection.error();
    PackOptions options;
    if (words.size() > 2) options.workers = static_cast<unsigned>(std::stoul(words[2]));
    auto packed = pack(disk, words[0], selection->chosen, words[1], options);
    if (!packed) return packed.error();
    return packed->tree_digest + " " + packed->archive_sha256 + "\n";
  }
  if ((command == "digest" || command == "tree") && words.size() == 1) {
    auto tree = tree_of_archive(disk, words[0]);
    if (!tree) return tree.error();
    return command == "tree" ? tree->canonical_text() + "\n" : tree->digest() + "\n";
  }
  if (command == "extract" && words.size() == 2) {
    auto archive = open_archive(disk, words[0]);
    if (!archive) return archive.error();
    auto tree = extract(disk, **archive, words[1]);
    if (!tree) return tree.error();
    return tree->digest() + "\n";
  }
  if (command == "diff" && words.size() == 2) {
    auto before = tree_of_archive(disk, words[0]);
    if (!before) return before.error();
    auto after = tree_of_archive(disk, words[1]);
    if (!after) return after.error();
    std::string text;
    for (const TreeChange& change : diff(*before, *after)) {
      char sign = change.what == TreeChange::What::added ? '+' : change.what == TreeChange::What::removed ? '-' : '~';
      text +=
          std::string(1, sign) + " " + change.path + (change.detail.empty() ? "" : " (" + change.detail + ")") + "\n";
    }
    return text;
  }
  if (command == "select" && !words.empty()) {
    std::vector<std::string> globs(words.begin() + 1, words.end());
    if (globs.empty()) globs.emplace_back("**");
    auto selection = select(disk, words[0], globs);
    if (!selection) return selection.error();
    std::string text;
    for (const std::string& path : selection->chosen) text += "+ " + path + "\n";
    for (const Skipped& skipped : selection->skipped) text += "- " + skipped.path + " (" + skipped.reason + ")\n";
    return text;
  }
  if (command == "doctor" && words.size() == 1) {
    auto stat = disk.stat(words[0], FollowLinks::yes);
    if (!stat) return stat.error();
    auto report = stat->kind == FileKind::folder ? scan_all(disk, words[0]) : scan_archive(disk, words[0]);
    if (!report) return report.error();
    std::string text;
    for (const SecretFinding& note : report->not_looked_into) text += "? " + to_string(note) + "\n";
    for (const SecretFinding& finding : report->findings) text += to_string(finding) + "\n";
    return text + std::to_string(report->files) + " files\n";
  }
  return Error{.code = Code::usage, .message = std::string(kUsage)};
}

}  // namespace

int main(int argc, char** argv) {
  RealDisk disk;
  std::vector<std::string> words(argv + 1, argv + argc);
  const std::string command = words.empty() ? "" : words.front();
  if (!words.empty()) words.erase(words.begin());
  auto output = run(disk, command, words);
  if (!output) {
    std::cerr << to_string(output.error()) << '\n';
    return exit_code(output.error().code);
  }
  std::fwrite(output->data(), 1, output->size(), stdout);
  return 0;
}
