import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { renderCapabilities } from './capabilities.ts';

const PAGE = join(import.meta.dirname, '../../docs/clients.md');

/** `UPDATE_DOCS=1 npm test -- clients/table` writes it. */
it('has the table of what each client can do in the documentation', () => {
  const page = readFileSync(PAGE, 'utf8');
  const wanted = page.replace(
    /(<!-- capabilities: [^\n]*-->\n)[\s\S]*?(<!-- \/capabilities -->)/,
    (_, start: string, end: string) => `${start}\n${renderCapabilities()}\n\n${end}`,
  );
  if (process.env['UPDATE_DOCS'] !== undefined) writeFileSync(PAGE, wanted);
  expect(readFileSync(PAGE, 'utf8')).toBe(wanted);
  expect(wanted).toContain('| the stop hook |');
});
