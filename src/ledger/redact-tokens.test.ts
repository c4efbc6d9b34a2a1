import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyEmbedding, anyToken } from '../protocol/own-tokens.cases.ts';
import { secretForms, secretPartOf } from '../protocol/redact-tokens.ts';
import { prepareDraft } from './format/draft.ts';

/** The data as the ledger would record it. */
function stored(data: Record<string, string | readonly string[]>, secrets: readonly string[] = []): string {
  const draft = prepareDraft({ actor: 'session:s1', type: 'TaskProgressed', data }, { position: 0, size: 0, secrets });
  if (!draft.ok) throw new Error(draft.problems[0].message);
  return draft.value.dataText;
}

describe('a token of Baton in anything that is recorded', () => {
  it('is never stored, in any field and any surrounding text', () => {
    fc.assert(
      fc.property(
        anyToken,
        anyEmbedding,
        fc.constantFrom('notes', 'xml', 'summary', 'reason'),
        (token, embed, field) => {
          const text = stored({ task_id: 'T1', [field]: embed(token), log: [embed(token)] });
          expect(text).not.toContain(secretPartOf(token));
          expect(text).toContain('[redacted:');
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('that is known is removed even inside a longer word, without its letter, and in base64', () => {
    fc.assert(
      fc.property(anyToken, fc.string(), fc.string(), (token, before, after) => {
        const secret = secretPartOf(token);
        const secrets = secretForms(token);
        expect(stored({ notes: `x${secret}y` }, secrets)).not.toContain(secret);
        const hidden = Buffer.from(`${before}${token}${after}`).toString('base64');
        const kept = stored({ notes: `it is ${hidden}` }, secrets);
        expect(kept).toContain('[redacted:');
        expect(secrets.filter((form) => kept.includes(form))).toEqual([]);
      }),
    );
  });
});
