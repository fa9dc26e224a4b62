// snapshot: the envelope, a newline, the bytes. patches: for each the length (8 bytes, little-endian) and the SHA-256
// of the same, then it.
#include "router/state_files.h"

#include <cstring>

#include "base/atomic_file.h"
#include "crypto/sha256.h"

namespace sluice::router {
namespace {

constexpr size_t kMaxStateBytes = size_t{300} << 20;
constexpr size_t kFrameBytes = 8 + 32;
constexpr size_t kManyPatches = 4'096;
constexpr uint64_t kManyPatchBytes = uint64_t{64} << 20;

std::string text_of_order(const KeptOrder& order) { return order.envelope + "\n" + order.bytes; }

std::optional<KeptOrder> order_of_text(std::string_view text) {
  size_t line = text.find('\n');
  if (line == std::string_view::npos) return std::nullopt;
  return KeptOrder{std::string(text.substr(0, line)), std::string(text.substr(line + 1))};
}

std::string_view view_of(const crypto::Sha256& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

StateFiles::StateFiles(Disk& disk, std::string folder)
    : disk_(disk), snapshot_(folder + "/snapshot"), patches_(folder + "/patches") {}

Result<StateFiles::Read> StateFiles::read() {
  Read found;
  ends_.clear();
  auto text = read_file(disk_, snapshot_, kMaxStateBytes);
  if (!text && text.error().code == Code::not_found) return found;
  if (!text) return text.error();
  found.snapshot = order_of_text(*text);
  if (!found.snapshot) {
    found.fault = "the snapshot is not one";
    return found;
  }
  auto log = read_file(disk_, patches_, kMaxStateBytes);
  if (!log && log.error().code == Code::not_found) return found;
  if (!log) return log.error();
  std::string_view rest = *log;
  while (!rest.empty()) {
    uint64_t size = 0;
    if (rest.size() >= kFrameBytes) std::memcpy(&size, rest.data(), sizeof size);
    if (rest.size() < kFrameBytes || size > rest.size() - kFrameBytes) {
      found.fault = "the last patch is cut short";
      break;
    }
    std::string_view body = rest.substr(kFrameBytes, static_cast<size_t>(size));
    auto order = order_of_text(body);
    if (view_of(crypto::sha256(body)) != rest.substr(8, 32) || !order) {
      found.fault = "patch " + std::to_string(found.patches.size() + 1) + " is damaged";
      break;
    }
    rest.remove_prefix(kFrameBytes + body.size());
    found.patches.push_back(*std::move(order));
    ends_.push_back(log->size() - rest.size());
  }
  return found;
}

Result<File*> StateFiles::patches_file() {
  if (!file_) {
    auto file = disk_.open(patches_, {.write = true, .create = true, .mode = 0600});
    if (!file) return file.error();
    file_ = *std::move(file);
  }
  return file_.get();
}

Result<void> StateFiles::put_snapshot(const KeptOrder& order) {
  if (auto written = write_atomically(disk_, snapshot_, text_of_order(order), 0600); !written) {
    missing_ = written.error().message;
    return written.error();
  }
  missing_.clear();
  return keep_patches(0);
}

Result<void> StateFiles::append_patch(const KeptOrder& order) {
  if (!missing_.empty()) return Error{.code = Code::unavailable, .message = missing_};
  auto file = patches_file();
  if (!file) return file.error();
  std::string body = text_of_order(order);
  uint64_t size = body.size();
  std::string record(reinterpret_cast<const char*>(&size), sizeof size);
  record += view_of(crypto::sha256(body));
  record += body;
  if (auto written = (*file)->write_at(patch_bytes(), record); !written) {
    missing_ = written.error().message;
    return written.error();
  }
  ends_.push_back(patch_bytes() + record.size());
  return {};
}

Result<void> StateFiles::keep_patches(size_t count) {
  if (count < ends_.size()) ends_.resize(count);
  auto file = patches_file();
  if (!file) return file.error();
  return (*file)->truncate(patch_bytes());
}

bool StateFiles::wants_load() const {
  return !missing_.empty() || patches() > kManyPatches || patch_bytes() > kManyPatchBytes;
}

}  // namespace sluice::router
