import { setTimeout as delay } from 'node:timers/promises';
import type { Answer } from '../../src/api/answer.ts';
import { CallChannel } from '../../src/api/client/channel.ts';
import type { HttpConnection, HttpRequest, Received } from '../../src/api/client/http.ts';
import { makePass } from '../../src/api/operator-pass.ts';
import { findDaemon } from '../../src/api/client/reach.ts';
import { findStateDir, readToken } from '../../src/api/state-folder.ts';
import { VERSION } from '../../src/api/version.ts';
import { exitSignal, record } from './messages.ts';
import { perform } from './deeds.ts';

/** A command, and the sender's knowledge of it. */
export interface Sent {
  readonly key: string;
  readonly operation: string;
  readonly input: unknown;
  readonly token: string;
  /** How often the connection was lost before an answer arrived. */
  losses: number;
  /** Absent if the sender received no answer. */
  answer?: Answer;
}

/**
 * A client that sends all kinds of commands about tasks, each with a key, over HTTP or, every other one, over a
 * channel. It uses neither the client's retries, so that it notices every loss. After a loss it mostly repeats the
 * command, and sometimes never learns the outcome.
 */
const stateDir = findStateDir(process.env);
const sent: Sent[] = [];
let line: Line | undefined;
let isOnChannel = false;
let victim: number | undefined;

perform({
  run: async (name: string, count: number, commit: string) => {
    isOnChannel = Number(/\d+$/.exec(name)) % 2 === 1;
    for (let task = 1; sent.length < count; task += 1) await workOn(name, `${name}-${task}`, commit);
    return sent;
  },
  /** Kills the daemon at the moment at which it acknowledges a command, which must be recorded all the same. */
  killAtNextAnswer: async (pid: number | null) => {
    victim = pid ?? undefined;
  },
  progress: async () => sent.filter(({ answer }) => answer !== undefined).length,
  /** Repeats every unanswered command with the same key. */
  settle: async () => {
    const open = sent.filter(({ answer }) => answer === undefined);
    for (const each of open) await say(each, true);
    return open;
  },
  /** Repeats some acknowledged commands with the same key, and returns the new answers. */
  repeat: async (every: number) => {
    const some = sent.filter(({ answer }, i) => answer?.ok === true && i % every === 0);
    const again = some.map(({ key, operation, input, token }): Sent => ({ key, operation, input, token, losses: 0 }));
    for (const each of again) await say(each, true);
    return again;
  },
});

async function workOn(name: string, own: string, commit: string): Promise<void> {
  const operator = readToken(stateDir, 'operator') ?? '';
  const worker = readToken(stateDir, 'worker') ?? '';
  if (!(await tell(name, 'task_create', { task_id: own, title: 'Something to do' }, operator))) return;
  // All clients claim some shared tasks, so most of these claims are refused.
  const id = Math.random() < 0.2 ? `shared-${Math.floor(Math.random() * 4)}` : own;
  const claim = await tell(name, 'task_claim', { task_id: id, as: name }, worker);
  if (!claim) return;
  const { token } = claim as { token: string }; // oxlint-disable-line typescript/no-unsafe-type-assertion
  for (const progress of [25, 50, 75]) {
    const update = { task_id: id, status: 'in_progress', progress, notes: `from ${name}` };
    if (!(await tell(name, 'task_update', update, token))) return;
  }
  await end(name, id, token, commit);
}

async function end(name: string, task_id: string, token: string, commit: string): Promise<void> {
  const how = task_id.startsWith('shared') ? 0 : Math.random();
  if (how < 0.4) {
    await tell(name, 'task_release', { task_id, reason: 'enough' }, token);
  } else if (how < 0.7) {
    await tell(name, 'exit_signal', exitSignal('IMPLEMENTATION', how < 0.6 ? 'completed' : 'blocked'), token);
  } else if (how < 0.85) {
    await tell(name, 'task_complete', record(task_id, commit), token);
  } else {
    const recorded = await tell(name, 'thought_record', record(task_id, commit), token);
    if (recorded) await tell(name, 'task_update', { task_id, status: 'done' }, token);
  }
}

/** Sends a command; returns undefined if it was refused or never answered. */
async function tell(name: string, operation: string, input: unknown, token: string): Promise<unknown> {
  const one: Sent = { key: `${name}.${sent.length + 1}`, operation, input, token, losses: 0 };
  sent.push(one);
  await say(one, Math.random() < 0.6);
  return one.answer?.ok === true ? (one.answer.result ?? {}) : undefined;
}

async function say(one: Sent, isStubborn: boolean): Promise<void> {
  do {
    const open = (line ??= await reach());
    const received = await open.send(one);
    const answer = received.ok ? (JSON.parse(received.body) as Answer) : undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
    if (victim !== undefined && answer?.ok === true) {
      process.kill(victim, 'SIGKILL');
      victim = undefined;
    }
    if (answer !== undefined && (answer.ok || answer.error.code !== 'stopping')) {
      one.answer = answer;
      return;
    }
    one.losses += 1;
    open.close();
    line = undefined;
  } while (isStubborn);
}

/** A connection, over HTTP or a channel. */
interface Line {
  readonly send: (one: Sent) => Promise<Received>;
  readonly close: () => void;
}

async function reach(): Promise<Line> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const found = await findDaemon(stateDir);
    const opened = found === undefined ? undefined : await openLine(found);
    if (opened !== undefined) return opened;
    if (performance.now() > deadline) throw new Error('no daemon came back');
    await delay(10);
  }
}

async function openLine(connection: HttpConnection): Promise<Line | undefined> {
  const projectPath = process.env['WORLD_REPOSITORY'] ?? '';
  if (!isOnChannel) {
    const close = (): void => connection.close();
    return { send: async (one) => connection.send(requestOf(one, projectPath), { timeoutMs: 60_000 }), close };
  }
  const headers = {
    'baton-version': VERSION,
    authorization: `Bearer ${readToken(stateDir, 'worker')}`,
    'baton-pass': makePass(stateDir) ?? '',
  };
  const opened = await CallChannel.open(connection, headers, 60_000);
  if (!opened.ok) return undefined;
  const { channel } = opened;
  const send = async ({ operation, key, token, input }: Sent): Promise<Received> =>
    channel.call({ operation, key, token, projectPath, body: JSON.stringify(input) }, { timeoutMs: 60_000 });
  return { send, close: () => channel.close() };
}

function requestOf({ operation, token, key, input }: Sent, projectPath: string): HttpRequest {
  const headers = {
    'baton-version': VERSION,
    authorization: `Bearer ${token}`,
    'baton-pass': makePass(stateDir) ?? '',
    'idempotency-key': key,
    'baton-project-path': projectPath,
  };
  return { method: 'POST', path: `/v1/${operation}`, headers, body: JSON.stringify(input) };
}
