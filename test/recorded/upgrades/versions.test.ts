import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EVENTS } from '../../../src/state/event.ts';
import { ENTRIES_SINCE_LAST_VERSION, VERSIONS } from './versions.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/upgrades');

describe('the recorded versions', () => {
  it.each(Object.keys(VERSIONS))('have a ledger of %s', (name) => {
    expect(existsSync(join(FOLDER, `${name}.json.br`))).toBe(true);
  });

  it('include the last commit before the entries changed', () => {
    const entries = JSON.stringify(EVENTS, withoutDescriptions);
    const hash = createHash('sha256').update(entries).digest('hex').slice(0, 16);
    expect(hash, 'The entries changed. Record the commit before: see ENTRIES_SINCE_LAST_VERSION').toBe(
      ENTRIES_SINCE_LAST_VERSION,
    );
  });
});

/** A field may be named `about`, too, but then it is an object. */
function withoutDescriptions(key: string, value: unknown): unknown {
  return key === 'about' && typeof value === 'string' ? undefined : value;
}
