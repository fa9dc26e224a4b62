// A snapshot's rows come in pages; what visits them never waits for more than the next.
#include "host/remote_store.h"

#include <boost/json.hpp>

#include "host/exchange.h"
#include "host/row_json.h"

namespace sluice::host {
namespace {

Error only_read() { return {.code = Code::unavailable, .message = "the store of another process can only be read"}; }

Error not_a_page() { return {.code = Code::failed, .message = "the server answered with what is no page of rows"}; }

class RemoteSnapshot final : public store::Snapshot {
 public:
  RemoteSnapshot(std::unique_ptr<http::Client> client, std::string number, uint64_t position)
      : client_(std::move(client)), number_(std::move(number)), position_(position) {}

  uint64_t position() const override { return position_; }

  Result<std::optional<store::StateRow>> get(std::string_view rel, std::string_view key) override {
    return one<store::StateRow>("state", {{"rel", std::string(rel)}, {"key", std::string(key)}});
  }
  Result<void> scan(std::string_view rel, std::string_view prefix,
                    const store::Visit<store::StateRow>& visit) override {
    return all<store::StateRow>("states", {{"rel", std::string(rel)}, {"prefix", std::string(prefix)}}, visit);
  }
  Result<void> relations(const store::Visit<std::string>& visit) override {
    return all<std::string>("relations", {}, visit);
  }
  Result<void> lookup(std::string_view rel, std::string_view field, std::string_view value,
                      const store::Visit<std::string>& visit) override {
    http::Query query = {{"rel", std::string(rel)}, {"field", std::string(field)}, {"value", std::string(value)}};
    return all<std::string>("lookup", std::move(query), visit);
  }
  Result<std::optional<store::JournalRow>> journal(uint64_t seq) override {
    return one<store::JournalRow>("record", {{"seq", std::to_string(seq)}});
  }
  Result<void> journal_from(uint64_t seq, const store::Visit<store::JournalRow>& visit) override {
    auto next = [](const store::JournalRow& last) { return http::Query{{"from", std::to_string(last.seq + 1)}}; };
    return all<store::JournalRow>("records", {{"from", std::to_string(seq)}}, visit, next);
  }
  Result<std::optional<store::FlowRow>> flow(const Ulid& id) override {
    return one<store::FlowRow>("flow", {{"id", to_string(id)}});
  }
  Result<void> open_flows(const store::Visit<store::FlowRow>& visit) override {
    return all<store::FlowRow>("flows-open", {}, visit);
  }
  Result<void> flows_newest_first(std::optional<Ulid> before, const store::Visit<store::FlowRow>& visit) override {
    auto next = [](const store::FlowRow& last) { return http::Query{{"before", to_string(last.id)}}; };
    http::Query query;
    if (before) query = {{"before", to_string(*before)}};
    return all<store::FlowRow>("flows-newest", std::move(query), visit, next);
  }
  Result<void> flows_oldest_first(std::optional<Ulid> after, const store::Visit<store::FlowRow>& visit) override {
    auto next = [](const store::FlowRow& last) { return http::Query{{"after", to_string(last.id)}}; };
    http::Query query;
    if (after) query = {{"after", to_string(*after)}};
    return all<store::FlowRow>("flows-oldest", std::move(query), visit, next);
  }
  Result<std::optional<std::string>> packed(const Ulid& flow) override {
    return one<std::string>("packed", {{"id", to_string(flow)}});
  }
  Result<void> timers(const store::Visit<store::TimerRow>& visit) override {
    return all<store::TimerRow>("timers", {}, visit);
  }
  Result<std::optional<store::KeyRow>> key(std::string_view caller, std::string_view key) override {
    return one<store::KeyRow>("key", {{"caller", std::string(caller)}, {"key", std::string(key)}});
  }
  Result<std::optional<std::string>> sync_set(std::string_view hash) override {
    return one<std::string>("sync-set", {{"hash", std::string(hash)}});
  }
  Result<void> sync_sets(const store::Visit<std::string>& visit) override {
    return all<std::string>("sync-sets", {}, visit);
  }
  Result<std::optional<std::string>> meta(std::string_view name) override {
    return one<std::string>("meta", {{"name", std::string(name)}});
  }

 private:
  Result<json::object> read(const std::string& table, const http::Query& query) {
    auto body = ask(*client_, host::get({"v1", "snapshots", number_, table}, query));
    if (!body) return body.error();
    if (!body->is_object()) return not_a_page();
    return std::move(body->get_object());
  }

  template <typename Row>
  Result<std::optional<Row>> one(const std::string& table, const http::Query& query) {
    auto body = read(table, query);
    if (!body) return body.error();
    const json::value* found = body->if_contains("row");
    if (found == nullptr) return not_a_page();
    if (found->is_null()) return std::optional<Row>();
    Row row;
    if (auto known = from_json(*found, row); !known) return known.error();
    return std::optional<Row>(std::move(row));
  }

  // `next` says how the page after this row is asked for; without it, by how many rows there were.
  template <typename Row>
  Result<void> all(const std::string& table, http::Query query, const store::Visit<Row>& visit,
                   const std::function<http::Query(const Row&)>& next = {}) {
    const http::Query first = query;
    uint64_t seen = 0;
    while (true) {
      auto body = read(table, query);
      if (!body) return body.error();
      const json::value* rows = body->if_contains("rows");
      const json::value* more = body->if_contains("more");
      if (rows == nullptr || !rows->is_array() || more == nullptr || !more->is_bool()) return not_a_page();
      Row row;
      for (const json::value& each : rows->get_array()) {
        row = Row();
        if (auto known = from_json(each, row); !known) return known;
        if (!visit(row)) return {};
        ++seen;
      }
      if (!more->get_bool() || rows->get_array().empty()) return {};
      query = next ? next(row) : first;
      if (!next) query.emplace_back("skip", std::to_string(seen));
    }
  }

  std::unique_ptr<http::Client> client_;  // the snapshot ends with its connection
  std::string number_;
  uint64_t position_;
};

}  // namespace

Result<std::unique_ptr<store::Snapshot>> RemoteStore::read() {
  auto client = http::Client::to_unix(socket_, clock_);
  if (!client) {
    return Error{.code = Code::unavailable,
                 .message = "sluice serve does not answer any more: " + client.error().message,
                 .next = "run the command again"};
  }
  auto opened = ask(**client, post({"v1", "snapshots"}, json::object(), {{"for", purpose_}}));
  if (!opened) return opened.error();
  const json::object* object = opened->if_object();
  const json::value* number = object == nullptr ? nullptr : object->if_contains("snapshot");
  const json::value* position = object == nullptr ? nullptr : object->if_contains("position");
  if (number == nullptr || !number->is_int64() || position == nullptr || !position->is_int64()) return not_a_page();
  return std::unique_ptr<store::Snapshot>(new RemoteSnapshot(*std::move(client), std::to_string(number->get_int64()),
                                                             static_cast<uint64_t>(position->get_int64())));
}

Result<void> RemoteStore::commit(const store::Batch&) { return only_read(); }
Result<void> RemoteStore::pack(const std::vector<store::PackedFlow>&) { return only_read(); }
Result<void> RemoteStore::forget(int64_t, const std::vector<std::string>&) { return only_read(); }
Result<void> RemoteStore::back_up(const std::string&) { return only_read(); }

}  // namespace sluice::host
