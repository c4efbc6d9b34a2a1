import { accepted, type Parsed } from '../shape/problem.ts';
import type { JsonSchema } from '../shape/shape.ts';
import { BASE_ELEMENTS, type Edge, EDGES, elementsOfEdge, type Role, ROLES, WORKFLOW_COMPLETE } from './edges.ts';
import { extendWorkflow, type Workflow } from './extend-workflow.ts';
import { type FindExpectation, parseHandoffMessage, renderHandoffMessage } from './handoff-message.ts';
import { handoffSchemaOf } from './handoff-schema.ts';
import { findEdge, findRoute, type HandoffMessage, InvalidHandoff, noEdge, type Route } from './handoff.ts';

export interface HandoffDialect {
  readonly roles: readonly Role[];
  readonly edges: readonly Edge[];
  /**
   * Parses XML (text or UTF-8 bytes), or an object in value form. Returns the typed value, or all problems. Never
   * throws.
   */
  readonly parse: (input: unknown) => Parsed<HandoffMessage>;
  readonly validate: (input: unknown) => string[];
  readonly render: (message: HandoffMessage) => string;
  readonly route: (message: HandoffMessage) => Parsed<Route>;
  readonly schema: JsonSchema;
}

export function parseHandoffDialect(declaration: unknown): Parsed<HandoffDialect> {
  const workflow = extendWorkflow({ roles: ROLES, edges: EDGES }, declaration);
  return workflow.ok ? accepted(createHandoffDialect(workflow.value)) : workflow;
}

export const HANDOFF_DIALECT = createHandoffDialect({ roles: ROLES, edges: EDGES });

export function createHandoffDialect({ roles, edges }: Workflow): HandoffDialect {
  const expect = expectOn(edges);
  const parse = (input: unknown) => parseHandoffMessage(input, expect);
  return {
    roles,
    edges,
    parse,
    validate: (input) => {
      const parsed = parse(input);
      return parsed.ok ? [] : parsed.problems.map(({ message }) => message);
    },
    render: (message) => {
      const parsed = parse(message);
      if (!parsed.ok) throw new InvalidHandoff(parsed.problems);
      const { kind, ...fields } = parsed.value;
      const ends = parsed.value.kind === 'handoff' ? parsed.value : { from: null, to: null };
      return renderHandoffMessage(kind, fields, expect(kind, ends.from, ends.to).elements);
    },
    route: (message) => findRoute(message, edges, roles),
    schema: handoffSchemaOf(edges),
  };
}

/** Requires the elements of the edge between sender and receiver, or those of the base form if there is no edge. */
function expectOn(edges: readonly Edge[]): FindExpectation {
  const workflowComplete = { elements: elementsOfEdge(WORKFLOW_COMPLETE) };
  const base = { elements: elementsOfEdge({ to: '', elements: BASE_ELEMENTS }) };
  const byEdge = new Map(edges.map((edge) => [edge, { elements: elementsOfEdge(edge) }]));
  const agents = new Set(edges.flatMap(({ from, to }) => [from, to]));
  return (kind, from, to) => {
    if (kind === 'workflow-complete') return workflowComplete;
    const edge = findEdge(edges, from, to);
    const expected = edge && byEdge.get(edge);
    if (expected) return expected;
    if (typeof from !== 'string' || typeof to !== 'string') return base;
    return agents.has(from) || agents.has(to) ? { ...base, otherwise: noEdge(from, to, edges) } : base;
  };
}
