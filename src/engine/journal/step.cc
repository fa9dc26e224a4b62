// Writing is by hand into one buffer, as it stands on the writer's path. Reading goes through the JSON tree; what is
// read is written again and compared, so that a record has one spelling and nothing in it is passed over.
#include "engine/journal/step.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

#include "base/json.h"
#include "base/json_place.h"
#include "base/json_reader.h"
#include "base/json_text.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"

namespace sluice::engine {
namespace {

constexpr std::array<std::string_view, 17> kKindNames = {"act",     "begin",    "started", "again", "finish", "late",
                                                         "child",   "dispatch", "dead",    "drop",  "cancel", "move",
                                                         "resolve", "denied",   "clock",   "state", "put"};

constexpr std::string_view kChainStart = R"({"chain":")";

// Values may be nested as deeply as any reader allows, and stand a few levels deep in the record.
constexpr JsonLimits kRecordLimits = {
    .max_depth = JsonLimits{}.max_depth + 16, .max_bytes = size_t{1} << 30, .max_nodes = size_t{1} << 30};

// --- writing ---------------------------------------------------------------------------------------------------

// Names are constants that need no escaping.
void append_name(TextBuffer& out, std::string_view name) {
  char* to = out.room(name.size() + 4);
  if (char last = out.view().back(); last != '{' && last != '[') *to++ = ',';
  *to++ = '"';
  to += name.copy(to, name.size());
  *to++ = '"';
  *to++ = ':';
  out.advance_to(to);
}

void append_separator(TextBuffer& out) {
  if (char last = out.view().back(); last != '{' && last != '[') out.append(',');
}

void append_quoted(TextBuffer& out, const Ulid& id, bool is_request = false) {
  char* to = out.room(Ulid::kTextLength + 3);
  *to++ = '"';
  write_text(id, std::span<char, Ulid::kTextLength>(to, Ulid::kTextLength));
  to += Ulid::kTextLength;
  if (is_request) *to++ = '?';
  *to++ = '"';
  out.advance_to(to);
}

template <class Integer>
void append_number(TextBuffer& out, std::string_view name, Integer number) {
  append_name(out, name);
  constexpr size_t kLongest = 20;
  char* begin = out.room(kLongest);
  out.advance_to(std::to_chars(begin, begin + kLongest, number).ptr);
}

void append_text(TextBuffer& out, std::string_view name, std::string_view text) {
  append_name(out, name);
  append_json_string(out, text);
}

void append_id(TextBuffer& out, std::string_view name, const Ulid& id) {
  append_name(out, name);
  append_quoted(out, id);
}

void append_object(TextBuffer& out, std::string_view name, const json::object& object) {
  append_name(out, name);
  out.append('{');
  for (const auto& member : object) {
    append_separator(out);
    append_json_string(out, {member.key().data(), member.key().size()});
    out.append(':');
    append_json_value(out, member.value());
  }
  out.append('}');
}

void append_matched(TextBuffer& out, const std::vector<RecordId>& matched) {
  append_name(out, "matched");
  out.append('[');
  for (const RecordId& id : matched) {
    append_separator(out);
    append_quoted(out, id.invocation, id.kind == RecordKind::request);
  }
  out.append(']');
}

void append(TextBuffer& out, const Root& root) {
  append_name(out, "root");
  out.append('{');
  if (!root.input.empty()) append_object(out, "input", root.input);
  if (!root.key.empty()) append_text(out, "key", root.key);
  if (!root.sync_set.empty()) append_text(out, "syncs", root.sync_set);
  if (root.expect_generation) append_number(out, "expect", *root.expect_generation);
  out.append('}');
}

void append(TextBuffer& out, const ChildRoot& child) {
  append_name(out, "child");
  out.append('{');
  append_id(out, "parent", child.parent);
  append_text(out, "sync", child.sync);
  append_matched(out, child.matched);
  if (!child.bindings.empty()) append_object(out, "bindings", child.bindings);
  if (!child.causes.empty()) {
    append_name(out, "causes");
    out.append('[');
    for (const json::value& cause : child.causes) {
      append_separator(out);
      append_json_value(out, cause);
    }
    out.append(']');
  }
  if (!child.sync_set.empty()) append_text(out, "syncs", child.sync_set);
  out.append('}');
}

void append(TextBuffer& out, const End& end) {
  append_name(out, "end");
  out.append('{');
  append_text(out, "variant", end.variant);
  if (!end.fields.empty()) append_object(out, "fields", end.fields);
  if (end.maybe_done) {
    append_name(out, "maybe");
    out.append("true");
  }
  if (!end.next.empty()) {
    append_name(out, "next");
    append_json_value(out, end.next);
  }
  out.append('}');
}

constexpr std::string_view kPlannedNames[] = {"invoke", "answer", "child"};

void append(TextBuffer& out, const Planned& planned) {
  append_separator(out);
  out.append('{');
  append_id(out, kPlannedNames[static_cast<size_t>(planned.kind)], planned.id);
  if (!planned.action.empty()) append_text(out, "action", planned.action);
  if (!planned.unavailable.empty()) append_text(out, "unavailable", planned.unavailable);
  if (!planned.variant.empty()) append_text(out, "variant", planned.variant);
  if (planned.flow) append_id(out, "flow", *planned.flow);
  if (!planned.fields.empty()) append_object(out, "fields", planned.fields);
  out.append('}');
}

void append(TextBuffer& out, const Fired& fired) {
  append_separator(out);
  out.append('{');
  append_text(out, "sync", fired.sync);
  append_matched(out, fired.matched);
  append_number(out, "rows", fired.rows);
  if (!fired.then.empty()) {
    append_name(out, "then");
    out.append('[');
    for (const Planned& planned : fired.then) append(out, planned);
    out.append(']');
  }
  out.append('}');
}

void append(TextBuffer& out, const Wrote& wrote) {
  append_separator(out);
  out.append('[');
  append_json_string(out, wrote.relation);
  out.append(',');
  append_json_string(out, wrote.key);
  if (!wrote.hash.empty()) {
    out.append(',');
    append_json_string(out, wrote.hash);
  }
  out.append(']');
}

// --- reading ---------------------------------------------------------------------------------------------------

std::string_view view(json::string_view text) { return {text.data(), text.size()}; }

// The members of one object, each taken once by its name. The first error is kept; what is read after it is empty.
class Members {
 public:
  Members(json::value& value, const Place& place, std::optional<Error>& error) : place_(place), error_(error) {
    object_ = value.if_object();
    if (object_ == nullptr) fail(reader::wrong_kind("an object", value, place));
  }

  // Null if there is none.
  json::value* take(std::string_view name) {
    known_.push_back(name);
    if (error_ || object_ == nullptr) return nullptr;
    auto found = object_->find(name);
    return found == object_->end() ? nullptr : &found->value();
  }
  json::value* need(std::string_view name, std::string_view expected) {
    json::value* value = take(name);
    if (value == nullptr && !error_) fail(reader::missing_field(expected, place_.member(name)));
    return value;
  }

  void read(std::string_view name, std::string& to, bool needed = false) {
    json::value* value = needed ? need(name, "a string") : take(name);
    if (value == nullptr) return;
    if (auto* text = value->if_string()) {
      to = view(*text);
    } else {
      fail(reader::wrong_kind("a string", *value, place_.member(name)));
    }
  }
  void read(std::string_view name, Ulid& to, bool needed = false) {
    std::string text;
    read(name, text, needed);
    if (error_ || (text.empty() && !needed)) return;
    auto id = Ulid::parse(text);
    if (id) {
      to = *id;
    } else {
      fail(reader::refused_scalar(id.error(), place_.member(name)));
    }
  }
  void read(std::string_view name, int64_t& to, bool needed = false) {
    json::value* value = needed ? need(name, "an integer") : take(name);
    if (value == nullptr) return;
    keep(reader::read_signed(*value, INT64_MIN, INT64_MAX, place_.member(name)), to);
  }
  void read(std::string_view name, uint64_t& to, bool needed = false) {
    json::value* value = needed ? need(name, "an integer") : take(name);
    if (value == nullptr) return;
    keep(reader::read_unsigned(*value, UINT64_MAX, place_.member(name)), to);
  }
  void read(std::string_view name, bool& to) {
    json::value* value = take(name);
    if (value == nullptr) return;
    if (auto* truth = value->if_bool()) {
      to = *truth;
    } else {
      fail(reader::wrong_kind("true or false", *value, place_.member(name)));
    }
  }
  void read(std::string_view name, json::object& to) {
    json::value* value = take(name);
    if (value == nullptr) return;
    if (auto* object = value->if_object()) {
      to = std::move(*object);
    } else {
      fail(reader::wrong_kind("an object", *value, place_.member(name)));
    }
  }
  void read(std::string_view name, json::array& to) {
    if (json::array* array = list(name)) to = std::move(*array);
  }
  void read(std::string_view name, std::vector<RecordId>& to) {
    each(name, [&](json::value& value, const Place& place) {
      auto* text = value.if_string();
      if (text == nullptr) return fail(reader::wrong_kind("a record's id", value, place));
      auto id = parse_record_id(view(*text));
      if (!id) return fail(reader::refused_scalar(id.error(), place));
      to.push_back(*id);
    });
  }

  // Calls visit(value, place) for each element of an array, which may be missing.
  template <class Visit>
  void each(std::string_view name, Visit&& visit) {
    json::array* array = list(name);
    if (array == nullptr) return;
    Place place = place_.member(name);
    for (size_t i = 0; i < array->size() && !error_; ++i) visit((*array)[i], place.element(i));
  }

  void fail(Error error) {
    if (!error_) error_ = std::move(error);
  }
  Place place_of(std::string_view name) const { return place_.member(name); }

  // Every member must have been asked for by now.
  void end() {
    if (error_) return;
    for (const auto& member : *object_) {
      std::string_view name = view(member.key());
      if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
        return fail(reader::unknown_field(name, known_, place_.member(name)));
      }
    }
  }

 private:
  json::array* list(std::string_view name) {
    json::value* value = take(name);
    if (value == nullptr) return nullptr;
    if (auto* array = value->if_array()) return array;
    fail(reader::wrong_kind("an array", *value, place_.member(name)));
    return nullptr;
  }

  template <class Integer>
  void keep(Result<Integer> number, Integer& to) {
    if (number) {
      to = *number;
    } else {
      fail(std::move(number).error());
    }
  }

  json::object* object_ = nullptr;
  const Place& place_;
  std::optional<Error>& error_;
  std::vector<std::string_view> known_;
};

Root read_root(json::value& value, const Place& place, std::optional<Error>& error) {
  Root root;
  Members members(value, place, error);
  members.read("input", root.input);
  members.read("key", root.key);
  members.read("syncs", root.sync_set);
  uint64_t expect = 0;
  members.read("expect", expect);
  if (members.take("expect") != nullptr) root.expect_generation = expect;
  members.end();
  return root;
}

ChildRoot read_child(json::value& value, const Place& place, std::optional<Error>& error) {
  ChildRoot child;
  Members members(value, place, error);
  members.read("parent", child.parent, true);
  members.read("sync", child.sync, true);
  members.read("matched", child.matched);
  members.read("bindings", child.bindings);
  members.read("causes", child.causes);
  members.read("syncs", child.sync_set);
  members.end();
  return child;
}

End read_end(json::value& value, const Place& place, std::optional<Error>& error) {
  End end;
  Members members(value, place, error);
  members.read("variant", end.variant, true);
  members.read("fields", end.fields);
  members.read("maybe", end.maybe_done);
  members.read("next", end.next);
  members.end();
  return end;
}

Planned read_planned(json::value& value, const Place& place, std::optional<Error>& error) {
  Planned planned;
  Members members(value, place, error);
  size_t kinds = 0;
  for (size_t kind = 0; kind < std::size(kPlannedNames); ++kind) {
    if (members.take(kPlannedNames[kind]) == nullptr) continue;
    members.read(kPlannedNames[kind], planned.id, true);
    planned.kind = static_cast<Planned::Kind>(kind);
    ++kinds;
  }
  if (kinds != 1) {
    members.fail({.code = Code::invalid,
                  .message = "expected exactly one of invoke, answer and child, found " + std::to_string(kinds),
                  .path = place.pointer()});
  }
  members.read("action", planned.action);
  members.read("unavailable", planned.unavailable);
  members.read("variant", planned.variant);
  Ulid flow;
  members.read("flow", flow);
  if (members.take("flow") != nullptr) planned.flow = flow;
  members.read("fields", planned.fields);
  members.end();
  return planned;
}

Fired read_fired(json::value& value, const Place& place, std::optional<Error>& error) {
  Fired fired;
  Members members(value, place, error);
  members.read("sync", fired.sync, true);
  members.read("matched", fired.matched);
  members.read("rows", fired.rows, true);
  members.each("then",
               [&](json::value& each, const Place& at) { fired.then.push_back(read_planned(each, at, error)); });
  members.end();
  return fired;
}

Wrote read_wrote(const json::value& value, const Place& place, std::optional<Error>& error) {
  const json::array* parts = value.if_array();
  bool fits = parts != nullptr && (parts->size() == 2 || parts->size() == 3) &&
              std::ranges::all_of(*parts, [](const json::value& part) { return part.is_string(); });
  if (!fits) {
    if (!error) error = reader::wrong_kind("a relation, a key and a hash", value, place);
    return {};
  }
  auto text = [&](size_t at) { return at < parts->size() ? std::string((*parts)[at].get_string()) : ""; };
  return {text(0), text(1), text(2)};
}

Step::Kind read_kind(Members& members) {
  std::string name;
  members.read("step", name, true);
  for (size_t i = 0; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == name) return static_cast<Step::Kind>(i);
  }
  members.fail(reader::unknown_name(name, kKindNames, members.place_of("step")));
  return {};
}

Step read_members(json::value& root, std::optional<Error>& error) {
  Step step;
  Place place;
  Members members(root, place, error);
  members.read("seq", step.seq, true);
  members.take("chain");
  members.read("at", step.at_ms, true);
  members.read("flow", step.flow);
  members.read("id", step.invocation);
  step.kind = read_kind(members);
  members.read("action", step.action);
  members.read("caller", step.caller.name);
  members.read("reason", step.caller.reason);
  members.read("token", step.caller.token);
  if (auto* value = members.take("root")) step.root = read_root(*value, members.place_of("root"), error);
  if (auto* value = members.take("child")) step.child = read_child(*value, members.place_of("child"), error);
  if (auto* value = members.take("work")) step.work = std::move(*value);
  if (auto* value = members.take("end")) step.end = read_end(*value, members.place_of("end"), error);
  members.read("by", step.by);
  members.read("note", step.note);
  members.read("attempt", step.attempt);
  members.read("due", step.due_ms);
  members.read("count", step.count);
  members.read("wall", step.wall_ms);
  members.each("guards", [&](json::value& value, const Place& at) {
    auto* name = value.if_string();
    if (name == nullptr) return members.fail(reader::wrong_kind("a string", value, at));
    step.guards.emplace_back(view(*name));
  });
  members.each("fired",
               [&](json::value& value, const Place& at) { step.fired.push_back(read_fired(value, at, error)); });
  members.read("head", step.head);
  members.each("wrote",
               [&](json::value& value, const Place& at) { step.wrote.push_back(read_wrote(value, at, error)); });
  members.end();
  return step;
}

bool is_hash(std::string_view text) {
  return text.size() == kFirstChain.size() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string_view name_of(Step::Kind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::string write_step(const Step& step, std::string_view chain) {
  TextBuffer out;
  out.append(kChainStart);
  out.append(chain);
  out.append('"');
  append_number(out, "seq", step.seq);
  append_number(out, "at", step.at_ms);
  if (step.flow != Ulid()) append_id(out, "flow", step.flow);
  if (step.invocation != Ulid()) append_id(out, "id", step.invocation);
  append_text(out, "step", name_of(step.kind));
  if (!step.action.empty()) append_text(out, "action", step.action);
  if (!step.caller.name.empty()) append_text(out, "caller", step.caller.name);
  if (!step.caller.reason.empty()) append_text(out, "reason", step.caller.reason);
  if (!step.caller.token.empty()) append_text(out, "token", step.caller.token);
  if (step.root) append(out, *step.root);
  if (step.child) append(out, *step.child);
  if (step.work) {
    append_name(out, "work");
    append_json_value(out, *step.work);
  }
  if (step.end) append(out, *step.end);
  if (!step.by.empty()) append_text(out, "by", step.by);
  if (!step.note.empty()) append_text(out, "note", step.note);
  if (step.attempt != 0) append_number(out, "attempt", step.attempt);
  if (step.due_ms != 0) append_number(out, "due", step.due_ms);
  if (step.count != 0) append_number(out, "count", step.count);
  if (step.wall_ms != 0) append_number(out, "wall", step.wall_ms);
  if (!step.guards.empty()) {
    append_name(out, "guards");
    out.append('[');
    for (const std::string& guard : step.guards) {
      append_separator(out);
      append_json_string(out, guard);
    }
    out.append(']');
  }
  if (!step.fired.empty()) {
    append_name(out, "fired");
    out.append('[');
    for (const Fired& fired : step.fired) append(out, fired);
    out.append(']');
  }
  if (step.head != 0) append_number(out, "head", step.head);
  if (!step.wrote.empty()) {
    append_name(out, "wrote");
    out.append('[');
    for (const Wrote& wrote : step.wrote) append(out, wrote);
    out.append(']');
  }
  out.append('}');
  return std::string(out.view());
}

std::string state_hash(uint64_t generation, std::string_view value) {
  constexpr size_t kBytes = 16;
  std::string text = std::to_string(generation);
  text.reserve(text.size() + 1 + value.size());
  (text += '\n') += value;
  crypto::Sha256 digest = crypto::sha256(text);
  return crypto::to_hex(std::span(digest).first<kBytes>());
}

// It stands last, so that nothing but the end of the record follows it: a field of that name further in has more.
Result<std::vector<Wrote>> wrote_in(std::string_view record) {
  constexpr std::string_view kName = R"(,"wrote":)";
  std::vector<Wrote> all;
  size_t at = record.rfind(kName);
  if (at == std::string_view::npos || !record.ends_with("]}")) return all;
  std::string_view text = record.substr(at + kName.size());
  text.remove_suffix(1);
  boost::system::error_code failed;
  json::value value = json::parse(text, failed);
  if (failed || !value.is_array()) return all;
  std::optional<Error> error;
  Place place;
  for (const json::value& each : value.get_array()) all.push_back(read_wrote(each, place, error));
  if (error) return *error;
  return all;
}

Result<Step> read_step(std::string_view record) {
  auto chain = chain_in(record);
  if (!chain) return chain.error();
  auto document = parse_json(record, "", kRecordLimits);
  if (!document) {
    return Error{.code = Code::invalid, .message = "a journal record is damaged: " + to_string(document.error())};
  }
  std::optional<Error> error;
  Step step = read_members(document->root, error);
  if (!error && write_step(step, *chain) != record) {
    error = Error{.code = Code::invalid, .message = "it is not spelt as Sluice spells it"};
  }
  if (!error) return step;
  error->message = "journal record " + std::to_string(step.seq) + ": " + to_string(*error);
  error->path.clear();
  return *std::move(error);
}

Result<std::string> chain_in(std::string_view record) {
  if (record.starts_with(kChainStart)) {
    std::string_view chain = record.substr(kChainStart.size(), kFirstChain.size());
    if (is_hash(chain) && record.substr(kChainStart.size() + chain.size()).starts_with('"')) return std::string(chain);
  }
  return Error{.code = Code::invalid,
               .message = R"(a journal record is damaged: it does not begin with {"chain":" and 64 hex digits)"};
}

std::string chain_of(std::string_view record) { return crypto::to_hex(crypto::sha256(record)); }

}  // namespace sluice::engine
