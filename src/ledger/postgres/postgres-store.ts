import type { Client } from 'pg';
import type { Problem } from '../../protocol/shape/problem.ts';
import { requireNumber } from '../columns.ts';
import type { Failure, Store } from '../store.ts';
import { makeConnection, type PostgresConnection } from './connection.ts';
import { applySettings, migratePostgres } from './migrate.ts';
import { PostgresProblem } from './problems.ts';
import { type ContinuityCheck, makeContinuityCheck, makeProjectStore } from './project-store.ts';
import { selectHead } from './read.ts';
import { sql } from './statement.ts';
import { makeCommitNotifier, makePostgresHeadWatch, type PostgresHeadWatch } from './watch.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`; the host may be the folder of a Unix socket, percent-encoded. */
  readonly url: string;
  readonly patienceMs?: number;
  readonly silenceMs?: number;
  readonly wakeEveryMs?: number;
  /** How often a watcher reads the head: a writer may die before it notifies. */
  readonly catchUpMs?: number;
}

export type OpenedPostgresStore = { readonly ok: true; readonly store: Store } | Failure;

/** One database, shared by the projects of one process. Each project has its own chain. */
export interface PostgresDatabase {
  openProject(name: string): Promise<OpenedPostgresStore>;
  close(): Promise<void>;
}

interface Chain {
  readonly project: number;
  readonly continuity: ContinuityCheck;
  readonly watch: PostgresHeadWatch;
}

/** Each project has a durable writing session; all share one that reads, listens and notifies, so reading delays no writer. */
export function makePostgresDatabase(options: PostgresOptions): PostgresDatabase {
  const { url, patienceMs = 15_000, silenceMs = 60_000, wakeEveryMs = 10, catchUpMs = 1_000 } = options;
  const common = { url, patienceMs, silenceMs };
  const chains = new Map<string, Set<Chain>>();
  const refresh = (some: Iterable<Chain>): void => {
    for (const { watch } of some) watch.refresh();
  };
  const all = (): Chain[] => [...chains.values()].flatMap((same) => Array.from(same));

  const reader = makeConnection({
    ...common,
    applicationName: 'baton ledger reader',
    async setUp(client) {
      await applySettings(client, { durable: false });
      for (const chain of all()) await resume(client, chain);
      refresh(all());
    },
    onNotification: (channel) => refresh(chains.get(channel) ?? []),
    onLoss: () => refresh(all()),
  });
  const notifier = makeCommitNotifier(reader, wakeEveryMs);

  return {
    async openProject(name) {
      const continuity = makeContinuityCheck();
      let project = 0;
      const writer = makeConnection({
        ...common,
        applicationName: `baton ledger writer of ${name}`,
        async setUp(client) {
          await applySettings(client, { durable: true });
          await migratePostgres(client);
          await continuity.require(client, project);
        },
      });
      const found = await findProject(writer, name);
      if (typeof found !== 'number') return { ok: false, problem: found };
      project = found;
      const channel = channelOf(project);
      const findHead = async () => continuity.note(await selectHead(reader, project));
      const watch = makePostgresHeadWatch(reader, channel, findHead, catchUpMs);
      const chain = { project, continuity, watch };
      const same = chains.get(channel) ?? new Set();
      chains.set(channel, same.add(chain));
      const store = makeProjectStore({
        project,
        writer,
        reader,
        continuity,
        watch,
        announce: () => notifier.announce(channel),
        async close() {
          watch.close();
          same.delete(chain);
          await writer.close();
        },
      });
      return { ok: true, store };
    },

    async close() {
      await notifier.close();
      await reader.close();
    },
  };
}

/** Prepares a new reader session for an open project: checks that the chain is the same, and listens again. */
async function resume(client: Client, { project, continuity, watch }: Chain): Promise<void> {
  await continuity.require(client, project);
  if (watch.isWatched) await client.query(`LISTEN ${channelOf(project)}`);
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

const OPEN_PROJECT = sql('open_project')`SELECT baton.open_project($1) AS id`;

function channelOf(project: number): string {
  return `baton_ledger_${project}`;
}

export interface PostgresStoreOptions extends PostgresOptions {
  readonly project: string;
}

/** Opens one project with sessions of its own. A process with several projects shares a `makePostgresDatabase`. */
export async function openPostgresStore({ project, ...options }: PostgresStoreOptions): Promise<OpenedPostgresStore> {
  const database = makePostgresDatabase(options);
  const opened = await database.openProject(project);
  if (!opened.ok) {
    await database.close();
    return opened;
  }
  const close = async (): Promise<void> => {
    await opened.store.close();
    await database.close();
  };
  return { ok: true, store: { ...opened.store, close } };
}
