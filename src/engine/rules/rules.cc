// Expressions and matchers: compiled once, evaluated on bindings.
#include "engine/rules/rules.h"

#include <algorithm>
#include <cassert>
#include <span>

#include "base/ulid.h"
#include "crypto/sha256.h"
#include "lang/run/values.h"

namespace sluice::engine {

using Op = lang::Expr::Op;

// ------------------------------------------------------------------------------------------------------- slots

Slots::Slots(const std::vector<lang::VariableSymbol>& variables) {
  for (const lang::VariableSymbol& each : variables) slot(each.name);
}

size_t Slots::slot(const std::string& name) {
  auto [place, fresh] = by_name_.try_emplace(name, size_);
  if (fresh) {
    ++size_;
    if (in_own_) own_.push_back(name);
  }
  return place->second;
}

void Slots::begin_own() { in_own_ = true; }

void Slots::end_own() {
  for (const std::string& name : own_) by_name_.erase(name);
  own_.clear();
  in_own_ = false;
}

// ------------------------------------------------------------------------------------------------- expressions

Expression::Expression(const lang::Expr& source, Slots& slots)
    : op_(source.op), value_(source.value), name_(source.name), keys_(source.keys), parts_(source.parts) {
  if (op_ == Op::variable) slot_ = slots.slot(source.name);
  if (op_ == Op::call) {
    static const std::map<std::string, Call> kCalls = {{"uuid", Call::uuid},
                                                       {"now", Call::now},
                                                       {"concat", Call::concat},
                                                       {"cond", Call::cond},
                                                       {"nameOf", Call::name_of}};
    auto found = kCalls.find(source.name);
    if (found != kCalls.end()) call_ = found->second;
  }
  args_.reserve(source.args.size());
  for (const lang::Expr& arg : source.args) args_.emplace_back(arg, slots);
}

void Expression::gather(std::vector<size_t>& slots) const {
  if (op_ == Op::variable) slots.push_back(slot_);
  for (const Expression& arg : args_) arg.gather(slots);
}

bool Expression::holds(const Bindings& bindings, const Moment& moment) const {
  Value value = evaluate(bindings, moment);
  return value && value->is_bool() && value->get_bool();
}

Value Expression::evaluate(const Bindings& bindings, const Moment& moment) const {
  switch (op_) {
    case Op::literal:
      return value_.is_null() ? Value() : Value(value_);
    case Op::variable: {
      const Value& value = bindings[slot_];
      return value && value->is_null() ? Value() : value;
    }
    case Op::path: {
      Value base = args_[0].evaluate(bindings, moment);
      if (!base || !base->is_object()) return std::nullopt;
      const json::value* found = member(base->get_object(), name_);
      return found == nullptr ? Value() : Value(*found);
    }
    case Op::list: {
      json::array list;
      for (const Expression& arg : args_) list.emplace_back(arg.evaluate(bindings, moment).value_or(nullptr));
      return list;
    }
    case Op::record: {
      json::object record;
      for (size_t i = 0; i < keys_.size() && i < args_.size(); ++i) {
        if (Value value = args_[i].evaluate(bindings, moment)) record[keys_[i]] = std::move(*value);
      }
      return record;
    }
    case Op::text: {
      std::string text = parts_.empty() ? "" : parts_[0];
      for (size_t i = 0; i < args_.size(); ++i) {
        text += text_of(args_[i].evaluate(bindings, moment));
        text += parts_[i + 1];
      }
      return json::value(text);
    }
    case Op::call:
      return call(bindings, moment);
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
      return json::value(compare(bindings, moment));
    case Op::in:
      return json::value(is_in(bindings, moment));
    case Op::not_in:
      return json::value(!is_in(bindings, moment));
    case Op::all:
      return json::value(std::ranges::all_of(args_, [&](const auto& arg) { return arg.holds(bindings, moment); }));
    case Op::any:
      return json::value(std::ranges::any_of(args_, [&](const auto& arg) { return arg.holds(bindings, moment); }));
    case Op::negation:
      return json::value(!args_[0].holds(bindings, moment));
    case Op::wildcard:
    case Op::forall:
    case Op::exists:
    case Op::fixture:
      break;  // the checker lets none of these into a rule
  }
  return std::nullopt;
}

Value Expression::call(const Bindings& bindings, const Moment& moment) const {
  switch (call_) {
    case Call::uuid:
      return json::value(moment.new_id());
    case Call::now:
      return json::value(lang::to_text(lang::DateTime{moment.now_ms}));
    case Call::concat: {
      std::string text;
      for (const Expression& arg : args_) text += text_of(arg.evaluate(bindings, moment));
      return json::value(text);
    }
    case Call::cond:
      return args_[args_[0].holds(bindings, moment) ? 1 : 2].evaluate(bindings, moment);
    case Call::name_of: {
      // The last part of a URI: `urn:sluice/Rollout` and `kits/Rollout` are called Rollout.
      std::string text = text_of(args_[0].evaluate(bindings, moment));
      size_t cut = text.find_last_of("/#");
      if (cut == std::string::npos) cut = text.find_last_of(':');
      return json::value(cut == std::string::npos ? text : text.substr(cut + 1));
    }
    case Call::none:
      break;
  }
  return std::nullopt;
}

bool Expression::compare(const Bindings& bindings, const Moment& moment) const {
  Value left = args_[0].evaluate(bindings, moment), right = args_[1].evaluate(bindings, moment);
  if (op_ == Op::equal || op_ == Op::not_equal) {
    bool same = left && right ? equal(*left, *right) : left.has_value() == right.has_value();
    return same == (op_ == Op::equal);
  }
  // Only numbers and strings have an order, and only among their own kind.
  if (!left || !right) return false;
  bool numbers = left->is_number() && right->is_number();
  bool strings = left->is_string() && right->is_string();
  if (!numbers && !strings) return false;
  auto found = order(*left, *right);
  switch (op_) {
    case Op::less:
      return std::is_lt(found);
    case Op::less_equal:
      return std::is_lteq(found);
    case Op::greater:
      return std::is_gt(found);
    default:
      return std::is_gteq(found);
  }
}

bool Expression::is_in(const Bindings& bindings, const Moment& moment) const {
  Value wanted = args_[0].evaluate(bindings, moment);
  if (!wanted) return false;
  const Expression& many = args_[1];
  if (many.op_ == Op::list || many.op_ == Op::record) {
    return std::ranges::any_of(many.args_, [&](const Expression& each) {
      Value value = each.evaluate(bindings, moment);
      return value && equal(*wanted, *value);
    });
  }
  Value list = many.evaluate(bindings, moment);
  if (!list || !list->is_array()) return false;
  return std::ranges::any_of(list->get_array(), [&](const json::value& each) { return equal(*wanted, each); });
}

// ---------------------------------------------------------------------------------------------------- matchers

Matcher::Matcher(const lang::Expr& source, Slots& slots) {
  switch (source.op) {
    case Op::literal:
      kind_ = Kind::literal;
      literal_ = source.value;
      break;
    case Op::variable:
      kind_ = Kind::variable;
      slot_ = slots.slot(source.name);
      maybe_ = source.maybe;
      break;
    case Op::record:
      kind_ = Kind::record;
      for (size_t i = 0; i < source.keys.size(); ++i)
        fields_.emplace_back(source.keys[i], Matcher(source.args[i], slots));
      break;
    default:
      kind_ = Kind::wildcard;
  }
}

Matcher Matcher::variable(size_t slot) {
  Matcher matcher;
  matcher.kind_ = Kind::variable;
  matcher.slot_ = slot;
  return matcher;
}

bool Matcher::fits(const json::value* value, Bindings& bindings, std::vector<size_t>& bound) const {
  switch (kind_) {
    case Kind::wildcard:
      return true;
    case Kind::literal:
      return is(value);
    case Kind::variable: {
      bool there = value != nullptr && !value->is_null();
      if (!there && !maybe_) return false;
      Value& slot = bindings[slot_];
      if (slot) return there ? equal(*slot, *value) : slot->is_null();
      slot = there ? *value : json::value();
      bound.push_back(slot_);
      return true;
    }
    case Kind::record: {
      if (value == nullptr || !value->is_object()) return false;
      const json::object& object = value->get_object();
      return std::ranges::all_of(
          fields_, [&](const auto& field) { return field.second.fits(member(object, field.first), bindings, bound); });
    }
  }
  return false;
}

bool Matcher::is(const json::value* value) const {
  if (value == nullptr || value->is_null()) return literal_.is_null();
  return equal(literal_, *value);
}

void Matcher::gather(std::vector<size_t>& slots) const {
  if (kind_ == Kind::variable) slots.push_back(slot_);
  for (const auto& [name, inner] : fields_) inner.gather(slots);
}

const json::value* Matcher::wanted(const Bindings& bindings) const {
  if (kind_ == Kind::literal && !literal_.is_null()) return &literal_;
  if (kind_ == Kind::variable && bindings[slot_] && !bindings[slot_]->is_null()) return &*bindings[slot_];
  return nullptr;
}

std::vector<FieldMatcher> compile_fields(const std::vector<lang::FieldPattern>& source, Slots& slots) {
  std::vector<FieldMatcher> fields;
  for (const lang::FieldPattern& each : source) {
    fields.push_back({each.field, Matcher(each.match, slots)});
    if (each.as) fields.push_back({each.field, Matcher::variable(slots.slot(each.as->text))});
  }
  // What is compared with a literal is cheapest to refuse.
  std::ranges::stable_partition(fields, [](const FieldMatcher& each) {
    std::vector<size_t> slots;
    each.matcher.gather(slots);
    return slots.empty();
  });
  return fields;
}

bool fit_all(const std::vector<FieldMatcher>& fields, const json::object& object, Bindings& bindings,
             std::vector<size_t>& bound) {
  return std::ranges::all_of(fields, [&](const FieldMatcher& each) {
    return each.matcher.fits(member_at(object, each.field), bindings, bound);
  });
}

void unbind(Bindings& bindings, std::vector<size_t>& bound, size_t down_to) {
  for (; bound.size() > down_to; bound.pop_back()) bindings[bound.back()].reset();
}

// --------------------------------------------------------------------------------------------------- arguments

std::vector<CompiledArgument> compile_arguments(const std::vector<lang::Argument>& source, Slots& slots) {
  std::vector<CompiledArgument> arguments;
  for (const lang::Argument& each : source) arguments.push_back({each.name, Expression(each.value, slots)});
  return arguments;
}

json::object evaluate(const std::vector<CompiledArgument>& arguments, const Bindings& bindings, const Moment& moment) {
  json::object object;
  for (const CompiledArgument& each : arguments) {
    if (Value value = each.value.evaluate(bindings, moment)) object[each.name] = std::move(*value);
  }
  return object;
}

std::string relation_name(const lang::Symbols& symbols, size_t concept_, size_t relation) {
  const lang::ConceptSymbol& owner = symbols.concepts[concept_];
  const lang::RelationSymbol& rows = owner.relations[relation];
  if (!rows.name.empty()) return owner.name + "." + rows.name;
  if (!rows.keyed) return owner.name + "[]";
  const lang::Shape& key = symbols.types[rows.key];
  std::string domain = key.kind == lang::Shape::Kind::parameter ? key.name : symbols.types.name(rows.key);
  bool first = owner.source != nullptr && !owner.source->params.empty() && owner.source->params[0].text == domain;
  return first ? owner.name : owner.name + "[" + domain + "]";
}

std::function<std::string()> id_source(int64_t now_ms, std::string seed) {
  return [now_ms, seed = std::move(seed), counter = uint64_t{0}]() mutable {
    crypto::Sha256 digest = crypto::sha256(seed + "\n" + std::to_string(counter++));
    return to_string(
        Ulid::from(now_ms, std::span<const uint8_t, Ulid::kRandomBytes>(digest.data(), Ulid::kRandomBytes)));
  };
}

}  // namespace sluice::engine
