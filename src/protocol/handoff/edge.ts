import type { Phase } from '../phase.ts';
import type { Elements } from './element.ts';

/** A way that work can take from one agent to the next. Plain data: a runbook adds its own. */
export interface Edge {
  /** The agent's name on the wire; `*` is any agent. */
  readonly from: string;
  /** null where the workflow ends. */
  readonly to: string | null;
  /** When this way is taken, in a few words for people. */
  readonly when: string;
  /** The task's phase afterwards. */
  readonly phase: Phase;
  /** The role whose turn it is afterwards; `same` is the sender's, null is nobody's. */
  readonly next: string | null;
  /** Waits before the same role is tried again, where the error is `recoverable`. */
  readonly retry_after_ms?: readonly number[];
  /** What the handoff contains besides `from`, `to` and the elements every handoff may have. */
  readonly elements: Elements;
}

export interface Role {
  readonly name: string;
  /** What the role is called in `from` and `to`. */
  readonly agent: string;
}

/** `success`, `skipped`, what an edge adds (`ready`) and no status at all proceed. */
export const HANDOFF_STATUSES = ['success', 'failure', 'blocked', 'pending', 'skipped'] as const;

/** What every handoff may have where its edge does not say more. */
export const COMMON_ELEMENTS = {
  timestamp: { kind: 'text', format: 'timestamp', optional: true },
  issue_number: { kind: 'text', format: 'digits', optional: true },
  pr_number: { kind: 'text', format: 'digits', optional: true },
  status: { kind: 'choice', values: HANDOFF_STATUSES, optional: true },
  summary: { kind: 'text', optional: true },
  data: { kind: 'free', optional: true },
} as const satisfies Elements;

const ENDS = {
  from: { kind: 'text', format: 'agent' },
  to: { kind: 'text', format: 'agent' },
} as const satisfies Elements;

/** Everything that may stand in a handoff on this edge, in the order in which it is written. */
export function elementsOfEdge(edge: Pick<Edge, 'to' | 'elements'>): Elements {
  const { timestamp, data, ...common } = COMMON_ELEMENTS;
  const ends = edge.to === null ? {} : ENDS;
  return { ...ends, timestamp, ...withoutDeclared(common, edge.elements), ...edge.elements, data };
}

/** Spreading alone would put the edge's own elements at the place of the common ones, out of the example's order. */
function withoutDeclared(common: Elements, declared: Elements): Elements {
  return Object.fromEntries(Object.entries(common).filter(([name]) => !Object.hasOwn(declared, name)));
}
