// The concept and its handlers.
#include "host/testing_work.h"

#include <unistd.h>

#include <boost/json.hpp>
#include <cstdio>
#include <stdexcept>

#include "engine/testing_engine.h"
#include "host/caller.h"

namespace sluice::host {
namespace {

const std::string kWork = R"(concept Work [W] {
  actions {
    action go(n: Int) {
      -> ok(n: Int)
      -> late(message: String) @code(conflict)
    }
    action wait(n: Int) {
      runs: effect
      retry: safe
      -> ok(n: Int)
    }
    action look() {
      runs: query
      -> ok(n: Int)
    }
    action ask(n: Int) {
      runs: answered
      -> ok(n: Int)
    }
    action sign() {
      runs: answered outside
      -> ok
    }
  }
}
)";

const std::string kRules = R"(
sync Start when { Work/ask: [ n: ?n ] => requested } then { Work/wait: [ n: ?n ] }
sync Done when { Work/wait: [ n: ?n ] => ok[] caused by Work/ask: [] => requested as ?r } then { answer ?r => ok[ n: ?n ] }
)";

lang::ConceptBinding work(std::atomic<bool>& release) {
  auto keep = [](const json::object&, const lang::Ending& ending, lang::Rows&) -> Result<lang::Ending> {
    return ending;
  };
  auto begin = [](const json::object& ask, lang::Rows&) -> Result<lang::BegunAction> {
    return lang::BegunAction(lang::Started{ask});
  };
  lang::ActionBinding go{.name = "go"};
  go.check = [](const json::object& input) -> Result<void> {
    if (input.contains("n") && input.size() == 1) return {};
    return Error{.code = Code::invalid, .message = "n is missing", .path = "/n"};
  };
  go.act = [](const json::object& ask, lang::Rows&) -> Result<lang::Completion> {
    if (ask.at("n").as_int64() <= 100) return lang::Completion{"ok", ask};
    return lang::Completion{"late", {{"message", "too late"}}};
  };
  lang::ActionBinding wait{.name = "wait", .runs = lang::Runs::effect, .retry = lang::Retry::safe};
  wait.begin = begin;
  wait.perform = [&release](const json::value& work, lang::Attempt&) -> Result<lang::PerformedAction> {
    while (!release) std::this_thread::yield();
    return lang::PerformedAction(lang::Completion{"ok", work.as_object()});
  };
  wait.finish = keep;
  lang::ActionBinding ask{.name = "ask", .runs = lang::Runs::answered};
  lang::ActionBinding sign{.name = "sign", .runs = lang::Runs::answered_outside};
  for (lang::ActionBinding* each : {&ask, &sign}) {
    each->begin = [](const json::object&, lang::Rows&) -> Result<lang::BegunAction> {
      return lang::BegunAction(lang::Started{});
    };
    each->finish = keep;
  }
  lang::ActionBinding look{.name = "look", .runs = lang::Runs::query};
  look.query = [](const json::object&, const lang::Rows&) -> Result<lang::Completion> {
    return lang::Completion{"ok", {{"n", 1}}};
  };
  lang::ConceptBinding binding;
  binding.name = "Work";
  binding.actions = {go, wait, look, ask, sign};
  return binding;
}

}  // namespace

TestingWork::TestingWork() : owner(name_of_user(::getuid())) {
  binding_ = work(release);
  loaded.concepts = {&binding_};
  kit = engine::checked({kWork}, kRules);
  auto started = engine::Engine::start(
      {.store = &store,
       .clock = &clock,
       .random = &random_,
       .tools = &loaded.tools,
       .concepts = loaded.concepts,
       .may = [this](const engine::Caller& who, const std::string& action, const json::object&) -> Result<void> {
         if (who.name == owner) return {};
         return Error{.code = Code::denied, .message = who.name + " may not call " + action};
       },
       .fatal =
           [](const std::string& why) {
             std::fprintf(stderr, "%s\n", why.c_str());
             std::_Exit(1);
           }},
      kit);
  if (!started) throw std::runtime_error(to_string(started.error()));
  engine = *std::move(started);
}

TestingWork::~TestingWork() {
  release = true;
  engine.reset();
}

DoorParts TestingWork::door_parts() {
  return {.engine = engine.get(),
          .store = &store,
          .blobs = nullptr,
          .concepts = &loaded,
          .clock = &clock,
          .disk = &disk,
          .home = &home,
          .kit = kit};
}

}  // namespace sluice::host
