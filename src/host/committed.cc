// No snapshot is held while somebody waits.
#include "host/committed.h"

#include <algorithm>

#include "engine/journal/record_reader.h"

namespace sluice::host {
namespace {

constexpr int64_t kAskEvery_ms = 20;

}  // namespace

uint64_t CommittedElsewhere::position() {
  auto snapshot = store_.read();
  if (snapshot) known_ = (*snapshot)->position();
  return known_;
}

uint64_t CommittedElsewhere::wait_for(uint64_t position, int64_t at_most_ms) {
  const int64_t until_ns = clock_.monotonic_ns() + at_most_ms * 1'000'000;
  while (true) {
    const uint64_t now = this->position();
    const int64_t left_ms = (until_ns - clock_.monotonic_ns()) / 1'000'000;
    if (now >= position || left_ms <= 0) return now;
    clock_.sleep_ms(std::min(kAskEvery_ms, left_ms));
  }
}

Result<void> CommittedElsewhere::watch(uint64_t from, const store::Visit<store::JournalRow>& visit,
                                       const std::function<bool()>& stop) {
  while (!stop()) {
    const uint64_t before = from;
    auto wanted = read_on(from, visit);
    if (!wanted) return wanted.error();
    if (!*wanted) return {};
    if (from == before) clock_.sleep_ms(kAskEvery_ms);
  }
  return {};
}

// What there is from this position on, which moves behind it; false: no more is wanted.
Result<bool> CommittedElsewhere::read_on(uint64_t& from, const store::Visit<store::JournalRow>& visit) {
  auto snapshot = store_.read();
  if (!snapshot) return snapshot.error();
  engine::RecordReader records(**snapshot);
  std::optional<Error> unreadable;
  bool wanted = true;
  auto read = (*snapshot)->journal_from(from, [&](const store::JournalRow& row) {
    auto record = records.read(row);
    if (!record) {
      unreadable = record.error();
      return false;
    }
    from = row.seq + 1;
    store::JournalRow whole = row;
    if (row.record.empty()) whole.record = *record;
    wanted = visit(whole);
    return wanted;
  });
  if (!read) return read.error();
  if (unreadable) return *unreadable;
  return wanted;
}

}  // namespace sluice::host
