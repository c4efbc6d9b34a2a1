import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { webVerifier } from '../../src/ledger/format/crypto.ts';
import { exportLedger } from '../../src/ledger/verify/export.ts';
import { renderTaskProof } from '../../src/ledger/verify/proof-text.ts';
import { makeTaskProof } from '../../src/ledger/verify/task-proof.ts';
import { nodeVerifier } from '../../src/ledger/writer/keys.ts';
import { countDraft, numberDrafts, openTestLedger, record, testDraft } from '../../src/ledger/writer/ledger.cases.ts';
import { checkFile, type CheckedFile } from '../../src/web/hub/check-file.ts';

describe('a file that was dropped on the page', () => {
  let proof = '';
  let exported = '';

  beforeAll(async () => {
    const ledger = await openTestLedger();
    const drafts = Array.from({ length: 200 }, (_, i) => testDraft(i, i % 2 === 0 ? 'T001' : 'T002'));
    const last = new Map<string, number>();
    await record(ledger, [...numberDrafts(last, drafts), countDraft(last, 'T002')]);
    const made = await makeTaskProof(ledger.store, nodeVerifier, 'demo', 'T002');
    proof = made.ok ? renderTaskProof(made.value) : '';
    for await (const lines of exportLedger(ledger.store, nodeVerifier, 'demo')) exported += lines;
  });

  it('proves a task, and refuses another spelling of the proof', async () => {
    const expected = { ok: true, kind: 'task proof', project: 'demo', taskId: 'T002', entries: 101, size: 202 };
    expect(await check(proof)).toMatchObject({ ...expected, complete: { from: 3, to: 202 } });
    for (const changed of [
      JSON.stringify(JSON.parse(proof), null, 2),
      proof.replace('"v":2}', '"v":2,"v":2}'),
      proof.replace('"task_id":', '"task_id":"T001","task_id":'),
    ])
      expect(await check(changed)).toMatchObject({ ok: false });
  });

  it('proves a whole ledger, also packed, and refuses other bytes', async () => {
    const expected = { ok: true, kind: 'export', project: 'demo', entries: 202, size: 202 };
    expect(await check(exported)).toMatchObject(expected);
    for (const changed of [exported.replaceAll('\n', '\r\n'), exported.replace('"notes":', '"notes":"","notes":')])
      expect(await check(changed)).toMatchObject({ ok: false });
    expect(await checkFile(new Blob([gzipSync(exported)]), OPTIONS)).toMatchObject(expected);
  });

  it('has the same root in the proof and in the export', async () => {
    const [a, b] = [await check(proof), await check(exported)];
    expect(a.ok && a.root).toMatch(/^[0-9a-f]{64}$/);
    expect(a.ok && a.root).toBe(b.ok && b.root);
  });

  it('is refused with the first fault', async () => {
    const changed = exported.replace('Schritt 77 ', 'Schritt 78 ');
    expect(await check(changed)).toMatchObject({
      ok: false,
      problem: { message: expect.stringContaining('entry 79') },
    });
    const other = proof.replace('Schritt 77 ', 'Schritt 78 ');
    expect(await check(other)).toMatchObject({ ok: false, problem: { message: expect.stringContaining('entry 79') } });
    for (const text of ['', '{', 'hello', '{"entry":1}', exported.slice(0, exported.length / 2)])
      expect(await check(text)).toMatchObject({ ok: false });
  });

  it('stops when the outcome is no longer needed', async () => {
    const signal = AbortSignal.abort();
    const checked = await checkFile(new Blob([exported]), { ...OPTIONS, signal });
    expect(checked).toMatchObject({ ok: false, problem: { code: 'stopped' } });
  });
});

const OPTIONS = { verifier: webVerifier, turn: async (): Promise<void> => {} };

async function check(text: string): Promise<CheckedFile> {
  return checkFile(new Blob([text]), OPTIONS);
}
