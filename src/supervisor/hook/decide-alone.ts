import type { Answer } from '../../api/answer.ts';
import { keepCall, listKept, readKept } from '../../api/outbox.ts';
import { parseAnswer } from '../../api/parse-answer.ts';
import { findDaemon } from '../../api/reach.ts';
import { stateFiles } from '../../api/state-folder.ts';
import { decideStop } from '../../protocol/decide-stop.ts';
import { isStopHookActive, renderStopHookOutput } from '../../protocol/stop-hook.ts';
import type { agentFiles, HookConfig, Launch, Standing } from '../contract.ts';
import { isStanding } from '../control.ts';
import { hasKeptSignal } from '../kept-signal.ts';
import { requireLaunch } from '../read-launch.ts';
import { BlockCount } from './block-count.ts';

export interface Stop {
  readonly agentId: string;
  readonly files: ReturnType<typeof agentFiles>;
  readonly config: HookConfig;
  readonly input: Uint8Array;
}

/**
 * May this agent stop? Nobody supervises it: its supervisor was killed. The daemon is asked where it answers; otherwise what lies on disk
 * decides, and what must be on record is kept for the daemon.
 */
export async function decideAlone({ agentId, files, config, input }: Stop): Promise<string> {
  const launch = findLaunch(files, config.start);
  const standing = (await askStanding(launch)) ?? standingOnDisk(launch);
  const count = new BlockCount(files.folder, launch?.cwd ?? process.cwd());
  const { output, records } = decideStop({
    agentId,
    onStop: config.on_stop,
    attempts: config.attempts,
    isHookActive: isStopHookActive(input),
    blocks: config.attempts === undefined ? 0 : count.read(),
    hasSignalled: standing.has_signalled,
    isOwned: standing.is_owned,
    isParked: standing.is_parked,
    missing: standing.missing,
  });
  if (records !== null) await record(records === 'idle' ? 'agent_idle' : 'agent_stop', agentId, launch);
  if (output.decision === 'block' && config.attempts !== undefined) count.add();
  return renderStopHookOutput(output);
}

function findLaunch(files: Stop['files'], start: number | undefined): Launch | undefined {
  try {
    return start === undefined ? undefined : requireLaunch(files.launch(start));
  } catch {
    return undefined;
  }
}

async function askStanding(launch: Launch | undefined): Promise<Standing | undefined> {
  if (launch === undefined) return undefined;
  const answer = await ask(launch.state_dir, 'agent_standing', '{}', launch.token, undefined);
  if (answer?.ok !== true || !isStanding(answer.result)) return undefined;
  return { ...answer.result, has_signalled: answer.result.has_signalled || isSignalKept(launch) };
}

/** A signal that waits in the outbox has been given; a person that was called there has been called. */
function standingOnDisk(launch: Launch | undefined): Standing {
  const is_parked = launch !== undefined && hasKept(launch, 'agent_stop');
  const has_signalled = launch !== undefined && isSignalKept(launch);
  return { has_signalled, is_owned: true, is_parked, missing: launch?.owes ?? [] };
}

function isSignalKept({ state_dir, agent_token }: Launch): boolean {
  return hasKeptSignal(stateFiles(state_dir).outbox, agent_token);
}

function hasKept({ state_dir, agent_token }: Launch, operation: string): boolean {
  const { outbox } = stateFiles(state_dir);
  return listKept(outbox).some((name) => {
    const call = readKept(outbox, name);
    return call?.operation === operation && call.token === agent_token;
  });
}

async function record(
  operation: 'agent_idle' | 'agent_stop',
  agentId: string,
  launch: Launch | undefined,
): Promise<void> {
  if (launch === undefined) return;
  const { state_dir, agent_token: token } = launch;
  const key = `${agentId}:${operation}:alone:${Date.now()}-${process.pid}`;
  const input = JSON.stringify({ agent_id: agentId });
  if ((await ask(state_dir, operation, input, token, key)) !== undefined) return;
  const keptAt = new Date().toISOString();
  keepCall(stateFiles(state_dir).outbox, { v: 1, operation, input, key, token, projectPath: null, keptAt });
}

async function ask(stateDir: string, operation: string, body: string, token: string, key: string | undefined) {
  const connection = await findDaemon(stateDir);
  const headers = { authorization: `Bearer ${token}`, ...(key === undefined ? {} : { 'idempotency-key': key }) };
  const request = { method: 'POST', path: `/v1/${operation}`, headers, body } as const;
  const received = await connection?.send(request, { timeoutMs: AWAY_MS });
  connection?.close();
  const answer: Answer | undefined = received?.ok === true ? parseAnswer(received.body) : undefined;
  const isStopping = answer?.ok === false && answer.error.code === 'stopping';
  return isStopping ? undefined : answer;
}

const AWAY_MS = 5000;
