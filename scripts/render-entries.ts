import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Shape } from '../src/protocol/shape/shape.ts';
import { EVENTS } from '../src/state/event.ts';

/** Renders docs/entries.md from the table of entry types; `node scripts/render-entries.ts` writes it. */
export function renderEntriesPage(): string {
  const rows = Object.entries<Readonly<Record<string, Shape>>>(EVENTS)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([type, fields]) => `| \`${type}\` | ${Object.entries(fields).map(renderField).join(', ')} |`);
  return `${HEAD}\n${rows.join('\n')}\n`;
}

const HEAD = `# Types of entries

The fields of \`data\` of every type of entry that Baton folds into its state. \`?\` marks a field that may be missing, \`or null\` one whose
value may be null; a field without a type is a text. A test compares this page with \`EVENTS\` in \`src/state/event.ts\`.
\`OutsideCheckpointMissing\` belongs to the ledger itself.

| type | fields |
|---|---|`;

function renderField([name, shape]: readonly [string, Shape]): string {
  const details = [nameOfKind(shape), shape.nullable === true ? 'or null' : ''].filter((part) => part !== '').join(' ');
  return `\`${name}\`${shape.optional === true ? '?' : ''}${details === '' ? '' : ` (${details})`}`;
}

function nameOfKind(shape: Shape): string {
  switch (shape.kind) {
    case 'text':
      return '';
    case 'choice':
      return shape.values.length > 6 ? 'a choice' : [...new Set(shape.values)].join(', ');
    case 'number':
      return 'number';
    case 'flag':
      return 'boolean';
    case 'list':
      return 'list';
    default:
      return 'object';
  }
}

if (process.argv[1] === import.meta.filename)
  writeFileSync(join(import.meta.dirname, '../docs/entries.md'), renderEntriesPage());
