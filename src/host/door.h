// Door is the one way into a home, whichever process has it: the command line, the API and everything else that speaks
// for people use its verbs, and nothing else.
//
//   call an action          door.call({.action = "Traffic/set", .input = …})
//   read a view             door.view("traffic", {{"environment", "local"}})
//   decide about a flow     door.decide({.kind = …, .flow = …})
//   follow what happens     door.follow(from, visit, stop)
//   read what replicas say  door.read_logs({.names = {"hello"}}, visit, stop)
//   run a command in one    door.exec({.name = "hello", .command = {"sh"}}, {})
//
// It moves bytes, too: door.put(file) keeps them in the home under their digest, by which actions name them.
//
// An answer carries all that its caller needs (code, position, generation), so that nothing has to be fetched again. A
// door is used by one thread at a time.
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "base/ulid.h"
#include "engine/journal/step.h"
#include "engine/machine.h"
#include "store/store.h"

namespace sluice::host {

namespace json = boost::json;

// How far a caller waits: until the request is committed, for its answer, for the whole flow, or for its follow-ups
// too.
enum class WaitFor : uint8_t { start, answer, settled, all };
std::string_view name_of(WaitFor wait);
std::optional<WaitFor> wait_named(std::string_view name);

struct Call {
  std::string action;  // "Traffic/set"
  json::object input = {};
  std::string reason = {};  // why, for the audit
  std::string key = {};     // a second call with this key joins the first
  std::optional<uint64_t> expect_generation = {};
  WaitFor wait = WaitFor::answer;
  bool dry_run = false;  // how it would end, judged on what is committed; nothing is done
};

// How a caller spends the time until the answer.
struct Waiting {
  std::function<void(const Ulid&)> began = {};             // told the call's flow, once that is committed
  std::function<bool()> stop = {};                         // whether to stop; asked every 100 ms
  std::function<void(const std::string&)> waits_for = {};  // told what is waited for, whenever that may have changed
};

struct Answer {
  std::string action;
  std::string variant;  // empty: it has not ended
  json::object fields = {};
  Code code = Code::ok;
  bool maybe_done = false;
  std::optional<Ulid> flow = {};                // none of a query and of a dry run
  uint64_t position = 0;                        // of the step that ended it; before, one from which it can be followed
  std::optional<uint64_t> generation = {};      // of what it changed, if its answer says so
  std::optional<store::FlowStatus> state = {};  // of the flow when this was answered
  uint64_t follow_ups_pending = 0;              // likewise: flows that follow from it and are not done
  uint64_t follow_ups_moving = 0;               // of these, those that go on by themselves: the others are dead letters
  std::string authorized = {};                  // for those who call over the API: why they may
  json::array next = {};                        // what can be done about it (engine/rules/next_steps.h)
  std::string waits_for = {};                   // what is open in the flow; empty if nothing is
  std::optional<Error> trouble = {};            // why nothing can be committed now
  json::object seen = {};                       // of a dry run: generations of the rows that it is about
  std::optional<uint64_t> expect = {};          // likewise: what to expect, so that it runs on what was seen

  bool ended() const { return !variant.empty(); }
  // Texts and lists of texts among the fields; empty if there is none of that name.
  std::string text(std::string_view field) const;
  std::vector<std::string> texts(std::string_view field) const;
};

struct ViewAnswer {
  json::value document;
  uint64_t position = 0;  // of the moment that it shows: its ETag
};

// What became of a decision: the flow has gone on as far as it can without waiting for time or people.
struct Decided {
  uint64_t position = 0;
  store::FlowStatus state = store::FlowStatus::running;
  std::optional<Error> trouble = {};  // why nothing can be committed now
};

// Whose logs, by the names of deployments, revisions and replicas.
struct LogAsk {
  std::vector<std::string> names;
  std::string since = {};     // "2026-03-01T09:30:00.125Z": nothing older
  bool follow = false;        // go on with what they, and those that come later, say next
  bool all = false;           // with what programs say of health checks
  std::string customer = {};  // of several with one name, those of this customer
};
struct SaidLine {
  std::string time;
  std::string replica;
  std::string label;   // "hello@2.0"
  std::string stream;  // out, err, or sluice
  std::string text;
};
BOOST_DESCRIBE_STRUCT(SaidLine, (), (time, replica, label, stream, text))
using VisitLine = std::function<bool(const SaidLine&)>;

// A command in the place of a replica: of the names that a LogAsk takes, the first replica that is well of the revision
// with most traffic.
struct ExecAsk {
  std::string name;
  std::vector<std::string> command;
  std::string customer = {};
  std::string reason = {};
};
// Descriptors of this process: where its input comes from, and where its output and errors go.
struct ExecEnds {
  int in = 0, out = 1, err = 2;
};

class Door {
 public:
  virtual ~Door() = default;

  virtual Result<Answer> call(const Call& call, const Waiting& waiting = {}) = 0;
  // How a call that was made before stands.
  virtual Result<Answer> answer_of(const Ulid& flow, WaitFor wait, const Waiting& waiting = {}) = 0;
  virtual Result<ViewAnswer> view(const std::string& name, const json::object& query = {}) = 0;
  virtual Result<Decided> decide(engine::Decision decision, const Waiting& waiting = {}) = 0;
  // Steps of the journal from this position on, as they are committed; ends when visit returns false or `stop` true.
  virtual Result<void> follow(uint64_t from, const std::function<bool(const engine::Step&)>& visit,
                              const std::function<bool()>& stop) = 0;
  // Puts the bytes of a file into the home: their digest, "sha256:…". Those that are there are put again harmlessly;
  // those that no action has named for a week are removed.
  virtual Result<std::string> put(File& file, const std::string& reason) = 0;
  // What replicas say, in the order of time; ends when visit returns false, or when there is no more and nobody
  // follows.
  virtual Result<void> read_logs(const LogAsk& ask, const VisitLine& visit, const std::function<bool()>& stop) = 0;
  // Runs a command in a replica's place, as Runtime/enter allows it: its exit code. Where the home is this process's
  // own, this process becomes the command, and nothing comes back but what went wrong.
  virtual Result<int> exec(const ExecAsk& ask, const ExecEnds& ends) = 0;
};

// What is decided, on the wire.
struct DecidedDocument {
  std::string flow;
  uint64_t position = 0;
  std::string state;
  std::optional<json::value> trouble;
};
BOOST_DESCRIBE_STRUCT(DecidedDocument, (), (flow, position, state, trouble))

// An answer on the wire, and back.
json::object to_json(const Answer& answer);
Result<Answer> read_answer(const json::value& value);

}  // namespace sluice::host
