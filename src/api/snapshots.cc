// One function a table.
#include "api/snapshots.h"

#include <boost/json.hpp>
#include <charconv>

#include "host/row_json.h"
#include "host/wire_words.h"

namespace sluice::api {
namespace {

size_t bytes_of(const std::string& row) { return row.size(); }
size_t bytes_of(const store::JournalRow& row) { return row.record.size(); }
size_t bytes_of(const store::StateRow& row) { return row.value.size(); }
size_t bytes_of(const store::FlowRow& row) { return row.summary.size(); }
size_t bytes_of(const store::TimerRow&) { return 0; }

Error bad_parameter(const std::string& name) {
  return {.code = Code::invalid, .message = "the parameter " + name + " is missing or not what it must be"};
}

// What a read asks for.
class Asked {
 public:
  explicit Asked(const http::Request& request) : request_(request) {}

  Result<std::string> text(const std::string& name) const {
    const std::string* value = request_.parameter(name);
    return value == nullptr ? Result<std::string>(bad_parameter(name)) : Result<std::string>(*value);
  }
  Result<uint64_t> number(const std::string& name, std::optional<uint64_t> otherwise = std::nullopt) const {
    const std::string* value = request_.parameter(name);
    if (value == nullptr && otherwise) return *otherwise;
    uint64_t number = 0;
    if (value == nullptr) return bad_parameter(name);
    auto [end, failure] = std::from_chars(value->data(), value->data() + value->size(), number);
    if (failure != std::errc() || end != value->data() + value->size()) return bad_parameter(name);
    return number;
  }
  Result<Ulid> id(const std::string& name) const {
    auto value = text(name);
    auto parsed = value ? Ulid::parse(*value) : Result<Ulid>(value.error());
    return parsed ? parsed : Result<Ulid>(bad_parameter(name));
  }
  Result<std::optional<Ulid>> id_if_given(const std::string& name) const {
    if (request_.parameter(name) == nullptr) return std::optional<Ulid>();
    auto given = id(name);
    if (!given) return given.error();
    return std::optional(*given);
  }

 private:
  const http::Request& request_;
};

template <typename Row>
Result<json::value> one(const Result<std::optional<Row>>& row) {
  if (!row) return row.error();
  json::object object;
  if (*row) {
    object["row"] = host::to_json(**row);
  } else {
    object["row"] = nullptr;
  }
  return json::value(std::move(object));
}

// What `read` visits, after so many rows that the reader has had.
template <typename Row, typename Read>
Result<json::value> page(const Asked& asked, const Read& read) {
  auto skip = asked.number("skip", 0);
  if (!skip) return skip.error();
  json::array rows;
  size_t bytes = 0;
  uint64_t seen = 0;
  bool more = false;
  store::Visit<Row> take = [&](const Row& row) {
    if (seen++ < *skip) return true;
    more = rows.size() >= host::kPageRows || bytes >= host::kPageBytes;
    if (more) return false;
    rows.push_back(host::to_json(row));
    bytes += bytes_of(row);
    return true;
  };
  Result<void> done = read(take);
  if (!done) return done.error();
  return json::value(json::object{{"rows", std::move(rows)}, {"more", more}});
}

Result<json::value> read_state(store::Snapshot& from, const Asked& asked) {
  auto rel = asked.text("rel"), key = asked.text("key");
  if (!rel) return rel.error();
  if (!key) return key.error();
  return one(from.get(*rel, *key));
}

Result<json::value> scan_state(store::Snapshot& from, const Asked& asked) {
  auto rel = asked.text("rel"), prefix = asked.text("prefix");
  if (!rel) return rel.error();
  if (!prefix) return prefix.error();
  return page<store::StateRow>(asked, [&](const auto& take) { return from.scan(*rel, *prefix, take); });
}

Result<json::value> list_relations(store::Snapshot& from, const Asked& asked) {
  return page<std::string>(asked, [&](const auto& take) { return from.relations(take); });
}

Result<json::value> look_up(store::Snapshot& from, const Asked& asked) {
  auto rel = asked.text("rel"), field = asked.text("field"), value = asked.text("value");
  if (!rel) return rel.error();
  if (!field) return field.error();
  if (!value) return value.error();
  return page<std::string>(asked, [&](const auto& take) { return from.lookup(*rel, *field, *value, take); });
}

Result<json::value> read_record(store::Snapshot& from, const Asked& asked) {
  auto seq = asked.number("seq");
  if (!seq) return seq.error();
  return one(from.journal(*seq));
}

Result<json::value> read_records(store::Snapshot& from, const Asked& asked) {
  auto first = asked.number("from");
  if (!first) return first.error();
  return page<store::JournalRow>(asked, [&](const auto& take) { return from.journal_from(*first, take); });
}

Result<json::value> read_flow(store::Snapshot& from, const Asked& asked) {
  auto id = asked.id("id");
  if (!id) return id.error();
  return one(from.flow(*id));
}

Result<json::value> read_open_flows(store::Snapshot& from, const Asked& asked) {
  return page<store::FlowRow>(asked, [&](const auto& take) { return from.open_flows(take); });
}

Result<json::value> read_flows_newest(store::Snapshot& from, const Asked& asked) {
  auto before = asked.id_if_given("before");
  if (!before) return before.error();
  return page<store::FlowRow>(asked, [&](const auto& take) { return from.flows_newest_first(*before, take); });
}

Result<json::value> read_flows_oldest(store::Snapshot& from, const Asked& asked) {
  auto after = asked.id_if_given("after");
  if (!after) return after.error();
  return page<store::FlowRow>(asked, [&](const auto& take) { return from.flows_oldest_first(*after, take); });
}

Result<json::value> read_packed(store::Snapshot& from, const Asked& asked) {
  auto id = asked.id("id");
  if (!id) return id.error();
  return one(from.packed(*id));
}

Result<json::value> read_timers(store::Snapshot& from, const Asked& asked) {
  return page<store::TimerRow>(asked, [&](const auto& take) { return from.timers(take); });
}

Result<json::value> read_key(store::Snapshot& from, const Asked& asked) {
  auto caller = asked.text("caller"), key = asked.text("key");
  if (!caller) return caller.error();
  if (!key) return key.error();
  return one(from.key(*caller, *key));
}

Result<json::value> read_sync_set(store::Snapshot& from, const Asked& asked) {
  auto hash = asked.text("hash");
  if (!hash) return hash.error();
  return one(from.sync_set(*hash));
}

Result<json::value> read_sync_sets(store::Snapshot& from, const Asked& asked) {
  return page<std::string>(asked, [&](const auto& take) { return from.sync_sets(take); });
}

Result<json::value> read_meta(store::Snapshot& from, const Asked& asked) {
  auto name = asked.text("name");
  if (!name) return name.error();
  return one(from.meta(*name));
}

using ReadTable = Result<json::value> (*)(store::Snapshot&, const Asked&);

const std::map<std::string, ReadTable, std::less<>>& tables() {
  static const std::map<std::string, ReadTable, std::less<>> kTables = {{"state", read_state},
                                                                        {"states", scan_state},
                                                                        {"relations", list_relations},
                                                                        {"lookup", look_up},
                                                                        {"record", read_record},
                                                                        {"records", read_records},
                                                                        {"flow", read_flow},
                                                                        {"flows-open", read_open_flows},
                                                                        {"flows-newest", read_flows_newest},
                                                                        {"flows-oldest", read_flows_oldest},
                                                                        {"packed", read_packed},
                                                                        {"timers", read_timers},
                                                                        {"key", read_key},
                                                                        {"sync-set", read_sync_set},
                                                                        {"sync-sets", read_sync_sets},
                                                                        {"meta", read_meta}};
  return kTables;
}

}  // namespace

Result<json::value> Snapshots::open(uint64_t connection) {
  auto read = store_.read();
  if (!read) return read.error();
  auto held = std::make_shared<Held>();
  held->connection = connection;
  held->snapshot = *std::move(read);
  uint64_t position = held->snapshot->position();
  std::lock_guard lock(mutex_);
  if (held_.size() >= kMost) {
    return Error{.code = Code::limit,
                 .message = std::to_string(kMost) + " readers have the store open, which is all there may be",
                 .next = "wait until one has ended, then run the command again"};
  }
  held_[++last_] = std::move(held);
  return json::value(json::object{{"snapshot", last_}, {"position", position}});
}

std::shared_ptr<Snapshots::Held> Snapshots::find(uint64_t snapshot, uint64_t connection) {
  std::lock_guard lock(mutex_);
  auto found = held_.find(snapshot);
  return found == held_.end() || found->second->connection != connection ? nullptr : found->second;
}

Result<json::value> Snapshots::read(uint64_t snapshot, uint64_t connection, const std::string& table,
                                    const http::Request& request) {
  auto held = find(snapshot, connection);
  if (!held) {
    return Error{.code = Code::not_found,
                 .message = "this connection has no snapshot " + std::to_string(snapshot),
                 .next = "POST /v1/snapshots opens one"};
  }
  auto named = tables().find(table);
  if (named == tables().end()) {
    return Error{.code = Code::not_found, .message = "a snapshot has no table " + table};
  }
  std::lock_guard lock(held->reading);
  return named->second(*held->snapshot, Asked(request));
}

void Snapshots::close(uint64_t snapshot, uint64_t connection) {
  std::lock_guard lock(mutex_);
  auto found = held_.find(snapshot);
  if (found != held_.end() && found->second->connection == connection) held_.erase(found);
}

void Snapshots::close_all(uint64_t connection) {
  std::lock_guard lock(mutex_);
  std::erase_if(held_, [&](const auto& each) { return each.second->connection == connection; });
}

}  // namespace sluice::api
