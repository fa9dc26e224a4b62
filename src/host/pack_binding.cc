// From the engine's calls to messages, and back.
#include "host/pack_binding.h"

#include <algorithm>
#include <boost/json.hpp>
#include <mutex>
#include <stdexcept>

#include "base/json.h"
#include "base/terminal.h"
#include "host/pack_values.h"
#include "lang/check/relations.h"
#include "lang/run/contract.h"

namespace sluice::host {
namespace {

constexpr int64_t kProtocol = 1;
constexpr int64_t kGreeting_ms = 10'000;
constexpr int64_t kQuery_ms = 10'000;
constexpr size_t kMaxRows = 1'000;
// Rows that `complete` carries are the engine's to write, in `finish`; until then they travel with the fields.
constexpr std::string_view kWrites = "writes$";

[[noreturn]] void fault(const std::string& what) { throw std::runtime_error(what); }

const json::object& member(const json::object& message, std::string_view name, const std::string& who) {
  const json::value* value = message.if_contains(name);
  if (value == nullptr || !value->is_object()) fault(who + " answered without the object " + std::string(name));
  return value->get_object();
}

std::string word_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

// What all actions of one pack share.
class ServedConcept {
 public:
  ServedConcept(std::shared_ptr<const lang::CheckedKit> kit, std::string name, std::string own_name, std::string kind,
                ConceptServer& server)
      : kit_(std::move(kit)),
        name_(std::move(name)),
        own_name_(std::move(own_name)),
        kind_(std::move(kind)),
        server_(server),
        index_(*kit_->symbols().find_concept(name_)),
        relations_(*lang::relations_of(*symbol().source)) {}

  const lang::ConceptSymbol& symbol() const { return kit_->symbols().concepts[index_]; }
  const lang::Types& types() const { return kit_->symbols().types; }
  const std::vector<lang::Relation>& relations() const { return relations_; }
  const std::string& kind() const { return kind_; }

  // Asks, and gives what was answered. Nothing was done: an Again. It may have been: that, if a repeat does no harm.
  std::variant<json::object, lang::Again> ask(std::string_view what, const json::object& message, int64_t deadline_ms,
                                              bool may_repeat, const std::function<bool()>& cancelled) {
    pack::PackAnswer answer = server_.ask(*symbol().source, kind_, what, message, deadline_ms, cancelled);
    if (answer.message) return *std::move(answer.message);
    if (!answer.none.sent || (may_repeat && !answer.none.cancelled)) {
      return lang::Again{.reason = answer.none.message, .after_ms = answer.none.after_ms};
    }
    fault(answer.none.message);
  }

  json::object settings(const lang::Snapshot& state, const json::object& input) {
    std::string environment = word_in(input, "environment");
    return environment.empty() ? json::object() : server_.settings(state, environment);
  }

  // All rows of the concept, by the names of its own file.
  json::object rows_in(const lang::Rows& rows) const {
    json::object all;
    size_t left = kMaxRows;
    for (const lang::Relation& relation : relations_) {
      json::object shown;
      std::vector<lang::Row> found = rows.scan(relation.name, "", "", left + 1);
      if (found.size() > left) fault(kind_ + " has more than " + std::to_string(kMaxRows) + " rows of state");
      left -= found.size();
      for (lang::Row& row : found) {
        size_t split = row.key.find('\0');
        if (split == std::string::npos) {
          shown[row.key] = std::move(row.value);
        } else {
          auto at = shown.emplace(std::string_view(row.key).substr(0, split), json::object()).first;
          at->value().get_object()[std::string_view(row.key).substr(split + 1)] = std::move(row.value);
        }
      }
      all[own_relation(relation.name)] = std::move(shown);
    }
    return all;
  }

  // Writes what a `complete` carries, each held against its relation first.
  void apply(const json::value& writes, lang::Rows& rows) const {
    if (!writes.is_array()) fault(kind_ + ": writes is no list");
    for (const json::value& each : writes.get_array()) apply_one(each, rows, false);
    for (const json::value& each : writes.get_array()) apply_one(each, rows, true);
  }
  void check_writes(const json::value& writes) const {
    if (!writes.is_array()) fault(kind_ + ": writes is no list");
    for (const json::value& each : writes.get_array()) (void)written(each);
  }

 private:
  struct Write {
    const lang::Relation* relation;
    std::string key;
    const json::value* value;  // null: the row is erased
  };

  std::string own_relation(const std::string& relation) const { return own_name_ + relation.substr(name_.size()); }

  Write written(const json::value& each) const {
    if (!each.is_object()) fault(kind_ + ": a write is an object");
    const json::object& write = each.get_object();
    const std::string name = word_in(write, "relation"), key = word_in(write, "key");
    auto relation = std::ranges::find_if(relations_, [&](const auto& r) { return own_relation(r.name) == name; });
    if (relation == relations_.end()) fault(kind_ + " writes to " + printable(name) + ", which its concept has not");
    if (key.empty() || key.find('\0') != std::string::npos) fault(kind_ + ": a write to " + name + " has no key");
    Write found{.relation = &*relation, .key = key, .value = write.if_contains("value")};
    if (relation->kind != lang::Relation::Kind::rows) {
      const std::string element = word_in(write, "element");
      if (element.empty() || element.find('\0') != std::string::npos)
        fault(kind_ + ": a write to " + name + " has no element");
      found.key = lang::child_key(key, element);
    }
    if (found.value == nullptr) return found;
    const auto& symbols = symbol().relations;
    size_t at = static_cast<size_t>(relation - relations_.begin());
    std::string wrong;
    if (relation->kind == lang::Relation::Kind::rows) {
      if (!found.value->is_object()) fault(kind_ + ": a row of " + name + " is an object");
      wrong = fault_of_fields(types(), symbols[at].fields, found.value->get_object());
    } else {
      wrong = fault_of_value(types(), symbols[at].element, *found.value, name);
    }
    if (!wrong.empty()) fault(kind_ + ": the row " + printable(key) + " of " + name + ": " + wrong);
    return found;
  }

  void apply_one(const json::value& each, lang::Rows& rows, bool puts) const {
    Write write = written(each);
    if (puts && write.value != nullptr) rows.put(write.relation->name, write.key, *write.value);
    if (!puts && write.value == nullptr) rows.erase(write.relation->name, write.key);
  }

  std::shared_ptr<const lang::CheckedKit> kit_;
  std::string name_, own_name_, kind_;
  ConceptServer& server_;
  size_t index_;
  std::vector<lang::Relation> relations_;
};

// One action, as all its handlers need it.
struct ServedAction {
  std::shared_ptr<ServedConcept> owner;
  size_t index;

  const lang::ActionSymbol& symbol() const { return owner->symbol().actions[index]; }

  Result<void> check(const json::object& ask) const {
    std::string wrong = fault_of_fields(owner->types(), symbol().params, ask);
    if (wrong.empty()) return {};
    return Error{.code = Code::invalid, .message = wrong, .path = "/" + wrong.substr(0, wrong.find_first_of(":.["))};
  }

  // A variant with its fields, held against the concept. What is sealed is the caller's to seal.
  lang::Completion completion(const json::object& complete) const {
    lang::Completion done{.variant = word_in(complete, "variant")};
    auto variant = lang::find_variant(symbol(), done.variant);
    if (!variant) {
      fault(owner->kind() + " answered " + symbol().name + " with the variant " + printable(done.variant) +
            ", which it does not declare");
    }
    if (const json::value* fields = complete.if_contains("fields")) {
      if (!fields->is_object()) fault(owner->kind() + ": fields is no object");
      done.fields = fields->get_object();
    }
    std::string wrong = fault_of_fields(owner->types(), symbol().variants[*variant].fields, done.fields);
    if (!wrong.empty()) {
      fault(owner->kind() + " answered " + symbol().name + " with " + done.variant + ", of which " + wrong);
    }
    return done;
  }

  const std::vector<lang::FieldSymbol>& fields_of(const std::string& variant) const {
    return symbol().variants[*lang::find_variant(symbol(), variant)].fields;
  }

  // What the process is asked, with sealed arguments opened.
  json::object message(const json::value& work, lang::Attempt& attempt) const {
    json::object input =
        with_sealed(owner->types(), symbol().params, work.at("input").as_object(),
                    [&](const std::string& handle) { return attempt.open(lang::Sealed::of_handle(handle)); });
    return {{"action", symbol().name},
            {"effect", attempt.id()},
            {"attempt", attempt.number()},
            {"settings", owner->settings(attempt.read(), input)},
            {"state", owner->rows_in(attempt.read().rows_of(owner->symbol().name))},
            {"input", std::move(input)}};
  }

  lang::Completion sealed(lang::Completion done, lang::Attempt& attempt) const {
    done.fields = with_sealed(owner->types(), fields_of(done.variant), std::move(done.fields),
                              [&](const std::string& value) { return attempt.seal(value).handle(); });
    return done;
  }

  Result<lang::PerformedAction> perform(const json::value& work, lang::Attempt& attempt) const {
    const bool may_repeat = symbol().source->retry != lang::Retry::never;
    auto answer = owner->ask("invoke", message(work, attempt), symbol().source->deadline_s * 1'000, may_repeat,
                             [&] { return attempt.cancelled(); });
    if (auto* again = std::get_if<lang::Again>(&answer)) return lang::PerformedAction(std::move(*again));
    const json::object& said = std::get<json::object>(answer);
    if (said.contains("fault")) fault(owner->kind() + ": " + word_in(member(said, "fault", owner->kind()), "message"));
    if (said.contains("again")) {
      const json::object& again = member(said, "again", owner->kind());
      const json::value* after = again.if_contains("after_ms");
      return lang::PerformedAction(
          lang::Again{.reason = owner->kind() + ": " + word_in(again, "reason"),
                      .after_ms = after != nullptr && after->is_int64() ? after->get_int64() : 0});
    }
    const json::object& complete = member(said, "complete", owner->kind());
    lang::Completion done = sealed(completion(complete), attempt);
    if (const json::value* writes = complete.if_contains("writes")) {
      owner->check_writes(*writes);
      done.fields[kWrites] = *writes;
    }
    return lang::PerformedAction(std::move(done));
  }

  Result<lang::Ending> finish(const lang::Ending& ending, lang::Rows& rows) const {
    const auto* done = std::get_if<lang::Completion>(&ending);
    if (done == nullptr) return ending;
    lang::Completion kept = *done;
    if (const json::value* writes = done->fields.if_contains(kWrites)) {
      owner->apply(*writes, rows);
      kept.fields.erase(kWrites);
    }
    return lang::Ending(std::move(kept));
  }

  Result<lang::ProbedAction> probe(const json::value& work, lang::Attempt& attempt) const {
    auto answer = owner->ask("probe", message(work, attempt), symbol().source->deadline_s * 1'000, true,
                             [&] { return attempt.cancelled(); });
    if (std::holds_alternative<lang::Again>(answer)) return lang::ProbedAction(lang::Unsure{});
    const json::object& said = std::get<json::object>(answer);
    if (!said.contains("complete")) return lang::ProbedAction(lang::Unsure{});
    const json::object& complete = member(said, "complete", owner->kind());
    const std::string outcome = word_in(complete, "outcome");
    if (outcome == "done") {
      return lang::ProbedAction(lang::Done<lang::Completion>{sealed(completion(complete), attempt)});
    }
    if (outcome == "notDone") return lang::ProbedAction(lang::NotDone{});
    return lang::ProbedAction(lang::Unsure{});
  }

  Result<lang::Completion> query(const json::object& ask, const lang::Rows& rows) const {
    if (auto fits = check(ask); !fits) return fits.error();
    json::object message{{"action", symbol().name}, {"input", ask}, {"state", owner->rows_in(rows)}};
    auto answer = owner->ask("query", message, kQuery_ms, true, {});
    if (auto* again = std::get_if<lang::Again>(&answer)) {
      return Error{.code = Code::unavailable, .message = again->reason};
    }
    const json::object& said = std::get<json::object>(answer);
    if (!said.contains("complete")) {
      return Error{.code = Code::unavailable, .message = owner->kind() + " did not answer " + symbol().name};
    }
    return completion(member(said, "complete", owner->kind()));
  }
};

lang::ActionBinding bound(const ServedAction& action) {
  const lang::Action& source = *action.symbol().source;
  lang::ActionBinding binding{
      .name = source.name, .runs = source.runs, .retry = source.retry, .deadline_s = source.deadline_s};
  for (const lang::Variant& each : source.variants) binding.variants.push_back(each.name);
  for (const lang::FieldSymbol& each : action.symbol().params) {
    if (action.owner->types()[action.owner->types().present(each.type)].kind == lang::Shape::Kind::sealed) {
      binding.sealed.push_back(each.name);
    }
  }
  binding.check = [action](const json::object& ask) { return action.check(ask); };
  if (source.runs == lang::Runs::query) {
    binding.query = [action](const json::object& ask, const lang::Rows& rows) { return action.query(ask, rows); };
    return binding;
  }
  binding.begin = [action](const json::object& ask, lang::Rows&) -> Result<lang::BegunAction> {
    if (auto fits = action.check(ask); !fits) return fits.error();
    return lang::BegunAction(lang::Started{json::object{{"input", ask}}});
  };
  binding.perform = [action](const json::value& work, lang::Attempt& effect) { return action.perform(work, effect); };
  binding.finish = [action](const json::object&, const lang::Ending& ending, lang::Rows& rows) {
    return action.finish(ending, rows);
  };
  if (source.retry == lang::Retry::probe) {
    binding.probe = [action](const json::value& work, lang::Attempt& effect) { return action.probe(work, effect); };
  }
  return binding;
}

}  // namespace

std::string fault_of_pack_concept(const lang::Concept& spec) {
  for (const lang::Action& each : spec.actions) {
    if (each.runs == lang::Runs::effect || each.runs == lang::Runs::query) continue;
    return "the action " + each.name + " is neither an effect nor a query: write `runs: effect` or `runs: query`";
  }
  if (spec.actions.empty()) return "it has no actions";
  return "";
}

Result<void> greet(pack::PackProcess& process, const lang::Concept& spec, const std::string& kind, int& greeted) {
  if (process.id() != 0 && greeted == process.starts()) return {};
  pack::PackAnswer answer = process.ask("describe", {}, kGreeting_ms);
  auto unusable = [&](const std::string& why) {
    process.stop(why);
    return Error{.code = Code::invalid, .message = kind + ": " + why};
  };
  if (!answer.message) return Error{.code = Code::unavailable, .message = kind + ": " + answer.none.message};
  const json::value* complete = answer.message->if_contains("complete");
  if (complete == nullptr || !complete->is_object()) return unusable("it does not describe itself");
  const json::object& said = complete->get_object();
  const json::value* protocol = said.if_contains("protocol");
  if (protocol == nullptr || *protocol != json::value(kProtocol)) {
    return unusable("it speaks another protocol than " + std::to_string(kProtocol));
  }
  if (word_in(said, "kind") != kind) return unusable("it says that it is " + printable(word_in(said, "kind")));
  const json::value* actions = said.if_contains("actions");
  for (const lang::Action& each : spec.actions) {
    bool has = actions != nullptr && actions->is_array() &&
               std::ranges::find(actions->get_array(), json::value(each.name)) != actions->get_array().end();
    if (!has) return unusable("it does not serve the action " + each.name);
  }
  greeted = process.starts();
  return {};
}

pack::PackAnswer PackServer::ask(const lang::Concept& spec, const std::string& kind, std::string_view what,
                                 const json::object& message, int64_t deadline_ms,
                                 const std::function<bool()>& cancelled) {
  auto running = process();
  if (!running) return {.none = {.message = to_string(running.error()), .after_ms = 1'000}};
  {
    std::lock_guard lock(greeting_);
    if (auto greeted = greet(**running, spec, kind, greeted_); !greeted) {
      if (greeted.error().code != Code::unavailable) fault(greeted.error().message);
      return {.none = {.message = greeted.error().message, .after_ms = 200}};
    }
  }
  pack::PackAnswer answer = (*running)->ask(what, message, deadline_ms, cancelled);
  if (!answer.message) answer.none.message = kind + ": " + answer.none.message;
  return answer;
}

lang::ConceptBinding pack_binding(std::shared_ptr<const lang::CheckedKit> kit, const std::string& name,
                                  const std::string& own_name, const std::string& kind, ConceptServer& server) {
  auto owner = std::make_shared<ServedConcept>(std::move(kit), name, own_name, kind, server);
  const lang::Concept& source = *owner->symbol().source;
  lang::ConceptBinding binding{.name = name,
                               .version = source.version.value_or(0),
                               .parallel = source.parallel,
                               .contract = lang::contract_of(source)};
  for (const lang::Relation& each : owner->relations()) {
    lang::RelationBinding relation{.name = each.name};
    for (const lang::FieldDecl& field : each.fields) relation.fields.push_back(field.name);
    binding.relations.push_back(std::move(relation));
  }
  for (size_t i = 0; i < owner->symbol().actions.size(); ++i) binding.actions.push_back(bound({owner, i}));
  return binding;
}

}  // namespace sluice::host
