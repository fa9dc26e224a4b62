// Walks the tree. A failure is a value that everything hands on but `||`, `&&`, all() and exists().
#include "render/cel/evaluate.h"

#include <algorithm>
#include <cmath>

namespace sluice::cel {
namespace {

class Evaluation {
 public:
  Evaluation(const Environment& environment, std::span<const Value> variables, size_t slots, Arena& arena,
             Budget budget)
      : environment_(environment), arena_(arena), steps_(budget.steps), slots_(slots) {
    std::copy(variables.begin(), variables.begin() + static_cast<long>(std::min(variables.size(), slots)),
              slots_.begin());
    given_ = variables.size();
  }

  Value of(const Node& node) {
    if (steps_ == 0) return arena_.fault("the expression takes too many steps", node.offset);
    --steps_;
    if (!arena_.fits(0)) return arena_.fault("the expression takes too much memory", node.offset);
    switch (node.what) {
      case Syntax::constant:
        return node.constant;
      case Syntax::name:
        return variable(node);
      case Syntax::select:
        return node.slot >= 0 ? variable(node) : select(node);
      case Syntax::index:
        return index(node);
      case Syntax::call:
        return call(node);
      case Syntax::list:
        return list(node);
      case Syntax::map:
        return map(node);
      case Syntax::conditional:
        return conditional(node);
      case Syntax::every:
        return chain(node, false);
      case Syntax::some:
        return chain(node, true);
      case Syntax::loop:
        return loop(node);
      case Syntax::optional_map:
        return optional_map(node);
      case Syntax::bind:
        return bind(node);
    }
    return {};
  }

 private:
  Value fault(const Node& node, std::string_view text) { return arena_.fault(text, node.offset); }

  Value variable(const Node& node) {
    const auto slot = static_cast<size_t>(node.slot);
    if (slot < environment_.variables() && slot >= given_) {
      return fault(node, "there is no value for '" + environment_.name_of(node.slot) + "'");
    }
    return slots_[slot];
  }

  Value select(const Node& node) {
    Value target = of(node.parts[0]);
    if (target.failed()) return target;
    bool within_optional = node.optional;
    if (target.is(Kind::optional)) {
      if (!target.inner) return node.test ? Value::of(false) : target;
      target = *target.inner;
      within_optional = true;
    }
    if (!target.is(Kind::map)) {
      return fault(node, "a value of type " + std::string(name_of(target.kind)) + " has no field '" + node.text + "'");
    }
    const Value* found = target.map->find(Value::string(node.text));
    if (node.test) return Value::of(found != nullptr);
    return there_or_not(node, found, within_optional, [&] { return "no such key: '" + node.text + "'"; });
  }

  template <class Message>
  Value there_or_not(const Node& node, const Value* found, bool optional, Message message) {
    if (!optional) return found ? *found : fault(node, message());
    return found ? arena_.optional(*found) : Value::optional(nullptr);
  }

  Value index(const Node& node) {
    Value target = of(node.parts[0]);
    if (target.failed()) return target;
    const Value at = of(node.parts[1]);
    if (at.failed()) return at;
    bool within_optional = node.optional;
    if (target.is(Kind::optional)) {
      if (!target.inner) return target;
      target = *target.inner;
      within_optional = true;
    }
    if (target.is(Kind::map)) {
      return there_or_not(node, target.map->find(at), within_optional, [] { return std::string("no such key"); });
    }
    if (!target.is(Kind::list)) {
      return fault(node, "a value of type " + std::string(name_of(target.kind)) + " has no index");
    }
    if (!at.number()) return fault(node.parts[1], "the index of a list is a whole number");
    const auto items = target.list->items;
    double whole = 0;
    if (at.is(Kind::real) && std::modf(at.real, &whole) != 0)
      return fault(node.parts[1], "the index of a list is a whole number");
    const bool inside = compare(at, Value::of(int64_t{0})).value_or(-1) >= 0 &&
                        compare(at, Value::of(static_cast<int64_t>(items.size()))).value_or(1) < 0;
    const size_t place = !inside                ? 0
                         : at.is(Kind::integer) ? static_cast<size_t>(at.integer)
                         : at.is(Kind::real)    ? static_cast<size_t>(at.real)
                                                : at.unsigned_integer;
    return there_or_not(node, inside ? &items[place] : nullptr, within_optional, [&] {
      return "index out of range: the list has " + std::to_string(items.size()) + " elements";
    });
  }

  // Values of a call's arguments, on a stack of their own: most calls have one or two.
  Value call(const Node& node) {
    if (node.receiver && node.parts.size() == 2 && (node.text == "or" || node.text == "orValue")) {
      const Value target = of(node.parts[0]);
      if (target.is(Kind::optional)) {
        if (!target.inner) return of(node.parts[1]);
        return node.text == "or" ? target : *target.inner;
      }
      if (target.failed()) return target;
    }
    const size_t begin = given_values_.size();
    for (const auto& part : node.parts) {
      const Value value = of(part);
      if (value.failed()) {
        given_values_.resize(begin);
        return value;
      }
      given_values_.push_back(value);
    }
    const std::span<const Value> given(given_values_.data() + begin, node.parts.size());
    Value result;
    bool called = false;
    for (const auto& overload : node.function->overloads) {
      if (overload.receiver != node.receiver || !overload.native || !overload.takes(given)) continue;
      result = overload.native({given, arena_, node.offset, environment_.zones()});
      called = true;
      break;
    }
    if (!called) result = fault(node, no_overload(node.text, given));
    given_values_.resize(begin);
    return result;
  }

  Value list(const Node& node) {
    std::vector<Value> items;
    items.reserve(node.parts.size());
    for (size_t index = 0; index < node.parts.size(); ++index) {
      Value item = of(node.parts[index]);
      if (item.failed()) return item;
      if (item.is(Kind::omitted)) continue;
      if (node.spread[index]) {
        if (!item.is(Kind::optional)) return fault(node.parts[index], "expected an optional behind '?'");
        if (!item.inner) continue;
        item = *item.inner;
      }
      items.push_back(item);
    }
    return arena_.list(items);
  }

  Value map(const Node& node) {
    std::vector<Entry> entries;
    for (size_t index = 0; index < node.parts.size(); index += 2) {
      const Value key = of(node.parts[index]);
      if (key.failed()) return key;
      Value value = of(node.parts[index + 1]);
      if (value.failed()) return value;
      if (value.is(Kind::omitted)) continue;
      if (node.spread[index / 2]) {
        if (!value.is(Kind::optional)) return fault(node.parts[index + 1], "expected an optional behind '?'");
        if (!value.inner) continue;
        value = *value.inner;
      }
      entries.push_back({key, value});
    }
    return arena_.map(entries, node.offset);
  }

  Value conditional(const Node& node) {
    const Value condition = of(node.parts[0]);
    if (condition.failed()) return condition;
    if (!condition.is(Kind::boolean)) return fault(node.parts[0], "what stands before '?' is a bool");
    return of(node.parts[condition.boolean ? 1 : 2]);
  }

  // The first part that decides, decides, even if parts before it failed.
  Value chain(const Node& node, bool deciding) {
    Value failure = Value::of(!deciding);
    for (const auto& part : node.parts) {
      if (const auto decided = step(part, of(part), deciding, failure)) return *decided;
    }
    return failure;
  }

  std::optional<Value> step(const Node& node, const Value& value, bool deciding, Value& so_far) {
    if (value.is(Kind::boolean)) {
      if (value.boolean == deciding) return value;
    } else if (!so_far.failed()) {
      so_far = value.failed() ? value : fault(node, "expected a bool, found " + std::string(name_of(value.kind)));
    }
    return std::nullopt;
  }

  // --- macros -----------------------------------------------------------------------------------------------

  // What a loop has gathered.
  struct Gathered {
    Value so_far;
    std::vector<Value> items;
    std::vector<Entry> entries;
    int64_t count = 0;
  };

  Value loop(const Node& node) {
    const Value range = of(node.parts[0]);
    if (range.failed()) return range;
    Gathered gathered;
    gathered.so_far = Value::of(node.loop == Loop::all);
    std::optional<Value> end;
    const bool two = !node.second.empty();
    if (range.is(Kind::list)) {
      int64_t place = 0;
      for (const auto& item : range.list->items) {
        if ((end = turn(node, two ? Value::of(place++) : item, item, gathered))) return *end;
      }
    } else if (range.is(Kind::map)) {
      for (const auto& entry : range.map->entries) {
        if ((end = turn(node, entry.key, entry.value, gathered))) return *end;
      }
    } else {
      return fault(node, "'" + node.text + "' goes through a list or a map, not " + std::string(name_of(range.kind)));
    }
    switch (node.loop) {
      case Loop::filter:
      case Loop::transform_list:
        return arena_.list(gathered.items);
      case Loop::transform_map:
      case Loop::transform_entry:
        return arena_.map(gathered.entries, node.offset);
      case Loop::exists_one:
        return Value::of(gathered.count == 1);
      default:
        return gathered.so_far;
    }
  }

  // One turn; a value ends the loop.
  std::optional<Value> turn(const Node& node, const Value& first, const Value& second, Gathered& gathered) {
    const auto slot = static_cast<size_t>(node.slot);
    slots_[slot] = first;
    if (!node.second.empty()) slots_[slot + 1] = second;
    if (node.conditional) {
      const Value holds = of(node.parts[1]);
      if (node.loop == Loop::all || node.loop == Loop::exists) {
        return step(node.parts[1], holds, node.loop == Loop::exists, gathered.so_far);
      }
      if (holds.failed()) return holds;
      if (!holds.is(Kind::boolean))
        return fault(node.parts[1], "expected a bool, found " + std::string(name_of(holds.kind)));
      if (!holds.boolean) return std::nullopt;
    }
    if (node.loop == Loop::exists_one) {
      ++gathered.count;
      return std::nullopt;
    }
    if (node.loop == Loop::filter) {
      gathered.items.push_back(first);
      return std::nullopt;
    }
    const Value made = of(node.parts.back());
    if (made.failed()) return made;
    if (made.is(Kind::omitted)) return std::nullopt;
    if (node.loop == Loop::transform_list) {
      gathered.items.push_back(made);
    } else if (node.loop == Loop::transform_map) {
      gathered.entries.push_back({first, made});
    } else {
      if (!made.is(Kind::map)) return fault(node, "transformMapEntry makes maps");
      gathered.entries.insert(gathered.entries.end(), made.map->entries.begin(), made.map->entries.end());
    }
    if (!arena_.fits((gathered.items.size() + 2 * gathered.entries.size()) * sizeof(Value))) {
      return fault(node, "the expression takes too much memory");
    }
    return std::nullopt;
  }

  Value optional_map(const Node& node) {
    const Value target = of(node.parts[0]);
    if (target.failed()) return target;
    if (!target.is(Kind::optional))
      return fault(node, "expected an optional, found " + std::string(name_of(target.kind)));
    if (!target.inner) return target;
    slots_[static_cast<size_t>(node.slot)] = *target.inner;
    const Value made = of(node.parts[1]);
    if (made.failed()) return made;
    if (!node.optional) return arena_.optional(made);
    if (!made.is(Kind::optional))
      return fault(node.parts[1], "optFlatMap makes optionals, not " + std::string(name_of(made.kind)));
    return made;
  }

  // What fails is not used if nobody asks for it.
  Value bind(const Node& node) {
    slots_[static_cast<size_t>(node.slot)] = of(node.parts[0]);
    return of(node.parts[1]);
  }

  const Environment& environment_;
  Arena& arena_;
  uint64_t steps_;
  std::vector<Value> slots_;
  size_t given_ = 0;
  std::vector<Value> given_values_;
};

}  // namespace

Value evaluate(const Expression& expression, const Environment& environment, std::span<const Value> variables,
               size_t slots, Arena& arena, Budget budget) {
  return Evaluation(environment, variables, slots, arena, budget).of(expression.root);
}

}  // namespace sluice::cel
