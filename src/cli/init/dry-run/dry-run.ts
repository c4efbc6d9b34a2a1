import type { Answer } from '../../../api/answer.ts';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskOverview } from '../../../api/operations/task-view.ts';
import type { Client } from '../../../api/client/client.ts';
import { createClient } from '../../../api/client/connect.ts';
import type { Environment } from '../../../protocol/environment.ts';
import { ISSUE_WORKFLOW, type RunbookFile } from '../../../runbook/runbook.ts';
import { acceptUnproven } from '../../demo/accept-unproven.ts';
import { makePassableFolder } from '../../passable-folder.ts';
import { describeFileError } from '../../problems.ts';
import { commitRunbook, copyRepository, type CopySource } from './copy-repository.ts';
import { judge, StageProgress, type Verdict } from './verdict.ts';

export interface DryRunRequest {
  readonly source: CopySource;
  /** The runbook as written. Its plan must be valid. */
  readonly runbook: RunbookFile;
  /** The same runbook at the same path, with scripts in place of models and without notifications. */
  readonly scripted: RunbookFile;
  readonly title: string;
  readonly env: Environment;
  readonly timeoutMs: number;
  readonly onLine: (line: string) => void;
  /** Starts the workflow, and agrees to rules that loosen the defaults if the person has. */
  readonly agreeing: <R>(call: StartCall<R>) => Promise<Answer<R>>;
  /** Called after a merge, before everything is removed. */
  readonly onMerged?: (project: string, view: TaskOverview) => Promise<void>;
}

type StartCall<R> = (accept: { readonly accept_rules?: string }) => Promise<Answer<R>>;

export interface DryRun extends Verdict {
  readonly ms: number;
}

/**
 * Takes a small change from a request to a merge in a copy of the repository, with its own daemon and scripts in place
 * of models. Removes everything afterwards.
 */
export async function runDry(request: DryRunRequest): Promise<DryRun> {
  const began = performance.now();
  const folder = makeTemporaryFolder();
  if (typeof folder !== 'string') return { ...folder, ms: 0 };
  const project = join(folder, 'repository');
  const client = createClient({ env: environmentIn(folder, request.env), projectPath: project, reachMs: 60_000 });
  using interrupt = untilSignalled();
  try {
    const verdict = await prove(client, project, { ...request, signal: interrupt.signal }, began + request.timeoutMs);
    return { ...verdict, ms: Math.round(performance.now() - began) };
  } finally {
    await end(client);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

function makeTemporaryFolder(): string | Verdict {
  try {
    return makePassableFolder('baton-init-');
  } catch (error) {
    return notStarted(`cannot make a folder in ${tmpdir()}: ${describeFileError(error)}. TMPDIR names another one.`);
  }
}

/** Even a second signal waits until everything has ended, because a leftover daemon could not be found. */
function untilSignalled(): { readonly signal: AbortSignal; readonly [Symbol.dispose]: () => void } {
  const controller = new AbortController();
  const onSignal = (): void => controller.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  const dispose = (): void => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  return { signal: controller.signal, [Symbol.dispose]: dispose };
}

type Interruptible = DryRunRequest & { readonly signal: AbortSignal };

function environmentIn(folder: string, env: Environment): Record<string, string | undefined> {
  return {
    ...env,
    // The copy's commits are not signed, and the user's hooks do not run for them.
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    BATON_STATE_DIR: join(folder, 'state'),
    ...acceptUnproven(folder, env),
    BATON_RESTART: 'off',
    // The copy has its own ledger and no telemetry.
    BATON_STORE: undefined,
    BATON_TELEMETRY: undefined,
    BATON_TOKEN: undefined,
    BATON_URL: undefined,
  };
}

async function prove(client: Client, project: string, request: Interruptible, until: number): Promise<Verdict> {
  const { signal, scripted, runbook, title } = request;
  const input = { name: ISSUE_WORKFLOW, args: [title] };
  const copied = await copyRepository(request.source, project);
  const committed = copied.ok ? await commitRunbook(project, scripted) : copied;
  if (!committed.ok) return notStarted(committed.problem.message, committed.problem.hint);
  // Plans what the user will run. The committed, scripted runbook stays in force.
  writeFileSync(join(project, runbook.path), runbook.text);
  const planned = await client.call('run_plan', input, { signal });
  writeFileSync(join(project, scripted.path), scripted.text);
  const started = planned.ok
    ? await request.agreeing(async (accept) => client.call('run_start', { ...input, ...accept }, { signal }))
    : planned;
  if (signal.aborted) return INTERRUPTED;
  if (!started.ok) return notStarted(started.error.message, started.error.hint);
  return follow(client, project, started.result.id, { ...request, until });
}

const INTERRUPTED: Verdict = { outcome: 'interrupted', detail: '' };

function notStarted(message: string, hint?: string): Verdict {
  return { outcome: 'not-started', detail: hint === undefined ? message : `${message}${HINT}${hint}` };
}

/** Between a message and its hint. */
export const HINT = '\n  hint: ';

async function follow(
  client: Client,
  project: string,
  taskId: string,
  { signal, onLine, onMerged, timeoutMs, until }: Interruptible & { readonly until: number },
): Promise<Verdict> {
  const progress = new StageProgress();
  let stage = '';
  while (!signal.aborted && performance.now() < until) {
    const view = await client.call('task_view', { task_id: taskId });
    if (!view.ok) return { outcome: 'stopped', detail: view.error.message };
    progress.linesOf(view.result).forEach(onLine);
    stage = view.result.stages.find(({ status }) => status === 'now')?.name ?? stage;
    const verdict = judge(view.result);
    if (verdict?.outcome === 'merged') await onMerged?.(project, view.result);
    if (verdict !== undefined) return verdict;
    await sleep(POLL_MS);
  }
  if (signal.aborted) return INTERRUPTED;
  return { outcome: 'timeout', detail: `${stage} did not finish within ${Math.round(timeoutMs / 60_000)} minutes` };
}

const POLL_MS = 200;

/** Ends agents first, because without a daemon their supervisors would wait for one. */
async function end(client: Client): Promise<void> {
  const listed = await client.call('task_list', {});
  for (const { id, phase } of listed.ok ? listed.result.tasks : [])
    if (phase !== 'COMPLETED') await client.call('task_cancel', { task_id: id, reason: 'the dry run is over' });
  for (let tries = 0; tries < END_TRIES; tries += 1) {
    const status = await client.call('status_get', {});
    if (!status.ok || status.result.agents.length === 0) break;
    await sleep(POLL_MS);
  }
  await client.stop();
  client.close();
}

const END_TRIES = 75;
