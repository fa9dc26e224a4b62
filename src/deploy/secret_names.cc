// Names are paths of two or three words.
#include "deploy/secret_names.h"

#include <algorithm>
#include <vector>

#include "base/ascii.h"
#include "base/terminal.h"

namespace sluice::deploy {
namespace {

constexpr std::string_view kScheme = "secret://";
constexpr size_t kMaxSecretName = 300;

std::vector<std::string_view> words_of(std::string_view path) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t slash = path.find('/');
    words.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return words;
    path.remove_prefix(slash + 1);
  }
}

bool is_word(std::string_view word) {
  auto fits = [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.'; };
  return !word.empty() && word.front() != '.' && std::ranges::all_of(word, fits);
}

}  // namespace

Result<SecretReference> parse_secret_reference(std::string_view reference) {
  const Error none{.code = Code::invalid,
                   .message = "'" + printable(reference.substr(0, kMaxSecretName)) +
                              "' refers to no secret: expected secret://ENVIRONMENT/BUNDLE/NAME"};
  if (!reference.starts_with(kScheme)) return none;
  auto words = words_of(reference.substr(kScheme.size()));
  if (words.size() < 3 || words.size() > 4 || !std::ranges::all_of(words, is_word)) return none;
  std::string name(words[1]);
  if (words.size() == 4 && words[2] != words[1]) name += "/" + std::string(words[2]);
  return SecretReference{.environment = std::string(words[0]), .name = name + "/" + std::string(words.back())};
}

std::string fault_of_secret_name(std::string_view name) {
  const auto words = words_of(name);
  const std::string shown = "'" + printable(name.substr(0, kMaxSecretName)) + "' names no secret: ";
  if (name.size() > kMaxSecretName) return shown + "it is longer than 300 characters";
  if (words.size() < 2 || words.size() > 3) return shown + "expected BUNDLE/NAME, such as hello/API_KEY";
  if (!std::ranges::all_of(words, is_word)) return shown + "its words have letters, digits, _, - and . alone";
  return "";
}

std::string variable_of_secret(std::string_view name) {
  std::string variable;
  for (char c : name) {
    variable += is_lower(c) ? static_cast<char>(c - 'a' + 'A') : is_letter(c) || is_digit(c) ? c : '_';
  }
  return variable;
}

}  // namespace sluice::deploy
