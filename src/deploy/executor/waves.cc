// Whatever a cluster says of an object goes through the taint before it is written down.
#include "deploy/executor/waves.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "kube/readiness.h"

namespace sluice::deploy::executor {
namespace {

using kube::text_at;

constexpr int64_t kFirstLook_ms = 100;
constexpr int64_t kLongestPause_ms = 2'000;
constexpr size_t kMostReasons = 3;

// Looks again and again, with longer and longer pauses, until `done`. Whether it came to that.
std::optional<Refusal> until(const Stage& stage, Held held, int64_t timeout_ms, const std::function<bool()>& done,
                             bool& reached) {
  const int64_t end_ns = stage.clock.monotonic_ns() + timeout_ms * 1'000'000;
  for (int64_t pause_ms = kFirstLook_ms;; pause_ms = std::min(pause_ms * 3 / 2, kLongestPause_ms)) {
    if (auto lost = held.renew()) return lost;
    if (done()) {
      reached = true;
      return std::nullopt;
    }
    if (std::string why = stage.stop(); !why.empty()) return Refusal{"cancelled", why};
    if (stage.leaving()) return Refusal{"leaving", "Sluice ends, and goes on when it is started again"};
    if (stage.clock.monotonic_ns() >= end_ns) return std::nullopt;
    stage.clock.sleep_ms(pause_ms);
  }
}

std::string selector_of(const json::value& object) {
  std::string labels;
  for (const auto& each : kube::map_at(object, {"spec", "selector", "matchLabels"})) {
    if (!each.value().is_string()) continue;
    labels += (labels.empty() ? "" : ",") + std::string(each.key()) + "=" + std::string(each.value().get_string());
  }
  return labels;
}

// What pods and events say of an object that is not ready.
std::string reasons_of(const Stage& stage, const Piece& piece, const json::value& object) {
  std::vector<std::string> reasons;
  const auto add = [&](std::string reason) {
    if (reason.empty() || reasons.size() >= kMostReasons) return;
    if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(std::move(reason));
  };
  if (const std::string labels = selector_of(object); !labels.empty()) {
    if (auto pods = stage.client.kind_of("v1", "Pod")) {
      if (auto listed = stage.client.list(*pods, {.name_space = piece.name_space, .labels = labels})) {
        for (const json::value& pod : listed->items) {
          const kube::Readiness trouble = kube::pod_trouble(pod);
          if (trouble.ready != kube::Ready::yes) add(text_at(pod, {"metadata", "name"}) + ": " + trouble.reason);
        }
      }
    }
  }
  if (auto events = stage.client.kind_of("v1", "Event")) {
    auto listed = stage.client.list(
        *events, {.name_space = piece.name_space,
                  .fields = "involvedObject.kind=" + piece.kind + ",involvedObject.name=" + piece.name});
    if (listed) {
      for (const json::value& event : listed->items) {
        if (text_at(event, {"type"}) == "Warning") add(text_at(event, {"reason"}) + ": " + text_at(event, {"message"}));
      }
    }
  }
  std::string text;
  for (const std::string& each : reasons) text += "; " + each;
  return text;
}

// Reads its state from the cluster. False: it cannot become ready.
void look(const Stage& stage, Piece& piece, bool with_reasons) {
  auto live = stage.client.get(piece.ref());
  if (!live || (live->failure && live->status != 404)) {
    piece.message = stage.taint.redacted(live ? live->failure->message : to_string(live.error()));
    return;
  }
  if (live->failure) {
    piece.state = "gone";
    piece.message = "it is not there";
    return;
  }
  piece.uid = text_at(live->body, {"metadata", "uid"});
  const kube::Readiness ready = kube::readiness(live->body);
  piece.state = ready.ready == kube::Ready::yes ? "ready" : ready.ready == kube::Ready::failed ? "failed" : "applied";
  piece.message = ready.reason;
  if (ready.ready != kube::Ready::yes && (with_reasons || ready.ready == kube::Ready::failed)) {
    piece.message += reasons_of(stage, piece, live->body);
  }
  piece.message = stage.taint.redacted(piece.message);
}

}  // namespace

std::optional<Refusal> applied(const Stage& stage, const std::vector<json::value>& objects,
                               std::vector<Piece>& pieces) {
  std::map<kube::ObjectRef, const json::value*> by_ref;
  for (const json::value& each : objects) by_ref[kube::ref_of(each)] = &each;
  Held held(stage.client, stage.clock, stage.request);
  if (auto lost = held.renew()) return lost;
  std::mutex mutex;
  std::optional<Refusal> refusal;
  kube::at_once(pieces.size(), [&](size_t i) {
    Piece& piece = pieces[i];
    {
      std::lock_guard lock(mutex);
      if (!refusal) refusal = held.renew();
      if (std::string why = stage.stop(); !refusal && !why.empty()) refusal = Refusal{"cancelled", why};
      if (refusal) return;
    }
    const std::string name = to_string(piece.ref());
    const auto failed = [&](std::string_view why, const std::string& message) {
      piece.state = "failed";
      piece.message = stage.taint.redacted(message);
      std::lock_guard lock(mutex);
      if (!refusal) refusal = Refusal{std::string(why), name + ": " + piece.message};
    };
    const auto kept = by_ref.find(piece.ref());
    if (kept == by_ref.end()) return failed("kubernetesFailed", "it is not among what was kept");
    const json::value* object = kept->second;
    auto reply =
        stage.client.apply(*object, {.manager = std::string(rendering::kManager), .force = stage.request.force});
    if (!reply) return failed("kubernetesFailed", to_string(reply.error()));
    if (reply->failure) {
      return failed(reply->failure->is_field_conflict() ? "fieldConflict" : "kubernetesFailed",
                    reply->failure->message);
    }
    piece.uid = text_at(reply->body, {"metadata", "uid"});
    piece.state = kube::readiness(reply->body).ready == kube::Ready::yes ? "ready" : "applied";
    piece.message.clear();
  });
  return refusal;
}

std::optional<Refusal> awaited(const Stage& stage, std::vector<Piece>& pieces, int64_t timeout_ms) {
  bool reached = false, hopeless = false;
  auto refusal = until(
      stage, Held(stage.client, stage.clock, stage.request), timeout_ms,
      [&] {
        bool all = true;
        for (Piece& each : pieces) {
          if (each.state == "ready") continue;
          look(stage, each, false);
          if (each.state == "failed") hopeless = true;
          if (each.state != "ready") all = false;
        }
        return all || hopeless;
      },
      reached);
  if (refusal) return refusal;
  if (reached && !hopeless) return std::nullopt;
  std::string who;
  for (Piece& each : pieces) {
    if (each.state == "ready") continue;
    if (each.state != "failed") look(stage, each, true);
    if (each.state == "ready") continue;
    who += (who.empty() ? "" : "; ") + to_string(each.ref()) + ": " + each.message;
  }
  if (who.empty()) return std::nullopt;
  return Refusal{"notReady", (hopeless ? "" : "after " + std::to_string(timeout_ms / 1000) + " s, ") + who};
}

std::optional<Refusal> removed(const Stage& stage, std::vector<Piece>& pieces, int64_t timeout_ms) {
  const bool with_its_namespace = std::ranges::any_of(
      pieces, [&](const Piece& each) { return each.kind == "Namespace" && each.name == stage.request.name_space; });
  Held held(stage.client, stage.clock, stage.request, with_its_namespace);
  // In reverse order of their waves: what leads traffic to a workload goes before it.
  for (Piece& piece : pieces) {
    if (piece.state == "gone") continue;
    if (auto lost = held.renew()) return lost;
    if (std::string why = stage.stop(); !why.empty()) return Refusal{"cancelled", why};
    const auto failed = [&](const std::string& message) {
      piece.state = "failed";
      piece.message = stage.taint.redacted(message);
      return Refusal{"kubernetesFailed", to_string(piece.ref()) + ": " + piece.message};
    };
    if (piece.uid.empty()) {
      // It was about to be applied when its deployment ended; it may be there.
      auto live = stage.client.get(piece.ref());
      if (!live) return failed(to_string(live.error()));
      if (live->failure && live->status != 404) return failed(live->failure->message);
      const std::string host = text_at(live->body, {"metadata", "labels", rendering::kHostLabel});
      const std::string instance = text_at(live->body, {"metadata", "labels", rendering::kInstanceLabel});
      if (live->failure || host != stage.request.host || instance != stage.request.instance) {
        piece.state = "gone";
        continue;
      }
      piece.uid = text_at(live->body, {"metadata", "uid"});
    }
    auto reply = stage.client.remove(piece.ref(), {.uid = piece.uid});
    if (!reply && reply.error().code == Code::not_found) {
      piece.state = "gone";  // its kind is gone, and so are all of that kind
      continue;
    }
    if (!reply) return failed(to_string(reply.error()));
    if (reply->status == 404) {
      piece.state = "gone";
    } else if (reply->status == 409) {
      piece.state = "gone";
      piece.message = "another object has its name now, which was left alone";
    } else if (reply->failure) {
      return failed(reply->failure->message);
    } else {
      // A Status: it is gone; the object itself: something waits for its end.
      piece.state = text_at(reply->body, {"kind"}) == "Status" || timeout_ms == 0 ? "gone" : "applied";
    }
  }
  bool reached = false;
  auto waited = until(
      stage, held, timeout_ms,
      [&] {
        for (Piece& each : pieces) {
          if (each.state == "gone") continue;
          auto live = stage.client.get(each.ref());
          if (!live || (live->failure && live->status != 404)) return false;
          if (!live->failure && text_at(live->body, {"metadata", "uid"}) == each.uid) {
            std::string finalizers;
            for (const json::value& one : kube::list_at(live->body, {"metadata", "finalizers"})) {
              if (one.is_string()) finalizers += (finalizers.empty() ? "" : ", ") + std::string(one.get_string());
            }
            each.message = "it waits for " + (finalizers.empty() ? "its end" : finalizers);
            return false;
          }
          each.state = "gone";
          each.message.clear();
        }
        return true;
      },
      reached);
  if (waited) return waited;
  if (reached) return std::nullopt;
  std::string who;
  for (const Piece& each : pieces) {
    if (each.state != "gone") who += (who.empty() ? "" : "; ") + to_string(each.ref()) + ": " + each.message;
  }
  return Refusal{"notReady", "after " + std::to_string(timeout_ms / 1000) + " s, " + who};
}

std::optional<Refusal> looked_at(const Stage& stage, std::vector<Piece>& pieces) {
  std::mutex mutex;
  std::optional<Refusal> refusal;
  kube::at_once(pieces.size(), [&](size_t i) {
    pieces[i].state.clear();
    look(stage, pieces[i], true);
    if (!pieces[i].state.empty()) return;
    std::lock_guard lock(mutex);
    if (!refusal) refusal = Refusal{"kubernetesFailed", to_string(pieces[i].ref()) + ": " + pieces[i].message};
  });
  return refusal;
}

}  // namespace sluice::deploy::executor
