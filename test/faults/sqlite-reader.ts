import { GENESIS } from '../../src/ledger/format/chain.ts';
import { Frontier } from '../../src/ledger/format/merkle.ts';
import { openSqliteStore } from '../../src/ledger/sqlite/open.ts';
import { Keyring } from '../../src/ledger/verify/keyring.ts';
import { LedgerWalk } from '../../src/ledger/verify/walk.ts';
import { nodeVerifier } from '../../src/ledger/writer/keys.ts';

/** A process that follows a ledger and checks every link, until it reads `TestEnded`. */
const opened = openSqliteStore(process.argv[2] ?? '', { mode: 'read' });
if (!opened.ok) throw new Error(opened.problem.message);
const { store } = opened;
const keyring = new Keyring(nodeVerifier, 'demo');
const start = { head: GENESIS, isNumbered: false, frontier: new Frontier(nodeVerifier.sha256) };
const walk = new LedgerWalk(nodeVerifier, 'demo', keyring, start);
process.stdout.write('started\n');

// Keeps the process running, which watching alone does not.
const alive = setInterval(() => {}, 60_000);
const stop = store.watch(() => void follow());
let following: Promise<void> | undefined;
await follow();

function follow(): Promise<void> {
  following = (following ?? Promise.resolve()).then(readOn);
  return following;
}

async function readOn(): Promise<void> {
  for await (const batch of store.entries({ from: walk.position.head.size + 1 })) {
    for (const step of walk.steps(batch)) {
      if (!step.ok) throw new Error(step.finding.problem.message);
      if (step.entry.type !== 'TestEnded') continue;
      process.stdout.write(`in order: ${step.entry.seq}\n`);
      clearInterval(alive);
      stop();
    }
  }
}
