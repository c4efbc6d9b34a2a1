import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type FileFingerprints,
  fingerprintFiles,
  freshCheckoutPath,
  restoreFiles,
} from '../../git/checkout/file-marks.ts';
import { makeCheckout, removeCheckout } from '../../git/checkout/make-checkout.ts';
import { findMergeBase } from '../../git/commits.ts';
import type { OwnRepository } from '../../git/own/own-repository.ts';
import { gitFailure, type GitResult } from '../../git/run-git.ts';
import { readEndedChecks } from '../../github/checks.ts';
import { parseRepository, renderRepository } from '../../github/find-github.ts';
import { SANDBOX_KINDS } from '../../protocol/sandbox.ts';
import { commandNetworkOf } from '../../runbook/access.ts';
import { withKept } from '../../sandbox/plan/layer-paths.ts';
import type { Command } from '../../state/decide.ts';
import type { Events } from '../../state/event.ts';
import type { CheckPlan } from '../../state/workflow/workflow-event.ts';
import { commandFiles } from '../../supervisor/contract.ts';
import { fetchedFolder, removeFetched } from '../caches/cache-folders.ts';
import type { EffectContext } from '../context.ts';
import { readRunning } from '../processes/supervised.ts';
import { type CommandEnd, killCommand, superviseCommand } from '../processes/command.ts';
import type { CommandPlace } from '../sandbox/confine-command.ts';
import { observePlace } from '../sessions/observe-branch.ts';
import { findMainOf } from '../sessions/workplace.ts';
import { requireRemote } from '../travel/remote-away.ts';
import { apiContext, type GithubContext, renderGithubProblem } from './github.ts';

/**
 * Runs the required checks of a task's head. Each outcome is recorded when its check ends, and a recorded check is not
 * run again.
 */
export async function runChecks(
  { checks_id, task_id, head, checks }: Events['ChecksRequested'],
  context: EffectContext,
  signal: AbortSignal,
): Promise<readonly Command[]> {
  // After a move these checks only end, and then the new head is checked.
  await observePlace(task_id, context);
  const recorded = await context.readState((state) => state.tasks.get(task_id)?.flow.checks?.outcomes);
  if (recorded === undefined) return [];
  const onEnd = async (end: CheckResult): Promise<void> => {
    if (recorded[end.name] !== undefined) return;
    const log = await readFile(end.logPath, 'utf8').then(
      (text) => context.keepLog(text),
      () => null,
    );
    const { name, passed, exit_code, timed_out } = end;
    const output = timed_out ? `timed out\n${end.output ?? ''}` : end.output;
    const outcome = passed ? 'passed' : 'failed';
    const sandbox = end.sandbox === undefined ? {} : { sandbox: end.sandbox };
    const about = { exit_code, log, output, handoffId: randomUUID(), ...sandbox };
    const command = { checks_id, name, outcome, ...about } as const;
    await context.submit({ kind: 'finish-check', command });
  };
  const own = ownChecks(checks);
  await checkCommit({ id: checks_id, sha: head, taskId: task_id, checks: own }, context, signal, onEnd);
  return [];
}

/** The checks that Baton runs. Another system runs and reports the others. */
export function ownChecks(checks: readonly CheckPlan[]): readonly CheckPlan[] {
  return checks.filter(({ run }) => run !== undefined);
}

/**
 * Polls the checks that GitHub runs on a head, once. The effect stays owed until all outcomes are recorded, and is
 * polled less and less often. This covers projects without a webhook, and deliveries that the daemon missed.
 */
export async function watchChecks(
  { task_id: taskId, head, watch }: Events['PullRequestPublished'],
  context: GithubContext,
  signal: AbortSignal,
): Promise<readonly []> {
  const flow = await context.readState((state) => state.tasks.get(taskId)?.flow);
  const repository = parseRepository(flow?.pull?.repository ?? '');
  const checks = flow?.checks;
  if (!checks || checks.head !== head || repository === undefined) return [];
  const ended = await readEndedChecks(repository, head, apiContext(context, signal));
  if (!ended.ok) {
    context.log.error('the checks at GitHub cannot be read', { task: taskId, reason: ended.problem.message });
    return [];
  }
  for (const { name, outcome, conclusion, app, url } of ended.value) {
    if (!watch.includes(name) || checks.outcomes[name] === outcome) continue;
    const output = `GitHub: ${outcome}${url === null ? '' : ` ${url}`}`;
    const report = { reporter: { repository: renderRepository(repository), app }, conclusion };
    const about = { exit_code: null, log: null, output, handoffId: randomUUID(), report };
    await context.submit({ kind: 'finish-check', command: { checks_id: checks.id, name, outcome, ...about } });
  }
  return [];
}

export interface CommitCheck {
  /** Prefix of the commands' ids. The same commit under the same id is checked once. */
  readonly id: string;
  readonly sha: string;
  readonly taskId: string;
  readonly checks: readonly CheckPlan[];
}

export interface CheckResult extends CommandEnd {
  readonly name: string;
  readonly passed: boolean;
  readonly logPath: string;
  /** With its checkout, without the time in which package caches were filled. */
  readonly durationMs: number;
}

/**
 * Runs checks on one commit in a clean checkout, one after the other until one fails. The files are restored before
 * each check, because an earlier one runs the branch's code and could have changed them. Undefined if cancelled.
 */
export async function checkCommit(
  { id, sha, taskId, checks }: CommitCheck,
  context: EffectContext,
  signal: AbortSignal,
  onEnd?: (end: CheckResult) => Promise<void>,
): Promise<readonly CheckResult[] | undefined> {
  const folder = checkoutOf(context.stateDir, id);
  const ends: CheckResult[] = [];
  let isMade = false;
  let marks: FileFingerprints | undefined;
  let isCalledOff = false;
  try {
    for (const [i, check] of checks.entries()) {
      const { name, run = 'false', timeout_ms: timeoutMs = null, env_pass: envPass = [], network } = check;
      const commandId = `${id}.${i}`;
      const prepare = async () => {
        const make = async (into: string) => checkOut({ sha, taskId }, into, context);
        const made = isMade ? await restoreFiles(folder, marks, make) : await make(folder);
        if (!made.ok) return { ok: false, reason: renderGithubProblem(made.problem) } as const;
        if (!isMade && i + 1 < checks.length) marks = await fingerprintFiles(folder);
        isMade = true;
        const env = { BATON_CHECK: name, CI: 'true' };
        const task = (await context.readState(({ tasks }) => tasks.get(taskId))) ?? null;
        const sandbox = { folder, kind: 'checks', task, network, cache } as const;
        const shell = { command: run, cwd: folder, env, envPass, namesDropped: true, timeoutMs, sandbox } as const;
        return { ok: true, shell } as const;
      };
      const cache = await cacheOf({ id, sha, taskId, checks }, i, context, signal);
      const since = performance.now();
      const end = await superviseCommand(commandId, prepare, context, signal);
      if (end === undefined) {
        isCalledOff = true;
        return undefined;
      }
      const logPath = commandFiles(context.stateDir, commandId).log;
      const durationMs = Math.round(performance.now() - since);
      const whole = { ...end, name, passed: end.exit_code === 0, logPath, durationMs };
      ends.push(whole);
      await onEnd?.(whole);
      if (!whole.passed) break;
    }
    return ends;
  } finally {
    // A check that keeps running after the daemon stops still needs its files.
    if (!isCalledOff) {
      await removeCheckout(folder);
      if (checks.length > 0) removeFetched(id, context);
    }
  }
}

/**
 * What a check writes into its package caches is dropped. Only a check that reaches the network passes it on, to the
 * later checks of its commit: it is the one that installs their packages.
 */
async function cacheOf(
  { id, sha, taskId, checks }: CommitCheck,
  i: number,
  context: EffectContext,
  signal: AbortSignal,
): Promise<CommandPlace['cache']> {
  const task = (await context.readState(({ tasks }) => tasks.get(taskId))) ?? null;
  const keptBy = (who: number | 'set-up'): string => fetchedFolder(`${id}.${who}`, context);
  const first = await context.cachesFor({ task, sha, keptIn: keptBy('set-up'), isAwaited: true }, context, signal);
  const lowers = checks.slice(0, i).reduce<readonly string[]>((below, _, n) => withKept(keptBy(n), below), first);
  const { policy } = commandNetworkOf(context.settingsFor(task).access, 'checks', checks[i]?.network);
  return policy === 'none' || policy.length === 0 ? { lowers } : { lowers, keptIn: keptBy(i) };
}

/** Stops the checks of a head whose outcome is no longer needed, and removes their checkout. */
export async function abandonChecks(
  { checks_id: id, checks }: Events['ChecksRequested'],
  context: EffectContext,
): Promise<void> {
  for (const i of ownChecks(checks).keys()) await killCommand(`${id}.${i}`, 'its result is no longer needed', context);
  await removeCheckout(checkoutOf(context.stateDir, id));
  await removeCheckout(freshCheckoutPath(checkoutOf(context.stateDir, id)));
  removeFetched(id, context);
}

/** Stops the checks of a merge or a judge. The id of each checked commit starts with that id and a dot. */
export async function abandonCommits(prefix: string, context: EffectContext): Promise<void> {
  const isOurs = (name: string): boolean => name.startsWith(`${prefix}.`);
  for (const id of namesIn(join(context.stateDir, 'commands')).filter(isOurs))
    await killCommand(id, 'its result is no longer needed', context);
  for (const id of namesIn(join(context.stateDir, 'checkouts')).filter(isOurs))
    await removeCheckout(checkoutOf(context.stateDir, id));
  removeFetched(prefix, context);
}

/** The weakest sandbox in which a check of a merge ran; empty if none is recorded. */
export function weakestSandbox(mergeId: string, { stateDir }: EffectContext): { readonly sandbox?: string } {
  const ids = namesIn(join(stateDir, 'commands')).filter((name) => name.startsWith(`${mergeId}.`));
  const kinds = new Set(ids.map((id) => readRunning(commandFiles(stateDir, id), 1)?.sandbox?.kind));
  const weakest = SANDBOX_KINDS.findLast((kind) => kinds.has(kind));
  return weakest === undefined || kinds.has(undefined) ? {} : { sandbox: weakest };
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function checkoutOf(stateDir: string, id: string): string {
  return join(stateDir, 'checkouts', id);
}

/** Checks out from Baton's own repository. The main branch of the work's start determines attributes and filters. */
export async function checkOut(
  { sha, taskId }: { readonly sha: string; readonly taskId: string },
  folder: string,
  context: EffectContext,
): Promise<GitResult<string>> {
  const began = await context.readState((state) => {
    const task = state.tasks.get(taskId);
    const { filters } = context.settingsFor(task ?? null);
    return { task: task ?? null, mainAt: task?.flow.mainAt ?? null, filters };
  });
  if (began === undefined)
    return gitFailure(
      'git/failed',
      'the ledger does not answer',
      'Read daemon.log in the state folder. Then: baton status',
    );
  const found = await findMainOf(began.task, context);
  if (!found.ok) return found;
  const { name, sha: mainSha } = found.value;
  const own = requireRemote(await context.ownRepository.with(sha, mainSha));
  if (!own.ok) return own;
  const base = (await hasCommit(began.mainAt, context)) ?? (await findCommon(own.value, sha, mainSha));
  const main = { name, sha: mainSha };
  return makeCheckout(own.value, { sha, base, filters: began.filters, main, stateDir: context.stateDir }, folder);
}

async function hasCommit(sha: string | null, context: EffectContext): Promise<string | undefined> {
  return sha !== null && (await context.ownRepository.with(sha)).ok ? sha : undefined;
}

/** Manual work has no recorded start, so the merge base with the main branch counts. */
async function findCommon(own: OwnRepository, sha: string, main: string): Promise<string> {
  const common = await findMergeBase(own, sha, main);
  return common.ok ? (common.value ?? main) : main;
}
