// In the supervisor's file in memory secrets are one JSON object of strings.
#include "process/secrets.h"

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"

namespace sluice::process {
namespace {

constexpr size_t kFirstFile = 3;

}  // namespace

Result<Descriptor> seal(const Secrets& secrets) { return sealed_memory("secrets", write(to_json(secrets))); }

Result<Secrets> unseal(std::string_view sealed) {
  const Error unreadable{.code = Code::invalid, .message = "the secrets that were handed over cannot be read"};
  auto document = parse_json(sealed);
  if (!document) return unreadable;
  auto secrets = read<Secrets>(*document);
  if (!secrets) return unreadable;
  return *std::move(secrets);
}

Result<HandedSecrets> HandedSecrets::take(std::string_view sealed, SecretsAs as) {
  auto secrets = unseal(sealed);
  if (!secrets) return secrets.error();
  HandedSecrets handed;
  for (const auto& [name, value] : *secrets) {
    if (as == SecretsAs::env) {
      handed.variables_[name] = value;
      continue;
    }
    auto file = sealed_memory(name, value);
    if (!file) return file.error();
    handed.variables_[name] = "/proc/self/fd/" + std::to_string(kFirstFile + handed.files_.size());
    handed.files_.push_back(std::move(*file));
  }
  return handed;
}

std::vector<int> HandedSecrets::descriptors() const {
  std::vector<int> numbers;
  for (const Descriptor& each : files_) numbers.push_back(each.fd());
  return numbers;
}

}  // namespace sluice::process
