// Shards are copied when they are first changed, unless this table alone has them.
#include "router/table.h"

#include <algorithm>
#include <bit>
#include <cstring>

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

template <class T, class Same>
const std::shared_ptr<const T>* Table::look_up(const Shards<T>& shards, uint64_t hash, Same&& same) {
  const Shard<T>* shard = shards[hash % kShards].get();
  if (shard == nullptr || shard->slots.empty()) return nullptr;
  size_t mask = shard->slots.size() - 1;
  for (size_t at = (hash >> 8) & mask;; at = (at + 1) & mask) {
    const Slot<T>& slot = shard->slots[at];
    if (!slot.value) return nullptr;
    if (slot.hash == hash && same(*slot.value)) return &slot.value;
  }
}

template <class T>
Table::Shard<T>& Table::own(Shards<T>& shards, uint64_t hash) {
  auto& shard = shards[hash % kShards];
  if (!shard) {
    shard = std::make_shared<Shard<T>>();
  } else if (shard.use_count() > 1) {
    shard = std::make_shared<Shard<T>>(*shard);
  }
  return *shard;
}

template <class T>
void Table::insert(Shard<T>& shard, uint64_t hash, std::shared_ptr<const T> value) {
  if ((shard.used + 1) * 2 > shard.slots.size()) {
    std::vector<Slot<T>> before(std::max<size_t>(8, shard.slots.size() * 2));
    before.swap(shard.slots);
    shard.used = 0;
    for (Slot<T>& slot : before) {
      if (slot.value) insert(shard, slot.hash, std::move(slot.value));
    }
  }
  size_t mask = shard.slots.size() - 1, at = (hash >> 8) & mask;
  while (shard.slots[at].value) at = (at + 1) & mask;
  shard.slots[at] = {hash, std::move(value)};
  ++shard.used;
}

// Puts the value in the place of the same one; nothing takes it out.
template <class T, class Same>
void Table::replace(Shards<T>& shards, uint64_t hash, std::shared_ptr<const T> value, Same&& same) {
  Shard<T>& shard = own(shards, hash);
  size_t mask = shard.slots.size() - 1;
  for (size_t at = (hash >> 8) & mask; !shard.slots.empty() && shard.slots[at].value; at = (at + 1) & mask) {
    Slot<T>& slot = shard.slots[at];
    if (slot.hash != hash || !same(*slot.value)) continue;
    if (value) {
      slot.value = std::move(value);
      return;
    }
    slot.value = nullptr;
    std::vector<Slot<T>> before(shard.slots.size());
    before.swap(shard.slots);
    shard.used = 0;
    for (Slot<T>& each : before) {
      if (each.value) insert(shard, each.hash, std::move(each.value));
    }
    return;
  }
  if (value) insert(shard, hash, std::move(value));
}

void Table::reserve(size_t deployments, size_t routes) {
  // Twice as many as there will be, and a quarter more, as shards are not equally full.
  auto slots_for = [](size_t count) { return std::bit_ceil(std::max<size_t>(8, count * 5 / 2 / kShards)); };
  for (size_t i = 0; i < kShards; ++i) {
    own(routes_, i).slots.resize(slots_for(routes));
    own(by_id_, i).slots.resize(slots_for(deployments));
  }
}

// ---------------------------------------------------------------------------------------------------------- lookup

uint64_t Table::hash_of_route(std::string_view host, std::string_view prefix) const {
  return keyed_hash({keyed_hash(key_, host), key_.second}, prefix);
}

const RouteEntry* Table::route(std::string_view host, std::string_view prefix) const {
  auto found = look_up(routes_, hash_of_route(host, prefix),
                       [&](const RouteEntry& each) { return each.host == host && each.prefix == prefix; });
  return found != nullptr ? found->get() : nullptr;
}

Found Table::find_at(std::string_view host, const RouteQuery& query) const {
  auto at_prefix = [&](std::string_view prefix) -> Found {
    const RouteEntry* entry = route(host, prefix);
    if (entry == nullptr) return {};
    for (const auto& target : entry->targets) {
      const RoutesDocument& routes = target->routes;
      if ((routes.tenant.empty() || routes.tenant == query.tenant) &&
          (routes.team.empty() || routes.team == query.team)) {
        return {target.get(), entry->prefix};
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
  return look_up(by_id_, keyed_hash(key_, deployment), [&](const Deployment& each) { return each.id == deployment; });
}

// ---------------------------------------------------------------------------------------------------------- change

Result<void> Table::put(std::shared_ptr<const Deployment> deployment) {
  const RoutesDocument& routes = deployment->routes;
  std::string taken;
  for_each_route(routes, [&](std::string_view host, std::string_view prefix) {
    const RouteEntry* entry = taken.empty() ? route(host, prefix) : nullptr;
    if (entry == nullptr) return;
    for (const auto& target : entry->targets) {
      if (target->routes.tenant == routes.tenant && target->routes.team == routes.team &&
          target->id != deployment->id) {
        taken = (host.empty() ? "any host, " : std::string(host)) + std::string(prefix) + " is " + target->id + "'s";
      }
    }
  });
  if (!taken.empty()) return Error{.code = Code::conflict, .message = "its route " + taken};
  const auto* before = named(deployment->id);
  if (before != nullptr) {
    const RoutesDocument& old = (*before)->routes;
    if (old.hosts != routes.hosts || old.path_prefixes != routes.path_prefixes || old.tenant != routes.tenant ||
        old.team != routes.team) {
      remove_routes(**before);
    }
  } else {
    ++deployments_;
  }
  put_routes(deployment);
  uint64_t hash = keyed_hash(key_, deployment->id);
  replace(by_id_, hash, std::shared_ptr<const Deployment>(deployment),
          [&](const Deployment& each) { return each.id == deployment->id; });
  return {};
}

void Table::put_routes(const std::shared_ptr<const Deployment>& deployment) {
  for_each_route(deployment->routes, [&](std::string_view host, std::string_view prefix) {
    auto entry = std::make_shared<RouteEntry>();
    entry->host = host;
    entry->prefix = prefix;
    uint64_t hash = hash_of_route(host, prefix);
    const RouteEntry* before = route(host, prefix);
    if (before == nullptr) {
      entry->targets.push_back(deployment);
      max_segments_ = std::min(std::max(max_segments_, segments_of(prefix)), kMostSegments);
      if (host.empty()) ++any_hosts_;
      if (host.starts_with('*')) ++wildcards_;
      insert(own(routes_, hash), hash, std::shared_ptr<const RouteEntry>(std::move(entry)));
      return;
    }
    for (const auto& each : before->targets) {
      if (each->id != deployment->id) entry->targets.push_back(each);
    }
    auto after = std::ranges::find_if(entry->targets, [&](const auto& each) {
      return selectors_of(each->routes) < selectors_of(deployment->routes);
    });
    entry->targets.insert(after, deployment);
    replace(routes_, hash, std::shared_ptr<const RouteEntry>(std::move(entry)),
            [&](const RouteEntry& each) { return each.host == host && each.prefix == prefix; });
  });
}

void Table::remove_routes(const Deployment& deployment) {
  for_each_route(deployment.routes, [&](std::string_view host, std::string_view prefix) {
    const RouteEntry* before = route(host, prefix);
    if (before == nullptr) return;
    auto entry = std::make_shared<RouteEntry>();
    for (const auto& each : before->targets) {
      if (each->id != deployment.id) entry->targets.push_back(each);
    }
    auto same = [&](const RouteEntry& each) { return each.host == host && each.prefix == prefix; };
    if (entry->targets.empty()) {
      if (host.empty()) --any_hosts_;
      if (host.starts_with('*')) --wildcards_;
      replace(routes_, hash_of_route(host, prefix), std::shared_ptr<const RouteEntry>(), same);
      return;
    }
    for_each_route(entry->targets.front()->routes, [&](std::string_view its_host, std::string_view its_prefix) {
      if (its_host != host || its_prefix != prefix) return;
      entry->host = its_host;
      entry->prefix = its_prefix;
    });
    replace(routes_, hash_of_route(host, prefix), std::shared_ptr<const RouteEntry>(std::move(entry)), same);
  });
}

bool Table::remove(std::string_view deployment) {
  const auto* before = named(deployment);
  if (before == nullptr) return false;
  std::shared_ptr<const Deployment> kept = *before;  // its id may be the view that was given
  remove_routes(*kept);
  replace(by_id_, keyed_hash(key_, kept->id), std::shared_ptr<const Deployment>(),
          [&](const Deployment& each) { return each.id == kept->id; });
  --deployments_;
  return true;
}

}  // namespace sluice::router
