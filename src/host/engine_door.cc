// A call is started, then watched until it is as far as the caller waits for.
#include "host/engine_door.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "base/json_reader.h"
#include "base/nearest.h"
#include "deploy/views/instances.h"
#include "engine/dry_run.h"
#include "engine/journal/history.h"
#include "engine/named_row.h"
#include "engine/outcome_code.h"
#include "host/access_views.h"
#include "host/approvals.h"
#include "host/background.h"
#include "host/moment.h"
#include "host/replica_logs.h"
#include "host/running_flow.h"
#include "host/seen_rows.h"

namespace sluice::host {
namespace {

constexpr size_t kPiece = size_t{1} << 18U;
constexpr std::string_view kOfWholeJournal = "audit-report";

std::optional<uint64_t> generation_in(const json::object& fields) {
  const json::value* value = fields.if_contains("generation");
  if (value == nullptr || !value->is_int64()) return std::nullopt;
  return static_cast<uint64_t>(value->get_int64());
}

// Counts the flows that follow from this one, and theirs, that have not settled.
Result<void> count_follow_ups(store::Snapshot& snapshot, const Ulid& flow, Answer& answer) {
  return snapshot.open_flows([&](const store::FlowRow& row) {
    if (row.id == flow || !engine::follows_from(snapshot, row, flow)) return true;
    ++answer.follow_ups_pending;
    if (row.status != store::FlowStatus::stuck) ++answer.follow_ups_moving;
    return true;
  });
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
                             const Beside& beside, const std::string& name, const json::object& query) {
  auto view = find_view(name);
  if (!view) return view.error();
  auto moment = Moment::of(store, blobs, concepts.tools, beside.clock.wall_ms(), &beside);
  if (!moment) return moment.error();
  auto document = (*view)->read((*moment)->reading(), query);
  if (!document) return document.error();
  return ViewAnswer{*std::move(document), (*moment)->position()};
}

EngineDoor::EngineDoor(DoorParts parts, engine::Caller caller) : parts_(std::move(parts)), caller_(std::move(caller)) {
  if (parts_.authority != nullptr && !parts_.authority->is_unbound(caller_)) {
    visible_ = std::make_unique<VisibleStore>(*parts_.store, *parts_.authority, caller_);
  }
}

engine::Caller EngineDoor::who_for(const std::string& reason) const {
  engine::Caller who = caller_;
  who.reason = reason;
  return who;
}

Result<Answer> EngineDoor::call(const Call& call, const Waiting& waiting) {
  auto action = callable(*parts_.kit, call.action);
  if (!action) return action.error();
  const lang::Symbols& symbols = parts_.kit->symbols();
  if (auto sound = engine::check_keys(symbols, *symbols.find_action(call.action), call.input); !sound) {
    return sound.error();
  }
  if ((*action)->runs == lang::Runs::query) return ask(call, **action);
  if (call.dry_run) return try_out(call);
  if (parts_.authority != nullptr && parts_.authority->may(caller_, call.action, call.input)) {
    if (auto said = check_reason(call.action, call.input, call.reason); !said) return said.error();
    if (auto needed = parts_.authority->approval_for(caller_, call.action, call.input)) {
      return ask_others(call, **action, *needed);
    }
  }
  const uint64_t before = parts_.engine->position();
  auto flow = parts_.engine->start({.action = call.action,
                                    .input = call.input,
                                    .caller = who_for(call.reason),
                                    .key = call.key,
                                    .expect_generation = call.expect_generation});
  if (!flow) return flow.error();
  if (waiting.began) waiting.began(*flow);
  auto answer = await(*flow, call.action, call.wait, waiting);
  if (answer && !answer->ended()) answer->position = before + 1;
  return answer;
}

// Where the policy wants to know why, nothing is done without a reason.
Result<void> EngineDoor::check_reason(const std::string& action, const json::object& input,
                                      const std::string& reason) const {
  if (!reason.empty() || !parts_.authority->demands_reason(caller_, action, input)) return {};
  return Error{.code = Code::invalid,
               .message = action + " must say why here; nothing was changed",
               .next = "give a reason: --reason TEXT, or reason beside the input"};
}

Result<Answer> EngineDoor::ask(const Call& call, const lang::ActionSymbol& action) {
  auto answer = parts_.engine->query(call.action, call.input, who_for(call.reason));
  if (!answer) return answer.error();
  return Answer{.action = call.action,
                .variant = answer->variant,
                .fields = answer->fields,
                .code = engine::code_of(action, answer->variant),
                .position = parts_.engine->position(),
                .generation = generation_in(answer->fields)};
}

Result<Answer> EngineDoor::try_out(const Call& call) {
  if (parts_.authority != nullptr) {
    if (auto may = parts_.authority->may(caller_, call.action, call.input); !may) {
      (void)parts_.engine->deny(who_for(call.reason), call.action);
      return may.error();
    }
  }
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
  SeenRows seen = seen_rows(**snapshot, *parts_.kit, call.action, call.input);
  return Answer{.action = call.action,
                .variant = tried->end.variant,
                .fields = tried->end.fields,
                .code = tried->code,
                .position = (*snapshot)->position(),
                .next = tried->end.next,
                .seen = std::move(seen.generations),
                .expect = seen.own};
}

// What would be refused anyway is not asked for, and no record may carry a secret.
Result<Answer> EngineDoor::ask_others(const Call& call, const lang::ActionSymbol& action,
                                      const Authority::Needed& needed) {
  const lang::Types& types = parts_.kit->symbols().types;
  if (std::ranges::any_of(action.params, [&](const auto& each) { return types.holds_sealed(each.type); })) {
    return Error{.code = Code::denied,
                 .message = call.action + " needs approval, and cannot wait for it: it carries a secret",
                 .next = "leave " + call.action + " out of the policy's approvals, or do it at the home itself"};
  }
  auto tried = try_out(call);
  if (!tried || tried->code != Code::ok) return tried;
  return ask_for_approval(*parts_.engine, *parts_.store,
                          {.requester = caller_.name,
                           .environment = needed.environment,
                           .needed = needed.people,
                           .seconds = needed.seconds},
                          call, tried->seen);
}

Result<Answer> EngineDoor::answer_of(const Ulid& flow, WaitFor wait, const Waiting& waiting) {
  auto snapshot = seen().read();
  if (!snapshot) return snapshot.error();
  auto row = (*snapshot)->flow(flow);
  if (!row) return row.error();
  if (!*row) return Error{.code = Code::not_found, .message = "there is no flow " + to_string(flow)};
  return await(flow, engine::summary_text(**row, "action"), wait, waiting);
}

Result<Answer> EngineDoor::await(const Ulid& flow, const std::string& action, WaitFor wait, const Waiting& waiting) {
  RunningFlow running(flow);
  auto stop = [&] {
    if (waiting.waits_for) waiting.waits_for(running.waits_for(parts_.clock->wall_ms()));
    return waiting.stop && waiting.stop();
  };
  Answer answer{.action = action, .variant = {}, .flow = flow};
  if (wait != WaitFor::start) {
    if (auto waited = wait_for_answer(*parts_.engine, *parts_.store, running, stop); !waited) return waited.error();
  }
  auto symbol = callable(*parts_.kit, action);
  const Code code = running.ended()
                        ? engine::code_of(symbol ? **symbol : lang::ActionSymbol(), running.ended()->end.variant)
                        : Code();
  // A call that people must agree to first is not done until they do.
  const bool now = wait <= WaitFor::answer || !running.ended() || code == Code::waiting_for_approval;
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
  answer.code = code;
  auto snapshot = parts_.store->read();
  if (!snapshot) return snapshot.error();
  if (auto counted = count_follow_ups(**snapshot, flow, answer); !counted) return counted.error();
  return answer;
}

Result<ViewAnswer> EngineDoor::view(const std::string& name, const json::object& query) {
  // Of a journal with gaps nobody could say whether it is whole.
  if (name == kOfWholeJournal && visible_) {
    if (auto may = parts_.authority->may_globally(caller_, "administer", "verify the journal"); !may)
      return may.error();
  }
  if (const AccessView* about = parts_.authority != nullptr ? find_access_view(name) : nullptr) {
    auto document = about->read({*parts_.authority, caller_, *parts_.store}, query);
    if (!document) return document.error();
    if (parts_.engine != nullptr) return ViewAnswer{*std::move(document), parts_.engine->position()};
    auto now = parts_.store->read();
    if (!now) return now.error();
    return ViewAnswer{*std::move(document), (*now)->position()};
  }
  return read_view(seen(), parts_.blobs, *parts_.concepts, {*parts_.disk, *parts_.home, *parts_.clock}, name, query);
}

Result<Decided> EngineDoor::decide(engine::Decision decision, const Waiting& waiting) {
  const Ulid flow = decision.flow;
  const json::object about = {{"flow", to_string(flow)}};
  if (parts_.authority != nullptr && parts_.authority->may(caller_, "Flow/decide", about)) {
    if (auto said = check_reason("Flow/decide", about, decision.caller.reason); !said) return said.error();
  }
  decision.caller = who_for(decision.caller.reason);
  auto position = parts_.engine->decide(std::move(decision));
  if (!position) return position.error();
  return decided(flow, *position, waiting);
}

Result<Decided> EngineDoor::decided(const Ulid& flow, uint64_t position, const Waiting& waiting) {
  Decided decided{.position = position};
  if (flow != Ulid()) {
    auto state = parts_.engine->wait(flow, engine::Engine::Until::quiet,
                                     [&] { return parts_.engine->trouble() || (waiting.stop && waiting.stop()); });
    if (!state) return state.error();
    decided.state = *state;
  }
  decided.trouble = parts_.engine->trouble();
  return decided;
}

Result<std::string> EngineDoor::put(File& file, const std::string& reason) {
  auto digest = crypto::sha256(file);
  if (!digest) return digest.error();
  uint64_t at = 0;
  auto done = put(
      *digest,
      [&](std::string& piece) -> Result<bool> {
        piece.resize(kPiece);
        auto got = file.read_at(at, piece);
        if (!got) return got.error();
        piece.resize(*got);
        at += *got;
        return *got > 0;
      },
      reason);
  if (!done) return done.error();
  return crypto::to_string(*digest);
}

Result<void> EngineDoor::put(const crypto::Sha256& digest, const std::function<Result<bool>(std::string& piece)>& next,
                             const std::string& reason) {
  auto incoming = parts_.uploads->begin();
  if (!incoming) return incoming.error();
  std::string piece;
  while (true) {
    auto more = next(piece);
    if (!more) return more.error();
    if (!*more) break;
    if (auto added = (*incoming)->add(piece); !added) return added;
  }
  const uint64_t bytes = (*incoming)->bytes();
  if (auto kept = (*incoming)->finish(digest); !kept) return kept;
  auto recorded = parts_.engine->record_put(who_for(reason), crypto::to_string(digest), bytes);
  if (!recorded) return recorded.error();
  return {};
}

Result<void> EngineDoor::follow(uint64_t from, const std::function<bool(const engine::Step&)>& visit,
                                const std::function<bool()>& stop) {
  std::optional<Error> unreadable;
  auto watched = parts_.engine->watch(
      from,
      [&](const store::JournalRow& row) {
        if (visible_ && !visible_->sees(row)) return true;
        auto step = engine::read_step(row.record);
        if (!step) unreadable = step.error();
        return step && visit(*step);
      },
      stop);
  if (unreadable) return *unreadable;
  return watched;
}

Result<void> EngineDoor::read_logs(const LogAsk& ask, const VisitLine& visit, const std::function<bool()>& stop) {
  auto reading = open_logs(ask);
  return reading ? read_on(**reading, visit, stop) : Result<void>(reading.error());
}

Result<std::unique_ptr<LogReading>> EngineDoor::open_logs(const LogAsk& ask) {
  if (!visible_) return LogReading::open(*this, *parts_.disk, ask);
  for (const std::string& name : ask.names) {  // what they may not see is not there
    auto seen = view("replicas", {{"name", name}, {"customer", ask.customer}});
    if (!seen) return seen.error();
  }
  // Who may deploy to an environment may read what runs there.
  DoorParts all = parts_;
  all.authority = nullptr;
  whole_ = std::make_unique<EngineDoor>(all, caller_);
  auto may = [this](const std::string& instance) -> Result<void> {
    auto verdict = parts_.authority->judge_right(caller_, "deploy", "logs", "Runtime/show", {{"instance", instance}});
    if (verdict.allowed) return {};
    (void)parts_.engine->deny(caller_, "logs");
    return Error{.code = Code::denied, .message = caller_.name + " may not read these logs: " + verdict.why};
  };
  return LogReading::open(*whole_, *parts_.disk, ask, may);
}

Result<std::string> EngineDoor::enter(const ExecAsk& ask) {
  if (ask.command.empty()) return Error{.code = Code::invalid, .message = "there is no command to run"};
  auto shown = view("replicas", {{"name", ask.name}, {"customer", ask.customer}, {"leading", true}});
  if (!shown) return shown.error();
  auto replicas = sluice::read<std::vector<deploy::views::ReplicaView>>(shown->document);
  if (!replicas) return replicas.error();
  if (replicas->empty()) return Error{.code = Code::not_found, .message = ask.name + " has no replica that runs"};
  auto chosen = std::ranges::find(*replicas, true, &deploy::views::ReplicaView::healthy);
  if (chosen == replicas->end()) chosen = replicas->begin();
  // The arguments are not written down: they may hold secrets.
  auto may =
      call({.action = "Runtime/enter",
            .input = {{"instance", chosen->instance}, {"replica", chosen->replica}, {"program", ask.command.front()}},
            .reason = ask.reason});
  if (!may) return may.error();
  if (may->code != Code::ok || !may->ended()) {
    const std::string message = may->text("message");
    return Error{.code = may->ended() ? may->code : Code::unavailable,
                 .message = message.empty() ? "Runtime/enter ended in " + may->variant : message};
  }
  return chosen->replica;
}

Result<int> EngineDoor::exec(const ExecAsk& ask, const ExecEnds&) {
  auto replicas = local_replicas(*parts_.concepts);
  if (!replicas) return replicas.error();
  auto replica = enter(ask);
  if (!replica) return replica.error();
  return (*replicas)->exec(*replica, ask.command);
}

}  // namespace sluice::host
