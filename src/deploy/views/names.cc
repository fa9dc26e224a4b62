// A name is looked for among what there is, so that an error can say what there is.
#include "deploy/views/names.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/clock.h"
#include "base/nearest.h"
#include "base/terminal.h"
#include "base/ulid.h"
#include "deploy/views/documents.h"

namespace sluice::deploy::views {
namespace {

constexpr size_t kMostShown = 10;

std::string quoted(const std::string& name) { return "'" + printable(name.substr(0, 80)) + "'"; }

std::string listed(const std::vector<std::string>& all) {
  std::string text;
  for (size_t i = 0; i < all.size() && i < kMostShown; ++i) text += (i == 0 ? "" : ", ") + all[i];
  if (all.size() > kMostShown) text += " and " + std::to_string(all.size() - kMostShown) + " more";
  return text;
}

Error unknown(const std::string& message, const std::vector<std::string>& candidates, const std::string& next) {
  return {.code = Code::not_found,
          .message = candidates.empty() ? message : message + "; there are: " + listed(candidates),
          .next = next};
}

std::vector<std::string> titles_of(const std::vector<deployment::DeploymentFound>& all) {
  std::vector<std::string> titles;
  for (const auto& each : all) titles.push_back(title_of(each));
  return titles;
}
std::vector<std::string> titles_of(const States& states, const std::vector<revision::RevisionFound>& all) {
  std::vector<std::string> titles;
  for (const auto& each : all) titles.push_back(title_of(states, each));
  return titles;
}

// Upper case, as ULIDs are written.
std::string as_ulid(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

struct AliasFound {
  env::EnvFound means;
  lang::DateTime until;
};
std::optional<AliasFound> alias_of(const States& states, const std::string& name) {
  for (const env::EnvFound& each : states.env().all()) {
    for (const env::EnvOtherName& alias : states.env().other_names(each.id).values()) {
      if (alias.name == name && alias.until.ms > states.env().now().ms) return AliasFound{each, alias.until};
    }
  }
  return std::nullopt;
}

struct Numbered {
  std::string bundle;
  int64_t sequence = 0;
};
std::optional<Numbered> numbered(const std::string& name) {
  size_t at = name.rfind('@');
  if (at == std::string::npos) return std::nullopt;
  Numbered found{.bundle = name.substr(0, at)};
  const char* end = name.data() + name.size();
  auto [stop, error] = std::from_chars(name.data() + at + 1, end, found.sequence);
  if (error != std::errc() || stop != end) return std::nullopt;
  return found;
}

std::vector<revision::RevisionFound> candidates(const States& states, const std::string& environment,
                                                const std::string& deployment) {
  return deployment.empty() ? live_revisions_in(states, environment) : states.revision().find_by_deployment(deployment);
}

}  // namespace

Result<env::EnvFound> find_environment(const States& states, const std::string& name) {
  if (!name.empty() && name.find('\0') == std::string::npos) {
    if (auto record = states.env().get(env::EnvId(name))) return env::EnvFound{env::EnvId(name), *record};
    if (auto alias = alias_of(states, name)) return alias->means;
  }
  std::vector<std::string> known;
  for (const env::EnvFound& each : states.env().all()) known.push_back(each.id.text());
  auto near = nearest(name, std::span<const std::string>(known));
  return unknown("there is no environment " + quoted(name) + (near ? "; did you mean " + *near + "?" : ""),
                 near ? std::vector<std::string>() : known, "view environments");
}

std::optional<std::string> alias_warning(const States& states, const std::string& name) {
  auto alias = alias_of(states, name);
  if (!alias) return std::nullopt;
  const std::string& means = alias->means.id.text();
  if (states.env().has(env::EnvId(name))) {
    return name + " is given up for " + means + "; change what still uses it, with env migrate-dev " + means;
  }
  return name + " means " + means + " until " + utc_text(alias->until.ms) + "; write " + means + " instead";
}

std::string name_of(const revision::RevisionFound& found) {
  return found.record.bundle + "@" + std::to_string(found.record.sequence);
}

std::string title_of(const deployment::DeploymentFound& found) {
  return found.id.text() + " (" + found.record.bundle + " for " + found.record.customer + ")";
}

std::string customer_of(const States& states, const revision::RevisionFound& found) {
  auto deployment = states.deployment().get(deployment::DeploymentId(found.record.deployment));
  return deployment ? deployment->customer : "";
}

std::string title_of(const States& states, const revision::RevisionFound& found) {
  return found.id.text() + " (" + name_of(found) + " for " + customer_of(states, found) + ")";
}

std::string bundle_in(const std::string& revision) {
  auto named = numbered(revision);
  return named ? named->bundle : "";
}

std::string way_to_tell(const States& states, const std::vector<revision::RevisionFound>& several) {
  std::set<std::string> customers;
  for (const auto& each : several) customers.insert(customer_of(states, each));
  return customers.size() == several.size() ? "name the customer with --customer-id" : "name one by its id";
}

std::vector<deployment::DeploymentFound> deployments_named(const States& states, const std::string& environment,
                                                           const DeploymentName& name) {
  std::vector<deployment::DeploymentFound> meant;
  const std::string wanted = as_ulid(name.deployment);
  for (const auto& each : states.deployment().find_by_environment(environment)) {
    if (!wanted.empty() && each.id.text() == wanted) return {each};
    if (!each.id.text().starts_with(wanted)) continue;
    if (!name.bundle.empty() && each.record.bundle != name.bundle) continue;
    if (!name.customer.empty() && each.record.customer != name.customer) continue;
    meant.push_back(each);
  }
  return meant;
}

Result<deployment::DeploymentFound> find_deployment(const States& states, const std::string& environment,
                                                    const DeploymentName& name) {
  auto meant = deployments_named(states, environment, name);
  if (meant.size() == 1) return meant.front();
  constexpr std::string_view kNoun = "deployment";
  std::string what(kNoun);
  if (!name.deployment.empty()) what += " " + quoted(name.deployment);
  if (name.deployment.empty() && !name.bundle.empty()) what += " of " + quoted(name.bundle);
  if (!name.customer.empty()) what += " for " + quoted(name.customer);
  const std::string next = "view deployments environment=" + environment;
  if (meant.empty()) {
    return unknown("there is no " + what + " in " + environment,
                   titles_of(states.deployment().find_by_environment(environment)), next);
  }
  const bool differ = std::ranges::all_of(meant, [&](const auto& each) {
    return std::ranges::count(meant, each.record.customer, [](const auto& one) { return one.record.customer; }) == 1;
  });
  return Error{.code = Code::conflict,
               .message = "there are " + std::to_string(meant.size()) + " deployments" + what.substr(kNoun.size()) +
                          " in " + environment + ": " + listed(titles_of(meant)),
               .next = differ ? "name the customer with --customer-id" : "name one with --bundle or --deployment"};
}

std::vector<revision::RevisionFound> revisions_named(const States& states, const std::string& environment,
                                                     const std::string& name, const std::string& deployment) {
  const std::string wanted = as_ulid(name);
  auto fits = [&](const revision::RevisionRecord& record) {
    return record.environment == environment && (deployment.empty() || record.deployment == deployment);
  };
  if (wanted.size() == Ulid::kTextLength && Ulid::parse(wanted)) {
    auto record = states.revision().get(revision::RevisionId(wanted));
    if (record && fits(*record)) return {revision::RevisionFound{revision::RevisionId(wanted), *record}};
  }
  std::vector<revision::RevisionFound> meant;
  auto number = numbered(name);
  auto gather = [&](const std::vector<revision::RevisionFound>& among) {
    for (const auto& each : among) {
      if (!fits(each.record)) continue;
      bool named = number ? each.record.bundle == number->bundle && each.record.sequence == number->sequence
                          : !wanted.empty() && each.id.text().starts_with(wanted);
      if (named) meant.push_back(each);
    }
  };
  gather(candidates(states, environment, deployment));
  // A number is never given twice: of one that is archived it still says which.
  if (meant.empty() && number && deployment.empty()) gather(states.revision().find_by_environment(environment));
  return meant;
}

Result<revision::RevisionFound> find_revision(const States& states, const std::string& environment,
                                              const std::string& name, const std::string& deployment) {
  auto meant = revisions_named(states, environment, name, deployment);
  if (meant.size() == 1) return meant.front();
  const std::string next = "view revisions environment=" + environment;
  if (meant.empty()) {
    auto all = candidates(states, environment, deployment);
    std::erase_if(all,
                  [&](const auto& each) { return each.record.lifecycle == revision::RevisionLifecycle::archived; });
    return unknown("there is no revision " + quoted(name) + " in " + (deployment.empty() ? environment : deployment),
                   titles_of(states, all), next);
  }
  return Error{.code = Code::conflict,
               .message = std::to_string(meant.size()) + " revisions are called " + quoted(name) + ": " +
                          listed(titles_of(states, meant)),
               .next = way_to_tell(states, meant)};
}

}  // namespace sluice::deploy::views
