import { type JsonSchema, jsonSchemaOf, type ObjectShape } from '../protocol/shape/shape.ts';
import type { Operation } from './operations/operation.ts';
import { OPERATIONS } from './operations/registry.ts';
import { VERSION } from './version.ts';

export function openApi() {
  return {
    openapi: '3.1.0',
    info: { title: 'Baton', version: VERSION, description: 'The operations of a Baton daemon. See docs/api.md.' },
    security: [{ token: [] }],
    paths: Object.fromEntries([...OPERATIONS.values()].map((each) => [`/v1/${each.name}`, { post: pathOf(each) }])),
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: ERROR },
    },
  };
}

function pathOf({ name, about, input, result, access, kind }: Operation) {
  return {
    operationId: name,
    description: about,
    'x-baton-callers': access,
    parameters: [PROJECT, ...(kind === 'write' ? [KEY] : [])],
    requestBody: { required: true, content: json(schemaOf(input)) },
    responses: {
      200: { description: 'The result.', content: json(answer({ ok: { const: true }, result: openSchemaOf(result) })) },
      default: {
        description: 'The call was refused, or failed.',
        content: json(answer({ ok: { const: false }, error: { $ref: '#/components/schemas/Error' } })),
      },
    },
  };
}

const PROJECT = {
  name: 'baton-project-path',
  in: 'header',
  description: 'A folder in the repository, percent-encoded. The token of a session names its project.',
  schema: { type: 'string' },
} as const;

const KEY = {
  name: 'idempotency-key',
  in: 'header',
  description: 'A repeat with the same key returns the first answer.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
} as const;

const text = { type: 'string' } as const;

const ERROR = {
  type: 'object',
  required: ['code', 'message', 'hint'],
  properties: {
    code: { ...text, description: 'Stable: see docs/errors.md.' },
    message: text,
    hint: { ...text, description: 'What to do next.' },
    problems: { type: 'array', items: { type: 'object' }, description: 'Every problem of a file, with its place.' },
    rules: { type: 'object', description: 'A runbook that loosens the rules: its hash, and how it differs.' },
  },
} as const;

function answer(properties: JsonSchema): JsonSchema {
  return { type: 'object', required: Object.keys(properties), properties };
}

function json(schema: JsonSchema) {
  return { 'application/json': { schema } };
}

/** A later version may add fields to a result. */
function openSchemaOf(shape: ObjectShape): JsonSchema {
  const closed = (name: string, value: unknown): boolean => name === 'additionalProperties' && value === false;
  return JSON.parse(
    JSON.stringify(schemaOf(shape), (name, value: unknown) => (closed(name, value) ? undefined : value)),
  );
}

function schemaOf(shape: ObjectShape): JsonSchema {
  const { $schema: _, title: __, ...schema } = jsonSchemaOf('', shape);
  return schema;
}
