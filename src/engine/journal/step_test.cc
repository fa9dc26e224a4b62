// The bytes of journal records, that they read back, and that nothing else is read.
#include "engine/journal/step.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/testing_engine.h"

namespace sluice::engine {
namespace step_test {

const std::string kChain = std::string(63, '0') + "7";

Step small_step() { return {.seq = 8, .at_ms = 1'700'000'000'000, .flow = test_id(1), .invocation = test_id(2)}; }

std::string error_of(const std::string& record) {
  auto step = read_step(record);
  if (step) return "read";
  EXPECT_EQ(step.error().code, Code::invalid);
  return to_string(step.error());
}

// A record of small_step with something else in the place of one part of its text.
std::string spoilt(const std::string& part, const std::string& with) {
  Step step = small_step();
  step.end = End{.variant = "ok"};
  step.fired = {{.sync = "S", .matched = {{test_id(2)}}, .rows = 1, .then = {{.id = test_id(3), .action = "A/b"}}}};
  std::string record = write_step(step, kChain);
  size_t at = record.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return record.replace(at, part.size(), with);
}

TEST(Step, TheSmallestRecordHasFiveFields) {
  Step step{.seq = 1, .at_ms = 5, .kind = Step::Kind::denied};
  EXPECT_EQ(write_step(step, kFirstChain),
            R"({"chain":"0000000000000000000000000000000000000000000000000000000000000000","seq":1,"at":5,)"
            R"("step":"denied"})");
}

TEST(Step, AFlowsFirstStepHasItsRootItsEndAndWhatFired) {
  Step step{
      .seq = 8,
      .at_ms = 1'700'000'000'000,
      .flow = test_id(1),
      .invocation = test_id(1),
      .kind = Step::Kind::act,
      .action = "Order/place",
      .caller = {.name = "uid:1000", .reason = "a \"test\""},
      .root =
          Root{.input = object(R"({"item":"tea","count":2})"), .key = "k1", .sync_set = "abc", .expect_generation = 0},
      .end = End{.variant = "ok", .fields = object(R"({"order":"o1"})")},
      .fired = {{.sync = "PayOrder",
                 .matched = {{test_id(1)}, {test_id(2), RecordKind::request}},
                 .rows = 1,
                 .then = {{.id = test_id(3), .action = "Till/pay", .fields = object(R"({"order":"o1"})")},
                          {.kind = Planned::Kind::answer, .id = test_id(4), .variant = "ok", .flow = test_id(5)},
                          {.kind = Planned::Kind::child, .id = test_id(6)}}},
                {.sync = "Zero", .matched = {{test_id(1)}}}},
  };
  EXPECT_EQ(write_step(step, kChain),
            R"({"chain":"0000000000000000000000000000000000000000000000000000000000000007","seq":8,)"
            R"("at":1700000000000,"flow":"00000000010000000000000000","id":"00000000010000000000000000","step":"act",)"
            R"("action":"Order/place","caller":"uid:1000","reason":"a \"test\"",)"
            R"("root":{"input":{"item":"tea","count":2},"key":"k1","syncs":"abc","expect":0},)"
            R"("end":{"variant":"ok","fields":{"order":"o1"}},)"
            R"("fired":[{"sync":"PayOrder","matched":["00000000010000000000000000","00000000020000000000000000?"],)"
            R"("rows":1,"then":[)"
            R"({"invoke":"00000000030000000000000000","action":"Till/pay","fields":{"order":"o1"}},)"
            R"({"answer":"00000000040000000000000000","variant":"ok","flow":"00000000050000000000000000"},)"
            R"({"child":"00000000060000000000000000"}]},)"
            R"({"sync":"Zero","matched":["00000000010000000000000000"],"rows":0}]})");
}

TEST(Step, TheOtherFieldsStandInTheirOrder) {
  Step step{.seq = 9,
            .at_ms = 6,
            .kind = Step::Kind::again,
            .child = ChildRoot{.parent = test_id(1),
                               .sync = "Later",
                               .matched = {{test_id(2)}},
                               .bindings = object(R"({"o":"o1"})"),
                               .causes = {nullptr},
                               .sync_set = "abc"},
            .work = json::value(nullptr),
            .end = End{.variant = "engine.unknown", .maybe_done = true},
            .by = "crash",
            .note = "n",
            .attempt = 2,
            .due_ms = 700,
            .count = 3,
            .guards = {"G", "H"}};
  EXPECT_EQ(write_step(step, kFirstChain).substr(76),
            R"("seq":9,"at":6,"step":"again","child":{"parent":"00000000010000000000000000","sync":"Later",)"
            R"("matched":["00000000020000000000000000"],"bindings":{"o":"o1"},"causes":[null],"syncs":"abc"},)"
            R"("work":null,"end":{"variant":"engine.unknown","maybe":true},"by":"crash","note":"n","attempt":2,)"
            R"("due":700,"count":3,"guards":["G","H"]})");
}

// Steps with every field filled or left empty by chance.
class RandomSteps {
 public:
  explicit RandomSteps(unsigned seed) : random_(seed) {}

  Step next() {
    Step step{
        .seq = number(), .at_ms = static_cast<int64_t>(number() >> 1), .kind = static_cast<Step::Kind>(below(13))};
    if (maybe()) step.flow = id();
    if (maybe()) step.invocation = id();
    if (maybe()) step.action = text();
    if (maybe()) step.caller = {.name = text(), .reason = text()};
    if (maybe()) step.root = Root{.input = fields(), .key = text(), .sync_set = text()};
    if (step.root && maybe()) step.root->expect_generation = below(3);
    if (maybe()) {
      step.child =
          ChildRoot{.parent = id(), .sync = text(), .matched = ids(), .bindings = fields(), .sync_set = text()};
      for (size_t i = below(3); i > 0; --i) step.child->causes.push_back(value(2));
    }
    if (maybe()) step.work = value(0);
    if (maybe()) step.end = End{.variant = text(), .fields = fields(), .maybe_done = maybe()};
    if (maybe()) step.by = text();
    if (maybe()) step.note = text();
    if (maybe()) step.attempt = static_cast<int64_t>(below(9)) - 4;
    if (maybe()) step.due_ms = static_cast<int64_t>(number());
    if (maybe()) step.count = number();
    for (size_t i = below(3); i > 0; --i) step.guards.push_back(text());
    for (size_t i = below(3); i > 0; --i) step.fired.push_back(fired());
    return step;
  }

 private:
  uint64_t number() { return random_() >> below(64); }
  size_t below(size_t limit) { return random_() % limit; }
  bool maybe() { return below(2) == 0; }
  Ulid id() {
    std::array<uint8_t, Ulid::kRandomBytes> bytes;
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
    return Ulid::from(static_cast<int64_t>(random_() >> 16), bytes);
  }
  std::string text() {
    constexpr std::array<std::string_view, 9> kParts = {"a", "\"", "\\", "\n", "\x01", "é", "Order/place", "{", "["};
    std::string text;
    for (size_t i = below(5); i > 0; --i) text += kParts[below(kParts.size())];
    return text;
  }
  json::value value(size_t depth) {
    switch (below(depth > 3 ? 6 : 8)) {
      case 0:
        return nullptr;
      case 1:
        return maybe();
      case 2:
        return static_cast<int64_t>(number());
      case 3:
        return number();
      case 4:
        return static_cast<double>(number()) / 1024.0;
      case 5:
        return json::value(text());
      case 6: {
        json::array array;
        for (size_t i = below(3); i > 0; --i) array.push_back(value(depth + 1));
        return array;
      }
      default:
        return fields(depth + 1);
    }
  }
  json::object fields(size_t depth = 0) {
    json::object object;
    for (size_t i = below(4); i > 0; --i) object.insert_or_assign(text(), value(depth + 1));
    return object;
  }
  std::vector<RecordId> ids() {
    std::vector<RecordId> ids;
    for (size_t i = below(3); i > 0; --i) ids.push_back({id(), maybe() ? RecordKind::request : RecordKind::completion});
    return ids;
  }
  Fired fired() {
    Fired fired{.sync = text(), .matched = ids(), .rows = below(4)};
    for (size_t i = below(4); i > 0; --i) {
      Planned planned{.kind = static_cast<Planned::Kind>(below(3)),
                      .id = id(),
                      .action = text(),
                      .unavailable = maybe() ? text() : ""};
      planned.variant = text();
      if (maybe()) planned.flow = id();
      planned.fields = fields();
      fired.then.push_back(std::move(planned));
    }
    return fired;
  }

  std::mt19937_64 random_;
};

TEST(Step, WhatIsWrittenReadsBackAsTheSameStep) {
  RandomSteps steps(20);
  std::string chain(kFirstChain);
  for (int i = 0; i < 2000; ++i) {
    Step step = steps.next();
    std::string record = write_step(step, chain);
    auto read = read_step(record);
    ASSERT_TRUE(read) << to_string(read.error()) << "\n" << record;
    EXPECT_EQ(*read, step) << record;
    EXPECT_EQ(chain_in(record).value(), chain);
    chain = chain_of(record);
  }
}

TEST(Step, ValuesNestedAsDeepAsAReaderAllowsReadBack) {
  json::value value = "deep";
  for (int i = 0; i < 126; ++i) value = json::array{value};
  Step step = small_step();
  step.fired = {{.sync = "S", .then = {{.id = test_id(3), .action = "A/b", .fields = {{"x", value}}}}}};
  auto read = read_step(write_step(step, kChain));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(*read, step);
}

TEST(Step, ReadingSaysWhichRecordIsWrongAndWhere) {
  EXPECT_EQ(error_of(spoilt(R"("step":"act")", R"("step":"akt")")),
            "journal record 8: /step: expected one of act, begin, started, again, finish, late, child, dispatch, dead, "
            "drop, cancel, move, resolve, denied, clock, state, put, found \"akt\"; did you mean \"act\"?");
  EXPECT_EQ(
      error_of(spoilt(R"("at":1700000000000)", R"("at":"noon")")),
      "journal record 8: /at: expected an integer from -9223372036854775808 to 9223372036854775807, found \"noon\"");
  EXPECT_EQ(error_of(spoilt(R"("at":1700000000000,)", "")),
            "journal record 8: /at: missing field, expected an integer");
  EXPECT_EQ(error_of(spoilt(R"({"variant":"ok"})", R"({"variant":"ok","more":1})")),
            "journal record 8: /end/more: unknown field, expected one of variant, fields, maybe, next");
  EXPECT_EQ(error_of(spoilt(R"({"variant":"ok"})", R"({})")),
            "journal record 8: /end/variant: missing field, expected a string");
  EXPECT_EQ(error_of(spoilt(R"({"variant":"ok"})", R"("ok")")),
            "journal record 8: /end: expected an object, found a string");
  EXPECT_EQ(error_of(spoilt(R"("invoke":")", R"("invoke":"x)")),
            "journal record 8: /fired/0/then/0/invoke: not a ULID: expected 26 characters, found 27");
  EXPECT_EQ(error_of(spoilt(R"("invoke":"00000000030000000000000000",)", "")),
            "journal record 8: /fired/0/then/0: expected exactly one of invoke, answer and child, found 0");
  EXPECT_EQ(error_of(spoilt(R"(["00000000020000000000000000"])", "[7]")),
            "journal record 8: /fired/0/matched/0: expected a record's id, found an integer");
  EXPECT_EQ(error_of(spoilt(R"("rows":1)", R"("rows":-1)")),
            "journal record 8: /fired/0/rows: expected an integer from 0 to 18446744073709551615, found -1");
}

TEST(Step, ARecordHasOneSpelling) {
  EXPECT_EQ(error_of(spoilt(R"("rows":1)", R"("rows": 1)")), "journal record 8: it is not spelt as Sluice spells it");
  EXPECT_EQ(error_of(spoilt(R"("end":)", R"("note":"","end":)")),
            "journal record 8: it is not spelt as Sluice spells it");
  EXPECT_EQ(error_of(write_step(small_step(), kChain) + "\n"), "journal record 8: it is not spelt as Sluice spells it");
}

TEST(Step, WhatIsNoRecordIsRefused) {
  const std::string no_chain = R"(a journal record is damaged: it does not begin with {"chain":" and 64 hex digits)";
  EXPECT_EQ(error_of(""), no_chain);
  EXPECT_EQ(error_of(R"({"seq":1})"), no_chain);
  EXPECT_EQ(error_of(write_step(small_step(), std::string(64, 'G'))), no_chain);
  EXPECT_EQ(error_of(write_step(small_step(), std::string(65, '0'))), no_chain);
  std::string cut = write_step(small_step(), kChain);
  cut.pop_back();
  EXPECT_EQ(error_of(cut), "a journal record is damaged: 1:186: the JSON text ends too early");
  EXPECT_EQ(error_of(R"({"chain":")" + kChain + R"(","seq":)" + std::string(100'000, '[')),
            "a journal record is damaged: 1:226: arrays and objects are nested deeper than 144 levels");
}

TEST(Step, ChainIsTheHashOfTheRecordsBytes) {
  EXPECT_EQ(chain_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace step_test
}  // namespace sluice::engine
