// Replacing is plain searching: the texts are few, and what is shown is small.
#include "render/taint.h"

#include <algorithm>

#include "base/json.h"
#include "crypto/base64.h"

namespace sluice::rendering {

void Taint::add_form(std::string form) {
  if (form.size() < kShortest || std::ranges::find(inside_, form) != inside_.end()) return;
  inside_.push_back(std::move(form));
  std::ranges::stable_sort(inside_, [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

void Taint::add(std::string_view secret) {
  if (secret.empty() || !whole_.insert(std::string(secret)).second) return;
  whole_.insert(crypto::to_base64(secret));
  if (secret.size() < kShortest) return;
  add_form(std::string(secret));
  // Without the characters that depend on what stands beside it.
  for (size_t shift = 0; shift < 3; ++shift) {
    std::string encoded = crypto::to_base64(std::string(shift, ' ') + std::string(secret));
    const size_t begin = shift == 0 ? 0 : shift + 1;
    const size_t bits = (shift + secret.size()) * 8;
    add_form(encoded.substr(begin, bits / 6 - begin));
  }
  const std::string quoted = write(json::value(secret));
  add_form(quoted.substr(1, quoted.size() - 2));
}

void Taint::add_secret_object(const json::value& object) {
  const json::object* root = object.if_object();
  if (root == nullptr || root->if_contains("kind") == nullptr || root->at("kind") != json::value("Secret")) return;
  for (const char* name : {"data", "stringData"}) {
    const json::value* values = root->if_contains(name);
    if (values == nullptr || !values->is_object()) continue;
    for (const auto& each : values->get_object()) {
      if (!each.value().is_string()) continue;
      add(each.value().get_string());
      auto decoded = crypto::from_base64(each.value().get_string());
      if (decoded && std::string_view(name) == "data") add(*decoded);
    }
  }
}

std::string Taint::redacted(std::string_view text) const {
  if (whole_.contains(std::string(text))) return std::string(kRedacted);
  std::string made(text);
  for (const std::string& each : inside_) {
    for (size_t at = made.find(each); at != std::string::npos; at = made.find(each, at + kRedacted.size())) {
      made.replace(at, each.size(), kRedacted);
    }
  }
  return made;
}

json::value Taint::redacted(const json::value& value) const {
  if (value.is_string()) return json::value(redacted(std::string_view(value.get_string())));
  if (const json::array* array = value.if_array()) {
    json::array made;
    for (const json::value& each : *array) made.push_back(redacted(each));
    return made;
  }
  const json::object* object = value.if_object();
  if (object == nullptr) return value;
  if (object->contains("$secret") || object->contains("$sealedSecret")) return json::value(kRedacted);
  const json::value* kind = object->if_contains("kind");
  const bool secret = kind != nullptr && *kind == json::value("Secret");
  json::object made;
  for (const auto& each : *object) {
    if (secret && (each.key() == "data" || each.key() == "stringData") && each.value().is_object()) {
      json::object hidden;
      for (const auto& inner : each.value().get_object()) hidden.emplace(inner.key(), kRedacted);
      made.emplace(each.key(), std::move(hidden));
    } else {
      made.emplace(each.key(), redacted(each.value()));
    }
  }
  return made;
}

}  // namespace sluice::rendering
