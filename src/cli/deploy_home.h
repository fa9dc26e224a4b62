// Sluice's own kit on the home's engine, for the commands that call its actions: `sluice trust add` is Trust/add.
//
//   auto home = DeployHome::open(context);
//   auto answer = (*home)->call("Trust/add", {{"publicKey", pem}, …});
//   if (answer->code != Code::ok) return refusal_of(*answer);
//
// Who calls, why (--reason) and under which key (--idempotency-key) is taken from the command line: a command that
// calls has the options of call_options().
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/call_words.h"
#include "cli/context.h"
#include "host/home_engine.h"
#include "host/kit_watch.h"

namespace sluice::cli {

// How an action ended.
struct Answer {
  std::string action;
  std::string variant;
  json::object fields;
  Code code = Code::ok;
  std::optional<Ulid> flow;  // none of a query
  std::string help;          // the command that says what its arguments are; may be empty

  // Texts and lists of texts among the fields; empty if there is none of that name.
  std::string text(std::string_view field) const;
  std::vector<std::string> texts(std::string_view field) const;
};

// What an answer other than ok is to a person: its message, or its variant with the fields.
Error refusal_of(const Answer& answer);

std::vector<Option> call_options();

class DeployHome {
 public:
  static Result<std::unique_ptr<DeployHome>> open(Context& context);

  // Runs an action, and waits for its answer. Ctrl-C ends the waiting; the flow is kept. `part` tells several calls of
  // one command apart, which have one idempotency key; --expect-generation is of the first.
  Result<Answer> call(const std::string& action, const json::object& input, std::string_view part = "");
  // The same for what a command does besides what it was called for.
  Result<Answer> call_unkeyed(const std::string& action, const json::object& input);
  // Waits until the flow and all that follows from it is done, or the person here has had enough.
  Result<void> wait_until_all(const Ulid& flow);
  // Asks a query.
  Result<Answer> ask(const std::string& action, const json::object& input);

  // Not of one that reads a copy.
  host::HomeEngine& home() { return *home_; }
  bool reads_copy() const { return copy_ != nullptr; }
  Result<crypto::PrivateKey> operator_key() const;

 private:
  friend Result<std::unique_ptr<DeployHome>> open_deploy_home_to_read(Context& context);

  explicit DeployHome(Context& context) : context_(context) {}
  Result<void> check_kit();
  Result<Answer> run(engine::Request request);
  Result<Answer> ask_copy(const std::string& action, const json::object& input);

  Context& context_;
  std::unique_ptr<host::HomeStore>
      copy_;  // of a store that another process has: it answers queries, and there is no engine
  std::shared_ptr<const lang::CheckedKit> kit_;  // with a copy
  std::unique_ptr<host::HomeEngine> home_;
  std::optional<CallWords> words_;  // with an engine
  // Made before the engine's threads, which are not to take the signal; gone before the engine is, so that a second
  // Ctrl-C does not wait for effects under way.
  std::optional<host::StopSignal> stop_;
};

// For queries alone: nothing has run in a home without a store, and none is made. Nobody is waited for: while another
// process has the store, a copy of it answers.
Result<std::unique_ptr<DeployHome>> open_deploy_home_to_read(Context& context);

}  // namespace sluice::cli
