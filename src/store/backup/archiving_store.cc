// The rows of the ring are in meta, each under its number modulo the ring's size.
#include "store/backup/archiving_store.h"

#include <algorithm>
#include <chrono>

#include "store/backup/row_bytes.h"

namespace sluice::store {
namespace {

constexpr uint64_t kRing = 1024;

std::string slot_of(uint64_t number) { return std::string(kArchiveMeta) + "slot." + std::to_string(number % kRing); }

std::string frame_of(uint64_t number, int64_t at_ms, uint64_t position, const Batch& batch) {
  ByteWriter to;
  to.bytes = "B";
  to.number(number);
  to.number(static_cast<uint64_t>(at_ms));
  to.number(position);
  to.text(bytes_of(batch));
  return std::move(to.bytes);
}

}  // namespace

Result<bool> ArchivingStore::begin(const std::string& line, uint64_t archived, const std::string& folder) {
  const std::lock_guard committing(committing_);
  auto snapshot = below_->read();
  if (!snapshot) return snapshot.error();
  auto known_line = (*snapshot)->meta(kArchiveLine);
  if (!known_line) return known_line.error();
  auto text = (*snapshot)->meta(kArchiveNewest);
  if (!text) return text.error();
  const uint64_t newest = std::strtoull(text->value_or("0").c_str(), nullptr, 10);
  auto known_folder = (*snapshot)->meta(kArchiveFolder);
  if (!known_folder) return known_folder.error();
  if (*known_line != line || *known_folder != folder) {
    auto kept = below_->commit({.meta = {{std::string(kArchiveLine), line}, {std::string(kArchiveFolder), folder}}});
    if (!kept) return kept.error();
  }
  const std::lock_guard guard(mutex_);
  on_ = true;
  overrun_ = archived > newest || newest - archived > kRing;
  newest_ = newest;
  position_ = (*snapshot)->position();
  waiting_.clear();
  if (overrun_) return false;
  for (uint64_t number = archived + 1; number <= newest; ++number) {
    auto frame = (*snapshot)->meta(slot_of(number));
    if (!frame) return frame.error();
    const std::string bytes = frame->value_or("B");
    ByteReader reader(std::string_view(bytes).substr(1));
    Archived one{.number = reader.number()};
    one.at_ms = static_cast<int64_t>(reader.number());
    one.position = reader.number();
    if (reader.failed() || one.number != number) {
      overrun_ = true;
      waiting_.clear();
      return false;
    }
    one.frame = bytes;
    waiting_.push_back(std::move(one));
  }
  return true;
}

Result<void> ArchivingStore::resume() {
  const std::lock_guard committing(committing_);
  auto snapshot = below_->read();
  if (!snapshot) return snapshot.error();
  auto line = (*snapshot)->meta(kArchiveLine);
  if (!line) return line.error();
  auto newest = (*snapshot)->meta(kArchiveNewest);
  if (!newest) return newest.error();
  const std::lock_guard guard(mutex_);
  on_ = !line->value_or("").empty();
  newest_ = std::strtoull(newest->value_or("0").c_str(), nullptr, 10);
  position_ = (*snapshot)->position();
  return {};
}

Result<void> ArchivingStore::end() {
  const std::lock_guard committing(committing_);
  {
    const std::lock_guard guard(mutex_);
    if (!on_) return {};
  }
  auto kept = below_->commit({.meta = {{std::string(kArchiveLine), ""}}});
  if (!kept) return kept;
  const std::lock_guard guard(mutex_);
  on_ = false;
  waiting_.clear();
  return {};
}

std::vector<ArchivingStore::Archived> ArchivingStore::take(int64_t patience_ms, size_t most_bytes) {
  std::unique_lock lock(mutex_);
  added_.wait_for(lock, std::chrono::milliseconds(patience_ms), [&] { return woken_ || !waiting_.empty(); });
  woken_ = false;
  std::vector<Archived> taken;
  size_t bytes = 0;
  for (const Archived& each : waiting_) {
    if (!taken.empty() && bytes + each.frame.size() > most_bytes) break;
    bytes += each.frame.size();
    taken.push_back(each);
  }
  return taken;
}

void ArchivingStore::wake() {
  const std::lock_guard guard(mutex_);
  woken_ = true;
  added_.notify_all();
}

int64_t ArchivingStore::waiting_since_ms() {
  const std::lock_guard guard(mutex_);
  return waiting_.empty() ? 0 : waiting_.front().at_ms;
}

void ArchivingStore::archived(uint64_t number) {
  const std::lock_guard guard(mutex_);
  while (!waiting_.empty() && waiting_.front().number <= number) waiting_.pop_front();
}

bool ArchivingStore::overrun() {
  const std::lock_guard guard(mutex_);
  return overrun_;
}

Result<void> ArchivingStore::commit(const Batch& batch) {
  const std::lock_guard committing(committing_);
  Archived one;
  {
    const std::lock_guard guard(mutex_);
    if (!on_) return below_->commit(batch);
    one.number = newest_ + 1;
    one.position = batch.journal.empty() ? position_ : batch.journal.back().seq;
  }
  one.at_ms = clock_.wall_ms();
  one.frame = frame_of(one.number, one.at_ms, one.position, batch);
  Batch with = batch;
  with.meta.emplace_back(slot_of(one.number), one.frame);
  with.meta.emplace_back(kArchiveNewest, std::to_string(one.number));
  if (auto done = below_->commit(with); !done) return done;
  const std::lock_guard guard(mutex_);
  newest_ = one.number;
  position_ = one.position;
  if (waiting_.size() >= kRing) {
    waiting_.clear();
    overrun_ = true;
  }
  if (!overrun_) waiting_.push_back(std::move(one));
  added_.notify_all();
  return {};
}

}  // namespace sluice::store
