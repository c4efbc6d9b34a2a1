import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { ApiError } from '../../api/answer.ts';
import type { Effects } from '../../effects/effects.ts';
import { findRepository, type Repository } from '../../git/repository.ts';
import { readRunbookNow } from '../../runbook/read/read-runbook.ts';
import { Databases } from '../fleet/open-store.ts';
import { SERVER_LIMITS } from '../limits.ts';
import { causeOf } from '../log.ts';
import type { KeptMessages } from '../loop/request.ts';
import type { Services } from '../operations/call.ts';
import type { Caller } from '../../state/caller.ts';
import { sessionOf } from '../../state/runs/find-run.ts';
import { hasLedger, type IdentifiedProject, identifyProject } from './identity.ts';
import { ProjectList } from './project-list.ts';
import type { Project } from './project.ts';
import { type FoundProject, type OpenProject, startProject, type StartOptions } from './start-project.ts';

export type { FoundProject, OpenProject } from './start-project.ts';

type EffectsFor = (project: Project, services: Services) => Effects;

interface ProjectsOptions extends Pick<StartOptions, 'stateDir' | 'settings' | 'signer' | 'log' | 'env' | 'telemetry'> {
  readonly servicesFor: (path: string) => Services;
  readonly messagesFor: (projectId: string) => KeptMessages;
  readonly onStoreBack?: () => void;
}

/** A project of the state folder: either open, or with the reason why it is not. */
export interface ListedState {
  readonly id: string;
  readonly path: string;
  readonly open?: OpenProject;
  readonly error?: ApiError | undefined;
}

/** The projects of this daemon. Each is opened on first use. */
export class Projects {
  readonly #options: ProjectsOptions;
  readonly #list: ProjectList;
  readonly #open = new Map<string, OpenProject>();
  readonly #opening = new Map<string, Promise<FoundProject>>();
  readonly #idOfPath = new Map<string, { readonly id: string; untilMs: number }>();
  readonly #identifying = new Map<string, Promise<string | ApiError>>();
  readonly #background = new Set<Promise<void>>();
  readonly #databases = new Databases();
  /** The URL of each project's database; undefined for SQLite. */
  readonly #stores = new Map<string, string | undefined>();
  /**
   * Shared projects that could not be opened. The daemon retries them in the background, so that no caller waits for an
   * unavailable database.
   */
  readonly #away = new Map<
    string,
    { readonly found: FoundProject; readonly retry: NodeJS.Timeout; readonly pauseMs: number }
  >();
  /** Why a project is not open; absent if opening was never tried. */
  readonly #failed = new Map<string, ApiError>();
  readonly #openListeners = new Set<(open: OpenProject) => void>();
  #effectsFor: EffectsFor | undefined;
  #isClosed = false;

  constructor(options: ProjectsOptions) {
    this.#options = options;
    this.#list = new ProjectList(options.stateDir);
  }

  async start(effectsFor: EffectsFor): Promise<void> {
    this.#effectsFor = effectsFor;
    for (const { project, services } of this.#open.values()) project.startEffects(effectsFor(project, services));
    for (const id of this.#list.ids()) {
      // A project whose folder is missing would appear to have no runbook.
      const path = this.#list.pathOf(id) ?? '';
      if (!this.#isClosed && existsSync(path)) await this.findByPath(path);
    }
  }

  opened(): readonly OpenProject[] {
    return [...this.#open.values()];
  }

  /** Lists every project of the state folder, in the order of the list. Opens none. */
  listed(): readonly ListedState[] {
    return this.#list.ids().map((id) => {
      const path = this.#list.pathOf(id) ?? '';
      const open = this.#open.get(id);
      return open === undefined ? { id, path, error: this.#failed.get(id) } : { id, path, open };
    });
  }

  /** Calls the listener for each project that is opened from now on. Returns a function that ends this. */
  onOpened(listener: (open: OpenProject) => void): () => void {
    this.#openListeners.add(listener);
    return () => this.#openListeners.delete(listener);
  }

  async find(id: string): Promise<FoundProject> {
    const open = this.#open.get(id);
    if (open !== undefined) return { ok: true, open };
    const away = this.#away.get(id);
    if (away?.found.isAway === true) return away.found;
    const path = this.#list.pathOf(id);
    if (path === undefined) {
      return { ok: false, error: noSuchProject(`there is no project ${id}`, 'Check BATON_STATE_DIR.') };
    }
    // If the daemon began to stop while git ran, nothing would close the project.
    if (this.#isClosed) return { ok: false, error: { code: 'store-unavailable', ...STOPPING } };
    const opening = this.#opening.get(id) ?? this.#openOnce(id, path);
    this.#opening.set(id, opening);
    return opening;
  }

  /**
   * Finds the project of a path; all worktrees of a repository are one project. Git is asked again from time to time,
   * and only the first caller waits for it.
   */
  async findByPath(path: string): Promise<FoundProject> {
    const known = this.#idOfPath.get(path);
    if (known === undefined) {
      const id = await this.#askGit(path);
      if (typeof id === 'string') return this.find(id);
      // The folder of an open project is gone. The project still answers for it.
      const open = this.opened().find(({ project }) => project.path === path);
      return open === undefined ? { ok: false, error: id } : { ok: true, open };
    }
    if (known.untilMs < performance.now()) {
      known.untilMs = Number.POSITIVE_INFINITY;
      void this.#askGit(path);
    }
    return this.find(known.id);
  }

  /** The session for which a caller acts; undefined if the project is not open. */
  sessionOf(id: string, caller: Caller): string | undefined {
    return this.#open.get(id)?.project.read((state) => sessionOf(state, caller));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { retry } of this.#away.values()) clearTimeout(retry);
    await Promise.all(this.#opening.values());
    await Promise.all(this.#background);
    await Promise.all([...this.#open.values()].map(async ({ project }) => project.close()));
    this.#open.clear();
    await this.#databases.close();
  }

  async #askGit(path: string): Promise<string | ApiError> {
    const identifying = this.#identifying.get(path) ?? this.#identify(path);
    this.#identifying.set(path, identifying);
    const id = await identifying.finally(() => this.#identifying.delete(path));
    if (this.#idOfPath.size > MAX_PATHS) this.#idOfPath.clear();
    if (typeof id !== 'string') this.#idOfPath.delete(path);
    else this.#idOfPath.set(path, { id, untilMs: performance.now() + SERVER_LIMITS.repositoryMs });
    return id;
  }

  async #identify(path: string): Promise<string | ApiError> {
    if (!isAbsolute(path)) return noSuchProject(`'${path}' is not an absolute path`, 'Send the whole path.');
    const repository = await findRepository(path);
    if (!repository.ok) return noSuchProject(repository.problem.message, repository.problem.hint);
    const identified = this.#identifyRepository(repository.value);
    if (identified === undefined)
      return noSuchProject(`the repository of '${path}' no longer exists`, 'Check the path.');
    if (!identified.ok) return identified.error;
    const { id, store } = identified.identity;
    this.#stores.set(id, store);
    this.#list.remember(id, { path: repository.value.mainTop });
    return id;
  }

  /**
   * Undefined if the repository no longer exists. An exception would end the daemon, because no caller may be waiting.
   */
  #identifyRepository(repository: Repository): IdentifiedProject | undefined {
    const { stateDir, env } = this.#options;
    try {
      // Reads even a runbook with errors: without its name and store, an empty ledger would be created beside the
      // project's own.
      const { project, store } = readRunbookNow(repository.mainTop).subject.value;
      return identifyProject({ stateDir, repository, project, store, defaultStore: env['BATON_STORE'] || undefined });
    } catch {
      return undefined;
    }
  }

  async #openOnce(id: string, path: string): Promise<FoundProject> {
    try {
      const found = await this.#start(id, path);
      if (found.ok) this.#enter(id, found.open);
      else this.#onFailed(id, path, found);
      return found;
    } finally {
      // If opening failed, the next call retries.
      this.#opening.delete(id);
    }
  }

  /** Handles a failure. A file that cannot be opened needs a person; a database is retried. */
  #onFailed(id: string, path: string, found: FoundProject & { readonly ok: false }): void {
    const before = this.#away.get(id)?.found;
    const { code, message } = found.error;
    this.#failed.set(id, found.error);
    if (before?.ok !== false || before.error.message !== message)
      this.#options.log.error('cannot open a project', { project: id, cause: message });
    const isShared = (this.#stores.get(id) ?? this.#list.storeOf(id)) !== undefined;
    if (!isShared || code !== 'store-unavailable' || this.#isClosed) return void this.#away.delete(id);
    if (this.#list.storeOf(id) === undefined) return this.#forget(id);
    const { retry: earlier, pauseMs = RETRY_MS } = this.#away.get(id) ?? {};
    clearTimeout(earlier);
    // A host that is not admitted may wait for days, so its retries get rarer.
    const longestMs = found.isAway === true ? RETRY_MS : LONGEST_RETRY_MS;
    const retry = setTimeout(() => void this.#openAgain(id, path), pauseMs).unref();
    this.#away.set(id, { found, retry, pauseMs: Math.min(2 * pauseMs, longestMs) });
  }

  /** Drops a project that was never open. Its name and store may have been wrong, so the next call reads them again. */
  #forget(id: string): void {
    this.#away.delete(id);
    this.#stores.delete(id);
    for (const [path, known] of this.#idOfPath) if (known.id === id) this.#idOfPath.delete(path);
  }

  async #openAgain(id: string, path: string): Promise<void> {
    if (this.#isClosed || this.#open.has(id)) return;
    const opening = this.#opening.get(id) ?? this.#openOnce(id, path);
    this.#opening.set(id, opening);
    try {
      await opening;
    } catch (error) {
      this.#away.delete(id);
      this.#options.log.error('cannot open a project', { project: id, cause: causeOf(error) });
    }
  }

  #enter(id: string, open: OpenProject): void {
    this.#open.set(id, open);
    this.#failed.delete(id);
    // Messages that agents sent in the meantime wait in the outbox.
    if (this.#away.delete(id)) this.#options.onStoreBack?.();
    if (this.#effectsFor !== undefined) open.project.startEffects(this.#effectsFor(open.project, open.services));
    for (const listener of this.#openListeners) listener(open);
  }

  async #start(id: string, path: string): Promise<FoundProject> {
    const { servicesFor, messagesFor, onStoreBack = () => undefined, ...shared } = this.#options;
    // For a project that was never opened, only its runbook names its store.
    const isKnown = this.#stores.has(id) || hasLedger(this.#options.stateDir, id, this.#list.storeOf(id));
    const identified = isKnown ? id : await this.#askGit(path);
    if (typeof identified !== 'string') return { ok: false, error: identified };
    const store = this.#stores.get(id) ?? this.#list.storeOf(id);
    const found = await startProject({
      ...shared,
      id,
      path,
      store,
      databases: this.#databases,
      services: servicesFor(path),
      messages: messagesFor(id),
      onStoreBack,
      inBackground: (work) => this.#runInBackground(work),
    });
    // From now on the store is recorded, and another one in the runbook is refused.
    if (found.ok) this.#list.remember(id, { path, store });
    return found;
  }

  /** Runs slow work on git and disk. Only `close` waits for it. */
  #runInBackground(work: Promise<void> | undefined): void {
    if (work === undefined) return;
    const done = work
      .catch((error: unknown) => this.#options.log.error('background work failed', { cause: causeOf(error) }))
      .finally(() => this.#background.delete(done));
    this.#background.add(done);
  }
}

function noSuchProject(message: string, hint: string): ApiError {
  return { code: 'no-such-project', message, hint };
}

const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;
const STOPPING = { message: 'the daemon is stopping', hint: 'Start the daemon again: baton up' };
const MAX_PATHS = 10_000;
