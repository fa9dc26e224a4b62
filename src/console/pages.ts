// The pages. A page is one file and one entry here: where it is, how it is called, and what loads it.
import type { ComponentType } from "preact";
import type { IconName } from "./parts/icons";
import type { Params } from "./app/router";

export interface PageProps {
  params: Params;
}

export interface Page {
  path: string;
  load: () => Promise<{ default: ComponentType<PageProps> }>;
  // In the sidebar, and with `g` and a key.
  nav?: { label: string; icon: IconName; key: string; group?: string; count?: "rollouts" | "plans" | "approvals" };
}

export const pages: Page[] = [
  { path: "/", load: () => import("./pages/overview"), nav: { label: "Overview", icon: "overview", key: "o" } },
  { path: "/deployments", load: () => import("./pages/deployments"), nav: { label: "Deployments", icon: "box", key: "d" } },
  { path: "/deployments/:env/:id/:tab?", load: () => import("./pages/deployment") },
  { path: "/deploy", load: () => import("./pages/deploy") },
  { path: "/rollouts", load: () => import("./pages/rollouts"), nav: { label: "Rollouts", icon: "steps", key: "r", count: "rollouts" } },
  { path: "/rollouts/:id", load: () => import("./pages/rollout") },
  { path: "/plans", load: () => import("./pages/plans"), nav: { label: "Plans", icon: "plan", key: "p", count: "plans" } },
  { path: "/plans/:id", load: () => import("./pages/plan") },
  { path: "/flows", load: () => import("./pages/flows"), nav: { label: "Flows", icon: "flow", key: "f" } },
  { path: "/flows/:id", load: () => import("./pages/flow") },
  { path: "/releases", load: () => import("./pages/releases"), nav: { label: "Releases", icon: "tag", key: "l", group: "Deliver" } },
  { path: "/releases/:id", load: () => import("./pages/release") },
  { path: "/cluster", load: () => import("./pages/cluster"), nav: { label: "Cluster", icon: "cluster", key: "k", group: "Deliver" } },
  { path: "/cluster/:id", load: () => import("./pages/cluster_request") },
  { path: "/mesh", load: () => import("./pages/mesh"), nav: { label: "Mesh", icon: "mesh", key: "m", group: "Deliver" } },
  { path: "/environments", load: () => import("./pages/environments"), nav: { label: "Environments", icon: "env", key: "e", group: "Govern" } },
  { path: "/environments/:env", load: () => import("./pages/environment") },
  { path: "/audit", load: () => import("./pages/audit"), nav: { label: "Audit", icon: "audit", key: "a", group: "Govern" } },
  { path: "/access/:tab?", load: () => import("./pages/access"), nav: { label: "Access", icon: "key", key: "c", group: "Govern", count: "approvals" } },
];

// Where a page is without what may be left out: "/access" of "/access/:tab?".
export const plainPath = (page: Page): string => page.path.replace(/\/:.*/, "") || "/";
