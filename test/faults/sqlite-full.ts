import { spawnSync } from 'node:child_process';
import { openSqliteStore } from '../../src/ledger/sqlite/open.ts';
import { verifyLedger } from '../../src/ledger/verify/verify-ledger.ts';
import { nodeVerifier } from '../../src/ledger/writer/keys.ts';
import { OutsideCopyFile } from '../../src/ledger/writer/ledger-files.ts';
import { testDraft, testOptions } from '../../src/ledger/writer/ledger.cases.ts';
import { openLedger } from '../../src/ledger/writer/open.ts';

/** Records until the disk is full, makes room, and records again. Started with a small limit on the size of a file. */
const path = process.argv[2] ?? '';
const opened = openSqliteStore(path, { mode: 'write' });
if (!opened.ok) throw new Error(opened.problem.message);
const { store } = opened;
const ledger = await openLedger(testOptions({ store, outside: new OutsideCopyFile(`${path}.checkpoint`) }));
if (!ledger.ok) throw new Error(ledger.problem.message);

let problem: unknown;
for (let i = 0; problem === undefined && i < 1_000; i += 1) {
  const recorded = await ledger.ledger.append([testDraft(i)]);
  if (!recorded.ok) problem = 'problem' in recorded ? recorded.problem : recorded;
}
const still = await ledger.ledger.append([testDraft(1)]);
const raised = spawnSync('prlimit', ['--fsize=unlimited', '--pid', String(process.pid)]);
if (raised.status !== 0) throw new Error(`prlimit: ${String(raised.stderr)}`);
const after = await ledger.ledger.append([testDraft(2)]);
const verified = await verifyLedger(store, { project: 'demo', verifier: nodeVerifier, allSignatures: true });
await ledger.ledger.close();
const report = { problem, still: still.ok, after: after.ok ? 'recorded' : after, verified: verified.ok };
process.stdout.write(`${JSON.stringify(report)}\n`);
