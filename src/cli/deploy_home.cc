// One call at a time, and nothing of what a call means.
#include "cli/deploy_home.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "cli/home.h"
#include "cli/kit_place.h"
#include "cli/patience.h"
#include "crypto/key_file.h"
#include "deploy/deploy_kit.h"
#include "engine/outcome_code.h"
#include "engine/snapshot_query.h"

namespace sluice::cli {
namespace {

// Of the commands that have the option.
std::optional<uint64_t> expected_generation(const Given& given) {
  bool has =
      std::ranges::find(given.command->options, "expect-generation", &Option::name) != given.command->options.end();
  auto number = has ? given.number("expect-generation") : std::nullopt;
  return number ? std::optional(static_cast<uint64_t>(*number)) : std::nullopt;
}

// Whether the arguments have what --expect-generation says: actions that make an object compare that of another one.
bool says_generation(const json::object& input) {
  return std::ranges::any_of(input, [](const auto& each) { return each.key().ends_with("Generation"); });
}

const LoadedConcepts& loaded_in(const Context& context) {
  static const LoadedConcepts kNone;
  return context.concepts != nullptr ? *context.concepts : kNone;
}

}  // namespace

std::string Answer::text(std::string_view field) const {
  const json::value* value = fields.if_contains(field);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

std::vector<std::string> Answer::texts(std::string_view field) const {
  std::vector<std::string> all;
  const json::value* value = fields.if_contains(field);
  if (value == nullptr || !value->is_array()) return all;
  for (const json::value& each : value->get_array()) {
    if (each.is_string()) all.emplace_back(each.get_string());
  }
  return all;
}

Error refusal_of(const Answer& answer) {
  Error error{.code = answer.code, .message = answer.text("message")};
  if (error.message.empty()) {
    error.message = answer.action + " ended in " + answer.variant;
    if (!answer.fields.empty()) error.message += " " + write(answer.fields);
  }
  if (answer.flow) error.next = "sluice flow trace " + to_string(*answer.flow);
  return error;
}

std::vector<Option> call_options() {
  return {{.name = "idempotency-key", .value = "KEY", .help = "a second call with this key joins the first"},
          {.name = "reason", .value = "TEXT", .help = "why, for the audit"},
          lock_timeout_option()};
}

Result<std::unique_ptr<DeployHome>> DeployHome::open(Context& context) {
  std::unique_ptr<DeployHome> made(new DeployHome(context));
  made->stop_.emplace();
  auto make_kit = [&]() -> Result<std::shared_ptr<const lang::CheckedKit>> {
    if (auto checked = made->check_kit(); !checked) return checked.error();
    return made->kit_;
  };
  auto home =
      HomeEngine::start(context, loaded_in(context), HomeEngine::MakeKit(make_kit), std::string(deploy::kKitFolder));
  if (!home) return home.error();
  made->home_ = *std::move(home);
  return made;
}

Result<void> DeployHome::check_kit() {
  auto place = place_of_kit(std::string(deploy::kKitFolder), context_);
  if (!place) return place.error();
  lang::Checked checked = check_place(*place, false, context_);
  if (!checked.kit) return kit_has_errors(*place, checked);
  kit_ = std::make_shared<const lang::CheckedKit>(*std::move(checked.kit));
  return check_handlers(loaded_in(context_), *kit_);
}

Result<Answer> DeployHome::call(const std::string& action, const json::object& input, std::string_view part) {
  auto key = home_->key_of(context_.given, part);
  if (!key) return key.error();
  return run({.action = action,
              .input = input,
              .caller = home_->caller(),
              .key = *key,
              .expect_generation =
                  part.empty() && !says_generation(input) ? expected_generation(context_.given) : std::nullopt});
}

Result<Answer> DeployHome::call_unkeyed(const std::string& action, const json::object& input) {
  return run({.action = action, .input = input, .caller = home_->caller()});
}

Result<void> DeployHome::wait_until_all(const Ulid& flow) {
  Patience patience(context_, home_->clock(), *stop_);
  auto waited = home_->engine().wait(flow, engine::Engine::Until::all, [&] { return patience.ends(); });
  patience.done();
  if (!waited) return waited.error();
  return {};
}

Result<Answer> DeployHome::run(engine::Request request) {
  const std::string action = request.action;
  auto started = home_->engine().start(std::move(request));
  if (!started) return home_->unheard(started.error(), context_.given);
  const Ulid flow = started->flow;
  context_.output.detail("flow: " + to_string(flow));
  api::RunningFlow running(flow, started->ended);
  Patience patience(context_, home_->clock(), *stop_);
  auto waited = wait_for_answer(*home_, running, patience);
  patience.done();
  if (!waited) return waited.error();
  if (auto trouble = home_->engine().trouble(); trouble && !running.ended()) {
    return home_->kept_for_now(*trouble, flow, std::string(deploy::kKitName));
  }
  if (!running.ended()) return home_->stopped_early(flow, std::string(deploy::kKitName));
  const engine::End& end = running.ended()->end;
  auto code = home_->engine().code_of(action, end.variant);
  if (!code) return code.error();
  return Answer{.action = action, .variant = end.variant, .fields = end.fields, .code = *code, .flow = flow};
}

Result<crypto::PrivateKey> DeployHome::operator_key() const {
  if (copy_) return crypto::load_private_key(copy_->disk, copy_->operator_key_path);
  return crypto::PrivateKey::from_pem(home_->operator_key().to_pem().reveal());
}

Result<Answer> DeployHome::ask_copy(const std::string& action, const json::object& input) {
  const lang::ActionBinding* query = engine::find_query(loaded_in(context_).concepts, action);
  const lang::ActionSymbol* symbol = api::find_action(kit_->symbols(), action);
  if (query == nullptr || symbol == nullptr) return engine::no_such_query(action);
  auto home = find_home(context_.disk, context_.variables);
  if (!home) return home.error();
  auto snapshot = copy_->store->read();
  if (!snapshot) return snapshot.error();
  store::BlobStore blobs(context_.disk, (home->root() / "blobs").string());
  auto answer = engine::run_query(*query, action, input,
                                  {.snapshot = *std::move(snapshot),
                                   .blobs = &blobs,
                                   .indexed = std::make_shared<const engine::IndexedFields>(),
                                   .now_ms = RealClock().wall_ms()});
  if (!answer) return answer.error();
  return Answer{.action = action,
                .variant = answer->variant,
                .fields = answer->fields,
                .code = engine::code_of(*symbol, answer->variant)};
}

Result<Answer> DeployHome::ask(const std::string& action, const json::object& input) {
  if (copy_) return ask_copy(action, input);
  auto answer = home_->engine().query(action, input, home_->caller());
  if (!answer) return answer.error();
  auto code = home_->engine().code_of(action, answer->variant);
  if (!code) return code.error();
  return Answer{.action = action, .variant = answer->variant, .fields = answer->fields, .code = *code};
}

Result<std::unique_ptr<DeployHome>> open_deploy_home_to_read(Context& context) {
  RealClock clock;
  auto store = open_home_store(context, clock, {.only_read = true, .as_copy = true});
  if (!store) return store.error();
  if (!*store) return std::unique_ptr<DeployHome>();
  if (!(*store)->overlay) {
    store->reset();
    return DeployHome::open(context);
  }
  if ((*store)->owner != calling_user()) return may_not_run(context);
  std::unique_ptr<DeployHome> made(new DeployHome(context));
  if (auto checked = made->check_kit(); !checked) return checked.error();
  made->copy_ = *std::move(store);
  return made;
}

}  // namespace sluice::cli
