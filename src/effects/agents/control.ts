import { openConnection } from '../../api/client/http.ts';
import { hasEnded } from '../../api/processes.ts';
import type { Exit } from '../../protocol/agent-report.ts';
import { agentFiles, type Control } from '../../supervisor/contract.ts';
import type { EffectContext } from '../context.ts';
import { agentMark, endLostRun } from '../processes/settle-lost.ts';
import { readRunning } from '../processes/supervised.ts';
import { preventStart, waitForEnd, waitForStart } from '../processes/supervisor.ts';

export type ControlResult =
  | { readonly ok: true }
  /** `unheard`: nobody listens there, or no answer came; otherwise the supervisor refused. */
  | { readonly ok: false; readonly unheard: boolean; readonly reason: string };

export interface ControlOptions {
  readonly port: number;
  readonly token: string;
  readonly timeoutMs: number;
}

/** Sends a control message to a supervisor and waits until it has been carried out. */
export async function sendControl(
  control: Control,
  { port, token, timeoutMs }: ControlOptions,
): Promise<ControlResult> {
  const connection = await openConnection({ host: '127.0.0.1', port });
  if (connection === undefined) return { ok: false, unheard: true, reason: 'nothing listens on its port' };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const request = { method: 'POST', path: '/control', headers, body: JSON.stringify(control) } as const;
  const received = await connection.send(request, { timeoutMs });
  connection.close();
  if (received.ok) return answerOf(received.body, received.status);
  return { ok: false, unheard: true, reason: LOST_REASONS[received.lost] };
}

const LOST_REASONS = {
  closed: 'the supervisor closed the connection',
  timeout: 'the supervisor does not answer',
  aborted: 'the request was cancelled',
  garbled: 'the response cannot be read',
} as const;

function answerOf(text: string, status: number): ControlResult {
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer === 'object' && answer !== null && 'ok' in answer) {
      if (answer.ok === true) return { ok: true };
      return { ok: false, unheard: false, reason: 'error' in answer ? wordsOf(answer.error) : 'refused' };
    }
  } catch {
    // Not one of ours.
  }
  return { ok: false, unheard: true, reason: `the supervisor's port answered with status ${status}` };
}

function wordsOf(error: unknown): string {
  if (typeof error === 'string') return error;
  const isObject = typeof error === 'object' && error !== null;
  return isObject && 'message' in error ? String(error.message) : 'refused';
}

/** Says something to the supervisor of an agent's newest process. */
export async function sendControlToAgent(
  { agentId, start }: { readonly agentId: string; readonly start: number },
  said: Control,
  { stateDir, supervisorToken }: Pick<EffectContext, 'stateDir' | 'supervisorToken'>,
  timeoutMs: number,
): Promise<ControlResult> {
  const running = readRunning(agentFiles(stateDir, agentId), start);
  // Somebody else may listen by now where a supervisor that has gone did: they must not hear its token.
  if (running === undefined || hasEnded(running.supervisor)) return NO_SUPERVISOR;
  return sendControl(said, { port: running.port, token: supervisorToken(agentId), timeoutMs });
}

const NO_SUPERVISOR: ControlResult = { ok: false, unheard: true, reason: 'it has no process' };

export interface KilledProcess {
  readonly agentId: string;
  readonly start: number;
  readonly reason: string;
}

/**
 * Ends an agent with everything that it has started, and says how it ended; undefined where that was called off. Its supervisor
 * does it, where there is one; a start that no supervisor has taken is taken by nobody from then on.
 */
export async function killAgent(
  { agentId, start, reason }: KilledProcess,
  world: EffectContext,
  signal: AbortSignal,
): Promise<Exit | undefined> {
  const files = agentFiles(world.stateDir, agentId);
  const lost = { files, start, mark: agentMark(agentId) };
  if (preventStart(files, start)) return endLostRun(lost);
  // One that is just being started says soon where it listens.
  await waitForStart({ files, start, spawned: undefined, signal }, world.times.startMs);
  if (signal.aborted) return undefined;
  const timeoutMs = world.times.killAfterMs + world.times.controlMs;
  const answer = await sendControlToAgent({ agentId, start }, { kind: 'kill', reason }, world, timeoutMs);
  if (!answer.ok) return endLostRun(lost);
  const settling = await waitForEnd({ files, start, spawned: undefined, signal });
  if (settling === undefined) return undefined;
  return settling.found.kind === 'ended' ? settling.found.exit : endLostRun(lost);
}
