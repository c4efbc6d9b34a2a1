import { type Finding, problemAt } from '../shape/finding.ts';
import { accepted, didYouMean, type Parsed, type Problem, quote, refused } from '../shape/problem.ts';
import { fieldOf } from '../shape/read-unknown.ts';
import type { Data, FieldsOf, Flat } from '../shape/shape.ts';
import {
  type BASE_ELEMENTS,
  type COMMON_ELEMENTS,
  type Edge,
  type EDGES,
  type Role,
  WORKFLOW_COMPLETE,
} from './edges.ts';

/** Fields have the names of the XML elements. `kind` is the name of the root element and optional in input values. */
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
  /** The elements of the handoff's edge, which `isHandoffOn` types. */
  readonly [element: string]: ElementValue | undefined;
}

export type WorkflowComplete = Flat<
  { readonly kind: 'workflow-complete' } & WithCommon<(typeof WORKFLOW_COMPLETE)['elements']>
>;

export type HandoffMessage = Handoff | WorkflowComplete;

type ElementValue =
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

export type ErrorHandoff = HandoffOf<'*', 'orchestrator'>;

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

type WithCommon<G> = FieldsOf<Omit<typeof COMMON_ELEMENTS, keyof G> & G>;

export function isHandoffOn<From extends BuiltInEdge['from'], To extends BuiltInEdge['to']>(
  message: HandoffMessage,
  from: From,
  to: To,
): message is HandoffMessage & HandoffOf<From, To> {
  return message.kind === 'handoff' && message.to === to && (from === '*' || message.from === from);
}

/** The effect of a message on its task. Whether it is the sender's turn is checked elsewhere. */
export interface Route {
  readonly edge: Edge;
  readonly outcome: 'proceeds' | 'blocked' | 'waits';
  readonly phase: Edge['phase'] | null;
  /** The role that works next. Null is no role; with `waits` it means that the role does not change. */
  readonly next: string | null;
  /** The delays before each retry of a recoverable error. The phase changes only after the last retry. */
  readonly retry_after_ms: readonly number[];
}

export function findRoute(message: HandoffMessage, edges: readonly Edge[], roles: readonly Role[]): Parsed<Route> {
  if (message.kind === 'workflow-complete') return accepted(onward(WORKFLOW_COMPLETE));
  const edge = findEdge(edges, message.from, message.to);
  if (!edge) return refused(problemAt(noEdge(message.from, message.to, edges), undefined));
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

/** Finds the edge of a handoff. An edge that names the sender wins over an edge for any sender. */
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
  return fieldOf(error, 'recoverable') === true;
}

/** The problem of a handoff without an edge; the hint names the receivers of this sender, or a similar name. */
export function noEdge(from: string, to: string, edges: readonly Edge[]): Finding {
  const targets = edges.filter((edge) => edge.from === from).flatMap((edge) => edge.to ?? []);
  const senders = [...new Set(edges.map((edge) => edge.from).filter((name) => name !== '*'))];
  const hint =
    targets.length === 0
      ? (didYouMean(from, senders) ?? `Agents that hand work on: ${senders.join(', ')}.`)
      : (didYouMean(to, targets) ?? `From ${quote(from)} work goes to ${targets.join(' or ')}.`);
  const message = `No edge leads from ${quote(from)} to ${quote(to)}`;
  return { code: 'handoff/no-edge', message, path: 'to', at: 0, hint: `${hint} Errors go to orchestrator.` };
}

/** Thrown if a program renders a handoff that its receiver would refuse. */
export class InvalidHandoff extends Error {
  override readonly name = 'InvalidHandoff';
  readonly problems: readonly [Problem, ...Problem[]];

  constructor(problems: readonly [Problem, ...Problem[]]) {
    super(`handoff cannot be rendered: ${problems.map(({ message }) => message).join('; ')}`);
    this.problems = problems;
  }
}
