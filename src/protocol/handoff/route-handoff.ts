import { accepted, refused, type Parsed } from '../shape/problem.ts';
import { quote } from '../shape/quote.ts';
import { didYouMean } from '../shape/suggest.ts';
import type { Edge, Role } from './edge.ts';
import { WORKFLOW_COMPLETE } from './edges.ts';
import type { ElementFinding } from './finding.ts';
import type { HandoffMessage } from './handoff.ts';

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
