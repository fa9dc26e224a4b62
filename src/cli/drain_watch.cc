// A thread that asks ten times a second: a drain is short, and people look on.
#include "cli/drain_watch.h"

#include <boost/json.hpp>
#include <chrono>

#include "base/thread_name.h"
#include "host/background.h"
#include "router/control_client.h"

namespace sluice::cli {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(100);
constexpr int64_t kDrainAnswer_ms = 1'000;

int64_t count_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr) return 0;
  if (value->is_int64()) return value->get_int64();
  return value->is_uint64() ? static_cast<int64_t>(value->get_uint64()) : 0;
}

}  // namespace

UnderWay under_way(const Context& context, const host::Home& home, const std::string& deployment,
                   const std::string& revision) {
  UnderWay sum;
  for (const host::RunningRouter& each : host::running_routers(context.disk, home)) {
    auto client = ::sluice::router::ControlClient::connect(each.control, kDrainAnswer_ms);
    auto stats = client ? client->ask({{"op", "stats"}, {"deployment", deployment}}) : client.error();
    const json::value* deployments = stats ? stats->if_contains("deployments") : nullptr;
    if (deployments == nullptr || !deployments->is_array()) continue;
    for (const json::value& one : deployments->get_array()) {
      for (const json::value& known : one.at("revisions").as_array()) {
        if (known.at("id") != json::value(revision)) continue;
        sum.requests += count_at(known.as_object(), "in_flight");
        sum.websockets += count_at(known.as_object(), "websockets");
      }
    }
  }
  return sum;
}

std::string to_text(const UnderWay& counts) {
  auto counted = [](int64_t number, const std::string& what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  std::string text = counted(counts.requests, "request");
  if (counts.websockets > 0) text += " and " + counted(counts.websockets, "WebSocket");
  return text + " under way";
}

void tell_cut(Context& context, const std::string& what, const json::object& fields) {
  const int64_t cut = count_at(fields, "cut");
  if (cut == 0) return;
  context.output.warn(std::to_string(cut) + (cut == 1 ? " request of " : " requests of ") + what +
                      (cut == 1 ? " was" : " were") + " cut: the time to drain was over");
}

DrainWatch::DrainWatch(Context& context, host::Home home, std::string deployment, std::string revision) {
  thread_ = std::thread(
      [this, &context, home = std::move(home), deployment = std::move(deployment), revision = std::move(revision)] {
        name_this_thread("drain-watch");
        UnderWay said;
        std::unique_lock lock(mutex_);
        while (!ends_.wait_for(lock, kBetweenLooks, [this] { return ending_; })) {
          lock.unlock();
          UnderWay now = under_way(context, home, deployment, revision);
          // That nothing is left can also mean that it was cut; how it ended says the answer.
          if (now != said && now != UnderWay()) context.output.note(to_text(now));
          said = now;
          lock.lock();
        }
      });
}

DrainWatch::~DrainWatch() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

}  // namespace sluice::cli
