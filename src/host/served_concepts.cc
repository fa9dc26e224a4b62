// Where a component answers is looked up after every change, as it moves with every deploy.
#include "host/served_concepts.h"

#include <algorithm>
#include <atomic>
#include <boost/json.hpp>
#include <charconv>
#include <set>
#include <stdexcept>

#include "base/json.h"
#include "deploy/views/leading.h"
#include "http/client.h"
#include "lang/syntax/concept_parser.h"
#include "lang/syntax/sync_parser.h"

namespace sluice::host {
namespace {

constexpr const char* kConceptPath = "/.well-known/sluice-concept";
constexpr std::string_view kTcp = "tcp:", kUnix = "unix:";
constexpr int64_t kDescribe_ms = 10'000;

Result<std::unique_ptr<http::Client>> connect_to(const std::string& address, const Clock& clock) {
  if (address.starts_with(kUnix)) return http::Client::to_unix(address.substr(kUnix.size()), clock);
  const size_t colon = address.rfind(':');
  uint16_t port = 0;
  if (address.starts_with(kTcp)) std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  if (port == 0) return Error{.code = Code::unavailable, .message = "it answers at no address that is known"};
  return http::Client::to_tcp(address.substr(kTcp.size(), colon - kTcp.size()), port, clock);
}

}  // namespace

bool is_served(const lang::KitConcept& each) {
  return each.outside && each.tree.file.find("/app-kits/") != std::string::npos;
}

std::vector<lang::OutsideConcept> served_concepts(const std::vector<deploy::KeptRule>& rules, const std::string& home) {
  std::vector<lang::OutsideConcept> all;
  for (const deploy::KeptRule& rule : rules) {
    for (const deploy::KeptConcept& each : rule.concepts) {
      if (std::ranges::find(all, each.name, &lang::OutsideConcept::name) != all.end()) continue;
      all.push_back(
          {.name = each.name, .kind = "", .file = home + "/app-kits/" + each.name + ".concept", .text = each.text});
    }
  }
  return all;
}

void add_app_rules(const std::vector<deploy::KeptRule>& rules, const std::string& home, lang::Kit& kit) {
  for (lang::KitConcept& each : kit.concepts) {
    if (!is_served(each)) continue;
    for (lang::Action& action : each.tree.actions) {
      if (action.runs == lang::Runs::pure) action.runs = lang::Runs::effect;
    }
  }
  for (const deploy::KeptRule& rule : rules) {
    if (rule.text.empty()) continue;
    const std::string path = home + "/app-kits/" + rule.name + ".sync";
    lang::Diagnostics found;
    auto file = lang::parse_sync(rule.text, path, found);
    kit.sources[path] = rule.text;
    kit.found.add(found);
    if (!file) continue;
    for (auto& each : file->rules) {
      auto* sync = std::get_if<lang::Sync>(&each);
      if (sync == nullptr) continue;
      lang::KitSync added{.tree = std::move(*sync), .tier = lang::Tier::integration, .kit = rule.kit};
      added.alias = added.tree.name.text;
      kit.syncs.push_back(std::move(added));
    }
  }
}

class ServedConcepts::Server final : public ConceptServer {
 public:
  Server(const Clock& clock, deploy::KeptRule whose, std::string component)
      : clock_(clock), whose_(std::move(whose)), component_(std::move(component)) {}

  void look(const lang::Snapshot& snapshot) {
    auto found = deploy::views::component_addresses(snapshot, whose_.environment, whose_.app, component_);
    std::lock_guard lock(mutex_);
    addresses_ = std::move(found);
  }

  pack::PackAnswer ask(const lang::Concept& spec, const std::string&, std::string_view what,
                       const json::object& message, int64_t deadline_ms, const std::function<bool()>&) override {
    std::string address;
    {
      std::lock_guard lock(mutex_);
      if (!addresses_.empty()) address = addresses_[next_++ % addresses_.size()];
    }
    if (address.empty()) return none("nothing of " + component_ + " serves in " + whose_.environment, false);
    if (auto greeted = greet(address, spec)) return *std::move(greeted);
    json::object asked;
    for (const char* field : {"action", "effect", "attempt", "input"}) {
      if (const json::value* value = message.if_contains(field)) asked[field] = *value;
    }
    asked["tenant"] = "";
    pack::PackAnswer answer = talk(address, what, std::move(asked), deadline_ms);
    const json::value* complete = answer.message ? answer.message->if_contains("complete") : nullptr;
    if (complete != nullptr && complete->is_object() && complete->get_object().contains("writes")) {
      throw std::runtime_error(component_ +
                               " answered with `writes`, but a component keeps its concept's state itself");
    }
    return answer;
  }

  json::object settings(const lang::Snapshot&, const std::string&) override { return {}; }

 private:
  static pack::PackAnswer none(std::string message, bool sent) {
    return {.none = {.message = std::move(message), .sent = sent, .after_ms = 500}};
  }

  // Whether it serves the actions, asked once at each address. Nothing: it does.
  std::optional<pack::PackAnswer> greet(const std::string& address, const lang::Concept& spec) {
    {
      std::lock_guard lock(mutex_);
      if (greeted_.contains(address)) return std::nullopt;
    }
    pack::PackAnswer answer = talk(address, "describe", {}, kDescribe_ms);
    if (!answer.message) {
      answer.none.sent = false;
      return answer;
    }
    const json::value* complete = answer.message->if_contains("complete");
    const json::object* said = complete == nullptr ? nullptr : complete->if_object();
    const json::value* text = said == nullptr ? nullptr : said->if_contains("concept");
    lang::Diagnostics found;
    auto its_own = text != nullptr && text->is_string() ? lang::parse_concept(text->get_string(), "its .concept", found)
                                                        : std::nullopt;
    if (!its_own) throw std::runtime_error(component_ + " does not describe the concept that it serves");
    for (const lang::Action& each : spec.actions) {
      if (std::ranges::find(its_own->actions, each.name, &lang::Action::name) != its_own->actions.end()) continue;
      throw std::runtime_error(component_ + " does not serve the action " + each.name);
    }
    std::lock_guard lock(mutex_);
    greeted_.insert(address);
    return std::nullopt;
  }

  pack::PackAnswer talk(const std::string& address, std::string_view what, json::object message, int64_t deadline_ms) {
    auto client = connect_to(address, clock_);
    if (!client) return none(component_ + " cannot be reached: " + client.error().message, false);
    const std::string id = std::to_string(++asked_);
    auto answer = (*client)->send({.method = "POST",
                                   .target = kConceptPath,
                                   .headers = {{"Content-Type", "application/json"}},
                                   .body = write(json::object{{"id", id}, {what, std::move(message)}})},
                                  deadline_ms);
    if (!answer) return none(component_ + " did not answer: " + answer.error().message, true);
    if (answer->status != 200) {
      throw std::runtime_error(component_ + " answered POST " + kConceptPath + " with status " +
                               std::to_string(answer->status));
    }
    auto said = parse_json(answer->body, "its answer");
    const json::object* object = said ? said->root.if_object() : nullptr;
    const json::value* same = object == nullptr ? nullptr : object->if_contains("id");
    if (same == nullptr || *same != json::value(id)) {
      throw std::runtime_error(component_ + " answered something else than message " + id);
    }
    return {.message = *object};
  }

  const Clock& clock_;
  const deploy::KeptRule whose_;
  const std::string component_;
  std::atomic<uint64_t> asked_ = 0;
  std::mutex mutex_;
  std::vector<std::string> addresses_;
  size_t next_ = 0;
  std::set<std::string> greeted_;
};

ServedConcepts::ServedConcepts(deploy::AppKitShelf& shelf, const Clock& clock) : shelf_(shelf), clock_(clock) {}
ServedConcepts::~ServedConcepts() = default;

void ServedConcepts::compare(const lang::Snapshot& snapshot, const Tell&) {
  std::lock_guard lock(mutex_);
  for (const auto& [name, server] : servers_) server->look(snapshot);
}

std::vector<const lang::ConceptBinding*> ServedConcepts::bind(const std::shared_ptr<const lang::CheckedKit>& kit) {
  std::vector<const lang::ConceptBinding*> found;
  std::vector<deploy::KeptRule> kept;
  for (const lang::KitConcept& each : kit->kit().concepts) {
    if (!is_served(each)) continue;
    const std::string& name = each.tree.name;
    std::lock_guard lock(mutex_);
    if (!bindings_.contains(name)) {
      if (kept.empty()) kept = shelf_.all([](const std::string&) {});
      for (const deploy::KeptRule& rule : kept) {
        auto served = std::ranges::find(rule.concepts, name, &deploy::KeptConcept::name);
        if (served == rule.concepts.end() || bindings_.contains(name)) continue;
        auto& server = servers_[name];
        server = std::make_unique<Server>(clock_, rule, served->own);
        bindings_.emplace(name, pack_binding(kit, name, served->own, name, *server));
      }
    }
    if (auto bound = bindings_.find(name); bound != bindings_.end()) found.push_back(&bound->second);
  }
  return found;
}

}  // namespace sluice::host
