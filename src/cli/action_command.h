// A command that is an action of the kit: its arguments, options, help, schema and dry run follow from the `.concept`.
// By hand remain the verb, what it is about, an example, and friendlier words where they pay:
//
//   commands.add(command_of({.name = "traffic rollback",
//                            .action = "Traffic/rollback",
//                            .about = About::deployment,
//                            .summary = "Go back to the previous split",
//                            .example = "sluice traffic rollback local",
//                            .words = {{.param = "steps", .help = "how many changes to go back", .fallback = "1"}}}));
//
// An action or a parameter that the kit does not have stops the program when the table of commands is made: every test
// would meet it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/command_door.h"
#include "deploy/views/objects.h"

namespace sluice::cli {

// What the first argument of its own of an action means, and so how people name it on a command line.
enum class About { nothing, environment, deployment, revision };

struct ParamWords {
  std::string param;     // as the concept calls it
  std::string option{};  // another name than the parameter's own, in kebab case
  std::string value{};   // what its value is called in help
  std::string help{};
  std::string fallback{};
};

struct ActionCommand {
  std::string name;    // "traffic rollback"
  std::string action;  // "Traffic/rollback"
  About about = About::nothing;
  std::string param = {};  // what the action calls what it is about, if not environment, deployment or revision
  std::string summary;
  std::string details = {};
  std::string example = {};
  std::vector<ParamWords> words = {};
  std::vector<Arg> args = {};        // besides what it is about
  std::vector<Option> options = {};  // besides what the action's parameters give
  // Arguments that are not given as they are: what the command line means by them.
  std::function<Result<json::object>(Context&, const deploy::views::MeantNames&)> fill = {};
  // Further arguments that take the home to find out: its answers, what a person says when asked. Once the rest is
  // known.
  std::function<Result<void>(Context&, CommandDoor&, const deploy::views::MeantNames&, json::object&)> prepare = {};
  // What --schema prints besides the action's own schema, if this command line asks anything; {} if it did already.
  std::function<Result<std::optional<json::object>>(Context&, CommandDoor&)> schema = {};
  // What revisions the command line names besides: their meaning is asked for together with the rest.
  std::function<Result<std::vector<std::string>>(Context&)> revisions = {};
  // What goes with it for good, for --dry-run and the question: its sentence, and what is lost.
  struct Loss {
    std::string what;  // "take all traffic away from shop"
    std::vector<std::string> loses;
  };
  std::function<Result<Loss>(Context&, CommandDoor&, const deploy::views::MeantNames&)> loses = {};
  bool asks = true;  // whether it asks first, if it loses something: what can be undone does not
  // How far to wait; the answer alone by default.
  std::function<host::WaitFor(const Context&)> wait = {};
  // What goes on while it is waited for; ends with what it returns.
  std::function<std::shared_ptr<void>(Context&, const deploy::views::MeantNames&)> meanwhile = {};
  // What was done, as in "created  staging", and what it was done to; else `ok key=value …` is printed.
  std::string done = {};
  std::function<std::string(const deploy::views::MeantNames&, const host::Answer&)> what = {};
  // What to do about a refusal, where that is not what the refusal says; may be empty.
  std::function<std::string(Context&, const deploy::views::MeantNames&, const host::Answer&)> next = {};
  // All that is printed, where that is more than a line.
  std::function<Result<Code>(Context&, CommandDoor&, const deploy::views::MeantNames&, const host::Answer&)> tell = {};
};

Command command_of(ActionCommand command);

// A parameter of an action as its `.concept` says it.
struct ActionParam {
  std::string name;
  std::string type;  // "Int", "option String", "list { revision: String, weightBps: Int }"
  bool optional = false;
};
// Of "Concept/action", without what the engine fills in. Stops the program if the kit has no such action.
std::vector<ActionParam> params_of(const std::string& action);

}  // namespace sluice::cli
