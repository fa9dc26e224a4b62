// The engine's part, as short as a test needs it: no journal, no threads, no time.
#include "lang/run/harness.h"

#include <cstdlib>

#include "base/json.h"
#include "base/real_disk.h"

namespace sluice::lang {
namespace {

constexpr int kMaxAttempts = 5;

EngineEnd fault(const std::exception& thrown, bool maybe_done) {
  return {.outcome = EngineOutcome::fault, .message = thrown.what(), .maybe_done = maybe_done};
}

// What the journal gives back.
json::value through_text(const json::value& value) {
  auto document = parse_json(write(value));
  if (!document) throw std::logic_error("work that cannot be journaled: " + to_string(document.error()));
  return document->root;
}

}  // namespace

std::string to_text(const Ending& ending) {
  if (const auto* completion = std::get_if<Completion>(&ending)) {
    return completion->variant + " " + write(json::value(completion->fields));
  }
  const auto& end = std::get<EngineEnd>(ending);
  return "engine." + std::string(name_of(end.outcome)) + ": " + end.message;
}

class Harness::OwnSnapshot final : public Snapshot {
 public:
  explicit OwnSnapshot(const Harness& harness) : harness_(harness) {}
  // A relation has its concept's name, so what a test puts beside the concept's own rows is seen under it.
  const Rows& rows_of(std::string_view) const override { return harness_.rows_; }

 private:
  const Harness& harness_;
};

class Harness::TestAttempt final : public Attempt {
 public:
  TestAttempt(Harness& harness, int number)
      : harness_(harness), snapshot_(harness), id_(harness.rows_.request().text()), number_(number) {}

  const std::string& id() const override { return id_; }
  int number() const override { return number_; }
  bool cancelled() const override { return false; }
  std::string open(const Sealed& sealed) override { return harness_.opened(sealed); }
  Sealed seal(std::string value) override { return harness_.seal(std::move(value)); }
  const Snapshot& read() override { return snapshot_; }
  const Tools& tools() const override { return harness_.tools_; }

 private:
  Harness& harness_;
  OwnSnapshot snapshot_;
  std::string id_;
  int number_;
};

Harness::Harness(const ConceptBinding& binding) : binding_(binding) {}
Harness::~Harness() = default;

Sealed Harness::seal(std::string value) {
  std::string handle = "sealed-" + std::to_string(sealed_.size() + 1);
  sealed_.emplace(handle, std::move(value));
  return Sealed::of_handle(handle);
}

std::string Harness::opened(const Sealed& sealed) const {
  auto found = sealed_.find(sealed.handle());
  if (found == sealed_.end()) throw std::runtime_error("nothing is sealed as \"" + sealed.handle() + "\"");
  return found->second;
}

Result<Ending> Harness::run(std::string_view name, const json::object& ask) {
  const ActionBinding* action = binding_.action(name);
  if (!action) return Error{.code = Code::not_found, .message = binding_.name + " has no action " + std::string(name)};
  if (auto fits = action->check(ask); !fits) return fits.error();
  rows_.set_request(Request("invocation-" + std::to_string(++invocations_)));
  auto ending = step(*action, ask);
  answer_.reset();
  if (ending) note(name, *ending);
  return ending;
}

Result<Ending> Harness::step(const ActionBinding& action, const json::object& ask) {
  auto before = rows_.relations();
  try {
    switch (action.runs) {
      case Runs::pure: {
        auto done = action.act(ask, rows_);
        if (!done) return done.error();
        return Ending(*std::move(done));
      }
      case Runs::query: {
        auto done = action.query(ask, rows_);
        if (!done) return done.error();
        return Ending(*std::move(done));
      }
      case Runs::effect:
      case Runs::answered:
      case Runs::answered_outside:
        break;
    }
    return open(action, ask);
  } catch (const std::exception& thrown) {
    rows_.restore(std::move(before));
    return Ending(fault(thrown, false));
  }
}

Result<Ending> Harness::open(const ActionBinding& action, const json::object& ask) {
  auto begun = action.begin(ask, rows_);
  if (!begun) return begun.error();
  if (const auto* ended = std::get_if<Completion>(&*begun)) return Ending(*ended);
  Ending ending = EngineEnd{.outcome = EngineOutcome::unanswered, .message = "nothing answered it", .maybe_done = true};
  if (action.runs == Runs::effect && !answer_) {
    ending = perform(action, through_text(std::get<Started>(*begun).work));
  } else if (answer_) {
    ending = *answer_;
  }
  auto opened = rows_.relations();
  try {
    return action.finish(ask, ending, rows_);
  } catch (const std::exception& thrown) {
    rows_.restore(std::move(opened));
    return Ending(fault(thrown, true));
  }
}

Ending Harness::perform(const ActionBinding& action, const json::value& work) {
  std::string reason;
  for (int number = 1; number <= kMaxAttempts; number++) {
    TestAttempt attempt(*this, number);
    try {
      auto performed = action.perform(work, attempt);
      if (!performed) throw std::logic_error(to_string(performed.error()));
      if (const auto* done = std::get_if<Completion>(&*performed)) return *done;
      reason = std::get<Again>(*performed).reason;
    } catch (const std::exception& thrown) {
      return fault(thrown, true);
    }
  }
  return EngineEnd{.outcome = EngineOutcome::unavailable, .message = reason};
}

ProbedAction Harness::run_probe(std::string_view name, const json::object& ask) {
  const ActionBinding* action = binding_.action(name);
  if (!action || !action->probe) throw std::logic_error(std::string(name) + " has no probe");
  rows_.set_request(Request("invocation-" + std::to_string(++invocations_)));
  auto begun = action->begin(ask, rows_);
  if (!begun) throw std::runtime_error(to_string(begun.error()));
  const auto* started = std::get_if<Started>(&*begun);
  if (!started) throw std::runtime_error("begin ended it: " + to_text(Ending(std::get<Completion>(*begun))));
  TestAttempt attempt(*this, 2);
  auto probed = action->probe(through_text(started->work), attempt);
  if (!probed) throw std::runtime_error(to_string(probed.error()));
  return *std::move(probed);
}

void Harness::note(std::string_view action, const Ending& ending) {
  const auto* completion = std::get_if<Completion>(&ending);
  const char* folder =
      std::getenv("SLUICE_VARIANTS_SEEN");  // NOLINT(concurrency-mt-unsafe): tests set it before they run
  if (!completion || !folder) return;
  RealDisk disk;
  auto file =
      disk.open(std::string(folder) + "/" + binding_.name + "." + std::string(action) + "." + completion->variant,
                {.write = true, .create = true});
  if (!file) throw std::runtime_error(to_string(file.error()));
}

}  // namespace sluice::lang
