// Four layers of rows, the nearest first: the running step, the batch, the batch on its way, the store.
#include "engine/transaction.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cassert>
#include <set>
#include <span>
#include <stdexcept>

#include "base/canonical_json.h"
#include "base/json.h"
#include "base/utf8.h"
#include "crypto/sha256.h"
#include "engine/journal/value.h"

namespace sluice::engine {
namespace {

// Committed rows that stay in memory for the next batches; beyond that they are forgotten and read again.
constexpr size_t kMostKnown = 20'000;

json::object as_object(const json::value& value) {
  if (const auto* object = value.if_object()) return *object;
  return json::object{{"value", value}};
}

std::string owner_of(std::string_view key) { return std::string(key.substr(0, key.find('\0'))); }

// The value of a field, a path with dots; null if it is not there. Elements that are no records have one, `value`.
const json::value* field_of(const json::value& row, std::string_view path) {
  if (const auto* object = row.if_object()) return member_at(*object, path);
  return path == "value" && !row.is_null() ? &row : nullptr;
}

// What a row holds whose value is in the blob store.
std::string blob_name(const std::string& text) { return "@" + crypto::to_string(crypto::sha256(text)); }

// Equal values have equal texts.
std::string lookup_text(const json::value& value) {
  auto text = canonical(value);
  return text ? *text : write(value);
}

}  // namespace

Result<json::value> parse_stored(std::string_view text, const std::string& what) {
  boost::system::error_code failed;
  json::value value = json::parse(text, failed);
  if (!failed) return value;
  return Error{.code = Code::verification_failed,
               .message = what + " is damaged: it is no JSON",
               .next = "sluice audit verify; then go back to a copy of the store"};
}

Result<json::value> read_value(const std::string& stored, store::BlobStore* blobs) {
  if (!stored.starts_with('@')) return parse_stored(stored, "a row of state");
  auto digest = crypto::parse_sha256(std::string_view(stored).substr(1));
  if (!digest) return digest.error();
  if (blobs == nullptr) {
    return Error{.code = Code::not_found, .message = "the value " + stored + " is in a blob store, and there is none"};
  }
  auto text = blobs->get(*digest, size_t{256} << 20U);
  if (!text) return text.error();
  return parse_stored(*text, "a blob of state");
}

std::optional<std::string> lookup_of(const json::value& row, std::string_view field) {
  const json::value* value = field_of(row, field);
  return value == nullptr ? std::nullopt : std::optional(lookup_text(*value));
}

// What the running step's handlers see.
class Transaction::StepRows final : public lang::Rows {
 public:
  explicit StepRows(Transaction& owner) : owner_(owner) {}

  std::optional<json::value> get(std::string_view relation, std::string_view key) const override {
    return owner_.get(relation, key).value;
  }
  void put(std::string_view relation, std::string_view key, json::value value) override {
    // What is not UTF-8 would be read back as something else.
    if (!valid_utf8(key) || !is_utf8(value)) {
      throw std::invalid_argument("a row of " + std::string(relation) + " is not UTF-8");
    }
    owner_.put(relation, key, std::move(value));
  }
  bool erase(std::string_view relation, std::string_view key) override {
    if (!owner_.get(relation, key).value) return false;
    owner_.put(relation, key, std::nullopt);
    return true;
  }
  std::vector<lang::Row> scan(std::string_view relation, std::string_view prefix, std::string_view after,
                              size_t limit) const override {
    std::vector<lang::Row> rows;
    if (limit == 0) return rows;
    owner_.scan(relation, prefix, [&](const std::string& key, const json::value& value) {
      if (key > after) rows.push_back({key, value});
      return rows.size() < limit;
    });
    return rows;
  }
  std::optional<lang::Row> last(std::string_view relation, std::string_view prefix) const override {
    std::optional<lang::Row> row;
    owner_.scan(relation, prefix, [&](const std::string& key, const json::value& value) {
      row = lang::Row{key, value};
      return true;
    });
    return row;
  }
  std::vector<lang::Row> find(std::string_view relation, std::string_view field,
                              const json::value& value) const override {
    std::vector<lang::Row> rows;
    for (const std::string& key : owner_.keys_with(relation, field, value)) {
      rows.push_back({key, *owner_.get(relation, key).value});
    }
    return rows;
  }
  std::string new_id() override {
    // A number that counts up from where the hash begins.
    crypto::Sha256 digest = crypto::sha256(sluice::to_string(owner_.invocation_) + (owner_.ends_ ? "/end" : "/begin"));
    uint64_t more = owner_.ids_made_++;
    for (size_t i = Ulid::kRandomBytes; i-- > 0 && more > 0;) {
      more += digest[i];
      digest[i] = static_cast<uint8_t>(more & 0xFFU);
      more >>= 8U;
    }
    return sluice::to_string(Ulid::from(owner_.now_ms_, std::span(digest).first<Ulid::kRandomBytes>()));
  }
  lang::DateTime now() const override { return {owner_.now_ms_}; }
  lang::Request request() const override { return lang::Request(sluice::to_string(owner_.invocation_)); }

 private:
  Transaction& owner_;
};

Transaction::Transaction(store::Store& store, store::BlobStore* blobs, IndexedFields indexed)
    : store_(store), blobs_(blobs), indexed_(std::move(indexed)), rows_(std::make_unique<StepRows>(*this)) {}

Transaction::~Transaction() = default;

void Transaction::begin_step(const Ulid& invocation, uint64_t seq, int64_t now_ms, bool ends) {
  step_.clear();
  invocation_ = invocation;
  seq_ = seq;
  now_ms_ = now_ms;
  ends_ = ends;
  ids_made_ = 0;
}

lang::Rows& Transaction::rows() { return *rows_; }

std::vector<ChangedRow> Transaction::changed() const {
  std::vector<ChangedRow> rows;
  for (const auto& [relation, cells] : step_) {
    for (const auto& [key, cell] : cells) {
      if (cell.value && cell.value != before(relation, key).value) {
        rows.push_back({relation, owner_of(key), as_object(*cell.value)});
      }
    }
  }
  return rows;
}

std::vector<Wrote> Transaction::keep_step() {
  std::vector<Wrote> wrote;
  for (auto& [relation, cells] : step_) {
    Cells& target = batch_[relation];
    for (auto& [key, cell] : cells) {
      // A row that is written as it was has not changed.
      if (cell.value == before(relation, key).value) continue;
      Wrote& one = wrote.emplace_back(Wrote{relation, key, ""});
      if (cell.value) {
        cell.text = write(*cell.value);
        one.hash = state_hash(cell.version.generation, is_blob(cell.text) ? blob_name(cell.text) : cell.text);
      }
      target.insert_or_assign(key, std::move(cell));
    }
  }
  step_.clear();
  return wrote;
}

void Transaction::drop_step() { step_.clear(); }

Transaction::Version Transaction::version(std::string_view relation, std::string_view key) const {
  const Cell& cell = get(relation, key);
  return cell.value ? cell.version : Version{};
}

Result<void> Transaction::collect(store::Batch& batch) {
  for (auto& [relation, cells] : batch_) {
    for (auto& [key, cell] : cells) {
      const Cell& before = before_batch(relation, key);
      if (!before.value && !cell.value) continue;
      collect_lookups(relation, key, before, cell, batch);
      std::optional<std::string> text;
      if (cell.value) text = cell.text.empty() ? write(*cell.value) : std::exchange(cell.text, "");
      if (text && is_blob(*text)) {
        if (auto kept = blobs_->put(*text); !kept) return kept.error();
        text = blob_name(*text);
      }
      batch.state.push_back({relation, key, cell.version.generation, cell.version.seq, std::move(text)});
    }
  }
  return {};
}

void Transaction::collect_lookups(const std::string& relation, const std::string& key, const Cell& before,
                                  const Cell& after, store::Batch& batch) const {
  auto fields = indexed_.find(relation);
  if (fields == indexed_.end()) return;
  for (const std::string& field : fields->second) {
    auto was = before.value ? lookup_of(*before.value, field) : std::nullopt;
    auto is = after.value ? lookup_of(*after.value, field) : std::nullopt;
    if (was == is) continue;
    if (was) batch.lookups.push_back({relation, field, *std::move(was), key, false});
    if (is) batch.lookups.push_back({relation, field, *std::move(is), key, true});
  }
}

void Transaction::take_off() {
  assert(step_.empty());    // a step is kept or dropped before its batch goes
  assert(flying_.empty());  // and one batch at a time is on its way
  flying_ = std::move(batch_);
  batch_.clear();
}

void Transaction::committed() {
  for (auto& [relation, cells] : flying_) {
    Cells& target = known_[relation];
    for (auto& [key, cell] : cells) {
      known_count_ += target.insert_or_assign(key, std::move(cell)).second ? 1 : 0;
    }
  }
  flying_.clear();
  snapshot_.reset();
  if (known_count_ > kMostKnown) {
    known_.clear();
    known_count_ = 0;
  }
}

void Transaction::rolled_back() {
  step_.clear();
  batch_.clear();
  flying_.clear();
  known_.clear();
  known_count_ = 0;
  snapshot_.reset();
}

std::vector<StateReader::Row> Transaction::by_key(const std::string& relation, std::string_view key) const {
  std::vector<Row> rows;
  if (relation.find('.') == std::string::npos) {
    const Cell& cell = get(relation, key);
    if (cell.value) rows.push_back({std::string(key), as_object(*cell.value)});
    return rows;
  }
  scan(relation, lang::child_key(key), [&](const std::string&, const json::value& value) {
    rows.push_back({std::string(key), as_object(value)});
    return true;
  });
  return rows;
}

std::vector<StateReader::Row> Transaction::by_field(const std::string& relation, std::string_view field,
                                                    const json::value& value) const {
  std::vector<Row> rows;
  for (const std::string& key : keys_with(relation, field, value)) {
    rows.push_back({owner_of(key), as_object(*get(relation, key).value)});
  }
  return rows;
}

std::vector<StateReader::Row> Transaction::all(const std::string& relation, size_t limit) const {
  std::vector<Row> rows;
  if (limit == 0) return rows;
  scan(relation, "", [&](const std::string& key, const json::value& value) {
    rows.push_back({owner_of(key), as_object(value)});
    return rows.size() < limit;
  });
  return rows;
}

const Transaction::Cell& Transaction::get(std::string_view relation, std::string_view key) const {
  if (auto cells = step_.find(relation); cells != step_.end()) {
    if (auto cell = cells->second.find(key); cell != cells->second.end()) return cell->second;
  }
  return before(relation, key);
}

const Transaction::Cell& Transaction::before(std::string_view relation, std::string_view key) const {
  if (auto cells = batch_.find(relation); cells != batch_.end()) {
    if (auto cell = cells->second.find(key); cell != cells->second.end()) return cell->second;
  }
  return before_batch(relation, key);
}

const Transaction::Cell& Transaction::before_batch(std::string_view relation, std::string_view key) const {
  if (auto cells = flying_.find(relation); cells != flying_.end()) {
    if (auto cell = cells->second.find(key); cell != cells->second.end()) return cell->second;
  }
  return stored(relation, key);
}

const Transaction::Cell& Transaction::stored(std::string_view relation, std::string_view key) const {
  auto cells = known_.find(relation);
  if (cells == known_.end()) cells = known_.emplace(relation, Cells{}).first;
  auto known = cells->second.find(key);
  if (known != cells->second.end()) return known->second;
  auto row = snapshot().get(relation, key);
  if (!row) throw UnreadableStore(row.error());
  Cell cell;
  if (*row) {
    auto value = read_value((*row)->value, blobs_);
    if (!value) throw UnreadableStore(value.error());
    cell = {{(*row)->generation, (*row)->seq}, *std::move(value), ""};
  }
  ++known_count_;
  return cells->second.emplace(key, std::move(cell)).first->second;
}

// It never changes while an engine runs.
uint64_t Transaction::floor() const {
  if (!floor_) {
    auto text = snapshot().meta(kGenerationFloorMeta);
    if (!text) throw UnreadableStore(text.error());
    floor_ = std::strtoull(text->value_or("0").c_str(), nullptr, 10);
  }
  return *floor_;
}

void Transaction::put(std::string_view relation, std::string_view key, std::optional<json::value> value) {
  auto cells = step_.find(relation);
  if (cells == step_.end()) cells = step_.emplace(relation, Cells{}).first;
  auto cell = cells->second.find(key);
  if (cell != cells->second.end()) {
    cell->second.value = std::move(value);
    return;
  }
  // One that comes back begins anew, whether or not its erasure is committed yet.
  const Cell& was = before(relation, key);
  uint64_t generation = std::max(was.value ? was.version.generation : 0, floor()) + 1;
  cells->second.emplace(key, Cell{{generation, seq_}, std::move(value), ""});
}

template <typename Visit>
void Transaction::scan(std::string_view relation, std::string_view prefix, const Visit& visit) const {
  // What the layers change, merged with the store's rows in order.
  std::map<std::string_view, const Cell*> changed;
  for (const Layer* layer : {&flying_, &batch_, &step_}) {
    auto cells = layer->find(relation);
    if (cells == layer->end()) continue;
    for (auto cell = cells->second.lower_bound(prefix); cell != cells->second.end() && cell->first.starts_with(prefix);
         ++cell) {
      changed.insert_or_assign(cell->first, &cell->second);
    }
  }
  auto next = changed.begin();
  bool more = true;
  auto visit_changed = [&] {
    if (next->second->value) more = visit(std::string(next->first), *next->second->value);
    ++next;
  };
  auto read = snapshot().scan(relation, prefix, [&](const store::StateRow& row) {
    while (more && next != changed.end() && next->first < row.key) visit_changed();
    if (!more) return false;
    if (next != changed.end() && next->first == row.key) {
      visit_changed();
      return more;
    }
    auto value = read_value(row.value, blobs_);
    if (!value) throw UnreadableStore(value.error());
    more = visit(row.key, *value);
    return more;
  });
  if (!read) throw UnreadableStore(read.error());
  while (more && next != changed.end()) visit_changed();
}

std::vector<std::string> Transaction::keys_with(std::string_view relation, std::string_view field,
                                                const json::value& value) const {
  std::set<std::string, std::less<>> keys;
  auto fits = [&](const json::value& row) {
    const json::value* found = field_of(row, field);
    return found != nullptr && equal(*found, value);
  };
  if (!is_indexed(relation, field)) {
    scan(relation, "", [&](const std::string& key, const json::value& row) {
      if (fits(row)) keys.insert(key);
      return true;
    });
    return {keys.begin(), keys.end()};
  }
  std::vector<std::string> found;
  auto read = snapshot().lookup(relation, field, lookup_text(value), [&](const std::string& key) {
    found.push_back(key);
    return true;
  });
  if (!read) throw UnreadableStore(read.error());
  // A look-up of a time when the field was not looked up by may be out of date.
  for (std::string& key : found) {
    const Cell& cell = stored(relation, key);
    if (cell.value && fits(*cell.value)) keys.insert(std::move(key));
  }
  for (const Layer* layer : {&flying_, &batch_, &step_}) {
    auto cells = layer->find(relation);
    if (cells == layer->end()) continue;
    for (const auto& [key, cell] : cells->second) {
      if (cell.value && fits(*cell.value)) {
        keys.insert(key);
      } else {
        keys.erase(key);
      }
    }
  }
  return {keys.begin(), keys.end()};
}

bool Transaction::is_indexed(std::string_view relation, std::string_view field) const {
  auto fields = indexed_.find(relation);
  return fields != indexed_.end() && std::ranges::find(fields->second, field) != fields->second.end();
}

store::Snapshot& Transaction::snapshot() const {
  if (!snapshot_) {
    auto snapshot = store_.read();
    if (!snapshot) throw UnreadableStore(snapshot.error());
    snapshot_ = *std::move(snapshot);
  }
  return *snapshot_;
}

}  // namespace sluice::engine
