// EventHub reads what is committed once for all who follow it (GET /v1/events), and gives each a feed of what they
// asked for and may see. A feed holds no thread: the hub's one thread wakes all of them after a commit.
//
//   EventHub hub(parts, stopping);
//   response.feed = hub.follow({.from = 7, .caller = caller, .left = …});
//
// The newest records are kept in memory, so that a thousand followers read the store once. Whoever is further behind
// reads from the store until they have caught up.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "host/events.h"
#include "host/serving.h"
#include "host/visible_store.h"
#include "http/message.h"

namespace sluice::api {

struct EventsAsked {
  uint64_t from = 0;
  engine::Caller caller;
  bool bound = false;  // they do not see everything
  bool raw = false;    // every record of the journal as it is
  host::EventFilter filter = {};
  std::optional<Ulid> flow = std::nullopt;
  std::function<bool()> left = [] { return false; };  // their session or token has ended
};

class EventHub {
 public:
  // What the parts lead to must outlive it, and it its feeds.
  EventHub(const host::ServiceParts& parts, const std::atomic<bool>& stopping) : parts_(parts), stopping_(stopping) {}
  ~EventHub();
  EventHub(const EventHub&) = delete;
  EventHub& operator=(const EventHub&) = delete;

  std::shared_ptr<http::Feed> follow(EventsAsked asked);

 private:
  class EventFeed;
  // A record, and the event that it is, if it is one.
  struct Told {
    store::JournalRow row;
    std::optional<host::Event> event;
    std::string text;  // of the event, as it is sent
  };
  // What callers of one name and token see is looked up once for all their feeds.
  struct Shared {
    std::mutex mutex;
    host::VisibleStore store;
    std::map<uint64_t, bool> seen = {};  // of the newest records
    bool sees(const store::JournalRow& row);
  };

  std::shared_ptr<const Told> told_of(const store::JournalRow& row) const;
  // What is kept from this position on, at most so many; none: it is further back than what is kept.
  std::optional<std::vector<std::shared_ptr<const Told>>> kept_from(uint64_t from, size_t most);
  std::shared_ptr<Shared> sight_of(const engine::Caller& caller);
  void read_on();

  const host::ServiceParts& parts_;
  const std::atomic<bool>& stopping_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<const Told>> kept_;  // without a gap
  size_t kept_bytes_ = 0;
  uint64_t next_ = 0;  // the position after the newest that was read; 0: none was
  std::map<EventFeed*, std::function<void()>> feeds_;
  std::map<std::pair<std::string, std::string>, std::weak_ptr<Shared>> sights_;
  std::atomic<bool> over_ = false;
  std::thread reader_;
};

}  // namespace sluice::api
