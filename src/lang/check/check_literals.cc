// Literals as sorted fields and texts.
#include "lang/check/check_literals.h"

#include <algorithm>

#include "lang/check/check_parts.h"

namespace sluice::lang {
namespace {

void add_literal(Literals& literals, const std::string& field, const Expr& value) {
  if (value.op != Expr::Op::literal) return;
  double number = value.value.is_double() ? value.value.get_double() : 0.5;
  bool whole = number > -1e15 && number < 1e15 && number == static_cast<double>(static_cast<int64_t>(number));
  literals[field] = whole ? std::to_string(static_cast<int64_t>(number)) : literal_text(value.value);
}

// The field that most of them name.
std::string most_named(const std::vector<const Literals*>& wanted) {
  std::map<std::string, size_t> named;
  for (const Literals* each : wanted) {
    for (const auto& [field, text] : *each) ++named[field];
  }
  auto most = std::ranges::max_element(named, {}, [](const auto& each) { return each.second; });
  return most == named.end() ? "" : most->first;
}

}  // namespace

Literals literals_of(const std::vector<Argument>& given) {
  Literals literals;
  for (const Argument& each : given) add_literal(literals, each.name, each.value);
  return literals;
}

Literals literals_of(const std::vector<FieldPattern>& wanted) {
  Literals literals;
  for (const FieldPattern& each : wanted) add_literal(literals, each.field, each.match);
  return literals;
}

bool agree(const Literals& given, const Literals& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& each) {
    auto found = given.find(each.first);
    return found == given.end() || found->second == each.second;
  });
}

std::optional<std::vector<std::vector<uint32_t>>> agreeing(const std::vector<const Literals*>& given,
                                                           const std::vector<const Literals*>& wanted, size_t& left) {
  std::string field = most_named(wanted);
  std::map<std::string, std::vector<uint32_t>> by_text;
  std::vector<uint32_t> free, all;
  for (uint32_t w = 0; w < wanted.size(); ++w) {
    auto found = wanted[w]->find(field);
    (found == wanted[w]->end() ? free : by_text[found->second]).push_back(w);
    all.push_back(w);
  }
  size_t comparisons = 0;
  for (const Literals* each : given) {
    auto text = each->find(field);
    comparisons += text == each->end() ? all.size() : by_text[text->second].size() + free.size();
  }
  if (comparisons > left) return std::nullopt;
  left -= comparisons;
  std::vector<std::vector<uint32_t>> found(given.size());
  for (size_t g = 0; g < given.size(); ++g) {
    auto add = [&](const std::vector<uint32_t>& those) {
      for (uint32_t w : those) {
        if (agree(*given[g], *wanted[w])) found[g].push_back(w);
      }
    };
    auto text = given[g]->find(field);
    add(text == given[g]->end() ? all : free);
    if (text != given[g]->end()) add(by_text[text->second]);
  }
  return found;
}

std::string to_string(const Literals& literals) {
  std::string text;
  for (const auto& [field, value] : literals) text += (text.empty() ? ": [ " : "; ") + field + ": " + value;
  return text.empty() ? text : text + " ]";
}

}  // namespace sluice::lang
