import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { renderClientTables } from '../scripts/render-clients.ts';
import { renderEntriesPage } from '../scripts/render-entries.ts';
import { renderOperations } from '../scripts/render-operations.ts';
import { REFERENCE_PAGES } from '../scripts/render-reference.ts';
import { renderSandboxTables } from '../scripts/render-sandbox-modes.ts';
import { openApi } from '../src/api/openapi.ts';
import { OPERATIONS } from '../src/api/operations/registry.ts';

it('docs/operations.md matches the declarations', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/operations.md'), 'utf8');
  expect(page, 'run: node scripts/render-operations.ts').toBe(renderOperations());
});

it('docs/entries.md matches the table of entry types', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/entries.md'), 'utf8');
  expect(page, 'run: node scripts/render-entries.ts').toBe(renderEntriesPage());
});

it.each(Object.entries(REFERENCE_PAGES))('%s matches the code', async (path, render) => {
  const page = readFileSync(join(import.meta.dirname, '..', path), 'utf8');
  expect(page, 'run: npm run pages').toBe(await render());
});

it('docs/security.md has the tables of the sandbox', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/security.md'), 'utf8');
  expect(page, 'run: node scripts/render-sandbox-modes.ts').toBe(renderSandboxTables(page));
});

it('docs/agents.md has the tables of the clients', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/agents.md'), 'utf8');
  expect(page, 'run: node scripts/render-clients.ts').toBe(renderClientTables(page));
});

it('the OpenAPI document has a path for every operation, with its result', () => {
  const { paths } = openApi();
  expect(Object.keys(paths)).toEqual([...OPERATIONS.keys()].map((name) => `/v1/${name}`));
  const answered = paths['/v1/task_heartbeat']?.post.responses[200].content['application/json'].schema;
  expect(answered).toMatchObject({
    required: ['ok', 'result'],
    properties: { result: { properties: { task_id: {}, epoch: { type: 'integer' }, expires_at: {} } } },
  });
  // Clients that validate with it must accept fields that a later version adds.
  expect(JSON.stringify(answered)).not.toContain('additionalProperties');
});
