// sluice usage: what was used, by whatever it is asked by.
#include <boost/json.hpp>

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "base/utc_time.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/call_words.h"
#include "cli/command_door.h"
#include "deploy/views/queries.h"

namespace sluice::cli {
namespace usage_commands {

// In the order in which people read them.
const std::vector<std::string>& all_keys() {
  static const std::vector<std::string> kKeys = {"environment", "deployment", "bundle", "revision",
                                                 "customer",    "tenant",     "team"};
  return kKeys;
}

// Counts that a router has in memory alone, or has lost.
std::string unkept_text(const deploy::usage::UsageUnkeptItem& unkept) {
  const std::string router = "router " + unkept.router;
  if (!unkept.lost) {
    return router + " counts in memory since " + utc_text(unkept.since.ms) +
           ", and what it counts until it is asked again is lost if it ends: " + unkept.reason;
  }
  if (!unkept.read) return router + " has ended with counts in memory that nobody had read; they are not among these";
  return router + " has ended with counts in memory; what it counted after " + utc_text(unkept.read->ms) +
         " is not among these";
}

// A time, a day, or how long ago.
Result<std::string> time_from(const Context& context, const std::string& option) {
  const std::string text = context.given.text(option);
  const std::string day = text + "T00:00:00Z";
  for (const std::string& each : {text, day}) {
    if (auto at = parse_utc(each)) return utc_text(*at);
  }
  auto ago = read_value(Kind::duration, text);
  if (!ago) {
    return Error{.code = Code::usage,
                 .message = "--" + option +
                            ": expected a day (2026-03-01), a time (2026-03-01T09:00:00Z) or how long "
                            "ago (24h), not '" +
                            printable(text) + "'"};
  }
  return utc_text(RealClock().wall_ms() - *ago);
}

Result<Code> show(Context& context) {
  std::vector<std::string> keys = context.given.texts("by");
  json::object query;
  if (!keys.empty()) query["by"] = json::array(keys.begin(), keys.end());
  if (keys.empty()) keys = all_keys();
  for (const char* option : {"since", "until"}) {
    if (!context.given.has(option)) continue;
    auto at = time_from(context, option);
    if (!at) return at.error();
    query[option] = *at;
  }
  if (context.given.flag("revenue")) query["revenue"] = true;
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto before = (*door)->view("usage", query);
  if (!before) return before.error();
  if (before->position != 0) {
    // What the routers have counted since is added first.
    auto collected = (*door)->call("Usage/collect", {});
    if (!collected) return collected.error();
    if (collected->code != Code::ok) return refusal_in_words(context, *collected);
  }
  auto used = (*door)->read<std::vector<deploy::views::UsedSum>>("usage", query);
  if (!used) return used.error();
  auto unkept = (*door)->read<std::vector<deploy::usage::UsageUnkeptItem>>("usage-unkept");
  if (!unkept) return unkept.error();
  for (const auto& each : *unkept) context.output.warn(unkept_text(each));
  context.output.print(to_json(*used), [&](const Terminal& terminal) {
    Table table{.empty = "Nothing was used yet."};
    for (const std::string& key : keys) {
      std::string title = key;
      for (char& letter : title) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
      table.columns.push_back({.title = title, .whole = key == "revision" || key == "deployment"});
    }
    if (context.given.flag("revenue")) table.columns.push_back({"PARTY"});
    for (const char* title : {"REQUESTS", "BYTES IN", "BYTES OUT", "WARM S"})
      table.columns.push_back({title, Align::right});
    for (const deploy::views::UsedSum& each : *used) {
      const json::value shown = to_json(each);
      std::vector<Cell> row;
      for (const std::string& key : keys) row.push_back({std::string(shown.at(key).as_string())});
      if (each.party) row.push_back({*each.party});
      for (int64_t number : {each.requests, each.bytes_in, each.bytes_out, each.warm_seconds}) {
        row.push_back({std::to_string(number)});
      }
      table.rows.push_back(std::move(row));
    }
    return render(table, terminal);
  });
  return Code::ok;
}

}  // namespace usage_commands

void add_usage_commands(Commands& commands) {
  using namespace usage_commands;
  commands.add_noun({.name = "usage", .group = Group::see, .summary = "See usage, by customer and more"});
  std::vector<Option> options = {
      {.name = "by",
       .value = "WHAT",
       .help = "group by this; may be repeated; by default all",
       .choices = all_keys(),
       .repeated = true},
      {.name = "since", .value = "TIME", .help = "from this hour on: a day, a time, or how long ago, as 24h"},
      {.name = "until", .value = "TIME", .help = "only hours that begin before this"},
      {.name = "revenue", .help = "show each party's share"}};
  for (Option& each : call_options()) options.push_back(std::move(each));
  commands.add({.name = "usage show",
                .summary = "Show requests, bytes, and how long revisions were warm",
                .details =
                    "Requests and bytes are the routers' own counts, which survive a kill -9; each is added "
                    "once. Running routers are asked first. A router whose disk is full counts in memory: a "
                    "warning names it, and says for which time counts were lost with it.\n\nUsage is kept by "
                    "the hour for four hundred days: --since and --until mean whole hours in UTC. With --revenue "
                    "each row is divided among the parties of its deployment, by their shares as they are now.",
                .options = std::move(options),
                .example = "sluice usage show --by customer --by bundle",
                .run = show});
}

}  // namespace sluice::cli
