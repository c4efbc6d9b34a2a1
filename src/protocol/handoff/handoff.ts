import type { COMMON_ELEMENTS } from './edge.ts';
import type { BASE_ELEMENTS, EDGES, WORKFLOW_COMPLETE } from './edges.ts';
import type { Data, ValuesOfElements, Flat } from './element.ts';

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
