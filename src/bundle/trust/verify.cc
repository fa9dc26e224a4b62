// Digests of archives, computed while they stream by.
#include "bundle/trust/verify.h"

#include <span>

#include "crypto/hex.h"
#include "crypto/sha256.h"

namespace sluice::bundle {

namespace {

constexpr size_t kVerifyBytes = 256 * 1024;

}  // namespace

Result<Tree> tree_of(ArchiveReader& archive) {
  Tree tree;
  crypto::Sha256Stream hash;
  for (;;) {
    auto entry = archive.next();
    if (!entry) return entry.error();
    if (!*entry) return tree;
    TreeEntry found{.path = (*entry)->path, .kind = (*entry)->kind, .mode = (*entry)->mode, .target = (*entry)->target};
    if (found.kind == EntryKind::file) {
      for (;;) {
        auto piece = archive.read();
        if (!piece) return piece.error();
        if (piece->empty()) break;
        hash.update(*piece);
        found.size += piece->size();
      }
      found.sha256 = crypto::to_hex(hash.finish());
    }
    tree.add(std::move(found));
  }
}

Result<Tree> tree_of_archive(Disk& disk, const std::string& path, const OpenOptions& options) {
  auto archive = open_archive(disk, path, options);
  if (!archive) return archive.error();
  return tree_of(**archive);
}

Result<std::string> sha256_of_file(File& file) {
  crypto::Sha256Stream hash;
  std::string buffer(kVerifyBytes, '\0');
  for (uint64_t at = 0;;) {
    auto got = file.read_at(at, buffer);
    if (!got) return got.error();
    hash.update(std::string_view(buffer).substr(0, *got));
    at += *got;
    if (*got < buffer.size()) return crypto::to_hex(hash.finish());
  }
}

Result<std::string> sha256_of_file(Disk& disk, const std::string& path) {
  auto file = open_plain_file(disk, path);
  if (!file) return file.error();
  return sha256_of_file(**file);
}

Result<Tree> verify_tree_digest(Disk& disk, const std::string& path, const TreeDigest& expected,
                                const OpenOptions& options) {
  auto tree = tree_of_archive(disk, path, options);
  if (!tree) return tree;
  if (TreeDigest digest = tree->digest(); digest != expected) {
    return Error{.code = Code::verification_failed,
                 .message = path + ": the tree digest is " + digest + ", not " + expected};
  }
  return tree;
}

}  // namespace sluice::bundle
