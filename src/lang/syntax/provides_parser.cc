// Of the two separators, `,` stands between the variants that share a target, `;` between mappings.
#include "lang/syntax/provides_parser.h"

#include "lang/syntax/expression_parser.h"

namespace sluice::lang {
namespace {

std::vector<Argument> parse_fields(Cursor& cursor) {
  return cursor.accept("[") ? parse_arguments(cursor, Dialect::field, "]") : std::vector<Argument>{};
}

// `ok`, `a, b -> variant[ field: value ]` or `else -> variant[ … ]`
ProvidedVariant parse_mapping(Cursor& cursor) {
  ProvidedVariant mapping{.at = cursor.peek().at};
  bool otherwise = cursor.accept("else");
  if (!otherwise) {
    do {
      mapping.from.push_back(cursor.expect_name("a variant of the provider's action, or `else`"));
    } while (cursor.accept(","));
  }
  if (otherwise && !cursor.at("->")) cursor.fail_here("`->` after `else`", "write `else -> variant`");
  if (cursor.accept("->")) {
    mapping.to = cursor.expect_name("a variant of the coordination action");
    mapping.fields = parse_fields(cursor);
  }
  return mapping;
}

ProvidedAction parse_provided(Cursor& cursor) {
  ProvidedAction provided{.at = cursor.peek().at};
  provided.action = cursor.expect_name("an action of the coordination concept");
  cursor.expect("->", "after the coordination action");
  provided.target = cursor.expect_name("the action that does the work, or a variant to answer with");
  provided.arguments = parse_fields(cursor);
  provided.at_once = !cursor.accept("{");
  if (provided.at_once) return provided;
  cursor.skip_separators();
  while (!cursor.at("}") && !cursor.ended()) {
    provided.variants.push_back(parse_mapping(cursor));
    cursor.skip_separators();
  }
  cursor.expect("}", "to close the variants");
  return provided;
}

}  // namespace

Provides parse_provides(Cursor& cursor) {
  Provides provides{.at = cursor.peek().at};
  cursor.expect("provides", "");
  provides.concept_ = cursor.expect_name("the coordination concept's name");
  cursor.expect("{", "after its name");
  cursor.skip_separators();
  while (!cursor.at("}") && !cursor.ended()) {
    provides.actions.push_back(parse_provided(cursor));
    cursor.skip_separators();
  }
  cursor.expect("}", "to close `provides`");
  return provides;
}

}  // namespace sluice::lang
