// The manifest is kept while the tree's digests are computed.
#include "bundle/archive/inspect.h"

#include "base/atomic_file.h"
#include "bundle/trust/verify.h"

namespace sluice::bundle {

namespace {

// Hands an archive on, and keeps the text of its manifest.
class ManifestKeeper final : public ArchiveReader {
 public:
  explicit ManifestKeeper(ArchiveReader& archive) : archive_(archive) {}

  ArchiveFormat format() const override { return archive_.format(); }

  Result<std::optional<ArchiveEntry>> next() override {
    auto entry = archive_.next();
    at_manifest_ = entry && *entry && (*entry)->path == kManifestName && (*entry)->kind == EntryKind::file;
    if (at_manifest_) text.emplace();
    return entry;
  }

  Result<std::string_view> read() override {
    auto piece = archive_.read();
    // One byte more than a manifest may have is enough to refuse it.
    if (piece && at_manifest_) text->append(piece->substr(0, kMaxManifestBytes + 1 - text->size()));
    return piece;
  }

  std::optional<std::string> text;

 private:
  ArchiveReader& archive_;
  bool at_manifest_ = false;
};

}  // namespace

Result<Inspected> inspect_archive(Disk& disk, const std::string& path, const OpenOptions& options) {
  auto file = open_plain_file(disk, path);
  if (!file) return file.error();
  auto digest = sha256_of_file(**file);
  if (!digest) return digest.error();
  auto source = source_of_file(*std::move(file));
  if (!source) return source.error();
  Inspected inspected{.archive_sha256 = *digest, .archive_bytes = (*source)->size()};
  auto archive = open_archive(*std::move(source), path, options);
  if (!archive) return archive.error();
  ManifestKeeper keeper(**archive);
  auto tree = tree_of(keeper);
  if (!tree) return tree.error();
  inspected.format = keeper.format();
  inspected.tree = *std::move(tree);
  inspected.manifest_text = std::move(keeper.text);
  return inspected;
}

Result<Manifest> manifest_of(const Inspected& inspected, const std::string& path) {
  if (!inspected.manifest_text) {
    return Error{.code = Code::invalid,
                 .message = path + " has no " + std::string(kManifestName) + ": it is no bundle"};
  }
  return parse_manifest(*inspected.manifest_text, path + "!" + std::string(kManifestName));
}

Result<Manifest> manifest_of_folder(Disk& disk, const std::string& folder) {
  const std::string path = folder + "/" + std::string(kManifestName);
  auto text = read_file(disk, path, kMaxManifestBytes);
  if (!text) {
    Error error = text.error();
    auto there = disk.stat(folder, FollowLinks::yes);
    if (error.code == Code::not_found && !there && there.error().code == Code::not_found) {
      error.message = "there is no folder " + folder;
    } else if (error.code == Code::not_found) {
      error.message = "there is no " + path;
      error.next = "sluice init " + folder + " writes one";
    }
    return error;
  }
  return parse_manifest(*text, path);
}

}  // namespace sluice::bundle
