// sluice judge: the verdict on counts in a file.
#include <boost/json.hpp>
#include <istream>
#include <iterator>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/json_schema.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "cli/all_commands.h"
#include "cli/context.h"
#include "judge/observations.h"
#include "judge/sentence.h"

namespace sluice::cli {
namespace judge_commands {

constexpr size_t kMaxFile = size_t{64} << 20;

std::string bad_of(double bad, double all) {
  if (all <= 0) return "-";
  return judge::count_text(bad) + " of " + judge::count_text(all) + " (" + judge::share_text(bad / all) + ")";
}

std::string evidence(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", number);
  return number < 10 ? text : judge::count_text(number);
}

std::string text_of(const judge::Verdict& verdict, const judge::Observations& observations, const Terminal& terminal) {
  Style style = Style::warning;
  if (verdict.verdict == judge::Outcome::healthy) style = Style::good;
  if (verdict.verdict == judge::Outcome::unhealthy) style = Style::bad;
  Table table{.columns = {{"METRIC"},
                          {"BAD"},
                          {observations.canary},
                          {observations.baseline},
                          {"AGAINST", Align::right},
                          {"FOR", Align::right}}};
  for (const judge::Metric& metric : verdict.metrics) {
    std::string bad = metric.over_ms ? "over " + judge::latency_text(*metric.over_ms) : "failed";
    if (metric.limit) bad += ", limit " + judge::share_text(*metric.limit);
    table.rows.push_back({{metric.name, Style::strong},
                          {bad},
                          {bad_of(metric.canary_bad, metric.canary_requests)},
                          {bad_of(metric.baseline_bad, metric.baseline_requests)},
                          {evidence(metric.against)},
                          {evidence(metric.for_)}});
  }
  std::string word(to_json(verdict.verdict).get_string());
  return terminal.paint(style, word) + "  " + printable(verdict.sentence) + "\n" + render(table, terminal);
}

Result<std::string> text_given(Context& context) {
  std::string name = context.given.text("file");
  if (name.empty()) {
    return Error{.code = Code::usage, .message = "say which file", .next = "sluice judge --file FILE, or --schema"};
  }
  if (name != "-") return read_file(context.disk, name, kMaxFile);
  return std::string(std::istreambuf_iterator<char>(context.in), {});
}

Result<Code> judge_file(Context& context) {
  if (context.given.flag("schema")) {
    context.output.print_text(
        write_pretty(json_schema<judge::Observations>("Counts for the judge", "urn:sluice:schema:observations")));
    return Code::ok;
  }
  auto text = text_given(context);
  if (!text) return text.error();
  auto observations = judge::parse_observations(*text, context.given.text("file"));
  if (!observations) return observations.error();
  judge::Verdict verdict = judge::verdict_on(*observations);
  context.output.print(to_json(verdict),
                       [&](const Terminal& terminal) { return text_of(verdict, *observations, terminal); });
  if (verdict.dropped_windows > 0) {
    context.output.note(std::to_string(verdict.dropped_windows) +
                        " of the windows could not be: counters began again, or "
                        "more failed than there were");
  }
  context.output.note("against reaches " + evidence(1 / verdict.alpha) + " on average if " + observations->canary +
                      " is worse; for reaches " + evidence(1 / verdict.beta) + " in every metric if it is not");
  if (verdict.verdict == judge::Outcome::healthy) return Code::ok;
  return verdict.verdict == judge::Outcome::unhealthy ? Code::gate_rejected : Code::unavailable;
}

}  // namespace judge_commands

void add_judge_commands(Commands& commands) {
  commands.add({.name = "judge",
                .group = Group::build,
                .summary = "Judge a canary by counts in a file",
                .details = "Compares how many requests of two versions failed, and how long they took, in the same "
                           "windows of time. Says healthy (exit 0), unhealthy (exit 7) or insufficientData (exit 1), "
                           "and why.",
                .options = {{.name = "file",
                             .letter = 'f',
                             .value = "FILE",
                             .help = "the counts, in YAML or JSON; - is stdin",
                             .kind = Kind::path},
                            {.name = "schema", .help = "print the JSON Schema of the file"}},
                .example = "sluice judge --file examples/judge/as-good.yaml",
                .run = judge_commands::judge_file});
}

}  // namespace sluice::cli
