// One call at a time, and nothing of what a call means.
#include "cli/command_door.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/random.h"
#include "base/ulid.h"
#include "cli/opening.h"
#include "cli/patience.h"
#include "crypto/sha256.h"
#include "deploy/deploy_kit.h"
#include "engine/caller_words.h"
#include "engine/next_steps.h"

namespace sluice::cli {
namespace {

constexpr std::string_view kLocal = "local";

bool takes(const Context& context, std::string_view option) {
  const auto& options = context.given.command->options;
  return std::ranges::find(options, option, &Option::name) != options.end();
}

// Whether the arguments have what --expect-generation says: actions that make an object compare that of another one.
bool says_generation(const json::object& input) {
  return std::ranges::any_of(input, [](const auto& each) { return each.key().ends_with("Generation"); });
}

host::HomeEngine::MakeKit kit_of(const Context& context) {
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

CommandDoor::CommandDoor(Context& context, host::Opening opening)
    : context_(context),
      door_(std::move(opening), {.folder = std::string(deploy::kKitFolder), .check = kit_of(context)}) {
  stop_.emplace();
}

Result<std::unique_ptr<CommandDoor>> CommandDoor::open(Context& context) {
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  return std::unique_ptr<CommandDoor>(new CommandDoor(context, *std::move(opening)));
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

Result<std::string> CommandDoor::key(std::string_view part) {
  if (takes(context_, "idempotency-key") && context_.given.has("idempotency-key")) {
    key_ = context_.given.text("idempotency-key");
    // An unset variable of a script is no key: each repeat would run again.
    if (key_.empty()) {
      return Error{.code = Code::usage,
                   .message = "an idempotency key is not empty; nothing was changed",
                   .next = "leave --idempotency-key out, and one is made"};
    }
    if (auto sound = engine::check_key(key_); !sound) return sound.error();
  }
  if (key_.empty()) {
    RealClock clock;
    RealRandom random;
    key_ = to_string(UlidSource(clock, random).next());
  }
  if (part.empty()) return key_;
  std::string whole = key_ + "." + std::string(part);
  return whole.size() <= engine::kMaxKeyBytes ? whole : crypto::to_string(crypto::sha256(whole));
}

Error CommandDoor::stopped_early(const Ulid& flow) const {
  const std::string id = to_string(flow);
  if (door_.runs_here()) {
    return {.message = "stopped before flow " + id + " was done; it is kept in the store",
            .next = "sluice serve goes on with it"};
  }
  return {.message = "stopped waiting for flow " + id + ", which goes on in sluice serve",
          .next = "sluice flow show " + id};
}

Result<host::Answer> CommandDoor::call(const std::string& action, const json::object& input, host::WaitFor wait,
                                       std::string_view part) {
  auto key = this->key(part);
  if (!key) return key.error();
  host::Call call{.action = action, .input = input, .key = *key, .wait = wait};
  if (takes(context_, "reason")) call.reason = context_.given.text("reason");
  if (part.empty() && takes(context_, "expect-generation") && !says_generation(input)) {
    if (auto expected = context_.given.number("expect-generation")) {
      call.expect_generation = static_cast<uint64_t>(*expected);
    }
  }
  RealClock clock;
  Patience patience(context_, clock, *stop_);
  auto answer = door_.call(call, {.stop = [&] { return patience.ends(); },
                                  .waits_for = [&](const std::string& what) { patience.waits_for(what); }});
  patience.done();
  if (!answer && answer.error().code == Code::timeout && !context_.given.line.empty()) {
    Error error = answer.error();
    error.next = line_with(context_.given, context_.given.has("idempotency-key") ? "" : "--idempotency-key " + key_);
    return error;
  }
  if (!answer) return answer.error();
  if (answer->flow) context_.output.detail("flow: " + to_string(*answer->flow));
  if (answer->ended()) return answer;
  if (answer->trouble) {
    Error error = *answer->trouble;
    error.message += "; flow " + to_string(*answer->flow) + " is kept as it was after its last step";
    error.next = (error.code == Code::limit ? "make room on the disk; " : "") +
                 std::string("sluice serve goes on with it as soon as it can");
    return error;
  }
  return stopped_early(*answer->flow);
}

Result<host::Answer> CommandDoor::would(const std::string& action, const json::object& input) {
  return door_.call({.action = action, .input = input, .dry_run = true});
}

Error refusal_in_words(const Context& context, const host::Answer& answer) {
  Error error{.code = answer.code, .message = answer.text("message")};
  if (error.message.empty()) {
    error.message = answer.action + " ended in " + answer.variant;
    if (!answer.fields.empty()) error.message += " " + write(answer.fields);
  }
  if (answer.flow) error.next = "sluice flow trace " + to_string(*answer.flow);
  if (!answer.next.empty()) error.next = engine::next_text(answer.next[0]);
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
  if (answer.variant == "notFound") error.message = "there is no such object any more " + write(answer.fields);
  if (std::string check = answer.text("check"); !check.empty()) error.message = check + ": " + error.message;
  // What guards say ends with what to do about it.
  constexpr std::string_view kNext = "; next: ";
  if (size_t at = error.message.find(kNext); at != std::string::npos) {
    error.next = error.message.substr(at + kNext.size());
    error.message.resize(at);
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
