import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { JsonSchema } from '../protocol/shape/shape.ts';

const TOKEN: JsonSchema = {
  type: 'string',
  description:
    'The token that task_claim gave you. Only needed when this connection does not know your claim: it was made over another connection, or the connection was lost since.',
};

export function withTokenArgument(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  return { ...schema, properties: { ...(typeof properties === 'object' ? properties : {}), token: TOKEN } };
}

export function splitToken(args: unknown): { readonly input: unknown; readonly token?: string } {
  if (typeof args !== 'object' || args === null || !('token' in args)) return { input: args };
  const { token, ...input } = args;
  return typeof token === 'string' && token !== '' ? { input, token } : { input };
}

/** A schema that is published and not enforced: the daemon checks every input itself. */
export function uncheckedSchema<T>(schema: JsonSchema): StandardSchemaWithJSON<T, T> {
  const json = (): Record<string, unknown> => ({ ...schema });
  return {
    '~standard': {
      version: 1,
      vendor: 'baton',
      // Unchecked: readers of the value must check it.
      validate: (value) => ({ value: value as T }), // oxlint-disable-line typescript/no-unsafe-type-assertion
      jsonSchema: { input: json, output: json },
    },
  };
}
