// What is in use is read from the state whenever that has changed; providers are asked about it.
#include "deploy/secret_watch.h"

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>

#include "base/atomic_file.h"
#include "base/json.h"
#include "deploy/dotenv.h"
#include "deploy/secret_names.h"
#include "deploy/views/answers.h"
#include "deploy/views/secrets.h"

namespace sluice::deploy {
namespace {

constexpr size_t kMaxWatchedFile = 4 << 20;

Result<std::optional<std::string>> version_of(ValueVersions& versions, const std::string& environment,
                                              const std::string& name, const std::string& value) {
  auto version = versions.of(environment, name, value);
  if (!version) return version.error();
  return std::optional(*std::move(version));
}

}  // namespace

NewestVersion newest_variable(Variables variables, ValueVersions& versions) {
  return [variables = std::move(variables), &versions](const std::string& environment, const std::string& name,
                                                       const PackAnswer& answer) -> Result<std::optional<std::string>> {
    auto value = variables(answer("prefix") + variable_of_secret(name));
    if (!value) return std::optional<std::string>();
    return version_of(versions, environment, name, *value);
  };
}

NewestVersion newest_in_file(Disk& disk, ValueVersions& versions) {
  return [&disk, &versions](const std::string& environment, const std::string& name,
                            const PackAnswer& answer) -> Result<std::optional<std::string>> {
    auto text = read_file(disk, answer("file"), kMaxWatchedFile);
    if (!text) return text.error();
    auto parsed = parse_dotenv(*text);
    if (const auto* fault = std::get_if<DotenvFault>(&parsed))
      return Error{.code = Code::invalid, .message = fault->what};
    const auto& all = std::get<0>(parsed);
    auto found = all.find(variable_of_secret(name));
    if (found == all.end()) return std::optional<std::string>();
    return version_of(versions, environment, name, found->second);
  };
}

SecretWatch::~SecretWatch() {
  if (looking_.valid()) looking_.wait();
}

void SecretWatch::compare(const lang::Snapshot& snapshot, const Tell& tell) {
  for (const views::OldBinding& each : views::old_secrets_bindings(snapshot)) {
    if (!rebound_.insert(each.environment).second) continue;
    tell("Env/rebind", {{"environment", each.environment}, {"slot", "secrets"}, {"kind", each.kind}});
  }
  used_.clear();
  for (const views::SecretInUse& each : views::secrets_in_use(snapshot)) {
    if (!providers_.contains(each.provider)) continue;
    auto answers = views::answers_of_slot(snapshot, disk_, each.environment, "secrets");
    if (!answers) continue;
    Used one{each.environment, each.provider, each.name, each.version, answers->values};
    if (std::ranges::find(used_, one) == used_.end()) used_.push_back(std::move(one));
  }
}

std::vector<SecretWatch::Seen> SecretWatch::newest_of(const std::vector<Used>& used) const {
  std::vector<Seen> all;
  for (const Used& each : used) {
    const views::SlotAnswers answers{each.answers};
    auto newest = providers_.at(each.kind)(each.environment, each.name,
                                           [&](std::string_view name) { return answers.text(name); });
    // One that is away or has lost it is asked again; what runs keeps what it has.
    all.push_back({each, newest ? *std::move(newest) : std::nullopt});
  }
  return all;
}

void SecretWatch::tell_newer(const std::vector<Seen>& all, const Tell& tell) {
  std::map<std::string, std::string> told;
  for (const Seen& each : all) {
    const std::string key = each.used.environment + " " + each.used.name;
    auto before = told_.find(key);
    if (!each.newest && before != told_.end()) told.insert(*before);
    if (!each.newest || *each.newest == each.used.version) continue;
    const bool fresh = told.insert_or_assign(key, *each.newest).second;
    if (!fresh || (before != told_.end() && before->second == *each.newest)) continue;
    tell("Secret/noticed", {{"name", each.used.name},
                            {"provider", each.used.kind},
                            {"environment", each.used.environment},
                            {"version", *each.newest}});
  }
  told_ = std::move(told);
}

void SecretWatch::look(const Tell& tell) {
  if (looking_.valid()) {
    if (looking_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    tell_newer(looking_.get(), tell);
  }
  if (clock_.monotonic_ns() - looked_ns_ < kEvery_ns || used_.empty()) return;
  looked_ns_ = clock_.monotonic_ns();
  looking_ = std::async(std::launch::async, [this, used = used_] { return newest_of(used); });
}

}  // namespace sluice::deploy
