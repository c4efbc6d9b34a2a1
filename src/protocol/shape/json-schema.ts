import type { ObjectShape, Shape, TextFormat, TextShape } from './shape.ts';

/** JSON Schema, draft 2020-12: as much of a shape as a schema can say, for editors and for other people's validators. */
export type JsonSchema = { readonly [key: string]: unknown };

export function jsonSchemaOf(title: string, shape: ObjectShape): JsonSchema {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title, ...schemaOf(shape) };
}

function schemaOf(shape: Shape): JsonSchema {
  const about = shape.about === undefined ? {} : { description: shape.about };
  return { ...about, ...typeOf(shape) };
}

function typeOf(shape: Shape): JsonSchema {
  switch (shape.kind) {
    case 'text':
      return textSchema(shape);
    case 'choice':
      return { type: 'string', enum: shape.values };
    case 'number':
      return {
        type: shape.whole ? 'integer' : 'number',
        ...(shape.min === undefined ? {} : { minimum: shape.min }),
        ...(shape.max === undefined ? {} : { maximum: shape.max }),
      };
    case 'flag':
      return shape.only === undefined ? { type: 'boolean' } : { type: 'boolean', const: shape.only };
    case 'list':
      return {
        type: 'array',
        items: schemaOf(shape.of),
        ...(shape.min === undefined ? {} : { minItems: shape.min }),
        ...(shape.max === undefined ? {} : { maxItems: shape.max }),
      };
    case 'object':
      return objectSchema(shape);
    case 'map':
      return {
        type: 'object',
        propertyNames: textSchema({ kind: 'text', ...shape.names }),
        additionalProperties: schemaOf(shape.of),
        ...(shape.max === undefined ? {} : { maxProperties: shape.max }),
      };
    case 'either':
      return { anyOf: shape.options.map(schemaOf) };
    case 'any':
      return {};
  }
}

function objectSchema(shape: ObjectShape): JsonSchema {
  const fields = Object.entries(shape.fields);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, field]) => [name, schemaOf(field)])),
    required: fields.filter(([, field]) => !field.optional).map(([name]) => name),
    additionalProperties: shape.open === true,
  };
}

const FORMATS: Record<TextFormat, JsonSchema> = {
  'iso-8601': { format: 'date-time' },
  'relative-path': {
    pattern: '^(?![/\\\\])(?![A-Za-z]:)(?!([\\s\\S]*[/\\\\])?\\.\\.([/\\\\]|$))[^\\u0000-\\u001f\\u007f-\\u009f]+$',
  },
  'git-ref': { pattern: '^(?!-)[^\\u0000-\\u0020\\u007f-\\u009f~^:?*\\[\\\\]+$' },
  'git-sha': { pattern: '^[0-9a-fA-F]{1,64}$' },
};

function textSchema(shape: TextShape): JsonSchema {
  return {
    type: 'string',
    ...(shape.notEmpty ? { minLength: 1 } : {}),
    ...(shape.format === undefined ? {} : FORMATS[shape.format]),
    ...(shape.pattern === undefined ? {} : { pattern: shape.pattern }),
  };
}
