// One call at a time, and nothing of what a call means.
#include "cli/deploy_home.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "cli/opening.h"
#include "cli/patience.h"
#include "crypto/key_file.h"
#include "deploy/deploy_kit.h"
#include "engine/outcome_code.h"
#include "engine/snapshot_query.h"
#include "host/home.h"
#include "host/kit_place.h"

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
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  auto home = host::HomeEngine::start(*opening, host::HomeEngine::MakeKit(make_kit), std::string(deploy::kKitFolder));
  if (!home) return home.error();
  made->home_ = *std::move(home);
  made->words_.emplace(context.given, *made->home_);
  return made;
}

Result<void> DeployHome::check_kit() {
  auto place = kit_place_of(context_, std::string(deploy::kKitFolder));
  if (!place) return place.error();
  lang::Checked checked = check_kit_at(context_, *place);
  if (!checked.kit) return host::kit_has_errors(*place, checked);
  kit_ = std::make_shared<const lang::CheckedKit>(*std::move(checked.kit));
  return host::check_handlers(concepts_of(context_), *kit_);
}

Result<Answer> DeployHome::call(const std::string& action, const json::object& input, std::string_view part) {
  auto key = words_->key(part);
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
  if (!started) return words_->unheard(started.error());
  const Ulid flow = started->flow;
  context_.output.detail("flow: " + to_string(flow));
  host::RunningFlow running(flow, started->ended);
  Patience patience(context_, home_->clock(), *stop_);
  auto waited = wait_for_answer(*home_, *words_, running, patience);
  patience.done();
  if (!waited) return waited.error();
  if (auto trouble = home_->engine().trouble(); trouble && !running.ended()) {
    return words_->kept_for_now(*trouble, flow, std::string(deploy::kKitName));
  }
  if (!running.ended()) return words_->stopped_early(flow, std::string(deploy::kKitName));
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
  const lang::ActionBinding* query = engine::find_query(concepts_of(context_).concepts, action);
  const lang::ActionSymbol* symbol = host::find_action(kit_->symbols(), action);
  if (query == nullptr || symbol == nullptr) return engine::no_such_query(action);
  auto home = home_of(context_);
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
  auto opening = opening_of(context);
  if (!opening) return opening.error();
  auto store = host::open_home_store(*opening, clock, {.only_read = true, .as_copy = true});
  if (!store) return store.error();
  if (!*store) return std::unique_ptr<DeployHome>();
  if (!(*store)->overlay) {
    store->reset();
    return DeployHome::open(context);
  }
  if ((*store)->owner != host::calling_user()) return host::may_not_run(*opening);
  std::unique_ptr<DeployHome> made(new DeployHome(context));
  if (auto checked = made->check_kit(); !checked) return checked.error();
  made->copy_ = *std::move(store);
  return made;
}

}  // namespace sluice::cli
