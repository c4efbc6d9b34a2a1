import { sameBytes } from '../../src/ledger/format/bytes.ts';
import { requireStore } from '../postgres/open-store.ts';
import type { Commit, Head, Store } from '../../src/ledger/store.ts';
import { headOf, makeCommit } from '../postgres/make-commit.ts';

/**
 * A process that appends to a shared chain until its standard input ends or `count` entries are written. Each line on
 * its standard output is an acknowledgement: `{n, seq, hash}`.
 */
const [url = '', project = '', writer = '', count = 'Infinity'] = process.argv.slice(2);
const store = await requireStore({ url, project, patienceMs: 30_000 });
const stopped = new AbortController();
process.stdin.resume().once('end', () => stopped.abort());

let head = await store.head();
for (let n = 1; n <= Number(count) && !stopped.signal.aborted; n += 1) {
  head = await appendOnce(store, head, n);
  process.stdout.write(`${JSON.stringify({ n, seq: head.size, hash: Buffer.from(head.hash).toString('hex') })}\n`);
}
await store.close();
process.stdin.destroy();

/** Repeats the compare-and-swap until it succeeds. After a problem the outcome is unknown, so the chain is read. */
async function appendOnce(target: Store, start: Head, n: number): Promise<Head> {
  let after = start;
  for (;;) {
    const commit = makeCommit(project, after, { writer, n });
    const appended = await target.append(commit);
    if (appended.ok) return appended.head;
    if ('conflict' in appended) after = appended.conflict;
    else if (await contains(target, commit)) return headOf(commit);
    else after = await target.head();
  }
}

async function contains(target: Store, commit: Commit): Promise<boolean> {
  const { size, hash } = headOf(commit);
  for await (const [found] of target.hashes({ from: size, to: size }))
    return found !== undefined && sameBytes(found, hash);
  return false;
}
