// What the API says when it refuses (RFC 9457), and what the page says when there was no answer at all.
export interface NextStep {
  action?: string;
  view?: string;
  input?: Record<string, unknown>;
  text?: string;
}

export class Problem extends Error {
  constructor(
    readonly code: string,
    readonly status: number,
    readonly detail: string,
    readonly next: string | NextStep[] | undefined,
    readonly fields: Record<string, unknown>,
  ) {
    super(detail);
  }

  // The next step as a sentence.
  get nextText(): string {
    if (typeof this.next === "string") return this.next;
    return (this.next ?? []).map((step) => step.text ?? step.action ?? step.view ?? "").filter(Boolean).join("; ");
  }

  static async of(response: Response): Promise<Problem> {
    let body: Record<string, unknown> = {};
    try {
      body = (await response.json()) as Record<string, unknown>;
    } catch {
      // Not a problem document: a proxy between here and Sluice has answered.
    }
    const text = (name: string) => (typeof body[name] === "string" ? (body[name] as string) : "");
    return new Problem(
      text("code") || `http_${response.status}`,
      response.status,
      text("detail") || text("title") || `the server answered ${response.status}`,
      body.next as string | NextStep[] | undefined,
      (body.fields as Record<string, unknown> | undefined) ?? {},
    );
  }

  static unreachable(what: string): Problem {
    return new Problem("unreachable", 0, `${what}: no connection to Sluice`, "it is tried again by itself", {});
  }
}
