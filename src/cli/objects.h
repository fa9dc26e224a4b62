// What the commands on environments, deployments, revisions and traffic share: the home's objects to read, and to
// change through actions of the kit.
//
//   auto objects = Objects::to_change(context);
//   auto environment = views::find_environment((*objects)->states(), context.given.text("env"));
//   auto answer = (*objects)->change("Env/update", {{"environment", …}});
//
// The environment local is made when it is first looked for, and each of its default packs that is missing is bound
// again, with a note.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/deploy_home.h"
#include "deploy/views/states.h"
#include "deployment.gen.h"
#include "engine/committed_rows.h"
#include "env.gen.h"
#include "host/home_store.h"

namespace sluice::cli {

class Objects {
 public:
  static Result<std::unique_ptr<Objects>> to_read(Context& context);
  static Result<std::unique_ptr<Objects>> to_change(Context& context);
  // To read without making anything: null if there is no store.
  static Result<std::unique_ptr<Objects>> to_look(Context& context);

  // Of one moment: that of opening, or of the last change.
  const deploy::views::States& states() const { return *states_; }
  const lang::Snapshot& snapshot() const { return *rows_; }
  // The environment that the command line names. Who uses a name that is given up is warned.
  Result<deploy::env::EnvFound> environment();

  // The store that it is read from.
  store::Store& store() { return home_ ? home_->home().store() : *store_->store; }

  // Runs an action. `part` tells several calls of one command apart, which have one idempotency key.
  Result<Answer> change(const std::string& action, const json::object& input, std::string_view part = "");
  // The answer once more of what this command's own --idempotency-key began, if that was this action and `fits`, which
  // sees its arguments and its answer, says that it was about the same: what it was about may be gone by now.
  using Fits = std::function<bool(const json::object& input, const Answer& answer)>;
  Result<std::optional<Answer>> repeated(const std::string& action, const Fits& fits);
  // How it would end now, judged on what is committed; nothing is done.
  Result<Answer> would(const std::string& action, const json::object& input);
  // Waits until all that follows from the last change is done.
  Result<void> settle();
  Result<void> refresh();
  // What a program said last that the last change tried to start, and that failed; empty if there is none.
  std::vector<std::string> last_lines();

 private:
  explicit Objects(Context& context) : context_(context) {}
  // With the place of its blobs, and nothing read yet.
  static Result<std::unique_ptr<Objects>> of_home(Context& context);
  Result<void> read_from(store::Store& store);
  Result<void> open_local();

  Context& context_;
  RealClock clock_;
  std::unique_ptr<DeployHome> home_;        // to change
  std::unique_ptr<host::HomeStore> store_;  // to read
  std::optional<host::Home> place_;
  std::optional<store::BlobStore> blobs_;
  std::unique_ptr<engine::CommittedRows> rows_;
  std::optional<deploy::views::States> states_;
  std::optional<Ulid> flow_;  // of the last change
  bool warned_ = false;       // of a name that is given up
};

// ---- options and arguments

Arg environment_arg();
std::vector<Option> reading_options(std::vector<Option> own = {});
// --reason, --idempotency-key, --expect-generation, --schema and --answers besides a command's own.
std::vector<Option> changing_options(std::vector<Option> own = {});
// The same with --dry-run and --yes, for what loses something.
std::vector<Option> losing_options(std::vector<Option> own = {});
// --deployment, --bundle and --customer-id, by which a deployment is named.
std::vector<Option> deployment_options(std::vector<Option> others);

// ---- the ways in which commands go

// With --schema: the JSON Schema of the action's arguments is printed, and nothing else is done.
bool wants_schema(const Context& context);
Result<Code> print_schema(Context& context, const std::string& action);
// What --answers says, over what the command line does. It may not be about another object than the one that the
// command line has named: that is a `usage` error, before anybody is asked anything.
Result<json::object> with_answers(Context& context, json::object input);
// Refused if --deployment, --bundle or --customer-id is given and empty.
Result<void> check_deployment_options(const Context& context);
Result<deploy::deployment::DeploymentFound> named_deployment(Context& context, const Objects& objects,
                                                             const std::string& environment);

// What is compared with --expect-generation where an action is about a new object: put into its arguments as `field`.
void expect_generation_as(Context& context, const std::string& field, json::object& input);

// What a refusal of these actions is to a person, with what it left as it was.
Error refusal_in_words(const Answer& answer, const std::string& next = "");

// Prints an answer: its fields with the flow, or a line for people.
void print_done(Context& context, const Answer& answer, const std::string& done, const std::string& what);

}  // namespace sluice::cli
