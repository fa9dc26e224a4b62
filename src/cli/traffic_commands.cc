// sluice traffic: which share of a deployment's requests each of its revisions gets.
#include <boost/json.hpp>

#include "base/basis_points.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/losing.h"
#include "cli/objects.h"
#include "cli/routers_told.h"
#include "cli/signing_key.h"
#include "cli/traffic_split.h"
#include "deploy/concepts/revision/lifecycle.h"
#include "deploy/views/documents.h"
#include "deploy/views/names.h"
#include "router/debug_token.h"
#include "traffic.gen.h"

namespace sluice::cli {
namespace traffic_commands {

namespace views = deploy::views;
using deploy::deployment::DeploymentFound;

constexpr int64_t kLongestToken_ms = 86'400'000;

// What a command is about: the objects, opened, and the deployment.
struct Subject {
  std::unique_ptr<Objects> objects;
  std::string environment;
  DeploymentFound deployment;
};

// The deployment that was named; else the one that a revision of this name is of, if that means one.
Result<DeploymentFound> deployment_of(Context& context, const Objects& objects, const std::string& environment,
                                      const std::string& revision) {
  const bool named = context.given.has("deployment") || context.given.has("bundle") || context.given.has("customer-id");
  if (!named && !revision.empty()) {
    if (auto found = views::find_revision(objects.states(), environment, revision)) {
      const deploy::deployment::DeploymentId id(found->record.deployment);
      if (auto record = objects.states().deployment().get(id)) return DeploymentFound{id, *record};
    }
  }
  return named_deployment(context, objects, environment);
}

Result<Subject> subject_of(Context& context, bool changes, const std::string& revision = "") {
  auto objects = changes ? Objects::to_change(context) : Objects::to_read(context);
  if (!objects) return objects.error();
  auto environment = (*objects)->environment();
  if (!environment) return environment.error();
  auto deployment = deployment_of(context, **objects, environment->id.text(), revision);
  if (!deployment) return deployment.error();
  return Subject{*std::move(objects), environment->id.text(), *std::move(deployment)};
}

std::string percent(const json::value& bps) { return print_basis_points(static_cast<int>(bps.as_int64())); }

// "shop@2 1%, shop@1 99%"
std::string entries_text(const views::States& states, const json::array& entries, std::string_view revision_field,
                         std::string_view weight_field) {
  std::string text;
  for (const json::value& each : entries) {
    std::string id(each.at(revision_field).as_string());
    auto record = states.revision().get(deploy::revision::RevisionId(id));
    std::string name = record ? record->bundle + "@" + std::to_string(record->sequence) : id;
    text += (text.empty() ? "" : ", ") + name + " " + percent(each.at(weight_field));
  }
  return text.empty() ? "nobody" : text;
}

// Tells what everybody gets now.
Result<Code> tell_shift(Context& context, Subject& subject, const Answer& answer) {
  if (answer.code != Code::ok) {
    const bool nowhere = answer.variant == "noPast" || answer.variant == "noFuture" || answer.variant == "noSplit";
    return refusal_in_words(answer, nowhere ? "sluice traffic history " + subject.environment + " --deployment " +
                                                  subject.deployment.id.text()
                                            : "");
  }
  if (!context.given.flag("no-wait")) {
    if (auto settled = subject.objects->settle(); !settled) return settled.error();
  }
  json::array entries;
  if (const json::value* given = answer.fields.if_contains("entries")) entries = given->as_array();
  print_done(context, answer, "generation " + write(answer.fields.at("generation")),
             subject.deployment.record.bundle + " for " + subject.deployment.record.customer + ": " +
                 entries_text(subject.objects->states(), entries, "revision", "weightBps"));
  if (!context.given.flag("no-wait")) {
    tell_of_routers(context, subject.objects->states(), subject.environment);
  }
  return Code::ok;
}

// Runs one action of Traffic.
Result<Code> shift(Context& context, Subject& subject, const std::string& action, json::object input) {
  input["deployment"] = subject.deployment.id.text();
  auto full = with_answers(context, std::move(input));
  if (!full) return full.error();
  auto answer = subject.objects->change(action, *full);
  if (!answer) return answer.error();
  return tell_shift(context, subject, *answer);
}

Result<Code> set(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Traffic/set");
  auto weights = read_weights(context.given.texts("weights"));
  if (!weights) return weights.error();
  auto subject = subject_of(context, true, weights->empty() ? "" : weights->front().revision);
  if (!subject) return subject.error();
  json::array entries;
  for (const WeightWord& each : *weights) {
    auto revision = views::find_revision(subject->objects->states(), subject->environment, each.revision,
                                         subject->deployment.id.text());
    if (!revision) return revision.error();
    entries.push_back(json::object{{"revision", revision->id.text()}, {"weightBps", each.weight_bps}});
  }
  return shift(context, *subject, "Traffic/set", {{"entries", std::move(entries)}});
}

Result<Code> go(Context& context, const std::string& action) {
  if (wants_schema(context)) return print_schema(context, action);
  auto subject = subject_of(context, true);
  if (!subject) return subject.error();
  return shift(context, *subject, action, {{"steps", context.given.number("steps").value_or(1)}});
}

Result<Code> rollback(Context& context) { return go(context, "Traffic/rollback"); }
Result<Code> forward(Context& context) { return go(context, "Traffic/forward"); }

Result<Code> clear(Context& context) {
  if (wants_schema(context)) return print_schema(context, "Traffic/clear");
  auto subject = subject_of(context, true);
  if (!subject) return subject.error();
  const std::string id = subject->deployment.id.text();
  const views::States& states = subject->objects->states();
  std::vector<std::string> loses;
  for (const auto& each : states.traffic().entries(deploy::traffic::TrafficId(id)).values()) {
    auto revision = states.revision().get(deploy::revision::RevisionId(each.revision));
    loses.push_back(print_basis_points(static_cast<int>(each.weightBps)) + " of " +
                    (revision ? revision->bundle + "@" + std::to_string(revision->sequence) : each.revision));
  }
  auto answer = lose(context, *subject->objects,
                     {.action = "Traffic/clear",
                      .input = {{"deployment", id}},
                      .what = "take all traffic away from " + subject->deployment.record.bundle + " (" + id + ")",
                      .loses = std::move(loses)});
  if (!answer) return answer.error();
  if (!*answer) return Code::ok;
  return tell_shift(context, *subject, **answer);
}

// Signed with the operator's key, which the routers' tables name.
Result<Code> token(Context& context) {
  const int64_t ttl_ms = context.given.number("ttl").value_or(0);
  if (ttl_ms < 1'000 || ttl_ms > kLongestToken_ms) {
    return Error{.code = Code::usage, .message = "--ttl: expected 1s to 24h"};
  }
  auto key = signing_key(context);
  if (!key) return key.error();
  std::string revision = context.given.text("revision");
  auto subject = subject_of(context, false, revision);
  if (!subject) return subject.error();
  if (revision != "*") {
    auto found =
        views::find_revision(subject->objects->states(), subject->environment, revision, subject->deployment.id.text());
    if (!found) return found.error();
    revision = found->id.text();
  }
  RealClock clock;
  const int64_t expires_ms = clock.wall_ms() + ttl_ms;
  const std::string deployment = subject->deployment.id.text();
  const std::string text = ::sluice::router::write_debug_token({.environment = subject->environment,
                                                                .deployment = deployment,
                                                                .revision = revision,
                                                                .expires_s = expires_ms / 1'000},
                                                               *key);
  json::object shown{{"token", text},
                     {"environment", subject->environment},
                     {"deployment", deployment},
                     {"revision", revision},
                     {"expires", utc_text(expires_ms / 1'000 * 1'000)}};
  context.output.print(shown, [&](const Terminal&) { return text + "\n"; });
  context.output.note("send it with: -H 'X-Sluice-Debug-Token: TOKEN' -H 'X-Sluice-Deployment: " + deployment +
                      "' -H 'X-Sluice-Revision: " + (revision == "*" ? "REVISION" : revision) + "'");
  return Code::ok;
}

Result<Code> show(Context& context) {
  auto subject = subject_of(context, false);
  if (!subject) return subject.error();
  const views::States& states = subject->objects->states();
  json::value split = views::split_document(states, subject->deployment);
  context.output.print(split, [&](const Terminal& terminal) {
    const auto& record = subject->deployment.record;
    std::string title = record.bundle + " for " + record.customer + " in " + subject->environment + ", ";
    title += split.is_null() ? "no split" : "generation " + write(split.at("generation"));
    Table table{.columns = {{.title = "REVISION", .whole = true}, {"NAME"}, {"WEIGHT", Align::right}, {"LIFECYCLE"}},
                .empty = "Nobody gets anything."};
    if (!split.is_null()) {
      for (const json::value& each : split.at("entries").as_array()) {
        std::string id(each.at("revision_id").as_string());
        auto revision = states.revision().get(deploy::revision::RevisionId(id));
        table.rows.push_back({{id},
                              {revision ? revision->bundle + "@" + std::to_string(revision->sequence) : ""},
                              {percent(each.at("weight_bps")), Style::strong},
                              {revision ? std::string(deploy::revision::name_of(revision->lifecycle)) : "gone"}});
      }
    }
    return title + "\n" + render(table, terminal);
  });
  return Code::ok;
}

Result<Code> history(Context& context) {
  auto subject = subject_of(context, false);
  if (!subject) return subject.error();
  const views::States& states = subject->objects->states();
  json::array all = views::split_history(states, subject->deployment.id.text());
  context.output.print(all, [&](const Terminal& terminal) {
    Table table{.columns = {{"GENERATION", Align::right}, {"AT"}, {"BY"}, {""}, {"SPLIT"}},
                .empty = "There was no split yet."};
    for (const json::value& each : all) {
      std::string place(each.at("place").as_string());
      const json::value& by = each.at("updated_by");
      table.rows.push_back({{write(each.at("generation"))},
                            {std::string(each.at("updated_at").as_string())},
                            {by.is_null() ? "" : std::string(by.as_string())},
                            {place == "past" ? "" : place, Style::good},
                            {entries_text(states, each.at("entries").as_array(), "revision_id", "weight_bps")}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

// What a split command takes besides its own.
std::vector<Option> shifting_options(std::vector<Option> own = {}) {
  own.push_back({.name = "no-wait", .help = "do not wait until the routers obey it"});
  return own;
}

Option steps_option(const std::string& help) {
  return {.name = "steps", .value = "N", .help = help, .kind = Kind::count, .fallback = "1"};
}

}  // namespace traffic_commands

void add_traffic_commands(Commands& commands) {
  using namespace traffic_commands;
  commands.add_noun({.name = "traffic", .group = Group::operate, .summary = "Share requests between revisions"});
  commands.add({.name = "traffic show",
                .summary = "Show which revision gets which share",
                .args = {environment_arg()},
                .options = deployment_options(reading_options()),
                .example = "sluice traffic show local",
                .run = show});
  commands.add({.name = "traffic history",
                .summary = "List the splits before and after the one that counts",
                .args = {environment_arg()},
                .options = deployment_options(reading_options()),
                .example = "sluice traffic history local --bundle hello",
                .run = history});
  commands.add(
      {.name = "traffic set",
       .summary = "Give each revision its share, at once",
       .details = "Weights are 1%, 0.05% or 25bps, and one revision may get the rest; together they are all. "
                  "Only ready revisions get anything, also with 0%. It ends when every router that can be reached "
                  "obeys it; if there is none, it says so.\n\nFor instance: sluice traffic set local "
                  "--bundle shop shop@2=1% shop@1=rest",
       .args = {environment_arg(),
                {.name = "weights", .help = "REVISION=WEIGHT, each revision once", .optional = true, .repeated = true}},
       .options = deployment_options(changing_options(shifting_options())),
       .example = "sluice traffic set local hello@1=100%",
       .run = set});
  commands.add(
      {.name = "traffic rollback",
       .summary = "Give the revisions what they had before",
       .args = {environment_arg()},
       .options = deployment_options(changing_options(shifting_options({steps_option("how many changes to go back")}))),
       .example = "sluice traffic rollback local",
       .run = rollback});
  commands.add({.name = "traffic forward",
                .summary = "Take a rollback back",
                .args = {environment_arg()},
                .options = deployment_options(
                    changing_options(shifting_options({steps_option("how many rollbacks to take back")}))),
                .example = "sluice traffic forward local",
                .run = forward});
  commands.add({.name = "traffic clear",
                .summary = "Give nobody anything",
                .details = "A rollback brings the split back.",
                .args = {environment_arg()},
                .options = deployment_options(losing_options(shifting_options())),
                .example = "sluice traffic clear local --yes",
                .run = clear});
  std::vector<Option> token_options = {
      {.name = "revision", .value = "REVISION", .help = "its id or BUNDLE@SEQUENCE; * is any of them", .fallback = "*"},
      {.name = "ttl", .value = "TIME", .help = "how long it holds", .kind = Kind::duration, .fallback = "15m"},
      {.name = "env", .value = "ENV", .help = "the environment", .fallback = "local"}};
  for (Option& each : signing_options()) token_options.push_back(std::move(each));
  commands.add({.name = "traffic token",
                .summary = "Mint a token that leads requests to one revision",
                .details = "Routers believe it until it expires, also for a revision that gets nothing: so one can be "
                           "tried before anybody else meets it.",
                .options = deployment_options(std::move(token_options)),
                .example = "sluice traffic token --bundle hello --revision hello@1 --ttl 15m",
                .run = token});
}

}  // namespace sluice::cli
