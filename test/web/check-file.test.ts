import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { webVerifier } from '../../src/ledger/format/crypto.ts';
import { exportLedger } from '../../src/ledger/verify/export.ts';
import { makeTaskProof } from '../../src/ledger/verify/task-proof.ts';
import { nodeVerifier } from '../../src/ledger/writer/keys.ts';
import { openTestLedger, record, testDraft } from '../../src/ledger/writer/ledger.cases.ts';
import { checkFile, type CheckedFile } from '../../src/web/hub/check-file.ts';

describe('a file that was dropped on the page', () => {
  let proof = '';
  let exported = '';

  beforeAll(async () => {
    const ledger = await openTestLedger();
    const drafts = Array.from({ length: 200 }, (_, i) => testDraft(i, i % 2 === 0 ? 'T001' : 'T002'));
    await record(ledger, drafts);
    const made = await makeTaskProof(ledger.store, nodeVerifier, 'demo', 'T002');
    proof = made.ok ? JSON.stringify(made.value) : '';
    for await (const lines of exportLedger(ledger.store, nodeVerifier, 'demo')) exported += lines;
  });

  it('proves a task, in one line or many', async () => {
    const expected = { ok: true, kind: 'task proof', project: 'demo', taskId: 'T002', entries: 100, size: 201 };
    expect(await check(proof)).toMatchObject(expected);
    expect(await check(JSON.stringify(JSON.parse(proof), null, 2))).toMatchObject(expected);
  });

  it('proves a whole ledger, also packed and with the line ends of Windows', async () => {
    const expected = { ok: true, kind: 'export', project: 'demo', entries: 201, size: 201 };
    expect(await check(exported)).toMatchObject(expected);
    expect(await check(exported.replaceAll('\n', '\r\n'))).toMatchObject(expected);
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
