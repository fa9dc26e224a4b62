// Reading needs no engine: the rows of one snapshot are enough. Changing goes through the one door.
#include "cli/objects.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/yaml.h"
#include "cli/flow_view.h"
#include "cli/opening.h"
#include "deploy/deploy_kit.h"
#include "deploy/packs.h"
#include "deploy/views/names.h"
#include "engine/caller_words.h"
#include "engine/dry_run.h"
#include "host/home.h"
#include "lang/check/check.h"
#include "lang/codegen/generate_schema.h"

namespace sluice::cli {
namespace {

constexpr size_t kMaxAnswers = size_t{1} << 20U;
constexpr std::string_view kLocal = "local";

// By which fields rows can be found: what the engine that wrote the store has noted.
Result<std::shared_ptr<const engine::IndexedFields>> indexed_fields_of(store::Snapshot& snapshot) {
  auto indexed = std::make_shared<engine::IndexedFields>();
  auto text = snapshot.meta("indexed");
  if (!text) return text.error();
  if (*text) {
    auto parsed = engine::parse_stored(**text, "the list of look-ups");
    if (!parsed) return parsed.error();
    for (const auto& [relation, fields] : parsed->as_object()) {
      for (const json::value& each : fields.as_array()) (*indexed)[relation].emplace_back(each.as_string());
    }
  }
  return std::shared_ptr<const engine::IndexedFields>(std::move(indexed));
}

bool local_is_whole(const deploy::views::States& states) {
  const deploy::env::EnvId local{std::string(kLocal)};
  if (!states.env().has(local)) return false;
  auto packs = states.env().packs(local).values();
  return std::ranges::all_of(deploy::default_packs(), [&](const deploy::DefaultPack& each) {
    return std::ranges::find(packs, each.slot, &deploy::env::EnvPack::slot) != packs.end();
  });
}

lang::Checked check_deploy_kit() {
  return lang::check(lang::load_kit(std::string(deploy::kKitFolder),
                                    [](const std::string& path) { return deploy::read_kit_file(path); }));
}

// Who has changed, and when, what is at another generation than was expected: as the engine tells of a row of its own.
void name_changer(store::Store& store, Answer& answer) {
  const bool deployed = answer.fields.contains("deployment");
  auto snapshot = store.read();
  if (!snapshot) return;
  auto row = (*snapshot)->get(deployed ? "Deployment" : "Env", answer.text(deployed ? "deployment" : "environment"));
  if (!row || !*row) return;
  auto record = (*snapshot)->journal((*row)->seq);
  if (!record || !*record) return;
  auto step = engine::read_step((*record)->record);
  auto flow = (*snapshot)->flow((*record)->flow);
  if (!step || !flow || !*flow) return;
  auto summary = parse_json((*flow)->summary);
  if (!summary || !summary->root.is_object() || !summary->root.get_object().contains("caller")) return;
  answer.fields["at"] = utc_text(step->at_ms);
  answer.fields["by"] = summary->root.at("caller");
}

// Arguments that say what an action is about.
bool names_object(std::string_view argument) {
  constexpr std::string_view kNames[] = {"environment", "deployment", "revision", "bundle",
                                         "customer",    "slot",       "other"};
  return std::ranges::find(kNames, argument) != std::end(kNames);
}

std::vector<Option> joined_options(std::vector<Option> own, std::vector<Option> others) {
  for (Option& each : others) own.push_back(std::move(each));
  return own;
}

}  // namespace

// -------------------------------------------------------------------------------------------------------- Objects

Result<void> Objects::read_from(store::Store& store) {
  states_.reset();
  rows_.reset();
  auto snapshot = store.read();
  if (!snapshot) return snapshot.error();
  auto indexed = indexed_fields_of(**snapshot);
  if (!indexed) return indexed.error();
  rows_ = std::make_unique<engine::CommittedRows>(*std::move(snapshot), blobs_ ? &*blobs_ : nullptr, *indexed,
                                                  clock_.wall_ms());
  states_.emplace(*rows_);
  return {};
}

Result<std::unique_ptr<Objects>> Objects::of_home(Context& context) {
  auto place = home_of(context);
  if (!place) return place.error();
  std::unique_ptr<Objects> made(new Objects(context));
  made->place_ = *std::move(place);
  made->blobs_.emplace(context.disk, (made->place_->root() / "blobs").string());
  return made;
}

Result<std::unique_ptr<Objects>> Objects::to_read(Context& context) {
  auto begun = of_home(context);
  if (!begun) return begun.error();
  std::unique_ptr<Objects> made = *std::move(begun);
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  auto store = host::open_for_reading(*opening, made->clock_);
  if (!store) return store.error();
  if (*store) {
    made->store_ = *std::move(store);
    if (auto read = made->read_from(*made->store_->store); !read) return read.error();
    if (local_is_whole(made->states())) return made;
    made->states_.reset();
    made->rows_.reset();
    made->store_.reset();  // and with it the lock
  }
  return to_change(context);
}

Result<std::unique_ptr<Objects>> Objects::to_change(Context& context) {
  auto begun = of_home(context);
  if (!begun) return begun.error();
  std::unique_ptr<Objects> made = *std::move(begun);
  auto home = DeployHome::open(context);
  if (!home) return home.error();
  if (auto folder = made->place_->folder("blobs"); !folder) return folder.error();
  made->home_ = *std::move(home);
  if (auto read = made->refresh(); !read) return read.error();
  if (!local_is_whole(made->states())) {
    if (auto opened = made->open_local(); !opened) return opened.error();
  }
  return made;
}

Result<std::unique_ptr<Objects>> Objects::to_look(Context& context) {
  auto begun = of_home(context);
  if (!begun) return begun.error();
  std::unique_ptr<Objects> made = *std::move(begun);
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  auto store = host::open_for_reading(*opening, made->clock_);
  if (!store) return store.error();
  if (!*store) return std::unique_ptr<Objects>();
  made->store_ = *std::move(store);
  if (auto read = made->read_from(*made->store_->store); !read) return read.error();
  return made;
}

Result<void> Objects::open_local() {
  auto answer = home_->call_unkeyed("Env/open", {});
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_of(*answer);
  if (answer->fields.at("created").as_bool()) context_.output.note("made the environment local with five packs");
  for (const std::string& slot : answer->texts("healed")) {
    context_.output.note("bound the default pack of the slot " + slot + " in local again");
  }
  return refresh();
}

Result<deploy::env::EnvFound> Objects::environment() {
  const std::string name = context_.given.text("env");
  auto found = deploy::views::find_environment(states(), name);
  if (!found || warned_) return found;
  if (auto warning = deploy::views::alias_warning(states(), name)) {
    context_.output.warn(*warning);
    warned_ = true;
  }
  return found;
}

Result<void> Objects::refresh() { return read_from(store()); }

Result<Answer> Objects::change(const std::string& action, const json::object& input, std::string_view part) {
  auto answer = home_->call(action, input, part);
  if (!answer) return answer;
  answer->help = "sluice " + context_.given.command->name + " --help";
  flow_ = answer->flow;
  if (answer->variant == "changed") name_changer(store(), *answer);
  if (auto read = refresh(); !read) return read.error();
  return answer;
}

Result<std::optional<Answer>> Objects::repeated(const std::string& action, const Fits& fits) {
  if (!home_ || !context_.given.has("idempotency-key")) return std::optional<Answer>();
  auto snapshot = store().read();
  if (!snapshot) return snapshot.error();
  auto used = (*snapshot)->key(home_->home().caller().name, context_.given.text("idempotency-key"));
  if (!used) return used.error();
  if (!*used) return std::optional<Answer>();
  auto row = (*snapshot)->flow((*used)->flow);
  if (!row) return row.error();
  auto view = *row ? view_flow(**snapshot, **row) : Result<FlowView>(Error{.code = Code::not_found});
  if (!view) return std::optional<Answer>();  // it is too long ago
  auto first = std::ranges::find(view->history.invocations, (*used)->invocation, &engine::PastInvocation::id);
  if (first == view->history.invocations.end() || first->action != action || !first->end)
    return std::optional<Answer>();
  const Answer before{.action = action, .variant = first->end->variant, .fields = first->end->fields};
  if (!fits(first->input, before)) return std::optional<Answer>();
  auto answer = change(action, first->input);
  if (!answer) return answer.error();
  return std::optional(*std::move(answer));
}

Result<Answer> Objects::would(const std::string& action, const json::object& input) {
  lang::Checked checked = check_deploy_kit();
  if (!checked.kit) return Error{.message = "the kit has faults"};
  auto snapshot = store().read();
  auto indexed =
      snapshot ? indexed_fields_of(**snapshot) : Result<std::shared_ptr<const engine::IndexedFields>>(snapshot.error());
  if (!indexed) return indexed.error();
  auto tried = engine::dry_run({.store = store(),
                                .blobs = blobs_ ? &*blobs_ : nullptr,
                                .indexed = **indexed,
                                .kit = std::make_shared<const lang::CheckedKit>(*std::move(checked.kit)),
                                .concepts = context_.concepts != nullptr ? context_.concepts->concepts
                                                                         : std::vector<const lang::ConceptBinding*>(),
                                .now_ms = clock_.wall_ms()},
                               action, input);
  if (!tried) return tried.error();
  return Answer{
      .action = action, .variant = tried->end.variant, .fields = tried->end.fields, .code = tried->code, .flow = {}};
}

Result<void> Objects::settle() {
  if (!flow_) return {};
  if (auto waited = home_->wait_until_all(*flow_); !waited) return waited.error();
  return refresh();
}

std::vector<std::string> Objects::last_lines() {
  if (!flow_ || !home_) return {};
  auto snapshot = home_->home().store().read();
  if (!snapshot) return {};
  auto row = find_flow(**snapshot, to_string(*flow_));
  auto view = row ? view_flow(**snapshot, *row) : Result<FlowView>(row.error());
  if (!view) return {};
  return last_lines_of(view->history);
}

// -------------------------------------------------------------------------------------------------------- options

Arg environment_arg() { return {.name = "env", .help = "the environment"}; }

std::vector<Option> reading_options(std::vector<Option> own) {
  return joined_options(std::move(own), {lock_timeout_option()});
}

std::vector<Option> changing_options(std::vector<Option> own) {
  return joined_options(
      joined_options(std::move(own),
                     {{.name = "expect-generation",
                       .value = "N",
                       .help = "refuse if somebody has changed it since it was at this generation",
                       .kind = Kind::count},
                      {.name = "answers",
                       .value = "FILE",
                       .help = "arguments as YAML or JSON, over the command line",
                       .kind = Kind::path},
                      {.name = "schema", .help = "print the JSON Schema of what --answers takes, and stop"}}),
      call_options());
}

std::vector<Option> losing_options(std::vector<Option> own) {
  return changing_options(
      joined_options(std::move(own), {{.name = "dry-run", .help = "say what would be lost, and stop"},
                                      {.name = "yes", .letter = 'y', .help = "do not ask"}}));
}

std::vector<Option> deployment_options(std::vector<Option> others) {
  return joined_options({{.name = "deployment", .value = "ID", .help = "the deployment, by its id or a beginning"},
                         {.name = "bundle", .value = "NAME", .help = "the bundle, if it is deployed once"},
                         {.name = "customer-id", .value = "NAME", .help = "the customer that it is deployed for"}},
                        std::move(others));
}

// ---------------------------------------------------------------------------------------------------- schema, asking

bool wants_schema(const Context& context) { return context.given.flag("schema"); }

Result<Code> print_schema(Context& context, const std::string& action) {
  lang::Checked checked = check_deploy_kit();
  const std::string name = action.substr(0, action.find('/')), verb = action.substr(action.find('/') + 1);
  if (checked.kit) {
    for (const lang::KitConcept& each : checked.kit->kit().concepts) {
      if (each.tree.name != name) continue;
      json::object schema = lang::generate_schema(each.tree);
      json::object one = schema.at("$defs").at(verb).as_object();
      // What the engine fills in is nobody's to give.
      if (json::value* properties = one.if_contains("properties")) {
        for (std::string_view each : {engine::kCallerArgument, engine::kCallerKeyArgument}) {
          properties->as_object().erase(each);
        }
      }
      one["$schema"] = "https://json-schema.org/draft/2020-12/schema";
      one["title"] = action;
      context.output.print_text(write_pretty(one));
      return Code::ok;
    }
  }
  return Error{.code = Code::not_found, .message = "there is no action " + action};
}

Result<json::object> with_answers(Context& context, json::object input) {
  if (!context.given.has("answers")) return input;
  const std::string file = context.given.text("answers");
  auto text = read_file(context.disk, file, kMaxAnswers);
  if (!text) return text.error();
  auto document = parse_yaml(*text, file);
  if (!document) return document.error();
  if (!document->root.is_object()) {
    return Error{.code = Code::invalid, .message = file + " holds no object with arguments"};
  }
  for (const auto& each : document->root.get_object()) {
    const json::value* named = names_object(each.key()) ? input.if_contains(each.key()) : nullptr;
    if (named != nullptr && *named != json::value("") && *named != each.value()) {
      return Error{.code = Code::usage,
                   .message = file + " says " + std::string(each.key()) + " " + printable(write(each.value())) +
                              ", and the command line is about " + printable(write(*named)) + "; nothing was changed",
                   .next = "leave " + std::string(each.key()) + " out of " + file};
    }
    input[each.key()] = each.value();
  }
  return input;
}

// A variable of a script that is not set must not mean whatever there is.
Result<void> check_deployment_options(const Context& context) {
  for (const char* each : {"deployment", "bundle", "customer-id"}) {
    if (!context.given.has(each) || !context.given.text(each).empty()) continue;
    return Error{.code = Code::usage,
                 .message = "--" + std::string(each) + " is empty; nothing was changed",
                 .next = "leave it out, or name one of: sluice bundles list " + context.given.text("env")};
  }
  return {};
}

Result<deploy::deployment::DeploymentFound> named_deployment(Context& context, const Objects& objects,
                                                             const std::string& environment) {
  if (auto sound = check_deployment_options(context); !sound) return sound.error();
  return deploy::views::find_deployment(objects.states(), environment,
                                        {.deployment = context.given.text("deployment"),
                                         .bundle = context.given.text("bundle"),
                                         .customer = context.given.text("customer-id")});
}

// -------------------------------------------------------------------------------------------------------- answers

void expect_generation_as(Context& context, const std::string& field, json::object& input) {
  if (auto expected = context.given.number("expect-generation")) input[field] = *expected;
}

Error refusal_in_words(const Answer& answer, const std::string& next) {
  Error error = refusal_of(answer);
  // What was given is wrong: how it was done tells nothing more.
  if (answer.code == Code::invalid && !answer.help.empty()) error.next = answer.help;
  if (answer.variant == "engine.conflict" || answer.variant == "changed") {
    error.message = "somebody has changed it: expected generation " + write(answer.fields.at("expected")) +
                    ", it is at " + write(answer.fields.at("actual"));
    if (std::string at = answer.text("at"); !at.empty()) {
      error.message += ", changed at " + at + " by " + answer.text("by");
    }
    error.message += "; nothing was changed";
    error.next = "look at it again, then use --expect-generation " + write(answer.fields.at("actual"));
    return error;
  }
  if (answer.variant == "notFound") error.message = "there is no such object any more " + write(answer.fields);
  if (std::string check = answer.text("check"); !check.empty()) error.message = check + ": " + error.message;
  // What guards say ends with what to do about it.
  if (size_t at = error.message.find("; next: "); at != std::string::npos) {
    error.next = error.message.substr(at + std::string_view("; next: ").size());
    error.message.resize(at);
  }
  if (!next.empty()) error.next = next;
  return error;
}

void print_done(Context& context, const Answer& answer, const std::string& done, const std::string& what) {
  json::object shown = answer.fields;
  if (answer.flow) shown["flow"] = to_string(*answer.flow);
  context.output.print(
      shown, [&](const Terminal& terminal) { return terminal.paint(Style::good, done) + "  " + what + "\n"; });
}

}  // namespace sluice::cli
