import { requireText } from '../columns.ts';
import { sameBytes } from '../format/bytes.ts';
import type { Head } from '../store.ts';
import type { PostgresConnection } from './connection.ts';
import type { OpenChain } from './generation.ts';
import { databaseReplaced, PostgresProblem, recovering, rolledBack } from './problems.ts';
import { sql, type Statement } from './statement.ts';

/**
 * Returns the generation on which a project's chain is open. The first server that a project connects to is open at
 * once.
 */
async function findOpenGeneration(connection: PostgresConnection, project: number, expected: string): Promise<string> {
  const [row] = await connection.query(FIND, [project]);
  if (requireText(row, 'server') !== expected) throw new StaleSession();
  return requireText(row, 'opened');
}

/** Counts as a lost connection, so that a new session connects to the current server. */
export class StaleSession extends Error {
  constructor() {
    super('the connection leads to a server that was replaced');
  }
}

/**
 * Compare-and-swap: a host that decided on older reports changes nothing. Without `hosts`, the reports of all hosts
 * count.
 */
export async function openGeneration(
  connection: PostgresConnection,
  project: number,
  { from, to, hosts }: { readonly from: string; readonly to: string; readonly hosts?: readonly string[] },
): Promise<void> {
  await connection.query(OPEN, [project, from, to, hosts === undefined ? null : JSON.stringify(hosts)]);
}

/**
 * Returns a problem if the project's number has changed, as in a database that was created again: statements would find
 * nothing.
 */
export async function findMovedProject(
  connection: PostgresConnection,
  name: string,
  project: number,
): Promise<PostgresProblem | undefined> {
  const [row] = await connection.query(OPEN_PROJECT, [name]);
  return row?.['id'] === project ? undefined : databaseReplaced(name);
}

export const OPEN_PROJECT: Statement = {
  name: 'open_project',
  text: 'SELECT baton.open_project($1) AS id',
  // The session may first migrate the schema, or wait for another daemon's migration.
  waitsForSetUp: true,
};

/** For a process beside the daemons, which compare and open the chain. This process writes nothing before they have. */
export function waitForDaemons(connection: PostgresConnection, project: number): OpenChain {
  return (generation) =>
    catchProblem(async () => {
      const opened = await findOpenGeneration(connection, project, generation);
      return opened === generation ? undefined : recovering();
    });
}

/** For the only host of a project: opens any server that still has the newest entry known to this process. */
export function openAlone(connection: PostgresConnection, project: number, seen: () => Head | undefined): OpenChain {
  return (generation) =>
    catchProblem(async () => {
      const opened = await findOpenGeneration(connection, project, generation);
      const head = seen();
      if (head !== undefined && !(await contains(connection, project, head))) return rolledBack(head.size);
      if (opened !== generation) await openGeneration(connection, project, { from: opened, to: generation });
      return undefined;
    });
}

export async function catchProblem(
  action: () => Promise<PostgresProblem | undefined>,
): Promise<PostgresProblem | undefined> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof PostgresProblem) return error;
    throw error;
  }
}

async function contains(connection: PostgresConnection, project: number, { size, hash }: Head): Promise<boolean> {
  const [row] = await connection.query(HASH, [project, size]);
  const stored = row?.['hash'];
  return stored instanceof Uint8Array && sameBytes(stored, hash);
}

const FIND = sql('find_generation')`SELECT server, opened FROM baton.find_generation($1, true)`;
const OPEN = sql('open_generation')`SELECT baton.open_generation($1, $2, $3, $4)`;
const HASH = sql('hash')`SELECT hash FROM baton.entry WHERE project = $1 AND seq = $2`;
