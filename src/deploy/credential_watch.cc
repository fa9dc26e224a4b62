// Whether it is due is the row's to say; Credentials/rotate looks again.
#include "deploy/credential_watch.h"

#include <algorithm>
#include <boost/json.hpp>

#include "credentials.gen.h"

namespace sluice::deploy {
namespace {

constexpr int64_t kPatience_ms = 2'000;  // a short command renews nothing
constexpr int64_t kAgain_ms = 30'000;
constexpr int64_t kMostWait_ms = 3'600'000;

}  // namespace

void CredentialWatch::compare(const lang::Snapshot& committed, const Tell& tell) {
  lang::ReadOnlyRows rows(committed.rows_of("Credentials"));
  std::map<std::string, Due> due;
  for (const auto& each : credentials::State(rows).all()) {
    if (!each.record.rotateAt) continue;
    Due one{.at_ms = each.record.rotateAt->ms, .not_before_ms = now_ms() + kPatience_ms};
    if (auto before = due_.find(each.id.text()); before != due_.end() && before->second.at_ms == one.at_ms) {
      one = before->second;
    }
    due.emplace(each.id.text(), one);
  }
  due_ = std::move(due);
  look(tell);
}

void CredentialWatch::look(const Tell& tell) {
  for (auto& [environment, due] : due_) {
    if (clock_.wall_ms() < due.at_ms || now_ms() < due.not_before_ms) continue;
    due.wait_ms = std::clamp(due.wait_ms * 2, kAgain_ms, kMostWait_ms);
    due.not_before_ms = now_ms() + due.wait_ms;
    tell("Credentials/rotate", {{"environment", environment}, {"ifNeeded", true}});
  }
}

}  // namespace sluice::deploy
