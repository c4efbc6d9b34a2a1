import type { JsonSchema } from '../shape/shape.ts';
import { BASE_ELEMENTS, type Edge, elementsOfEdge, WORKFLOW_COMPLETE } from './edges.ts';
import { type Element, ELEMENT_FORMATS, type Elements } from './element.ts';
import type { HandoffKind } from './handoff-message.ts';

/**
 * JSON Schema (draft 2020-12) of the value form: one alternative for each edge, one for the end, one for the base form. It
 * refuses nothing that the parser accepts; what a schema cannot say (a count that is at least what a list shows) only the
 * parser checks.
 */
export function handoffSchemaOf(edges: readonly Edge[]): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Handoff',
    description: 'A message that passes work from one agent to the next, in value form.',
    oneOf: [
      ...edges.map((edge) => objectSchema(elementsOfEdge(edge), 'handoff', edge)),
      objectSchema(elementsOfEdge(WORKFLOW_COMPLETE), 'workflow-complete', WORKFLOW_COMPLETE),
      {
        ...objectSchema(elementsOfEdge({ to: '', elements: BASE_ELEMENTS }), 'handoff'),
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

function objectSchema(elements: Elements, kind: HandoffKind, edge?: Edge): JsonSchema {
  const group = groupSchema(elements);
  return {
    ...(edge && { title: `${edge.from} → ${edge.to ?? kind}`, description: `When: ${edge.when}.` }),
    ...group,
    properties: { kind: { const: kind }, ...group.properties, ...(edge && endsOf(edge)) },
    required: [...(kind === 'handoff' ? [] : ['kind']), ...group.required],
  };
}

function groupSchema(elements: Elements) {
  const entries = Object.entries(elements);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, element]) => [name, orNull(element)])),
    required: entries.filter(([, element]) => element.optional !== true).map(([name]) => name),
    additionalProperties: false,
  };
}

/** Null counts as missing, so it is allowed exactly where the element may be missing. */
function orNull(element: Element): JsonSchema {
  const schema = elementSchema(element);
  return element.optional === true ? { anyOf: [schema, { type: 'null' }] } : schema;
}

function elementSchema(element: Element): JsonSchema {
  const about = element.about === undefined ? {} : { description: element.about };
  switch (element.kind) {
    case 'text': {
      const format = element.format === undefined ? {} : ELEMENT_FORMATS[element.format].schema;
      return { type: 'string', ...(element.may_be_empty !== true && { minLength: 1 }), ...format, ...about };
    }
    case 'choice':
      return { enum: element.values, ...about };
    case 'count': {
      const maximum = element.max ?? Number.MAX_SAFE_INTEGER;
      return { type: 'integer', minimum: element.min ?? 0, maximum, ...about };
    }
    case 'flag':
      return { type: 'boolean', ...about };
    case 'list': {
      const text = { kind: 'text' } as const;
      const items = element.attributes ? groupSchema({ ...element.attributes, text }) : elementSchema(text);
      return { type: 'array', items, ...(element.min !== undefined && { minItems: element.min }), ...about };
    }
    case 'group':
      return { ...groupSchema(element.elements), ...about };
    case 'free':
      return { $ref: '#/$defs/data' };
  }
}
