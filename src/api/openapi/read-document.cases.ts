import { schemaAccepts } from '../../../test/fuzz/schema-accepts.ts';
import { fieldOf, fieldsOf, type Fields, isObject } from '../../protocol/shape/read-unknown.ts';
import type { JsonSchema } from '../../protocol/shape/shape.ts';
import { openApi } from './document.ts';

/** The document as a client receives it. */
export const DOCUMENT: Fields = fieldsOf(JSON.parse(JSON.stringify(openApi())));

/** Resolves a reference within the document. */
export function resolve(reference: string): unknown {
  const names = reference.split('/').slice(1);
  return names.reduce<unknown>((at, name) => fieldOf(at, name), DOCUMENT);
}

/** Throws if a response with status 200 does not match the document. */
export function requireDocumented(path: string, method: 'get' | 'post', body: unknown): void {
  const key = `${method} ${path}`;
  const schema = SCHEMAS.get(key) ?? fieldsOf(withoutReferences(findSchema(path, method)));
  SCHEMAS.set(key, schema);
  if (!schemaAccepts(schema, body)) throw new Error(`the answer of ${key} is not as in the OpenAPI document`);
}

const SCHEMAS = new Map<string, JsonSchema>();

function findSchema(path: string, method: string): unknown {
  const found = ['paths', path, method, 'responses', '200', 'content', 'application/json', 'schema'].reduce<unknown>(
    (at, name) => fieldOf(at, name),
    DOCUMENT,
  );
  if (found === undefined) throw new Error(`${method} ${path} has no result in the OpenAPI document`);
  return found;
}

/** Inlines each referenced schema, because Baton's validator does not support references. */
export function withoutReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutReferences);
  if (!isObject(value)) return value;
  const { $ref, ...rest } = value;
  if (typeof $ref === 'string') return withoutReferences({ ...fieldsOf(resolve($ref)), ...rest });
  return Object.fromEntries(Object.entries(rest).map(([name, inner]) => [name, withoutReferences(inner)]));
}
