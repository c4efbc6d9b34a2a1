import type { JsonSchema } from '../protocol/shape/json-schema.ts';

const TOKEN: JsonSchema = {
  type: 'string',
  description:
    'The token that task_claim gave you. Only needed when this connection does not know your claim: it was made over another connection, or the connection was lost since.',
};

/** The schema of an operation, with the token of a claim as one more argument. */
export function withTokenArgument(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  return { ...schema, properties: { ...(typeof properties === 'object' ? properties : {}), token: TOKEN } };
}

/** Takes the token out again: it says who speaks, and is no part of what is said. */
export function splitToken(args: unknown): { readonly input: unknown; readonly token?: string } {
  if (typeof args !== 'object' || args === null || !('token' in args)) return { input: args };
  const { token, ...input } = args;
  return typeof token === 'string' && token !== '' ? { input, token } : { input };
}
