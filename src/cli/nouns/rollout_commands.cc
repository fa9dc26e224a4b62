// sluice rollout: move traffic to a new revision in steps, and see how that goes.
#include <poll.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/basis_points.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/table.h"
#include "base/yaml.h"
#include "cli/action_command.h"
#include "cli/all_commands.h"
#include "cli/call_options.h"
#include "cli/live_keys.h"
#include "cli/nouns/rollout_picture.h"
#include "cli/routers_told.h"
#include "deploy/views/rollouts.h"
#include "host/kit_watch.h"
#include "judge/sentence.h"

namespace sluice::cli {
namespace rollout_commands {

namespace views = deploy::views;
using deploy::rollout::RolloutStatus;
using views::MeantNames;
using views::RolloutView;

constexpr int kLook_ms = 200;
constexpr size_t kMaxCriteria = size_t{64} << 10;

std::string seconds_of(int64_t ms) { return std::to_string(ms / 1'000); }

json::object rollout_query(const Context& context) {
  return {{"rollout", context.given.text("rollout")}, {"environment", context.given.text("env")}};
}

Result<RolloutView> rollout_named(Context& context, CommandDoor& door) {
  return door.read<RolloutView>("rollout", rollout_query(context));
}

// Or is where only a person leads on.
bool has_ended(const RolloutView& view) {
  switch (view.status) {
    case RolloutStatus::watching:
    case RolloutStatus::complete:
    case RolloutStatus::aborted:
    case RolloutStatus::superseded:
    case RolloutStatus::stuck:
      return true;
    case RolloutStatus::paused:
      return view.group.empty();  // one of a group may be about to be taken back with the others
    case RolloutStatus::queued:
    case RolloutStatus::due:
    case RolloutStatus::running:
    case RolloutStatus::returning:
      return false;
  }
  return true;
}

// How a rollout that has ended is told to a script.
Code code_of(const RolloutView& view) {
  switch (view.status) {
    case RolloutStatus::aborted:
      return Code::rolled_back;
    case RolloutStatus::superseded:
      return Code::conflict;
    case RolloutStatus::stuck:
    case RolloutStatus::paused:
      return Code::gate_rejected;
    default:
      return Code::ok;
  }
}

void print_view(Context& context, const RolloutView& view) {
  context.output.print(to_json(view), [&](const Terminal& terminal) { return picture_of(view, terminal); });
}

// ------------------------------------------------------------------------------------------------------------- start

Result<json::object> wish_of(Context& context, const MeantNames& meant) {
  json::object wish{{"deployment", meant.revisions.front().deployment}, {"revision", meant.revisions.front().revision}};
  const auto& given = context.given;
  json::object criteria;
  if (given.has("criteria")) {
    auto text = read_file(context.disk, given.text("criteria"), kMaxCriteria);
    auto read = text ? parse_yaml(*text, given.text("criteria")) : Result<Document>(text.error());
    if (!read) return read.error();
    if (!read->root.is_object()) {
      return Error{.code = Code::usage, .message = given.text("criteria") + ": expected an object of criteria"};
    }
    criteria = read->root.as_object();
  }
  if (auto interval = given.number("interval")) criteria["interval"] = *interval / 1'000;
  auto number = [&](const char* option, const char* name) -> Result<void> {
    if (!given.has(option)) return {};
    char* end = nullptr;
    const std::string text = given.text(option);
    const double value = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || *end != 0) {
      return Error{.code = Code::usage, .message = "--" + std::string(option) + ": expected a number, found " + text};
    }
    criteria[name] = value;
    return {};
  };
  if (auto read = number("max-latency-p99", "maxLatencyP99"); !read) return read.error();
  if (auto share = given.number("max-error-rate")) criteria["maxErrorRate"] = static_cast<double>(*share) / 10'000;
  if (auto time = given.number("warm-up")) criteria["warmUp"] = static_cast<double>(*time) / 1'000;
  if (auto time = given.number("latency-floor")) criteria["latencyFloor"] = static_cast<double>(*time);
  if (auto time = given.number("settle")) criteria["settle"] = static_cast<double>(*time) / 1'000;
  if (!criteria.empty()) wish["criteria"] = sluice::write(criteria);
  json::array steps;
  for (const std::string& list : given.texts("steps")) {
    size_t from = 0;
    while (from <= list.size()) {
      const size_t comma = std::min(list.find(',', from), list.size());
      std::string step = list.substr(from, comma - from);
      const bool plain = step.find(':') == std::string::npos && step != "100%";
      if (auto pause = given.number("pause"); plain && pause) step += ":" + seconds_of(*pause) + "s";
      steps.emplace_back(step);
      from = comma + 1;
    }
  }
  const std::string strategy = given.text("strategy");
  if (auto pause = given.number("pause"); pause && steps.empty() && strategy != "rolling") {
    if (strategy != "blue-green") {
      return Error{.code = Code::usage,
                   .message = "--pause is for the steps that --steps names, for blue-green and for rolling",
                   .next = "name them, such as --steps 10%,50%"};
    }
    steps.emplace_back("0%:" + seconds_of(*pause) + "s");
  }
  if (!steps.empty()) wish["steps"] = std::move(steps);
  for (auto [option, field] : {std::pair("strategy", "strategy"), {"concurrency", "concurrency"}, {"group", "group"}}) {
    if (given.has(option)) wish[field] = given.text(option);
  }
  for (auto [option, field] : {std::pair("after", "after"),
                               {"scale-down-delay", "scaleDownDelay"},
                               {"progress-deadline", "progressDeadline"},
                               {"rollback-pause", "rollbackSeconds"}}) {
    if (auto time = given.number(option)) wish[field] = *time / 1'000;
  }
  if (auto share = given.number("holdback")) wish["holdbackBps"] = *share;
  if (auto place = given.number("place")) wish["place"] = *place;
  if (auto batch = given.number("batch")) wish["batch"] = *batch;
  if (auto pause = given.number("pause"); pause && strategy == "rolling") {
    wish["batchPause"] = *pause / 1'000;
  }
  if (given.flag("no-auto-rollback")) wish["autoRollback"] = false;
  return wish;
}

// Waits until it has ended, or is where only a person leads on. Tells what changes on the way.
Result<Code> follow(Context& context, CommandDoor& door, const std::string& id, int64_t timeout_ms) {
  RealClock clock;
  const int64_t until_ns = clock.monotonic_ns() + timeout_ms * 1'000'000;
  const host::StopSignal stop;
  std::string told;
  while (true) {
    auto view = door.read<RolloutView>("rollout", {{"rollout", id}});
    if (!view) return view.error();
    if (std::string line = line_of(*view); line != told) {
      context.output.note(line);
      told = line;
    }
    if (has_ended(*view)) {
      print_view(context, *view);
      return code_of(*view);
    }
    if (timeout_ms > 0 && clock.monotonic_ns() >= until_ns) {
      return Error{.code = Code::timeout,
                   .message = "the rollout goes on: " + view->waits_for,
                   .next = "sluice rollout watch " + id};
    }
    pollfd asked{stop.fd(), POLLIN, 0};
    if (::poll(&asked, 1, kLook_ms) > 0) {
      context.output.note("the rollout goes on; sluice rollout watch " + id + " shows it");
      return Code::ok;
    }
  }
}

Result<Code> tell_begun(Context& context, CommandDoor& door, const MeantNames&, const host::Answer& answer) {
  const std::string id = answer.text("rollout");
  if (!context.given.flag("wait")) {
    print_done(context, answer, "rolling out", id);
    context.output.note("sluice rollout watch " + id + " shows how it goes");
    return Code::ok;
  }
  return follow(context, door, id, context.given.number("timeout").value_or(0));
}

// -------------------------------------------------------------------------------------------------------- see

Result<Code> list(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto all = (*door)->read<std::vector<RolloutView>>(
      "rollouts", {{"environment", context.given.text("env")}, {"ended", context.given.flag("ended")}});
  if (!all) return all.error();
  context.output.print(to_json(*all), [&](const Terminal& terminal) {
    Table table{.columns = {{.title = "ROLLOUT", .whole = true},
                            {"REVISION"},
                            {"FROM"},
                            {"STATUS"},
                            {"STEP"},
                            {"WEIGHT", Align::right},
                            {"WAITS FOR"}},
                .empty = "No rollout is under way."};
    for (const RolloutView& each : *all) {
      table.rows.push_back({{each.rollout},
                            {each.canary.name, Style::strong},
                            {each.baseline ? each.baseline->name : ""},
                            {std::string(to_json(each.status).as_string()), style_of(each.status)},
                            {std::to_string(each.step) + "/" + std::to_string(each.steps.size())},
                            {print_basis_points(static_cast<int>(each.weight_asked_bps))},
                            {each.waits_for}});
    }
    return render(table, terminal);
  });
  return Code::ok;
}

Result<Code> status(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto view = rollout_named(context, **door);
  if (!view) return view.error();
  if (context.given.flag("wait")) {
    return follow(context, **door, view->rollout, context.given.number("timeout").value_or(0));
  }
  print_view(context, *view);
  return Code::ok;
}

// What the judge says now; nobody is told. As sluice judge does of counts in a file.
Result<Code> judge_now(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  auto view = rollout_named(context, **door);
  if (!view) return view.error();
  if (!view->verdict) {
    return Error{.code = Code::unavailable,
                 .message = "nothing was counted of " + view->canary.name + " yet",
                 .next = "sluice rollout status " + view->rollout};
  }
  const judge::Verdict& verdict = *view->verdict;
  context.output.print(to_json(*view), [&](const Terminal& terminal) {
    Table table{.columns = {{"METRIC"},
                            {"NEW", Align::right},
                            {"OLD", Align::right},
                            {"AGAINST", Align::right},
                            {"FOR", Align::right}}};
    auto bad_of = [](double bad, double all) {
      return all > 0 ? judge::count_text(bad) + " of " + judge::count_text(all) : std::string("-");
    };
    for (const judge::Metric& each : verdict.metrics) {
      char against[32], in_favour[32];
      std::snprintf(against, sizeof against, "%.3g", each.against);
      std::snprintf(in_favour, sizeof in_favour, "%.3g", each.for_);
      table.rows.push_back({{each.name, Style::strong},
                            {bad_of(each.canary_bad, each.canary_requests)},
                            {bad_of(each.baseline_bad, each.baseline_requests)},
                            {against},
                            {in_favour}});
    }
    return std::string(to_json(verdict.verdict).as_string()) + "  " + printable(verdict.sentence) + "\n" +
           render(table, terminal);
  });
  if (verdict.verdict == judge::Outcome::healthy) return Code::ok;
  return verdict.verdict == judge::Outcome::unhealthy ? Code::gate_rejected : Code::unavailable;
}

// ------------------------------------------------------------------------------------------------------- watch

constexpr int kRedraw_ms = 500;

// `number` is the how many-th key it is: each is a call of its own.
std::string lead(CommandDoor& door, const std::string& rollout, char key, int number) {
  std::string action;
  json::object input{{"rollout", rollout}};
  if (key == 'p') action = "Rollout/pause", input["reason"] = "paused by hand";
  if (key == 'r') action = "Rollout/resume";
  if (key == 'a') action = "Rollout/advance";
  if (key == 'x') action = "Rollout/abort";
  if (action.empty()) return "";
  auto answer = door.call(action, input, host::WaitFor::answer, "key " + std::to_string(number));
  if (!answer) return answer.error().message;
  const std::string said = answer->text("message");
  return said.empty() ? action.substr(8) + ": " + answer->variant : said;
}

Result<Code> watch(Context& context) {
  auto door = CommandDoor::open(context);
  if (!door) return door.error();
  const auto& settings = context.output.settings();
  const bool live =
      settings.out.tty && settings.format == Format::table && context.variables("TERM").value_or("dumb") != "dumb";
  const LiveKeys keys(live && settings.in.tty);
  const host::StopSignal stop;
  json::object query{{"rollout", context.given.text("rollout")}, {"environment", context.given.text("env")}};
  std::string told, said;
  int keys_pressed = 0;
  while (true) {
    auto view = (*door)->read<RolloutView>("rollout", query);
    if (!view) return view.error();
    query = {{"rollout", view->rollout}};
    if (live) {
      std::string picture = picture_of(*view, settings.out);
      if (keys.on()) {
        picture += "\n" + settings.out.paint(Style::faint, "p pause  r resume  a advance  x abort  q leave") + "  " +
                   printable(said) + "\n";
      }
      context.output.print_text("\x1b[H\x1b[J" + picture);
      context.output.flush();
    } else {
      const bool json = settings.format == Format::json;
      std::string line = line_of(*view);
      if (view->verdict) line += "; " + view->verdict->sentence;
      if (line != told) context.output.print_text((json ? sluice::write(to_json(*view)) : printable(line)) + "\n");
      context.output.flush();
      told = line;
    }
    if (view->ended_at) return view->status == deploy::rollout::RolloutStatus::aborted ? Code::rolled_back : Code::ok;
    const char key = key_within(stop, keys.on(), kRedraw_ms);
    if (key == 'q') return Code::ok;
    if (key != 0) said = lead(**door, view->rollout, key, ++keys_pressed);
  }
}

// ------------------------------------------------------------------------------------------------------- change

// The rollout that is meant, as the action's argument.
std::function<Result<Code>(Context&)> on_rollout(const std::string& action, const std::string& done,
                                                 const std::function<json::object(Context&)>& more = {}) {
  return [=](Context& context) -> Result<Code> {
    if (wants_schema(context)) return print_schema(context, action);
    auto door = CommandDoor::open(context);
    if (!door) return door.error();
    auto view = rollout_named(context, **door);
    if (!view) return view.error();
    json::object given = more ? more(context) : json::object();
    given["rollout"] = view->rollout;
    auto input = with_answers(context, std::move(given));
    if (!input) return input.error();
    // The other changes lead on to a judgement, which may take hours.
    const bool until_obeyed = action == "Rollout/abort";
    auto answer = (*door)->call(action, *input, until_obeyed ? host::WaitFor::settled : host::WaitFor::answer);
    if (!answer) return answer.error();
    if (answer->code != Code::ok) {
      Error error = refusal_in_words(context, *answer);
      if (error.next.empty()) error.next = "sluice rollout status " + view->rollout;
      return error;
    }
    print_done(context, *answer, done, view->canary.name + " (" + view->rollout + ")");
    if (!until_obeyed) return Code::ok;
    auto routers = routers_of(**door, view->environment);
    if (!routers) return routers.error();
    tell_of_routers(context, *routers);
    return Code::ok;
  };
}

std::vector<Arg> rollout_arg() {
  return {{.name = "rollout",
           .help = "its id or the start of it, BUNDLE@SEQUENCE or BUNDLE; by default the newest",
           .optional = true}};
}

std::vector<Option> with_env(std::vector<Option> options, bool changes) {
  options.push_back({.name = "env", .value = "ENV", .help = "look in this environment only"});
  return changes ? changing_options(std::move(options)) : reading_options(std::move(options));
}

const Option kTimeout{
    .name = "timeout", .value = "TIME", .help = "stop waiting after this time and exit 8", .kind = Kind::duration};

}  // namespace rollout_commands

void add_rollout_commands(Commands& commands) {
  using namespace rollout_commands;
  commands.add_noun(
      {.name = "rollout", .group = Group::ship, .summary = "Move traffic to a new version in judged steps"});
  commands.add(command_of(
      {.name = "rollout start",
       .action = "Rollout/begin",
       .about = About::revision,
       .summary = "Start moving traffic to a revision",
       .details = "Each step gives the revision a share of the traffic; when every router obeys, the judge compares "
                  "it with the revision that serves beside it. If it is worse, all traffic goes back at once. If it "
                  "is as good, the next step follows after the pause. The last step is always 100%.\n\nA step is "
                  "10%, 10%:5m with a pause of its own, or 10%:manual to wait for `sluice rollout resume`.\n\nWith "
                  "--strategy rolling the steps are made of replicas: --batch new ones start, get their share of the "
                  "traffic and are judged, then as many old ones stop.",
       .example = "sluice rollout start local hello@1 --strategy immediate",
       .options =
           {{.name = "strategy",
             .value = "STRATEGY",
             .help = "how traffic moves",
             .choices = {"canary", "blue-green", "rolling", "immediate"},
             .fallback = "canary"},
            {.name = "steps",
             .value = "STEPS",
             .help = "the weights, separated by commas: 10%,50%,100%",
             .repeated = true},
            {.name = "batch",
             .value = "N",
             .help = "rolling: how many replicas are replaced at a time (1)",
             .kind = Kind::count},
            {.name = "pause",
             .value = "TIME",
             .help = "how long to stay at a step of --steps that has no pause of its own; blue-green: at 0%, where a "
                     "debug token reaches it",
             .kind = Kind::duration},
            {.name = "criteria",
             .value = "FILE",
             .help = "a YAML or JSON file: how strictly to judge, and by whose counts",
             .kind = Kind::path},
            {.name = "interval", .value = "TIME", .help = "how often the judge looks (10s)", .kind = Kind::duration},
            {.name = "max-error-rate",
             .value = "SHARE",
             .help = "abort if more requests fail, whatever the old version does",
             .kind = Kind::share},
            {.name = "max-latency-p99", .value = "MS", .help = "abort if the slowest 1% take longer, in milliseconds"},
            {.name = "warm-up",
             .value = "TIME",
             .help = "ignore latencies for this long at the start (60s)",
             .kind = Kind::duration},
            {.name = "settle",
             .value = "TIME",
             .help = "ignore latencies for this long after each step (20s)",
             .kind = Kind::duration},
            {.name = "latency-floor",
             .value = "TIME",
             .help = "treat all requests faster than this as equal (5ms)",
             .kind = Kind::duration},
            {.name = "after", .value = "TIME", .help = "keep judging for this long after 100%", .kind = Kind::duration},
            {.name = "holdback",
             .value = "SHARE",
             .help = "the share that the old revision keeps until then",
             .kind = Kind::share},
            {.name = "scale-down-delay",
             .value = "TIME",
             .help = "stop the old revision this long after the end",
             .kind = Kind::duration},
            {.name = "progress-deadline",
             .value = "TIME",
             .help = "abort if a step takes longer",
             .kind = Kind::duration},
            {.name = "rollback-pause",
             .value = "TIME",
             .help = "roll back step by step, with this pause in between",
             .kind = Kind::duration},
            {.name = "no-auto-rollback", .help = "pause instead of aborting if it is worse"},
            {.name = "concurrency",
             .value = "HOW",
             .help = "wait for a rollout under way, or take its place",
             .choices = {"queue", "supersede"}},
            {.name = "group", .value = "NAME", .help = "advance and roll back together with this group"},
            {.name = "place",
             .value = "N",
             .help = "its place in the group: the highest rolls back first",
             .kind = Kind::count},
            {.name = "wait", .help = "wait for its end: exit 0 if it has all traffic, 9 if it was taken back"},
            kTimeout},
       .fill = wish_of,
       .tell = tell_begun}));
  commands.add({.name = "rollout list",
                .summary = "List the rollouts under way",
                .options = with_env({{.name = "ended", .help = "include those that have ended"}}, false),
                .example = "sluice rollout list --ended",
                .run = list});
  commands.add({.name = "rollout status",
                .summary = "Show where a rollout is and what the judge says",
                .details =
                    "With --wait it ends when the rollout does: exit 0 if the new revision has all traffic, 9 if "
                    "traffic was taken back, 7 if it is paused or stuck, 8 if --timeout passed first.",
                .args = rollout_arg(),
                .options = with_env({{.name = "wait", .help = "wait until it has ended"}, kTimeout}, false),
                .example = "sluice rollout status hello@1",
                .run = status});
  commands.add({.name = "rollout judge",
                .summary = "Print what the judge says about a rollout now",
                .details = "Nothing follows from it: the rollout goes on as it would have. Says healthy (exit 0), "
                           "unhealthy (exit 7) or insufficientData (exit 1), with the numbers behind it.",
                .args = rollout_arg(),
                .options = with_env(
                    {{.name = "dry-run", .help = "accepted for clarity; this command never changes anything"}}, false),
                .example = "sluice rollout judge hello@1 --dry-run",
                .run = judge_now});
  commands.add({.name = "rollout watch",
                .summary = "Watch a rollout live",
                .details = "On a terminal the picture redraws every half second; p pauses, r resumes, a advances, x "
                           "aborts, q leaves. Without one it prints a line whenever something changes; with -o json "
                           "a line of JSON.",
                .args = rollout_arg(),
                .options = with_env({}, false),
                .example = "sluice rollout watch hello@1",
                .run = watch});
  commands.add({.name = "rollout advance",
                .summary = "Move to the next step now",
                .details = "The judge is not asked.",
                .args = rollout_arg(),
                .options = with_env({{.name = "full", .help = "move to 100%"}}, true),
                .example = "sluice rollout advance hello",
                .run = on_rollout("Rollout/advance", "advanced", [](Context& context) {
                  return context.given.flag("full") ? json::object{{"full", true}} : json::object();
                })});
  commands.add({.name = "rollout pause",
                .summary = "Pause at the current step",
                .args = rollout_arg(),
                .options = with_env({}, true),
                .example = "sluice rollout pause hello",
                .run = on_rollout("Rollout/pause", "paused", [](Context& context) {
                  const std::string reason = context.given.text("reason");
                  return json::object{{"reason", reason.empty() ? "paused by hand" : reason}};
                })});
  commands.add({.name = "rollout resume",
                .summary = "Go on with a paused rollout",
                .args = rollout_arg(),
                .options = with_env({}, true),
                .example = "sluice rollout resume hello",
                .run = on_rollout("Rollout/resume", "resumed")});
  commands.add({.name = "rollout abort",
                .summary = "Return traffic to the previous revision",
                .details = "The command ends when every router that can be reached obeys, and names those that do not.",
                .args = rollout_arg(),
                .options = with_env({}, true),
                .example = "sluice rollout abort hello",
                .run = on_rollout("Rollout/abort", "aborted", [](Context& context) {
                  const std::string reason = context.given.text("reason");
                  return reason.empty() ? json::object() : json::object{{"reason", reason}};
                })});
  commands.add({.name = "rollout retry",
                .summary = "Start an aborted rollout again",
                .args = rollout_arg(),
                .options = with_env({}, true),
                .example = "sluice rollout retry hello",
                .run = on_rollout("Rollout/retry", "rolling out again")});
}

}  // namespace sluice::cli
