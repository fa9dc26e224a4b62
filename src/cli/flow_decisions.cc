// What an operator decides about a flow: cancel it, resolve what nobody knows the outcome of, move it to the current
// syncs, and retry or drop dead letters. Each is a step of the flow's journal with the caller in it, and the flow then
// goes on in this process as far as it can.
#include <algorithm>
#include <boost/json.hpp>
#include <functional>

#include "base/json.h"
#include "base/table.h"
#include "cli/action_input.h"
#include "cli/all_commands.h"
#include "cli/call_words.h"
#include "cli/context.h"
#include "cli/flow_view.h"
#include "cli/opening.h"
#include "host/home_engine.h"
#include "host/kit_place.h"
#include "host/loaded_concepts.h"

namespace sluice::cli {
namespace {

// What is to be decided about, found before the engine is started.
struct Subject {
  Ulid flow, invocation;
  std::string action;  // of the invocation
  std::string kit;     // folder
  std::string sync_set;
  std::string root_action;  // of a flow that is no follow-up
  bool named = false;       // the kit is the one at --kit
};

using Find = Result<Subject> (*)(store::Snapshot&, const Context&);

Subject subject_in(const store::FlowRow& row) {
  bool follows = !engine::summary_text(row, "parent").empty();
  return {.flow = row.id, .sync_set = row.sync_set, .root_action = follows ? "" : engine::summary_text(row, "action")};
}

Result<Subject> named_flow(store::Snapshot& snapshot, const Context& context) {
  auto row = find_flow(snapshot, context.given.text("flow"));
  if (!row) return row.error();
  return subject_in(*row);
}

// What can be decided about in a flow: effects that are open or whose end nobody knows, and open requests with nothing
// beneath them; not what somebody has decided about already.
std::vector<size_t> undecided(const engine::History& history) {
  std::vector<size_t> found;
  for (size_t i = 0; i < history.invocations.size(); ++i) {
    const engine::PastInvocation& one = history.invocations[i];
    bool unknown = one.end && one.end->maybe_done && one.end->variant.starts_with("engine.") &&
                   one.kind != engine::PastInvocation::Kind::timer;
    bool again = std::ranges::any_of(history.firings, [&](const engine::Firing& firing) {
      return firing.sync == "operator" && !firing.matched.empty() && firing.matched[0].invocation == one.id;
    });
    if (unknown && !again) found.push_back(i);
  }
  for (const Wait& wait : waits_of(history)) {
    if (history.invocations[wait.invocation].kind != engine::PastInvocation::Kind::timer)
      found.push_back(wait.invocation);
  }
  return found;
}

// The one thing that can be decided about in the newest flow.
Result<FoundInvocation> latest_undecided(store::Snapshot& snapshot) {
  auto row = find_flow(snapshot, kLatest);
  if (!row) return row.error();
  auto view = view_flow(snapshot, *row);
  if (!view) return view.error();
  std::vector<size_t> found = undecided(view->history);
  std::string id = to_string(row->id);
  if (found.empty()) {
    return Error{.code = Code::not_found,
                 .message = "in the newest flow " + id + " there is nothing to decide about",
                 .next = "sluice why " + id};
  }
  if (found.size() > 1) {
    std::string names;
    for (size_t at : found) {
      const engine::PastInvocation& one = view->history.invocations[at];
      names += (names.empty() ? "" : ", ") + one.action + " " + short_id(one.id);
    }
    return Error{.code = Code::usage,
                 .message = "in the newest flow " + id + " there is more than one thing to decide about: " + names,
                 .next = "name one of them by its id"};
  }
  return FoundInvocation{*row, view->history.invocations[found[0]].id};
}

Result<Subject> named_invocation(store::Snapshot& snapshot, const Context& context) {
  std::string name = context.given.text("invocation");
  auto found = name == kLatest ? latest_undecided(snapshot) : find_invocation(snapshot, name);
  if (!found) return found.error();
  Subject subject = subject_in(found->flow);
  subject.invocation = found->invocation;
  auto view = view_flow(snapshot, found->flow);
  if (!view) return view.error();
  if (auto at = view->history.find(found->invocation)) subject.action = view->history.invocations[*at].action;
  return subject;
}

Result<Subject> find_subject(const Context& context, Find find) {
  RealClock clock;
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  auto home = host::open_home_store(*opening, clock, host::MakeStore::no);
  if (!home) return home.error();
  if (!*home) return host::nothing_has_run();
  auto snapshot = (*home)->store->read();
  if (!snapshot) return snapshot.error();
  auto subject = find(**snapshot, context);
  if (!subject) return subject;
  subject->kit = context.given.text("kit");
  subject->named = !subject->kit.empty();
  if (subject->named) return subject;
  auto kit = host::kit_of_flow(**snapshot, subject->sync_set);
  if (!kit) return kit.error();
  subject->kit = *std::move(kit);
  if (!subject->kit.empty()) return subject;
  return Error{.code = Code::usage, .message = "it is not known which kit runs here", .next = "add --kit FOLDER"};
}

// Decides before anything goes on, and lets the flow go on as far as it can without waiting for time or people.
Result<Code> decide(Context& context, const Subject& subject,
                    const std::function<Result<engine::Decision>(const lang::CheckedKit&)>& make,
                    const std::string& done) {
  auto place = kit_place_of(context, subject.kit);
  if (!place) return place.error();
  if (auto exists = host::must_exist(*place); !exists) return exists.error();
  lang::Checked checked = check_kit_at(context, *place);
  if (!checked.kit) return host::kit_has_errors(*place, checked);
  auto kit = std::make_shared<const lang::CheckedKit>(*std::move(checked.kit));
  if (auto fits = host::check_handlers(concepts_of(context), *kit); !fits) return fits.error();
  // Under another kit the flow could only end as it stands: nothing of its own would hear of that.
  if (!subject.named && !subject.root_action.empty() && !find_action(kit->symbols(), subject.root_action)) {
    return Error{.code = Code::conflict,
                 .message = "flow " + to_string(subject.flow) + " began with " + subject.root_action +
                            ", which the kit in " + subject.kit + " does not have",
                 .next = "add --kit FOLDER, the kit that the flow belongs to"};
  }
  auto decision = make(*kit);
  if (!decision) return decision.error();
  decision->flow = subject.flow;
  uint64_t position = 0;
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  auto home = host::HomeEngine::start(*opening, kit, place->folder, *std::move(decision), position);
  if (!home) return home.error();
  host::EngineLink& engine = (*home)->engine();
  auto status = engine.wait(subject.flow, engine::Engine::Until::quiet, [&] { return engine.trouble().has_value(); });
  if (!status) return status.error();
  std::string id = to_string(subject.flow);
  if (auto trouble = engine.trouble()) {
    return CallWords(context.given, **home).kept_for_now(*trouble, subject.flow, subject.kit);
  }
  json::object shown{{"flow", id}, {"position", position}, {"state", state_name(*status)}};
  context.output.print(shown, [&](const Terminal&) { return done + "\n"; });
  context.output.note("flow " + id + ", " + std::string(state_name(*status)) + "; next: sluice flow trace " + id);
  return Code::ok;
}

Result<Code> cancel(Context& context) {
  auto subject = find_subject(context, named_flow);
  if (!subject) return subject.error();
  return decide(
      context, *subject,
      [](const lang::CheckedKit&) -> Result<engine::Decision> {
        return engine::Decision{.kind = engine::Decision::Kind::cancel};
      },
      "Cancelled: everything that was open in the flow has ended.");
}

Result<Code> move(Context& context) {
  auto subject = find_subject(context, named_flow);
  if (!subject) return subject.error();
  return decide(
      context, *subject,
      [](const lang::CheckedKit&) -> Result<engine::Decision> {
        return engine::Decision{.kind = engine::Decision::Kind::move};
      },
      "Moved: the flow goes on under the current syncs.");
}

// "the variant ok has the fields order, reason"
std::string fields_text_of(const lang::VariantSymbol& variant) {
  std::string names;
  for (const lang::FieldSymbol& field : variant.fields) names += (names.empty() ? "" : ", ") + field.name;
  return "the variant " + variant.name + (names.empty() ? " has no fields" : " has the fields " + names);
}

// The fields of a variant, typed as it declares them: text stays text, everything else is JSON.
Result<json::object> fields_of(const lang::Symbols& symbols, const lang::VariantSymbol& variant,
                               const std::vector<std::string>& words) {
  json::object fields;
  for (const std::string& word : words) {
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    auto field = lang::find_field(variant.fields, name);
    std::string wrong;
    if (equals == std::string::npos) {
      wrong = "expected name=value, found \"" + word + "\"";
    } else if (!field) {
      wrong = "the variant " + variant.name + " has no field " + name;
    } else if (fields.contains(name)) {
      wrong = name + " is given twice";
    }
    if (!wrong.empty()) return Error{.code = Code::usage, .message = wrong, .next = fields_text_of(variant)};
    auto value = typed_value(symbols.types, variant.fields[*field], word.substr(equals + 1));
    if (!value) return value.error();
    fields[name] = *std::move(value);
  }
  return fields;
}

Result<engine::Decision> resolution(const Context& context, const Subject& subject, const lang::CheckedKit& kit) {
  engine::Decision decision{.kind = engine::Decision::Kind::retry, .invocation = subject.invocation};
  if (context.given.flag("retry")) return decision;
  const lang::Symbols& symbols = kit.symbols();
  auto called = find_action(symbols, subject.action);
  if (!called) return called.error();
  const lang::ActionSymbol& symbol = called->action();
  std::string name = context.given.text("as");
  auto variant = lang::find_variant(symbol, name);
  if (!variant) {
    std::string known;
    for (const lang::VariantSymbol& each : symbol.variants) known += (known.empty() ? "" : ", ") + each.name;
    return Error{.code = Code::usage,
                 .message = subject.action + " has no variant " + name,
                 .next = "its variants are " + known};
  }
  auto fields = fields_of(symbols, symbol.variants[*variant], context.given.texts("values"));
  if (!fields) return fields.error();
  decision.kind = engine::Decision::Kind::resolve_as;
  decision.as = {name, *std::move(fields)};
  return decision;
}

Result<Code> resolve(Context& context) {
  bool retry = context.given.flag("retry");
  if (retry == !context.given.text("as").empty()) {
    return Error{
        .code = Code::usage, .message = "say either --retry or --as VARIANT", .next = "sluice help flow resolve"};
  }
  auto subject = find_subject(context, named_invocation);
  if (!subject) return subject.error();
  return decide(
      context, *subject, [&](const lang::CheckedKit& kit) { return resolution(context, *subject, kit); },
      retry ? "Tried again." : "Resolved as " + context.given.text("as") + ".");
}

// -------------------------------------------------------------------------------------------------------- dead letters

Result<Code> list_dead(Context& context) {
  RealClock clock;
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  auto home = host::open_for_reading(*opening, clock);
  if (!home) return home.error();
  json::array shown;
  Table table{.columns = {{.title = "FLOW", .whole = true}, {"SYNC"}, {"CALLER"}, {"WHY"}},
              .empty = "No dead letters."};
  if (*home) {
    auto snapshot = (*home)->store->read();
    if (!snapshot) return snapshot.error();
    auto read = (*snapshot)->open_flows([&](const store::FlowRow& row) {
      auto text = [&](std::string_view name) { return engine::summary_text(row, name); };
      if (text("dead").empty()) return true;
      std::string id = to_string(row.id);
      table.rows.push_back({{id}, {text("sync")}, {text("caller")}, {text("dead"), Style::bad}});
      shown.push_back(
          json::object{{"flow", id}, {"parent", text("parent")}, {"sync", text("sync")}, {"why", text("dead")}});
      return true;
    });
    if (!read) return read.error();
  }
  context.output.print(shown, [&](const Terminal& terminal) { return render(table, terminal); });
  if (!shown.empty()) context.output.note("next: sluice flow dead retry FLOW, or sluice flow dead drop FLOW");
  return Code::ok;
}

Result<Code> dead(Context& context) {
  std::string verb = context.given.text("verb");
  bool named = !context.given.text("flow").empty();
  if (verb == "list") {
    if (!named) return list_dead(context);
    return Error{.code = Code::usage, .message = "flow dead list takes no flow"};
  }
  if (!named) {
    return Error{
        .code = Code::usage, .message = "flow dead " + verb + " needs a flow", .next = "sluice flow dead list"};
  }
  auto subject = find_subject(context, named_flow);
  if (!subject) return subject.error();
  bool retry = verb == "retry";
  return decide(
      context, *subject,
      [&](const lang::CheckedKit&) -> Result<engine::Decision> {
        return engine::Decision{.kind = retry ? engine::Decision::Kind::retry : engine::Decision::Kind::drop};
      },
      retry ? "Dispatched again." : "Dropped: it is not tried any more.");
}

}  // namespace

void add_flow_decisions(Commands& commands) {
  const std::string journaled = "The decision is a record of the flow's journal, with who made it and the reason.";
  const Arg flow{.name = "flow", .help = "the flow's id, a part of it, or latest"};
  const Option kit{.name = "kit", .value = "FOLDER", .help = "the kit; without it the flow's own", .kind = Kind::path};
  const Option reason{.name = "reason", .value = "TEXT", .help = "why, for the audit"};
  commands.add({.name = "flow cancel",
                .summary = "End everything that is open in a flow",
                .details = journaled + "\n\nEffects under way are told to stop and end as `engine.cancelled`; syncs "
                                       "that match that still fire, so that a kit can clean up.",
                .args = {flow},
                .options = {reason, kit, lock_timeout_option()},
                .example = "sluice flow cancel latest --reason \"wrong version\"",
                .run = cancel});
  commands.add(
      {.name = "flow resolve",
       .summary = "Decide how an action ended that nobody knows the outcome of",
       .details = journaled + "\n\nFor an invocation that is open, or that ended in engine.unknown or another "
                              "outcome after which it may have been done.",
       .args = {{.name = "invocation", .help = "its id, a part of it, or latest: the one in the newest flow"},
                {.name = "values", .help = "fields of the variant as name=value", .optional = true, .repeated = true}},
       .options = {{.name = "retry", .help = "try it again"},
                   {.name = "as", .value = "VARIANT", .help = "it ended in this variant"},
                   reason,
                   kit,
                   lock_timeout_option()},
       .example = "sluice flow resolve 9Q3ZP7 --as ok parcel=P-17",
       .run = resolve});
  commands.add({.name = "flow move",
                .summary = "Let a flow go on under the current syncs",
                .details = journaled + "\n\nA flow goes on under the syncs that it began with. If they do not fit the "
                                       "concepts any more it stands still until it is moved.",
                .args = {flow},
                .options = {{.name = "to",
                             .value = "SET",
                             .help = "the syncs to go on under",
                             .choices = {"current"},
                             .fallback = "current"},
                            reason,
                            kit,
                            lock_timeout_option()},
                .example = "sluice flow move latest --to current",
                .run = move});
  commands.add({.name = "flow dead",
                .summary = "List dead follow-ups, try them again or drop them",
                .details = journaled,
                .args = {{.name = "verb", .help = "what to do", .choices = {"list", "retry", "drop"}},
                         {.name = "flow", .help = "the follow-up's flow", .optional = true}},
                .options = {reason, kit, lock_timeout_option()},
                .example = "sluice flow dead list",
                .run = dead});
}

}  // namespace sluice::cli
