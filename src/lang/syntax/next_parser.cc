// An action with arguments, a view, or a sentence; each may have a condition.
#include "lang/syntax/next_parser.h"

namespace sluice::lang {

std::vector<Next> parse_next_steps(Cursor& cursor, Dialect dialect) {
  std::vector<Next> steps;
  while (cursor.at("next") && cursor.after().is(":")) {
    Next next{.at = cursor.take().at};
    cursor.take();
    if (cursor.at(Token::Kind::string)) {
      next.text = parse_value(cursor, dialect);
    } else if (cursor.at("view") && cursor.after().kind == Token::Kind::string) {
      cursor.take();
      next.view.at = cursor.peek().at;
      next.view.text = cursor.expect_string("the view's name");
    } else {
      next.concept_ = cursor.expect_name("a concept's name, `view` or a sentence");
      cursor.expect("/", "between concept and action");
      next.action = cursor.expect_name("an action's name");
    }
    if (!next.text && cursor.accept("[")) next.arguments = parse_arguments(cursor, dialect, "]");
    if (cursor.accept("if")) next.condition = parse_condition(cursor, dialect);
    cursor.skip_separators();
    if (cursor.stopped()) break;
    steps.push_back(std::move(next));
  }
  return steps;
}

}  // namespace sluice::lang
