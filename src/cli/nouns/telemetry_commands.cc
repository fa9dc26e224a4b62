// sluice telemetry: where telemetry goes, and the markers of deployments that were sent there.
#include <boost/json.hpp>

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/command_door.h"
#include "deploy/views/telemetry.h"

namespace sluice::cli {
namespace telemetry_commands {

namespace views = deploy::views;

Result<double> rate_of(const std::string& text) {
  char* end = nullptr;
  const double rate = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == 0) return rate;
  return Error{.code = Code::usage, .message = "--sampling: expected a number from 0 to 1, found " + text};
}

Result<Code> change(Context& context, const std::string& action, const json::object& given, const std::string& done,
                    const std::string& what) {
  if (wants_schema(context)) return print_schema(context, action);
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto input = with_answers(context, given);
  if (!input) return input.error();
  auto answer = (*door)->call(action, *input, host::WaitFor::answer);
  if (!answer) return answer.error();
  if (answer->code != Code::ok) return refusal_in_words(context, *answer);
  print_done(context, *answer, done, what);
  return Code::ok;
}

Result<Code> configure(Context& context) {
  const auto& given = context.given;
  const std::string bundle = given.has("concept") ? given.text("concept") : "*";
  auto rate = rate_of(given.text("sampling"));
  if (!rate) return rate.error();
  json::object input{{"concept", bundle}, {"endpoint", given.text("endpoint")}, {"samplingRate", *rate}};
  for (auto [option, field] : {std::pair("provider", "provider"),
                               {"env", "environment"},
                               {"key", "key"},
                               {"propagation", "propagation"},
                               {"service-name", "serviceName"},
                               {"service-namespace", "serviceNamespace"},
                               {"service-version", "serviceVersion"}}) {
    if (given.has(option)) input[field] = given.text(option);
  }
  for (auto [option, field] : {std::pair("concept-spans", "conceptSpans"), {"sync-spans", "syncSpans"}}) {
    if (given.has(option)) input[field] = given.text(option) == "on";
  }
  auto changed = change(context, "Telemetry/configure", input, "configured",
                        (bundle == "*" ? std::string("all bundles") : bundle) + " → " + given.text("endpoint"));
  if (changed && *changed == Code::ok) context.output.note("programs get it when they are next started");
  return changed;
}

Result<Code> remove(Context& context) {
  const std::string config = context.given.text("config");
  return change(context, "Telemetry/remove", {{"config", config}}, "removed", config);
}

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = (*door)->read<std::vector<views::TelemetryView>>("telemetry");
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "CONFIG", .whole = true},
                            {"BUNDLE"},
                            {"ENVIRONMENT"},
                            {"PROVIDER"},
                            {"ENDPOINT"},
                            {"SAMPLING", Align::right}},
                .empty = "Telemetry goes nowhere."};
    for (const views::TelemetryView& each : *all) {
      char rate[32];
      std::snprintf(rate, sizeof rate, "%g", each.sampling_rate);
      table.rows.push_back(
          {{each.config}, {each.bundle}, {each.environment}, {each.provider}, {each.endpoint}, {rate}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<Code> markers(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  json::object query{{"environment", context.given.text("env")}};
  if (auto last = context.given.number("last")) query["last"] = *last;
  auto all = (*door)->read<std::vector<views::MarkerView>>("markers", query);
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{"TIME"}, {"KIT"}, {"VERSION"}, {"ENVIRONMENT"}, {"STATUS"}, {"SENT"}},
                .empty = "No deployment was marked yet."};
    for (const views::MarkerView& each : *all) {
      const bool bad = each.status == "failed" || each.status == "rolledback";
      table.rows.push_back({{utc_text(each.at.ms)},
                            {each.kit, Style::strong},
                            {each.version},
                            {each.environment},
                            {each.status, bad ? Style::bad : Style::plain},
                            {!each.trouble.empty() ? "not yet: " + each.trouble
                             : each.sent_at        ? "yes"
                                                   : "nobody is told"}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

}  // namespace telemetry_commands

void add_telemetry_commands(Commands& commands) {
  using namespace telemetry_commands;
  commands.add_noun({.name = "telemetry", .group = Group::operate, .summary = "Choose where telemetry and markers go"});
  commands.add(
      {.name = "telemetry configure",
       .summary = "Choose where the telemetry of bundles goes",
       .details = "Programs are told of an OTLP endpoint by OTEL_* variables when they are next started. "
                  "Every provider gets a marker when a deployment begins and ends.\n\nA backend's key is read "
                  "where --key says, each time that it is needed: env:NAME is a variable of the control "
                  "plane, file:/PATH a file. Only the home's owner may name one; without one, a backend gets the "
                  "key in the home's file keys/backends/HOST.",
       .options = changing_options(
           {{.name = "concept", .value = "BUNDLE", .help = "of this bundle only"},
            {.name = "env", .value = "ENV", .help = "in this environment only"},
            {.name = "endpoint", .value = "URL", .help = "where it goes: http://otel.example:4318"},
            {.name = "sampling", .value = "RATE", .help = "the share of requests to trace, 0 to 1", .fallback = "1"},
            {.name = "provider",
             .value = "PROVIDER",
             .help = "the kind of backend",
             .choices = {"otlp", "grafana", "datadog"},
             .fallback = "otlp"},
            {.name = "key", .value = "FROM", .help = "where the backend's key is read: env:NAME or file:/PATH"},
            {.name = "propagation",
             .value = "HOW",
             .help = "how requests join the trace of their caller",
             .choices = {"w3c", "none"}},
            {.name = "concept-spans", .value = "ON", .help = "a span for each action", .choices = {"on", "off"}},
            {.name = "sync-spans", .value = "ON", .help = "a span for each sync that fires", .choices = {"on", "off"}},
            {.name = "service-name", .value = "TEXT", .help = "instead of the bundle's name"},
            {.name = "service-namespace", .value = "TEXT", .help = "what the service belongs to"},
            {.name = "service-version", .value = "TEXT", .help = "instead of the bundle's version"}}),
       .example = "sluice telemetry configure --concept shop --endpoint http://otel.example:4318",
       .run = configure});
  commands.add({.name = "telemetry list",
                .summary = "List where telemetry goes",
                .options = reading_options(),
                .example = "sluice telemetry list",
                .run = list});
  commands.add({.name = "telemetry remove",
                .summary = "Stop sending telemetry to a backend",
                .args = {{.name = "config", .help = "as sluice telemetry list shows it"}},
                .options = changing_options(),
                .example = "sluice telemetry remove 01J2000000000000000000000A",
                .run = remove});
  commands.add({.name = "telemetry markers",
                .summary = "List the markers of deployments",
                .options = reading_options(
                    {{.name = "env", .value = "ENV", .help = "of this environment only"},
                     {.name = "last", .value = "N", .help = "so many", .kind = Kind::count, .fallback = "20"}}),
                .example = "sluice telemetry markers --env local --last 10",
                .run = markers});
}

}  // namespace sluice::cli
