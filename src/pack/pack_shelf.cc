// A pack appears whole or not at all: it is unpacked beside its place and renamed.
#include "pack/pack_shelf.h"

#include <algorithm>
#include <filesystem>

#include "base/jail.h"
#include "bundle/archive/archive_reader.h"
#include "bundle/archive/clean_copy.h"
#include "bundle/archive/extract.h"
#include "bundle/archive/pack.h"
#include "bundle/archive/unfinished.h"

namespace sluice::pack {
namespace {

namespace fs = std::filesystem;

constexpr bundle::ArchiveLimits kPackLimits{
    .max_total_bytes = uint64_t{256} << 20, .max_entries = 10'000, .max_depth = 32};
constexpr size_t kMaxTextBytes = 1 << 20;

// Every file and symlink below a folder. Unlike a bundle a pack has no globs: all of it is the pack.
Result<void> list_into(Disk& disk, const std::string& root, const std::string& below, size_t depth,
                       std::vector<std::string>& paths) {
  if (depth > kPackLimits.max_depth || paths.size() > kPackLimits.max_entries) {
    return Error{.code = Code::invalid, .message = root + " has too many files to be a pack, or too deep folders"};
  }
  auto entries = disk.list(below.empty() ? root : root + "/" + below);
  if (!entries) return entries.error();
  for (const FolderEntry& each : *entries) {
    // What Python leaves beside a program that was run is not part of it.
    if (each.name == "__pycache__") continue;
    std::string path = below.empty() ? each.name : below + "/" + each.name;
    paths.push_back(path);
    if (each.kind == FileKind::folder) {
      if (auto listed = list_into(disk, root, path, depth + 1, paths); !listed) return listed;
    }
  }
  return {};
}

// A folder and the one above it, if they are not there.
Result<void> make_both(Disk& disk, const std::string& path) {
  for (const std::string& each : {fs::path(path).parent_path().string(), path}) {
    auto made = disk.make_folder(each, 0700);
    if (!made && made.error().code != Code::conflict) return made;
  }
  return {};
}

Result<std::string> text_below(Disk& disk, const std::string& folder, const std::string& path) {
  auto file = Jail(disk, folder).open(path, {});
  if (!file) return file.error();
  auto stat = (*file)->stat();
  if (!stat) return stat.error();
  if (stat->size > kMaxTextBytes) {
    return Error{.code = Code::invalid, .message = folder + "/" + path + " has more than 1 MB"};
  }
  std::string text(stat->size, '\0');
  auto got = (*file)->read_at(0, text);
  if (!got) return got.error();
  text.resize(*got);
  return text;
}

}  // namespace

Result<Pack> PackShelf::read(const std::string& folder) const {
  auto text = text_below(disk_, folder, std::string(kPackFile));
  if (!text) {
    if (text.error().code != Code::not_found) return text.error();
    return Error{.code = Code::invalid,
                 .message = folder + " is no pack: it has no pack.yaml",
                 .next = "docs/guide/packs.md shows how to write one"};
  }
  auto manifest = parse_pack(*text, folder + "/" + std::string(kPackFile));
  if (!manifest) return manifest.error();
  Pack pack{.manifest = *std::move(manifest), .folder = folder};
  pack.concept_file = folder + "/" + pack.manifest.concept_.text;
  auto concept_text = text_below(disk_, folder, pack.manifest.concept_.text);
  if (!concept_text) return concept_text.error();
  pack.concept_text = *std::move(concept_text);
  if (pack.manifest.credentials) {
    auto credentials = text_below(disk_, folder, pack.manifest.credentials->text);
    if (!credentials) return credentials.error();
    auto parsed = parse_credentials(*credentials, folder + "/" + pack.manifest.credentials->text);
    if (!parsed) return parsed.error();
    pack.credentials = *std::move(parsed);
  }
  std::vector<std::string> paths;
  if (auto listed = list_into(disk_, folder, "", 0, paths); !listed) return listed.error();
  auto tree = bundle::tree_of_folder(disk_, folder, std::move(paths), {.limits = kPackLimits});
  if (!tree) return tree.error();
  const std::string& program = pack.manifest.run.front();
  if (program.starts_with("./")) {
    const bundle::TreeEntry* entry = tree->find(program.substr(2));
    if (entry == nullptr || entry->mode != bundle::kExecutableMode) {
      return Error{.code = Code::invalid,
                   .message = folder + ": " + program + " is no program of the pack",
                   .next = "chmod +x " + program.substr(2)};
    }
  }
  pack.digest = "sha256:" + tree->digest();
  return pack;
}

Result<Pack> PackShelf::open(const std::string& path, const std::string& into) const {
  auto stat = disk_.stat(path, FollowLinks::yes);
  if (!stat) return stat.error();
  if (stat->kind == FileKind::folder) {
    std::vector<std::string> paths;
    if (auto listed = list_into(disk_, path, "", 0, paths); !listed) return listed.error();
    // Whatever could not be unpacked is refused with the same words.
    if (auto tree = bundle::tree_of_folder(disk_, path, paths, {.limits = kPackLimits}); !tree) return tree.error();
    auto made = disk_.make_folder(into, 0755);
    if (!made) return made.error();
    if (auto copied = bundle::copy_chosen(disk_, path, paths, into); !copied) return copied.error();
  } else {
    auto archive = bundle::open_archive(disk_, path, {.limits = kPackLimits});
    if (!archive) return archive.error();
    if (auto tree = bundle::extract(disk_, **archive, into); !tree) return tree.error();
  }
  return read(into);
}

Result<void> PackShelf::write_archive(const std::string& folder, const std::string& out) const {
  std::vector<std::string> paths;
  if (auto listed = list_into(disk_, folder, "", 0, paths); !listed) return listed.error();
  auto packed = bundle::pack(disk_, folder, std::move(paths), out, {.limits = kPackLimits});
  return packed ? Result<void>() : packed.error();
}

Result<Pack> PackShelf::keep(const std::string& path) {
  if (home_.empty()) return Error{.code = Code::unavailable, .message = "there is no home to keep a pack in"};
  if (auto made = make_both(disk_, folder()); !made) return made.error();
  auto beside = bundle::make_folder_beside(disk_, folder() + "/new");
  if (!beside) return beside.error();
  auto drop = [&](const Error& error) {
    (void)bundle::remove_tree(disk_, *beside);
    return error;
  };
  const std::string unpacked = *beside + "/pack";
  auto pack = open(path, unpacked);
  if (!pack) {
    Error error = pack.error();
    // Where it was unpacked to is nothing that anybody knows.
    for (size_t at; (at = error.message.find(unpacked)) != std::string::npos;) {
      error.message.replace(at, unpacked.size(), path);
    }
    if (error.position) error.position->file = path + "/" + fs::path(error.position->file).filename().string();
    return drop(error);
  }
  const std::string place = folder() + "/sha256-" + pack->digest.substr(7);
  if (auto there = read(place); there && there->digest == pack->digest) {
    (void)bundle::remove_tree(disk_, *beside);
    return there;
  }
  (void)bundle::remove_tree(disk_, place);
  if (auto moved = disk_.rename(unpacked, place); !moved) return drop(moved.error());
  (void)bundle::remove_tree(disk_, *beside);
  if (auto synced = disk_.sync_folder(folder()); !synced) return synced.error();
  pack->folder = place;
  pack->concept_file = place + "/" + pack->manifest.concept_.text;
  return pack;
}

Result<void> PackShelf::remove(const std::string& digest) {
  if (home_.empty() || !digest.starts_with("sha256:")) return {};
  auto removed = bundle::remove_tree(disk_, folder() + "/sha256-" + digest.substr(7));
  if (!removed && removed.error().code == Code::not_found) return {};
  return removed;
}

std::vector<Pack> PackShelf::all(const std::function<void(const std::string&)>& tell) const {
  std::vector<Pack> packs;
  auto entries = home_.empty() ? Result<std::vector<FolderEntry>>(std::vector<FolderEntry>()) : disk_.list(folder());
  if (!entries) return packs;
  for (const FolderEntry& each : *entries) {
    if (!each.name.starts_with("sha256-")) continue;
    auto pack = read(folder() + "/" + each.name);
    if (pack && pack->digest.substr(7) != each.name.substr(7)) {
      tell("a file in " + pack->folder + " was changed: the pack " + to_string(pack->manifest.kind) + " is left out");
    } else if (pack) {
      packs.push_back(*std::move(pack));
    } else {
      tell("a pack is left out: " + to_string(pack.error()));
    }
  }
  std::ranges::sort(packs, {}, [](const Pack& pack) { return to_string(pack.manifest.kind); });
  return packs;
}

Result<void> PackShelf::check(const Pack& pack) const {
  auto now = read(pack.folder);
  if (!now) return now.error();
  if (now->digest == pack.digest) return {};
  return Error{.code = Code::verification_failed,
               .message = "a file in " + pack.folder + " was changed: it is no longer " + pack.digest,
               .next = "sluice env-packs uninstall " + to_string(pack.manifest.kind) + ", then install it again"};
}

process::SpawnRequest program_in(const Pack& pack, const std::string& data, const Variables& variables) {
  process::SpawnRequest request{.argv = pack.manifest.run, .folder = data, .converses = true};
  const std::string& program = pack.manifest.run.front();
  request.program = program.starts_with('/') ? program : (fs::path(pack.folder) / program).lexically_normal().string();
  request.argv.front() = request.program;
  for (const bundle::VariableName& each : pack.manifest.variables) {
    if (auto value = variables(each.text)) request.environment[each.text] = *value;
  }
  request.environment["SLUICE_PACK_DATA"] = data;
  // Programs in Python leave their pack as it is.
  request.environment["PYTHONDONTWRITEBYTECODE"] = "1";
  return request;
}

Result<process::SpawnRequest> PackShelf::program_of(const Pack& pack, const Variables& variables) const {
  const std::string data = home_ + "/pack-data/" + pack.manifest.kind.path;
  if (auto made = make_both(disk_, data); !made) return made.error();
  return program_in(pack, data, variables);
}

}  // namespace sluice::pack
