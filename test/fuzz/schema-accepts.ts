import type { JsonSchema } from '../../src/protocol/shape/shape.ts';

/**
 * The part of JSON Schema that our schemas use, implemented from the specification and not from our code. Throws at an
 * unsupported keyword, so that no rule of a schema is ignored.
 */
export function schemaAccepts(schema: JsonSchema, value: unknown): boolean {
  return Object.entries(schema).every(([keyword, rule]) => {
    const check = KEYWORDS[keyword];
    if (check === undefined) throw new TypeError(`unknown keyword ${keyword}`);
    return check(rule, value, schema);
  });
}

type Check = (rule: unknown, value: unknown, schema: JsonSchema) => boolean;

const always: Check = () => true;

const KEYWORDS: Readonly<Record<string, Check>> = {
  $schema: always,
  title: always,
  description: always,
  // An annotation: validators check it only if their options say so.
  format: always,
  type: (rule, value) => typeOf(value) === rule || (rule === 'integer' && Number.isInteger(value)),
  enum: (rule, value) => isList(rule) && rule.includes(value),
  const: (rule, value) => rule === value,
  anyOf: (rule, value) => isList(rule) && rule.some((schema) => schemaAccepts(asSchema(schema), value)),
  propertyNames: (rule, value) =>
    !isObject(value) || Object.keys(value).every((name) => schemaAccepts(asSchema(rule), name)),
  minimum: (rule, value) => typeof value !== 'number' || value >= Number(rule),
  maximum: (rule, value) => typeof value !== 'number' || value <= Number(rule),
  minLength: (rule, value) => typeof value !== 'string' || Array.from(value).length >= Number(rule),
  pattern: (rule, value) => typeof value !== 'string' || new RegExp(String(rule), 'u').test(value),
  minItems: (rule, value) => !isList(value) || value.length >= Number(rule),
  maxItems: (rule, value) => !isList(value) || value.length <= Number(rule),
  maxProperties: (rule, value) => !isObject(value) || Object.keys(value).length <= Number(rule),
  items: (rule, value) => !isList(value) || value.every((item) => schemaAccepts(asSchema(rule), item)),
  required: (rule, value) =>
    !isObject(value) || (isList(rule) && rule.every((name) => Object.hasOwn(value, String(name)))),
  properties: (rule, value) =>
    !isObject(value) ||
    Object.entries(asSchema(rule)).every(
      ([name, schema]) => !Object.hasOwn(value, name) || schemaAccepts(asSchema(schema), value[name]),
    ),
  additionalProperties: (rule, value, { properties }) =>
    rule === true ||
    !isObject(value) ||
    Object.keys(value)
      .filter((name) => !Object.hasOwn(asSchema(properties ?? {}), name))
      .every((name) => rule !== false && schemaAccepts(asSchema(rule), value[name])),
};

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isObject(value: unknown): value is JsonSchema {
  return typeOf(value) === 'object';
}

function asSchema(rule: unknown): JsonSchema {
  if (!isObject(rule)) throw new TypeError('a schema must be an object');
  return rule;
}
