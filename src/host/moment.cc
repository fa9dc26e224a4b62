// The list of views is made once; what they read is made for each.
#include "host/moment.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/nearest.h"
#include "deploy/views/all_views.h"
#include "engine/journal/record.h"
#include "engine/transaction.h"
#include "host/fleet_view.h"
#include "host/flows/flow_views.h"
#include "host/link/routers_view.h"
#include "host/name_uses_view.h"
#include "host/status_view.h"

namespace sluice::host {
namespace {

HostView of_host(const lang::View& view) {
  HostView made;
  static_cast<lang::ViewWords&>(made) = view;
  made.read = [read = view.read](const HostReading& reading, const json::object& query) {
    return read(reading, query);
  };
  return made;
}

}  // namespace

Moment::Moment(std::unique_ptr<store::Snapshot> snapshot, store::BlobStore* blobs,
               std::shared_ptr<const engine::IndexedFields> indexed, const lang::Tools& tools, int64_t now_ms,
               const Beside* beside)
    : rows_(std::move(snapshot), blobs, std::move(indexed), now_ms),
      reading_{
          {.rows = rows_, .tools = tools, .position = rows_.position(), .now_ms = now_ms}, rows_.snapshot(), beside} {}

Result<std::unique_ptr<Moment>> Moment::of(store::Store& store, store::BlobStore* blobs, const lang::Tools& tools,
                                           int64_t now_ms, const Beside* beside) {
  auto snapshot = store.read();
  if (!snapshot) return snapshot.error();
  auto indexed = indexed_fields_of(**snapshot);
  if (!indexed) return indexed.error();
  return std::unique_ptr<Moment>(new Moment(*std::move(snapshot), blobs, *std::move(indexed), tools, now_ms, beside));
}

bool if_readable(const std::function<void()>& work) {
  try {
    work();
  } catch (const engine::UnreadableStore&) {
    return false;
  }
  return true;
}

Result<std::shared_ptr<const engine::IndexedFields>> indexed_fields_of(store::Snapshot& snapshot) {
  auto indexed = std::make_shared<engine::IndexedFields>();
  auto text = snapshot.meta("indexed");
  if (!text) return text.error();
  if (*text) {
    auto parsed = engine::parse_stored(**text, "the list of look-ups");
    if (!parsed) return parsed.error();
    for (const auto& [relation, fields] : parsed->as_object()) {
      for (const json::value& each : fields.as_array()) (*indexed)[relation].emplace_back(each.as_string());
    }
  }
  return std::shared_ptr<const engine::IndexedFields>(std::move(indexed));
}

const std::vector<HostView>& all_views() {
  static const std::vector<HostView> kViews = [] {
    std::vector<HostView> views;
    for (const lang::View& each : deploy::views::all_views()) views.push_back(of_host(each));
    for (auto& more : {flow_views(), audit_views(), status_views(), fleet_views(), name_uses_views(), routers_views()})
      views.insert(views.end(), more.begin(), more.end());
    std::ranges::sort(views, {}, &HostView::name);
    return views;
  }();
  return kViews;
}

Result<const HostView*> find_view(std::string_view name) {
  const auto& views = all_views();
  auto found = std::ranges::find(views, name, &HostView::name);
  if (found != views.end()) return &*found;
  std::vector<std::string> names;
  for (const HostView& each : views) names.push_back(each.name);
  auto near = nearest(name, std::span<const std::string>(names));
  return Error{.code = Code::not_found,
               .message = "there is no view " + std::string(name) + (near ? "; did you mean " + *near + "?" : "")};
}

}  // namespace sluice::host
