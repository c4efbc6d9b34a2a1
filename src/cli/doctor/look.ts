import { accessSync, constants, statSync } from 'node:fs';
import packageJson from '../../../package.json' with { type: 'json' };
import { readPersonal } from '../../runbook/personal/read-personal.ts';
import { ledgerPlace } from '../../ledger/writer/ledger-files.ts';
import { agentsCheck, diagnoseAgents } from './checks/agents.ts';
import { chainCheck, diagnoseChain } from './checks/chain.ts';
import { clockCheck, diagnoseClock } from './checks/clock.ts';
import { codeFilesCheck, diagnoseCodeFiles } from './checks/code-files.ts';
import { daemonCheck, diagnoseDaemon } from './checks/daemon.ts';
import { diagnoseDisk, diskCheck } from './checks/disk.ts';
import { diagnoseGit, gitCheck } from './checks/git.ts';
import { diagnoseHooks, hooksCheck } from './checks/hooks.ts';
import { diagnoseNode, nodeCheck } from './checks/node.ts';
import { diagnosePersonal, personalCheck } from './checks/personal.ts';
import { proofCheck } from './checks/proof.ts';
import { diagnoseRunbook, runbookCheck } from './checks/runbook.ts';
import { diagnoseSandbox, sandboxCheck } from './checks/sandbox.ts';
import { diagnoseService, serviceCheck } from './checks/service.ts';
import { diagnoseSnapshot, snapshotCheck } from './checks/snapshot.ts';
import { diagnoseStateFolder, stateCheck } from './checks/state-folder.ts';
import { type DatabaseFacts, diagnoseStore, storeCheck } from './checks/store.ts';
import { diagnoseTelemetry, telemetryCheck } from './checks/telemetry.ts';
import { diagnoseVersions, versionsCheck } from './checks/versions.ts';
import { diagnoseWorktrees, worktreesCheck } from './checks/worktrees.ts';
import { readAgentFacts } from './facts/agents.ts';
import { readCodeFileFacts } from './facts/code-files.ts';
import { readDaemonFacts } from './facts/daemon.ts';
import { readDatabase } from './facts/database.ts';
import { readDiskFacts } from './facts/disk.ts';
import { readGitFacts } from './facts/git.ts';
import { readHookFacts } from './facts/hooks.ts';
import { type ReadLedger, readLedger } from './facts/ledger.ts';
import { findIdentity, readRunbookFacts } from './facts/runbook.ts';
import { readSandboxFacts, readSurvey } from './facts/sandbox.ts';
import { readServiceFacts } from './facts/service.ts';
import { readStateFolderFacts } from './facts/state-folder.ts';
import { readTelemetryFacts } from './facts/telemetry.ts';
import { readVersionFacts } from './facts/versions.ts';
import { readWorktreeFacts } from './facts/worktrees.ts';
import { type Check, defineCheck, type Diagnosis, warning } from './finding.ts';
import { type Place, TookTooLongError, withLimit } from './place.ts';

/** Reports a check that could not be made. The others continue. */
const doctorCheck = defineCheck('doctor', 'The checks themselves', {
  failed: warning('A check failed by itself'),
  late: warning('A check took too long'),
});

/** Facts that several checks use, each read at most once. */
interface Shared {
  readonly survey: () => ReturnType<typeof readSurvey>;
  readonly daemon: () => ReturnType<typeof readDaemonFacts>;
  /** Null outside of a repository. */
  readonly ledger: () => Promise<ReadLedger | null>;
  readonly database: () => Promise<DatabaseFacts | null>;
}

interface Row {
  readonly check: Check;
  readonly look: (place: Place, shared: Shared) => readonly Diagnosis[] | Promise<readonly Diagnosis[]>;
}

/** Every check, in the order of the output. */
const ROWS: readonly Row[] = [
  { check: nodeCheck, look: () => diagnoseNode(readNodeFacts()) },
  { check: gitCheck, look: async (place) => diagnoseGit(await readGitFacts(place)) },
  {
    check: runbookCheck,
    look: async (place, { survey }) => diagnoseRunbook(readRunbookFacts(place, await survey())),
  },
  {
    check: codeFilesCheck,
    look: async (place) => {
      const facts = await readCodeFileFacts(place);
      return facts === null ? [] : diagnoseCodeFiles(facts);
    },
  },
  {
    check: personalCheck,
    look: async ({ env, repository }, { survey }) =>
      diagnosePersonal(readPersonal(env, repository.ok ? repository.value.mainTop : undefined), await survey()),
  },
  {
    check: agentsCheck,
    look: async (place, { survey }) => diagnoseAgents(await readAgentFacts(place, await survey())),
  },
  { check: hooksCheck, look: (place) => diagnoseHooks(readHookFacts(place)) },
  {
    check: sandboxCheck,
    look: async (place, { survey }) => diagnoseSandbox(await readSandboxFacts(place, await survey())),
  },
  { check: stateCheck, look: (place) => diagnoseStateFolder(readStateFolderFacts(place)) },
  {
    check: daemonCheck,
    look: async (place, { daemon }) => (isOutOfReach(place) ? [] : diagnoseDaemon(await daemon())),
  },
  {
    check: versionsCheck,
    look: async (place, { daemon, ledger }) =>
      diagnoseVersions(readVersionFacts(place, await daemon().catch(noFacts), await factsOf(ledger))),
  },
  {
    check: storeCheck,
    look: async (_, { ledger, database }) =>
      diagnoseStore({ ledger: (await ledger())?.facts ?? null, database: await database() }),
  },
  { check: chainCheck, look: async (_, { ledger }) => diagnoseChain((await ledger())?.facts ?? null) },
  { check: snapshotCheck, look: async (_, { ledger }) => diagnoseSnapshot((await ledger())?.facts ?? null) },
  {
    check: worktreesCheck,
    look: async (place, { ledger }) => {
      const facts = await readWorktreeFacts(place, (await ledger().catch(noFacts))?.view);
      return facts === null ? [] : diagnoseWorktrees(facts);
    },
  },
  { check: diskCheck, look: async (place) => diagnoseDisk(await readDiskFacts(place)) },
  {
    check: clockCheck,
    look: async (_, { ledger, database }) => {
      const answer = (await database().catch(noFacts))?.answer;
      const newestAt = (await factsOf(ledger))?.inside?.newestAt ?? null;
      return diagnoseClock({ nowMs: Date.now(), newestAt, offsetMs: answer?.ok === true ? answer.offsetMs : null });
    },
  },
  { check: serviceCheck, look: async (place) => diagnoseService(await readServiceFacts(place)) },
  { check: telemetryCheck, look: (place) => diagnoseTelemetry(readTelemetryFacts(place)) },
];

/** All checks, for docs/doctor.md. */
export const CHECKS: readonly Check[] = [...ROWS.map(({ check }) => check), proofCheck, doctorCheck];

/** Makes every check, and waits at most `limitMs` for each. */
export async function look(place: Place, limitMs: number = LIMIT_MS): Promise<readonly Diagnosis[]> {
  const shared = shareFacts(place);
  const looks = ROWS.map(async ({ check, look: lookAt }) =>
    guard(check.name, async () => lookAt(place, shared), limitMs),
  );
  return (await Promise.all(looks)).flat();
}

const LIMIT_MS = 20_000;

function shareFacts(place: Place): Shared {
  const identity = once(async () => findIdentity(place));
  return {
    survey: once(async () => readSurvey(place)),
    daemon: once(async () => readDaemonFacts(place)),
    ledger: once(async () => {
      const found = await identity();
      return found === undefined || isOutOfReach(place) ? null : readLedger(ledgerPlace(place.stateDir, found.id));
    }),
    database: once(async () => {
      const found = await identity();
      return found?.store === undefined ? null : readDatabase(found.store, found.id);
    }),
  };
}

/**
 * Whether the state folder is a file or another user's. That is a separate finding, and nothing inside can be checked.
 */
function isOutOfReach({ stateDir }: Place): boolean {
  const stat = statSync(stateDir, { throwIfNoEntry: false });
  return stat !== undefined && (!stat.isDirectory() || !canEnter(stateDir));
}

function canEnter(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return async () => (reading ??= read());
}

/** Turns a check that throws or does not end into a finding. */
export async function guard(
  name: string,
  check: () => Promise<readonly Diagnosis[]>,
  limitMs: number,
): Promise<readonly Diagnosis[]> {
  try {
    return await withLimit(check(), limitMs);
  } catch (error) {
    const detail = `could not be checked: ${error instanceof Error ? error.message : String(error)}`;
    const code = error instanceof TookTooLongError ? 'late' : 'failed';
    return [doctorCheck.found(code, { name, detail, fix: AGAIN })];
  }
}

const AGAIN =
  'Correct what the message names, then: baton doctor. If nothing there is wrong, report it as a bug of Baton.';

/** Whether work that exceeded its limit may keep the process alive. */
export function hasLateWork(found: readonly Diagnosis[], { repository }: Place): boolean {
  const isGitLate = !repository.ok && repository.problem.code === 'git/timeout';
  return isGitLate || found.some(({ code }) => code === 'doctor.late');
}

const noFacts = (): undefined => undefined;

async function factsOf(ledger: Shared['ledger']) {
  return (await ledger().catch(noFacts))?.facts ?? null;
}

function readNodeFacts() {
  return { version: process.versions.node, needs: packageJson.engines.node, program: process.execPath };
}
