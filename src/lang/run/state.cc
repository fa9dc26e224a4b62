// Keys of elements, and the errors of rows that cannot be what they are.
#include "lang/run/state.h"

#include <charconv>

#include "base/json.h"

namespace sluice::lang::rows {
namespace {

constexpr size_t kPage = 256;

}  // namespace

void throw_unreadable(std::string_view relation, std::string_view key, const Error& error) {
  throw std::runtime_error("the row \"" + std::string(key) + "\" of " + std::string(relation) +
                           " is not readable: " + to_string(error));
}

void check_key(std::string_view relation, std::string_view key) {
  if (key.empty()) throw std::invalid_argument("a row of " + std::string(relation) + " has an empty key");
  if (key.find('\0') != std::string_view::npos) {
    throw std::invalid_argument("a row of " + std::string(relation) + " has a NUL in its key");
  }
}

std::string number_key(int64_t number) {
  std::string digits = std::to_string(number);
  return digits.size() < 19 ? std::string(19 - digits.size(), '0') + digits : digits;
}

int64_t number_of(std::string_view element) {
  int64_t number = 0;
  std::from_chars(element.data(), element.data() + element.size(), number);
  return number;
}

std::string value_key(const json::value& value) { return write(value); }

size_t count(const Rows& rows, std::string_view relation, std::string_view prefix) {
  size_t total = 0;
  std::vector<Row> page = rows.scan(relation, prefix, {}, kPage);
  while (!page.empty()) {
    total += page.size();
    page = rows.scan(relation, prefix, page.back().key, kPage);
  }
  return total;
}

void erase_all(Rows& rows, std::string_view relation, std::string_view prefix) {
  for (auto page = rows.scan(relation, prefix, {}, kPage); !page.empty();
       page = rows.scan(relation, prefix, {}, kPage)) {
    for (const Row& row : page) rows.erase(relation, row.key);
  }
}

}  // namespace sluice::lang::rows
