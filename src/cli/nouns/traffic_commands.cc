// sluice traffic: which share of a deployment's requests each of its revisions gets.
#include <boost/json.hpp>

#include "base/basis_points.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/fitting_table.h"
#include "cli/outputs.h"
#include "cli/routers_told.h"
#include "cli/signing_key.h"
#include "cli/traffic_split.h"
#include "deploy/concepts/revision/lifecycle.h"
#include "router/debug_token.h"
#include "traffic.gen.h"

namespace sluice::cli {
namespace traffic_commands {

namespace views = deploy::views;
using views::MeantNames;

constexpr int64_t kLongestToken_ms = 86'400'000;

std::string percent(int64_t bps) { return print_basis_points(static_cast<int>(bps)); }

// The names of a deployment's revisions, by id, and their lifecycles.
struct Revisions {
  std::map<std::string, views::RevisionDocument> by_id;

  std::string name(const std::string& id) const {
    auto found = by_id.find(id);
    return found == by_id.end() ? id : found->second.bundle_id + "@" + std::to_string(found->second.sequence);
  }
  // "shop@2 1%, shop@1 99%"
  template <class Entries>
  std::string shares(const Entries& entries) const {
    std::string text;
    for (const auto& each : entries) {
      text += (text.empty() ? "" : ", ") + name(each.revision_id) + " " + percent(each.weight_bps);
    }
    return text.empty() ? "no revision gets traffic" : text;
  }
};

Result<Revisions> revisions_of(CommandDoor& door, json::object deployment) {
  deployment["archived"] = true;
  auto all = door.read<std::vector<views::RevisionDocument>>("revisions", deployment);
  if (!all) return all.error();
  Revisions revisions;
  for (auto& each : *all) revisions.by_id.emplace(each.revision_id, each);
  return revisions;
}

std::vector<views::EntryDocument> entries_in(const json::object& fields) {
  std::vector<views::EntryDocument> entries;
  const json::value* given = fields.if_contains("entries");
  if (given == nullptr || !given->is_array()) return entries;
  for (const json::value& each : given->get_array()) {
    entries.push_back({std::string(each.at("revision").as_string()), each.at("weightBps").as_int64()});
  }
  return entries;
}

std::string after_refusal(Context&, const MeantNames& meant, const host::Answer& answer) {
  const bool nowhere = (answer.action == "Deployment/rollBack" && answer.variant == "refused") ||
                       answer.variant == "noFuture" || answer.variant == "noSplit";
  return nowhere ? "sluice traffic history " + meant.environment + " --deployment " + meant.deployment : "";
}

Result<Code> tell_shift(Context& context, CommandDoor& door, const MeantNames& meant, const host::Answer& answer) {
  auto entries = entries_in(answer.fields);
  Revisions revisions;
  if (context.output.settings().format == Format::table && !entries.empty()) {
    for (const auto& each : meant.revisions) {
      revisions.by_id[each.revision] = {.bundle_id = each.name.substr(0, each.name.rfind('@')),
                                        .sequence = std::atoll(each.name.substr(each.name.rfind('@') + 1).c_str())};
    }
    if (meant.revisions.size() < entries.size()) {
      auto read = revisions_of(door, {{"environment", meant.environment}, {"deployment", meant.deployment}});
      if (!read) return read.error();
      revisions = *std::move(read);
    }
  }
  print_done(context, answer, "generation " + write(answer.fields.at("generation")),
             meant.bundle + " for " + meant.customer + ": " + revisions.shares(entries));
  if (answer.action != "Deployment/rollBack" && context.given.flag("no-wait")) return Code::ok;
  auto routers = routers_of(door, meant.environment);
  if (!routers) return routers.error();
  tell_of_routers(context, *routers);
  return Code::ok;
}

Result<std::vector<std::string>> weighed_revisions(Context& context) {
  auto weights = read_weights(context.given.texts("weights"));
  if (!weights) return weights.error();
  std::vector<std::string> names;
  for (const WeightWord& each : *weights) names.push_back(each.revision);
  return names;
}

Result<json::object> weighed_entries(Context& context, const MeantNames& meant) {
  auto weights = read_weights(context.given.texts("weights"));
  if (!weights) return weights.error();
  json::array entries;
  for (size_t i = 0; i < weights->size(); ++i) {
    entries.push_back(json::object{{"revision", meant.revisions[i].revision}, {"weightBps", (*weights)[i].weight_bps}});
  }
  return json::object{{"entries", std::move(entries)}};
}

Result<ActionCommand::Loss> all_shares(Context&, CommandDoor& door, const MeantNames& meant) {
  const json::object query{{"environment", meant.environment}, {"deployment", meant.deployment}};
  auto split = door.read<OrNull<views::SplitDocument>>("traffic", query);
  if (!split) return split.error();
  ActionCommand::Loss loss{.what = "take all traffic away from " + meant.bundle + " (" + meant.deployment + ")"};
  if (!*split) return loss;
  auto revisions = revisions_of(door, query);
  if (!revisions) return revisions.error();
  for (const auto& each : (*split)->entries) {
    loss.loses.push_back(percent(each.weight_bps) + " of " + revisions->name(each.revision_id));
  }
  return loss;
}

// --expect-generation is the split's.
Result<json::object> expected_split(Context& context, const MeantNames&) {
  json::object input;
  expect_generation_as(context, "trafficGeneration", input);
  return input;
}

host::WaitFor wait_for_routers(const Context& context) {
  return context.given.flag("no-wait") ? host::WaitFor::answer : host::WaitFor::all;
}

// Signed with the operator's key, which the routers' tables name.
Result<Code> token(Context& context) {
  const int64_t ttl_ms = context.given.number("ttl").value_or(0);
  if (ttl_ms < 1'000 || ttl_ms > kLongestToken_ms) {
    return Error{.code = Code::usage, .message = "--ttl: expected 1s to 24h"};
  }
  if (auto sound = check_deployment_options(context); !sound) return sound.error();
  auto key = signing_key(context);
  if (!key) return key.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  std::string revision = context.given.text("revision");
  json::object query = deployment_query(context);
  if (revision != "*") query["revisions"] = json::array{revision};
  auto meant = (*door)->read<MeantNames>("names", query);
  if (!meant) return meant.error();
  if (revision != "*") revision = meant->revisions.front().revision;
  RealClock clock;
  const int64_t expires_ms = clock.wall_ms() + ttl_ms;
  const std::string text = ::sluice::router::write_debug_token({.environment = meant->environment,
                                                                .deployment = meant->deployment,
                                                                .revision = revision,
                                                                .expires_s = expires_ms / 1'000},
                                                               *key);
  const outputs::DebugToken shown{.token = text,
                                  .environment = meant->environment,
                                  .deployment = meant->deployment,
                                  .revision = revision,
                                  .expires = {expires_ms / 1'000 * 1'000}};
  context.output.print(to_json(shown), [&](const Terminal&) { return text + "\n"; });
  context.output.note("send it with: -H 'X-Sluice-Debug-Token: TOKEN' -H 'X-Sluice-Deployment: " + meant->deployment +
                      "' -H 'X-Sluice-Revision: " + (revision == "*" ? "REVISION" : revision) + "'");
  return Code::ok;
}

Result<Code> show(Context& context) {
  if (auto sound = check_deployment_options(context); !sound) return sound.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  const json::object query = deployment_query(context);
  auto split = (*door)->read<OrNull<views::SplitDocument>>("traffic", query);
  if (!split) return split.error();
  Result<MeantNames> meant = MeantNames();
  Result<Revisions> revisions = Revisions();
  if (context.output.settings().format == Format::table) {
    meant = (*door)->read<MeantNames>("names", query);
    revisions = revisions_of(**door, query);
  }
  if (!meant) return meant.error();
  if (!revisions) return revisions.error();
  context.output.print(to_json(*split), [&](const Terminal& terminal) {
    std::string title = meant->bundle + " for " + meant->customer + " in " + meant->environment + ", ";
    title += *split ? "generation " + std::to_string((*split)->generation) : "no split";
    Table table{.columns = {{.title = "REVISION", .whole = true}, {"NAME"}, {"WEIGHT", Align::right}, {"LIFECYCLE"}},
                .empty = "No revision gets traffic."};
    for (const auto& each : *split ? (*split)->entries : std::vector<views::EntryDocument>()) {
      auto found = revisions->by_id.find(each.revision_id);
      const bool known = found != revisions->by_id.end();
      table.rows.push_back({{each.revision_id},
                            {known ? revisions->name(each.revision_id) : ""},
                            {percent(each.weight_bps), Style::strong},
                            {known ? std::string(deploy::revision::name_of(found->second.lifecycle)) : "gone"}});
    }
    return title + "\n" + render(table, terminal);
  });
  return Code::ok;
}

Result<Code> history(Context& context) {
  if (auto sound = check_deployment_options(context); !sound) return sound.error();
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  const json::object query = deployment_query(context);
  auto all = (*door)->read<std::vector<views::PastSplitDocument>>("traffic-history", query);
  if (!all) return all.error();
  Result<Revisions> revisions = Revisions();
  if (context.output.settings().format == Format::table) revisions = revisions_of(**door, query);
  if (!revisions) return revisions.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{"GENERATION", Align::right}, {"AT"}, {"BY"}, {"WHY"}, {""}, {"SPLIT"}},
                .empty = "There was no split yet."};
    for (const views::PastSplitDocument& each : *all) {
      table.rows.push_back(
          {{std::to_string(each.generation)},
           {utc_text(each.updated_at.ms)},
           {each.updated_by.value_or("")},
           {each.why},
           {each.place == views::SplitPlace::past ? "" : std::string(to_json(each.place).as_string()), Style::good},
           {revisions->shares(each.entries)}});
    }
    return render_fitting(std::move(table), terminal, {"BY"});
  });
  return Code::ok;
}

const Option kNoWait{.name = "no-wait", .help = "return without waiting for the routers"};

}  // namespace traffic_commands

void add_traffic_commands(Commands& commands) {
  using namespace traffic_commands;
  commands.add_noun({.name = "traffic", .group = Group::ship, .summary = "Share requests between revisions"});
  commands.add({.name = "traffic show",
                .summary = "Show which revision gets which share",
                .args = {environment_arg()},
                .options = deployment_options(reading_options()),
                .example = "sluice traffic show local",
                .run = show});
  commands.add({.name = "traffic history",
                .summary = "List all splits, who changed them, when and why",
                .details = "The newest comes first. A rollback adds to the list, and so does a revision that can no "
                           "longer serve. Only the oldest entries are removed, beyond a thousand.",
                .args = {environment_arg()},
                .options = deployment_options(reading_options()),
                .example = "sluice traffic history local --bundle hello",
                .run = history});
  commands.add(command_of(
      {.name = "traffic set",
       .action = "Traffic/set",
       .about = About::deployment,
       .summary = "Set the share of each revision, all at once",
       .details =
           "A weight is 1%, 0.05% or 25bps, and one revision may get the rest; the weights add up to 100%. Only ready "
           "revisions can be named. The command ends when every router that can be reached obeys; if there is no "
           "router, it says so.\n\nFor instance: sluice traffic set local --bundle shop shop@2=1% shop@1=rest",
       .example = "sluice traffic set local hello@1=100%",
       .args = {{.name = "weights", .help = "REVISION=WEIGHT, each revision once", .optional = true, .repeated = true}},
       .options = {kNoWait},
       .fill = weighed_entries,
       .revisions = weighed_revisions,
       .wait = wait_for_routers,
       .next = after_refusal,
       .tell = tell_shift}));
  commands.add(command_of({.name = "traffic rollback",
                           .action = "Deployment/rollBack",
                           .about = About::deployment,
                           .summary = "Go back to the previous split",
                           .details = "Starts whatever the earlier split needs and no longer runs. Traffic changes "
                                      "only when all of it is ready, and the command ends when the routers obey.",
                           .example = "sluice traffic rollback local",
                           .words = {{.param = "steps", .help = "how many changes to go back", .fallback = "1"}},
                           .fill = expected_split,
                           .next = after_refusal,
                           .tell = tell_shift}));
  commands.add(command_of({.name = "traffic forward",
                           .action = "Traffic/forward",
                           .about = About::deployment,
                           .summary = "Undo the last rollback",
                           .example = "sluice traffic forward local",
                           .words = {{.param = "steps", .help = "how many rollbacks to undo", .fallback = "1"}},
                           .options = {kNoWait},
                           .wait = wait_for_routers,
                           .next = after_refusal,
                           .tell = tell_shift}));
  commands.add(command_of({.name = "traffic clear",
                           .action = "Traffic/clear",
                           .about = About::deployment,
                           .summary = "Send no traffic to any revision",
                           .details = "`sluice traffic rollback` brings the split back, so it does not ask.",
                           .example = "sluice traffic clear local",
                           .options = {kNoWait},
                           .loses = all_shares,
                           .asks = false,
                           .wait = wait_for_routers,
                           .next = after_refusal,
                           .tell = tell_shift}));
  std::vector<Option> token_options = {
      {.name = "revision", .value = "REVISION", .help = "its id or BUNDLE@SEQUENCE; * is any of them", .fallback = "*"},
      {.name = "ttl", .value = "TIME", .help = "how long it holds", .kind = Kind::duration, .fallback = "15m"},
      {.name = "env", .value = "ENV", .help = "the environment", .fallback = "local"}};
  for (Option& each : signing_options()) token_options.push_back(std::move(each));
  commands.add({.name = "traffic token",
                .summary = "Mint a token that leads requests to one revision",
                .details = "Routers accept it until it expires, even for a revision that gets no traffic, so you can "
                           "try a revision before any visitor sees it.",
                .options = deployment_options(std::move(token_options)),
                .example = "sluice traffic token --bundle hello --revision hello@1 --ttl 15m",
                .run = token});
}

}  // namespace sluice::cli
