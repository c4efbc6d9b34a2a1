import fc from 'fast-check';
import { isRelativePath } from '../../src/protocol/text/text-format.ts';
import type { Overrides } from './arbitrary-of.ts';
import { anyText, arbitraryOf } from './arbitrary-of.ts';
import type { TestedDialect } from './dialects.ts';

/** Generates valid values of a dialect: from its shape, and for some fields with more constraints. */
export function arbitraryMessage({ name, shape }: TestedDialect): fc.Arbitrary<object> {
  if (shape === undefined) throw new TypeError(`${name} is not declared as a shape`);
  if (name === 'exit') return arbitraryOf(shape, EXIT);
  if (name === 'task-update') return arbitraryOf(shape).filter(blockedHasNotes);
  // Only the fields of a hook's input that Baton uses are passed on.
  if (name === 'stop-hook/input') return arbitraryOf({ ...shape, open: false });
  return arbitraryOf(shape);
}

const EXIT: Overrides = {
  version: fc.stringMatching(/^1\.[0-9]{1,30}\.[0-9]{1,30}$/),
  pr_url: fc
    .webUrl({ validSchemes: ['https'], withFragments: true, withQueryParameters: true })
    .filter((url) => !/[;|`$]/.test(url)),
  evidence_bundle_ref: anyText.filter((path) => isRelativePath(path) && !/\.\.|\\/.test(path)),
  notes: anyText.map((notes) => notes.replace(/[^\P{Cc}\t\n]/gu, '')),
};

function blockedHasNotes(update: object): boolean {
  const { status, notes }: { status?: unknown; notes?: unknown } = update;
  return status !== 'blocked' || (typeof notes === 'string' && notes.trim() !== '');
}
