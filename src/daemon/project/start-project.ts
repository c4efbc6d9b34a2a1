import { isFromInit } from '../../api/init-record.ts';
import { operatorName } from '../tokens.ts';
import type { OrError } from '../../api/answer.ts';
import { findHostName } from '../../api/host-name.ts';
import type { Signer } from '../../ledger/format/crypto.ts';
import type { Entry } from '../../ledger/format/entry.ts';
import { keyFingerprint } from '../../ledger/format/fingerprint.ts';
import { findSecretValues } from '../../ledger/redact.ts';
import { nodeSha256, nodeVerifier } from '../../ledger/writer/keys.ts';
import { ledgerPlace } from '../../ledger/writer/ledger-files.ts';
import { AWAY_CODES } from '../../protocol/resource-faults.ts';
import { problem, type Problem } from '../../protocol/shape/problem.ts';
import { CLAIM_ENDS } from '../../state/event.ts';
import { listHosts } from '../../state/fleet/fleet.ts';
import { findMain } from '../../state/main/main-branch.ts';
import { type Databases, openProjectStore } from '../fleet/open-store.ts';
import { takePart } from '../fleet/take-part.ts';
import { causeOf, type Log } from '../log.ts';
import type { KeptMessages } from '../loop/request.ts';
import type { Services } from '../operations/call.ts';
import { reconcileAfterMove, reconcileAtStart } from '../operations/reconcile.ts';
import { Adoptions } from '../rules/adoptions.ts';
import { NO_RUNBOOK } from '../rules/rulebook.ts';
import { configureWorkers } from '../rules/workers.ts';
import { type DaemonSettings, leaseTimesOf } from '../settings.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { readOwnSecrets } from '../tokens.ts';
import { EntryFeed } from './entry-feed.ts';
import { logProgress } from './log-progress.ts';
import { openProject } from './open-project.ts';
import type { Project } from './project.ts';

export interface OpenProject {
  readonly project: Project;
  readonly services: Services;
  readonly feed: EntryFeed;
}

/** `isAway`: the project's database is unavailable. */
export type FoundProject = OrError<{ readonly open: OpenProject }> & { readonly isAway?: boolean };

export interface StartOptions {
  readonly id: string;
  readonly path: string;
  /** The URL of the project's database; undefined for SQLite in the state folder. */
  readonly store: string | undefined;
  readonly stateDir: string;
  readonly settings: DaemonSettings;
  readonly signer: Signer;
  readonly log: Log;
  /** The daemon's own environment, with which `gh` and its login are found. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly databases: Databases;
  readonly telemetry: Telemetry;
  readonly services: Services;
  readonly messages: KeptMessages;
  readonly onStoreBack: () => void;
  /** Runs slow work on git and disk. Only stopping the daemon waits for it. */
  readonly inBackground: (work: Promise<void> | undefined) => void;
}

/** Opens the ledger of a project, joins its fleet, and follows its runbook and its main branch. */
export async function startProject(options: StartOptions): Promise<FoundProject> {
  const { id, path, stateDir, settings, signer, log, env, services, inBackground } = options;
  const { rulebook, runbook } = services;
  runbook.read();
  const host = options.store === undefined ? undefined : findHostName(stateDir, env);
  const store = await openProjectStore({
    place: ledgerPlace(stateDir, id),
    lockTimes: settings.lockTimes,
    url: options.store,
    host: host ?? '',
    signer,
    databases: options.databases,
    onReplicaSetAside: ({ path: file, problem: { message } }) =>
      log.error('the replica was damaged, and is filled again', { project: id, file, cause: message }),
    admitted: () => project?.read((state) => listHosts(state).map(({ name }) => name)),
  });
  if (!store.ok) return projectUnavailable(store.problem);
  let project: Project | undefined;
  let adoptions: Adoptions | undefined;
  /** In a fleet, the caretaker follows the runbook and the main branch for all hosts. */
  const isOurs = (): boolean => project !== undefined && project.here?.isCaretaker !== false;
  const followAdoption = async (): Promise<void> => {
    if (project === undefined || !isOurs()) return;
    const { inForce } = rulebook;
    const hasTasks = await project.commandLoop.read(({ state }) => state.tasks.size > 0);
    // A project of an earlier version may have tasks but no runbook in force. Its recorded workers stay.
    if (inForce !== undefined || (hasTasks.ok && !hasTasks.answer))
      await configureWorkers(project, inForce ?? { runbook: NO_RUNBOOK, holdsCredential: false }, log);
    await rulebook.detectGithub();
  };
  /** For a project that has tasks. One without tasks adopts with its first task. */
  const adoptFirst = async (): Promise<void> => {
    const used = await project?.commandLoop.read(({ state }) => state.tasks.size > 0);
    if (used?.ok === true && used.answer && isOurs()) await adoptions?.adoptFirst();
  };
  const followMain = async (): Promise<void> => (isOurs() ? adoptions?.followMain() : undefined);
  const adoptForTasks = async (): Promise<void> => (isOurs() ? adoptions?.adoptForTasks() : undefined);
  const afterSession = async (): Promise<void> => {
    await adoptForTasks();
    if (runbook.lastValid !== undefined) rulebook.follow(runbook.lastValid);
  };
  const feed = new EntryFeed(() => project?.ledger);
  const measured = options.telemetry.follow(id);
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
      measured.begin(ledger, state);
      return undefined;
    },
    now: services.now,
    monotonicMs: services.monotonicMs,
    onEntries: (entries) => {
      feed.add(entries);
      if (entries.some(({ type }) => type === 'WorkflowStarted')) inBackground(rulebook.detectGithub());
      if (entries.some(({ type }) => type === 'RunbookAdopted')) inBackground(followAdoption());
      if (rulebook.inForce === undefined && entries.some(({ type }) => SESSION_ENDS.has(type)))
        inBackground(afterSession());
      if (entries.some(movesMain)) inBackground(followMain());
    },
    onRecorded: (recorded, isOwn) => {
      measured.add(recorded, isOwn);
      for (const { type, data } of recorded)
        if (type === 'MainMoved' && project !== undefined) inBackground(reconcileAfterMove(project, data, log));
    },
    onMistake: (error) => log.error('a decision failed', { project: id, cause: causeOf(error) }),
    onDiscarded: (name, why) => log.error('a snapshot was discarded', { project: id, snapshot: name, why }),
    onSnapshotError: (error) => log.error('a snapshot was not written', { project: id, cause: causeOf(error) }),
    onImport: logProgress(id, log),
    messages: options.messages,
    onStoreHealth: (health) => {
      if (health.writable) log.info('the store can be written again', { project: id });
      else log.error('the store cannot be written', { project: id, since: health.since, cause: health.reason });
      if (health.writable) options.onStoreBack();
    },
    onTick: (nowMs) => runbook.readIfDue(nowMs),
    beforeForeign: async (entries, ledger) => rulebook.loadAdopted(entries, ledger),
    ledger: {
      ...store.opened.ledger,
      signer,
      verifier: nodeVerifier,
      secrets: [...findSecretValues(env), ...readOwnSecrets(stateDir)],
    },
    ...(host === undefined || store.opened.fleet === undefined || options.store === undefined
      ? {}
      : {
          fleet: {
            host,
            key: keyFingerprint(nodeSha256, signer.publicKey),
            tables: store.opened.fleet,
            url: options.store,
            clock: services.clock,
            log,
          },
        }),
  });
  if (!opened.ok) {
    await store.opened.ledger.store.close();
    return projectUnavailable(opened.problem);
  }
  const made = opened.project;
  project = made;
  if (store.opened.lacksCheckpoint && made.ledger.head.size > 1) await noteMissingCheckpoint(made, log);
  adoptions = new Adoptions({
    project: made,
    working: runbook,
    rulebook,
    isAgreed: ({ files }) => isFromInit(stateDir, path, files),
    operator: operatorName(),
    newId: services.newId,
    log,
  });
  made.adoptions = adoptions;
  if (host !== undefined) {
    const obstacle = await takePart({ project: id, path, stateDir, host, signer, commandLoop: made.commandLoop });
    if (obstacle !== undefined) {
      await made.close();
      return projectUnavailable(obstacle);
    }
    await made.joinFleet(() => {
      inBackground(adoptFirst().then(followAdoption));
      inBackground(followMain());
    });
  }
  await adoptFirst();
  await followAdoption();
  runbook.follow((good) => {
    rulebook.follow(good);
    inBackground(adoptForTasks());
  });
  inBackground(followMain());
  log.info('project opened', { project: id, path, entries: made.ledger.head.size });
  inBackground(reconcileAtStart(made, log));
  await watchMain(made, inBackground);
  return { ok: true, open: { project: made, services, feed } };
}

/**
 * Records that the outside checkpoint is missing. Without it, missing entries at the end go unnoticed, but it may have
 * been moved for a good reason.
 */
async function noteMissingCheckpoint({ id, ledger }: Project, log: Log): Promise<void> {
  const { size } = ledger.head;
  log.error('the outside checkpoint is missing', { project: id, entries: size });
  await ledger.append([{ actor: 'system:daemon', type: 'OutsideCheckpointMissing', data: { size } }]);
}

/**
 * Records the first position of the main branch before anything else. Later positions are compared in the background.
 */
async function watchMain(
  { mainWatch, commandLoop }: Project,
  inBackground: StartOptions['inBackground'],
): Promise<void> {
  const known = await commandLoop.read(({ state }) => findMain(state) !== undefined);
  mainWatch.start();
  const polled = mainWatch.poll();
  if (known.ok && !known.answer) await polled;
  else inBackground(polled);
}

/** Before the first adoption, the working file applies again when no session is left that could have written it. */
const SESSION_ENDS: ReadonlySet<string> = new Set([...Object.values(CLAIM_ENDS), 'AgentExited']);

function movesMain({ type, data }: Entry): boolean {
  return type === 'MainMoved' || (type === 'MergeFinished' && data['outcome'] === 'merged');
}

/** Without the recorded rules no gate would be in force. */
function lostRunbookProblem(sha256: string): Problem {
  const message = `the store has lost the runbook ${sha256}, which tasks of this project use`;
  return problem('store-unavailable', message, 'Restore the state folder from a backup: baton ledger verify');
}

function projectUnavailable({ code, message, hint }: Problem): FoundProject {
  return { ok: false, error: { code: 'store-unavailable', message, hint }, isAway: AWAY_CODES.has(code) };
}
