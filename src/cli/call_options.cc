// Options are added to a command's own, which stand first in its help.
#include "cli/call_options.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/yaml.h"
#include "cli/opening.h"
#include "deploy/deploy_kit.h"
#include "engine/caller_words.h"
#include "lang/check/check.h"
#include "lang/codegen/generate_schema.h"

namespace sluice::cli {
namespace {

constexpr size_t kMaxAnswers = size_t{1} << 20U;

lang::Checked check_deploy_kit() {
  return lang::check(lang::load_kit(std::string(deploy::kKitFolder),
                                    [](const std::string& path) { return deploy::read_kit_file(path); }));
}

// Arguments that say what an action is about.
bool names_object(std::string_view argument) {
  constexpr std::string_view kNames[] = {"environment", "deployment", "revision", "bundle",
                                         "customer",    "slot",       "other",    "rollout"};
  return std::ranges::find(kNames, argument) != std::end(kNames);
}

std::vector<Option> joined_options(std::vector<Option> own, std::vector<Option> others) {
  for (Option& each : others) own.push_back(std::move(each));
  return own;
}

}  // namespace

std::vector<Option> call_options() {
  return {{.name = "idempotency-key", .value = "KEY", .help = "a second call with this key joins the first"},
          {.name = "reason", .value = "TEXT", .help = "why, for the audit"},
          lock_timeout_option()};
}

Arg environment_arg() { return {.name = "env", .help = "the environment"}; }

std::vector<Option> reading_options(std::vector<Option> own) {
  return joined_options(std::move(own), {lock_timeout_option()});
}

std::vector<Option> changing_options(std::vector<Option> own) {
  return joined_options(
      joined_options(std::move(own),
                     {{.name = "expect-generation",
                       .value = "N",
                       .help = "refuse if somebody has changed it since it was at this generation",
                       .kind = Kind::count},
                      {.name = "answers",
                       .value = "FILE",
                       .help = "a YAML or JSON file of arguments; it overrides the command line",
                       .kind = Kind::path},
                      {.name = "schema", .help = "print the JSON Schema of what --answers takes, and stop"}}),
      call_options());
}

std::vector<Option> losing_options(std::vector<Option> own) {
  return changing_options(
      joined_options(std::move(own), {{.name = "dry-run", .help = "print what would be lost, and stop"},
                                      {.name = "yes", .letter = 'y', .help = "do not ask"}}));
}

std::vector<Option> deployment_options(std::vector<Option> others) {
  return joined_options({{.name = "deployment", .value = "ID", .help = "the deployment, by its id or the start of it"},
                         {.name = "bundle", .value = "NAME", .help = "the bundle, if it is deployed only once"},
                         {.name = "customer-id", .value = "NAME", .help = "the customer that it is deployed for"}},
                        std::move(others));
}

bool wants_schema(const Context& context) { return context.given.flag("schema"); }

Result<Code> print_schema(Context& context, const std::string& action) {
  auto schema = schema_of_action(action);
  if (!schema) return schema.error();
  context.output.print_text(write_pretty(*schema));
  return Code::ok;
}

Result<json::object> schema_of_action(const std::string& action) {
  lang::Checked checked = check_deploy_kit();
  const std::string name = action.substr(0, action.find('/')), verb = action.substr(action.find('/') + 1);
  if (checked.kit) {
    for (const lang::KitConcept& each : checked.kit->kit().concepts) {
      if (each.tree.name != name) continue;
      json::object schema = lang::generate_schema(each.tree);
      const json::value* found = schema.at("$defs").as_object().if_contains(verb);
      if (found == nullptr) break;
      json::object one = found->as_object();
      // What the engine fills in is nobody's to give.
      if (json::value* properties = one.if_contains("properties")) {
        for (std::string_view each : {engine::kCallerArgument, engine::kCallerKeyArgument}) {
          properties->as_object().erase(each);
        }
      }
      one["$schema"] = "https://json-schema.org/draft/2020-12/schema";
      one["title"] = action;
      return one;
    }
  }
  return Error{.code = Code::not_found, .message = "there is no action " + action};
}

Result<json::object> with_answers(Context& context, json::object input) {
  if (!context.given.has("answers")) return input;
  const std::string file = context.given.text("answers");
  auto text = read_file(context.disk, file, kMaxAnswers);
  if (!text) return text.error();
  auto document = parse_yaml(*text, file);
  if (!document) return document.error();
  if (!document->root.is_object()) {
    return Error{.code = Code::invalid, .message = file + " holds no object with arguments"};
  }
  for (const auto& each : document->root.get_object()) {
    const json::value* named = names_object(each.key()) ? input.if_contains(each.key()) : nullptr;
    if (named != nullptr && *named != json::value("") && *named != each.value()) {
      return Error{.code = Code::usage,
                   .message = file + " says " + std::string(each.key()) + " " + printable(write(each.value())) +
                              ", and the command line is about " + printable(write(*named)) + "; nothing was changed",
                   .next = "leave " + std::string(each.key()) + " out of " + file};
    }
    input[each.key()] = each.value();
  }
  return input;
}

// A variable of a script that is not set must not mean whatever there is.
Result<void> check_deployment_options(const Context& context) {
  for (const char* each : {"deployment", "bundle", "customer-id"}) {
    if (!context.given.has(each) || !context.given.text(each).empty()) continue;
    return Error{.code = Code::usage,
                 .message = "--" + std::string(each) + " is empty; nothing was changed",
                 .next = "leave it out, or name one of: sluice bundles list " + context.given.text("env")};
  }
  return {};
}

json::object deployment_query(const Context& context) {
  return {{"environment", context.given.text("env")},
          {"deployment", context.given.text("deployment")},
          {"bundle", context.given.text("bundle")},
          {"customer", context.given.text("customer-id")}};
}

void expect_generation_as(Context& context, const std::string& field, json::object& input) {
  if (auto expected = context.given.number("expect-generation")) input[field] = *expected;
}

}  // namespace sluice::cli
