import { describe, expect, it } from 'vitest';
import { schemaAccepts } from '../../../test/fuzz/schema-accepts.ts';
import { fieldsOf, type Fields, isObject } from '../../protocol/shape/read-unknown.ts';
import { OPERATIONS } from '../operations/registry.ts';
import { DOCUMENT, requireDocumented, resolve, withoutReferences } from './read-document.cases.ts';

const operations = Object.entries(fieldsOf(DOCUMENT['paths'])).flatMap(([path, item]) =>
  Object.entries(fieldsOf(item)).map(([method, operation]) => ({ path, method, operation: fieldsOf(operation) })),
);
const components = fieldsOf(DOCUMENT['components']);
const schemas = fieldsOf(components['schemas']);

describe('the OpenAPI document', () => {
  it('has every operation at its path, with its callers', () => {
    const found = operations.filter(({ operation }) => 'x-baton-kind' in operation);
    expect(found.map(({ path, method }) => `${method} ${path}`)).toEqual(
      [...OPERATIONS.keys()].toSorted().map((name) => `post /v1/${name}`),
    );
    for (const { operation } of found)
      expect(operation['x-baton-callers']).toEqual(OPERATIONS.get(String(operation['operationId']))?.access);
  });

  it('has only the objects and fields of OpenAPI 3.1', () => {
    expect(problemsOf(DOCUMENT, 'document', '#')).toEqual([]);
  });

  it.each([
    [{ openapi: '3.1.0', info: { title: 'x' }, paths: {} }, '#/info lacks version'],
    [{ openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: { '/a': { fetch: {} } } }, '#/paths/~1a has fetch'],
    [{ openapi: '3.1.0', info: { title: 'x', version: '1' }, tags: {} }, '#/tags is no list'],
  ])('detects a broken one: %j', (document, problem) => {
    expect(problemsOf(document, 'document', '#')).toEqual([problem]);
  });

  it('has only references that resolve, and no unreferenced schema', () => {
    const references = referencesIn(DOCUMENT);
    expect(references.filter((each) => resolve(each) === undefined)).toEqual([]);
    const defined = ['parameters', 'responses', 'schemas'].flatMap((kind) =>
      Object.keys(fieldsOf(components[kind])).map((name) => `#/components/${kind}/${name}`),
    );
    expect(defined.filter((each) => !references.includes(each))).toEqual([]);
  });

  it('has unique names that code generators take', () => {
    const ids = operations.map(({ operation }) => operation['operationId']);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids, ...Object.keys(schemas)].filter((name) => !/^[A-Za-z]\w*$/.test(String(name)))).toEqual([]);
    const declared = Array.isArray(DOCUMENT['tags']) ? DOCUMENT['tags'].map((tag) => fieldsOf(tag)['name']) : [];
    expect(operations.filter(({ operation: { tags } }) => !declared.includes(Object(tags)[0]))).toEqual([]);
  });

  it("has only schemas with keywords that Baton's validator supports", () => {
    // The validator throws at an unknown keyword. Each inner schema is validated alone, so that none is skipped.
    const inner = schemasIn(withoutReferences(schemas));
    expect(inner.length).toBeGreaterThan(1000);
    expect(() => inner.map((schema) => schemaAccepts(schema, {}))).not.toThrow();
  });

  it('is strict about inputs, and lets a later version add fields to results', () => {
    const closed = Object.entries(schemas).filter(([, schema]) =>
      JSON.stringify(schema).includes('"additionalProperties":false'),
    );
    expect(closed.map(([name]) => name).filter((name) => !name.endsWith('Input'))).toEqual([]);
    const open = Object.entries(schemas).filter(
      ([name, schema]) => name.endsWith('Input') && fieldsOf(schema)['additionalProperties'] !== false,
    );
    const declaredOpen = [...OPERATIONS.values()].filter(({ input }) => input.open === true).length;
    expect(open.map(([name]) => name)).toHaveLength(declaredOpen);
  });

  it('distinguishes a wrong answer from a right one', () => {
    const result = { task_id: 'A', epoch: 1, expires_at: '2026-01-01T00:00:00.000Z' };
    const check = (body: unknown) => () => requireDocumented('/v1/task_heartbeat', 'post', body);
    expect(check({ ok: true, result })).not.toThrow();
    expect(check({ ok: true, result: { ...result, later: 1 } })).not.toThrow();
    expect(check({ ok: true, result: { ...result, epoch: '1' } })).toThrow('task_heartbeat');
    expect(check({ ok: true, result: {} })).toThrow('task_heartbeat');
    expect(check({ ok: false, result })).toThrow('task_heartbeat');
  });
});

/**
 * The OpenAPI 3.1 objects that Baton uses, from the specification: each field with the kind of its value. `[]` is a
 * list, `{}` a map.
 */
const OBJECTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  document: { openapi: '', info: 'info', security: '[]', tags: '[]tag', paths: '{}path', components: 'components' },
  info: { title: '', version: '', summary: '', description: '', license: 'license' },
  license: { name: '', identifier: '' },
  tag: { name: '', description: '' },
  path: { get: 'operation', post: 'operation' },
  operation: {
    operationId: '',
    tags: '[]',
    summary: '',
    description: '',
    parameters: '[]parameter',
    requestBody: 'body',
    responses: '{}response',
    'x-baton-callers': '[]',
    'x-baton-kind': '',
  },
  parameter: { name: '', in: '', description: '', required: '', schema: 'schema' },
  body: { required: '', content: '{}media' },
  response: { description: '', content: '{}media' },
  media: { schema: 'schema' },
  components: {
    securitySchemes: '{}scheme',
    parameters: '{}parameter',
    responses: '{}response',
    schemas: '{}schema',
  },
  scheme: { type: '', scheme: '', description: '' },
};

const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  document: ['openapi', 'info'],
  info: ['title', 'version'],
  license: ['name'],
  tag: ['name'],
  operation: ['responses'],
  parameter: ['name', 'in', 'schema'],
  body: ['content'],
  response: ['description'],
  scheme: ['type', 'scheme'],
};

function problemsOf(value: unknown, kind: string, place: string): string[] {
  if (kind.startsWith('[]')) {
    if (!Array.isArray(value)) return [`${place} is no list`];
    return value.flatMap((item, i) => problemsOf(item, kind.slice(2), `${place}/${i}`));
  }
  const fields = OBJECTS[kind];
  if (kind === '') return [];
  if (!isObject(value)) return [`${place} is no object`];
  const inner = (name: string): string => `${place}/${name.replaceAll('/', '~1')}`;
  if (kind.startsWith('{}'))
    return Object.entries(value).flatMap(([name, each]) => problemsOf(each, kind.slice(2), inner(name)));
  if (typeof value['$ref'] === 'string' || fields === undefined) return [];
  const missing = (REQUIRED[kind] ?? []).filter((name) => !(name in value)).map((name) => `${place} lacks ${name}`);
  const found = Object.entries(value).flatMap(([name, each]) => {
    const of = fields[name];
    return of === undefined ? [`${place} has ${name}`] : problemsOf(each, of, inner(name));
  });
  return [...missing, ...found];
}

function referencesIn(value: unknown): string[] {
  if (!isObject(value)) return Array.isArray(value) ? value.flatMap(referencesIn) : [];
  const own = typeof value['$ref'] === 'string' ? [value['$ref']] : [];
  return [...own, ...Object.values(value).flatMap(referencesIn)];
}

/** Every schema inside a map of schemas. */
function schemasIn(map: unknown): Fields[] {
  return Object.values(fieldsOf(map)).flatMap((schema) => {
    const { properties, items, anyOf, additionalProperties } = fieldsOf(schema);
    const options: unknown[] = Array.isArray(anyOf) ? anyOf : [];
    const nested = [items, additionalProperties, ...options].filter(isObject);
    return [fieldsOf(schema), ...schemasIn(properties), ...schemasIn(Object.fromEntries(nested.entries()))];
  });
}
