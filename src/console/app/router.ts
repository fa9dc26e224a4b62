// Where the page is: the path below /ui, and its query, which holds filters, tab, time range and selection, so that every
// view of every object has an address.
import { computed, signal } from "@preact/signals";

export const kBase = "/ui";

const here = () => ({ path: decodeBase(location.pathname), search: location.search });
function decodeBase(pathname: string): string {
  const rest = pathname.startsWith(kBase) ? pathname.slice(kBase.length) : pathname;
  return rest.replace(/\/+$/, "") || "/";
}

export const place = signal(here());
export const path = computed(() => place.value.path);
export const query = computed(() => new URLSearchParams(place.value.search));

addEventListener("popstate", () => (place.value = here()));

// Every plain click on a link of ours stays in the page.
addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest?.("a[href]") as HTMLAnchorElement | null;
  if (!link || link.target || link.origin !== location.origin || !link.pathname.startsWith(`${kBase}/`)) return;
  event.preventDefault();
  go(link.pathname.slice(kBase.length) + link.search);
});

// `to` is below /ui: "/deployments?env=local".
export function go(to: string, replace = false): void {
  const moved = to.split("?")[0] !== place.value.path;
  if (replace) history.replaceState(null, "", kBase + to);
  else history.pushState(null, "", kBase + to);
  place.value = here();
  if (moved && !replace) scrollTo(0, 0);
}

export const href = (to: string): string => kBase + to;

// Sets one member of the query and leaves the rest.
export function setQuery(name: string, value: string | undefined): void {
  const search = new URLSearchParams(place.value.search);
  if (value) search.set(name, value);
  else search.delete(name);
  const text = search.toString();
  go(place.value.path + (text ? `?${text}` : ""), true);
}

// What somebody mistyped is taken as it is.
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export type Params = Record<string, string>;

// "/deployments/:env/:id" against a path; undefined: another page's.
export function match(pattern: string, at: string): Params | undefined {
  const wanted = pattern.split("/").filter(Boolean);
  const given = at.split("/").filter(Boolean);
  const params: Params = {};
  for (let i = 0; i < Math.max(wanted.length, given.length); i++) {
    const want = wanted[i];
    const got = given[i];
    if (want === undefined) return undefined;
    if (want.startsWith(":")) {
      const optional = want.endsWith("?");
      if (got === undefined && !optional) return undefined;
      if (got !== undefined) params[want.replace(/[:?]/g, "")] = decoded(got);
    } else if (want !== got) {
      return undefined;
    }
  }
  return params;
}

export const link = {
  deployment: (env: string, id: string, tab = "") => href(`/deployments/${encodeURIComponent(env)}/${encodeURIComponent(id)}${tab ? `/${tab}` : ""}`),
  rollout: (id: string) => href(`/rollouts/${encodeURIComponent(id)}`),
  plan: (id: string) => href(`/plans/${encodeURIComponent(id)}`),
  flow: (id: string) => href(`/flows/${encodeURIComponent(id)}`),
  environment: (id: string) => href(`/environments/${encodeURIComponent(id)}`),
  release: (id: string) => href(`/releases/${encodeURIComponent(id)}`),
  cluster: (request: string) => href(`/cluster/${encodeURIComponent(request)}`),
};
