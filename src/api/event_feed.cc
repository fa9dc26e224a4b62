// Records are written between reads: a slow reader holds no snapshot of the store.
#include "api/event_feed.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/thread_name.h"
#include "host/flow_rows.h"
#include "host/problem.h"
#include "host/wire_words.h"

namespace sluice::api {
namespace {

constexpr size_t kMostKept = 1'024;
constexpr size_t kMostKeptBytes = size_t{8} << 20U;
constexpr size_t kEventsAtOnce = 256;
constexpr int64_t kWaitForCommit_ms = 100;
constexpr int64_t kEventsAlive_ns = 15'000'000'000;

}  // namespace

class EventHub::EventFeed final : public http::Feed {
 public:
  EventFeed(EventHub& hub, EventsAsked asked)
      : hub_(hub), asked_(std::move(asked)), said_ns_(hub.parts_.clock->monotonic_ns()) {
    if (asked_.bound) sight_ = hub.sight_of(asked_.caller);
  }
  ~EventFeed() override {
    std::lock_guard lock(hub_.mutex_);
    hub_.feeds_.erase(this);
  }

  void begin(std::function<void()> wake) override {
    std::lock_guard lock(hub_.mutex_);
    hub_.feeds_[this] = std::move(wake);
  }

  bool next(std::string& out) override {
    if (hub_.stopping_ || asked_.left()) return false;
    if (!greeted_) out += ": from " + std::to_string(asked_.from) + "\n\n";
    greeted_ = true;
    // Who follows one flow is told of its end, after all that happened in it.
    std::optional<store::FlowRow> over;
    uint64_t over_at = 0;
    if (asked_.flow) {
      auto snapshot = hub_.parts_.store->read();
      auto row = snapshot ? (*snapshot)->flow(*asked_.flow) : Result<std::optional<store::FlowRow>>(snapshot.error());
      if (row && *row && (*row)->status >= store::FlowStatus::settled_ok) {
        over = **row;
        over_at = (*snapshot)->position();
      }
    }
    if (auto failed = read_some(out)) {
      out += "event: problem\ndata: " + write(host::problem(*failed)) + "\n\n";
      return false;
    }
    if (over && asked_.from > over_at) {
      out += "event: end\ndata: " +
             write(json::object{{"flow", asked_.filter.flow}, {"state", host::state_name(over->status)}}) + "\n\n";
      return false;
    }
    const int64_t now_ns = hub_.parts_.clock->monotonic_ns();
    if (out.empty() && now_ns - said_ns_ > kEventsAlive_ns) out += ": alive\n\n";
    if (!out.empty()) said_ns_ = now_ns;
    return true;
  }

 private:
  void take(const Told& told, std::string& out) {
    asked_.from = told.row.seq + 1;
    if (!asked_.raw && !(told.event && asked_.filter.takes(*told.event))) return;
    if (sight_ && !sight_->sees(told.row)) return;
    const std::string id = "id: " + std::to_string(told.row.seq) + "\n";
    out += asked_.raw ? id + "event: step\ndata: " + told.row.record + "\n\n" : id + told.text;
  }

  std::optional<Error> read_some(std::string& out) {
    while (out.size() < kMostKeptBytes / 8) {
      auto kept = hub_.kept_from(asked_.from, kEventsAtOnce);
      if (kept) {
        for (const auto& each : *kept) take(*each, out);
        if (kept->empty()) return std::nullopt;
        continue;
      }
      size_t count = 0;
      bool looked = false;
      auto watched = hub_.parts_.committed->watch(
          asked_.from,
          [&](const store::JournalRow& row) {
            take(*hub_.told_of(row), out);
            return ++count < kEventsAtOnce;
          },
          [&] { return std::exchange(looked, true); });
      if (!watched) return watched.error();
      if (count == 0) return std::nullopt;
    }
    return std::nullopt;
  }

  EventHub& hub_;
  EventsAsked asked_;
  std::shared_ptr<Shared> sight_;
  int64_t said_ns_;
  bool greeted_ = false;
};

bool EventHub::Shared::sees(const store::JournalRow& row) {
  std::lock_guard lock(mutex);
  if (auto known = seen.find(row.seq); known != seen.end()) return known->second;
  const bool visible = store.sees(row);
  seen[row.seq] = visible;
  if (seen.size() > kMostKept) seen.erase(seen.begin());
  return visible;
}

EventHub::~EventHub() {
  over_ = true;
  if (reader_.joinable()) reader_.join();
}

std::shared_ptr<http::Feed> EventHub::follow(EventsAsked asked) {
  auto feed = std::make_shared<EventFeed>(*this, std::move(asked));
  std::lock_guard lock(mutex_);
  if (!reader_.joinable()) {
    next_ = parts_.committed->position() + 1;
    reader_ = std::thread([this] { read_on(); });
  }
  return feed;
}

std::shared_ptr<EventHub::Shared> EventHub::sight_of(const engine::Caller& caller) {
  std::lock_guard lock(mutex_);
  std::erase_if(sights_, [](const auto& each) { return each.second.expired(); });
  auto& known = sights_[{caller.name, caller.token}];
  auto shared = known.lock();
  if (!shared) {
    shared = std::shared_ptr<Shared>(new Shared{.store = {*parts_.store, *parts_.authority, caller}});
    known = shared;
  }
  return shared;
}

std::shared_ptr<const EventHub::Told> EventHub::told_of(const store::JournalRow& row) const {
  auto told = std::make_shared<Told>(Told{.row = row});
  auto step = engine::read_step(row.record);
  told->event = step ? host::event_of(*step) : std::nullopt;
  if (!told->event) return told;
  host::Event& event = *told->event;
  event.environment = host::environment_of(event, parts_.authority);
  told->text = "event: " + event.event + "\ndata: " + write(to_json(event)) + "\n\n";
  return told;
}

std::optional<std::vector<std::shared_ptr<const EventHub::Told>>> EventHub::kept_from(uint64_t from, size_t most) {
  std::lock_guard lock(mutex_);
  const uint64_t first = kept_.empty() ? next_ : kept_.front()->row.seq;
  if (from < first) return std::nullopt;
  std::vector<std::shared_ptr<const Told>> found;
  for (uint64_t at = from - first; at < kept_.size() && found.size() < most; ++at) found.push_back(kept_[at]);
  return found;
}

void EventHub::read_on() {
  name_this_thread("events");
  while (!over_ && !stopping_) {
    if (parts_.committed->wait_for(next_, kWaitForCommit_ms) < next_) continue;
    std::vector<std::shared_ptr<const Told>> fresh;
    bool looked = false;
    auto read = parts_.committed->watch(
        next_,
        [&](const store::JournalRow& row) {
          fresh.push_back(told_of(row));
          return fresh.size() < kEventsAtOnce;
        },
        [&] { return std::exchange(looked, true); });
    std::lock_guard lock(mutex_);
    for (auto& each : fresh) {
      next_ = each->row.seq + 1;
      kept_bytes_ += each->row.record.size() + each->text.size();
      kept_.push_back(std::move(each));
    }
    while (kept_.size() > kMostKept || (kept_bytes_ > kMostKeptBytes && !kept_.empty())) {
      kept_bytes_ -= kept_.front()->row.record.size() + kept_.front()->text.size();
      kept_.pop_front();
    }
    // Who cannot be read for here is told by the store itself.
    if (!read) {
      next_ = parts_.committed->position() + 1;
      kept_.clear();
      kept_bytes_ = 0;
    }
    for (const auto& [feed, wake] : feeds_) wake();
  }
}

}  // namespace sluice::api
