// A process is looked for when it is first asked.
#include "host/pack_concepts.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "deploy/deploy_kit.h"
#include "host/served_concepts.h"
#include "lang/run/rows.h"
#include "lang/syntax/concept_parser.h"

namespace sluice::host {
namespace {

constexpr int64_t kHealth_ms = 5'000;

std::string own_name_of(const pack::Pack& pack) {
  lang::Diagnostics found;
  auto tree = lang::parse_concept(pack.concept_text, pack.concept_file, found);
  return tree ? tree->name : "";
}

}  // namespace

std::vector<lang::OutsideConcept> outside_concepts(const std::vector<pack::Pack>& packs) {
  std::vector<lang::OutsideConcept> concepts;
  for (const pack::Pack& each : packs) {
    concepts.push_back({.name = pack::concept_name_of(each.manifest.kind),
                        .kind = to_string(each.manifest.kind),
                        .file = each.concept_file,
                        .text = each.concept_text});
  }
  return concepts;
}

Result<void> fits_the_kit(const pack::Pack& pack) {
  auto wrong = [&](const std::string& what) {
    return Error{.code = Code::invalid, .message = what, .next = "sluice pack test PATH shows all of it"};
  };
  lang::Diagnostics found;
  auto tree = lang::parse_concept(pack.concept_text, pack.manifest.concept_.text, found);
  lang::KitOptions options{.outside = outside_concepts({pack})};
  options.outside.front().file = pack.manifest.concept_.text;
  lang::Checked checked = lang::check(lang::load_kit(
      std::string(deploy::kKitFolder), [](const std::string& path) { return deploy::read_kit_file(path); }, options));
  for (const lang::Diagnostic& each : checked.diagnostics) {
    if (each.severity == lang::Diagnostic::Severity::error && each.file == pack.manifest.concept_.text) {
      return wrong(each.file + ":" + std::to_string(each.mark.line) + ":" + std::to_string(each.mark.column) + ": " +
                   each.text);
    }
  }
  if (!checked.kit || !tree) return wrong(pack.manifest.concept_.text + " does not fit the kit");
  std::string fault = fault_of_pack_concept(*tree);
  return fault.empty() ? Result<void>() : Result<void>(wrong(pack.manifest.concept_.text + ": " + fault));
}

class PackConcepts::Server final : public PackServer {
 public:
  Server(const PackConcepts& owner, std::string name) : owner_(owner), name_(std::move(name)) {}

  Result<pack::PackProcess*> process() override {
    std::lock_guard lock(mutex_);
    if (process_) {
      auto there = owner_.disk_.stat(pack_.folder, FollowLinks::no);
      if (there) return process_.get();
      process_->stop("the pack was removed");
    }
    for (pack::Pack& each : owner_.shelf_.all([](const std::string&) {})) {
      if (pack::concept_name_of(each.manifest.kind) != name_) continue;
      auto program = owner_.shelf_.program_of(each, owner_.variables_);
      if (!program) return program.error();
      pack_ = std::move(each);
      // Whoever asks the one before may still hold on to it.
      if (process_) gone_.push_back(std::move(process_));
      process_ = std::make_unique<pack::PackProcess>(owner_.clock_, *std::move(program));
      return process_.get();
    }
    return Error{.code = Code::unavailable,
                 .message = "the pack of " + name_ + " is not installed, or was changed since",
                 .next = "sluice env-packs list --available"};
  }

  json::object settings(const lang::Snapshot& state, const std::string& environment) override {
    for (const lang::Row& row : state.rows_of("Env").scan("Env.packs", lang::child_key(environment), "", 100)) {
      const json::object& bound = row.value.as_object();
      const json::value* answers = bound.if_contains("answers");
      auto kind = pack::parse_descriptor(bound.at("kind").as_string());
      if (!kind || pack::concept_name_of(*kind) != name_ || answers == nullptr || !answers->is_string()) continue;
      auto parsed = parse_json(answers->get_string());
      if (parsed && parsed->root.is_object()) return parsed->root.get_object();
    }
    return {};
  }

 private:
  const PackConcepts& owner_;
  const std::string name_;
  std::mutex mutex_;
  pack::Pack pack_;
  std::unique_ptr<pack::PackProcess> process_;
  std::vector<std::unique_ptr<pack::PackProcess>> gone_;
};

PackConcepts::PackConcepts(pack::PackShelf& shelf, Disk& disk, Clock& clock, Variables variables)
    : shelf_(shelf), disk_(disk), clock_(clock), variables_(std::move(variables)) {}

PackConcepts::~PackConcepts() = default;

PackConcepts::Server& PackConcepts::server_of(const std::string& name) const {
  auto& server = servers_[name];
  if (!server) server = std::make_unique<Server>(*this, name);
  return *server;
}

std::vector<const lang::ConceptBinding*> PackConcepts::bind(const std::shared_ptr<const lang::CheckedKit>& kit) {
  std::lock_guard lock(mutex_);
  std::vector<const lang::ConceptBinding*> found;
  std::vector<pack::Pack> packs;
  for (const lang::KitConcept& each : kit->kit().concepts) {
    if (!each.outside || is_served(each)) continue;
    const std::string& name = each.tree.name;
    if (!bindings_.contains(name)) {
      if (packs.empty()) packs = shelf_.all([](const std::string&) {});
      for (const pack::Pack& pack : packs) {
        if (pack::concept_name_of(pack.manifest.kind) != name) continue;
        bindings_.emplace(name,
                          pack_binding(kit, name, own_name_of(pack), to_string(pack.manifest.kind), server_of(name)));
      }
    }
    if (auto bound = bindings_.find(name); bound != bindings_.end()) found.push_back(&bound->second);
  }
  if (served_ == nullptr) return found;
  for (const lang::ConceptBinding* each : served_->bind(kit)) found.push_back(each);
  return found;
}

Result<pack::PackProcess*> PackConcepts::process_of(const std::string& kind) const {
  auto descriptor = pack::parse_descriptor(kind);
  if (!descriptor) return descriptor.error();
  Server* server = nullptr;
  {
    std::lock_guard lock(mutex_);
    server = &server_of(pack::concept_name_of(*descriptor));
  }
  return server->process();
}

Result<json::object> PackConcepts::query(const std::string& kind, const std::string& action, const json::object& input,
                                         int64_t timeout_ms) const {
  auto process = process_of(kind);
  if (!process) return process.error();
  pack::PackAnswer answer =
      (*process)->ask("query", {{"action", action}, {"input", input}, {"state", json::object()}}, timeout_ms);
  if (!answer.message) return Error{.code = Code::unavailable, .message = answer.none.message};
  const json::value* complete = answer.message->if_contains("complete");
  const json::object* said = complete == nullptr ? nullptr : complete->if_object();
  const json::value* variant = said == nullptr ? nullptr : said->if_contains("variant");
  const json::value* fields = said == nullptr ? nullptr : said->if_contains("fields");
  if (variant == nullptr || *variant != json::value("ok") || fields == nullptr || !fields->is_object()) {
    return Error{.code = Code::unavailable, .message = kind + " answered " + write(*answer.message)};
  }
  return fields->get_object();
}

std::string PackConcepts::health(const std::string& kind) const {
  auto process = process_of(kind);
  if (!process) return process.error().message;
  pack::PackAnswer answer = (*process)->ask("health", {}, kHealth_ms);
  if (!answer.message) return answer.none.message;
  const json::value* complete = answer.message->if_contains("complete");
  const json::object* said = complete == nullptr ? nullptr : complete->if_object();
  if (said != nullptr && said->contains("healthy") && said->at("healthy") == json::value(true)) return "";
  const json::value* message = said == nullptr ? nullptr : said->if_contains("message");
  return message != nullptr && message->is_string() ? std::string(message->get_string())
                                                    : "it does not say that it is well";
}

}  // namespace sluice::host
