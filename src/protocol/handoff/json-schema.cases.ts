type Schema = Readonly<Record<string, unknown>>;

/** Validates a value against the keywords of JSON Schema that Baton uses. Throws at any other keyword. */
export function fitsSchema(value: unknown, schema: Schema, root: Schema = schema): boolean {
  return Object.entries(schema).every(([keyword, argument]) => {
    const check = KEYWORDS[keyword];
    if (!check) throw new Error(`unknown keyword: ${keyword}`);
    return check(value, argument, schema, root);
  });
}

type Check = (value: unknown, argument: unknown, schema: Schema, root: Schema) => boolean;

const annotation: Check = () => true;

const KEYWORDS: Readonly<Record<string, Check>> = {
  $schema: annotation,
  $defs: annotation,
  title: annotation,
  description: annotation,
  $ref: (value, name, _, root) => fitsSchema(value, find(root, String(name)), root),
  type: (value, type) => typeOf(value).includes(String(type)),
  const: (value, expected) => value === expected,
  enum: (value, values) => listOf(values).includes(value),
  minLength: (value, least) => typeof value !== 'string' || Array.from(value).length >= Number(least),
  pattern: (value, pattern) => typeof value !== 'string' || new RegExp(String(pattern), 'u').test(value),
  minimum: (value, least) => typeof value !== 'number' || value >= Number(least),
  maximum: (value, most) => typeof value !== 'number' || value <= Number(most),
  minItems: (value, least) => !Array.isArray(value) || value.length >= Number(least),
  items: (value, items, _, root) =>
    !Array.isArray(value) || value.every((item) => fitsSchema(item, asSchema(items), root)),
  required: (value, names) => !isObject(value) || listOf(names).every((name) => Object.hasOwn(value, String(name))),
  properties: (value, properties, _, root) =>
    !isObject(value) ||
    Object.entries(asSchema(properties)).every(
      ([name, schema]) => !Object.hasOwn(value, name) || fitsSchema(value[name], asSchema(schema), root),
    ),
  additionalProperties: (value, rest, schema, root) => {
    if (!isObject(value)) return true;
    const others = Object.keys(value).filter((name) => !Object.hasOwn(asSchema(schema['properties'] ?? {}), name));
    return rest === false ? others.length === 0 : others.every((name) => fitsSchema(value[name], asSchema(rest), root));
  },
  anyOf: (value, schemas, _, root) => listOf(schemas).some((schema) => fitsSchema(value, asSchema(schema), root)),
  oneOf: (value, schemas, _, root) =>
    listOf(schemas).filter((schema) => fitsSchema(value, asSchema(schema), root)).length === 1,
  not: (value, schema, _, root) => !fitsSchema(value, asSchema(schema), root),
};

function find(root: Schema, reference: string): Schema {
  return asSchema(asSchema(root['$defs'])[reference.replace('#/$defs/', '')]);
}

function typeOf(value: unknown): string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value];
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw new Error('a schema needs a list with something in it here');
  return value;
}

function asSchema(value: unknown): Schema {
  if (!isObject(value)) throw new Error('a schema must be an object');
  return value;
}

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
