// Session keeps who has logged in. Whether the token still holds by which they did is for whoever checks a session to
// ask (host/authority.h).
#include <algorithm>

#include "session.gen.h"

namespace sluice::deploy::session {
namespace {

constexpr size_t kMostSessions = 20;  // of one subject
constexpr int64_t kKept_ms = int64_t{7} * 24 * 60 * 60 * 1000;

bool is_open(const SessionRecord& session, lang::DateTime now) { return !session.ended && now < session.expires; }

// What ended long ago is of no use to anybody.
void forget_old(State& state) {
  std::vector<SessionId> old;
  for (const SessionFound& each : state.all()) {
    const int64_t over_ms = each.record.ended ? each.record.ended->at.ms : each.record.expires.ms;
    if (over_ms + kKept_ms < state.now().ms) old.push_back(each.id);
  }
  for (const SessionId& each : old) state.erase(each);
}

void end_one(State& state, const SessionId& id, SessionRecord record, const std::string& by) {
  record.ended = SessionEnded{.at = state.now(), .by = by};
  state.put(id, record);
}

}  // namespace

Open::Result Session::open(const Open& ask, State& state) {
  forget_old(state);
  std::vector<SessionFound> theirs;
  for (const SessionFound& each : state.find_by_subject(ask.subject)) {
    if (is_open(each.record, state.now())) theirs.push_back(each);
  }
  std::ranges::stable_sort(theirs, {}, [](const SessionFound& each) { return each.record.openedAt; });
  for (size_t i = 0; i + kMostSessions <= theirs.size(); ++i) {
    end_one(state, theirs[i].id, theirs[i].record, "a newer session");
  }
  SessionId id = state.add({.subject = ask.subject,
                            .token = ask.token,
                            .run = ask.run,
                            .digest = ask.digest,
                            .address = ask.address,
                            .openedAt = state.now(),
                            .expires = ask.expires});
  return Open::Ok{.session = id, .subject = ask.subject, .expires = ask.expires};
}

NoteUse::Result Session::note_use(const NoteUse& ask, State& state) {
  for (const SessionId& each : ask.sessions) {
    auto record = state.get(each);
    if (!record) continue;
    record->lastUsed = state.now();
    state.put(each, *record);
  }
  return NoteUse::Ok{};
}

EndOf::Result Session::end_of(const EndOf& ask, State& state) {
  for (const SessionFound& each : state.all()) {
    if (each.record.token != ask.token || !is_open(each.record, state.now())) continue;
    end_one(state, each.id, each.record, "the end of its token");
  }
  return EndOf::Ok{};
}

Leave::Result Session::leave(const Leave& ask, State& state) {
  auto record = state.get(ask.session);
  if (!record || record->subject != ask.caller) {
    return Leave::NotFound{.session = ask.session, .message = "you have no session " + ask.session.text()};
  }
  if (!record->ended) end_one(state, ask.session, *record, record->subject);
  return Leave::Ok{.session = ask.session};
}

End::Result Session::end(const End& ask, State& state) {
  auto record = state.get(ask.session);
  if (!record) return End::NotFound{.session = ask.session, .message = "there is no session " + ask.session.text()};
  if (!record->ended) end_one(state, ask.session, *record, ask.caller.value_or(""));
  return End::Ok{.session = ask.session, .subject = record->subject};
}

List::Result Session::list(const List&, const State& state) {
  List::Ok listed;
  for (const SessionFound& each : state.all()) {
    listed.sessions.push_back({.session = each.id,
                               .subject = each.record.subject,
                               .token = each.record.token,
                               .address = each.record.address,
                               .openedAt = each.record.openedAt,
                               .expires = each.record.expires,
                               .lastUsed = each.record.lastUsed,
                               .status = each.record.ended                   ? "ended"
                                         : is_open(each.record, state.now()) ? "open"
                                                                             : "expired"});
  }
  return listed;
}

}  // namespace sluice::deploy::session
