// A copy is durable before it has its name.
#include "deploy/bundle_shelf.h"

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "bundle/inspect.h"
#include "bundle/sidecar.h"

namespace sluice::deploy {

struct RevokedBundle {
  std::string digest;
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(RevokedBundle, (), (digest, reason))

struct RevocationList {
  std::string schema;
  std::vector<RevokedBundle> revoked;
};
BOOST_DESCRIBE_STRUCT(RevocationList, (), (schema, revoked))

namespace {

constexpr uint32_t kPrivate = 0700;
constexpr uint32_t kArchiveMode = 0644;  // the program's own user reads it through its folder's mount alone
constexpr size_t kPiece = size_t{1} << 20U;
constexpr size_t kMaxList = size_t{16} << 20U;
constexpr std::string_view kSha256 = "sha256:";

Result<void> copy_file(Disk& disk, const std::string& from, const std::string& to) {
  auto in = disk.open(from, {});
  if (!in) return in.error();
  auto out = disk.open(to, {.write = true, .create = true, .mode = kArchiveMode});
  if (!out) return out.error();
  if (auto emptied = (*out)->truncate(0); !emptied) return emptied;
  std::string buffer(kPiece, '\0');
  for (uint64_t at = 0;;) {
    auto got = (*in)->read_at(at, buffer);
    if (!got) return got.error();
    if (auto put = (*out)->write_at(at, std::string_view(buffer).substr(0, *got)); !put) return put;
    at += *got;
    if (*got < buffer.size()) break;
  }
  return (*out)->sync(SyncWhat::all);
}

}  // namespace

std::string BundleShelf::path_of(const std::string& archive) const {
  return folder_ + "/" + archive.substr(archive.starts_with(kSha256) ? kSha256.size() : 0) + ".bundle";
}

Result<ShelvedBundle> BundleShelf::take(const std::string& source, const std::string& attempt) {
  if (auto made = disk_.make_folder(folder_, kPrivate); !made && made.error().code != Code::conflict) {
    return made.error();
  }
  const std::string unfinished = folder_ + "/." + attempt;
  auto copied = copy_file(disk_, source, unfinished);
  auto give_up = [&](const Error& error) {
    auto removed = disk_.remove(unfinished);  // what is left of it is overwritten by the next attempt
    static_cast<void>(removed);
    return error;
  };
  if (!copied) return give_up(copied.error());
  auto inspected = bundle::inspect_archive(disk_, unfinished);
  if (!inspected) return give_up(inspected.error());
  auto manifest = bundle::manifest_of(*inspected, source);
  if (!manifest) return give_up(manifest.error());
  auto sidecar = bundle::read_sidecar(disk_, bundle::sidecar_path(source));
  if (!sidecar) return give_up(sidecar.error());
  ShelvedBundle shelved{.archive = std::string(kSha256) + inspected->archive_sha256,
                        .tree = std::string(kSha256) + inspected->tree.digest(),
                        .sidecar = sidecar->value_or(""),
                        .manifest = *std::move(manifest)};
  shelved.path = path_of(shelved.archive);
  if (auto named = disk_.rename(unfinished, shelved.path); !named) return give_up(named.error());
  if (auto synced = disk_.sync_folder(folder_); !synced) return synced.error();
  return shelved;
}

Result<void> BundleShelf::remove(const std::string& archive) {
  auto removed = disk_.remove(path_of(archive));
  if (!removed && removed.error().code != Code::not_found) return removed;
  return {};
}

Result<std::optional<std::string>> revoked_by(Disk& disk, const std::string& list, const std::string& archive,
                                              const std::string& tree) {
  auto text = read_file(disk, list, kMaxList);
  if (!text) return text.error();
  auto document = parse_json(*text, list);
  if (!document) return document.error();
  auto read_list = read<RevocationList>(*document);
  if (!read_list) return read_list.error();
  if (read_list->schema != "sluice.revocation-list.v1") {
    return Error{.code = Code::invalid, .message = list + " is not a sluice.revocation-list.v1"};
  }
  for (const RevokedBundle& each : read_list->revoked) {
    if (each.digest == archive || each.digest == tree) return std::optional(each.reason);
  }
  return std::optional<std::string>();
}

}  // namespace sluice::deploy
