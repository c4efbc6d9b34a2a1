import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toBase64 } from '../../src/ledger/format/bytes.ts';
import { Tree } from '../../src/ledger/format/tree.ts';
import { TestFolder } from '../../src/ledger/sqlite/sqlite.cases.ts';
import { exportLedger } from '../../src/ledger/verify/export.ts';
import { renderTaskProof } from '../../src/ledger/verify/proof-text.ts';
import { makeTaskProof } from '../../src/ledger/verify/task-proof.ts';
import { nodeVerifier } from '../../src/ledger/writer/keys.ts';
import { countDraft, numberDrafts, record, testDraft } from '../../src/ledger/writer/ledger.cases.ts';
import { sealLedger } from '../../src/ledger/writer/seal.ts';

/**
 * Writes what a real ledger provides to others: `proof.json`, `export.ndjson`, and the consistency proof of two seals.
 */
export async function makeSample(folder: string): Promise<void> {
  using place = new TestFolder();
  const ledger = await place.open();
  const notes: string[] = [];
  const last = new Map<string, number>();
  for (let round = 0; round < 2; round += 1) {
    await record(
      ledger,
      numberDrafts(
        last,
        Array.from({ length: 300 }, (_, i) => testDraft(i, `T00${i % 3}`)),
      ),
    );
    const sealed = await sealLedger(ledger, 'operator:ada');
    if (!sealed.ok) throw new Error(sealed.problem.message);
    notes.push(sealed.seal.checkpoint);
  }
  await record(ledger, [countDraft(last, 'T001')]);
  const proof = await makeTaskProof(ledger.store, nodeVerifier, 'demo', 'T001');
  if (!proof.ok) throw new Error(proof.problems[0].message);
  const tree = new Tree(ledger.store, nodeVerifier.sha256, ledger.head.size);
  const [first = '', second = ''] = notes;
  const [from = 0, to = 0] = notes.map((note) => Number(note.split('\n')[1]));
  const hashes = (await tree.findConsistencyProof(from, to)) ?? [];
  let lines = '';
  for await (const part of exportLedger(ledger.store, nodeVerifier, 'demo')) lines += part;
  await ledger.close();
  writeFileSync(join(folder, 'proof.json'), renderTaskProof(proof.value));
  writeFileSync(join(folder, 'export.ndjson'), lines);
  const consistency = { key: proof.value.key, first, second, proof: hashes.map(toBase64) };
  writeFileSync(join(folder, 'consistency.json'), JSON.stringify(consistency));
}

if (import.meta.main) await makeSample(process.argv[2] ?? '.');
