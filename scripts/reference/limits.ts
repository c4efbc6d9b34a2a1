import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVER_LIMITS } from '../../src/daemon/limits.ts';
import { PROTOCOL_LIMITS } from '../../src/protocol/limits.ts';
import type { Shape } from '../../src/protocol/shape/shape.ts';
import { limitsShape } from '../../src/runbook/shape/limits-shape.ts';
import { joinSections, renderTable } from './table.ts';

/** Renders docs/reference/limits.md from the constants, with the comments of their source. */
export function renderLimitsPage(): string {
  const runbook = Object.entries<Shape>(limitsShape.fields).map(([name, { about }]) => [
    `\`limits.${name}\``,
    about ?? '',
  ]);
  return joinSections([
    HEAD,
    '## Limits that you set',
    'In the runbook, for a project:',
    renderTable(['field', 'meaning'], runbook),
    '## Limits of messages',
    'Limits of what agents and people send. Sizes are UTF-8 bytes.',
    renderTable(['limit', 'value', 'meaning'], rowsOf(PROTOCOL_LIMITS, 'src/protocol/limits.ts')),
    '## Limits of the daemon',
    'Limits of the socket and the port. A request over a limit gets an error, and nothing is lost.',
    renderTable(
      ['limit', 'value', 'meaning'],
      rowsOf(SERVER_LIMITS, 'src/api/http/request.ts', 'src/daemon/limits.ts'),
    ),
  ]);
}

const HEAD = `# Limits

This page lists every limit with its value. [Runbooks](../runbooks.md#limits) has the limits of a runbook file, and [the
ledger](../ledger.md#what-is-stored) the limits of an entry. \`npm run pages\` makes this page from the code.`;

function rowsOf(limits: Readonly<Record<string, number>>, ...files: readonly string[]): (readonly string[])[] {
  const source = files.map((file) => readFileSync(join(import.meta.dirname, '../..', file), 'utf8')).join('\n');
  return Object.entries(limits).map(([name, value]) => {
    const about = new RegExp(`/\\*\\* ([^\\n]*) \\*/\\n\\s*${name}:`).exec(source)?.[1] ?? '';
    return [wordsOf(name), renderValue(name, value), about];
  });
}

/** Converts `headersTimeoutMs` to `headers timeout`. The unit is shown with the value. */
function wordsOf(name: string): string {
  return name.replace(/(?:Ms|Bytes|Characters)$/, '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function renderValue(name: string, value: number): string {
  if (name.endsWith('Ms')) return value % 1000 === 0 ? `${value / 1000} s` : `${value} ms`;
  const [, unit = ''] = /(Bytes|Characters)$/.exec(name) ?? [];
  if (unit === 'Bytes' && value % 1024 === 0)
    return value % (1024 * 1024) === 0 ? `${value / (1024 * 1024)} MiB` : `${value / 1024} KiB`;
  return `${value.toLocaleString('en')}${unit === '' ? '' : ` ${unit.toLowerCase()}`}`;
}
