import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer } from '../../api/answer.ts';
import { parseAnswer } from '../../api/client/http.ts';
import { findDaemon } from '../../api/client/reach.ts';
import { listFolderIfPresent, readFileIfPresent } from '../../api/files.ts';
import { makePass, needsPass, PASS_HEADER } from '../../api/operator-pass.ts';
import { keepCall, listKept, readKept } from '../../api/outbox.ts';
import { findStateDir, stateFiles } from '../../api/state-folder.ts';
import { decideStop, MAX_BLOCKS } from '../../protocol/decide-stop.ts';
import { fieldsInJson } from '../../protocol/shape/read-unknown.ts';
import type { Standing } from '../../protocol/standing.ts';
import { isStopHookActive, renderStopHookOutput } from '../../protocol/stop-hook.ts';
import { agentFiles, type HookConfig, type Launch, requireLaunch } from '../contract.ts';
import { isStanding } from '../control.ts';
import { readGitHead } from '../hooks/git-head.ts';
import { readHookConfig } from '../hooks/hook-config.ts';
import { hasSignalInOutbox } from '../outbox-signal.ts';
import { askSupervisor, type HookKind } from './ask-supervisor.ts';

/** Answers a hook that lacks the supervisor's address, since some clients filter the environment of their hooks. */
export async function askWithoutSupervisor(agentId: string, input: Uint8Array, kind: HookKind): Promise<string> {
  const files = agentFiles(findStateDir(process.env), agentId);
  const config = readHookConfig(files.config);
  const start = config.start ?? newestStart(files.folder);
  const { port } = fieldsInJson(readFileIfPresent(files.running(start)));
  const token = process.env['BATON_TOKEN'] || fieldsInJson(readFileIfPresent(files.launch(start)))['agent_token'];
  const isKnown = typeof port === 'number' && typeof token === 'string';
  const answer = isKnown ? await askSupervisor(port, token, input, kind) : undefined;
  if (kind === 'pre-tool-use') return answer ?? '';
  return answer ?? decideStopAlone(agentId, files, { ...config, start }, input);
}

/** The answer to a first stop if neither supervisor nor daemon answers. */
export function blockByConfig(agentId: string): string {
  const { on_stop: onStop } = readHookConfig(agentFiles(findStateDir(process.env), agentId).config);
  const first = {
    attempts: undefined,
    isHookActive: false,
    blocks: 0,
    totalBlocks: 0,
    maxBlocks: 1,
    missing: [],
    usesTools: false,
  };
  const attempt = { agentId, onStop, ...first, hasSignalled: false, isOwned: true, isParked: false };
  return renderStopHookOutput(decideStop(attempt).output);
}

function newestStart(folder: string): number {
  const names = listFolderIfPresent(folder);
  return Math.max(0, ...names.map((name) => Number(/^launch-(\d+)\.json$/.exec(name)?.[1] ?? 0)));
}

/**
 * Decides without a supervisor: asks the daemon; if it is away, the agent's files decide, and records go to the outbox.
 */
async function decideStopAlone(
  agentId: string,
  files: ReturnType<typeof agentFiles>,
  config: HookConfig,
  input: Uint8Array,
): Promise<string> {
  const launch = findLaunch(files, config.start);
  const standing = (await askStanding(launch, agentId)) ?? standingOnDisk(launch);
  const [path, head] = [join(files.folder, 'blocks-alone'), readGitHead(launch?.cwd ?? process.cwd()) ?? ''];
  const { inRow, total } = readBlocks(path, head);
  const totalBlocks = Math.max(standing.blocks ?? 0, config.blocks_before ?? 0, total);
  const { output, records } = decideStop({
    agentId,
    onStop: config.on_stop,
    attempts: config.attempts,
    isHookActive: config.ignores_flag === true ? inRow > 0 : isStopHookActive(input),
    blocks: inRow,
    totalBlocks,
    maxBlocks: config.max_blocks ?? MAX_BLOCKS,
    hasSignalled: standing.has_signalled,
    isOwned: standing.is_owned,
    isParked: standing.is_parked,
    missing: standing.missing,
    usesTools: launch?.judge?.stream === true,
  });
  if (records !== null) {
    const operation = records === 'idle' ? 'agent_idle' : 'agent_stop';
    await recordOrKeep(operation, agentId, launch, { agent_id: agentId });
  }
  if (output.decision === 'block') {
    writeBlocks(path, head, inRow + 1, totalBlocks + 1);
    await recordOrKeep('agent_report', agentId, launch, { kind: 'blocked', blocks: totalBlocks + 1 });
  }
  return renderStopHookOutput(output);
}

function findLaunch(files: ReturnType<typeof agentFiles>, start: number | undefined): Launch | undefined {
  try {
    return start === undefined ? undefined : requireLaunch(files.launch(start));
  } catch {
    return undefined;
  }
}

async function askStanding(launch: Launch | undefined, agentId: string): Promise<Standing | undefined> {
  if (launch === undefined) return askStandingOfUnknown(agentId);
  const answer = await requestDaemon(launch.state_dir, 'agent_standing', '{}', launch.token);
  if (answer?.ok !== true || !isStanding(answer.result)) return undefined;
  return { ...answer.result, has_signalled: answer.result.has_signalled || isSignalKept(launch) };
}

/** Asks the daemon about an agent without files. An agent that the daemon does not know has no owner and may stop. */
async function askStandingOfUnknown(agentId: string): Promise<Standing | undefined> {
  const stateDir = findStateDir(process.env);
  const token = readFileIfPresent(stateFiles(stateDir).workerToken).trim();
  if (token === '') return undefined;
  const answer = await requestDaemon(stateDir, 'agent_standing', JSON.stringify({ agent_id: agentId }), token);
  return answer?.ok === true && isStanding(answer.result) ? answer.result : undefined;
}

/** The standing by the agent's files: a signal or a call for a person in the outbox counts. */
function standingOnDisk(launch: Launch | undefined): Standing {
  const is_parked = launch !== undefined && isStopKept(launch);
  const has_signalled = launch !== undefined && isSignalKept(launch);
  return { has_signalled, is_owned: true, is_parked, missing: launch?.owes ?? [] };
}

function isSignalKept({ state_dir, agent_token }: Launch): boolean {
  return hasSignalInOutbox(stateFiles(state_dir).outbox, agent_token);
}

function isStopKept({ state_dir, agent_token }: Launch): boolean {
  const { outbox } = stateFiles(state_dir);
  return listKept(outbox).some((name) => {
    const call = readKept(outbox, name);
    return call?.operation === 'agent_stop' && call.token === agent_token;
  });
}

async function recordOrKeep(
  operation: 'agent_idle' | 'agent_stop' | 'agent_report',
  agentId: string,
  launch: Launch | undefined,
  report: object,
): Promise<void> {
  if (launch === undefined) return;
  const { state_dir } = launch;
  const token = operation === 'agent_report' ? launch.token : launch.agent_token;
  const key = `${agentId}:${operation}:alone:${Date.now()}-${process.pid}`;
  const input = JSON.stringify(report);
  if ((await requestDaemon(state_dir, operation, input, token, key)) !== undefined) return;
  const keptAt = new Date().toISOString();
  keepCall(stateFiles(state_dir).outbox, { v: 1, operation, input, key, token, projectPath: null, keptAt });
}

async function requestDaemon(stateDir: string, operation: string, body: string, token: string, key?: string) {
  const connection = await findDaemon(stateDir);
  const pass = needsPass(token) ? makePass(stateDir) : undefined;
  const headers = {
    authorization: `Bearer ${token}`,
    // Needed for tokens that name no project.
    'baton-project-path': encodeURI(process.cwd()),
    ...(pass === undefined ? {} : { [PASS_HEADER]: pass }),
    ...(key === undefined ? {} : { 'idempotency-key': key }),
  };
  const request = { method: 'POST', path: `/v1/${operation}`, headers, body } as const;
  const received = await connection?.send(request, { timeoutMs: AWAY_MS });
  connection?.close();
  const answer: Answer | undefined = received?.ok === true ? parseAnswer(received.body) : undefined;
  const isStopping = answer?.ok === false && answer.error.code === 'stopping';
  return isStopping ? undefined : answer;
}

const AWAY_MS = 5000;

/**
 * Counts the blocks of an agent without a supervisor, whose stops are separate processes: since this commit, and in
 * total.
 */
function readBlocks(path: string, head: string): { readonly inRow: number; readonly total: number } {
  const [commit, inRow, total] = readFileIfPresent(path).split(' ');
  return { inRow: commit === head ? Number(inRow ?? 0) : 0, total: Number(total ?? 0) };
}

function writeBlocks(path: string, head: string, inRow: number, total: number): void {
  try {
    writeFileSync(path, `${head} ${inRow} ${total}`, { mode: 0o600 });
  } catch {
    // Without a folder there is no count, so the agent is blocked once more.
  }
}
