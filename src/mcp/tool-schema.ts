import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { fieldsOf, listOf } from '../protocol/shape/read-unknown.ts';
import type { JsonSchema } from '../protocol/shape/shape.ts';

const TOKEN: JsonSchema = {
  type: 'string',
  description: 'The token of a claim that another connection made.',
};

/**
 * Shortens a schema to what a model needs. Patterns, unknown fields and empty texts are omitted, because the
 * descriptions or the daemon's refusals explain them. So are descriptions that repeat a format or, in the items of a
 * list, the values. `isDescribed` is false if another tool in the list describes the same fields.
 */
export function listedSchema(schema: JsonSchema, isDescribed = true, isItem = false): JsonSchema {
  const { type, enum: values, minimum, maximum, minItems, format, description, properties, items, required } = schema;
  const isPlain = format !== undefined || (isItem && (values !== undefined || type === 'string'));
  const fields = Object.entries(fieldsOf(properties)).map(([name, field]) => {
    const of = fieldsOf(field);
    return [name, listedSchema(of, isDescribed, isItem && of['enum'] !== undefined)];
  });
  return withoutUndefined({
    description: isDescribed && !isPlain ? description : undefined,
    type,
    enum: values,
    minimum,
    maximum,
    minItems,
    format,
    items: items === undefined ? undefined : listedSchema(fieldsOf(items), isDescribed, true),
    // Models' APIs refuse an object without properties.
    properties: type === 'object' ? Object.fromEntries(fields) : undefined,
    required: listOf(required).length === 0 ? undefined : required,
  });
}

function withoutUndefined(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}

export function withoutFields(schema: JsonSchema, names: readonly string[]): JsonSchema {
  const properties = Object.entries(fieldsOf(schema['properties'])).filter(([name]) => !names.includes(name));
  return { ...schema, properties: Object.fromEntries(properties) };
}

export function withTokenArgument(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  return { ...schema, properties: { ...(typeof properties === 'object' ? properties : {}), token: TOKEN } };
}

export function splitToken(args: unknown): { readonly input: unknown; readonly token?: string } {
  if (typeof args !== 'object' || args === null || !('token' in args)) return { input: args };
  const { token, ...input } = args;
  return typeof token === 'string' && token !== '' ? { input, token } : { input };
}

/** Wraps a schema that is published but not enforced: the daemon checks every input itself. */
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
