// The interpreter of invariants is that of the concepts' own tests (lang/run/conformance.h); only what runs an action
// is another: a message to the program.
#include "deploy/live_probe.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "http/outgoing.h"
#include "lang/run/conformance.h"
#include "lang/syntax/concept_parser.h"
#include "router/debug_token.h"

namespace sluice::deploy {
namespace {

constexpr int64_t kMessageTimeout_ms = 10'000;
constexpr size_t kMaxAnswer = 1 << 20;
constexpr int64_t kTokenLife_s = 60;
constexpr std::string_view kConceptPath = "/.well-known/sluice-concept";

// A conversation with a program that serves a concept, in a tenant of its own.
class Conversation {
 public:
  Conversation(const std::string& endpoint, std::string tenant, const Clock& clock)
      : url_(endpoint), tenant_(std::move(tenant)), outgoing_({}, clock) {
    while (url_.ends_with('/')) url_.pop_back();
    url_ += kConceptPath;
  }

  // What stands in `complete` of the answer.
  Result<json::object> ask(const char* what, json::object message) {
    const std::string id = std::to_string(++asked_);
    auto answer = outgoing_.send({.method = "POST",
                                  .url = url_,
                                  .headers = {{"Content-Type", "application/json"}},
                                  .body = write(json::object{{"id", id}, {what, std::move(message)}}),
                                  .timeout_ms = kMessageTimeout_ms,
                                  .most_bytes = kMaxAnswer});
    if (!answer) {
      trouble_ = answer.error().message;
      return Error{.code = Code::unavailable, .message = trouble_};
    }
    if (answer->status != 200) {
      return Error{.code = Code::failed,
                   .message = "POST " + std::string(kConceptPath) + " was answered with status " +
                              std::to_string(answer->status)};
    }
    auto said = parse_json(answer->body);
    const json::object* object = said ? said->root.if_object() : nullptr;
    const json::value* same = object != nullptr ? object->if_contains("id") : nullptr;
    const json::value* complete = object != nullptr ? object->if_contains("complete") : nullptr;
    if (same == nullptr || *same != json::value(id) || complete == nullptr || !complete->is_object()) {
      const json::value* fault = object != nullptr ? object->if_contains("fault") : nullptr;
      return Error{.code = Code::failed,
                   .message = fault != nullptr ? "it says " + write(*fault)
                                               : "it answered without `complete` for message " + id};
    }
    return complete->get_object();
  }

  Result<lang::Completion> act(const lang::Action& action, const json::object& input) {
    const bool query = action.runs == lang::Runs::query;
    json::object message{{"action", action.name}, {"input", input}, {"tenant", tenant_}};
    if (!query) message["effect"] = tenant_ + "/" + std::to_string(asked_ + 1);
    auto done = ask(query ? "query" : "invoke", std::move(message));
    if (!done) return done.error();
    const json::value* variant = done->if_contains("variant");
    const json::value* fields = done->if_contains("fields");
    if (variant == nullptr || !variant->is_string()) {
      return Error{.code = Code::failed, .message = "it answered without a variant"};
    }
    return lang::Completion{std::string(variant->get_string()),
                            fields != nullptr && fields->is_object() ? fields->get_object() : json::object()};
  }

  // A state that nothing has happened in yet.
  void start_over() {
    forget();
    tenant_ += "x";
  }
  void forget() { (void)ask("forget", {{"tenant", tenant_}}); }
  const std::string& trouble() const { return trouble_; }

 private:
  std::string url_;
  std::string tenant_;
  http::Outgoing outgoing_;
  uint64_t asked_ = 0;
  std::string trouble_;
};

lang::ConceptBinding binding_of(const lang::Concept& spec, Conversation& with) {
  lang::ConceptBinding binding{.name = spec.name};
  for (const lang::Action& action : spec.actions) {
    lang::ActionBinding one{.name = action.name, .runs = lang::Runs::pure};
    for (const lang::Variant& each : action.variants) one.variants.push_back(each.name);
    one.check = [](const json::object&) { return Result<void>(); };
    one.act = [&with, &action](const json::object& ask, lang::Rows&) { return with.act(action, ask); };
    binding.actions.push_back(std::move(one));
  }
  return binding;
}

// "lend {…}: expected ok, got returned {}" in its parts.
void tell(LiveProbe::Tried& tried, const std::string& fault) {
  const std::string expected = ": expected ", got = ", got ";
  const size_t first = fault.find(expected), second = fault.rfind(got);
  if (first == std::string::npos || second == std::string::npos || second < first) {
    tried.expected = "it holds";
    tried.actual = fault;
    return;
  }
  tried.expected =
      fault.substr(0, first) + " -> " + fault.substr(first + expected.size(), second - first - expected.size());
  tried.actual = fault.substr(second + got.size());
}

std::string name_of(const lang::Invariant& invariant, size_t index) {
  return invariant.name.empty() ? std::to_string(index + 1) : invariant.name;
}

}  // namespace

Result<int64_t> LiveProbe::send_through(const Path& path) const {
  auto key = key_();
  if (!key) return key.error();
  const std::string token = ::sluice::router::write_debug_token({.environment = path.environment,
                                                                 .deployment = path.deployment,
                                                                 .revision = path.revision,
                                                                 .expires_s = clock_.wall_ms() / 1'000 + kTokenLife_s},
                                                                *key);
  int64_t slowest_ms = 0;
  bool any = false;
  for (const RouterFleet::Seen& router : fleet_.look(kPathTimeout_ms)) {
    if (router.environment != path.environment) continue;
    // In the clear: it asks from the same machine.
    auto place = std::ranges::find_if(router.listen,
                                      [](const std::string& each) { return each.find(',') == std::string::npos; });
    if (place == router.listen.end()) continue;
    any = true;
    http::Outgoing outgoing({}, clock_);
    const int64_t begun_ns = clock_.monotonic_ns();
    auto answer = outgoing.send({.url = "http://" + *place + path.path,
                                 .headers = {{"X-Sluice-Debug-Token", token},
                                             {"X-Sluice-Deployment", path.deployment},
                                             {"X-Sluice-Revision", path.revision}},
                                 .timeout_ms = kPathTimeout_ms,
                                 .most_bytes = kMaxAnswer});
    if (!answer) return answer.error();
    if (answer->status == 504) {
      return Error{.code = Code::timeout, .message = "it did not answer the router " + router.name + " in time"};
    }
    const std::string* from = answer->header("X-Sluice-Revision");
    if (answer->status >= 500 || from == nullptr || *from != path.revision) {
      return Error{.code = Code::unavailable,
                   .message = "the router " + router.name + " answered " + std::to_string(answer->status) +
                              (from == nullptr ? ", and does not say of whom" : "")};
    }
    slowest_ms = std::max(slowest_ms, (clock_.monotonic_ns() - begun_ns) / 1'000'000);
  }
  if (!any) return Error{.code = Code::unavailable, .message = "no router serves " + path.environment};
  return slowest_ms;
}

Result<LiveProbe::Tried> LiveProbe::try_invariant(const std::string& endpoint, const std::string& invariant,
                                                  const std::string& tenant) const {
  Conversation with(endpoint, tenant, clock_);
  auto described = with.ask("describe", {});
  if (!described) {
    if (described.error().code == Code::unavailable) return described.error();
    return Error{.code = Code::not_found, .message = "it declares no concept: " + described.error().message};
  }
  const json::value* text = described->if_contains("concept");
  if (text == nullptr || !text->is_string()) {
    return Error{.code = Code::not_found, .message = "it declares no concept: `describe` has no text of one"};
  }
  const std::string source(text->get_string());
  lang::Diagnostics found;
  auto spec = lang::parse_concept(source, "its .concept", found);
  if (!spec)
    return Error{.code = Code::not_found, .message = "its .concept cannot be read: " + lang::render(found, source)};
  const lang::ConceptBinding binding = binding_of(*spec, with);
  const lang::Conformance conformance(binding, source, [&](lang::Harness&) { with.start_over(); });
  Tried tried;
  for (size_t i = 0; i < spec->invariants.size(); ++i) {
    const std::string name = name_of(spec->invariants[i], i);
    if (!invariant.empty() && name != invariant) continue;
    ++tried.invariants;
    const std::string fault = conformance.invariant(i);
    if (!with.trouble().empty()) return Error{.code = Code::unavailable, .message = with.trouble()};
    if (fault.empty()) continue;
    tried.violated = name;
    tell(tried, fault);
    break;
  }
  with.forget();
  if (tried.invariants == 0) {
    std::string names;
    for (size_t i = 0; i < spec->invariants.size(); ++i) {
      names += (names.empty() ? "; there is " : ", ") + name_of(spec->invariants[i], i);
    }
    return Error{.code = Code::not_found,
                 .message = invariant.empty() ? spec->name + " has no invariant"
                                              : spec->name + " has no invariant " + invariant + names};
  }
  return tried;
}

}  // namespace sluice::deploy
