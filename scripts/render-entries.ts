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

This page lists every type of entry that Baton folds into its state, with the fields of its \`data\`. To see real entries, type
\`baton ledger log --type TYPE --json\`. A field with \`?\` may be missing, and the value of a field with \`or null\` may be null. A
field without a type is a text. \`npm run pages\` makes this page from \`EVENTS\` in \`src/state/event.ts\`. The ledger itself has one
more type, \`OutsideCheckpointMissing\`.

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
