// The mark is durable before the bounds that it is of are used.
#include "router/table/bounds_keeper.h"

#include <boost/json.hpp>
#include <utility>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"

namespace sluice::router {
namespace bounds_keeper {

struct Kept {
  int64_t version = 0;
  std::string digest;
  std::string envelope;
};
BOOST_DESCRIBE_STRUCT(Kept, (), (version, digest, envelope))

}  // namespace bounds_keeper

BoundsKeeper::BoundsKeeper(Disk& disk, const Clock& clock, std::string file, std::vector<crypto::PublicKey> trusted,
                           std::string folder)
    : disk_(disk),
      clock_(clock),
      file_(std::move(file)),
      trusted_(std::move(trusted)),
      kept_(std::move(folder) + "/bounds.json") {}

Result<void> BoundsKeeper::read_mark() {
  auto there = disk_.exists(kept_);
  if (!there) return there.error();
  if (!*there) return {};
  auto text = read_file(disk_, kept_, 2 * kMaxBoundsBytes);
  if (!text) return text.error();
  auto document = parse_json(*text, kept_);
  if (!document) return document.error();
  auto kept = read<bounds_keeper::Kept>(*document);
  if (!kept) return kept.error();
  version_ = kept->version;
  digest_ = kept->digest;
  // Those of a key that no longer counts are a mark and nothing more.
  if (auto bounds = read_bounds(kept->envelope, trusted_)) current_ = *std::move(bounds);
  return {};
}

Result<void> BoundsKeeper::take(const std::string& text) {
  auto read = read_bounds(text, trusted_);
  if (!read) return read.error();
  const int64_t version = read->bounds.document().version;
  if (version < version_) {
    return Error{.code = Code::conflict,
                 .message = "the bounds in " + file_ + " have version " + std::to_string(version) + ", and version " +
                            std::to_string(version_) + " was obeyed before",
                 .next = "to go back, sign the old bounds under a higher version"};
  }
  if (version == version_ && read->digest != digest_) {
    return Error{.code = Code::conflict,
                 .message = "version " + std::to_string(version) + " of the bounds has two contents",
                 .next = "find out who signed the same version twice, then sign a higher one"};
  }
  if (version > version_) {
    const bounds_keeper::Kept kept{version, read->digest, text};
    if (auto written = write_atomically(disk_, kept_, write(to_json(kept)), 0600); !written) return written.error();
    version_ = version;
    digest_ = read->digest;
  }
  current_ = *std::move(read);
  return {};
}

Result<void> BoundsKeeper::look() {
  auto stat = disk_.stat(file_, FollowLinks::yes);
  if (!stat) {
    seen_.reset();
    return stat.error();
  }
  if (seen_ && seen_->inode == stat->inode && seen_->mtime_ns == stat->mtime_ns && seen_->size == stat->size) {
    if (unsound_.empty()) return {};
    return Error{.code = Code::verification_failed, .message = unsound_};
  }
  auto text = read_file(disk_, file_, kMaxBoundsBytes);
  auto taken = text ? take(*text) : Result<void>(text.error());
  seen_ = *stat;
  unsound_ = taken ? "" : taken.error().message;
  return taken;
}

Result<void> BoundsKeeper::begin() {
  if (auto marked = read_mark(); !marked) return marked;
  auto looked = look();
  trouble_ = looked ? "" : looked.error().message;
  if (!looked && !current_) return looked;
  return {};
}

Result<const SignedBounds*> BoundsKeeper::for_order() {
  auto looked = look();
  if (looked && current_->bounds.has_expired(clock_.wall_ms())) {
    looked = Error{.code = Code::denied,
                   .message = "the operator's bounds expired at " + *current_->bounds.document().expires_at +
                              "; what is served stays as it is",
                   .next = "sign bounds with a later expires_at and a higher version"};
  }
  trouble_ = looked ? "" : looked.error().message;
  if (!looked) return looked.error();
  return &*current_;
}

}  // namespace sluice::router
