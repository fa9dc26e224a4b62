// sluice usage: what was used, by whatever it is asked by.
#include <boost/json.hpp>
#include <map>

#include "base/json.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/context.h"
#include "cli/deploy_home.h"

namespace sluice::cli {
namespace usage_commands {

struct Sums {
  int64_t requests = 0;
  int64_t bytes_in = 0;
  int64_t bytes_out = 0;
  int64_t warm_seconds = 0;
};

// In the order in which people read them.
const std::vector<std::string>& all_keys() {
  static const std::vector<std::string> kKeys = {"environment", "deployment", "bundle", "revision",
                                                 "customer",    "tenant",     "team"};
  return kKeys;
}

// Counts that a router has in memory alone, or has lost.
std::string unkept_text(const json::object& unkept) {
  const std::string router = "router " + std::string(unkept.at("router").as_string());
  const json::value* read = unkept.if_contains("read");
  if (!unkept.at("lost").as_bool()) {
    return router + " counts in memory since " + std::string(unkept.at("since").as_string()) +
           ", and what it counts until it is asked again is lost if it ends: " +
           std::string(unkept.at("reason").as_string());
  }
  if (read == nullptr || !read->is_string()) {
    return router + " has ended with counts in memory that nobody had read; they are not among these";
  }
  return router + " has ended with counts in memory; what it counted after " + std::string(read->as_string()) +
         " is not among these";
}

Result<Code> show(Context& context) {
  auto home = open_deploy_home_to_read(context);
  if (!home) return home.error();
  std::vector<std::string> keys = context.given.texts("by");
  if (keys.empty()) keys = all_keys();
  std::map<std::vector<std::string>, Sums> sums;
  if (*home) {
    // What the routers have counted since is added first.
    auto collected = (*home)->call("Usage/collect", {});
    if (!collected) return collected.error();
    if (collected->code != Code::ok) return refusal_of(*collected);
    auto shown = (*home)->ask("Usage/show", {});
    if (!shown) return shown.error();
    for (const json::value& each : shown->fields.at("revisions").as_array()) {
      std::vector<std::string> group;
      for (const std::string& key : keys) group.emplace_back(each.at(key).as_string());
      Sums& sum = sums[group];
      sum.requests += each.at("requests").as_int64();
      sum.bytes_in += each.at("bytesIn").as_int64();
      sum.bytes_out += each.at("bytesOut").as_int64();
      sum.warm_seconds += each.at("warmSeconds").as_int64();
    }
    for (const json::value& each : shown->fields.at("unkept").as_array()) {
      context.output.warn(unkept_text(each.as_object()));
    }
  }
  json::array data;
  Table table{.empty = "Nothing was used yet."};
  for (const std::string& key : keys) {
    std::string title = key;
    for (char& letter : title) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    table.columns.push_back({.title = title, .whole = key == "revision" || key == "deployment"});
  }
  for (const char* title : {"REQUESTS", "BYTES IN", "BYTES OUT", "WARM S"})
    table.columns.push_back({title, Align::right});
  for (const auto& [group, sum] : sums) {
    json::object one;
    std::vector<Cell> row;
    for (size_t i = 0; i < keys.size(); ++i) {
      one[keys[i]] = group[i];
      row.push_back({group[i]});
    }
    one["requests"] = sum.requests;
    one["bytes_in"] = sum.bytes_in;
    one["bytes_out"] = sum.bytes_out;
    one["warm_seconds"] = sum.warm_seconds;
    for (int64_t number : {sum.requests, sum.bytes_in, sum.bytes_out, sum.warm_seconds}) {
      row.push_back({std::to_string(number)});
    }
    data.push_back(std::move(one));
    table.rows.push_back(std::move(row));
  }
  context.output.print(data, [&](const Terminal& terminal) { return render(table, terminal); });
  return Code::ok;
}

}  // namespace usage_commands

void add_usage_commands(Commands& commands) {
  using namespace usage_commands;
  commands.add_noun({.name = "usage", .group = Group::operate, .summary = "See what was used, and by whom"});
  std::vector<Option> options = {{.name = "by",
                                  .value = "WHAT",
                                  .help = "sum up by this; several are taken, else all",
                                  .choices = all_keys(),
                                  .repeated = true}};
  for (Option& each : call_options()) options.push_back(std::move(each));
  commands.add({.name = "usage show",
                .summary = "Show requests, bytes and seconds that revisions were warm",
                .details = "Requests and bytes are the routers' own counts, which survive a kill -9; each is added "
                           "once. Routers that run are asked first. Where a router's disk is full it counts in "
                           "memory: a warning names it, and the time of counts that were lost with it.",
                .options = std::move(options),
                .example = "sluice usage show --by customer --by bundle",
                .run = show});
}

}  // namespace sluice::cli
