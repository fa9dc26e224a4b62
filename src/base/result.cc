// How positions and errors read as text, and where a Result keeps its error.
#include "base/result.h"

#include "base/terminal.h"

namespace sluice {

std::string to_string(const Position& position) {
  std::string text = position.file;
  if (!text.empty()) text += ':';
  return text + std::to_string(position.line) + ':' + std::to_string(position.column);
}

std::string to_string(const Error& error) {
  std::string text;
  if (error.position) text += to_string(*error.position) + ": ";
  if (!error.path.empty()) text += printable(error.path) + ": ";  // names in it are anybody's
  return text + error.message;
}

namespace result {

Error* keep(Error error) { return new Error(std::move(error)); }
Error* copy(const Error* error) { return error == nullptr ? nullptr : new Error(*error); }
void drop(Error* error) noexcept { delete error; }

}  // namespace result

}  // namespace sluice
