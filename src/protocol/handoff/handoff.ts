import { accepted, didYouMean, type Parsed, type Problem, quote, refused } from '../shape/problem.ts';
import type { ElementFinding } from './check-values.ts';
import {
  type BASE_ELEMENTS,
  type COMMON_ELEMENTS,
  type Edge,
  type EDGES,
  type Role,
  WORKFLOW_COMPLETE,
} from './edges.ts';
import type { Data, Flat, ValuesOfElements } from './element.ts';

/**
 * A handoff as a value. Fields have the names of the wire. `kind` is not on the wire: there it is the root element, and in
 * values that come from outside it may be left out.
 */
export interface Handoff {
  readonly kind: 'handoff';
  readonly from: string;
  readonly to: string;
  readonly timestamp?: string;
  /** Digits, kept as text: `00123` stays `00123`. */
  readonly issue_number?: string;
  readonly pr_number?: string;
  readonly status?: string;
  readonly summary?: string;
  readonly data?: Data;
  /** The elements of its edge; `isHandoffOn` gives them their types. */
  readonly [element: string]: ElementValue | undefined;
}

/** The end of a workflow: the closer's last message, which nobody receives. */
export type WorkflowComplete = Flat<
  { readonly kind: 'workflow-complete' } & WithCommon<(typeof WORKFLOW_COMPLETE)['elements']>
>;

export type HandoffMessage = Handoff | WorkflowComplete;

export type ElementValue =
  | string
  | number
  | boolean
  | readonly ElementValue[]
  | { readonly [name: string]: ElementValue | undefined };

export type BuiltInEdge = (typeof EDGES)[number];

/** A handoff on one of the built-in edges: `HandoffOf<'reviewer-agent', 'fixer-agent'>`. */
export type HandoffOf<From extends BuiltInEdge['from'], To extends BuiltInEdge['to']> = HandoffOn<
  Extract<BuiltInEdge, { from: From; to: To }>
>;

/** Sent by any agent that failed. */
export type ErrorHandoff = HandoffOf<'*', 'orchestrator'>;

/** Sent between agents that are on no edge. */
export type BaseHandoff = Flat<
  { readonly kind: 'handoff'; readonly from: string; readonly to: string } & WithCommon<typeof BASE_ELEMENTS>
>;

type HandoffOn<E extends BuiltInEdge> = E extends BuiltInEdge
  ? Flat<
      {
        readonly kind: 'handoff';
        readonly from: E['from'] extends '*' ? string : E['from'];
        readonly to: E['to'];
      } & WithCommon<E['elements']>
    >
  : never;

type WithCommon<G> = ValuesOfElements<Omit<typeof COMMON_ELEMENTS, keyof G> & G>;

/** Narrows what was parsed to the type of one built-in edge. */
export function isHandoffOn<From extends BuiltInEdge['from'], To extends BuiltInEdge['to']>(
  message: HandoffMessage,
  from: From,
  to: To,
): message is HandoffMessage & HandoffOf<From, To> {
  return message.kind === 'handoff' && message.to === to && (from === '*' || message.from === from);
}

/** Where a message takes its task. Whether it is the sender's turn is not asked here. */
export interface Route {
  readonly edge: Edge;
  readonly outcome: 'proceeds' | 'blocked' | 'waits';
  /** The phase afterwards; null leaves it as it is. */
  readonly phase: Edge['phase'] | null;
  /** The role whose turn it is afterwards; null is nobody's, or with `waits` whoever's it was. */
  readonly next: string | null;
  /** Where the error is recoverable: the waits before each new try, before the phase changes at all. */
  readonly retry_after_ms: readonly number[];
}

export function findRoute(message: HandoffMessage, edges: readonly Edge[], roles: readonly Role[]): Parsed<Route> {
  if (message.kind === 'workflow-complete') return accepted(onward(WORKFLOW_COMPLETE));
  const edge = findEdge(edges, message.from, message.to);
  if (!edge) return refused({ ...noEdge(message.from, message.to, edges), line: null, column: null });
  const sender = roles.find((role) => role.agent === message.from)?.name ?? null;
  if (message.status === 'pending') {
    return accepted({ edge, outcome: 'waits', phase: null, next: null, retry_after_ms: [] });
  }
  if (message.status === 'failure' || message.status === 'blocked') {
    const retry_after_ms = isRecoverable(message['error']) ? (edge.retry_after_ms ?? []) : [];
    return accepted({ edge, outcome: 'blocked', phase: 'BLOCKED', next: sender, retry_after_ms });
  }
  return accepted(onward(edge));
}

/** An edge for any sender comes last: one that names the sender wins. */
export function findEdge(edges: readonly Edge[], from: unknown, to: unknown): Edge | undefined {
  if (typeof from !== 'string') return undefined;
  return (
    edges.find((edge) => edge.from === from && edge.to === to) ??
    edges.find((edge) => edge.from === '*' && edge.to === to)
  );
}

function onward(edge: Edge): Route {
  return { edge, outcome: 'proceeds', phase: edge.phase, next: edge.next, retry_after_ms: [] };
}

function isRecoverable(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'recoverable' in error && error.recoverable === true;
}

/** What to say where no edge leads that way: where work goes from there, or which name was probably meant. */
export function noEdge(from: string, to: string, edges: readonly Edge[]): ElementFinding {
  const targets = edges.filter((edge) => edge.from === from).flatMap((edge) => edge.to ?? []);
  const senders = [...new Set(edges.map((edge) => edge.from).filter((name) => name !== '*'))];
  const hint =
    targets.length === 0
      ? (didYouMean(from, senders) ?? `Agents that hand work on: ${senders.join(', ')}.`)
      : (didYouMean(to, targets) ?? `From ${quote(from)} work goes to ${targets.join(' or ')}.`);
  const message = `No edge leads from ${quote(from)} to ${quote(to)}`;
  return { code: 'handoff/no-edge', message, path: 'to', hint: `${hint} Errors go to orchestrator.` };
}

/** Thrown where somebody renders what would be refused on arrival: a mistake in the program, not in a message. */
export class InvalidHandoff extends Error {
  override readonly name = 'InvalidHandoff';
  readonly problems: readonly [Problem, ...Problem[]];

  constructor(problems: readonly [Problem, ...Problem[]]) {
    super(`handoff cannot be rendered: ${problems.map(({ message }) => message).join('; ')}`);
    this.problems = problems;
  }
}
