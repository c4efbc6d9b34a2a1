import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderModes } from '../src/sandbox/modes.ts';
import { CODE_FILES } from '../src/protocol/code-files/code-files.ts';
import { REGISTRIES } from '../src/sandbox/network/registries.ts';
import { HOME_TABLE } from '../src/sandbox/plan/home-table.ts';

/**
 * Fills in the tables of docs/security.md that come from the code; `node scripts/render-sandbox-modes.ts` writes them.
 */
export function renderSandboxTables(page: string): string {
  const withModes = fill(fill(page, 'sandbox-modes', renderModes()), 'sandbox-home', renderHome());
  return fill(withModes, 'code-files', renderCodeFiles());
}

/** Fills in the registries of docs/network.md. */
export function renderRegistries(page: string): string {
  const rows = REGISTRIES.map(({ hosts, serves }) => `| ${serves} | ${hosts.map((host) => `\`${host}\``).join(' ')} |`);
  return fill(page, 'registries', ['| for | hosts |', '|---|---|', ...rows].join('\n'));
}

function renderCodeFiles(): string {
  const rows = CODE_FILES.map(({ kind, reason, patterns }) => {
    const shown = patterns.map((pattern) => `\`${pattern}\``).join(' ');
    return `| ${kind} | ${reason} | ${shown} |`;
  });
  return ['| kind | why | paths |', '|---|---|---|', ...rows].join('\n');
}

function renderHome(): string {
  const rows = HOME_TABLE.map(({ group, treatment, why, paths }) => {
    const shown = paths.map((path) => `\`${path}\``).join(' ');
    return `| ${group} | ${treatment} | ${why} | ${shown} |`;
  });
  return ['| group | treatment | why | paths below HOME |', '|---|---|---|---|', ...rows].join('\n');
}

function fill(page: string, name: string, table: string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [before, rest] = [page.slice(0, page.indexOf(start)), page.slice(page.indexOf(end))];
  if (!page.includes(start) || !page.includes(end)) throw new Error(`the page has no place for ${name}`);
  return `${before}${start}\n\n${table}\n\n${rest}`;
}

if (process.argv[1] === import.meta.filename) {
  const path = join(import.meta.dirname, '../docs/security.md');
  writeFileSync(path, renderSandboxTables(readFileSync(path, 'utf8')));
  const network = join(import.meta.dirname, '../docs/network.md');
  writeFileSync(network, renderRegistries(readFileSync(network, 'utf8')));
}
