// Where no `sluice serve` runs, the engine runs in this process for as long as the command does. What it has not done
// by then is in the store, and the next command that runs something goes on with it.
#include "cli/nouns/kit/kit_run.h"

#include <algorithm>
#include <boost/json.hpp>
#include <istream>
#include <set>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/ulid.h"
#include "cli/action_input.h"
#include "cli/call_words.h"
#include "cli/context.h"
#include "cli/opening.h"
#include "cli/outputs.h"
#include "cli/patience.h"
#include "host/flow_rows.h"
#include "host/flows/flow_views.h"
#include "host/home_door.h"
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
Result<Code> left_open(Context& context, const host::Answer& answer) {
  const std::string id = to_string(*answer.flow);
  if (answer.state == store::FlowStatus::stuck) {
    return Error{.code = Code::conflict,
                 .message = "flow " + id + " stands still: it does not fit this program's concepts any more",
                 .next = "sluice why " + id};
  }
  const std::string state(answer.state ? host::state_name(*answer.state) : "");
  const outputs::CallOpen shown{.flow = id, .invocation = id, .state = state, .waitsFor = answer.waits_for};
  context.output.print(to_json(shown), [&](const Terminal& terminal) {
    return terminal.paint(Style::accent, "waiting") + "  for " + answer.waits_for + "\n";
  });
  context.output.note("flow " + id + ", " + state + "; next: sluice why " + id);
  return Code::waiting_for_approval;
}

// The door to a home in which this kit runs, and how its caller waits.
struct Running {
  Context& context;
  host::HomeDoor& door;
  CallWords& words;
  Patience& patience;

  host::Waiting waiting() {
    return {.began = [this](const Ulid& flow) { context.output.detail("flow: " + to_string(flow)); },
            .stop = [this] { return patience.ends(); },
            .waits_for = [this](const std::string& what) { patience.waits_for(what); }};
  }
};

Result<Code> ask(Running& running, const KitCall& call) {
  auto answer = running.door.call({.action = call.called.name(), .input = call.input});
  if (!answer) return answer.error();
  const outputs::CallEnded shown{.variant = answer->variant, .fields = answer->fields};
  running.context.output.print(to_json(shown), [&](const Terminal& terminal) {
    return outcome_line(answer->variant, answer->fields, answer->code, terminal);
  });
  return answer->code;
}

Result<Code> invoke(Running& running, const KitCall& call) {
  Context& context = running.context;
  const CallWords& words = running.words;
  auto key = running.words.key();
  if (!key) return key.error();
  host::Call asked{.action = call.called.name(),
                   .input = call.input,
                   .reason = context.given.text("reason"),
                   .key = *key,
                   .wait = host::wait_named(context.given.text("wait")).value_or(host::WaitFor::answer)};
  if (auto given = context.given.number("expect-generation")) asked.expect_generation = static_cast<uint64_t>(*given);
  auto answer = running.door.call(asked, running.waiting());
  if (!answer) return words.unheard(answer.error());
  const Ulid id = *answer->flow;
  const host::WaitFor wait = asked.wait;
  if (!answer->ended()) {
    running.patience.done();
    if (answer->trouble) return words.kept_for_now(*answer->trouble, id);
    return running.patience.stopped() ? words.stopped_early(id) : left_open(context, *answer);
  }
  running.patience.done();
  const bool open = answer->state && store::is_open(*answer->state);
  // Whether what --wait asks for has not come; the answer has.
  const bool awaited = (wait != host::WaitFor::answer && open && answer->state != store::FlowStatus::stuck) ||
                       (wait == host::WaitFor::all && answer->follow_ups_moving > 0);
  if (answer->trouble && !awaited && open) {
    context.output.note(words.kept_for_now(*answer->trouble, id).message, Style::warning);
  }
  std::string state(answer->state ? host::state_name(*answer->state) : "");
  const outputs::CallEnded shown{.flow = to_string(id),
                                 .invocation = to_string(id),
                                 .variant = answer->variant,
                                 .fields = answer->fields,
                                 .maybeDone = answer->maybe_done,
                                 .position = answer->position,
                                 .state = state,
                                 .followUpsPending = answer->follow_ups_pending};
  context.output.print(to_json(shown), [&](const Terminal& terminal) {
    return outcome_line(answer->variant, answer->fields, answer->code, terminal);
  });
  if (answer->maybe_done) context.output.note("It may have been done all the same, or in part.", Style::warning);
  if (answer->follow_ups_pending > 0) {
    state += ", " + host::counted(answer->follow_ups_pending, "follow-up") + " pending";
  }
  context.output.note("flow " + to_string(id) + ", " + state + "; next: sluice flow trace " + to_string(id));
  if (awaited && answer->trouble) return words.kept_for_now(*answer->trouble, id);
  if (awaited && running.patience.stopped()) return words.stopped_early(id);
  if (open || answer->follow_ups_moving > 0) context.output.note("It is not done; " + words.goes_on() + ".");
  return answer->code;
}

// ------------------------------------------------------------------------------------------------------- going on

Result<Code> go_on(Running& running) {
  Context& context = running.context;
  if (auto started = running.door.start(); !started) return started.error();
  // What was due when the engine started may be done by now.
  std::set<std::string> seen;
  if (host::HomeEngine* here = running.door.engine()) {
    for (const Ulid& each : here->found_under_way()) seen.insert(to_string(each));
  }
  std::vector<host::FlowUnderWay> flows;
  while (true) {
    const host::UnderWayQuery query{.also = {seen.begin(), seen.end()}};
    auto answer = running.door.view("under-way", to_json(query).as_object());
    if (!answer) return answer.error();
    auto read = sluice::read<std::vector<host::FlowUnderWay>>(answer->document);
    if (!read) return read.error();
    flows = *std::move(read);
    for (const auto& each : flows) seen.insert(each.flow);
    auto first = std::ranges::find(flows, true, &host::FlowUnderWay::under_way);
    if (first == flows.end()) break;
    running.patience.waits_for(
        host::counted(static_cast<size_t>(std::ranges::count(flows, true, &host::FlowUnderWay::under_way)), "flow"));
    const Ulid id = *Ulid::parse(first->flow);
    if (running.patience.ends()) {
      running.patience.done();
      return running.words.stopped_early(id);
    }
    if (auto trouble = running.door.trouble()) {
      running.patience.done();
      return running.words.kept_for_now(*trouble, id);
    }
    // Until something is committed, or it is time to look whether somebody has had enough.
    int looks = 0;
    auto followed = running.door.follow(
        answer->position + 1, [](const engine::Step&) { return false; },
        [&] { return running.patience.ends() || ++looks > 2; });
    if (!followed) return followed.error();
  }
  running.patience.done();
  std::vector<outputs::FlowState> shown;
  std::string text;
  for (const auto& each : flows) {
    shown.push_back({each.flow, each.state});
    text += each.flow + "  " + each.state + "\n";
  }
  context.output.print(to_json(shown), [&](const Terminal&) { return text; });
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
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  // The signal is taken before the engine's threads are made, and let go before the engine ends, so that a second
  // Ctrl-C does not wait for effects under way.
  std::optional<host::StopSignal> stop(std::in_place);
  host::HomeDoor door(*std::move(opening), {.folder = absolute_folder(place->folder), .check = [&] { return kit; }});
  CallWords words(context.given, door, name);
  RealClock clock;
  std::optional<Patience> patience(std::in_place, context, clock, *stop);
  patience->meanwhile([&] {
    if (door.engine() != nullptr) reload.look(door.engine()->engine());
  });
  Running running{context, door, words, *patience};
  Result<Code> done = !call ? go_on(running) : call->query ? ask(running, *call) : invoke(running, *call);
  patience.reset();
  stop.reset();
  return done;
}

}  // namespace

Command kit_run_command() {
  return {
      .name = "kit run",
      .summary = "Run an action of a kit, and what follows from it",
      .details =
          "For instance: sluice kit run deploy Env/create environment=staging. Sluice has the handlers of its own kit, "
          "deploy; another kit runs in a program that is built with its handlers. Values are text, or JSON where the "
          "action takes a number, true or false, a list or a record. A query is only read.\n\nEvery step is "
          "durable before it counts. Whatever ends the command, even kill -9, the flow is kept, and the next kit run "
          "in this home continues it. Without an action, the command only does that, until nothing moves any "
          "more.\n\nWhile the command waits, it checks and loads .sync files that change. New flows run under the new "
          "syncs, flows that have begun keep theirs, and guards bind all of them. A file with errors is ignored, and "
          "the rules that are loaded stay active.\n\nThe exit code is that of the outcome: the variant's @code, else 0 "
          "for ok and 1 for other variants. The engine's own outcomes: refused 7, denied 4, conflict and "
          "needsMigration 6, timeout 8, all others 1. A flow that only people can continue exits with 10.",
      .args = {{.name = "kit", .help = "the kit's folder, or its name", .kind = Kind::path},
               {.name = "action", .help = "as Concept/action; without it, continue what is open", .optional = true},
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
