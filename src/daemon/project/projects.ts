import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { ApiError, OrError } from '../../api/answer.ts';
import { stateFiles } from '../../api/state-folder.ts';
import type { Effects } from '../../effects/effects.ts';
import { findRepository, projectId } from '../../git/repository.ts';
import type { Signer } from '../../ledger/format/crypto.ts';
import type { Entry } from '../../ledger/format/entry.ts';
import { findSecretValues } from '../../ledger/redact.ts';
import { nodeVerifier } from '../../ledger/writer/keys.ts';
import { ledgerPlace, OutsideCopyFile } from '../../ledger/writer/ledger-files.ts';
import { openWriterAt } from '../../ledger/writer/open.ts';
import { problem, type Problem } from '../../protocol/shape/problem.ts';
import { STORE_NOT_OFFERED } from '../../runbook/check/check-files.ts';
import { CLAIM_ENDS } from '../../state/event.ts';
import { findMain } from '../../state/main/main-branch.ts';
import { SERVER_LIMITS } from '../limits.ts';
import { causeOf, type Log } from '../log.ts';
import type { KeptMessages } from '../loop/request.ts';
import type { Services } from '../operations/call.ts';
import { reconcileAtStart } from '../operations/reconcile.ts';
import { Adoptions } from '../rules/adoptions.ts';
import { NO_RUNBOOK } from '../rules/rulebook.ts';
import { configureWorkers } from '../rules/workers.ts';
import { type DaemonSettings, leaseTimesOf } from '../settings.ts';
import { readOwnSecrets } from '../tokens.ts';
import { EntryFeed } from './entry-feed.ts';
import { ProjectList } from './project-list.ts';
import { logProgress, openProject, type Project } from './project.ts';

export interface OpenProject {
  readonly project: Project;
  readonly services: Services;
  readonly feed: EntryFeed;
}

export type FoundProject = OrError<{ readonly open: OpenProject }>;
type EffectsFor = (project: Project, services: Services) => Effects;

interface ProjectsOptions {
  readonly stateDir: string;
  readonly settings: DaemonSettings;
  readonly signer: Signer;
  readonly log: Log;
  /** The daemon's own environment: it locates `gh` and its login. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly servicesFor: (path: string) => Services;
  readonly messagesFor: (projectId: string) => KeptMessages;
  readonly onStoreBack?: () => void;
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
  #effectsFor: EffectsFor | undefined;
  #isClosed = false;

  constructor(options: ProjectsOptions) {
    this.#options = options;
    this.#list = new ProjectList(stateFiles(options.stateDir).projectList);
  }

  async start(effectsFor: EffectsFor): Promise<void> {
    this.#effectsFor = effectsFor;
    for (const { project, services } of this.#open.values()) project.startEffects(effectsFor(project, services));
    for (const id of this.#list.ids()) {
      // A project whose folder is missing would seem to have no runbook.
      if (!this.#isClosed && existsSync(this.#list.pathOf(id) ?? '')) await this.find(id);
    }
  }

  opened(): readonly OpenProject[] {
    return [...this.#open.values()];
  }

  async find(id: string): Promise<FoundProject> {
    const open = this.#open.get(id);
    if (open !== undefined) return { ok: true, open };
    const path = this.#list.pathOf(id);
    if (path === undefined) {
      return { ok: false, error: noSuchProject(`there is no project ${id}`, 'Check BATON_STATE_DIR.') };
    }
    const opening = this.#opening.get(id) ?? this.#openOnce(id, path);
    this.#opening.set(id, opening);
    return opening;
  }

  /** All worktrees of a repository are one project. Git is asked again from time to time; only the first caller waits for it. */
  async findByPath(path: string): Promise<FoundProject> {
    const known = this.#idOfPath.get(path);
    if (known === undefined) {
      const id = await this.#askGit(path);
      return typeof id === 'string' ? this.find(id) : { ok: false, error: id };
    }
    if (known.untilMs < performance.now()) {
      known.untilMs = Number.POSITIVE_INFINITY;
      void this.#askGit(path);
    }
    return this.find(known.id);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#opening.values());
    await Promise.all(this.#background);
    await Promise.all([...this.#open.values()].map(async ({ project }) => project.close()));
    this.#open.clear();
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
    const id = identityOf(repository.value);
    if (id === undefined) return noSuchProject(`the repository of '${path}' has gone`, 'Check that it is still there.');
    this.#list.remember(id, repository.value.mainTop);
    return id;
  }

  async #openOnce(id: string, path: string): Promise<FoundProject> {
    try {
      const found = await this.#openProject(id, path);
      if (found.ok) this.#enter(id, found.open);
      else this.#options.log.error('cannot open a project', { project: id, cause: found.error.message });
      return found;
    } finally {
      // If opening failed, the next call tries again.
      this.#opening.delete(id);
    }
  }

  #enter(id: string, open: OpenProject): void {
    this.#open.set(id, open);
    if (this.#effectsFor !== undefined) open.project.startEffects(this.#effectsFor(open.project, open.services));
  }

  async #openProject(id: string, path: string): Promise<FoundProject> {
    const { stateDir, settings, signer, log, servicesFor, messagesFor, env } = this.#options;
    const place = ledgerPlace(stateDir, id);
    const hadCheckpoint = existsSync(place.outside);
    const services = servicesFor(path);
    const { runbook } = services;
    runbook.read();
    if (runbook.lastValid?.store !== undefined) return projectUnavailable(STORE_NOT_OFFERED);
    const store = await openWriterAt(place, settings.lockTimes);
    if (!store.ok) return projectUnavailable(store.problem);
    const { rulebook } = services;
    let project: Project | undefined;
    let adoptions: Adoptions | undefined;
    const followAdoption = async (): Promise<void> => {
      if (project === undefined) return;
      const { inForce } = rulebook;
      const hasTasks = await project.commandLoop.read(({ state }) => state.tasks.size > 0);
      // A project of an earlier version may have tasks and no runbook in force: its recorded workers stay.
      if (inForce !== undefined || (hasTasks.ok && !hasTasks.answer))
        await configureWorkers(project, inForce ?? { runbook: NO_RUNBOOK, holdsCredential: false }, log);
      await rulebook.detectGithub();
    };
    const afterSession = async (): Promise<void> => {
      await adoptions?.adoptForTasks();
      if (runbook.lastValid !== undefined) rulebook.follow(runbook.lastValid);
    };
    const feed = new EntryFeed(() => project?.ledger);
    const opened = await openProject({
      id,
      path,
      stateDir,
      rules: rulebook.rules,
      get leaseTimes() {
        return leaseTimesOf(settings, rulebook.runbookFor(null).limits);
      },
      prepare: async (ledger, state) => {
        const lost = await rulebook.load(ledger, state);
        if (lost !== undefined) return lostRunbookProblem(lost);
        await rulebook.detectGithub();
        return undefined;
      },
      now: services.now,
      monotonicMs: services.monotonicMs,
      onEntries: (entries) => {
        feed.add(entries);
        if (entries.some(({ type }) => type === 'WorkflowStarted')) this.#runInBackground(rulebook.detectGithub());
        if (entries.some(({ type }) => type === 'RunbookAdopted')) this.#runInBackground(followAdoption());
        if (rulebook.inForce === undefined && entries.some(({ type }) => SESSION_ENDS.has(type)))
          this.#runInBackground(afterSession());
        if (entries.some(movesMain)) this.#runInBackground(adoptions?.followMain());
      },
      onMistake: (error) => log.error('a decision failed', { project: id, cause: causeOf(error) }),
      onDiscarded: (name, why) => log.error('a snapshot was discarded', { project: id, snapshot: name, why }),
      onImport: logProgress(id, log),
      messages: messagesFor(id),
      onStoreHealth: (health) => {
        if (health.writable) log.info('the store can be written again', { project: id });
        else log.error('the store cannot be written', { project: id, since: health.since, cause: health.reason });
        if (health.writable) this.#options.onStoreBack?.();
      },
      onTick: (nowMs) => runbook.readIfDue(nowMs),
      ledger: {
        store: store.store,
        signer,
        verifier: nodeVerifier,
        secrets: [...findSecretValues(env), ...readOwnSecrets(stateDir)],
        outside: new OutsideCopyFile(place.outside),
      },
    });
    if (!opened.ok) {
      await store.store.close();
      return projectUnavailable(opened.problem);
    }
    const made = opened.project;
    project = made;
    if (!hadCheckpoint && made.ledger.head.size > 1) await made.noteMissingCheckpoint(log);
    adoptions = new Adoptions({ project: made, working: runbook, rulebook, newId: services.newId, log });
    made.adoptions = adoptions;
    const used = await made.commandLoop.read(({ state }) => state.tasks.size > 0);
    if (used.ok && used.answer) await adoptions.adoptFirst();
    await followAdoption();
    runbook.follow((good) => {
      rulebook.follow(good);
      this.#runInBackground(adoptions?.adoptForTasks());
    });
    this.#runInBackground(adoptions.followMain());
    log.info('project opened', { project: id, path, entries: made.ledger.head.size });
    this.#runInBackground(reconcileAtStart(made, log));
    await this.#watchMain(made);
    return { ok: true, open: { project: made, services, feed } };
  }

  /** Records the first position of the main branch before anything else happens; later positions are compared in the background. */
  async #watchMain({ mainWatch, commandLoop }: Project): Promise<void> {
    const known = await commandLoop.read(({ state }) => findMain(state) !== undefined);
    mainWatch.start();
    const polled = mainWatch.poll();
    if (known.ok && !known.answer) await polled;
    else this.#runInBackground(polled);
  }

  /** Git and the disk are slow. Only `close` waits for this work. */
  #runInBackground(work: Promise<void> | undefined): void {
    if (work === undefined) return;
    const done = work
      .catch((error: unknown) => this.#options.log.error('background work failed', { cause: causeOf(error) }))
      .finally(() => this.#background.delete(done));
    this.#background.add(done);
  }
}

/** Undefined if the repository is gone. An exception would end the daemon, because no caller may be waiting. */
function identityOf(repository: Parameters<typeof projectId>[0]): string | undefined {
  try {
    return projectId(repository);
  } catch {
    return undefined;
  }
}

/** Before the first adoption the working file counts again once no session is left that could have written it. */
const SESSION_ENDS: ReadonlySet<string> = new Set([...Object.values(CLAIM_ENDS), 'AgentExited']);

function movesMain({ type, data }: Entry): boolean {
  return type === 'MainMoved' || (type === 'MergeFinished' && data['outcome'] === 'merged');
}

/** Without the recorded rules every gate would be open. */
function lostRunbookProblem(sha256: string): Problem {
  const message = `the store has lost the runbook ${sha256}, which tasks of this project use`;
  return problem('store-unavailable', message, 'Restore the state folder from a backup: baton ledger verify');
}

function noSuchProject(message: string, hint: string): ApiError {
  return { code: 'no-such-project', message, hint };
}

function projectUnavailable({ message, hint }: { readonly message: string; readonly hint: string }): FoundProject {
  return { ok: false, error: { code: 'store-unavailable', message, hint } };
}

const MAX_PATHS = 10_000;
