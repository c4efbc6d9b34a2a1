import { describe, expect, it } from 'vitest';
import { nodeSha256 } from '../writer/keys.ts';
import type { Json } from './canonical-json.ts';
import { GENESIS, linkDrafts } from './chain.ts';
import { type Draft, prepareDraft } from './draft.ts';
import { LEDGER_LIMITS } from './limits.ts';

const draft: Draft = { actor: 'system:ci', type: 'CheckPassed', data: {} };
const place = { position: 1, size: 5 };

describe('a draft', () => {
  it('is refused with its field named, before it can spoil a commit', () => {
    expect(pathOf({ ...draft, actor: 'root' })).toBe('actor');
    expect(pathOf({ ...draft, type: 'check_passed' })).toBe('type');
    expect(pathOf({ ...draft, cause: 6 })).toBe('cause');
    expect(pathOf({ ...draft, cause: { draft: 1 } })).toBe('cause');
    expect(pathOf({ ...draft, data: { x: 0.5 } })).toBe('');
  });

  it('may follow from an entry, or from an earlier draft of the same call', () => {
    expect(prepareDraft({ ...draft, cause: 5 }, place).ok).toBe(true);
    expect(prepareDraft({ ...draft, cause: { draft: 0 } }, place).ok).toBe(true);
  });

  it('fits if its entry fits, in every language', () => {
    for (const letter of ['x', 'é', '語', '😀', '\u0001']) {
      const most = largest(letter);
      const prepared = prepareDraft({ ...draft, data: { t: letter.repeat(most) } }, place);
      if (!prepared.ok) throw new Error('the largest one that fits is refused');
      const [linked] = linkDrafts(nodeSha256, 'p'.repeat(64), '2026-01-01T00:00:00.000Z', GENESIS, [prepared.value]);
      expect(linked?.stored.bytes.length).toBeLessThanOrEqual(LEDGER_LIMITS.entryBytes);
      expect(linked?.stored.bytes.length).toBeGreaterThan(LEDGER_LIMITS.entryBytes - 100);
    }
  });

  it('counts the envelope as the first level', () => {
    expect(prepareDraft({ ...draft, data: nested(31) }, place).ok).toBe(true);
    expect(prepareDraft({ ...draft, data: nested(32) }, place).ok).toBe(false);
  });

  it('loses its credentials', () => {
    const prepared = prepareDraft(
      { ...draft, data: { log: `token ghp_${'a1'.repeat(18)}`, env: 'FOO=hunter2hunter2' } },
      { ...place, secrets: ['hunter2hunter2'] },
    );
    expect(prepared.ok && prepared.value.dataText).toBe(
      '{"env":"FOO=[redacted:secret]","log":"token [redacted:github-token]"}',
    );
  });
});

function pathOf(draft: Draft): string {
  const prepared = prepareDraft(draft, place);
  return prepared.ok ? 'accepted' : prepared.problems[0].path;
}

function largest(letter: string): number {
  let fits = 0;
  let tooMany: number = LEDGER_LIMITS.entryBytes;
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (prepareDraft({ ...draft, data: { t: letter.repeat(middle) } }, place).ok) fits = middle;
    else tooMany = middle;
  }
  return fits;
}

function nested(depth: number): { a: Json } | Record<string, never> {
  return depth === 1 ? {} : { a: nested(depth - 1) };
}
