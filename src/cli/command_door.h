// A command's way into its home: the host's Door with the words of the command line, which say who calls, why, under
// which key and how long to wait.
//
//   CommandDoor door(context);
//   auto split = door.read<views::SplitDocument>("traffic", {{"environment", "local"}});
//   auto answer = door.call("Traffic/set", {{"deployment", id}, {"entries", …}});
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "cli/call_words.h"
#include "cli/context.h"
#include "host/home_door.h"
#include "host/kit_watch.h"

namespace sluice::cli {

// Whether the arguments have what --expect-generation says: actions that make an object compare that of another one.
bool says_generation(const json::object& input);

class CommandDoor {
 public:
  // Sluice's own kit. The context must outlive it.
  static Result<std::unique_ptr<CommandDoor>> open(Context& context);
  // The same for whichever kit runs: views of flows and decisions about them. Decisions that are taken in this process
  // need the kit.
  static Result<std::unique_ptr<CommandDoor>> open_any(Context& context, host::DoorKit kit = {});

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
  // The same of a workflow: `told` hears of each step of its flow, as it is done, and says what is waited for now;
  // nothing: for the same as before.
  using Told = std::function<std::string(const engine::Step&)>;
  Result<host::Answer> run(const std::string& action, const json::object& input, const Told& told);
  // Decides about a flow, with the reason of the command line.
  Result<host::Decided> decide(engine::Decision decision);
  // What replicas say; whoever follows does so until Ctrl-C.
  Result<void> read_logs(const host::LogAsk& ask, const host::VisitLine& visit);
  // Runs a command in a replica's place: its exit code. Ctrl-C is for the command.
  Result<int> exec(host::ExecAsk ask);
  // Begins an action, and does not wait for its end: a view says how far it is.
  Result<host::Answer> begin(const std::string& action, const json::object& input);
  // How it stands now.
  Result<host::Answer> answer_of(const Ulid& flow);
  // Whether the person here has had enough.
  bool stopped() const;
  // How it would end now; nothing is done.
  Result<host::Answer> would(const std::string& action, const json::object& input);
  // Ends what run() waits for no longer.
  Result<void> cancel(const Ulid& flow, const std::string& reason);
  // Puts a file into the home: its digest, by which actions name it.
  Result<std::string> put(const std::string& path);
  // What an answer other than ok is to a person (refusal_in_words), with who changed what was expected to be otherwise.
  Error refusal(host::Answer answer);
  // A view as it is: the environment local is not made.
  Result<host::ViewAnswer> look(const std::string& name, const json::object& query = {}) {
    return door_.view(name, query);
  }

 private:
  CommandDoor(Context& context, host::Opening opening, host::DoorKit kit);
  Result<host::Call> call_of(const std::string& action, const json::object& input, std::string_view part);
  // What an answer is to the command: an error, unless the action has ended.
  Result<host::Answer> ended(Result<host::Answer> answer);

  Context& context_;
  // Made before the engine's threads, which are not to take the signal; gone before the engine is, so that a second
  // Ctrl-C does not wait for effects under way.
  host::HomeDoor door_;
  std::optional<host::StopSignal> stop_;
  CallWords words_;
  bool opened_local_ = false;  // or none is to be made
};

// What an answer other than ok is to a person: what it says, what it left as it was, and what to do next, in
// this `environment` where neither the answer nor the command line names one.
Error refusal_in_words(const Context& context, const host::Answer& answer, const std::string& environment = "");

// Prints an answer: its fields with the flow, or for people `ok  name=value …`.
void print_answer(Context& context, const host::Answer& answer);
// The same with a line of its own for people.
void print_done(Context& context, const host::Answer& answer, const std::string& done, const std::string& what);

}  // namespace sluice::cli
