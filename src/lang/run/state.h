// The typed face of a concept's rows, of which conceptc makes each concept's State: Table is the rows of one domain
// type, List and Set are child relations, edited element by element. All of them only point at Rows and are made where
// they are used. A stored value that does not fit its type is a bug or a damaged store and throws std::runtime_error,
// which the engine turns into a fault.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "lang/run/rows.h"

namespace sluice::lang {

// A row of a Table with its key.
template <class Key, class Record>
struct Entry {
  Key id;
  Record record;
};

// An element of a List. Its number stays the same while it is in the list; numbers grow towards the end.
template <class T>
struct Element {
  int64_t number = 0;
  T value;
};

namespace rows {

[[noreturn]] void throw_unreadable(std::string_view relation, std::string_view key, const Error& error);
// Throws std::invalid_argument for a key that no row can have: an empty one, or one with a NUL in it.
void check_key(std::string_view relation, std::string_view key);
std::string number_key(int64_t number);
int64_t number_of(std::string_view element);
std::string value_key(const json::value& value);
size_t count(const Rows& rows, std::string_view relation, std::string_view prefix);
void erase_all(Rows& rows, std::string_view relation, std::string_view prefix);

template <class T>
T decode(std::string_view relation, std::string_view key, const json::value& value) {
  auto decoded = read<T>(value);
  if (!decoded) throw_unreadable(relation, key, decoded.error());
  return *std::move(decoded);
}

inline const std::string& key_text(const std::string& key) { return key; }
template <class Owner>
const std::string& key_text(const Id<Owner>& id) {
  return id.text();
}

// How a row becomes an item of a range.
template <class Key, class Record>
struct DecodeEntry {
  std::string_view relation;
  Entry<Key, Record> operator()(const Row& row) const {
    return {Key(row.key), decode<Record>(relation, row.key, row.value)};
  }
};
template <class T>
struct DecodeElement {
  std::string_view relation;
  size_t prefix_size = 0;
  Element<T> operator()(const Row& row) const {
    return {number_of(std::string_view(row.key).substr(prefix_size)), decode<T>(relation, row.key, row.value)};
  }
};
template <class T>
struct DecodeValue {
  std::string_view relation;
  T operator()(const Row& row) const { return decode<T>(relation, row.key, row.value); }
};

// An input range over the rows with one prefix, read a page at a time; Decode makes an item of a row. Rows that are
// written meanwhile may or may not be met; those of the page at hand are met even if they are erased.
template <class Decode>
class Range {
 public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = std::invoke_result_t<const Decode&, const Row&>;
  using difference_type = std::ptrdiff_t;

  Range(const Rows& rows, std::string_view relation, std::string prefix, Decode decode)
      : rows_(&rows), relation_(relation), prefix_(std::move(prefix)), decode_(std::move(decode)) {
    load({});
  }

  // It is its own iterator, as it can be walked once.
  Range begin() const { return *this; }
  std::default_sentinel_t end() const { return {}; }

  value_type operator*() const { return decode_(page_[at_]); }
  Range& operator++() {
    if (++at_ == page_.size() && page_.size() == kPage) load(std::string(page_.back().key));
    return *this;
  }
  bool operator==(std::default_sentinel_t) const { return at_ >= page_.size(); }

 private:
  static constexpr size_t kPage = 256;

  void load(const std::string& after) {
    page_ = rows_->scan(relation_, prefix_, after, kPage);
    at_ = 0;
  }

  const Rows* rows_;
  std::string_view relation_;
  std::string prefix_;
  Decode decode_;
  std::vector<Row> page_;
  size_t at_ = 0;
};

}  // namespace rows

// All rows of a Table, in key order.
template <class Key, class Record>
using Entries = rows::Range<rows::DecodeEntry<Key, Record>>;

// The rows of one domain type. `relation` must outlive it: generated code passes literals.
template <class Key, class Record>
class Table {
 public:
  using Found = Entry<Key, Record>;

  Table(Rows& rows, std::string_view relation) : rows_(rows), relation_(relation) {}

  bool has(const Key& key) const { return rows_.get(relation_, rows::key_text(key)).has_value(); }

  std::optional<Record> get(const Key& key) const {
    auto value = rows_.get(relation_, rows::key_text(key));
    if (!value) return std::nullopt;
    return rows::decode<Record>(relation_, rows::key_text(key), *value);
  }

  void put(const Key& key, const Record& record) {
    rows::check_key(relation_, rows::key_text(key));
    rows_.put(relation_, rows::key_text(key), to_json(record));
  }

  Key add(const Record& record) {
    Key key(rows_.new_id());
    put(key, record);
    return key;
  }

  // Calls change(Record&) on the row and keeps what it left. False if there is no such row.
  template <class Change>
  bool edit(const Key& key, Change&& change) {
    auto record = get(key);
    if (!record) return false;
    change(*record);
    put(key, *record);
    return true;
  }

  bool erase(const Key& key) { return rows_.erase(relation_, rows::key_text(key)); }

  Entries<Key, Record> all() const { return {rows_, relation_, "", {relation_}}; }

  template <class Value>
  std::vector<Found> find(std::string_view field, const Value& value) const {
    std::vector<Found> found;
    for (const Row& row : rows_.find(relation_, field, to_json(value))) {
      found.push_back({Key(row.key), rows::decode<Record>(relation_, row.key, row.value)});
    }
    return found;
  }

 private:
  Rows& rows_;
  std::string_view relation_;
};

// `D -> list T` for one D, to read: a range of Element<T>. What a const State gives.
template <class T>
class ListView {
 public:
  ListView(const Rows& rows, std::string_view relation, std::string_view key)
      : rows_(rows), relation_(relation), prefix_(child_key(key)) {}

  rows::Range<rows::DecodeElement<T>> begin() const { return {rows_, relation_, prefix_, {relation_, prefix_.size()}}; }
  std::default_sentinel_t end() const { return {}; }

  std::vector<T> values() const {
    std::vector<T> all;
    for (auto element : *this) all.push_back(std::move(element.value));
    return all;
  }

  size_t size() const { return rows::count(rows_, relation_, prefix_); }
  bool empty() const { return !rows_.last(relation_, prefix_); }

  std::optional<T> at(int64_t number) const {
    auto value = rows_.get(relation_, key_of(number));
    if (!value) return std::nullopt;
    return rows::decode<T>(relation_, key_of(number), *value);
  }

 protected:
  std::string key_of(int64_t number) const { return prefix_ + rows::number_key(number); }

  const Rows& rows_;
  std::string_view relation_;
  std::string prefix_;
};

// The same to change.
template <class T>
class List : public ListView<T> {
 public:
  List(Rows& rows, std::string_view relation, std::string_view key) : ListView<T>(rows, relation, key), writes_(rows) {
    rows::check_key(relation, key);
  }

  // Adds at the end; its number.
  int64_t push(const T& value) {
    auto last = writes_.last(this->relation_, this->prefix_);
    int64_t number = last ? rows::number_of(std::string_view(last->key).substr(this->prefix_.size())) + 1 : 0;
    writes_.put(this->relation_, this->key_of(number), to_json(value));
    return number;
  }

  // Replaces an element. False if there is none of that number.
  bool put(int64_t number, const T& value) {
    if (!writes_.get(this->relation_, this->key_of(number))) return false;
    writes_.put(this->relation_, this->key_of(number), to_json(value));
    return true;
  }

  bool erase(int64_t number) { return writes_.erase(this->relation_, this->key_of(number)); }

  void clear() { rows::erase_all(writes_, this->relation_, this->prefix_); }

  void assign(const std::vector<T>& values) {
    clear();
    int64_t number = 0;
    for (const T& value : values) writes_.put(this->relation_, this->key_of(number++), to_json(value));
  }

 private:
  Rows& writes_;
};

// `D -> set T` for one D, to read: a range of T in the order of the values' JSON text.
template <class T>
class SetView {
 public:
  SetView(const Rows& rows, std::string_view relation, std::string_view key)
      : rows_(rows), relation_(relation), prefix_(child_key(key)) {}

  rows::Range<rows::DecodeValue<T>> begin() const { return {rows_, relation_, prefix_, {relation_}}; }
  std::default_sentinel_t end() const { return {}; }

  std::vector<T> values() const {
    std::vector<T> all;
    for (auto value : *this) all.push_back(std::move(value));
    return all;
  }

  size_t size() const { return rows::count(rows_, relation_, prefix_); }
  bool empty() const { return !rows_.last(relation_, prefix_); }
  bool contains(const T& value) const { return rows_.get(relation_, key_of(value)).has_value(); }

 protected:
  std::string key_of(const T& value) const { return prefix_ + rows::value_key(to_json(value)); }

  const Rows& rows_;
  std::string_view relation_;
  std::string prefix_;
};

// The same to change.
template <class T>
class Set : public SetView<T> {
 public:
  Set(Rows& rows, std::string_view relation, std::string_view key) : SetView<T>(rows, relation, key), writes_(rows) {
    rows::check_key(relation, key);
  }

  // Whether it is new.
  bool insert(const T& value) {
    if (this->contains(value)) return false;
    writes_.put(this->relation_, this->key_of(value), to_json(value));
    return true;
  }

  bool erase(const T& value) { return writes_.erase(this->relation_, this->key_of(value)); }
  void clear() { rows::erase_all(writes_, this->relation_, this->prefix_); }

 private:
  Rows& writes_;
};

}  // namespace sluice::lang
