import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { renderCliPage } from './reference/cli.ts';
import { renderJsonPage } from './reference/json.ts';
import { renderLimitsPage } from './reference/limits.ts';
import { renderMcpPage } from './reference/mcp.ts';
import { renderOpenApi } from './reference/openapi.ts';
import { renderRunbookPage } from './reference/runbook.ts';

/** The pages of docs/reference, by path; `node scripts/render-reference.ts` writes them. */
export const REFERENCE_PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/reference/cli.md': renderCliPage,
  'docs/reference/json.md': renderJsonPage,
  'docs/reference/limits.md': renderLimitsPage,
  'docs/reference/mcp.md': renderMcpPage,
  'docs/reference/openapi.json': renderOpenApi,
  'docs/reference/runbook.md': renderRunbookPage,
};

if (process.argv[1] === import.meta.filename)
  for (const [path, render] of Object.entries(REFERENCE_PAGES)) {
    const file = join(import.meta.dirname, '..', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, await render());
  }
