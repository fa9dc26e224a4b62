// What any engine of concepts and syncs must do, 1 to 12: matching, joins, wheres and what follows from them. Each is
// run on a machine; where it must last, it is run again with a restart after every step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "engine/testing_machine.h"

namespace sluice::engine {
namespace scenarios_test {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kWeb = R"(concept Web [R] {
  actions {
    action request(method: String, text: option String, name: option String, password: option String) {
      -> ok
    }
    action respond(code: Int, body: String) {
      -> ok
    }
  }
}
)";

// Things with an owner and a status, and actions of every shape.
const std::string kThing = R"(concept Thing [T] {
  state {
    things: set T
    owner: T -> String
    status: T -> String
    size: T -> Int
  }
  actions {
    action x(user: String) {
      -> ok(user: String)
      -> error(user: String)
    }
    action y(user: String, kind: option String) {
      -> ok(user: String)
      -> notfound(user: String)
      -> bare
    }
    action add(owner: String, status: String, size: Int) {
      -> ok
    }
    action remove(thing: T) {
      -> ok
    }
    action fail(user: String) {
      -> ok
    }
  }
}
)";

const std::string kSink = R"(concept Sink [S] {
  actions {
    action put(text: option String, other: option String) {
      -> ok
    }
    action note(text: option String, other: option String) {
      -> ok
    }
  }
}
)";

const std::vector<std::string> kKit = {kThing, kSink};

// Thing/add keeps the thing under the next number.
void keep_things(World& world) {
  world.on("Thing/add").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
    rows.put("Thing", "t" + std::to_string(1000 + rows.scan("Thing", "", "", 100'000).size()), ask);
    return {"ok", {}};
  };
}

TEST(Scenario, Scenario01_EchoAnswersThroughTwoSyncs) {
  const std::string echo = R"(concept Echo [E] {
  actions {
    action send(text: String) {
      -> ok(echo: String)
    }
  }
}
)";
  World world({kWeb, echo}, R"(
sync Send when { Web/request: [ method: "echo"; text: ?t ] => ok[] } then { Echo/send: [ text: ?t ] }
sync Reply when { Echo/send: [] => ok[ echo: ?e ] } then { Web/respond: [ code: 200; body: ?e ] }
)");
  world.on("Echo/send").act = [](const json::object& ask, lang::Rows&) {
    return lang::Completion{"ok", {{"echo", ask.at("text")}}};
  };
  Ulid flow = world.run("Web/request", R"({"method": "echo", "text": "hi"})").flow;
  std::vector<Step> steps = world.steps();
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_THAT(world.ends(), ElementsAre("act Web/request => ok", "act Echo/send => ok", "act Web/respond => ok"));
  // Each step names what it asks for, and what it asks for is the next step.
  ASSERT_EQ(steps[0].fired.size(), 1U);
  EXPECT_EQ(steps[0].fired[0].matched, (std::vector<RecordId>{{flow, RecordKind::completion}}));
  EXPECT_EQ(steps[0].fired[0].then.at(0).id, steps[1].invocation);
  EXPECT_EQ(steps[1].fired.at(0).then.at(0).id, steps[2].invocation);
  EXPECT_EQ(write(steps[1].fired[0].then[0].fields), R"({"code":200,"body":"hi"})");
  EXPECT_TRUE(steps[2].fired.empty());
  EXPECT_EQ(world.status(flow), "ok");
}

TEST(Scenario, Scenario02_RegistrationRespondsOnceInEachBranch) {
  const std::string user = R"(concept User [U] {
  state {
    users: set U
    name: U -> String
  }
  actions {
    action check(password: String) {
      -> ok
      -> invalid(message: String)
    }
    action register(name: String) {
      -> ok(user: U)
      -> error(message: String)
    }
    action issue(user: U) {
      -> ok(token: String)
    }
  }
}
)";
  World world({kWeb, user}, R"(
sync Check when { Web/request: [ method: "register"; password: ?p ] => ok[] } then { User/check: [ password: ?p ] }
sync Register when { User/check: [] => ok[] caused by Web/request: [ name: ?n ] => ok[] }
              then { User/register: [ name: ?n ] }
sync Issue when { User/register: [] => ok[ user: ?u ] } then { User/issue: [ user: ?u ] }
sync Done when { User/issue: [] => ok[ token: ?t ] } then { Web/respond: [ code: 200; body: ?t ] }
sync Weak when { User/check: [] => invalid[ message: ?m ] } then { Web/respond: [ code: 422; body: ?m ] }
sync Taken when { User/register: [] => error[ message: ?m ] } then { Web/respond: [ code: 422; body: ?m ] }
)");
  world.on("User/check").act = [](const json::object& ask, lang::Rows&) -> lang::Completion {
    if (ask.at("password").as_string().size() < 8) return {"invalid", {{"message", "too short"}}};
    return {"ok", {}};
  };
  world.on("User/register").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
    if (!rows.find("User", "name", ask.at("name")).empty()) return {"error", {{"message", "taken"}}};
    std::string id = rows.new_id();
    rows.put("User", id, json::object{{"name", ask.at("name")}});
    return {"ok", {{"user", id}}};
  };
  world.on("User/issue").act = [](const json::object&, lang::Rows&) {
    return lang::Completion{"ok", {{"token", "t1"}}};
  };
  auto ask = [&](const std::string& name, const std::string& password) {
    size_t before = world.asked("Web/respond").size();
    world.run("Web/request", R"({"method":"register","name":")" + name + R"(","password":")" + password + R"("})");
    std::vector<std::string> responses = world.asked("Web/respond");
    EXPECT_EQ(responses.size(), before + 1);
    return responses.back();
  };
  EXPECT_EQ(ask("ann", "long enough"), R"({"code":200,"body":"t1"})");
  EXPECT_EQ(ask("bob", "short"), R"({"code":422,"body":"too short"})");
  EXPECT_EQ(world.asked("User/register").size(), 1U);
  EXPECT_EQ(ask("ann", "long enough"), R"({"code":422,"body":"taken"})");
  EXPECT_EQ(world.asked("User/issue").size(), 1U);
}

const std::string kJoin = R"(
sync One when { Sink/note: [] => ok[] } then { Thing/x: [ user: "u1" ] }
sync Two when { Thing/x: [] => ok[] } then { Thing/y: [ user: "u2" ] }
sync Three when { Thing/y: [ user: "u2" ] => ok[] } then { Thing/y: [ user: "u1" ] }
sync Join when { Thing/x: [] => ok[ user: ?u ]  Thing/y: [] => ok[ user: ?u ] } then { Sink/put: [ text: ?u ] }
)";

TEST(Scenario, Scenario03_JoinFiresOnceForTheValuesThatAgree) {
  for (bool restarts : {false, true}) {
    World world(kKit, kJoin);
    world.limits.batch_steps = 1;
    world.start("Sink/note");
    restarts ? world.settle_with_restarts() : world.settle();
    EXPECT_THAT(world.asked("Sink/put"), ElementsAre(R"({"text":"u1"})")) << restarts;
    EXPECT_THAT(world.fired(), ElementsAre("One 1", "Two 1", "Three 1", "Join 1"));
    EXPECT_THAT(world.statuses(), ElementsAre("ok"));
  }
}

TEST(Scenario, Scenario04_RedeliveryIsNoNewWork) {
  World world(kKit, kJoin);
  Ulid flow = world.start("Sink/note", R"({"text": "a"})", "key");
  world.settle();
  std::string bytes = world.bytes();
  EXPECT_EQ(world.start("Sink/note", R"({"text": "a"})", "key"), flow);
  world.restart();
  EXPECT_EQ(world.start("Sink/note", R"({"text": "a"})", "key"), flow);
  world.settle();
  EXPECT_EQ(world.bytes(), bytes);
  ASSERT_EQ(world.ended.size(), 3U);
  for (const auto& ended : world.ended) {
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->invocation, flow);
    EXPECT_EQ(ended->end.variant, "ok");
  }
}

TEST(Scenario, Scenario05_ManyRowsAreOneFiringNoneOrAll) {
  World world(kKit, R"(
sync Clear when { Sink/note: [ text: ?o ] => ok[] } where { Thing: { ?t owner: ?o } } then { Thing/remove: [ thing: ?t ] }
)");
  keep_things(world);
  for (const char* owner : {"ann", "bob", "ann", "ann"}) {
    world.run("Thing/add", R"({"owner":")" + std::string(owner) + R"(","status":"open","size":1})");
  }
  world.run("Sink/note", R"({"text":"ann"})");
  EXPECT_THAT(world.fired(), ElementsAre("Clear 3"));
  EXPECT_THAT(world.asked("Thing/remove"),
              ElementsAre(R"({"thing":"t1000"})", R"({"thing":"t1002"})", R"({"thing":"t1003"})"));

  Ulid none = world.run("Sink/note", R"({"text":"nobody"})").flow;
  EXPECT_THAT(world.fired(), ElementsAre("Clear 3", "Clear 0"));
  EXPECT_EQ(world.status(none), "ok");

  world.on("Thing/add").act = [](const json::object& ask, lang::Rows& rows) -> lang::Completion {
    for (int i = 0; i < 10'001; ++i) rows.put("Thing", "m" + std::to_string(i), ask);
    return {"ok", {}};
  };
  world.run("Thing/add", R"({"owner":"many","status":"open","size":1})");
  Ulid many = world.run("Sink/note", R"({"text":"many"})").flow;
  EXPECT_EQ(world.asked("Thing/remove").size(), 3U);
  EXPECT_EQ(world.status(many), "failed");
  EXPECT_EQ(world.summary(many)["failure"], "sync `Clear`: it reads more than 10000 rows of Thing");
}

TEST(Scenario, Scenario06_LiteralsInAWhereSelectRows) {
  World world(kKit, R"(
sync Open when { Sink/note: [] => ok[] } where { Thing: { ?t status: "open" } } then { Thing/remove: [ thing: ?t ] }
)");
  keep_things(world);
  for (const char* status : {"open", "closed", "open"}) {
    world.run("Thing/add", R"({"owner":"a","status":")" + std::string(status) + R"(","size":1})");
  }
  world.run("Sink/note");
  EXPECT_THAT(world.asked("Thing/remove"), ElementsAre(R"({"thing":"t1000"})", R"({"thing":"t1002"})"));
}

TEST(Scenario, Scenario07_FiltersRemoveRowsAndAreChecked) {
  World world(kKit, R"(
sync Other when { Sink/note: [ text: ?me ] => ok[] } where { Thing: { ?t owner: ?o } filter(?o != ?me) }
           then { Thing/remove: [ thing: ?t ] }
)");
  keep_things(world);
  for (const char* owner : {"ann", "bob", "ann"}) {
    world.run("Thing/add", R"({"owner":")" + std::string(owner) + R"(","status":"open","size":1})");
  }
  world.run("Sink/note", R"({"text":"ann"})");
  EXPECT_THAT(world.asked("Thing/remove"), ElementsAre(R"({"thing":"t1001"})"));

  auto told = [](const std::string& where) {
    return lang::told(lang::kit_of(kKit,
                                   "sync S when { Sink/note: [ text: ?me ] => ok[] } where { Thing: { ?t size: "
                                   "?n } " +
                                       where + " } then { Thing/remove: [ thing: ?t ] }"));
  };
  EXPECT_THAT(told("filter(?n > 1)"), IsEmpty());
  EXPECT_THAT(told("filter(?x > 1)"), ElementsAre(AllOf(HasSubstr("error unbound-variable"), HasSubstr("`?x`"))));
  EXPECT_THAT(told("filter(?n = \"1\")"),
              ElementsAre(HasSubstr("error type-mismatch: these are never equal: `?n` is Int, \"1\" is String")));
}

TEST(Scenario, Scenario08_VariantsAndWildcardsSelect) {
  World world(kKit, R"(
sync Ok when { Thing/x: [] => ok[ user: ?u ] } then { Sink/put: [ text: "ok {{u}}" ] }
sync Any when { Thing/x: [] => [ user: ?u ] } then { Sink/put: [ text: "any {{u}}" ] }
sync Present when { Thing/y: [ kind: ?k ] => ok[] } then { Sink/put: [ text: "kind {{k}}" ] }
sync Wild when { Thing/y: [ kind: _ ] => ok[] } then { Sink/put: [ text: "wild" ] }
)");
  world.run("Thing/x", R"({"user":"u1"})");
  world.on("Thing/x").act = [](const json::object& ask, lang::Rows&) { return lang::Completion{"error", ask}; };
  world.run("Thing/x", R"({"user":"u2"})");
  world.on("Thing/x").act = [](const json::object&, lang::Rows&) -> lang::Completion {
    throw std::runtime_error("broken");
  };
  world.run("Thing/x", R"({"user":"u3"})");
  EXPECT_THAT(world.asked("Sink/put"),
              ElementsAre(R"({"text":"any u1"})", R"({"text":"ok u1"})", R"({"text":"any u2"})"));
  world.run("Thing/y", R"({"user":"u1"})");
  world.run("Thing/y", R"({"user":"u1","kind":"k"})");
  EXPECT_THAT(world.fired(), ElementsAre("Any 1", "Ok 1", "Any 1", "Wild 1", "Present 1", "Wild 1"));
}

TEST(Scenario, Scenario09_ErrorBranchesAndOutcomesThatNobodyHandles) {
  const std::string rules = R"(
sync Ask when { Sink/note: [ text: ?u ] => ok[] } then { Thing/y: [ user: ?u ] }
sync Found when { Thing/y: [] => ok[ user: ?u ] } then { Sink/put: [ text: ?u ] }
sync Missing when { Thing/y: [] => notfound[ user: ?u ] } then { Sink/put: [ text: "no {{u}}" ] }
)";
  World world(kKit, rules);
  world.on("Thing/y").act = [](const json::object& ask, lang::Rows&) {
    return lang::Completion{"notfound", {{"user", ask.at("user")}}};
  };
  Ulid handled = world.run("Sink/note", R"({"text":"u1"})").flow;
  EXPECT_THAT(world.fired(), ElementsAre("Ask 1", "Missing 1"));
  EXPECT_EQ(world.status(handled), "ok");
  world.on("Thing/y").act = [](const json::object&, lang::Rows&) { return lang::Completion{"bare", {}}; };
  Ulid unhandled = world.run("Sink/note", R"({"text":"u1"})").flow;
  EXPECT_EQ(world.status(unhandled), "failed");
  EXPECT_EQ(world.summary(unhandled)["failure"], "Thing/y => bare");
  EXPECT_THAT(lang::told_of_flow(lang::kit_of(kKit, rules)),
              Contains(HasSubstr("warning unhandled-variant: sync `Ask` starts `Thing/y`, but no sync matches its "
                                 "`bare`")));
}

TEST(Scenario, Scenario10_TwoPatternsOnOneActionInEitherOrder) {
  // First pays what `text` says, then what `other` says.
  const std::string rules = R"(
sync First when { Sink/note: [ text: ?k ] => ok[] } then { Thing/y: [ user: "u"; kind: ?k ] }
sync Then when { Sink/note: [ other: ?k ] => ok[] } then { Thing/y: [ user: "u"; kind: ?k ] }
sync Both when { Thing/y: [ kind: "deposit" ] => ok[]  Thing/y: [ kind: "final" ] => ok[] } then { Sink/put: [] }
)";
  for (auto [first, second] : {std::pair("deposit", "final"), std::pair("final", "deposit")}) {
    World world(kKit, rules);
    world.run("Sink/note", R"({"text":")" + std::string(first) + R"(","other":")" + second + R"("})");
    EXPECT_EQ(world.asked("Sink/put").size(), 1U) << first;
  }
  World world(kKit, rules + R"(sync More when { Sink/note: [] => ok[] } then { Thing/y: [ user: "u"; kind: "deposit" ] }
)");
  world.run("Sink/note", R"({"text":"deposit","other":"final"})");
  EXPECT_EQ(world.asked("Sink/put").size(), 2U);
}

TEST(Scenario, Scenario11_OneCompletionIsOnePatternsTwoAreTwoFirings) {
  const std::string twice = R"(
sync Twice when { Thing/x: [] => ok[ user: ?a ]  Thing/x: [] => ok[ user: ?b ] } then { Sink/put: [ text: ?a; other: ?b ] }
)";
  World one(kKit, twice);
  one.run("Thing/x", R"({"user":"1"})");
  EXPECT_THAT(one.fired(), IsEmpty());
  const std::string two = R"(
sync A when { Sink/note: [] => ok[] } then { Thing/x: [ user: "1" ]  Thing/x: [ user: "2" ] }
)";
  World both(kKit, two + twice);
  both.run("Sink/note");
  EXPECT_THAT(both.asked("Sink/put"),
              testing::UnorderedElementsAre(R"({"text":"1","other":"2"})", R"({"text":"2","other":"1"})"));
  World ordered(kKit, two + R"(
sync Twice when { Thing/x: [] => ok[ user: ?a ]  Thing/x: [] => ok[ user: ?b ] } where { filter(?a < ?b) }
           then { Sink/put: [ text: ?a; other: ?b ] }
)");
  ordered.run("Sink/note");
  EXPECT_THAT(ordered.asked("Sink/put"), ElementsAre(R"({"text":"1","other":"2"})"));
}

TEST(Scenario, Scenario12_WildcardsHearEverythingButThemselves) {
  World world(kKit, R"(
sync Audit when { ?c/?a: [] => [] } then { Sink/put: [ text: ?c; other: ?a ] }
sync Things when { Thing/?a: [] => [] } then { Sink/note: [ text: ?a ] }
)");
  Ulid flow = world.run("Thing/x", R"({"user":"u"})").flow;
  world.run("Thing/y", R"({"user":"u"})");
  EXPECT_THAT(world.asked("Sink/put"),
              ElementsAre(R"({"text":"Thing","other":"x"})", R"({"text":"Thing","other":"y"})"));
  EXPECT_THAT(world.asked("Sink/note"), ElementsAre(R"({"text":"x"})", R"({"text":"y"})"));
  EXPECT_EQ(world.status(flow), "ok");
}

}  // namespace scenarios_test
}  // namespace sluice::engine
