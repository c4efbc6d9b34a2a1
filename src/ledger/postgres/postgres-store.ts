import type { Client } from 'pg';
import type { Problem } from '../../protocol/shape/problem.ts';
import { requireNumber } from '../columns.ts';
import type { Failure, Head, Store } from '../store.ts';
import { type ConnectionOptions, makeConnection, type PostgresConnection } from './connection.ts';
import { type GenerationGate, makeGenerationGate, type OpenChain } from './generation.ts';
import { migratePostgres } from './migrate.ts';
import { catchProblem, findMovedProject, OPEN_PROJECT, openAlone, waitForDaemons } from './open-chain.ts';
import { PostgresProblem } from './problems.ts';
import { makeProjectStore } from './project-store.ts';
import { announcementOf, parseAnnouncement, PushedCommits } from './pushed-commits.ts';
import { makeReach } from './reach.ts';
import { selectHead } from './read.ts';
import { makeCommitNotifier, makePostgresHeadWatch, type PostgresHeadWatch } from './watch.ts';

export interface PostgresOptions {
  /** `postgres://user@host:port/database`; the host may be the folder of a Unix socket, percent-encoded. */
  readonly url: string;
  /** How long an append or a read waits for a server that does not answer. */
  readonly patienceMs?: number;
  readonly silenceMs?: number;
  readonly wakeEveryMs?: number;
  /** How often a watcher reads the head: a writer may die before it notifies. */
  readonly catchUpMs?: number;
}

export interface OpenedProject {
  readonly ok: true;
  readonly store: Store;
  /** The project's number in the database. */
  readonly project: number;
  /** The next statement compares the chain again, as after a restart of the server. */
  recheck(): void;
}

export type OpenedPostgresStore = OpenedProject | Failure;

/** One database, shared by the projects of this process. Each project has its own chain. */
export interface PostgresDatabase {
  openProject(name: string, opening?: ChainOpening): Promise<OpenedPostgresStore>;
  /** A separate session, for statements that must neither wait for the ledger's statements nor delay them. */
  connect(purpose: string): PostgresConnection;
  close(): Promise<void>;
}

/**
 * The process that compares the chain with the known one if the server was replaced or restarted. `daemons`: other
 * processes. `alone`: this process, as the only host. A function: this process, by its rules (see `src/fleet`).
 */
export type ChainOpening = 'daemons' | 'alone' | ((connect: () => UncheckedChain) => OpenChain);

/** The chain on the connected server, before any comparison. */
export interface UncheckedChain {
  readonly project: number;
  readonly store: Store;
  readonly connection: PostgresConnection;
}

interface Chain {
  readonly channel: string;
  readonly watch: PostgresHeadWatch;
  readonly pushed: PushedCommits;
  /** Entries of a server that was not compared must not be trusted. */
  readonly isOpen: (generation: string) => boolean;
}

/**
 * Each project has a durable writing session; all share a session that reads, listens and notifies, so reads delay no
 * writer.
 */
export function makePostgresDatabase(options: PostgresOptions): PostgresDatabase {
  const { url, patienceMs = PATIENCE_MS, silenceMs = PATIENCE_MS, wakeEveryMs = 2, catchUpMs = 1_000 } = options;
  const common = { url, reach: makeReach(patienceMs), silenceMs, durable: false };
  const chains = new Map<string, Set<Chain>>();
  const refresh = (some: Iterable<Chain>): void => {
    for (const { watch } of some) watch.refresh();
  };
  const all = (): Chain[] => [...chains.values()].flatMap((same) => Array.from(same));
  const open = (purpose: string, more?: Partial<ConnectionOptions>): PostgresConnection =>
    makeConnection({ ...common, applicationName: `baton ${purpose}`, ...more });

  const reader = open('ledger reader', {
    async setUp(client) {
      for (const chain of all()) await listenAgain(client, chain);
      refresh(all());
    },
    onNotification(channel, payload, generation) {
      const announcement = parseAnnouncement(payload);
      for (const chain of chains.get(channel) ?? []) {
        const isNews = chain.watch.notified(announcement);
        if (announcement !== undefined && isNews && chain.isOpen(generation)) chain.pushed.add(announcement);
      }
    },
    onLoss: () => refresh(all()),
  });
  const slow = open('ledger inspection');
  const notifier = makeCommitNotifier(reader, wakeEveryMs);

  return {
    async openProject(name, opening = 'daemons') {
      let gate: GenerationGate | undefined;
      const writer = open(`ledger writer of ${name}`, {
        durable: true,
        setUp: migratePostgres,
        onConnect: (generation) => gate?.start(generation),
      });
      const project = await findProject(writer, name);
      if (typeof project !== 'number') return { ok: false, problem: project };
      let seen: Head | undefined;
      const note = (head: Head): Head => {
        if (head.size > (seen?.size ?? 0)) seen = head;
        return head;
      };
      const connectUnchecked = (): UncheckedChain => {
        const connection = open(`recovery of ${name}`, { durable: true });
        return { project, connection, store: makeUncheckedStore(connection, project) };
      };
      const openChain =
        typeof opening === 'function'
          ? opening(connectUnchecked)
          : (opening === 'alone' ? openAlone : waitForDaemons)(writer, project, () => seen);
      gate = makeGenerationGate(async (generation, signal) => {
        const moved = await catchProblem(() => findMovedProject(writer, name, project));
        return moved ?? openChain(generation, signal);
      });
      // A process beside the daemons may read a chain that is not open, to show where it differs.
      const gatedReader = opening === 'daemons' ? reader : reader.gated(gate);
      const channel = `baton_ledger_${project}`;
      const findHead = async (): Promise<Head> => note(await selectHead(gatedReader, project));
      const watch = makePostgresHeadWatch(reader, channel, findHead, catchUpMs);
      const pushed = new PushedCommits();
      const chain = { channel, watch, pushed, isOpen: (generation: string) => gate.isOpen(generation) };
      const same = chains.get(channel) ?? new Set();
      chains.set(channel, same.add(chain));
      const store = makeProjectStore({
        project,
        writer: writer.gated(gate),
        reader: gatedReader,
        slow,
        note,
        watch,
        pushed,
        announce: (commit) => notifier.announce(channel, announcementOf(commit)),
        hurry: () => notifier.hurry(),
        async close() {
          watch.close();
          gate?.close();
          same.delete(chain);
          await writer.close();
        },
      });
      return { ok: true, store, project, recheck: () => gate?.recheck() };
    },

    connect: (purpose) => open(purpose),

    async close() {
      await notifier.close();
      await Promise.all([reader.close(), slow.close()]);
    },
  };
}

/** Agents wait for an answer: their calls must reach the outbox within 2 s if the server is away. */
const PATIENCE_MS = 1500;

function makeUncheckedStore(connection: PostgresConnection, project: number): Store {
  const watch = makePostgresHeadWatch(connection, '', () => selectHead(connection, project), 0);
  return makeProjectStore({
    project,
    writer: connection,
    reader: connection,
    slow: connection,
    note: (head) => head,
    watch,
    pushed: new PushedCommits(),
    announce: () => undefined,
    hurry: () => undefined,
    close: () => connection.close(),
  });
}

async function listenAgain(client: Client, { channel, watch }: Chain): Promise<void> {
  if (watch.isWatched) await client.query(`LISTEN ${channel}`);
}

async function findProject(writer: PostgresConnection, name: string): Promise<number | Problem> {
  try {
    const [row = {}] = await writer.query(OPEN_PROJECT, [name]);
    return requireNumber(row, 'id');
  } catch (error) {
    await writer.close();
    if (error instanceof PostgresProblem) return error.problem;
    throw error;
  }
}

export interface PostgresStoreOptions extends PostgresOptions {
  readonly project: string;
  readonly opening?: ChainOpening;
}

/** Opens one project with its own sessions. A process with several projects shares a `makePostgresDatabase`. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<OpenedPostgresStore> {
  const { project, opening, ...rest } = options;
  const database = makePostgresDatabase(rest);
  const opened = await database.openProject(project, opening);
  if (!opened.ok) {
    await database.close();
    return opened;
  }
  const close = async (): Promise<void> => {
    await opened.store.close();
    await database.close();
  };
  return { ...opened, store: { ...opened.store, close } };
}
