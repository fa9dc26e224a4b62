// One letter for each kind of row, then its fields.
#include "store/backup/row_bytes.h"

#include <array>

namespace sluice::store {
namespace {

constexpr int kBitsOfByte = 7;
constexpr uint64_t kMore = 0x80;
constexpr int kMostShift = 63;

Error damaged() { return {.code = Code::verification_failed, .message = "rows of a backup are damaged"}; }

void write(ByteWriter& to, const JournalRow& row) {
  to.bytes += 'J';
  to.number(row.seq);
  to.id(row.flow);
  to.number(row.prev);
  to.text(row.record);
  to.text(row.packed_hash);
}

JournalRow read_journal(ByteReader& from) {
  JournalRow row{.seq = from.number(), .flow = from.id(), .prev = from.number()};
  row.record = from.text();
  row.packed_hash = from.text();
  return row;
}

void write(ByteWriter& to, const StateChange& change) {
  to.bytes += change.value ? 'S' : 's';
  to.text(change.rel);
  to.text(change.key);
  to.number(change.generation);
  to.number(change.seq);
  if (change.value) to.text(*change.value);
}

StateChange read_state(ByteReader& from, bool has_value) {
  StateChange change{.rel = from.text(), .key = from.text()};
  change.generation = from.number();
  change.seq = from.number();
  if (has_value) change.value = from.text();
  return change;
}

void write(ByteWriter& to, const LookupChange& change) {
  to.bytes += change.present ? 'L' : 'l';
  for (const std::string* each : {&change.rel, &change.field, &change.value, &change.key}) to.text(*each);
}

LookupChange read_lookup(ByteReader& from, bool present) {
  return {.rel = from.text(), .field = from.text(), .value = from.text(), .key = from.text(), .present = present};
}

void write(ByteWriter& to, const FlowRow& row) {
  to.bytes += 'F';
  to.id(row.id);
  to.number(row.head);
  to.number(static_cast<uint64_t>(row.status));
  to.text(row.sync_set);
  to.number(static_cast<uint64_t>(row.settled_at_ms));
  to.text(row.summary);
}

FlowRow read_flow(ByteReader& from) {
  FlowRow row{.id = from.id(), .head = from.number()};
  row.status = static_cast<FlowStatus>(from.number());
  row.sync_set = from.text();
  row.settled_at_ms = static_cast<int64_t>(from.number());
  row.summary = from.text();
  return row;
}

void write(ByteWriter& to, const KeyRow& row) {
  to.bytes += 'K';
  for (const std::string* each : {&row.caller, &row.key, &row.request_hash}) to.text(*each);
  to.id(row.flow);
  to.id(row.invocation);
  to.number(static_cast<uint64_t>(row.expires_ms));
}

KeyRow read_key(ByteReader& from) {
  KeyRow row{.caller = from.text(), .key = from.text(), .request_hash = from.text(), .flow = from.id()};
  row.invocation = from.id();
  row.expires_ms = static_cast<int64_t>(from.number());
  return row;
}

TimerRow read_timer(ByteReader& from) {
  TimerRow row{.invocation = from.id(), .flow = from.id()};
  row.due_ms = static_cast<int64_t>(from.number());
  return row;
}

std::pair<std::string, std::string> read_pair(ByteReader& from) {
  std::string name = from.text();
  return {std::move(name), from.text()};
}

// False: there is no such kind.
bool read_row(ByteReader& from, char kind, Batch& batch) {
  switch (kind) {
    case 'J':
      batch.journal.push_back(read_journal(from));
      return true;
    case 'S':
    case 's':
      batch.state.push_back(read_state(from, kind == 'S'));
      return true;
    case 'L':
    case 'l':
      batch.lookups.push_back(read_lookup(from, kind == 'L'));
      return true;
    case 'F':
      batch.flows.push_back(read_flow(from));
      return batch.flows.back().status <= FlowStatus::settled_failed;
    case 'H': {
      const Ulid id = from.id();
      batch.heads.push_back({.id = id, .head = from.number()});
      return true;
    }
    case 'T':
      batch.timers.push_back(read_timer(from));
      return true;
    case 't':
      batch.timers_done.push_back(from.id());
      return true;
    case 'K':
      batch.keys.push_back(read_key(from));
      return true;
    case 'Y':
      batch.sync_sets.push_back(read_pair(from));
      return true;
    case 'M':
      batch.meta.push_back(read_pair(from));
      return true;
    case 'P': {
      const Ulid flow = from.id();
      batch.packed.emplace_back(flow, from.text());
      return true;
    }
    default:
      return false;
  }
}

}  // namespace

void ByteWriter::number(uint64_t value) {
  for (; value >= kMore; value >>= kBitsOfByte) bytes += static_cast<char>(value | kMore);
  bytes += static_cast<char>(value);
}

void ByteWriter::text(std::string_view of) {
  number(of.size());
  bytes += of;
}

void ByteWriter::id(const Ulid& value) {
  for (const uint64_t half : {value.high(), value.low()}) {
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(half >> shift & 0xff);
  }
}

uint64_t ByteReader::number() {
  uint64_t value = 0;
  for (int shift = 0; shift <= kMostShift && !left_.empty(); shift += kBitsOfByte) {
    const auto each = static_cast<uint8_t>(left_.front());
    left_.remove_prefix(1);
    value |= uint64_t{each & (kMore - 1)} << shift;
    if ((each & kMore) == 0) return value;
  }
  failed_ = true;
  left_ = {};
  return 0;
}

std::string ByteReader::text() {
  const uint64_t size = number();
  if (size > left_.size()) {
    failed_ = true;
    left_ = {};
  }
  std::string bytes(left_.substr(0, failed_ ? 0 : size));
  left_.remove_prefix(bytes.size());
  return bytes;
}

Ulid ByteReader::id() {
  constexpr size_t kTimeBytes = 6;
  std::array<uint8_t, Ulid::kRandomBytes> random{};
  if (left_.size() < kTimeBytes + random.size()) {
    failed_ = true;
    left_ = {};
    return {};
  }
  int64_t wall_ms = 0;
  for (size_t index = 0; index < kTimeBytes; ++index) wall_ms = wall_ms << 8 | static_cast<uint8_t>(left_[index]);
  for (size_t index = 0; index < random.size(); ++index)
    random[index] = static_cast<uint8_t>(left_[kTimeBytes + index]);
  left_.remove_prefix(kTimeBytes + random.size());
  return Ulid::from(wall_ms, random);
}

std::string bytes_of(const Batch& batch) {
  ByteWriter to;
  for (const auto& row : batch.journal) write(to, row);
  for (const auto& change : batch.state) write(to, change);
  for (const auto& change : batch.lookups) write(to, change);
  for (const auto& row : batch.flows) write(to, row);
  for (const auto& head : batch.heads) {
    to.bytes += 'H';
    to.id(head.id);
    to.number(head.head);
  }
  for (const auto& timer : batch.timers) {
    to.bytes += 'T';
    to.id(timer.invocation);
    to.id(timer.flow);
    to.number(static_cast<uint64_t>(timer.due_ms));
  }
  for (const auto& each : batch.timers_done) {
    to.bytes += 't';
    to.id(each);
  }
  for (const auto& row : batch.keys) write(to, row);
  const auto pairs = [&](char kind, const std::vector<std::pair<std::string, std::string>>& all) {
    for (const auto& [name, value] : all) {
      to.bytes += kind;
      to.text(name);
      to.text(value);
    }
  };
  pairs('Y', batch.sync_sets);
  pairs('M', batch.meta);
  for (const auto& [flow, blob] : batch.packed) {
    to.bytes += 'P';
    to.id(flow);
    to.text(blob);
  }
  return std::move(to.bytes);
}

Result<Batch> batch_in(std::string_view bytes) {
  Batch batch;
  ByteReader from(bytes);
  while (!from.at_end()) {
    const uint64_t kind = from.number();  // letters are numbers of one byte
    if (from.failed() || kind >= kMore || !read_row(from, static_cast<char>(kind), batch)) return damaged();
    if (from.failed()) return damaged();
  }
  return batch;
}

}  // namespace sluice::store
