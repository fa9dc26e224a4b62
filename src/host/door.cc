// An answer on the wire has the members that docs/internals/api.md names; what it does not say is left out.
#include "host/door.h"

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "base/json.h"
#include "host/flow_rows.h"
#include "host/problem.h"

namespace sluice::host {
namespace {

constexpr std::array<std::string_view, 4> kWaits = {"start", "answer", "settled", "all"};

std::string text_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

uint64_t number_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr) return 0;
  if (value->is_uint64()) return value->get_uint64();
  return value->is_int64() && value->get_int64() > 0 ? static_cast<uint64_t>(value->get_int64()) : 0;
}

const json::object* object_in(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_object() ? &value->get_object() : nullptr;
}

}  // namespace

std::string_view name_of(WaitFor wait) { return kWaits[static_cast<size_t>(wait)]; }

std::optional<WaitFor> wait_named(std::string_view name) {
  const auto* found = std::ranges::find(kWaits, name);
  if (found == kWaits.end()) return std::nullopt;
  return static_cast<WaitFor>(found - kWaits.begin());
}

std::string Answer::text(std::string_view field) const { return text_in(fields, field); }

std::vector<std::string> Answer::texts(std::string_view field) const {
  std::vector<std::string> all;
  const json::value* value = fields.if_contains(field);
  if (value == nullptr || !value->is_array()) return all;
  for (const json::value& each : value->get_array()) {
    if (each.is_string()) all.emplace_back(each.get_string());
  }
  return all;
}

json::object to_json(const Answer& answer) {
  json::object object{{"action", answer.action}};
  if (answer.flow) object["flow"] = object["invocation"] = to_string(*answer.flow);
  if (answer.state) object["state"] = state_name(*answer.state);
  if (answer.ended()) {
    object["variant"] = answer.variant;
    object["fields"] = answer.fields;
    object["code"] = code_name(answer.code);
    object["position"] = answer.position;
    if (answer.flow) {
      object["maybeDone"] = answer.maybe_done;
      object["followUpsPending"] = answer.follow_ups_pending;
      object["followUpsMoving"] = answer.follow_ups_moving;
    }
    if (answer.generation) object["generation"] = *answer.generation;
    if (!answer.authorized.empty()) object["authorized"] = answer.authorized;
    if (!answer.next.empty()) object["next"] = answer.next;
    if (!answer.seen.empty()) object["seen"] = answer.seen;
    if (answer.expect) object["expect"] = *answer.expect;
  } else {
    object["waitsFor"] = answer.waits_for;
    object["position"] = answer.position;
  }
  if (answer.trouble) object["trouble"] = problem(*answer.trouble);
  return object;
}

Result<Answer> read_answer(const json::value& value) {
  if (!value.is_object()) return Error{.message = "the server's answer is no object"};
  const json::object& object = value.get_object();
  Answer answer{.action = text_in(object, "action"), .variant = text_in(object, "variant")};
  if (const json::object* fields = object_in(object, "fields")) answer.fields = *fields;
  answer.code = code_named(text_in(object, "code")).value_or(Code::failed);
  if (!answer.ended()) answer.code = Code::ok;
  const json::value* maybe = object.if_contains("maybeDone");
  answer.maybe_done = maybe != nullptr && maybe->is_bool() && maybe->get_bool();
  if (object.contains("flow")) {
    auto flow = Ulid::parse(text_in(object, "flow"));
    if (!flow) return flow.error();
    answer.flow = *flow;
  }
  answer.position = number_in(object, "position");
  if (object.contains("generation")) answer.generation = number_in(object, "generation");
  if (const json::value* next = object.if_contains("next"); next != nullptr && next->is_array()) {
    answer.next = next->get_array();
  }
  if (const json::object* seen = object_in(object, "seen")) answer.seen = *seen;
  if (object.contains("expect")) answer.expect = number_in(object, "expect");
  answer.state = state_named(text_in(object, "state"));
  answer.follow_ups_pending = number_in(object, "followUpsPending");
  answer.follow_ups_moving = number_in(object, "followUpsMoving");
  answer.waits_for = text_in(object, "waitsFor");
  if (const json::object* trouble = object_in(object, "trouble")) answer.trouble = error_in(*trouble);
  if (!answer.ended() && !answer.flow) return Error{.message = "the server's answer has neither an end nor a flow"};
  return answer;
}

}  // namespace sluice::host
