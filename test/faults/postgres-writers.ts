import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { checkLink, GENESIS, hashEntries } from '../../src/ledger/format/chain.ts';
import type { Head, Store } from '../../src/ledger/store.ts';
import { nodeSha256 } from '../../src/ledger/writer/keys.ts';

/** An acknowledgement to a writer: its n-th entry has this number and this hash. */
export interface Acknowledged {
  readonly writer: string;
  readonly n: number;
  readonly seq: number;
  readonly hash: string;
}

export interface Writers {
  readonly acknowledged: readonly Acknowledged[];
  /** Resolves when there are this many acknowledgements in total. */
  waitFor(count: number): Promise<void>;
  /** Stops each writer after its current entry. */
  stop(): Promise<void>;
  /** Resolves when all writers have written their entries. */
  done(): Promise<void>;
  kill(): void;
}

export function startWriters(url: string, project: string, names: readonly string[], count = Infinity): Writers {
  const acknowledged: Acknowledged[] = [];
  const waiting = new Set<() => void>();
  const children = names.map((writer) => {
    const program = join(import.meta.dirname, 'postgres-writer.ts');
    const child = spawn(process.execPath, [program, url, project, writer, String(count)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface(child.stdout).on('line', (line) => {
      const { n, seq, hash }: Omit<Acknowledged, 'writer'> = JSON.parse(line);
      acknowledged.push({ writer, n, seq, hash });
      for (const check of waiting) check();
    });
    return child;
  });
  const ended = Promise.all(children.map(waitForEnd));
  ended.catch(() => undefined);

  return {
    acknowledged,
    async waitFor(wanted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const check = (): void => void (acknowledged.length >= wanted && resolve());
      waiting.add(check);
      check();
      await Promise.race([promise, ended]);
      waiting.delete(check);
    },
    async stop() {
      for (const child of children) child.stdin.end();
      await ended;
    },
    async done() {
      await ended;
    },
    kill() {
      for (const child of children) child.kill('SIGKILL');
    },
  };
}

async function waitForEnd(child: ChildProcess): Promise<void> {
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`A writer ended with ${child.exitCode ?? child.signalCode}.`);
}

/** Compares the chain with the acknowledgements. Returns the faults; empty if there are none. */
export async function findFaults(
  store: Store,
  project: string,
  acknowledged: readonly Acknowledged[],
): Promise<readonly string[]> {
  const faults: string[] = [...(await store.inspect())];
  const found = new Map<string, string>();
  let head: Head = GENESIS;
  for await (const batch of store.entries({ from: 1 })) {
    for (const look of hashEntries(nodeSha256, batch)) {
      const { stored } = look;
      const link = checkLink(project, head, look);
      if (!link.ok) return [...faults, link.problems[0].message];
      const { writer, n } = link.value.entry.data;
      const key = JSON.stringify([writer, n]);
      if (found.has(key)) faults.push(`${key} is there twice`);
      found.set(key, `${stored.seq} ${Buffer.from(stored.hash).toString('hex')}`);
      head = stored.seq === head.size + 1 ? { size: stored.seq, hash: stored.hash } : head;
    }
  }
  for (const { writer, n, seq, hash } of acknowledged) {
    const kept = found.get(JSON.stringify([writer, n]));
    if (kept !== `${seq} ${hash}`) faults.push(`${writer} ${n} was acknowledged as ${seq}, and is ${kept ?? 'lost'}`);
  }
  return faults;
}
