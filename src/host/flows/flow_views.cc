// Each finds what is meant in one moment of the store, and tells it.
#include "host/flows/flow_views.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/clock.h"
#include "deploy/providers/runtime/local/local_host.h"
#include "deploy/views/subjects.h"
#include "engine/journal/record_reader.h"
#include "engine/journal/step.h"
#include "engine/rules/kept_set.h"
#include "host/home_store.h"
#include "host/kit_place.h"

namespace sluice::host {
namespace {

// ----------------------------------------------------------------------------------------------------------- list

Result<std::vector<ListedFlow>> read_flows(const HostReading& reading, const FlowsQuery& query) {
  if (query.limit < 1) return Error{.code = Code::invalid, .message = "limit is at least 1"};
  std::optional<Ulid> before;
  if (!query.before.empty()) {
    auto id = Ulid::parse(query.before);
    if (!id) return id.error();
    before = *id;
  }
  std::vector<ListedFlow> flows;
  auto read = reading.store.flows_newest_first(before, [&](const store::FlowRow& row) {
    if (query.since && row.id.wall_ms() < query.since->ms) return false;  // ids begin with their time
    const bool failed = row.status == store::FlowStatus::settled_failed || row.status == store::FlowStatus::stuck;
    if (query.failed && !failed) return true;
    flows.push_back({.flow = to_string(row.id),
                     .state = std::string(state_name(row.status)),
                     .action = engine::summary_text(row, "action"),
                     .caller = engine::summary_text(row, "caller"),
                     .beganAt = {.ms = row.id.wall_ms()}});
    if (row.settled_at_ms != 0) flows.back().settledAt = DateTime{.ms = row.settled_at_ms};
    if (std::string failure = failure_of(row); !failure.empty()) flows.back().failure = failure;
    return flows.size() < static_cast<size_t>(query.limit);
  });
  if (!read) return read.error();
  return flows;
}

Result<std::vector<DeadLetter>> read_dead_letters(const HostReading& reading, const NothingAsked&) {
  std::vector<DeadLetter> dead;
  auto read = reading.store.open_flows([&](const store::FlowRow& row) {
    auto text = [&](std::string_view name) { return engine::summary_text(row, name); };
    if (text("dead").empty()) return true;
    dead.push_back({to_string(row.id), text("parent"), text("sync"), text("caller"), text("dead")});
    return true;
  });
  if (!read) return read.error();
  return dead;
}

Result<std::vector<FlowUnderWay>> read_under_way(const HostReading& reading, const UnderWayQuery& query) {
  auto moving = flows_under_way(reading.store);
  if (!moving) return moving.error();
  std::set<Ulid> asked(moving->begin(), moving->end());
  for (const std::string& each : query.also) {
    auto id = Ulid::parse(each);
    if (!id) return id.error();
    asked.insert(*id);
  }
  std::vector<FlowUnderWay> flows;
  for (const Ulid& id : asked) {
    auto row = reading.store.flow(id);
    if (!row) return row.error();
    if (!*row) continue;
    flows.push_back({.flow = to_string(id),
                     .state = std::string(state_name((*row)->status)),
                     .under_way = std::ranges::find(*moving, id) != moving->end()});
  }
  return flows;
}

Result<LastChange> read_last_change(const HostReading& reading, const LastChangeQuery& query) {
  auto row = reading.store.get(query.relation, query.key);
  if (!row) return row.error();
  const Error unknown{.code = Code::not_found,
                      .message = "nobody knows who changed " + query.relation + " " + query.key};
  if (!*row) return unknown;
  auto record = reading.store.journal((*row)->seq);
  if (!record) return record.error();
  if (!*record) return unknown;
  engine::RecordReader records(reading.store);
  auto text = records.read(**record);
  if (!text) return text.error();
  auto step = engine::read_step(*text);
  if (!step) return step.error();
  auto flow = reading.store.flow((*record)->flow);
  if (!flow) return flow.error();
  if (!*flow) return unknown;
  return LastChange{.flow = to_string((*flow)->id),
                    .action = engine::summary_text(**flow, "action"),
                    .by = engine::summary_text(**flow, "caller"),
                    .at = {.ms = step->at_ms}};
}

// -------------------------------------------------------------------------------------------------- one, and why

// A view speaks in its document alone.
class Silent final : public Narrator {
 public:
  void note(std::string_view) override {}
  void detail(std::string_view) override {}
  void warn(std::string_view) override {}
  void last_words(const Error&) override {}
};

// The syncs of the kit that is named, or those that the flow goes on under, with the concepts of the kit that they are
// of; none if they are not known.
Result<std::shared_ptr<const engine::SyncSet>> syncs_of(const HostReading& reading, FlowView& flow,
                                                        const std::string& kit) {
  using Set = std::shared_ptr<const engine::SyncSet>;
  const std::string& hash = flow.row.sync_set;
  const bool named = !kit.empty();
  auto folder = named ? Result(kit) : kit_of_flow(reading.store, hash);
  if (!folder) return folder.error();
  if (folder->empty() || reading.beside == nullptr) return Set();
  Silent silent;
  Disk& disk = reading.beside->disk;
  auto place = place_of_kit(*folder, reading.beside->home, silent);
  if (!place) return place.error();
  if (named) {
    if (auto exists = must_exist(*place); !exists) return exists.error();
  }
  lang::Checked checked = check_place(*place, false, disk, silent);
  if (!checked.kit && named) return kit_has_errors(*place, checked);
  if (!checked.kit) {
    flow.notes.push_back("The kit in " + *folder + " cannot be read, so syncs that did not fire are not shown.");
    return Set();
  }
  lang::Kit concepts = checked.kit->kit();
  auto set = engine::SyncSet::compile(std::make_shared<const lang::CheckedKit>(*std::move(checked.kit)));
  if (!set) return set.error();
  if ((*set)->hash() == hash) return set;
  if (named) {
    flow.notes.push_back("The syncs in " + *folder + " are not those that this flow goes on under.");
    return set;
  }
  // The kit has changed since; what the flow goes on under is kept.
  auto kept = engine::kept_set(reading.store, hash, concepts);
  if (kept) return kept;
  flow.notes.push_back("Syncs that did not fire are not shown: " + kept.error().message + ".");
  return Set();
}

Result<FlowView> with_syncs(const HostReading& reading, const store::FlowRow& row, bool misses,
                            const std::string& kit) {
  auto flow = view_flow(reading.store, row);
  if (!flow || !misses) return flow;
  auto set = syncs_of(reading, *flow, kit);
  if (!set) return set.error();
  if (!*set) return flow;
  const engine::History& history = flow->history;
  flow->misses = engine::near_misses(**set, engine::records_of(history, **set), history.dead_ends());
  for (const auto& [at, record] : engine::open_records_of(history, **set)) {
    auto syncs = engine::awaiting(**set, *record);
    if (!syncs.empty()) flow->awaited_by[at] = std::move(syncs);
  }
  return flow;
}

Result<FlowDocument> read_one_flow(const HostReading& reading, const FlowQuery& query) {
  if (reading.position == 0) return nothing_has_run();
  auto row = find_flow(reading.store, query.flow);
  if (!row) return row.error();
  auto flow = with_syncs(reading, *row, query.misses, query.kit);
  if (!flow) return flow.error();
  return flow_document(*flow);
}

// The flow that wrote a row last; none if that is not known any more.
Result<std::optional<store::FlowRow>> flow_behind(store::Snapshot& store, const deploy::views::Subject& subject) {
  auto row = store.get(subject.relation, subject.key);
  if (!row) return row.error();
  if (!*row) return std::optional<store::FlowRow>();
  auto record = store.journal((*row)->seq);
  if (!record) return record.error();
  if (!*record) return std::optional<store::FlowRow>();
  return store.flow((*record)->flow);
}

Result<WhyDocument> why_of_subject(const HostReading& reading, deploy::views::Subject subject, const WhyQuery& query) {
  WhyDocument document{.kind = subject.kind, .id = subject.id, .name = subject.name, .said = std::move(subject.said)};
  auto row = flow_behind(reading.store, subject);
  if (!row) return row.error();
  if (!*row) return document;
  auto flow = with_syncs(reading, **row, query.rules, query.kit);
  if (!flow) return flow.error();
  document.flow = to_string((*row)->id);
  document.state = std::string(state_name((*row)->status));
  document.notes = flow->notes;
  if (store::is_open((*row)->status) || (*row)->status == store::FlowStatus::settled_failed || query.rules) {
    for (std::string& each : why_sentences(*flow, query.rules)) document.said.push_back(std::move(each));
    return document;
  }
  document.said.push_back("It was last changed at " + utc_text(flow->history.last_at_ms) + " by " +
                          engine::summary_text(**row, "caller") + " with " + engine::summary_text(**row, "action") +
                          ", flow " + *document.flow + ".");
  return document;
}

Result<WhyDocument> explain(const HostReading& reading, const WhyQuery& query) {
  if (reading.position == 0) return nothing_has_run();
  if (query.about != kLatest) {
    auto subject = deploy::views::find_subject(reading, query.about, query.customer);
    if (subject) return why_of_subject(reading, *std::move(subject), query);
    if (subject.error().code != Code::not_found) return subject.error();
  }
  auto row = find_flow(reading.store, query.about);
  if (row) {
    auto flow = with_syncs(reading, *row, query.rules, query.kit);
    if (!flow) return flow.error();
    return WhyDocument{.kind = "flow",
                       .id = to_string(row->id),
                       .flow = to_string(row->id),
                       .state = std::string(state_name(row->status)),
                       .said = why_sentences(*flow, query.rules),
                       .notes = flow->notes};
  }
  if (row.error().code != Code::not_found || query.about == kLatest) return row.error();
  auto found = find_invocation(reading.store, query.about);
  if (!found) return found.error();
  auto flow = view_flow(reading.store, found->flow);
  if (!flow) return flow.error();
  auto at = flow->history.find(found->invocation);
  if (!at) return row.error();
  return WhyDocument{.kind = "invocation",
                     .id = to_string(found->invocation),
                     .flow = to_string(found->flow.id),
                     .state = std::string(state_name(found->flow.status)),
                     .said = why_sentences(*flow, *at, query.rules)};
}

// With who leads, where several replicas of the control plane share the store.
Result<WhyDocument> read_why(const HostReading& reading, const WhyQuery& query) {
  auto document = explain(reading, query);
  const auto* programs = reading.tools.find<deploy::local_runtime::LocalHost>();
  if (document && programs != nullptr && !programs->machine().empty()) {
    document->notes.push_back("The replica " + programs->machine() + " leads.");
  }
  return document;
}

}  // namespace

Result<std::vector<Ulid>> flows_under_way(store::Snapshot& snapshot) {
  std::set<Ulid> timed;
  auto timers = snapshot.timers([&](const store::TimerRow& timer) {
    timed.insert(timer.flow);
    return true;
  });
  if (!timers) return timers.error();
  std::vector<Ulid> found;
  auto flows = snapshot.open_flows([&](const store::FlowRow& row) {
    bool moves = row.status == store::FlowStatus::running ||
                 (row.status == store::FlowStatus::waiting && timed.contains(row.id));
    if (moves) found.push_back(row.id);
    return true;
  });
  if (!flows) return flows.error();
  return found;
}

std::vector<HostView> flow_views() {
  return {lang::make_view("flows", "Flows, the newest first", read_flows),
          lang::make_view("flow", "What happened in a flow, and what it waits for", read_one_flow),
          lang::make_view("why", "Explains the state of a flow, an invocation or an object", read_why),
          lang::make_view("dead-letters", "Follow-ups that were given up", read_dead_letters),
          lang::make_view("under-way", "Flows that go on by themselves", read_under_way),
          lang::make_view("last-change", "Who changed a row last, and when", read_last_change)};
}

}  // namespace sluice::host
