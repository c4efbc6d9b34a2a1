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
  /** `isUnreachable`: no response arrived. Otherwise the supervisor refused. */
  | { readonly ok: false; readonly isUnreachable: boolean; readonly reason: string };

export interface ControlOptions {
  readonly port: number;
  readonly token: string;
  readonly timeoutMs: number;
}

/** Sends a control message to a supervisor and waits until the supervisor has carried it out. */
export async function sendControl(
  control: Control,
  { port, token, timeoutMs }: ControlOptions,
): Promise<ControlResult> {
  const connection = await openConnection({ host: '127.0.0.1', port });
  if (connection === undefined)
    return { ok: false, isUnreachable: true, reason: 'nothing listens on the port of the supervisor' };
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const request = { method: 'POST', path: '/control', headers, body: JSON.stringify(control) } as const;
  const received = await connection.send(request, { timeoutMs });
  connection.close();
  if (received.ok) return answerOf(received.body, received.status);
  return { ok: false, isUnreachable: true, reason: LOST_REASONS[received.lost] };
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
      return { ok: false, isUnreachable: false, reason: 'error' in answer ? errorText(answer.error) : 'refused' };
    }
  } catch {
    // The response is not from a supervisor.
  }
  return { ok: false, isUnreachable: true, reason: `the supervisor's port answered with status ${status}` };
}

function errorText(error: unknown): string {
  if (typeof error === 'string') return error;
  const isObject = typeof error === 'object' && error !== null;
  return isObject && 'message' in error ? String(error.message) : 'refused';
}

export async function sendControlToAgent(
  { agentId, start }: { readonly agentId: string; readonly start: number },
  message: Control,
  { stateDir, supervisorToken }: Pick<EffectContext, 'stateDir' | 'supervisorToken'>,
  timeoutMs: number,
): Promise<ControlResult> {
  const running = readRunning(agentFiles(stateDir, agentId), start);
  // After the supervisor has ended, another program may listen on its port. It must not receive the token.
  if (running === undefined || hasEnded(running.supervisor)) return NO_SUPERVISOR;
  return sendControl(message, { port: running.port, token: supervisorToken(agentId), timeoutMs });
}

const NO_SUPERVISOR: ControlResult = { ok: false, isUnreachable: true, reason: 'the agent has no running process' };

export interface KilledProcess {
  readonly agentId: string;
  readonly start: number;
  readonly reason: string;
}

/**
 * Ends an agent and everything that it started. Undefined if cancelled. Prevents a start that no supervisor has taken.
 */
export async function killAgent(
  { agentId, start, reason }: KilledProcess,
  context: EffectContext,
  signal: AbortSignal,
): Promise<Exit | undefined> {
  const files = agentFiles(context.stateDir, agentId);
  const lost = { files, start, mark: agentMark(agentId) };
  if (preventStart(files, start)) return endLostRun(lost);
  // A starting supervisor soon writes its port.
  await waitForStart({ files, start, spawned: undefined, signal }, context.times.startMs);
  if (signal.aborted) return undefined;
  const timeoutMs = context.times.killAfterMs + context.times.controlMs;
  const answer = await sendControlToAgent({ agentId, start }, { kind: 'kill', reason }, context, timeoutMs);
  if (!answer.ok) return endLostRun(lost);
  const settling = await waitForEnd({ files, start, spawned: undefined, signal });
  if (settling === undefined) return undefined;
  return settling.found.kind === 'ended' ? settling.found.exit : endLostRun(lost);
}
