/** What the server (or the kernel) sends: the shapes of CONTRACT, as far as this version uses them. */

/** The connected model, and what to do when it is not usable. */
export interface ModelHealth {
  provider: string;
  name: string | null;
  base_url: string | null;
  ready: boolean;
  /** One sentence that says what to do; null when ready. */
  why_not: string | null;
}

/** Something the user should put right, although the agent can go on. */
export interface Problem {
  code: string;
  message: string;
}

/** The answer to `GET health`. */
export interface Health {
  version: string;
  model: ModelHealth;
  sandbox: string;
  workspace: string;
  problems: Problem[];
}

/** One item of the answer to `GET roles`. */
export interface Role {
  name: string;
  label: string;
  icon: string;
  colour: string;
  description: string;
  permissions: string[];
  tools: string[];
  delegates_to: string[];
}

/** Every list of the API comes in this envelope. */
export interface Page<Item> {
  items: Item[];
  next: string | null;
}

/** The first card: who would answer, and whether anything is missing. */
export interface StatusCardData {
  kind: 'status';
  role: string | null;
  title: string;
  note: string | null;
  health: Health;
}

/** What the widget's `card` trait holds. A newer kernel may send kinds that this bundle does not know. */
export type CardData = StatusCardData | { kind: string };
