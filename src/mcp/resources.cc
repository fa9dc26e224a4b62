// An address is sluice://, a noun, and what the noun needs.
#include "mcp/resources.h"

#include <algorithm>

#include "http/message.h"
#include "mcp/words.h"

namespace sluice::mcp {
namespace {

constexpr std::string_view kScheme = "sluice://";
constexpr std::string_view kJson = "application/json";
constexpr size_t kMostListed = 1000;

json::object listed(const std::string& uri, const std::string& name, const std::string& title) {
  return {{"uri", uri}, {"name", name}, {"title", title}, {"mimeType", kJson}};
}

std::string text_at(const json::value& value, std::string_view name) {
  return value.is_object() ? text_in(value.get_object(), name) : "";
}

struct Prompt {
  const char* name;
  const char* title;
  const char* description;
  std::vector<std::pair<const char*, const char*>> arguments;  // the first is required
  const char* text;                                            // {name} stands for an argument
};

const std::vector<Prompt>& prompts() {
  static const std::vector<Prompt> kPrompts = {
      {"why_did_this_rollout_stop",
       "Why did this rollout stop?",
       "Finds out why a rollout was paused, aborted or taken back, and what to do about it.",
       {{"rollout", "a rollout's id, or its revision, such as hello@2"}, {"environment", "the environment"}},
       "Find out why the rollout {rollout} (environment: {environment}) stopped.\n"
       "1. Call rollout_status for it. Read status, reason, verdict and waits_for.\n"
       "2. If the judge said that it is worse, name the numbers that decided it: error shares and latencies of both "
       "revisions, and how many requests they are based on.\n"
       "3. Call logs for the new revision, and look for errors that began with it.\n"
       "4. Call explain about the rollout's deployment, if something is still open.\n"
       "Then say in a few sentences what happened, what gets traffic now, and what you would do next. Change nothing."},
      {"deploy_this_safely",
       "Deploy this safely",
       "Deploys a manifest step by step: plan, look, execute, watch, and roll back if it is worse.",
       {{"environment", "where to deploy"}, {"manifest", "the text of the deploy manifest"}},
       "Deploy this manifest to the environment {environment}:\n{manifest}\n\n"
       "1. Call status, and note what gets traffic now.\n"
       "2. Call deploy_plan. Show the changes, and stop if something would be removed that was not asked for.\n"
       "3. Call deploy_execute without plan_id, show the preview, and ask the person whether to go on.\n"
       "4. Only then call it with the plan_id.\n"
       "5. Watch with deploy_status and rollout_status until it is over. If it fails or is taken back, explain why "
       "with explain and logs.\n"
       "6. If people report trouble afterwards, use rollback."}};
  return kPrompts;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

}  // namespace

Result<json::array> list_resources(host::Door& door) {
  auto environments = door.view("environments");
  if (!environments) return environments.error();
  json::array all{listed("sluice://environments", "environments", "All environments")};
  for (const json::value& each : environments->document.as_array()) {
    const std::string id = text_at(each, "environment_id");
    const std::string uri = "sluice://environments/" + http::percent_encoded(id);
    all.push_back(listed(uri, id, "The environment " + id));
    auto deployments = door.view("deployments", {{"environment", id}});
    if (!deployments) continue;
    for (const json::value& one : deployments->document.as_array()) {
      const std::string deployment = text_at(one, "deployment_id"), bundle = text_at(one, "bundle_id");
      all.push_back(listed("sluice://deployments/" + http::percent_encoded(id) + "/" + deployment, bundle,
                           "The deployment of " + bundle + " in " + id));
    }
    auto plans = door.view("plans", {{"environment", id}});
    if (!plans) continue;
    for (const json::value& one : plans->document.as_array()) {
      const std::string plan = text_at(one, "plan_id");
      all.push_back(listed("sluice://plans/" + plan, plan, "A plan of " + text_at(one, "app") + " for " + id));
    }
    if (all.size() > kMostListed) break;
  }
  return all;
}

json::array resource_templates() {
  auto one = [](const char* uri, const char* name, const char* title) {
    return json::object{{"uriTemplate", uri}, {"name", name}, {"title", title}, {"mimeType", kJson}};
  };
  return {one("sluice://environments/{environment}", "environment", "An environment with all that is in it"),
          one("sluice://deployments/{environment}/{deployment}", "deployment",
              "Revisions and traffic of a deployment, by its id or its bundle"),
          one("sluice://plans/{plan}", "plan", "A plan, and how far it has come"),
          one("sluice://traces/{flow}", "trace", "What happened in a flow, and what it waits for")};
}

Result<json::value> read_resource(host::Door& door, const std::string& uri) {
  const Error unknown{.code = Code::not_found, .message = "there is no resource " + uri};
  if (!uri.starts_with(kScheme)) return unknown;
  std::vector<std::string> parts;
  std::string rest = uri.substr(kScheme.size());
  while (true) {
    const size_t slash = rest.find('/');
    auto part = http::percent_decoded(rest.substr(0, slash));
    if (!part || part->empty()) return unknown;
    parts.push_back(*std::move(part));
    if (slash == std::string::npos) break;
    rest = rest.substr(slash + 1);
  }
  auto read = [&](const std::string& view, const json::object& query) -> Result<json::value> {
    auto answer = door.view(view, query);
    if (!answer) return answer.error();
    return std::move(answer->document);
  };
  const std::string& noun = parts[0];
  if (noun == "environments" && parts.size() == 1) return read("environments", {});
  if (noun == "environments" && parts.size() == 2) return read("environment", {{"environment", parts[1]}});
  if (noun == "plans" && parts.size() == 2) return read("plan", {{"plan", parts[1]}});
  if (noun == "traces" && parts.size() == 2) return read("flow", {{"flow", parts[1]}});
  if (noun != "deployments" || parts.size() != 3) return unknown;
  auto names = door.view("names", {{"environment", parts[1]}, {"deployment", parts[2]}});
  if (!names) names = door.view("names", {{"environment", parts[1]}, {"bundle", parts[2]}});
  if (!names) return names.error();
  const json::object query{{"environment", parts[1]}, {"deployment", names->document.at("deployment")}};
  auto revisions = read("revisions", query);
  if (!revisions) return revisions;
  auto traffic = read("traffic", query);
  json::object whole{{"deployment", names->document.at("deployment")},
                     {"bundle", names->document.at("bundle")},
                     {"environment", names->document.at("environment")},
                     {"revisions", *std::move(revisions)},
                     {"traffic", traffic ? *std::move(traffic) : json::value()}};
  return json::value(std::move(whole));
}

json::array list_prompts() {
  json::array all;
  for (const Prompt& each : prompts()) {
    json::array arguments;
    for (const auto& [name, description] : each.arguments) {
      arguments.push_back(json::object{
          {"name", name}, {"description", description}, {"required", name == each.arguments.front().first}});
    }
    all.push_back(json::object{{"name", each.name},
                               {"title", each.title},
                               {"description", each.description},
                               {"arguments", std::move(arguments)}});
  }
  return all;
}

Result<json::object> get_prompt(const std::string& name, const json::object& arguments) {
  const auto& all = prompts();
  auto found = std::ranges::find(all, name, [](const Prompt& each) { return std::string(each.name); });
  if (found == all.end()) return Error{.code = Code::invalid, .message = "there is no prompt " + name};
  std::string text = found->text;
  for (const auto& [argument, description] : found->arguments) {
    const std::string given = text_at(arguments, argument);
    if (given.empty() && argument == found->arguments.front().first) {
      return Error{.code = Code::invalid, .message = name + " needs the argument " + argument};
    }
    text = replaced(std::move(text), "{" + std::string(argument) + "}", given.empty() ? "as it is found" : given);
  }
  return json::object{{"description", found->description},
                      {"messages", {{{"role", "user"}, {"content", {{"type", "text"}, {"text", std::move(text)}}}}}}};
}

}  // namespace sluice::mcp
