import type { JsonSchema } from '../../protocol/shape/shape.ts';

/** The parts of the OpenAPI document that several paths refer to. */
export const PARAMETERS = {
  project: {
    name: 'baton-project-path',
    in: 'header',
    description:
      'A folder in the repository. Write % and characters outside of ASCII in percent-encoding. Required, unless the token belongs to a session: that token names its project.',
    schema: { type: 'string' },
  },
  key: {
    name: 'idempotency-key',
    in: 'header',
    description: 'A repeat with the same key returns the first answer.',
    schema: { type: 'string', minLength: 1, maxLength: 128, pattern: '^[!-~]+$' },
  },
  version: {
    name: 'baton-version',
    in: 'header',
    description: 'A daemon of another version refuses the call. Without this header, versions are not compared.',
    schema: { type: 'string' },
  },
  last: {
    name: 'last-event-id',
    in: 'header',
    description: 'The number of the last entry that the caller has. The stream starts with the entries after it.',
    schema: { type: 'integer', minimum: 0 },
  },
} as const;

const text = { type: 'string' } as const;
const place = { anyOf: [{ type: 'integer' }, { type: 'null' }] } as const;

export const SCHEMAS = {
  Error: object(
    {
      code: { ...text, description: 'Stable: see docs/errors.md.' },
      message: text,
      hint: { ...text, description: 'What to do next.' },
      problems: {
        type: 'array',
        items: { $ref: '#/components/schemas/Problem' },
        description: 'Every problem of a file, with its place.',
      },
      rules: object(
        { sha256: text, differences: { type: 'array', items: { type: 'object' } } },
        { description: 'A runbook that loosens the rules: its hash, and how it differs.' },
      ),
    },
    { optional: ['problems', 'rules'] },
  ),
  Store: {
    ...object({ away_since: { ...text, format: 'date-time' } }),
    description: 'Present while the database is away: the result is as of then.',
  },
  Problem: object({
    code: text,
    message: text,
    hint: text,
    file: { ...text, description: 'As shown to people: `baton.toml`.' },
    path: { ...text, description: 'The place inside the file: `limits.silence`.' },
    line: place,
    column: place,
  }),
} as const;

export const REFUSED = {
  description: 'The call was refused, or it failed. The status depends on the code; most refusals have 409.',
  content: json(object({ ok: { const: false }, error: { $ref: '#/components/schemas/Error' } })),
} as const;

/** The response of a successful call. */
export function answered(result: JsonSchema) {
  const store = { $ref: '#/components/schemas/Store' };
  return {
    description: 'The result.',
    content: json(object({ ok: { const: true }, result, store }, { optional: ['store'] })),
  };
}

export function refusals() {
  return { default: { $ref: '#/components/responses/Refused' } };
}

export function header(name: keyof typeof PARAMETERS) {
  return { $ref: `#/components/parameters/${name}` };
}

/** Open, because a later version may add fields. */
export function object(
  properties: JsonSchema,
  { optional = [], ...more }: { readonly optional?: readonly string[]; readonly description?: string } = {},
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', ...more, properties, ...(required.length === 0 ? {} : { required }) };
}

export function json(schema: JsonSchema) {
  return { 'application/json': { schema } };
}
