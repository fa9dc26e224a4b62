// What is watched is read from the state whenever that has changed.
#include "deploy/promotion/git_watch.h"

#include <boost/json.hpp>
#include <chrono>

#include "deploy/views/states.h"
#include "git_source.gen.h"

namespace sluice::deploy {

GitWatch::~GitWatch() {
  if (looking_.valid()) looking_.wait();
}

void GitWatch::compare(const lang::Snapshot& snapshot, const Tell&) {
  const views::States states(snapshot);
  watched_.clear();
  for (const auto& each : states.git_source().all()) {
    watched_.push_back({each.id.text(), each.record.url, each.record.branch, each.record.path, each.record.commit});
  }
}

GitWatch::Heads GitWatch::heads_of(const std::vector<Watched>& watched) const {
  Heads heads;
  for (const Watched& each : watched) {
    auto folder = sources_.read_folder(each.url, each.branch, each.path);
    heads[each.source] = folder ? folder->commit : "?";
  }
  return heads;
}

void GitWatch::tell_changes(const Heads& heads, const Tell& tell) {
  for (const Watched& each : watched_) {
    const auto head = heads.find(each.source);
    if (head == heads.end()) continue;
    auto& told = told_[each.source];
    // Also when a server answers again that was away.
    const bool back = told == "?" && head->second != "?";
    if (!back && (head->second == each.seen || head->second == told)) continue;
    told = head->second;
    tell("GitSource/look", {{"source", each.source}});
  }
}

void GitWatch::look(const Tell& tell) {
  if (looking_.valid()) {
    if (looking_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    tell_changes(looking_.get(), tell);
  }
  if (watched_.empty() || !sources_.read_folder || clock_.monotonic_ns() - looked_ns_ < kEvery_ns) return;
  looked_ns_ = clock_.monotonic_ns();
  looking_ = std::async(std::launch::async, [this, watched = watched_] { return heads_of(watched); });
}

}  // namespace sluice::deploy
