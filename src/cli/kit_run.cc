// The engine runs in this process for as long as the command does. What it has not done by then is in the store, and
// the next command that runs something goes on with it.
#include "cli/kit_run.h"

#include <algorithm>
#include <boost/json.hpp>
#include <istream>
#include <set>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/ulid.h"
#include "cli/action_input.h"
#include "cli/call_words.h"
#include "cli/context.h"
#include "cli/flow_view.h"
#include "cli/opening.h"
#include "cli/patience.h"
#include "engine/history.h"
#include "engine/outcome_code.h"
#include "host/home_engine.h"
#include "host/kit_place.h"
#include "host/kit_reload.h"
#include "host/kit_watch.h"
#include "host/loaded_concepts.h"

namespace sluice::cli {
namespace {

constexpr size_t kMaxInputBytes = size_t{8} << 20U;

// ------------------------------------------------------------------------------------------------------ the call

struct KitCall {
  CalledAction called;
  json::object input;
  bool query = false;
};

Result<std::string> input_text(Context& context, const std::string& file) {
  if (file != "-") return read_file(context.disk, file, kMaxInputBytes);
  std::string text;
  std::vector<char> part(size_t{1} << 16U);
  while (context.in.read(part.data(), static_cast<std::streamsize>(part.size())) || context.in.gcount() > 0) {
    text.append(part.data(), static_cast<size_t>(context.in.gcount()));
    if (text.size() > kMaxInputBytes) {
      return Error{.code = Code::limit, .message = "the input is larger than 8 MiB"};
    }
  }
  return text;
}

Result<KitCall> read_call(Context& context, const lang::CheckedKit& kit, const host::LoadedConcepts& loaded) {
  auto called = find_action(kit.symbols(), context.given.text("action"));
  if (!called) return called.error();
  const std::string& owner = kit.symbols().concepts[called->ref.concept_].name;
  const lang::ConceptBinding* binding = loaded.find(owner);
  if (binding == nullptr) {
    std::string known;
    for (const lang::ConceptBinding* each : loaded.concepts) known += (known.empty() ? "" : ", ") + each->name;
    return Error{.code = Code::unavailable,
                 .message = "this program has no handlers for " + owner + ", so " + called->name() + " cannot run",
                 .next = known.empty() ? "" : "it can run the concepts " + known};
  }
  std::vector<std::string> words = context.given.texts("values");
  std::string file = context.given.text("input");
  if (!words.empty() && !file.empty()) {
    return Error{.code = Code::usage, .message = "give name=value or --input, not both"};
  }
  Result<json::object> input = json::object();
  if (file.empty()) {
    input = input_from_words(*called, words);
  } else {
    auto text = input_text(context, file);
    if (!text) return text.error();
    input = input_from_text(*called, *text, file == "-" ? "stdin" : file);
  }
  if (!input) return input.error();
  const lang::ActionBinding* handler = binding->action(called->action().name);
  if (auto fits = handler->check(*input); !fits) {
    Error error = fits.error();
    error.message = "the arguments of " + called->name() + " do not fit: " + error.message;
    return error;
  }
  return KitCall{*called, *std::move(input), called->action().runs == lang::Runs::query};
}

// -------------------------------------------------------------------------------------------------------- telling

Style style_of(Code code, bool engine_outcome) {
  if (code == Code::ok) return Style::good;
  return engine_outcome ? Style::bad : Style::warning;
}

// "ok  order=01J… count=2", and below it what a program said last, a line each.
std::string outcome_line(const std::string& variant, const json::object& fields, Code code, const Terminal& terminal) {
  std::string line = terminal.paint(style_of(code, variant.starts_with("engine.")), variant);
  std::string said;
  const char* gap = "  ";
  for (const auto& field : fields) {
    if (field.key() == "lastLines" && field.value().is_array()) {
      for (const json::value& each : field.value().get_array()) {
        if (each.is_string()) said += "  " + printable(std::string_view(each.get_string())) + "\n";
      }
      continue;
    }
    std::string text =
        field.value().is_string() ? printable(std::string_view(field.value().get_string())) : write(field.value());
    line += gap + std::string(field.key()) + "=" + text;
    gap = " ";
  }
  return line + "\n" + said;
}

// The call has no answer, and this process cannot get one.
Result<Code> left_open(Context& context, host::HomeEngine& home, const host::RunningFlow& flow) {
  std::string id = to_string(flow.id());
  auto status = home.engine().wait(flow.id(), engine::Engine::Until::quiet);
  if (!status) return status.error();
  if (*status == store::FlowStatus::stuck) {
    return Error{.code = Code::conflict,
                 .message = "flow " + id + " stands still: it does not fit this program's concepts any more",
                 .next = "sluice why " + id};
  }
  std::string waits_for = flow.waits_for(home.clock().wall_ms());
  json::object shown{{"flow", id}, {"invocation", id}, {"state", state_name(*status)}, {"waitsFor", waits_for}};
  context.output.print(shown, [&](const Terminal& terminal) {
    return terminal.paint(Style::accent, "waiting") + "  for " + waits_for + "\n";
  });
  context.output.note("flow " + id + ", " + std::string(state_name(*status)) + "; next: sluice why " + id);
  return Code::waiting_for_approval;
}

engine::Engine::Until until_of(const std::string& wait) {
  if (wait == "all") return engine::Engine::Until::all;
  if (wait == "settled") return engine::Engine::Until::settled;
  return engine::Engine::Until::quiet;
}

Result<Code> ask(Context& context, host::HomeEngine& home, const KitCall& call) {
  auto answer = home.engine().query(call.called.name(), call.input, home.caller());
  if (!answer) return answer.error();
  Code code = engine::code_of(call.called.action(), answer->variant);
  json::object shown{{"variant", answer->variant}, {"fields", answer->fields}};
  context.output.print(
      shown, [&](const Terminal& terminal) { return outcome_line(answer->variant, answer->fields, code, terminal); });
  return code;
}

// Follow-up flows of this one, and theirs, that have not settled.
struct FollowUps {
  size_t pending = 0;
  bool moving = false;  // one of them goes on by itself: it is no dead letter
};

Result<FollowUps> follow_ups_of(store::Store& store, const Ulid& flow) {
  auto snapshot = store.read();
  if (!snapshot) return snapshot.error();
  FollowUps found;
  auto read = (*snapshot)->open_flows([&](const store::FlowRow& row) {
    if (!engine::follows_from(**snapshot, row, flow)) return true;
    ++found.pending;
    found.moving = found.moving || row.status != store::FlowStatus::stuck;
    return true;
  });
  if (!read) return read.error();
  return found;
}

Result<Code> invoke(Context& context, host::HomeEngine& home, const KitCall& call, const host::StopSignal& stop,
                    host::KitReload& reload, const std::string& kit) {
  std::optional<uint64_t> generation;
  if (auto given = context.given.number("expect-generation")) generation = static_cast<uint64_t>(*given);
  CallWords words(context.given, home);
  auto key = words.key();
  if (!key) return key.error();
  auto started = home.engine().start({.action = call.called.name(),
                                      .input = call.input,
                                      .caller = home.caller(),
                                      .key = *key,
                                      .expect_generation = generation});
  if (!started) return words.unheard(started.error());
  const Ulid id = started->flow;
  context.output.detail("flow: " + to_string(id));
  host::RunningFlow flow(id, started->ended);
  Patience patience(context, home.clock(), stop);
  if (home.here() != nullptr) patience.meanwhile([&] { reload.look(*home.here()); });
  if (auto waited = wait_for_answer(home, words, flow, patience); !waited) return waited.error();
  auto trouble = flow.ended() ? std::nullopt : home.engine().trouble();
  if (trouble) {
    patience.done();
    return words.kept_for_now(*trouble, id, kit);
  }
  if (!flow.ended()) {
    patience.done();
    if (patience.stopped()) return words.stopped_early(id, kit);
    return left_open(context, home, flow);
  }
  patience.waits_for("what follows from it");
  const engine::Engine::Until until = until_of(context.given.text("wait"));
  auto status = home.engine().wait(id, until, [&] { return patience.ends() || home.engine().trouble(); });
  patience.done();
  auto follow_ups = status ? follow_ups_of(home.store(), id) : Result<FollowUps>(status.error());
  if (!follow_ups && home.here() == nullptr) return words.broke_off(follow_ups.error(), id);
  if (!follow_ups) return follow_ups.error();
  // Whether what --wait asks for has not come; the answer has.
  bool awaited =
      (until != engine::Engine::Until::quiet && store::is_open(*status) && *status != store::FlowStatus::stuck) ||
      (until == engine::Engine::Until::all && follow_ups->moving);
  trouble = home.engine().trouble();
  if (trouble && !awaited && store::is_open(*status)) {
    context.output.note(words.kept_for_now(*trouble, id, kit).message, Style::warning);
  }

  const engine::End& end = flow.ended()->end;
  Code code = engine::code_of(call.called.action(), end.variant);
  json::object shown{{"flow", to_string(id)},        {"invocation", to_string(id)},
                     {"variant", end.variant},       {"fields", end.fields},
                     {"maybeDone", end.maybe_done},  {"position", flow.ended()->position},
                     {"state", state_name(*status)}, {"followUpsPending", follow_ups->pending}};
  context.output.print(shown,
                       [&](const Terminal& terminal) { return outcome_line(end.variant, end.fields, code, terminal); });
  if (end.maybe_done) context.output.note("It may have been done all the same, or in part.", Style::warning);
  std::string state(state_name(*status));
  if (follow_ups->pending > 0) state += ", " + host::counted(follow_ups->pending, "follow-up") + " pending";
  context.output.note("flow " + to_string(id) + ", " + state + "; next: sluice flow trace " + to_string(id));
  if (awaited && trouble) return words.kept_for_now(*trouble, id, kit);
  if (awaited && patience.stopped()) return words.stopped_early(id, kit);
  if (store::is_open(*status) || follow_ups->moving) {
    context.output.note("It is not done; " + words.goes_on(kit) + ".");
  }
  return code;
}

// ------------------------------------------------------------------------------------------------------- going on

Result<Code> go_on(Context& context, host::HomeEngine& home, const host::StopSignal& stop, host::KitReload& reload,
                   const std::string& kit) {
  constexpr int64_t kLook_ms = 100;
  const CallWords words(context.given, home);
  Patience patience(context, home.clock(), stop);
  if (home.here() != nullptr) patience.meanwhile([&] { reload.look(*home.here()); });
  // What was due when the engine started may be done by now.
  std::set<Ulid> seen(home.found_under_way().begin(), home.found_under_way().end());
  std::unique_ptr<store::Snapshot> snapshot;
  while (true) {
    uint64_t position = home.engine().position();
    auto read = home.store().read();
    if (!read) return read.error();
    snapshot = *std::move(read);
    auto under_way = host::flows_under_way(*snapshot);
    if (!under_way) return under_way.error();
    seen.insert(under_way->begin(), under_way->end());
    if (under_way->empty()) break;
    patience.waits_for(host::counted(under_way->size(), "flow"));
    if (patience.ends()) {
      patience.done();
      return words.stopped_early(under_way->front(), kit);
    }
    if (auto trouble = home.engine().trouble()) {
      patience.done();
      return words.kept_for_now(*trouble, under_way->front(), kit);
    }
    snapshot.reset();
    home.engine().wait_for(position + 1, kLook_ms);
  }
  patience.done();
  json::array shown;
  std::string text;
  for (const Ulid& id : seen) {
    auto row = snapshot->flow(id);
    if (!row) return row.error();
    if (!*row) continue;
    std::string state(state_name((*row)->status));
    shown.push_back(json::object{{"flow", to_string(id)}, {"state", state}});
    text += to_string(id) + "  " + state + "\n";
  }
  context.output.print(shown, [&](const Terminal&) { return text; });
  context.output.note(seen.empty() ? "Nothing was left to do." : "Nothing is left to do.");
  return Code::ok;
}

Result<Code> run_kit(Context& context) {
  const host::LoadedConcepts& loaded = concepts_of(context);
  std::string name = context.given.text("kit");
  auto place = kit_place_of(context, name);
  if (!place) return place.error();
  if (auto exists = host::must_exist(*place); !exists) return exists.error();
  host::KitReload reload(context.disk, context.output, *place, loaded);
  auto kit = reload.first();
  if (!kit) return kit.error();

  std::optional<KitCall> call;
  if (context.given.has("action")) {
    auto read = read_call(context, **kit, loaded);
    if (!read) return read.error();
    call.emplace(*std::move(read));
  }
  // Before the engine's threads are made, which are not to take the signal; gone before the engine is, so that a second
  // Ctrl-C does not wait for effects under way.
  std::optional<host::StopSignal> stop(std::in_place);
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  auto home = host::HomeEngine::start(*opening, *kit, place->folder);
  if (!home) return home.error();
  Result<Code> done = !call         ? go_on(context, **home, *stop, reload, name)
                      : call->query ? ask(context, **home, *call)
                                    : invoke(context, **home, *call, *stop, reload, name);
  stop.reset();
  return done;
}

}  // namespace

Command kit_run_command() {
  return {
      .name = "kit run",
      .summary = "Run an action of a kit, and what follows from it",
      .details =
          "For instance: sluice kit run examples/kits/orders Stock/add item=tea count=5. Values are text, or JSON "
          "where "
          "the action wants a number, true or false, a list or a record. A query is only asked.\n\n"
          "Every step is durable before it counts. Whatever ends the command, kill -9 too, the flow is kept, and the "
          "next kit run of the home goes on with it; without an action that is all it does, until nothing moves any "
          "more.\n\n"
          "While it waits, a .sync file of the kit that changes is checked and loaded: flows that begin then run under "
          "the new syncs, those that began keep theirs, and guards bind them all. One with errors is left out, and the "
          "rules that run go on.\n\n"
          "The exit code is that of the outcome: what the variant's @code says, else 0 for ok and 1 for others. The "
          "engine's own outcomes: refused 7, denied 4, conflict and needsMigration 6, timeout 8, all others 1. A flow "
          "that only people can move on exits with 10.",
      .args = {{.name = "kit", .help = "the kit's folder, or its name", .kind = Kind::path},
               {.name = "action", .help = "as Concept/action; without it, go on with what is open", .optional = true},
               {.name = "values", .help = "its arguments, as name=value", .optional = true, .repeated = true}},
      .options =
          {{.name = "input", .value = "FILE", .help = "the arguments as a JSON object; - is stdin", .kind = Kind::path},
           {.name = "wait",
            .value = "FOR",
            .help = "return with the answer, when the flow is settled, or its follow-ups too",
            .choices = {"answer", "settled", "all"},
            .fallback = "answer"},
           {.name = "idempotency-key", .value = "KEY", .help = "a second call with this key joins the first"},
           {.name = "reason", .value = "TEXT", .help = "why, for the audit"},
           {.name = "expect-generation",
            .value = "N",
            .help = "refuse if the row that the first argument names has another generation",
            .kind = Kind::count},
           lock_timeout_option()},
      .example = "sluice kit run tasks",
      .run = run_kit};
}

}  // namespace sluice::cli
