// What the frame and several pages need of the home: how many deployments are how, rollouts, plans and approvals, each read once
// for the whole page and shared.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Document } from "../api/client";
import type { Read } from "../api/use";
import { percent } from "../parts/text";

export type Status = Document<"status">;
export type Environment = NonNullable<Status["environments"]>[number];
export type Deployment = Environment["deployments"][number];
export type Revision = Deployment["revisions"][number];
export type Fleet = Document<"fleet">;
export type FleetEnvironment = Fleet["environments"][number];
export type FleetDeployment = Fleet["shown"][number];
export type Rollout = Document<"rollout">;
export type PlanListed = Document<"plans">[number];
export type Approval = Document<"approvals">[number];

export interface Home {
  me: Read<Document<"whoami">>;
  fleet: Read<Fleet>;
  rollouts: Read<Document<"rollouts">>;
  plans: Read<Document<"plans">>;
  approvals: Read<Document<"approvals">>;
}

export const HomeContext = createContext<Home>(null as unknown as Home);
export const useHome = (): Home => useContext(HomeContext);

export const underWay = (status: string): boolean => ["queued", "due", "running", "paused", "returning", "watching", "stuck"].includes(status);
export const planRuns = (phase: string): boolean => ["executing", "running", "rolling_back", "undoing", "rollingBack"].includes(phase);

// Whether the approval waits for this caller: people agree, each once, and never the one who asks.
export const waitsForMe = (approval: Approval, me: string | undefined): boolean =>
  approval.status === "waiting" || approval.status === "open" || approval.status === "pending"
    ? approval.requester !== me && !approval.yes.includes(me ?? "") && !(me ?? "").startsWith("service:")
    : false;

// How a deployment is, from its revisions and replicas.
export type Health = "healthy" | "degraded" | "failed" | "changing" | "paused" | "idle";
export function healthOf(deployment: Deployment, changing: boolean): { health: Health; said: string } {
  if (deployment.status === "paused") return { health: "paused", said: "takes no traffic" };
  const serving = deployment.revisions.filter((each) => each.weight_asked_bps > 0);
  const replicas = serving.flatMap((each) => each.replicas);
  const well = replicas.filter((each) => each.healthy).length;
  if (serving.length && replicas.length && well === 0) return { health: "failed", said: "no replica is healthy" };
  if (well < replicas.length) return { health: "degraded", said: `${replicas.length - well} of ${replicas.length} replicas fail their health check` };
  if (changing || deployment.revisions.some((each) => each.lifecycle === "warming")) return { health: "changing", said: "a change is under way" };
  const failed = deployment.revisions.find((each) => each.lifecycle === "failed");
  if (!serving.length) return failed ? { health: "failed", said: `${failed.name} failed` } : { health: "idle", said: "no revision gets traffic" };
  return { health: "healthy", said: "" };
}

export const healthKind = { healthy: "ok", degraded: "warn", failed: "bad", changing: "run", paused: "paused", idle: "idle" } as const;
export const healthWord = { healthy: "Healthy", degraded: "Degraded", failed: "Failed", changing: "Changing", paused: "Paused", idle: "No traffic" } as const;

// Newest first: names end in their number (hello@12).
export const bySequence = (a: { name: string }, b: { name: string }): number => Number(b.name.split("@").pop()) - Number(a.name.split("@").pop());

// "2.0.0" of what has all traffic, "2.0.0 at 10 %, 1.0.0 at 90 %" of several.
export function servingText(revisions: { version: string; weight_asked_bps: number }[]): string {
  const serving = revisions.filter((each) => each.weight_asked_bps > 0);
  return serving.length === 1 ? serving[0]!.version : serving.map((each) => `${each.version} at ${percent(each.weight_asked_bps)}`).join(", ");
}
