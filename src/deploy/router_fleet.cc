// A patch is sent if exactly one deployment differs from what the router was sent last; else a load.
#include "deploy/router_fleet.h"

#include <boost/json.hpp>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "crypto/base64.h"
#include "router/counters.h"
#include "router/report.h"
#include "router/table/order.h"

namespace sluice::deploy {
namespace {

namespace data_plane = ::sluice::router;

constexpr size_t kMaxRecord = 64 << 10;

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

int64_t number_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr) return 0;
  if (value->is_int64()) return value->get_int64();
  return value->is_uint64() ? static_cast<int64_t>(value->get_uint64()) : 0;
}

bool flag_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

// The one difference between two sets of deployments, as a patch; nothing if there is none, or more than one.
std::optional<std::string> patch_between(const std::map<std::string, std::string>& before,
                                         const std::map<std::string, std::string>& after) {
  std::string changed, removed;
  int differences = 0;
  for (const auto& [id, text] : after) {
    auto known = before.find(id);
    if (known != before.end() && known->second == text) continue;
    changed = id;
    if (++differences > 1) return std::nullopt;
  }
  for (const auto& [id, text] : before) {
    if (after.contains(id)) continue;
    removed = id;
    if (++differences > 1) return std::nullopt;
  }
  const std::string begin = R"({"schema":")" + std::string(data_plane::kPatchSchema) + "\",";
  if (!removed.empty()) return begin + "\"removed\":" + write(json::value(removed)) + "}";
  // Where nothing differs, what is there already takes the router to the new generation.
  if (changed.empty() && !after.empty()) changed = after.begin()->first;
  if (changed.empty()) return std::nullopt;
  return begin + "\"deployment\":" + after.at(changed) + "}";
}

}  // namespace

RouterFleet::Turn::Turn(RouterFleet& fleet, std::string environment)
    : fleet_(fleet), environment_(std::move(environment)) {
  std::unique_lock lock(fleet_.mutex_);
  fleet_.turned_.wait(lock, [&] { return !fleet_.turns_.contains(environment_); });
  fleet_.turns_.insert(environment_);
}

RouterFleet::Turn::~Turn() {
  std::lock_guard lock(fleet_.mutex_);
  fleet_.turns_.erase(environment_);
  fleet_.turned_.notify_all();
}

std::vector<RouterFleet::Seen> RouterFleet::look(int64_t timeout_ms) const {
  std::vector<Seen> all;
  auto folders = disk_.list(folder_);
  if (!folders) return all;
  for (const FolderEntry& each : *folders) {
    auto text = read_file(disk_, folder_ + "/" + each.name + "/router.json", kMaxRecord);
    if (!text) continue;
    auto parsed = parse_json(*text);
    const json::object* record = parsed ? parsed->root.if_object() : nullptr;
    if (record == nullptr) continue;
    // One on another machine has joined for an environment; the others are of that of their table, or their name.
    Seen seen{.router = text_in(*record, "router"),
              .name = text_in(*record, "name"),
              .control = text_in(*record, "control"),
              .pid = number_in(*record, "pid"),
              .environment = text_in(*record, "environment")};
    if (const json::value* listen = record->if_contains("listen"); listen != nullptr && listen->is_array()) {
      for (const json::value& one : listen->get_array()) {
        if (one.is_string()) seen.listen.emplace_back(one.get_string());
      }
    }
    all.push_back(std::move(seen));
  }
  std::vector<Asked> asked;
  for (const Seen& each : all) {
    // Of a deployment that there is not: all that is wanted is the head.
    asked.push_back({.client = data_plane::ControlClient::connect(each.control, timeout_ms),
                     .line = write(json::object{{"op", "stats"}, {"deployment", "-"}})});
    send_to(asked.back());
  }
  collect(asked, timeout_ms);
  for (size_t i = 0; i < all.size(); ++i) {
    const Result<json::object>& stats = *asked[i].answer;
    if (!stats) continue;
    all[i].answers = true;
    if (std::string obeys = text_in(*stats, "environment"); !obeys.empty()) all[i].environment = std::move(obeys);
    all[i].generation = number_in(*stats, "generation");
  }
  return all;
}

bool RouterFleet::has_record(const std::string& name) const {
  return disk_.stat(folder_ + "/" + name + "/router.json", FollowLinks::no).has_value();
}

RouterFleet::Message RouterFleet::message_of(const data_plane::TableDocument& table) const {
  json::object whole = to_json(table).as_object();
  Message message{.text = write(whole), .known = {.generation = table.generation}};
  auto deployments = std::make_shared<std::map<std::string, std::string>>();
  for (const json::value& each : whole.at("deployments").as_array()) {
    (*deployments)[std::string(each.at("id").as_string())] = write(each);
  }
  whole.erase("generation");
  whole.erase("deployments");
  message.known.head = std::make_shared<const std::string>(write(whole));
  message.known.deployments = std::move(deployments);
  return message;
}

// The orders of one publish. Those who know the same get the same order, so it is signed once.
class RouterFleet::Orders {
 public:
  Orders(const data_plane::TableDocument& table, const Message& message, const crypto::PrivateKey& key, int64_t token,
         std::string router)
      : table_(table), message_(message), key_(key), token_(token), router_(std::move(router)) {}

  Result<void> fill(Asked& asked, const Known* known) {
    if (known == nullptr) return fill(asked, data_plane::OrderOp::load, load_, message_.text);
    // The patch from what the last one knows; most know the same.
    if (!from_ || from_ != known->deployments) {
      patch_ = patch_between(*known->deployments, *message_.known.deployments);
      from_ = known->deployments;
      patched_.clear();
    }
    if (!patch_) return fill(asked, data_plane::OrderOp::load, load_, message_.text);
    return fill(asked, data_plane::OrderOp::patch, patched_, *patch_);
  }

 private:
  Result<void> fill(Asked& asked, data_plane::OrderOp op, std::string& envelope, const std::string& bytes) {
    if (envelope.empty()) {
      data_plane::Order order{
          .op = op, .environment = table_.environment, .router = router_, .generation = table_.generation};
      if (op == data_plane::OrderOp::patch) order.from = table_.generation - 1;
      if (token_ > 0) order.token = token_;
      auto made = data_plane::sign_order(order, bytes, key_);
      if (!made) return made.error();
      envelope = *std::move(made);
    }
    asked.line = data_plane::order_line(op, envelope, bytes.size());
    asked.bytes = bytes;
    return {};
  }

  const data_plane::TableDocument& table_;
  const Message& message_;
  const crypto::PrivateKey& key_;
  const int64_t token_;
  const std::string router_;    // `*` where there are several
  std::string load_, patched_;  // envelopes
  std::shared_ptr<const std::map<std::string, std::string>> from_;
  std::optional<std::string> patch_;
};

bool RouterFleet::takes_patch(const Member& member, const Message& message) const {
  const std::lock_guard lock(mutex_);
  auto known = known_.find(member.router);
  return known != known_.end() && known->second.generation + 1 == message.known.generation &&
         !known->second.wants_load && *known->second.head == *message.known.head;
}

void RouterFleet::send_to(Asked& asked) {
  if (!asked.client) {
    asked.answer = asked.client.error();
  } else if (auto sent = asked.client->send(asked.line, asked.bytes); !sent) {
    asked.answer = sent.error();
  }
}

// Together they have no longer than one of them.
void RouterFleet::collect(std::vector<Asked>& all, int64_t timeout_ms) {
  const RealClock clock;
  const int64_t until_ms = clock.monotonic_ns() / 1'000'000 + timeout_ms;
  for (Asked& each : all) {
    if (each.answer) continue;
    each.client->wait_for(std::max<int64_t>(until_ms - clock.monotonic_ns() / 1'000'000, 1));
    each.answer = each.client->answer();
  }
}

void RouterFleet::note(const Member& member, const Result<json::object>& answer, const Message& message, Sent& sent) {
  const std::lock_guard lock(mutex_);
  if (!answer) {
    sent.missed.push_back({member, answer.error().message, !has_record(member.name)});
    known_.erase(member.router);
    missed_.insert(member.router);
    return;
  }
  missed_.erase(member.router);
  const int64_t holds = number_in(*answer, "generation");
  if (flag_in(*answer, "ok")) {
    Known& known = known_[member.router] = message.known;
    known.wants_load = flag_in(*answer, "wants_load");
  } else {
    known_.erase(member.router);
    // Any table of this generation was compiled after what asked for it was decided.
    if (holds < message.known.generation) {
      sent.missed.push_back({member, text_in(*answer, "message")});
      return;
    }
  }
  sent.acknowledged.push_back(member.router);
  const json::value* quarantined = answer->if_contains("quarantined");
  if (quarantined == nullptr || !quarantined->is_array()) return;
  for (const json::value& each : quarantined->get_array()) {
    if (!each.is_object()) continue;
    sent.quarantined.push_back(
        {member.name, text_in(each.get_object(), "deployment"), text_in(each.get_object(), "reason")});
  }
}

Result<RouterFleet::Sent> RouterFleet::publish(const data_plane::TableDocument& table,
                                               const std::vector<Member>& members) {
  auto key = key_();
  if (!key) return key.error();
  const Message message = message_of(table);
  Orders orders(table, message, *key, token_, members.size() == 1 ? members.front().router : "*");
  std::vector<Asked> all;
  all.reserve(members.size());
  for (const Member& member : members) {
    Asked& asked = all.emplace_back(
        Asked{.member = &member, .client = data_plane::ControlClient::connect(member.control, kRouterLease_ms)});
    std::optional<Known> known;
    if (takes_patch(member, message)) {
      const std::lock_guard lock(mutex_);
      known = known_.at(member.router);
    }
    if (auto filled = orders.fill(asked, known ? &*known : nullptr); !filled) return filled.error();
    send_to(asked);
  }
  collect(all, kRouterLease_ms);
  std::vector<Asked> again;
  Sent sent;
  for (Asked& each : all) {
    const bool needs_load = *each.answer && !flag_in(**each.answer, "ok") &&
                            text_in(**each.answer, "needs") == "load" &&
                            each.line.find("\"op\":\"patch\"") != std::string::npos;
    if (!needs_load) {
      note(*each.member, *each.answer, message, sent);
      continue;
    }
    each.answer.reset();
    if (auto filled = orders.fill(each, nullptr); !filled) return filled.error();
    send_to(each);
    again.push_back(std::move(each));
  }
  collect(again, kRouterLease_ms);
  for (const Asked& each : again) note(*each.member, *each.answer, message, sent);
  return sent;
}

std::optional<int64_t> RouterFleet::generation_of(const std::string& router) const {
  std::lock_guard lock(mutex_);
  auto known = known_.find(router);
  if (known == known_.end()) return std::nullopt;
  return known->second.generation;
}

bool RouterFleet::take_missed(const std::string& router) {
  std::lock_guard lock(mutex_);
  return missed_.erase(router) > 0;
}

RouterFleet::DrainedSoFar RouterFleet::drained(const std::string& deployment, const std::string& revision,
                                               int64_t drain_ms, const std::vector<Member>& members) {
  DrainedSoFar all;
  for (const Member& member : members) {
    auto client = data_plane::ControlClient::connect(member.control, kRouterLease_ms);
    if (!client) continue;
    auto answer = client->ask({{"op", "drain"}, {"deployment", deployment}, {"revision", revision}, {"ms", drain_ms}});
    if (!answer || !flag_in(*answer, "ok")) continue;
    if (!flag_in(*answer, "done")) all.done = false;
    if (const json::value* cut = answer->if_contains("cut"); cut != nullptr && cut->is_int64()) {
      all.cut += cut->get_int64();
    }
  }
  return all;
}

std::vector<json::object> RouterFleet::usage(const std::vector<Member>& members) const {
  std::vector<json::object> all;
  std::set<std::string> asked;  // names
  for (const Member& member : members) {
    auto client = data_plane::ControlClient::connect(member.control, kRouterLease_ms);
    if (!client) continue;
    asked.insert(member.name);
    auto answer = client->ask({{"op", "usage"}});
    if (!answer) continue;
    const json::value* memory = answer->if_contains("memory");
    if (memory != nullptr && memory->is_object()) {
      json::object unkept = memory->get_object();
      unkept["router"] = text_in(*answer, "router");
      unkept["memory"] = text_in(unkept, "error");
      answer->erase("memory");
      all.push_back(std::move(unkept));
    }
    all.push_back(*std::move(answer));
  }
  auto entries = disk_.list(folder_);
  if (!entries) return all;
  for (const FolderEntry& each : *entries) {
    const std::string own = folder_ + "/" + each.name;
    if (asked.contains(each.name) || data_plane::ControlClient::connect(own + "/control.sock", kRouterLease_ms)) {
      continue;  // one that runs and is no member is asked when it is one
    }
    auto left = data_plane::Counters::left_at(own + "/counters");
    if (left) all.push_back(data_plane::usage_of(**left, (*left)->router()));
  }
  return all;
}

Result<std::map<std::string, RouterFleet::Counted>> RouterFleet::counts(const Member& member,
                                                                        const std::string& deployment,
                                                                        int64_t timeout_ms) const {
  auto client = data_plane::ControlClient::connect(member.control, timeout_ms);
  if (!client) return client.error();
  auto answer = client->ask({{"op", "counts"}, {"deployment", deployment}});
  if (!answer) return answer.error();
  std::map<std::string, Counted> all;
  const json::value* revisions = answer->if_contains("revisions");
  if (revisions == nullptr || !revisions->is_array()) {
    return Error{.code = Code::unavailable, .message = "the router " + member.name + " does not say what it counts"};
  }
  for (const json::value& each : revisions->get_array()) {
    if (!each.is_object()) continue;
    const json::object& one = each.get_object();
    Counted counted{.weight_bps = number_in(one, "weight_bps"),
                    .requests = static_cast<double>(number_in(one, "requests")),
                    .failed = static_cast<double>(number_in(one, "failed"))};
    if (const json::value* latencies = one.if_contains("latency_counts");
        latencies != nullptr && latencies->is_array()) {
      for (const json::value& count : latencies->get_array()) {
        counted.latencies.push_back(count.is_int64() ? static_cast<double>(count.get_int64()) : 0);
      }
    }
    all.emplace(text_in(one, "id"), std::move(counted));
  }
  return all;
}

Result<std::string> RouterFleet::debug_key() const {
  auto key = key_();
  if (!key) return key.error();
  return crypto::to_base64(key->public_key().raw());
}

}  // namespace sluice::deploy
