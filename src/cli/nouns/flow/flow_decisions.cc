// What an operator decides about a flow: cancel it, resolve what nobody knows the outcome of, move it to the current
// syncs, and retry or drop dead letters. Each is a step of the flow's journal with the caller in it, and the flow then
// goes on in this process as far as it can.
#include <algorithm>
#include <boost/json.hpp>
#include <functional>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/action_input.h"
#include "cli/all_commands.h"
#include "cli/command_door.h"
#include "cli/losing.h"
#include "cli/opening.h"
#include "cli/outputs.h"
#include "host/flows/flow_views.h"
#include "host/home_engine.h"
#include "host/kit_place.h"
#include "host/loaded_concepts.h"

namespace sluice::cli {
namespace {

// What is to be decided about, found before the engine is started.
struct DecidedAbout {
  Ulid flow, invocation;
  std::string action;       // of the invocation
  std::string kit;          // folder
  std::string root_action;  // of a flow that is no follow-up
  bool named = false;       // the kit is the one at --kit
};

using MakeDecision = std::function<Result<engine::Decision>(const lang::CheckedKit&, const DecidedAbout&)>;

// What can be decided about in a flow: effects that are open or whose end nobody knows, and open requests with nothing
// beneath them; not what somebody has decided about already.
std::vector<const host::InvocationDocument*> undecided(const host::FlowDocument& flow) {
  std::vector<const host::InvocationDocument*> found;
  for (const host::InvocationDocument& one : flow.invocations) {
    if (one.kind == "timer") continue;
    const bool unknown = one.end && one.end->maybeDone && one.end->variant.starts_with("engine.");
    const bool again = std::ranges::any_of(flow.firings, [&](const host::FiringDocument& firing) {
      return firing.sync == "operator" && !firing.matched.empty() && firing.matched[0] == one.id;
    });
    const bool waits = std::ranges::find(flow.waits, one.id, &host::WaitDocument::id) != flow.waits.end();
    if ((unknown && !again) || waits) found.push_back(&one);
  }
  return found;
}

// The one thing that can be decided about in the newest flow.
Result<std::string> latest_undecided(const host::FlowDocument& flow) {
  auto found = undecided(flow);
  if (found.empty()) {
    return Error{.code = Code::not_found,
                 .message = "in the newest flow " + flow.flow + " there is nothing to decide about",
                 .next = "sluice why " + flow.flow};
  }
  if (found.size() == 1) return found[0]->id;
  std::string names;
  for (const auto* one : found) {
    names += (names.empty() ? "" : ", ") + one->action + " " + one->id.substr(one->id.size() - 8);
  }
  return Error{.code = Code::conflict,
               .message = "in the newest flow " + flow.flow + " there is more than one thing to decide about: " + names,
               .next = "name one of them by its id"};
}

// A flow, or an invocation in one.
Result<DecidedAbout> find_decided(Context& context, bool invocation) {
  std::string name = context.given.text(invocation ? "invocation" : "flow");
  auto door = CommandDoor::open_any(context);
  if (!door) return door.error();
  std::string id;
  if (invocation && name != host::kLatest) {
    auto found = (*door)->read<host::WhyDocument>("why", {{"about", name}});
    if (!found) return found.error();
    if (!found->flow || (found->kind != "invocation" && found->kind != "flow")) {
      return Error{.code = Code::not_found, .message = "there is no invocation '" + printable(name) + "'"};
    }
    id = found->id;
    name = *found->flow;
  }
  auto flow = (*door)->read<host::FlowDocument>("flow", {{"flow", name}});
  if (!flow) return flow.error();
  DecidedAbout about{.flow = *Ulid::parse(flow->flow),
                     .kit = context.given.text("kit"),
                     .root_action = flow->follows ? "" : flow->action.value_or("")};
  if (invocation) {
    auto latest = id.empty() ? latest_undecided(*flow) : Result(id);
    if (!latest) return latest.error();
    about.invocation = *Ulid::parse(*latest);
    auto one = std::ranges::find(flow->invocations, *latest, &host::InvocationDocument::id);
    if (one != flow->invocations.end()) about.action = one->action;
  }
  about.named = !about.kit.empty();
  if (!about.named) about.kit = flow->kit.value_or("");
  if (!about.kit.empty()) return about;
  return Error{.code = Code::usage, .message = "it is not known which kit runs here", .next = "add --kit FOLDER"};
}

// Decides before anything goes on, and lets the flow go on as far as it can without waiting for time or people.
Result<Code> decide(Context& context, bool invocation, const MakeDecision& make, const std::string& done) {
  auto about = find_decided(context, invocation);
  if (!about) return about.error();
  auto place = kit_place_of(context, about->kit);
  if (!place) return place.error();
  if (auto exists = host::must_exist(*place); !exists) return exists.error();
  lang::Checked checked = check_kit_at(context, *place);
  if (!checked.kit) return host::kit_has_errors(*place, checked);
  auto kit = std::make_shared<const lang::CheckedKit>(*std::move(checked.kit));
  if (auto fits = host::check_handlers(concepts_of(context), *kit); !fits) return fits.error();
  // Under another kit the flow could only end as it stands: nothing of its own would hear of that.
  if (!about->named && !about->root_action.empty() && !find_action(kit->symbols(), about->root_action)) {
    return Error{.code = Code::conflict,
                 .message = "flow " + to_string(about->flow) + " began with " + about->root_action +
                            ", which the kit in " + about->kit + " does not have",
                 .next = "add --kit FOLDER, the kit that the flow belongs to"};
  }
  auto decision = make(*kit, *about);
  if (!decision) return decision.error();
  decision->flow = about->flow;
  auto door = CommandDoor::open_any(context,
                                    {.folder = absolute_folder(place->folder), .check = [kit] { return Result(kit); }});
  if (!door) return door.error();
  auto decided = (*door)->decide(*std::move(decision));
  if (!decided) return decided.error();
  const std::string id = to_string(about->flow), state(host::state_name(decided->state));
  context.output.print(to_json(outputs::Decided{.flow = id, .position = decided->position, .state = state}),
                       [&](const Terminal&) { return done + "\n"; });
  context.output.note("flow " + id + ", " + state + "; next: sluice flow trace " + id);
  return Code::ok;
}

MakeDecision plainly(engine::Decision::Kind kind) {
  return [kind](const lang::CheckedKit&, const DecidedAbout&) -> Result<engine::Decision> {
    return engine::Decision{.kind = kind};
  };
}

Result<Code> cancel(Context& context) {
  return decide(context, false, plainly(engine::Decision::Kind::cancel),
                "Cancelled: everything that was open in the flow has ended.");
}

Result<Code> move(Context& context) {
  return decide(context, false, plainly(engine::Decision::Kind::move),
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

Result<engine::Decision> resolution(const Context& context, const lang::CheckedKit& kit, const DecidedAbout& about) {
  engine::Decision decision{.kind = engine::Decision::Kind::retry, .invocation = about.invocation};
  if (context.given.flag("retry")) return decision;
  const lang::Symbols& symbols = kit.symbols();
  auto called = find_action(symbols, about.action);
  if (!called) return called.error();
  const lang::ActionSymbol& symbol = called->action();
  std::string name = context.given.text("as");
  auto variant = lang::find_variant(symbol, name);
  if (!variant) {
    std::string known;
    for (const lang::VariantSymbol& each : symbol.variants) known += (known.empty() ? "" : ", ") + each.name;
    return Error{
        .code = Code::usage, .message = about.action + " has no variant " + name, .next = "its variants are " + known};
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
  return decide(
      context, true,
      [&](const lang::CheckedKit& kit, const DecidedAbout& about) { return resolution(context, kit, about); },
      retry ? "Tried again." : "Resolved as " + context.given.text("as") + ".");
}

// -------------------------------------------------------------------------------------------------------- dead letters

Result<Code> list_dead(Context& context) {
  auto door = CommandDoor::open_any(context);
  if (!door) return door.error();
  auto dead = (*door)->read<std::vector<host::DeadLetter>>("dead-letters");
  if (!dead) return dead.error();
  context.output.print(to_json(*dead), [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "FLOW", .whole = true}, {"SYNC"}, {"CALLER"}, {"WHY"}},
                .empty = "No dead letters."};
    for (const host::DeadLetter& each : *dead) {
      table.rows.push_back({{each.flow}, {each.sync}, {each.caller}, {each.why, Style::bad}});
    }
    return render(table, terminal);
  });
  if (!dead->empty()) context.output.note("next: sluice flow dead retry FLOW, or sluice flow dead drop FLOW");
  return Code::ok;
}

// What --dry-run says of a letter that would be dropped.
Result<Code> tell_dropped(Context& context) {
  auto door = CommandDoor::open_any(context);
  if (!door) return door.error();
  auto flow = (*door)->read<host::FlowDocument>("flow", {{"flow", context.given.text("flow")}});
  if (!flow) return flow.error();
  auto letters = (*door)->read<std::vector<host::DeadLetter>>("dead-letters");
  if (!letters) return letters.error();
  auto letter = std::ranges::find(*letters, flow->flow, &host::DeadLetter::flow);
  if (letter == letters->end()) {
    return Error{.code = Code::conflict,
                 .message = "flow " + flow->flow + " is no dead letter",
                 .next = "sluice flow dead list"};
  }
  return print_loss(context, {.what = "drop the follow-up " + letter->flow,
                              .loses = {"what " + letter->sync + " would have done", "its error: " + letter->why}});
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
  const bool retry = verb == "retry";
  if (context.given.flag("dry-run")) {
    if (!retry) return tell_dropped(context);
    return Error{.code = Code::usage, .message = "--dry-run is for flow dead drop: a retry loses nothing"};
  }
  return decide(context, false, plainly(retry ? engine::Decision::Kind::retry : engine::Decision::Kind::drop),
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
       .summary = "Settle an action whose outcome is unknown",
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
                .summary = "Continue a flow under the current syncs",
                .details = journaled + "\n\nA flow goes on under the syncs that it began with. If they do not fit the "
                                       "concepts any more it stands still until it is moved.",
                .args = {flow},
                .options = {{.name = "to",
                             .value = "SET",
                             .help = "the syncs to continue under",
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
                .options = {{.name = "dry-run", .help = "with drop: say what would be lost, and stop"},
                            reason,
                            kit,
                            lock_timeout_option()},
                .example = "sluice flow dead list",
                .run = dead});
}

}  // namespace sluice::cli
