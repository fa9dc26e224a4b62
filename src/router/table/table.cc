// Shards are copied when they are first changed, unless this table alone has them.
#include "router/table/table.h"

#include <algorithm>
#include <cstring>

#include "base/thread_turns.h"

namespace sluice::router {
namespace {

constexpr uint32_t kMostSegments = 64;
constexpr size_t kLongestHost = 255;

uint32_t segments_of(std::string_view prefix) {
  return prefix == "/" ? 0 : static_cast<uint32_t>(std::ranges::count(prefix, '/'));
}

int selectors_of(const RoutesDocument& routes) {
  return (routes.tenant.empty() ? 0 : 2) + (routes.team.empty() ? 0 : 1);
}

}  // namespace

const Revision* Deployment::at_point(uint32_t point) const {
  for (const Revision& revision : revisions) {
    if (point - revision.first_point < revision.weight_bps) return &revision;
  }
  return nullptr;
}

const Revision* Deployment::named(std::string_view revision) const {
  for (const Revision& each : revisions) {
    if (each.id == revision) return &each;
  }
  return nullptr;
}

// ---------------------------------------------------------------------------------------------------------- shards

template <class T>
Shard<T>& Table::own(Shards<T>& shards, uint64_t hash) {
  auto& shard = shards[hash % kShards];
  if (!shard) {
    shard = std::make_shared<Shard<T>>();
  } else if (shard.use_count() > 1) {
    shard = std::make_shared<Shard<T>>(*shard);
  }
  return *shard;
}

void Table::reserve(size_t deployments, size_t routes) {
  // A quarter more, as shards are not equally full.
  for (size_t i = 0; i < kShards; ++i) {
    own(routes_, i).reserve(routes * 5 / 4 / kShards);
    own(by_id_, i).reserve(deployments * 5 / 4 / kShards);
  }
}

void Table::take_apart() {
  auto free_all = [](auto& shards) {
    for (auto& shard : shards) {
      if (shard.use_count() == 1) give_way();
      shard.reset();
    }
  };
  free_all(routes_);
  free_all(by_id_);
}

// ---------------------------------------------------------------------------------------------------------- lookup

uint64_t Table::hash_of_route(std::string_view host, std::string_view prefix) const {
  return keyed_hash({keyed_hash(key_, host), key_.second}, prefix);
}

const RouteEntry* Table::route(uint64_t hash, std::string_view host, std::string_view prefix) const {
  const Shard<RouteEntry>* shard = routes_[hash % kShards].get();
  if (shard == nullptr) return nullptr;
  return shard->find(hash, [&](const RouteEntry& each) { return each.host == host && each.prefix == prefix; });
}

Found Table::find_at(std::string_view host, const RouteQuery& query) const {
  auto at_prefix = [&](std::string_view prefix) -> Found {
    const RouteEntry* entry = route(hash_of_route(host, prefix), host, prefix);
    if (entry == nullptr) return {};
    for (const Deployment* target : entry->targets) {
      const RoutesDocument& routes = target->routes;
      if ((routes.tenant.empty() || routes.tenant == query.tenant) &&
          (routes.team.empty() || routes.team == query.team)) {
        return {target, entry->prefix};
      }
    }
    return {};
  };
  std::array<uint32_t, kMostSegments> ends;
  uint32_t count = 0;
  for (size_t at = 1; count < max_segments_ && at < query.path.size(); ++count) {
    size_t slash = std::min(query.path.find('/', at), query.path.size());
    ends[count] = static_cast<uint32_t>(slash);
    at = slash + 1;
  }
  while (count > 0) {
    if (Found found = at_prefix(query.path.substr(0, ends[--count])); found.deployment != nullptr) return found;
  }
  return at_prefix("/");
}

Found Table::find(const RouteQuery& query) const {
  if (Found found = find_at(query.host, query); found.deployment != nullptr) return found;
  if (wildcards_ > 0 && query.host.size() < kLongestHost) {
    char name[kLongestHost + 1] = "*";
    for (size_t dot = query.host.find('.', 1); dot != std::string_view::npos; dot = query.host.find('.', dot + 1)) {
      std::string_view rest = query.host.substr(dot);
      std::memcpy(name + 1, rest.data(), rest.size());
      if (Found found = find_at({name, rest.size() + 1}, query); found.deployment != nullptr) return found;
    }
  }
  if (any_hosts_ > 0 && !query.host.empty()) return find_at("", query);
  return {};
}

const std::shared_ptr<const Deployment>* Table::named(std::string_view deployment) const {
  uint64_t hash = keyed_hash(key_, deployment);
  const Shard<Owned>* shard = by_id_[hash % kShards].get();
  if (shard == nullptr) return nullptr;
  return shard->find(hash, [&](const Owned& each) { return each->id == deployment; });
}

// ---------------------------------------------------------------------------------------------------------- change

Result<void> Table::put(std::shared_ptr<const Deployment> deployment) {
  const RoutesDocument& routes = deployment->routes;
  std::string taken;
  boost::container::small_vector<uint64_t, 16> hashes;  // of its routes, in order
  for_each_route(routes, [&](std::string_view host, std::string_view prefix) {
    hashes.push_back(hash_of_route(host, prefix));
    const RouteEntry* entry = route(hashes.back(), host, prefix);
    if (entry == nullptr) return;
    for (const Deployment* target : entry->targets) {
      if (target->routes.tenant == routes.tenant && target->routes.team == routes.team &&
          target->id != deployment->id) {
        taken = (host.empty() ? "any host, " : std::string(host)) + std::string(prefix) + " is " + target->id + "'s";
      }
    }
  });
  if (!taken.empty()) return Error{.code = Code::conflict, .message = "its route " + taken};
  uint64_t hash = keyed_hash(key_, deployment->id);
  Shard<Owned>& shard = own(by_id_, hash);
  Owned* known = shard.find(hash, [&](const Owned& each) { return each->id == deployment->id; });
  if (known != nullptr) remove_routes(**known);
  size_t next = 0;
  for_each_route(routes, [&](std::string_view host, std::string_view prefix) {
    put_route(hashes[next++], host, prefix, *deployment);
  });
  if (known != nullptr) {
    *known = std::move(deployment);
  } else {
    shard.insert(hash, std::move(deployment));
    ++deployments_;
  }
  return {};
}

void Table::put_route(uint64_t hash, std::string_view host, std::string_view prefix, const Deployment& deployment) {
  Shard<RouteEntry>& shard = own(routes_, hash);
  RouteEntry* entry =
      shard.find(hash, [&](const RouteEntry& each) { return each.host == host && each.prefix == prefix; });
  if (entry == nullptr) {
    max_segments_ = std::min(std::max(max_segments_, segments_of(prefix)), kMostSegments);
    if (host.empty()) ++any_hosts_;
    if (host.starts_with('*')) ++wildcards_;
    shard.insert(hash, {host, prefix, {&deployment}});
    return;
  }
  auto after = std::ranges::find_if(entry->targets, [&](const Deployment* each) {
    return each == &deployment || selectors_of(each->routes) < selectors_of(deployment.routes);
  });
  if (after != entry->targets.end() && *after == &deployment) return;  // its document names the route twice
  entry->targets.insert(after, &deployment);
}

void Table::remove_routes(const Deployment& deployment) {
  for_each_route(deployment.routes, [&](std::string_view host, std::string_view prefix) {
    uint64_t hash = hash_of_route(host, prefix);
    if (route(hash, host, prefix) == nullptr) return;
    Shard<RouteEntry>& shard = own(routes_, hash);
    RouteEntry* entry =
        shard.find(hash, [&](const RouteEntry& each) { return each.host == host && each.prefix == prefix; });
    auto gone = std::ranges::find(entry->targets, &deployment);
    if (gone == entry->targets.end()) return;
    entry->targets.erase(gone);
    if (entry->targets.empty()) {
      if (host.empty()) --any_hosts_;
      if (host.starts_with('*')) --wildcards_;
      shard.erase(entry);
      return;
    }
    // Its texts may have been those of who goes.
    for_each_route(entry->targets.front()->routes, [&](std::string_view its_host, std::string_view its_prefix) {
      if (its_host != host || its_prefix != prefix) return;
      entry->host = its_host;
      entry->prefix = its_prefix;
    });
  });
}

bool Table::remove(std::string_view deployment) {
  const Owned* before = named(deployment);
  if (before == nullptr) return false;
  Owned kept = *before;  // its id may be the view that was given
  remove_routes(*kept);
  uint64_t hash = keyed_hash(key_, kept->id);
  Shard<Owned>& shard = own(by_id_, hash);
  shard.erase(shard.find(hash, [&](const Owned& each) { return each->id == kept->id; }));
  --deployments_;
  return true;
}

}  // namespace sluice::router
