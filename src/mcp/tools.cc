// One table; what several tools share stands before it.
#include "mcp/tools.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/basis_points.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "deploy/views/objects.h"
#include "deploy/views/rollouts.h"
#include "engine/caller_words.h"
#include "engine/outcome_code.h"
#include "host/access_views.h"
#include "host/engine_door.h"
#include "host/moment.h"
#include "lang/codegen/generate_schema.h"

namespace sluice::mcp {
namespace {

namespace views = deploy::views;
using Given = const json::object&;
using Mapped = Result<json::object>;

constexpr size_t kMostFound = 5;
constexpr size_t kMostLines = 500;

std::string text(Given given, std::string_view name) {
  const json::value* value = given.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

json::object texts(const char* description) { return {{"type", "string"}, {"description", description}}; }

json::object schema(json::object properties, std::initializer_list<std::string_view> required) {
  json::array needed;
  for (std::string_view each : required) needed.push_back(json::value(each));
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(needed)},
          {"additionalProperties", false}};
}

// What the schemas of an answer say: those of an action, and of a preview of it.
json::object answer_schema() {
  return {{"type", "object"},
          {"properties",
           {{"action", texts("the action that was called")},
            {"variant", texts("how it ended: ok, or another of its variants; missing while it goes on")},
            {"fields", {{"type", "object"}}},
            {"flow", texts("its flow: flow_trace shows it, explain says what it waits for")},
            {"state", {{"type", "string"}}},
            {"waitsFor", texts("what is open, if it goes on")},
            {"preview", {{"type", "object"}, {"description", "what would happen; nothing was changed yet"}}},
            {"plan_id", texts("call the tool again with the same arguments and this plan_id to do it")},
            {"expires_at", {{"type", "string"}}}}},
          {"required", {"action"}}};
}

// A schema of a view that stands alone: clients judge it as one of any draft.
json::object plain(json::value schema) {
  json::object& object = schema.as_object();
  object.erase("$schema");
  object.erase("$id");
  return object;
}

json::object output_of(const lang::ViewWords& view) {
  json::object own = plain(view.schema());
  const json::value* type = own.if_contains("type");
  if (type != nullptr && *type == json::value("object")) return own;
  json::object whole{{"type", "object"}};
  if (json::value* defs = own.if_contains("$defs")) {
    whole["$defs"] = std::move(*defs);
    own.erase("$defs");
  }
  whole["properties"] = json::object{{"items", std::move(own)}};
  whole["required"] = json::array{"items"};
  return whole;
}

const lang::ViewWords* view_named(std::string_view name) {
  for (const lang::ViewWords* each : known_views()) {
    if (each->name == name) return each;
  }
  return nullptr;
}

Mapped read_view(Turn& turn, const std::string& name, const json::object& query) {
  auto answer = turn.door.view(name, query);
  if (!answer) return answer.error();
  return as_object(std::move(answer->document));
}

// A tool that reads one view; what is asked of the view is what the tool takes.
Tool reads(const char* name, const char* title, const char* description, const std::string& view) {
  const lang::ViewWords& words = *view_named(view);
  json::object input = plain(words.query_schema());
  if (json::value* properties = input.if_contains("properties")) {
    properties->as_object().erase("kit");  // which of several kits: for people who write one
  }
  return {.name = name,
          .title = title,
          .description = description,
          .input = std::move(input),
          .output = output_of(words),
          .run = [view](Turn& turn, Given given) { return read_view(turn, view, given); }};
}

// ------------------------------------------------------------------------------------------------- what names mean

const json::object kEnvironment = texts("the environment's name, such as local or staging");
const json::object kBundle = texts("the bundle's name, such as hello; left out if the environment has one deployment");
const json::object kDeployment = texts("the deployment's id or the beginning of it; in place of bundle and customer");
const json::object kCustomer = texts("the customer, where several have this bundle");
const json::object kRevision = texts("a revision, such as hello@2, or its id");
const json::object kPlanId = texts("from the preview that this tool gives when it is called without; it is good once");
const json::object kReason = texts("why, in a sentence; it is kept in the audit");
const json::object kRollout = texts("a rollout's id, or its revision, such as hello@2; the newest if it is left out");

json::object about_deployment(json::object more) {
  json::object all{
      {"environment", kEnvironment}, {"bundle", kBundle}, {"deployment", kDeployment}, {"customer", kCustomer}};
  for (auto& [name, value] : more) all[name] = std::move(value);
  return all;
}

json::object deployment_in(Given given) {
  json::object query;
  for (const char* each : {"environment", "deployment", "bundle", "customer"}) {
    if (given.contains(each)) query[each] = given.at(each);
  }
  return query;
}

Result<views::MeantNames> meant(Turn& turn, Given given, json::array revisions = {}) {
  json::object query = deployment_in(given);
  if (!revisions.empty()) query["revisions"] = std::move(revisions);
  auto answer = turn.door.view("names", query);
  if (!answer) return answer.error();
  return read<views::MeantNames>(answer->document);
}

Result<std::string> rollout_in(Turn& turn, Given given) {
  auto answer =
      turn.door.view("rollout", {{"rollout", text(given, "rollout")}, {"environment", text(given, "environment")}});
  if (!answer) return answer.error();
  return std::string(answer->document.at("rollout").as_string());
}

// How things are now, beside what would become of them; nothing if it cannot be read.
json::value shown_now(Turn& turn, const std::string& view, const json::object& query) {
  auto answer = turn.door.view(view, query);
  return answer ? std::move(answer->document) : json::value();
}

// A share as people write it: 10, "10", "10%" or "0.5%".
Result<int64_t> share_in(const json::value& value) {
  std::string written = value.is_string() ? std::string(value.get_string()) : write(value);
  if (!written.ends_with('%')) written += '%';
  auto bps = parse_basis_points(written);
  if (!bps) return bps.error();
  return *bps;
}

// ----------------------------------------------------------------------------------------------------------- tasks

Tool acts(const char* name, const char* title, const char* description, lang::Impact effect, json::object input,
          std::function<Mapped(Turn&, Given)> run) {
  const bool previewed = effect >= lang::Impact::shifts;
  json::object& properties = input["properties"].as_object();
  properties["reason"] = kReason;
  if (previewed) properties["plan_id"] = kPlanId;
  return {.name = name,
          .title = title,
          .description = std::string(description) +
                         (previewed ? " Called without plan_id it only answers with a preview and a plan_id." : ""),
          .input = std::move(input),
          .output = answer_schema(),
          .effect = effect,
          .run = std::move(run)};
}

Mapped set_traffic(Turn& turn, Given given) {
  const json::value* shares = given.if_contains("shares");
  if (shares == nullptr || !shares->is_object() || shares->get_object().empty()) {
    return Error{.code = Code::invalid, .message = "shares is an object: {\"hello@2\": \"10%\", \"hello@1\": \"90%\"}"};
  }
  json::array names;
  for (const auto& each : shares->get_object()) names.push_back(json::value(each.key()));
  auto names_meant = meant(turn, given, std::move(names));
  if (!names_meant) return names_meant.error();
  json::array entries;
  size_t place = 0;
  for (const auto& each : shares->get_object()) {
    auto bps = share_in(each.value());
    if (!bps) return bps.error();
    entries.push_back(json::object{{"revision", names_meant->revisions.at(place++).revision}, {"weightBps", *bps}});
  }
  return act(turn, "Traffic/set", {{"deployment", names_meant->deployment}, {"entries", std::move(entries)}},
             text(given, "plan_id"), text(given, "reason"), shown_now(turn, "traffic", deployment_in(given)));
}

Mapped roll_back(Turn& turn, Given given) {
  auto names = meant(turn, given);
  if (!names) return names.error();
  const json::value* given_steps = given.if_contains("steps");
  const json::value steps = given_steps != nullptr ? *given_steps : json::value(1);
  json::object query = deployment_in(given);
  query["steps"] = steps;
  json::value way = shown_now(turn, "way-back", query);
  const json::value* leads = way.is_object() ? way.get_object().if_contains("becomes") : nullptr;
  if (leads != nullptr && leads->is_array() && leads->get_array().empty()) {
    return Error{.code = Code::conflict,
                 .message = "there is no split " + write(steps) + " back: " + write(way.at("steps_there")) +
                            " can be gone; nothing was changed",
                 .next = "traffic_show says what serves now"};
  }
  return act(turn, "Deployment/rollBack", {{"deployment", names->deployment}, {"steps", steps}}, text(given, "plan_id"),
             text(given, "reason"), way);
}

// Arguments that an action takes by the same name.
json::object taken(Given given, std::initializer_list<const char*> names) {
  json::object input;
  for (const char* each : names) {
    if (given.contains(each)) input[each] = given.at(each);
  }
  return input;
}

Mapped deploy_bundle(Turn& turn, Given given) {
  json::object input = taken(given, {"environment", "archive", "signature", "customer"});
  if (const json::value* share = given.if_contains("canary")) {
    auto bps = share_in(*share);
    if (!bps) return bps.error();
    input["canaryBps"] = *bps;
  }
  return act(turn, "Deployment/up", input, text(given, "plan_id"), text(given, "reason"),
             shown_now(turn, "deployments", {{"environment", text(given, "environment")}}));
}

Mapped plan_deploy(Turn& turn, Given given) {
  auto done = act(turn, "DeployPlan/plan", taken(given, {"manifest", "environment", "bundles", "variables", "only"}),
                  "", text(given, "reason"));
  if (!done || !done->contains("fields")) return done;
  const json::value* plan = done->at("fields").as_object().if_contains("plan");
  if (plan == nullptr) return done;
  // The graph is for programs; what changes is in the view.
  done->at("fields").as_object().erase("graph");
  (*done)["plan"] = shown_now(turn, "plan", {{"plan", *plan}});
  return done;
}

Mapped execute_plan(Turn& turn, Given given) {
  const std::string plan = text(given, "plan");
  return act(turn, "DeployPlan/execute", {{"plan", plan}}, text(given, "plan_id"), text(given, "reason"),
             shown_now(turn, "plan", {{"plan", plan}}));
}

Mapped start_rollout(Turn& turn, Given given) {
  const std::string revision = text(given, "revision");
  auto names = meant(turn, given, {json::value(revision)});
  if (!names) return names.error();
  json::object input = taken(given, {"strategy", "steps", "autoRollback"});
  input["deployment"] = names->deployment;
  input["revision"] = names->revisions.at(0).revision;
  return act(turn, "Rollout/begin", input, text(given, "plan_id"), text(given, "reason"),
             shown_now(turn, "traffic", deployment_in(given)));
}

Tool of_rollout(const char* name, const char* title, const char* description, lang::Impact effect, const char* action,
                bool needs_reason = false) {
  const std::string called = action;
  auto run = [called, needs_reason](Turn& turn, Given given) -> Mapped {
    auto rollout = rollout_in(turn, given);
    if (!rollout) return rollout.error();
    json::object input{{"rollout", *rollout}};
    if (needs_reason) input["reason"] = text(given, "reason");
    return act(turn, called, input, text(given, "plan_id"), text(given, "reason"),
               shown_now(turn, "rollout", {{"rollout", *rollout}}));
  };
  return acts(name, title, description, effect, schema({{"rollout", kRollout}, {"environment", kEnvironment}}, {}),
              run);
}

Mapped read_logs(Turn& turn, Given given) {
  host::LogAsk ask{.since = text(given, "since"), .customer = text(given, "customer")};
  ask.names.push_back(text(given, "name"));
  const std::string search = text(given, "search");
  const json::value* limit = given.if_contains("limit");
  const size_t most = limit != nullptr && limit->is_int64()
                          ? static_cast<size_t>(std::clamp<int64_t>(limit->get_int64(), 1, kMostLines))
                          : 100;
  std::vector<json::value> lines;  // the last ones
  auto read = turn.door.read_logs(
      ask,
      [&](const host::SaidLine& line) {
        if (!search.empty() && line.text.find(search) == std::string::npos) return true;
        if (lines.size() == most) lines.erase(lines.begin());
        lines.push_back(to_json(line));
        return true;
      },
      [&] { return turn.waiting.stop && turn.waiting.stop(); });
  if (!read) return read.error();
  return json::object{{"lines", json::array(lines.begin(), lines.end())}};
}

// ------------------------------------------------------------------------------------------------------- the rest

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (char c : lower(text)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// How well a name, what it takes, and a text fit what is looked for; 0: not at all.
size_t fit(const std::vector<std::string>& wanted, const std::string& name, const std::string& takes,
           const std::string& about) {
  size_t points = 0;
  for (const std::string& each : wanted) {
    if (lower(name).find(each) != std::string::npos) points += 4;
    if (lower(takes).find(each) != std::string::npos) points += 2;
    if (lower(about).find(each) != std::string::npos) points += 1;
  }
  return points;
}

struct Found {
  size_t points = 0;
  json::object shown;
};

json::array best_of(std::vector<Found> found) {
  std::ranges::stable_sort(found, std::greater<>(), &Found::points);
  json::array best;
  for (Found& each : found) {
    if (each.points == 0 || best.size() == kMostFound) break;
    best.push_back(std::move(each.shown));
  }
  return best;
}

// What an action takes, without what the engine fills in.
json::object input_schema(const lang::CheckedKit& kit, const lang::KitConcept& owner,
                          const lang::ActionSymbol& action) {
  json::object all = lang::generate_schema(owner.tree);
  json::object defs = all.at("$defs").as_object();
  json::object input = defs.at(action.name).as_object();
  for (const lang::FieldSymbol& param : action.params) {
    if (engine::is_filled_in(kit.symbols(), param)) input["properties"].as_object().erase(param.name);
  }
  return input;
}

Mapped find_action(Turn& turn, Given given) {
  const std::vector<std::string> wanted = words_of(text(given, "query"));
  const lang::Symbols& symbols = turn.kit->symbols();
  std::vector<Found> actions;
  for (const lang::KitConcept& owner : turn.kit->kit().concepts) {
    auto ref = symbols.find_concept(owner.tree.name);
    if (!ref) continue;
    for (const lang::ActionSymbol& action : symbols.concepts[*ref].actions) {
      if (action.callers == lang::Callers::syncs) continue;
      const std::string name = owner.tree.name + "/" + action.name;
      std::string takes;
      for (const lang::FieldSymbol& each : action.params) takes += each.name + " ";
      const size_t points = fit(wanted, name, takes, action.source->description);
      if (points == 0) continue;
      json::object ends;
      for (const lang::VariantSymbol& each : action.variants) {
        ends[each.name] = code_name(engine::code_of(action, each.name));
      }
      actions.push_back({points,
                         {{"action", name},
                          {"description", action.source->description},
                          {"right", action.right},
                          {"effect", name_of(action.impact)},
                          {"query", action.runs == lang::Runs::query},
                          {"input", input_schema(*turn.kit, owner, action)},
                          {"ends", std::move(ends)}}});
    }
  }
  std::vector<Found> found_views;
  for (const lang::ViewWords* each : known_views()) {
    const size_t points = fit(wanted, each->name, "", each->summary);
    if (points == 0) continue;
    found_views.push_back(
        {points, {{"view", each->name}, {"summary", each->summary}, {"query", plain(each->query_schema())}}});
  }
  return json::object{{"actions", best_of(std::move(actions))}, {"views", best_of(std::move(found_views))}};
}

Mapped call_action(Turn& turn, Given given) {
  const json::value* input = given.if_contains("input");
  if (input != nullptr && !input->is_object()) return Error{.code = Code::invalid, .message = "input is an object"};
  return act(turn, text(given, "action"), input != nullptr ? input->get_object() : json::object(),
             text(given, "plan_id"), text(given, "reason"));
}

Mapped call_view(Turn& turn, Given given) {
  const json::value* query = given.if_contains("query");
  if (query != nullptr && !query->is_object()) return Error{.code = Code::invalid, .message = "query is an object"};
  return read_view(turn, text(given, "view"), query != nullptr ? query->get_object() : json::object());
}

// -------------------------------------------------------------------------------------------------------- the table

std::vector<Tool> make_tools() {
  using lang::Impact;
  std::vector<Tool> tools = {
      reads("whoami", "Who am I", "Says as whom you act here, and which rights the access policy gives you.", "whoami"),
      reads("status", "What runs",
            "Shows environments, deployments, revisions and replicas with the share of requests that each revision was "
            "given and really gets. Begin here.",
            "status"),
      reads("environments_list", "List environments",
            "Lists the environments with their health and how many deployments each has.", "environments"),
      reads("environment_show", "Show an environment",
            "Shows one environment with its packs, deployments, revisions and traffic splits.", "environment"),
      reads("deployments_list", "List deployments",
            "Lists the deployments of an environment with their routes and status.", "deployments"),
      reads("revisions_list", "List revisions",
            "Lists the revisions of an environment or of one deployment, with their lifecycle. Only revisions that are "
            "ready can get traffic.",
            "revisions"),
      reads("traffic_show", "Show traffic",
            "Shows which revision of a deployment gets which share of requests, in basis points (10000 is all).",
            "traffic"),
      acts("traffic_set", "Set traffic",
           "Changes the share of requests that each revision of a deployment gets. The shares sum to 100%; all named "
           "revisions must be ready. For a new version prefer rollout_start, which judges each step.",
           Impact::shifts,
           schema(
               about_deployment({{"shares",
                                  {{"type", "object"},
                                   {"description", "by revision, such as {\"hello@2\": \"10%\", \"hello@1\": \"90%\"}"},
                                   {"additionalProperties", {{"type", json::array{"string", "number"}}}}}}}),
               {"environment", "shares"}),
           set_traffic),
      acts("rollback", "Roll back",
           "Goes back to the traffic split before the current one, or several splits back. Revisions that are stopped "
           "are started first.",
           Impact::shifts,
           schema(about_deployment(
                      {{"steps",
                        {{"type", "integer"}, {"minimum", 1}, {"description", "how many splits; 1 if left out"}}}}),
                  {"environment"}),
           roll_back),
      acts("bundle_deploy", "Deploy a bundle",
           "Brings one bundle to serve: stages it, starts it, checks its health and gives it all requests, or with "
           "canary only a share. The archive's bytes must have been uploaded before (PUT /v1/blobs/DIGEST, or sluice "
           "bundles build and sluice up).",
           Impact::shifts,
           schema({{"environment", kEnvironment},
                   {"archive", texts("digest of the uploaded archive, sha256:…")},
                   {"signature", texts("digest of the uploaded signatures")},
                   {"customer", kCustomer},
                   {"canary", texts("share of requests for the new revision, such as 10%; left out: all")}},
                  {"environment", "archive"}),
           deploy_bundle),
      acts("deploy_plan", "Plan a deploy",
           "Makes a plan of a deploy manifest (YAML): what would change in an environment, and in which order. Nothing "
           "is changed. Execute it with deploy_execute.",
           Impact::changes,
           schema({{"environment", kEnvironment},
                   {"manifest", texts("the text of the manifest, app.deploy.yaml")},
                   {"bundles",
                    {{"type", "array"},
                     {"description", "the uploaded archives of the manifest's components"},
                     {"items",
                      {{"type", "object"},
                       {"properties",
                        {{"component", {{"type", "string"}}},
                         {"archive", {{"type", "string"}}},
                         {"signature", {{"type", "string"}}}}},
                       {"required", {"component", "archive", "signature"}}}}}},
                   {"only",
                    {{"type", "array"}, {"items", {{"type", "string"}}}, {"description", "only these components"}}}},
                  {"environment", "manifest"}),
           plan_deploy),
      acts("deploy_execute", "Execute a plan",
           "Executes a plan of deploy_plan, and undoes all of it if a part fails. Refused if something else has "
           "changed since the plan was made.",
           Impact::shifts, schema({{"plan", texts("the plan's id")}}, {"plan"}), execute_plan),
      reads("deploy_status", "Show a plan",
            "Shows a plan, its changes and how far it has come; without a plan the newest of the environment.", "plan"),
      acts("rollout_start", "Start a rollout",
           "Moves traffic to a ready revision in steps. Each step is judged on its own requests, and a worse version "
           "is taken back by itself.",
           Impact::shifts,
           schema(about_deployment(
                      {{"revision", kRevision},
                       {"strategy", {{"type", "string"}, {"enum", {"canary", "blue-green", "rolling", "immediate"}}}},
                       {"steps",
                        {{"type", "array"},
                         {"items", {{"type", "string"}}},
                         {"description", "such as [\"10%:5m\", \"50%:5m\"]"}}},
                       {"autoRollback", {{"type", "boolean"}}}}),
                  {"environment", "revision"}),
           start_rollout),
      reads("rollout_status", "Show a rollout",
            "Shows where a rollout is, what the judge says in numbers, and what it waits for.", "rollout"),
      reads("rollouts_list", "List rollouts", "Lists rollouts, the newest first; with ended also those that are over.",
            "rollouts"),
      of_rollout("rollout_pause", "Pause a rollout", "Holds a rollout at its step. Give a reason.", Impact::changes,
                 "Rollout/pause", true),
      of_rollout("rollout_resume", "Resume a rollout", "Lets a paused rollout go on.", Impact::changes,
                 "Rollout/resume"),
      of_rollout("rollout_advance", "Advance a rollout",
                 "Takes a rollout to its next step without waiting for the judge.", Impact::shifts, "Rollout/advance"),
      of_rollout("rollout_abort", "Abort a rollout",
                 "Ends a rollout and gives all traffic back to the version before it.", Impact::shifts, "Rollout/abort",
                 true),
      reads("explain", "Explain",
            "Says why a flow, an invocation, a revision, a deployment, an environment or a router is as it is, and "
            "what would end the waiting.",
            "why"),
      reads("flow_trace", "Show a flow", "Shows what happened in a flow, step by step, and what it waits for.", "flow"),
      reads("flows_list", "List flows", "Lists flows, the newest first; failed lists only those that failed.", "flows"),
      {.name = "logs",
       .title = "Read logs",
       .description = "Reads the last lines that the replicas of a deployment, a revision or one replica have said.",
       .input = schema({{"name", texts("a deployment, a revision such as hello@2, or a replica such as hello@2.0")},
                        {"customer", kCustomer},
                        {"since", texts("nothing older than this time, such as 2026-03-01T09:30:00.000Z")},
                        {"search", texts("only lines that contain this text")},
                        {"limit",
                         {{"type", "integer"},
                          {"minimum", 1},
                          {"maximum", kMostLines},
                          {"description", "how many lines at most; 100 if left out"}}}},
                       {"name"}),
       .output = {{"type", "object"},
                  {"properties", {{"lines", {{"type", "array"}, {"items", {{"type", "object"}}}}}}},
                  {"required", {"lines"}}},
       .run = read_logs},
      reads("audit_list", "Read the audit", "Lists what people and programs decided from outside, and how it ended.",
            "audit"),
      {.name = "find_action",
       .title = "Find an action or a view",
       .description =
           "Searches all actions and views of this server for words, and answers with what they take. Use it "
           "for what no other tool does, then call_action or read_view.",
       .input = schema({{"query", texts("words, such as: rotate secret")}}, {"query"}),
       .output = {{"type", "object"},
                  {"properties", {{"actions", {{"type", "array"}}}, {"views", {{"type", "array"}}}}},
                  {"required", {"actions", "views"}}},
       .run = find_action},
      acts("call_action", "Call an action",
           "Calls any action by its name, with the input that find_action describes. An action that shifts traffic or "
           "destroys something needs a plan_id.",
           Impact::destroys,
           schema({{"action", texts("as Concept/action")},
                   {"input", {{"type", "object"}, {"description", "its arguments"}}}},
                  {"action"}),
           call_action),
      {.name = "read_view",
       .title = "Read a view",
       .description = "Reads any view by its name, with the query that find_action describes.",
       .input = schema({{"view", texts("the view's name")}, {"query", {{"type", "object"}}}}, {"view"}),
       .output = {{"type", "object"}},
       .run = call_view}};
  return tools;
}

}  // namespace

std::vector<const lang::ViewWords*> known_views() {
  std::vector<const lang::ViewWords*> all;
  for (const host::HostView& each : host::all_views()) all.push_back(&each);
  for (const host::AccessView& each : host::access_views()) all.push_back(&each);
  return all;
}

json::object as_object(json::value document) {
  if (document.is_object()) return std::move(document.get_object());
  return {{"items", std::move(document)}};
}

const std::vector<Tool>& all_tools() {
  static const std::vector<Tool> kTools = make_tools();
  return kTools;
}

const Tool* find_tool(std::string_view name) {
  const auto& tools = all_tools();
  auto found = std::ranges::find(tools, name, &Tool::name);
  return found == tools.end() ? nullptr : &*found;
}

Result<void> check_arguments(const Tool& tool, const json::object& given) {
  const json::value* properties = tool.input.if_contains("properties");
  for (const auto& each : given) {
    if (properties != nullptr && properties->as_object().contains(each.key())) continue;
    std::string known;
    for (const auto& property : properties != nullptr ? properties->as_object() : json::object()) {
      known += (known.empty() ? "" : ", ") + std::string(property.key());
    }
    return Error{.code = Code::invalid,
                 .message = tool.name + " takes no argument " + std::string(each.key()),
                 .next = known.empty() ? "call it without arguments" : "it takes " + known};
  }
  const json::value* required = tool.input.if_contains("required");
  for (const json::value& each : required != nullptr ? required->as_array() : json::array()) {
    if (given.contains(each.as_string())) continue;
    return Error{.code = Code::invalid, .message = tool.name + " needs the argument " + std::string(each.as_string())};
  }
  return {};
}

namespace {

// What an answer says of why: its message, or else all that it lists.
std::string reasons_in(const host::Answer& answer) {
  std::string said = answer.text("message");
  if (!said.empty()) return said;
  for (const auto& field : answer.fields) {
    if (!field.value().is_array()) continue;
    for (const json::value& each : field.value().get_array()) {
      if (each.is_string()) said += (said.empty() ? "" : "; ") + std::string(each.get_string());
    }
  }
  return said;
}

}  // namespace

Result<json::object> act(Turn& turn, const std::string& action, const json::object& input, const std::string& plan_id,
                         const std::string& reason, const json::value& now) {
  auto symbol = host::callable(*turn.kit, action);
  if (!symbol) return symbol.error();
  host::Call call{.action = action, .input = input, .reason = reason};
  if ((*symbol)->impact >= lang::Impact::shifts) {
    host::Call trial = call;
    trial.dry_run = true;
    auto tried = turn.door.call(trial);
    if (!tried) return tried.error();
    const std::string digest = digest_of_call(action, input);
    if (plan_id.empty() || tried->code != Code::ok) {
      if (tried->code != Code::ok) {
        const std::string message = reasons_in(*tried);
        return Error{.code = tried->code,
                     .message = (message.empty() ? action + " would end in " + tried->variant : message) +
                                "; nothing was changed"};
      }
      json::object preview{{"effect", name_of((*symbol)->impact)},
                           {"would", {{"variant", tried->variant}, {"fields", tried->fields}}},
                           {"seen", tried->seen}};
      if (!now.is_null()) preview["now"] = now;
      const std::string id =
          turn.previews.keep({.caller = turn.caller, .digest = digest, .seen = tried->seen, .expect = tried->expect});
      return json::object{{"action", action},
                          {"preview", std::move(preview)},
                          {"plan_id", id},
                          {"expires_at", utc_text(turn.clock.wall_ms() + kPreviewLife_ms)}};
    }
    auto preview = turn.previews.take(plan_id, turn.caller, digest);
    if (!preview) return preview.error();
    if (preview->seen != tried->seen) {
      return Error{.code = Code::conflict,
                   .message = "what the preview has shown has changed since, from " + write(preview->seen) + " to " +
                              write(tried->seen) + "; nothing was changed",
                   .next = "call again without plan_id, and look at the new preview"};
    }
    call.expect_generation = preview->expect;
  }
  auto answer = turn.door.call(call, turn.waiting);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) {
    const std::string message = reasons_in(*answer);
    Error error{.code = answer->code,
                .message = action + " ended in " + answer->variant + (message.empty() ? "" : ": " + message)};
    if (!answer->next.empty()) error.next = write(answer->next);
    if (answer->flow && error.next.empty()) error.next = "explain, about " + to_string(*answer->flow);
    return error;
  }
  return host::to_json(*answer);
}

}  // namespace sluice::mcp
