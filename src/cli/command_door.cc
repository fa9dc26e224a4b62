// One call at a time, and nothing of what a call means.
#include "cli/command_door.h"

#include <poll.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "cli/next_command.h"
#include "cli/opening.h"
#include "cli/patience.h"
#include "deploy/deploy_kit.h"
#include "engine/rules/next_steps.h"
#include "host/flows/flow_views.h"

namespace sluice::cli {
namespace {

constexpr std::string_view kLocal = "local";

auto kit_of(const Context& context) {
  return [&context]() -> Result<std::shared_ptr<const lang::CheckedKit>> {
    auto place = kit_place_of(context, std::string(deploy::kKitFolder));
    if (!place) return place.error();
    lang::Checked checked = check_kit_at(context, *place);
    if (!checked.kit) return host::kit_has_errors(*place, checked);
    auto kit = std::make_shared<const lang::CheckedKit>(*std::move(checked.kit));
    if (auto fits = host::check_handlers(concepts_of(context), *kit); !fits) return fits.error();
    return kit;
  };
}

}  // namespace

bool says_generation(const json::object& input) {
  return std::ranges::any_of(input, [](const auto& each) { return each.key().ends_with("Generation"); });
}

CommandDoor::CommandDoor(Context& context, host::Opening opening, host::DoorKit kit)
    : context_(context), door_(std::move(opening), std::move(kit)), words_(context.given, door_) {
  stop_.emplace();
}

Result<std::unique_ptr<CommandDoor>> CommandDoor::open(Context& context) {
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  const bool elsewhere = opening->server.has_value();
  std::unique_ptr<CommandDoor> door(new CommandDoor(
      context, *std::move(opening), {.folder = std::string(deploy::kKitFolder), .check = kit_of(context)}));
  // Which environments another server has is for its own operator to say.
  door->opened_local_ = elsewhere;
  return door;
}

Result<std::unique_ptr<CommandDoor>> CommandDoor::open_any(Context& context, host::DoorKit kit) {
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  std::unique_ptr<CommandDoor> door(new CommandDoor(context, *std::move(opening), std::move(kit)));
  door->opened_local_ = true;
  return door;
}

Result<host::ViewAnswer> CommandDoor::view(const std::string& name, const json::object& query) {
  auto answer = door_.view(name, query);
  const json::value* environment = query.if_contains("environment");
  const bool missing =
      answer ? name == "environments" && answer->document.as_array().empty()
             : answer.error().code == Code::not_found && environment != nullptr && *environment == json::value(kLocal);
  if (!missing || opened_local_) return answer;
  // The environment local is made when somebody first looks for it.
  opened_local_ = true;
  auto opened = door_.call({.action = "Env/open"});
  if (!opened) return opened.error();
  if (opened->fields.contains("created") && opened->fields.at("created") == json::value(true)) {
    context_.output.note("made the environment local with five packs");
  }
  return door_.view(name, query);
}

Result<host::Call> CommandDoor::call_of(const std::string& action, const json::object& input, std::string_view part) {
  auto key = words_.key(part);
  if (!key) return key.error();
  host::Call call{.action = action, .input = input, .key = *key};
  if (takes(context_.given, "reason")) call.reason = context_.given.text("reason");
  if (part.empty() && takes(context_.given, "expect-generation") && !says_generation(input)) {
    if (auto expected = context_.given.number("expect-generation")) {
      call.expect_generation = static_cast<uint64_t>(*expected);
    }
  }
  return call;
}

Result<host::Answer> CommandDoor::call(const std::string& action, const json::object& input, host::WaitFor wait,
                                       std::string_view part) {
  auto call = call_of(action, input, part);
  if (!call) return call.error();
  call->wait = wait;
  RealClock clock;
  Patience patience(context_, clock, *stop_);
  auto answer = door_.call(*call, {.stop = [&] { return patience.ends(); },
                                   .waits_for = [&](const std::string& what) { patience.waits_for(what); }});
  patience.done();
  return ended(std::move(answer));
}

Result<host::Answer> CommandDoor::run(const std::string& action, const json::object& input, const Told& told) {
  auto call = call_of(action, input, "");
  if (!call) return call.error();
  call->wait = host::WaitFor::start;
  RealClock clock;
  Patience patience(context_, clock, *stop_);
  auto answer = door_.call(*call);
  if (!answer || answer->ended() || !answer->flow) return ended(std::move(answer));
  const uint64_t from = answer->position;
  const Ulid flow = *answer->flow;
  // Under a key that was used it may have ended long ago.
  answer = door_.answer_of(flow, host::WaitFor::answer, {.stop = [] { return true; }});
  if (answer && !answer->ended()) {
    auto followed = door_.follow(
        from,
        [&](const engine::Step& step) {
          if (step.flow != flow) return true;
          patience.waits_for(told(step));
          return step.invocation != flow || !step.end;
        },
        [&] { return patience.ends(); });
    // Who may not read the journal still hears how it ends.
    if (!followed && followed.error().code != Code::denied) return followed.error();
    answer = door_.answer_of(flow, host::WaitFor::answer, {.stop = [&] { return patience.ends(); }});
  }
  patience.done();
  return ended(std::move(answer));
}

Result<void> CommandDoor::cancel(const Ulid& flow, const std::string& reason) {
  auto done = door_.decide({.kind = engine::Decision::Kind::cancel, .flow = flow, .caller = {.reason = reason}});
  // It may have ended by itself.
  if (!done && done.error().code != Code::conflict) return done.error();
  return {};
}

Result<std::string> CommandDoor::put(const std::string& path) {
  auto file = context_.disk.open(path, {});
  if (!file) return file.error();
  return door_.put(**file, takes(context_.given, "reason") ? context_.given.text("reason") : "");
}

Result<host::Answer> CommandDoor::ended(Result<host::Answer> answer) {
  if (!answer) {
    Error error = words_.unheard(answer.error());
    if (error.code == Code::invalid && error.next.empty()) {
      error.next = "sluice " + context_.given.command->name + " --help";
    }
    return error;
  }
  if (answer->flow) context_.output.detail("flow: " + to_string(*answer->flow));
  if (answer->ended()) return answer;
  if (answer->trouble) return words_.kept_for_now(*answer->trouble, *answer->flow);
  return words_.stopped_early(*answer->flow);
}

// Who changed what is at another generation than was expected, as the engine tells of a row of its own.
Error CommandDoor::refusal(host::Answer answer) {
  if (answer.variant == "changed") {
    const bool deployed = answer.fields.contains("deployment");
    auto change = read<host::LastChange>(
        "last-change",
        {{"relation", deployed ? "Deployment" : "Env"}, {"key", answer.text(deployed ? "deployment" : "environment")}});
    if (change) {
      answer.fields["at"] = utc_text(change->at.ms);
      answer.fields["by"] = change->by;
    }
  }
  return refusal_in_words(context_, answer);
}

Result<host::Decided> CommandDoor::decide(engine::Decision decision) {
  decision.caller.reason = context_.given.text("reason");
  RealClock clock;
  Patience patience(context_, clock, *stop_);
  auto decided = door_.decide(std::move(decision), {.stop = [&] { return patience.ends(); }});
  patience.done();
  if (!decided || !decided->trouble) return decided;
  Error error = *decided->trouble;
  error.message += "; what was decided is kept";
  error.next = (error.code == Code::limit ? "make room on the disk; " : "") +
               std::string("sluice serve goes on with it as soon as it can");
  return error;
}

Result<void> CommandDoor::read_logs(const host::LogAsk& ask, const host::VisitLine& visit) {
  bool stopped = false;
  auto read = door_.read_logs(ask, visit, [&] {
    pollfd signal{.fd = stop_->fd(), .events = POLLIN, .revents = 0};
    stopped = !context_.output.flush() || ::poll(&signal, 1, 0) > 0;
    return stopped;
  });
  if (read && ask.follow && !stopped) context_.output.note("Everything that it followed has stopped.");
  return read;
}

Result<int> CommandDoor::exec(host::ExecAsk ask) {
  if (takes(context_.given, "reason")) ask.reason = context_.given.text("reason");
  context_.output.flush();
  stop_.reset();
  return door_.exec(ask, {});
}

Result<host::Answer> CommandDoor::begin(const std::string& action, const json::object& input) {
  auto key = words_.key("begin." + action);
  if (!key) return key.error();
  host::Call call{.action = action, .input = input, .key = *key, .wait = host::WaitFor::start};
  if (takes(context_.given, "reason")) call.reason = context_.given.text("reason");
  auto answer = door_.call(call);
  if (answer && answer->flow) context_.output.detail("flow: " + to_string(*answer->flow));
  return answer;
}

Result<host::Answer> CommandDoor::answer_of(const Ulid& flow) {
  bool asked = false;
  return door_.answer_of(flow, host::WaitFor::answer, {.stop = [&] { return std::exchange(asked, true); }});
}

bool CommandDoor::stopped() const { return stop_->has_come(); }

Result<host::Answer> CommandDoor::would(const std::string& action, const json::object& input) {
  return door_.call({.action = action, .input = input, .dry_run = true});
}

namespace {

// Why, as actions call it.
std::string said_by(const host::Answer& answer) {
  for (const char* field : {"message", "reason"}) {
    if (std::string text = answer.text(field); !text.empty()) return text;
  }
  constexpr size_t kShown = 3;
  const json::value* errors = answer.fields.if_contains("errors");
  if (errors == nullptr || !errors->is_array()) return "";
  std::string all;
  for (size_t i = 0; i < std::min(kShown, errors->as_array().size()); ++i) {
    if (!errors->as_array()[i].is_string()) return "";
    all.append(i == 0 ? "" : "; ").append(errors->as_array()[i].as_string());
  }
  const size_t more = errors->as_array().size() - std::min(kShown, errors->as_array().size());
  return all + (more == 0 ? "" : "; and " + std::to_string(more) + " more");
}

}  // namespace

Error refusal_in_words(const Context& context, const host::Answer& answer, const std::string& environment) {
  Error error{.code = answer.code, .message = said_by(answer)};
  if (error.message.empty()) {
    error.message = answer.action + " ended in " + answer.variant;
    if (!answer.fields.empty()) error.message += " " + write(answer.fields);
  }
  if (answer.flow) error.next = "sluice flow trace " + to_string(*answer.flow);
  if (answer.code == Code::waiting_for_approval) {
    const std::string approval = answer.text("approval");
    error.next = "another person runs: sluice approvals " + (approval.empty() ? "list" : "approve " + approval);
  }
  // What was given is wrong: how it was done tells nothing more.
  if (answer.code == Code::invalid) error.next = "sluice " + context.given.command->name + " --help";
  const json::value* expected = answer.fields.if_contains("expected");
  const json::value* actual = answer.fields.if_contains("actual");
  if ((answer.variant == "engine.conflict" || answer.variant == "changed") && expected != nullptr &&
      actual != nullptr) {
    error.message = "somebody has changed it: expected generation " + write(*expected) + ", it is at " + write(*actual);
    if (std::string at = answer.text("at"); !at.empty())
      error.message += ", changed at " + at + " by " + answer.text("by");
    error.message += "; nothing was changed";
    error.next = "look at it again, then use --expect-generation " + write(*actual);
    return error;
  }
  if (answer.variant == "notFound" && answer.text("message").empty())
    error.message = "there is no such object any more " + write(answer.fields);
  if (std::string check = answer.text("check"); !check.empty()) error.message = check + ": " + error.message;
  if (!answer.next.empty()) error.next = next_commands(answer.next, context.commands, context.given, environment);
  // What handlers say ends with what to do about it.
  constexpr std::string_view kNext = "; next: ";
  if (size_t at = error.message.find(kNext); at != std::string::npos) {
    error.next = error.message.substr(at + kNext.size());
    error.message.resize(at);
    // What a sync has said after it belongs to the message.
    for (const char* said : {"; nothing was changed", "; traffic stays as it was"}) {
      const size_t end = error.next.find(said);
      if (end == std::string::npos) continue;
      error.message += said;
      error.next.erase(end, std::string_view(said).size());
    }
    error.next = next_commands_in(error.next, context.commands, context.given);
  }
  return error;
}

void print_answer(Context& context, const host::Answer& answer) {
  json::object shown = answer.fields;
  if (answer.flow) shown["flow"] = to_string(*answer.flow);
  context.output.print(shown, [&](const Terminal& terminal) {
    std::string line = terminal.paint(Style::good, answer.variant);
    const char* gap = "  ";
    for (const auto& [name, value] : answer.fields) {
      line += gap + std::string(name) + "=" +
              (value.is_string() ? printable(std::string_view(value.get_string())) : write(value));
      gap = " ";
    }
    return line + "\n";
  });
}

void print_done(Context& context, const host::Answer& answer, const std::string& done, const std::string& what) {
  json::object shown = answer.fields;
  if (answer.flow) shown["flow"] = to_string(*answer.flow);
  context.output.print(
      shown, [&](const Terminal& terminal) { return terminal.paint(Style::good, done) + "  " + what + "\n"; });
}

}  // namespace sluice::cli
