import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { JsonSchema } from '../protocol/shape/json-schema.ts';

/**
 * A schema that is shown and not enforced. The daemon checks every input itself, with the texts that all surfaces share; a
 * second check here would only answer first, in other words.
 */
export function uncheckedSchema<T>(schema: JsonSchema): StandardSchemaWithJSON<T, T> {
  const json = (): Record<string, unknown> => ({ ...schema });
  return {
    '~standard': {
      version: 1,
      vendor: 'baton',
      // The type is a wish: whoever reads the value has to look at it.
      validate: (value) => ({ value: value as T }), // oxlint-disable-line typescript/no-unsafe-type-assertion
      jsonSchema: { input: json, output: json },
    },
  };
}
