// sluice deploy: what would change, the decision, and what comes of it. Nothing is decided here: plans are made and
// executed by the kit (DeployPlan), whoever watches.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <ostream>
#include <set>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "cli/deploy_build.h"
#include "cli/fitting_table.h"
#include "cli/losing.h"
#include "cli/opening.h"
#include "cli/plan_text.h"
#include "cli/routers_told.h"
#include "cli/signing_key.h"
#include "cli/urls.h"
#include "deploy/views/objects.h"
#include "deploy/views/plans.h"
#include "deploy/views/releases.h"
#include "host/background.h"
#include "host/flows/audit_documents.h"
#include "host/status_view.h"

namespace sluice::cli {
namespace deploy_commands {

namespace views = deploy::views;
using views::PlanDocument;

constexpr std::string_view kLocal = "local";
constexpr std::string_view kUp = "up";  // the origin of what sluice up has brought
constexpr int64_t kRedraw_ms = 200;
constexpr int kMostPlans = 3;
constexpr std::string_view kStale = "the plan is stale: ";
constexpr size_t kMaxPlanFile = size_t{64} << 20U;

std::string environment_of(const Context& context) { return context.given.text("env"); }

// ------------------------------------------------------------------------------------------------------------- plan

// What a refused plan says: every fault on a line of its own.
Error refused_plan(const Context& context, const host::Answer& answer) {
  Error error = refusal_in_words(context, answer);
  for (const char* field : {"errors", "missing", "details", "cycle"}) {
    const auto lines = answer.texts(field);
    if (lines.empty()) continue;
    const bool cycle = answer.variant == "circularDependency";
    error.message = answer.variant == "incompleteGraph" ? "the plan is incomplete; nothing was changed"
                    : answer.variant == "transportMismatch"
                        ? "components cannot talk to each other; nothing was changed"
                    : cycle ? "components wait for each other; nothing was changed"
                            : "the manifest is not valid; nothing was changed";
    std::string all;
    constexpr size_t kMostOfCycle = 24;
    for (size_t i = 0; i < lines.size(); ++i) {
      const bool left_out = cycle && lines.size() > kMostOfCycle && i >= kMostOfCycle / 2 && i + 2 < lines.size();
      if (left_out && i == kMostOfCycle / 2) {
        all += " → … " + std::to_string(lines.size() - kMostOfCycle / 2 - 2) + " more …";
      }
      if (!left_out) all += cycle ? (all.empty() ? "\n  " : " → ") + lines[i] : "\n  " + lines[i];
    }
    error.message += all;
    error.next = cycle ? "take one of the needs away" : "change the manifest, then plan again";
  }
  return error;
}

Result<std::string> make_plan(Context& context, const std::string& path) {
  // The environment local is made when it is first looked for.
  if (auto door = CommandDoor::open(context)) {
    auto known = (*door)->view("environment", {{"environment", environment_of(context)}});
    if (!known) return known.error();
  } else {
    return door.error();
  }
  auto app = BuiltApp::build(context, path, environment_of(context));
  if (!app) return app.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto input = (*app)->put(**door);
  if (!input) return input.error();
  auto answer = (*door)->call("DeployPlan/plan", *input, host::WaitFor::answer, "plan");
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refused_plan(context, *answer);
  return answer->text("plan");
}

Result<PlanDocument> read_plan(CommandDoor& door, const std::string& plan) {
  return door.read<PlanDocument>("plan", {{"plan", plan}});
}

void print_plan(Context& context, const PlanDocument& plan) {
  const std::string format = context.given.text("output");
  if (format == "dot") return context.output.print_text(plan::to_dot(graph_of(plan), plan.plan_id));
  if (format == "mermaid") return context.output.print_text(plan::to_mermaid(graph_of(plan)));
  context.output.print(to_json(plan), [&](const Terminal& terminal) { return plan_tree(plan, terminal); });
}

// Where telemetry goes changes without a node.
bool does_nothing(const PlanDocument& plan) {
  return plan.summary.nodes == 0 && plan.summary.create + plan.summary.change + plan.summary.remove == 0;
}

Code code_of_plan(const Context& context, const PlanDocument& plan) {
  return context.given.flag("exit-code") && !does_nothing(plan) ? Code::changes_pending : Code::ok;
}

Result<Code> plan_command(Context& context) {
  auto path = manifest_path(context, context.given.text("manifest"));
  if (!path) return path.error();
  auto id = make_plan(context, *path);
  if (!id) return id.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto plan = read_plan(**door, *id);
  if (!plan) return plan.error();
  print_plan(context, *plan);
  if (context.given.has("out")) {
    const json::object file{{"schema", "sluice.plan.v1"}, {"plan", plan->plan_id}, {"document", to_json(*plan)}};
    if (auto kept = write_atomically(context.disk, context.given.text("out"), write(file) + "\n", 0644); !kept)
      return kept.error();
  }
  if (plan->summary.nodes > 0) context.output.note("next: sluice deploy execute " + plan->plan_id);
  return code_of_plan(context, *plan);
}

// A plan by its id, or of the file that --out has written. Every home counts its plans anew, so the file of one home
// may have the id of another plan here: when it was made tells them apart.
Result<PlanDocument> plan_named(Context& context, CommandDoor& door, const std::string& given) {
  if (given.starts_with("dp-")) return read_plan(door, given);
  auto text = read_file(context.disk, given, kMaxPlanFile);
  if (!text) return text.error();
  auto file = parse_json(*text, given);
  if (!file) return file.error();
  const json::object* fields = file->root.if_object();
  const json::value* id = fields == nullptr ? nullptr : fields->if_contains("plan");
  const json::value* document = fields == nullptr ? nullptr : fields->if_contains("document");
  const json::object* kept = document == nullptr ? nullptr : document->if_object();
  if (id == nullptr || !id->is_string() || kept == nullptr) {
    return Error{.code = Code::invalid, .message = given + " is not a plan", .next = "sluice deploy plan --out FILE"};
  }
  auto plan = read_plan(door, std::string(id->get_string()));
  if (!plan && plan.error().code != Code::not_found) return plan;
  const json::value here = plan ? to_json(*plan) : json::object();
  const auto same = [&](std::string_view field) {
    const json::value* then = kept->if_contains(field);
    const json::value* now = here.get_object().if_contains(field);
    return then != nullptr && now != nullptr && *then == *now;
  };
  if (!same("created_at") || !same("app") || !same("environment_id")) {
    return Error{.code = Code::conflict,
                 .message = given + " was made in another home; a plan holds only where it was made",
                 .next = "sluice deploy plan --env ENV"};
  }
  return plan;
}

Result<Code> show(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto plan = plan_named(context, **door, context.given.text("plan"));
  if (!plan) return plan.error();
  print_plan(context, *plan);
  if (plan->phase != "planned") context.output.note("this plan is " + plan->phase);
  if (does_nothing(*plan)) context.output.note("this plan does nothing");
  return code_of_plan(context, *plan);
}

// ------------------------------------------------------------------------------------------------------------ watch

// Draws the plan again and again on a terminal; tells of each node that begins or ends elsewhere.
class PlanWatch {
 public:
  explicit PlanWatch(Context& context) : context_(context), terminal_(context.output.settings().err) {}

  void show(const PlanDocument& plan) {
    if (context_.output.settings().quiet) return;
    if (terminal_.tty) {
      erase();
      const std::string text = plan_progress(plan, terminal_, screen_lines());
      drawn_ = static_cast<size_t>(std::ranges::count(text, '\n'));
      context_.output.progress_stream() << text << std::flush;
      return;
    }
    if (plan.phase == "queued" && plan.waits_for && told_.emplace("queue", *plan.waits_for).second) {
      context_.output.note("waits for " + *plan.waits_for);
    }
    for (const auto& each : plan.nodes) {
      if (each.status == "waiting" || told_[each.node] == each.status) continue;
      told_[each.node] = each.status;
      context_.output.note(node_line(each));
    }
  }

  bool draws() const { return terminal_.tty && !context_.output.settings().quiet; }

  void erase() {
    if (drawn_ > 0) context_.output.progress_stream() << "\x1b[" << drawn_ << "F\x1b[J" << std::flush;
    drawn_ = 0;
  }

 private:
  // Nothing that has left the screen can be drawn again.
  static size_t screen_lines() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 4 ? size.ws_row - 1U : 23;
  }

  Context& context_;
  Terminal terminal_;
  size_t drawn_ = 0;
  std::map<std::string, std::string> told_;
};

Code code_of_end(const PlanDocument& plan) {
  if (plan.phase == "complete") return Code::ok;
  if (plan.phase == "rolledBack") return Code::rolled_back;
  if (plan.phase == "cancelled") return Code::conflict;
  return Code::failed;
}

// Whether all of what the plan brought was new: undoing it leads back to nothing.
bool is_first_of_all(const PlanDocument& plan) {
  bool creates = false;
  for (const plan::Change& each : plan.changes) {
    if (each.sign != plan::ChangeSign::create) return false;
    creates = true;
  }
  return creates;
}

void tell_next(Context& context, const PlanDocument& plan) {
  if (plan.phase == "complete" && is_first_of_all(plan)) {
    context.output.note("next: sluice deploy destroy " + plan.app + " --env " + plan.environment_id + " removes it");
  } else if (plan.phase == "complete") {
    context.output.note("next: sluice rollback --env " + plan.environment_id + " goes back to what was before");
  } else if (plan.phase == "rolledBack") {
    context.output.note("what was done is undone; next: change what failed, then run sluice deploy again");
  } else if (plan.phase == "partial") {
    context.output.note("what was done stays; next: sluice deploy rollback " + plan.plan_id + " undoes it");
  } else if (plan.phase == "stuck") {
    for (const auto& each : plan.nodes) {
      if (each.status != "stuck") continue;
      context.output.note(each.node + " could not be undone: " + each.trouble.value_or("") +
                          (each.revision ? "; look: sluice why " + *each.revision : ""));
    }
    context.output.note("next: remove what stands in the way, then run sluice deploy rollback " + plan.plan_id);
  }
}

// Puts what a program that is being started has said last into the note of its node.
void add_last_lines(CommandDoor& door, PlanDocument& plan) {
  for (auto& each : plan.nodes) {
    if (!each.revision || !each.began_at) continue;
    (void)door.read_logs({.names = {*each.revision}, .since = *each.began_at}, [&](const host::SaidLine& line) {
      each.note.emplace(line.text);
      return true;
    });
  }
}

// Where the components of the plan can be reached, if a router serves the environment.
std::vector<std::string> urls_of_plan(CommandDoor& door, const PlanDocument& plan) {
  std::vector<std::string> urls, listen;
  auto status = door.look("status");
  auto document = status ? sluice::read<host::StatusDocument>(status->document) : status.error();
  auto all = door.look("deployments", {{"environment", plan.environment_id}});
  auto deployments = all ? sluice::read<std::vector<views::DeploymentDocument>>(all->document) : all.error();
  if (!document || !document->environments || !deployments) return urls;
  for (const host::StatusEnvironment& each : *document->environments) {
    if (each.environment != plan.environment_id) continue;
    for (const host::StatusRouter& router : each.routers) {
      if (router.running) std::ranges::copy(router.listen, std::back_inserter(listen));
    }
  }
  for (const std::string& own : plan.deployments) {
    auto each = std::ranges::find(*deployments, own, &views::DeploymentDocument::deployment_id);
    if (each != deployments->end()) std::ranges::copy(urls_of(listen, each->route_binding), std::back_inserter(urls));
  }
  return urls;
}

// Until the plan is over, or the person here has had enough.
Result<Code> watch(Context& context, CommandDoor& door, const std::string& id) {
  RealClock clock;
  PlanWatch screen(context);
  for (;;) {
    auto plan = read_plan(door, id);
    if (!plan) return plan.error();
    if (screen.draws()) add_last_lines(door, *plan);
    if (is_over(*plan)) {
      screen.show(*plan);
      screen.erase();
      const auto urls = plan->phase == "complete" ? urls_of_plan(door, *plan) : std::vector<std::string>();
      context.output.print(to_json(*plan), [&](const Terminal& terminal) {
        std::string text = plan_end(*plan, terminal);
        for (const std::string& each : urls) text += each + "\n";
        return text;
      });
      tell_next(context, *plan);
      return code_of_end(*plan);
    }
    screen.show(*plan);
    if (door.stopped()) {
      screen.erase();
      context.output.note(id + " goes on in sluice serve; sluice deploy status " + id + " --wait comes back to it");
      return Code::ok;
    }
    clock.sleep_ms(kRedraw_ms);
  }
}

// What people have done in the environments since a plan was made: one line each.
std::string changes_since(CommandDoor& door, const PlanDocument& plan) {
  constexpr size_t kMostTold = 5;
  auto calls = door.look("audit", {{"since", plan.created_at}});
  auto steps = calls ? sluice::read<std::vector<host::AuditedStep>>(calls->document) : calls.error();
  if (!steps) return "";
  std::vector<std::string> lines;
  for (const host::AuditedStep& each : *steps) {
    const std::string action = each.action.value_or("");
    const bool about = action.starts_with("Env/") || action.starts_with("Deployment/") ||
                       action.starts_with("Traffic/") || action.starts_with("Rollout/") ||
                       action == "DeployPlan/execute" || action == "DeployPlan/rollback";
    const json::object* input = each.input ? each.input->if_object() : nullptr;
    const json::value* own = input == nullptr ? nullptr : input->if_contains("plan");
    if (!about || (own != nullptr && *own == json::value(plan.plan_id))) continue;
    lines.push_back("\n  " + lang::to_text(each.at) + "  " + each.caller + "  " + action +
                    (each.outcome ? " => " + *each.outcome : ""));
  }
  std::string told;
  for (size_t i = lines.size() > kMostTold ? lines.size() - kMostTold : 0; i < lines.size(); ++i) told += lines[i];
  return told;
}

Result<Code> begin_and_watch(Context& context, CommandDoor& door, const std::string& action, json::object input,
                             const std::string& id) {
  auto begun = door.begin(action, input);
  if (!begun) return begun.error();
  // What is refused ends at once; what runs is watched.
  RealClock clock;
  for (;;) {
    auto plan = read_plan(door, id);
    if (!plan) return plan.error();
    auto answer = door.answer_of(*begun->flow);
    if (!answer) return answer.error();
    if (answer->ended() &&
        (answer->variant == "stale" || answer->variant == "notExecutable" || answer->variant == "alreadyExecuting" ||
         answer->variant == "notfound" || answer->variant == "notExecuted" || answer->variant == "cancelled")) {
      Error error = refusal_in_words(context, *answer);
      if (answer->variant == "stale") {
        error.message = std::string(kStale) + error.message + "; nothing was changed" + changes_since(door, *plan);
        error.next = "sluice deploy plan --env " + plan->environment_id;
      } else if (error.message.empty() || answer->text("message").empty()) {
        error.message = id + ": " + answer->variant;
      }
      if (answer->variant == "alreadyExecuting") error.next = "sluice deploy status " + id + " --wait";
      return error;
    }
    if (answer->ended() || plan->started_at) return watch(context, door, id);
    if (plan->phase == "queued" && plan->waits_for) return watch(context, door, id);
    if (door.stopped()) return Code::ok;
    clock.sleep_ms(10);
  }
}

// ---------------------------------------------------------------------------------------------------------- execute

// What serves must be kept running when this command has ended. After a login that is the server's own business.
Result<void> begin_serving(Context& context, const std::string& environment) {
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  if (opening->server) return {};
  auto home = home_of(context);
  if (!home) return home.error();
  RealClock clock;
  auto served = host::ensure_serve(context.disk, *home, clock);
  if (!served) return served.error();
  if (environment != kLocal) return {};
  auto begun = host::begin_router(context.disk, *home, 0);
  if (!begun) return begun.error();
  auto here = host::finish_router(context.disk, *home, clock, 0, *begun);
  if (!here) return here.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  return introduce_router(**door, *here);
}

json::object execution_input(const Context& context, const std::string& id) {
  json::object input{{"plan", id}};
  if (auto parallel = context.given.number("parallel")) input["parallel"] = *parallel;
  const bool removes = context.given.command->name == "deploy destroy";  // which rolls nothing out
  if (!removes && context.given.flag("skip-rollout")) input["skipRollout"] = true;
  return input;
}

Result<Code> execute(Context& context) {
  std::string id;
  {
    auto door = CommandDoor::open(context);
    if (!door) return door.error();
    auto plan = plan_named(context, **door, context.given.text("plan"));
    if (!plan) return plan.error();
    id = plan->plan_id;
    if (plan->summary.nodes > 0 && !plan->stale) {
      door->reset();
      if (auto serves = begin_serving(context, plan->environment_id); !serves) return serves.error();
    }
  }
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  return begin_and_watch(context, **door, "DeployPlan/execute", execution_input(context, id), id);
}

// Shows a plan, asks, executes and watches.
Result<Code> carry_out(Context& context, const std::string& id) {
  std::optional<PlanDocument> plan;
  {
    auto door = CommandDoor::open(context);
    if (!door) return door.error();
    auto read = read_plan(**door, id);
    if (!read) return read.error();
    plan = *std::move(read);
  }
  const bool table = context.output.settings().format == Format::table;
  if (table) print_plan(context, *plan);
  if (does_nothing(*plan)) {
    if (!table) print_plan(context, *plan);
    if (plan->summary.keep > 0) {  // it is to serve all the same
      if (auto serves = begin_serving(context, plan->environment_id); !serves) return serves.error();
    }
    context.output.note("nothing changes");
    return Code::ok;
  }
  auto yes = confirmed(context, "execute " + plan->plan_id + " in " + plan->environment_id);
  if (!yes) return yes.error();
  if (!*yes) {
    context.output.note("nothing was changed; sluice deploy execute " + plan->plan_id + " executes it later");
    return Code::ok;
  }
  if (auto serves = begin_serving(context, plan->environment_id); !serves) return serves.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  return begin_and_watch(context, **door, "DeployPlan/execute", execution_input(context, plan->plan_id), plan->plan_id);
}

// What is named is a path if it is there or has a slash, else a Component that was applied.
Result<bool> is_component(Context& context, CommandDoor& door, const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos) return false;
  auto found = door.read<std::vector<views::DefinedObject>>("definitions", {{"kind", "Component"}, {"name", name}});
  if (!found && found.error().code != Code::not_found) return found.error();
  auto path = context.disk.exists(name);
  if (!path) return path.error();
  if (found && *path) {
    return Error{.code = Code::usage,
                 .message = "'" + name + "' is a Component and a path",
                 .next = "sluice deploy ./" + name + " for the path, or go elsewhere for the Component"};
  }
  return found.has_value();
}

// A release of what is defined now, pinned to the environment.
Result<Code> deploy_component(Context& context, CommandDoor& door, const std::string& name) {
  auto made = door.call("Release/create", {{"component", name}}, host::WaitFor::answer, "release");
  if (!made) return made.error();
  if (made->code != Code::ok) return refusal_in_words(context, *made);
  const json::object pin{{"component", name},
                         {"environment", environment_of(context)},
                         {"release", made->text("release")},
                         {"state", "Active"}};
  auto answer = door.call("Pin/set", {{"pins", json::array{pin}}, {"wait", true}}, host::WaitFor::all);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  print_done(context, *answer, "deployed", made->text("release") + " in " + environment_of(context));
  return Code::ok;
}

// Build, plan, ask, execute, watch.
Result<Code> run(Context& context) {
  {
    auto door = CommandDoor::open(context);
    if (!door) return door.error();
    auto component = is_component(context, **door, context.given.text("manifest"));
    if (!component) return component.error();
    if (*component) return deploy_component(context, **door, context.given.text("manifest"));
  }
  auto path = manifest_path(context, context.given.text("manifest"));
  if (!path) return path.error();
  for (int again = 0;; ++again) {
    auto id = make_plan(context, *path);
    if (!id) return id.error();
    auto code = carry_out(context, *id);
    // While it waited for its turn, or for this person, somebody has changed what it saw.
    if (code || code.error().code != Code::conflict || !code.error().message.starts_with(kStale) || again == kMostPlans)
      return code;
    context.output.note(code.error().message + "; planning again");
  }
}

// A plan that is made without a manifest: of an earlier one, or to remove an app.
Result<std::string> plan_again(Context& context, json::object input) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  input["manifest"] = "";
  input["environment"] = environment_of(context);
  auto answer = (*door)->call("DeployPlan/plan", input, host::WaitFor::answer, "plan");
  if (!answer) return answer.error();
  if (answer->code != Code::ok) {
    Error error = refused_plan(context, *answer);
    error.next = "sluice deploy list --env " + environment_of(context);  // nobody has a manifest here to change
    return error;
  }
  return answer->text("plan");
}

Result<std::vector<views::ListedPlan>> plans_of_environment(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  return (*door)->read<std::vector<views::ListedPlan>>("plans", {{"environment", environment_of(context)}});
}

// If only in part.
bool is_in_effect(const views::ListedPlan& plan) {
  return plan.phase == "complete" || plan.phase == "partial" || plan.phase == "stuck";
}

// The one app that plans have brought to the environment.
Result<std::string> only_app(Context& context) {
  auto plans = plans_of_environment(context);
  if (!plans) return plans.error();
  std::set<std::string> seen, apps;
  for (const auto& each : *plans) {  // the newest first
    if (!is_in_effect(each) || each.origin == kUp || !seen.insert(each.app).second) continue;
    if (each.summary.create + each.summary.change + each.summary.keep > 0) apps.insert(each.app);
  }
  if (apps.size() == 1) return *apps.begin();
  std::string names;
  for (const std::string& each : apps) names += " " + each;
  return Error{.code = apps.empty() ? Code::not_found : Code::usage,
               .message = apps.empty() ? "no app is deployed in " + environment_of(context)
                                       : "name one of the apps of " + environment_of(context) + ":" + names,
               .next = "sluice deploy list --env " + environment_of(context)};
}

Result<Code> destroy(Context& context) {
  std::string app = context.given.text("app");
  if (app.empty()) {
    auto only = only_app(context);
    if (!only) return only.error();
    app = *only;
  }
  auto id = plan_again(context, {{"destroy", app}});
  if (!id) return id.error();
  if (!context.given.flag("dry-run")) return carry_out(context, *id);
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto plan = read_plan(**door, *id);
  if (!plan) return plan.error();
  print_plan(context, *plan);
  context.output.note("nothing was removed");
  return Code::ok;
}

// Goes back, or forward, to a version that was deployed before: a plan of what it was made of.
Result<Code> to_version(Context& context, const std::string& version) {
  auto plans = plans_of_environment(context);
  if (!plans) return plans.error();
  for (const auto& each : *plans) {
    if (each.version != version || each.origin == kUp) continue;
    if (each.phase != "complete") continue;
    auto id = plan_again(context, {{"from", each.plan_id}});
    if (!id) return id.error();
    return carry_out(context, *id);
  }
  return Error{.code = Code::not_found,
               .message = "no plan of version " + version + " was executed in " + environment_of(context) +
                          " and not rolled back since",
               .next = "sluice deploy list --env " + environment_of(context)};
}

// ------------------------------------------------------------------------------------------- status, list and the rest

Result<Code> status(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  json::object query;
  if (context.given.has("plan")) {
    query["plan"] = context.given.text("plan");
  } else {
    query["environment"] = environment_of(context);
  }
  auto plan = (*door)->read<PlanDocument>("plan", query);
  if (!plan) return plan.error();
  if (context.given.flag("wait")) return watch(context, **door, plan->plan_id);
  context.output.print(to_json(*plan), [&](const Terminal& terminal) {
    return is_over(*plan) && plan->phase != "planned" ? plan_end(*plan, terminal) : plan_progress(*plan, terminal);
  });
  return Code::ok;
}

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  json::object query;
  if (context.given.has("env")) query["environment"] = environment_of(context);
  auto plans = (*door)->read<std::vector<views::ListedPlan>>("plans", query);
  if (!plans) return plans.error();
  context.output.print(to_json(*plans), [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "PLAN", .whole = true},
                            {"APP"},
                            {"VERSION"},
                            {"ENVIRONMENT"},
                            {"PHASE"},
                            {"NODES"},
                            {"FROM"},
                            {"CREATED"}},
                .empty = "there are no plans"};
    for (const auto& each : *plans) {
      table.rows.push_back({{each.plan_id},
                            {each.app},
                            {each.version},
                            {each.environment_id},
                            {each.phase},
                            {std::to_string(each.done) + "/" + std::to_string(each.summary.nodes)},
                            {each.origin},
                            {each.created_at}});
    }
    return render_fitting(std::move(table), terminal, {"FROM", "NODES"});
  });
  return Code::ok;
}

Result<Code> cancel(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  const std::string id = context.given.text("plan");
  auto answer = (*door)->call("DeployPlan/cancel", {{"plan", id}, {"keep", context.given.flag("keep")}},
                              host::WaitFor::answer, "cancel");
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  print_done(context, *answer, "cancelled", id + (answer->text("phase") == "running" ? ": what runs ends first" : ""));
  return Code::ok;
}

// The plan that brought what serves: the one that ended last and is in effect.
Result<std::string> plan_to_undo(Context& context, CommandDoor& door) {
  auto plans = door.read<std::vector<views::ListedPlan>>("plans", {{"environment", environment_of(context)}});
  if (!plans) return plans.error();
  const views::ListedPlan* last = nullptr;
  for (const auto& each : *plans) {
    if (!is_in_effect(each) || each.summary.nodes == 0 || each.done == 0) continue;
    if (last == nullptr || each.ended_at.value_or("") > last->ended_at.value_or("")) last = &each;
  }
  if (last != nullptr) return last->plan_id;
  return Error{.code = Code::not_found,
               .message = "nothing was deployed to " + environment_of(context) + " that could be undone",
               .next = "sluice deploy list --env " + environment_of(context)};
}

// What serves when the plan is undone: ", after which shop serves 1.0.0 again".
std::string after_undoing(const PlanDocument& plan) {
  std::string text;
  bool all_new = plan.summary.create > 0;
  for (const plan::Change& each : plan.changes) {
    if (each.sign == plan::ChangeSign::keep) all_new = false;
    if (each.sign == plan::ChangeSign::keep) continue;
    all_new = all_new && each.sign == plan::ChangeSign::create;
    text += (text.empty() ? ", after which " : ", ") + each.component;
    if (each.sign == plan::ChangeSign::create) text += " is removed";
    if (each.sign == plan::ChangeSign::remove) text += " comes back";
    if (each.sign != plan::ChangeSign::change) continue;
    auto version = std::ranges::find(each.fields, "version", &plan::FieldChange::name);
    const bool bundle = std::ranges::find(each.fields, "bundle", &plan::FieldChange::name) != each.fields.end();
    if (version == each.fields.end()) {
      text += bundle ? " serves what it served before again" : " has its earlier settings again";
    } else {
      text += " serves " + (version->before.empty() ? "what it served before" : version->before) + " again";
    }
  }
  if (all_new) return ", which removes all of " + plan.app + ": nothing of it was there before";
  return text;
}

Result<Code> rollback(Context& context) {
  if (context.given.has("to-version")) return to_version(context, context.given.text("to-version"));
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  std::string id;
  if (context.given.command->name != "rollback" && context.given.has("plan")) {
    id = context.given.text("plan");
  } else {
    auto found = plan_to_undo(context, **door);
    if (!found) return found.error();
    id = *found;
  }
  auto plan = read_plan(**door, id);
  if (!plan) return plan.error();
  const bool named = context.given.command->name != "rollback" && context.given.has("plan");
  if (!named && is_first_of_all(*plan)) {
    return Error{.code = Code::conflict,
                 .message = plan->app + " " + plan->version + " is the first that was deployed to " +
                            plan->environment_id + ", so there is nothing to go back to; nothing was changed",
                 .next = plan->phase != "complete" ? "sluice deploy rollback " + id + " removes it"
                                                   : (plan->origin == kUp ? "sluice down " : "sluice deploy destroy ") +
                                                         plan->app + " --env " + plan->environment_id + " removes it"};
  }
  auto yes = confirmed(context, "undo " + id + " (" + plan->app + " " + plan->version + ") in " + plan->environment_id +
                                    after_undoing(*plan));
  if (!yes) return yes.error();
  if (!*yes) return Code::ok;
  door->reset();
  if (auto serves = begin_serving(context, plan->environment_id); !serves) return serves.error();
  door = CommandDoor::open(context);
  if (!door) return door.error();
  auto begun = (*door)->call("DeployPlan/rollback", {{"plan", id}}, host::WaitFor::answer, "rollback");
  if (!begun) return begun.error();
  if (begun->code != Code::ok && begun->variant != "partial") return refusal_in_words(context, *begun);
  auto after = read_plan(**door, id);
  if (!after) return after.error();
  context.output.print(to_json(*after), [&](const Terminal& terminal) { return plan_end(*after, terminal); });
  if (begun->variant == "partial") {
    tell_next(context, *after);
    return Code::failed;
  }
  return Code::ok;
}

std::vector<Option> building_options(std::vector<Option> own) {
  for (Option& each : signing_options()) own.push_back(std::move(each));
  return own;
}

std::vector<Option> deciding_options(std::vector<Option> own) {
  for (Option& each : call_options()) own.push_back(std::move(each));
  return own;
}

Option env_option() { return {.name = "env", .value = "ENV", .help = "the environment", .fallback = "local"}; }

}  // namespace deploy_commands

void add_deploy_commands(Commands& commands) {
  using namespace deploy_commands;
  const Arg manifest{.name = "manifest",
                     .help = "an app.deploy.yaml, or the folder that has one",
                     .kind = Kind::path,
                     .optional = true};
  Arg component_or_manifest = manifest;
  component_or_manifest.help = "an app.deploy.yaml, the folder that has one, or a Component";
  const Option yes{.name = "yes", .help = "do not ask"};
  const Option parallel{.name = "parallel", .value = "N", .help = "how many nodes run at once", .kind = Kind::count};
  const Option target{.name = "target", .value = "COMPONENT", .help = "plan only this component", .repeated = true};
  const Option skip{.name = "skip-rollout", .help = "shift traffic at once, whatever the manifest's rollout says"};
  const Option to_version{
      .name = "to-version", .value = "VERSION", .help = "deploy this earlier version of the app again"};
  const Option exit_code{.name = "exit-code", .help = "exit with 3 if something would change"};
  commands.add_noun({.name = "deploy",
                     .group = Group::ship,
                     .summary = "Plan and execute what a deploy manifest asks for",
                     .verb = "run"});
  commands.add({.name = "deploy run",
                .summary = "Build, plan, ask, execute and watch",
                .details =
                    "`sluice deploy DIR` is the same. What fails is undone. Ctrl-C stops watching; the plan goes "
                    "on. `sluice deploy COMPONENT` cuts a release of a Component that was applied, and pins it.",
                .args = {component_or_manifest},
                .options = building_options({env_option(), yes, parallel, target, skip}),
                .example = "sluice deploy run examples/diamond --env local --yes",
                .run = deploy_commands::run});
  commands.add({.name = "deploy plan",
                .summary = "Show what would change, and in which order",
                .details = "Nothing is changed. The plan is bound to what it saw: it is refused once somebody else has "
                           "changed that.",
                .args = {manifest},
                .options = building_options(
                    {env_option(),
                     target,
                     exit_code,
                     {.name = "out", .value = "FILE", .help = "keep the plan in a file", .kind = Kind::path}}),
                .formats = {"dot", "mermaid"},
                .example = "sluice deploy plan examples/diamond --env local",
                .run = plan_command});
  commands.add({.name = "deploy show",
                .summary = "Show a plan, and whether it still holds",
                .args = {{.name = "plan", .help = "a plan, or a file written by --out"}},
                .options = reading_options({exit_code}),
                .formats = {"dot", "mermaid"},
                .example = "sluice deploy show dp-2026-02-20-001",
                .run = show});
  commands.add({.name = "deploy execute",
                .summary = "Execute a plan, and watch",
                .args = {{.name = "plan", .help = "a plan, or a file written by --out"}},
                .options = deciding_options({parallel, skip}),
                .example = "sluice deploy execute dp-2026-02-20-001",
                .run = execute});
  commands.add(
      {.name = "deploy status",
       .summary = "Show how far a plan is",
       .args = {{.name = "plan", .help = "the plan; by default the newest of the environment", .optional = true}},
       .options = reading_options({env_option(), {.name = "wait", .help = "watch until it is over"}}),
       .example = "sluice deploy status --env local",
       .run = status});
  commands.add({.name = "deploy list",
                .summary = "List plans, the newest first",
                .details = "What sluice up does is listed, too, as a plan of one component.",
                .options = reading_options({{.name = "env", .value = "ENV", .help = "only those of this environment"}}),
                .example = "sluice deploy list",
                .run = list});
  commands.add({.name = "deploy cancel",
                .summary = "Start no further nodes, and undo what was done",
                .args = {{.name = "plan", .help = "the plan"}},
                .options = deciding_options({{.name = "keep", .help = "leave what was done as it is"}}),
                .example = "sluice deploy cancel dp-2026-02-20-001",
                .run = cancel});
  commands.add(
      {.name = "deploy rollback",
       .summary = "Undo an executed plan, in reverse order",
       .args = {{.name = "plan", .help = "the plan; by default the last one of the environment", .optional = true}},
       .options = deciding_options({env_option(), yes, to_version, parallel, skip}),
       .example = "sluice deploy rollback --env local --yes",
       .run = rollback});
  commands.add(
      {.name = "deploy destroy",
       .summary = "Remove everything that an app deployed to an environment",
       .details = "In reverse order of what needs what. What programs have stored stays.",
       .args = {{.name = "app", .help = "the app; not needed if there is one", .optional = true}},
       .options = deciding_options({env_option(), yes, parallel, {.name = "dry-run", .help = "only show the plan"}}),
       .example = "sluice deploy destroy --env local --yes",
       .run = destroy});
  commands.add({.name = "rollback",
                .group = Group::ship,
                .summary = "Go back to what served before the last deploy",
                .details =
                    "The same as sluice deploy rollback without a plan. What sluice up has brought is taken back "
                    "in the same way.",
                .options = deciding_options({env_option(), yes, to_version, parallel, skip}),
                .example = "sluice rollback --env local --yes",
                .run = rollback});
}

}  // namespace sluice::cli
