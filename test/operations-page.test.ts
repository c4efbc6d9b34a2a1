import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { renderClientTables } from '../scripts/render-clients.ts';
import { renderDoctorFindings } from '../scripts/render-doctor.ts';
import { renderEntriesPage } from '../scripts/render-entries.ts';
import { renderOperations } from '../scripts/render-operations.ts';
import { REFERENCE_PAGES } from '../scripts/render-reference.ts';
import { renderRegistries, renderSandboxTables } from '../scripts/render-sandbox-modes.ts';

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
  expect(changedLines(page, await render()), 'run: npm run pages').toEqual([]);
});

it('docs/security.md has the tables of the sandbox', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/security.md'), 'utf8');
  expect(page, 'run: node scripts/render-sandbox-modes.ts').toBe(renderSandboxTables(page));
});

it('docs/network.md has the registries of the network dev', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/network.md'), 'utf8');
  expect(page, 'run: node scripts/render-sandbox-modes.ts').toBe(renderRegistries(page));
});

it('docs/agents.md has the tables of the clients', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/agents.md'), 'utf8');
  expect(page, 'run: node scripts/render-clients.ts').toBe(renderClientTables(page));
});

it('docs/doctor.md has every finding', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/doctor.md'), 'utf8');
  expect(page, 'run: node scripts/render-doctor.ts').toBe(renderDoctorFindings(page));
});

/** The beginnings of the lines that differ, because a line of the OpenAPI document is long. */
function changedLines(page: string, rendered: string): string[] {
  const [found, expected] = [page.split('\n'), rendered.split('\n')];
  const length = Math.max(found.length, expected.length);
  return Array.from({ length }, (_, i) => i)
    .filter((i) => found[i] !== expected[i])
    .map((i) => `${i + 1}: ${(expected[i] ?? '(none)').slice(0, 100)}`);
}
