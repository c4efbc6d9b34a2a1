import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readPersonal } from '../../runbook/personal/read-personal.ts';
import { acceptUnproven } from './accept-unproven.ts';

it.each([
  ['no configuration', undefined],
  ['a floor', '[floor]\nsandbox = "bubblewrap"\n'],
  ['a review section before others', '[review]\nunseparated = "ask"\n\n[floor]\nsandbox = "bubblewrap"\n'],
  ['an inline table', 'review = { unseparated = "ask" }\n[floor]\nsandbox = "bubblewrap"\n'],
  ['a dotted name', 'review.unseparated = "ask"\n[floor]\nsandbox = "bubblewrap"\n'],
])('accepts unproven approvals and keeps the floor: %s', (_, text) => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-accept-'));
  try {
    const home = { HOME: join(folder, 'home') };
    mkdirSync(join(folder, 'home/.config/baton'), { recursive: true });
    if (text !== undefined) writeFileSync(join(folder, 'home/.config/baton/config.toml'), text);
    const { value, problems } = readPersonal({ ...home, ...acceptUnproven(folder, home) });
    expect(problems).toEqual([]);
    expect(value.review.unseparated).toBe('accept');
    expect(value.floor.sandbox).toBe(text === undefined ? 'none' : 'bubblewrap');
    expect(readPersonal(home).value.review.unseparated).toBe('ask');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
