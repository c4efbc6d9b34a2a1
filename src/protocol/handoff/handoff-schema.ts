import { DRAFT, type Elements, fieldsSchemaOf, type JsonSchema } from '../shape/shape.ts';
import { BASE_ELEMENTS, type Edge, elementsOfEdge, WORKFLOW_COMPLETE } from './edges.ts';
import type { HandoffKind } from './handoff-message.ts';

/**
 * One alternative for each edge, one for the end, one for the base form. The schema refuses nothing that the parser
 * accepts.
 */
export function handoffSchemaOf(edges: readonly Edge[]): JsonSchema {
  return {
    $schema: DRAFT,
    title: 'Handoff',
    description: 'A message that passes work from one agent to the next, in value form.',
    oneOf: [
      ...edges.map((edge) => messageSchema(elementsOfEdge(edge), 'handoff', edge)),
      messageSchema(elementsOfEdge(WORKFLOW_COMPLETE), 'workflow-complete', WORKFLOW_COMPLETE),
      {
        ...messageSchema(elementsOfEdge({ to: '', elements: BASE_ELEMENTS }), 'handoff'),
        title: 'base form',
        not: { anyOf: edges.map(endsSchema) },
      },
    ],
    $defs: { data: DATA, data_element: DATA_ELEMENT },
  };
}

const DATA = {
  description: 'Free content: a text, or elements in their order.',
  anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/$defs/data_element' } }],
};

const DATA_ELEMENT = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1 },
    attributes: { type: 'object', additionalProperties: { type: 'string' } },
    content: { $ref: '#/$defs/data' },
  },
  required: ['name', 'content'],
  additionalProperties: false,
};

function endsSchema(edge: Edge): JsonSchema {
  const ends = endsOf(edge);
  return { properties: ends, required: Object.keys(ends) };
}

function endsOf({ from, to }: Edge): Record<string, JsonSchema> {
  return { ...(from !== '*' && { from: { const: from } }), ...(to !== null && { to: { const: to } }) };
}

function messageSchema(elements: Elements, kind: HandoffKind, edge?: Edge): JsonSchema {
  const schema = fieldsSchemaOf({ kind: 'group', elements });
  return {
    ...(edge && { title: `${edge.from} → ${edge.to ?? kind}`, description: `When: ${edge.when}.` }),
    ...schema,
    properties: { kind: { const: kind }, ...schema.properties, ...(edge && endsOf(edge)) },
    required: [...(kind === 'handoff' ? [] : ['kind']), ...schema.required],
  };
}
