// A command's way into its home: the host's Door with the words of the command line, which say who calls, why, under
// which key and how long to wait.
//
//   CommandDoor door(context);
//   auto split = door.read<views::SplitDocument>("traffic", {{"environment", "local"}});
//   auto answer = door.call("Traffic/set", {{"deployment", id}, {"entries", …}});
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "cli/context.h"
#include "host/home_door.h"
#include "host/kit_watch.h"

namespace sluice::cli {

class CommandDoor {
 public:
  // Sluice's own kit. The context must outlive it.
  static Result<std::unique_ptr<CommandDoor>> open(Context& context);

  // The environment local is made, with a note, when a view first looks for it.
  Result<host::ViewAnswer> view(const std::string& name, const json::object& query = {});
  // The same as the view's own type.
  template <class View>
  Result<View> read(const std::string& name, const json::object& query = {}) {
    auto answer = view(name, query);
    if (!answer) return answer.error();
    return sluice::read<View>(answer->document);
  }

  // Runs an action and waits for its answer, or for all that follows from it. Ctrl-C ends the waiting; the flow is
  // kept, and the error says so. `part` tells several calls of one command apart, which have one idempotency key.
  Result<host::Answer> call(const std::string& action, const json::object& input,
                            host::WaitFor wait = host::WaitFor::answer, std::string_view part = "");
  // How it would end now; nothing is done.
  Result<host::Answer> would(const std::string& action, const json::object& input);

 private:
  CommandDoor(Context& context, host::Opening opening);
  Result<std::string> key(std::string_view part);
  Error stopped_early(const Ulid& flow) const;

  Context& context_;
  // Made before the engine's threads, which are not to take the signal; gone before the engine is, so that a second
  // Ctrl-C does not wait for effects under way.
  host::HomeDoor door_;
  std::optional<host::StopSignal> stop_;
  std::string key_;
  bool opened_local_ = false;
};

// What an answer other than ok is to a person: what it says, what it left as it was, and what to do next.
Error refusal_in_words(const Context& context, const host::Answer& answer);

// Prints an answer: its fields with the flow, or for people `ok  name=value …`.
void print_answer(Context& context, const host::Answer& answer);
// The same with a line of its own for people.
void print_done(Context& context, const host::Answer& answer, const std::string& done, const std::string& what);

}  // namespace sluice::cli
