import { existsSync } from 'node:fs';
import type { ApiError, OrError } from '../../api/answer.ts';
import { readProjectList, type ListedProject } from '../../api/project-list.ts';
import { projectId, type Repository } from '../../git/repository.ts';
import { ledgerPlace } from '../../ledger/writer/ledger-files.ts';
import { findStoreUrlProblem, renderStoreUrl } from '../../protocol/store-url.ts';

/** The project of a repository on this machine. */
export interface ProjectIdentity {
  readonly id: string;
  /** The URL of its database; undefined if the ledger is in the state folder. */
  readonly store: string | undefined;
  /** Whether this state folder already has its ledger, or the replica of it. */
  readonly isKnown: boolean;
}

export type IdentifiedProject = OrError<{ readonly identity: ProjectIdentity }>;

interface WantedProject {
  readonly stateDir: string;
  readonly repository: Pick<Repository, 'mainTop' | 'commonDir'>;
  /** The project's name in the runbook. */
  readonly project: string | undefined;
  readonly store: string | undefined;
  /** BATON_STORE: the database of new projects, which the person names. */
  readonly defaultStore: string | undefined;
}

/**
 * Identifies a project. An existing ledger decides: another name or store in the runbook is refused, because it would
 * start an empty ledger.
 */
export function identifyProject(wanted: WantedProject): IdentifiedProject {
  const { stateDir, repository, project, store: inRunbook, defaultStore } = wanted;
  const listed = readProjectList(stateDir);
  const known = findKnown(wanted, listed);
  if (known !== undefined && project !== undefined && project !== known)
    return { ok: false, error: renamed(known, project) };
  const id = known ?? project ?? projectId(repository);
  const other = listed.get(id);
  if (other !== undefined && other.path !== repository.mainTop && existsSync(other.path))
    return { ok: false, error: taken(id, other.path) };
  const named = inRunbook ?? defaultStore;
  const wrong = named === undefined ? undefined : findStoreUrlProblem(named);
  if (wrong !== undefined) return { ok: false, error: wrong };
  const isKnown = hasLedger(stateDir, id, other?.store);
  // The ledger holds every prompt and log, so a repository does not choose where a new one is kept.
  if (!isKnown && inRunbook !== undefined && !isSameDatabase(defaultStore, inRunbook))
    return { ok: false, error: unnamed(inRunbook) };
  if (!isKnown) return { ok: true, identity: { id, store: inRunbook ?? defaultStore, isKnown } };
  const store = other?.store;
  if (inRunbook !== undefined && !isSameDatabase(store, inRunbook))
    return { ok: false, error: moved(store, inRunbook) };
  return { ok: true, identity: { id, store: store === undefined ? undefined : (inRunbook ?? store), isKnown } };
}

/** Works without the list too, because a damaged list must not start a second ledger. */
function findKnown(
  { stateDir, repository }: Pick<WantedProject, 'stateDir' | 'repository'>,
  listed: ReadonlyMap<string, ListedProject>,
): string | undefined {
  const byPath = [...listed].find(
    ([id, { path, store }]) => path === repository.mainTop && hasLedger(stateDir, id, store),
  );
  if (byPath !== undefined) return byPath[0];
  const own = projectId(repository);
  return hasLedger(stateDir, own, listed.get(own)?.store) ? own : undefined;
}

/** Whether this state folder has the ledger of a project, or a replica of it. */
export function hasLedger(stateDir: string, id: string, store: string | undefined): boolean {
  return store !== undefined || existsSync(ledgerPlace(stateDir, id).ledger);
}

/** Compares host, port and database. Options and users may change. */
function isSameDatabase(onRecord: string | undefined, wanted: string): boolean {
  return onRecord !== undefined && renderStoreUrl(onRecord) === renderStoreUrl(wanted);
}

function renamed(known: string, project: string): ApiError {
  const message = `baton.toml names the project ${project}, and the ledger of this repository is that of ${known}`;
  return { code: 'wrong-project', message, hint: `Write into baton.toml: project = "${known}"` };
}

function taken(id: string, path: string): ApiError {
  const message = `the project ${id} is the repository ${path} in this state folder`;
  const hint = 'Work there, or give this one a state folder of its own: BATON_STATE_DIR. It is then another host.';
  return { code: 'wrong-project', message, hint };
}

function unnamed(wanted: string): ApiError {
  const url = renderStoreUrl(wanted);
  const message = `baton.toml names the store ${url}, and nobody on this machine has named it`;
  const hint = `If it is yours: baton down && baton up --store ${url}. To join hosts that use it: baton host join ${url}`;
  return { code: 'wrong-store', message, hint };
}

function moved(onRecord: string | undefined, wanted: string): ApiError {
  const where = onRecord === undefined ? 'the state folder' : renderStoreUrl(onRecord);
  const message = `baton.toml names the store ${renderStoreUrl(wanted)}, and the ledger of this project is in ${where}`;
  return { code: 'wrong-store', message, hint: `Move the ledger: baton store move --to ${wanted}` };
}
