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
    const entries = createHash('sha256').update(JSON.stringify(EVENTS)).digest('hex').slice(0, 16);
    expect(entries, 'The entries changed. Record the commit before: see ENTRIES_SINCE_LAST_VERSION').toBe(
      ENTRIES_SINCE_LAST_VERSION,
    );
  });
});
