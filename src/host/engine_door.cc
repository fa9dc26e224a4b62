// A call is started, then watched until it is as far as the caller waits for.
#include "host/engine_door.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/nearest.h"
#include "engine/dry_run.h"
#include "engine/history.h"
#include "engine/outcome_code.h"
#include "host/engine_link.h"
#include "host/moment.h"
#include "host/running_flow.h"

namespace sluice::host {
namespace {

std::optional<uint64_t> generation_in(const json::object& fields) {
  const json::value* value = fields.if_contains("generation");
  if (value == nullptr || !value->is_int64()) return std::nullopt;
  return static_cast<uint64_t>(value->get_int64());
}

// Flows that follow from this one, and theirs, that have not settled.
Result<uint64_t> pending_after(store::Snapshot& snapshot, const Ulid& flow) {
  uint64_t pending = 0;
  auto read = snapshot.open_flows([&](const store::FlowRow& row) {
    if (row.id != flow && engine::follows_from(snapshot, row, flow)) ++pending;
    return true;
  });
  if (!read) return read.error();
  return pending;
}

}  // namespace

Result<const lang::ActionSymbol*> callable(const lang::CheckedKit& kit, const std::string& action) {
  const lang::Symbols& symbols = kit.symbols();
  auto found = symbols.find_action(action);
  if (found && !symbols.concepts[found->concept_].built_in) return &symbols.action(*found);
  std::vector<std::string> names;
  for (const lang::ConceptSymbol& owner : symbols.concepts) {
    for (const lang::ActionSymbol& each : owner.actions) {
      if (!owner.built_in) names.push_back(owner.name + "/" + each.name);
    }
  }
  auto near = nearest(action, std::span<const std::string>(names));
  return Error{.code = Code::not_found,
               .message = "there is no action " + action + (near ? "; did you mean " + *near + "?" : ""),
               .next = "sluice kit show"};
}

Result<ViewAnswer> read_view(store::Store& store, store::BlobStore* blobs, const LoadedConcepts& concepts,
                             int64_t now_ms, const std::string& name, const json::object& query) {
  auto view = find_view(name);
  if (!view) return view.error();
  auto moment = Moment::of(store, blobs, concepts.tools, now_ms);
  if (!moment) return moment.error();
  auto document = (*view)->read((*moment)->reading(), query);
  if (!document) return document.error();
  return ViewAnswer{*std::move(document), (*moment)->position()};
}

Result<Answer> EngineDoor::call(const Call& call, const Waiting& waiting) {
  auto action = callable(*parts_.kit, call.action);
  if (!action) return action.error();
  if ((*action)->runs == lang::Runs::query) return ask(call, **action);
  if (call.dry_run) return try_out(call);
  auto flow = parts_.engine->start({.action = call.action,
                                    .input = call.input,
                                    .caller = {.name = caller_, .reason = call.reason},
                                    .key = call.key,
                                    .expect_generation = call.expect_generation});
  if (!flow) return flow.error();
  return await(*flow, call.action, call.wait, waiting);
}

Result<Answer> EngineDoor::ask(const Call& call, const lang::ActionSymbol& action) {
  auto answer = parts_.engine->query(call.action, call.input, {.name = caller_, .reason = call.reason});
  if (!answer) return answer.error();
  return Answer{.action = call.action,
                .variant = answer->variant,
                .fields = answer->fields,
                .code = engine::code_of(action, answer->variant),
                .position = parts_.engine->position(),
                .generation = generation_in(answer->fields)};
}

Result<Answer> EngineDoor::try_out(const Call& call) {
  auto snapshot = parts_.store->read();
  if (!snapshot) return snapshot.error();
  auto indexed = indexed_fields_of(**snapshot);
  if (!indexed) return indexed.error();
  auto tried = engine::dry_run({.store = *parts_.store,
                                .blobs = parts_.blobs,
                                .indexed = **indexed,
                                .kit = parts_.kit,
                                .concepts = parts_.concepts->concepts,
                                .now_ms = parts_.clock->wall_ms()},
                               call.action, call.input);
  if (!tried) return tried.error();
  return Answer{.action = call.action,
                .variant = tried->end.variant,
                .fields = tried->end.fields,
                .code = tried->code,
                .position = (*snapshot)->position(),
                .next = tried->end.next};
}

Result<Answer> EngineDoor::answer_of(const Ulid& flow, WaitFor wait, const Waiting& waiting) {
  auto snapshot = parts_.store->read();
  if (!snapshot) return snapshot.error();
  auto row = (*snapshot)->flow(flow);
  if (!row) return row.error();
  if (!*row) return Error{.code = Code::not_found, .message = "there is no flow " + to_string(flow)};
  return await(flow, engine::summary_text(**row, "action"), wait, waiting);
}

Result<Answer> EngineDoor::await(const Ulid& flow, const std::string& action, WaitFor wait, const Waiting& waiting) {
  LocalLink link(*parts_.engine, *parts_.store, parts_.kit);
  RunningFlow running(flow);
  auto stop = [&] {
    if (waiting.waits_for) waiting.waits_for(running.waits_for(parts_.clock->wall_ms()));
    return waiting.stop && waiting.stop();
  };
  Answer answer{.action = action, .variant = {}, .flow = flow};
  if (wait != WaitFor::start) {
    if (auto waited = wait_for_answer(link, running, stop); !waited) return waited.error();
  }
  const bool now = wait <= WaitFor::answer || !running.ended();
  const auto until = wait == WaitFor::all ? engine::Engine::Until::all : engine::Engine::Until::settled;
  auto state = parts_.engine->wait(flow, until, [&] { return now || stop() || parts_.engine->trouble(); });
  if (!state) return state.error();
  answer.state = *state;
  answer.trouble = parts_.engine->trouble();
  answer.waits_for = running.waits_for(parts_.clock->wall_ms());
  if (!running.ended()) return answer;
  const engine::End& end = running.ended()->end;
  answer.variant = end.variant;
  answer.fields = end.fields;
  answer.maybe_done = end.maybe_done;
  answer.next = end.next;
  answer.position = running.ended()->position;
  answer.generation = generation_in(end.fields);
  auto symbol = callable(*parts_.kit, action);
  answer.code = engine::code_of(symbol ? **symbol : lang::ActionSymbol(), end.variant);
  auto snapshot = parts_.store->read();
  auto pending = snapshot ? pending_after(**snapshot, flow) : Result<uint64_t>(snapshot.error());
  if (!pending) return pending.error();
  answer.follow_ups_pending = *pending;
  return answer;
}

Result<ViewAnswer> EngineDoor::view(const std::string& name, const json::object& query) {
  return read_view(*parts_.store, parts_.blobs, *parts_.concepts, parts_.clock->wall_ms(), name, query);
}

Result<uint64_t> EngineDoor::decide(engine::Decision decision) {
  decision.caller.name = caller_;
  return parts_.engine->decide(std::move(decision));
}

Result<void> EngineDoor::follow(uint64_t from, const std::function<bool(const engine::Step&)>& visit,
                                const std::function<bool()>& stop) {
  std::optional<Error> unreadable;
  auto watched = parts_.engine->watch(
      from,
      [&](const store::JournalRow& row) {
        auto step = engine::read_step(row.record);
        if (!step) unreadable = step.error();
        return step && visit(*step);
      },
      stop);
  if (unreadable) return *unreadable;
  return watched;
}

}  // namespace sluice::host
