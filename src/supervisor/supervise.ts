import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { nameProcess } from '../api/process-identity.ts';
import { writeWhole } from '../api/write-whole.ts';
import { saysDiskFault, saysShortage } from '../protocol/shortage.ts';
import { redactTokens, secretForms } from '../protocol/own-tokens.ts';
import { attend } from './attend.ts';
import { awaitRoom } from './await-room.ts';
import { childEnvironment, markOf, startChild, type Child } from './child.ts';
import { filesIn, type Exit, type Running } from './contract.ts';
import type { Counterpart } from './counterpart.ts';
import type { Door } from './door.ts';
import { getReady, giveBack, reportWait } from './get-ready.ts';
import type { OutputLog } from './output-log.ts';
import { endProcesses } from './process-tree.ts';
import { sleep } from './sleep.ts';
import { TokenFilter } from './token-filter.ts';

/**
 * Runs one process from its start to its end, and is its only counterpart meanwhile. What is written into the folder, and when, is what
 * a daemon that comes later relies on: see `contract.ts`. Resolves to the exit code of the supervisor itself.
 */
export async function supervise(folder: string, start: number): Promise<number> {
  const files = filesIn(folder);
  const ready = await getReady(files, start);
  if (typeof ready === 'number') return ready;
  const { launch, agent, line, door, url, log } = ready;
  const announce = async (running: Running): Promise<void> => {
    const isWanted = (): boolean => existsSync(files.folder);
    await awaitRoom(() => ready.running.fill(JSON.stringify(running)), { isWanted, onWait: reportWait });
  };
  if (line !== undefined) {
    const exit = await attend({ launch, files, agent, line, port: door.port, announce });
    return finish(exit, { agent, door, log, exitFile: files.exit(start) });
  }
  const spawned = await startChild(launch, childEnvironment(launch, files.bin, url));
  if (!spawned.ok && (saysShortage(spawned.reason) || saysDiskFault(spawned.reason))) return giveBack(files, start);
  if (!spawned.ok) {
    log.write(Buffer.from(`baton: ${spawned.reason}\n`));
    // As a shell would say it.
    return finish({ ...NOT_STARTED, start, output: spawned.reason }, { agent, door, log, exitFile: files.exit(start) });
  }
  const { child } = spawned;
  const { tail } = ready;
  const known = [launch.token, launch.agent_token].flatMap(secretForms);
  const kept = keepOutput(known, log);
  const ended = follow(child, (chunk, isWords) => {
    (isWords ? kept.words : kept.errors).push(chunk);
    agent.hear(chunk, isWords);
  });
  const running: Running = { start, ...identitiesOf(child), port: door.port };
  const tree = { leader: child.pid, mark: markOf(launch) };
  agent.onEnd(async () => endProcesses(tree, launch.kill_after_ms));
  await announce(running);
  agent.begin(child, running);
  // A state folder that was removed has no daemon any more, and nobody else could ever find this agent.
  const watching = setInterval(() => existsSync(files.folder) || void agent.end(), FOLDER_MS);
  const { code, signal } = await ended.exit;
  clearInterval(watching);
  await agent.rest();
  // Whatever it has left behind goes with it; then its last words are out.
  await endProcesses(tree, launch.kill_after_ms);
  await Promise.race([ended.silence, sleep(SILENCE_MS)]);
  kept.words.end();
  kept.errors.end();
  const { timedOut, wasLetGo } = await agent.conclude(code);
  const exit = { start, code, signal, timed_out: timedOut, blocks_used: wasLetGo, output: clean(tail.text(), known) };
  return finish(exit, { agent, door, log, exitFile: files.exit(start) });
}

/** The log has no token of Baton's in it: people copy from it, and pass it on. Each stream may end in the middle of a word of its own. */
function keepOutput(known: readonly string[], log: OutputLog) {
  const filter = (): TokenFilter => new TokenFilter(known, (chunk) => log.write(chunk));
  return { words: filter(), errors: filter() };
}

/** The tail may begin in the middle of a token, where no pattern knows it: its secret part is looked for. */
function clean(text: string | null, known: readonly string[]): string | null {
  return text === null ? null : redactTokens(text, known);
}

const SILENCE_MS = 2000;
const FAREWELL_MS = 1000;
const FOLDER_MS = 5000;
const NOT_STARTED = { code: 127, signal: null, timed_out: false, blocks_used: false } as const;

/** One that has ended already has no identity: its number alone tells that it was there. */
function identitiesOf({ pid }: Child): Pick<Running, 'supervisor' | 'process'> {
  return {
    supervisor: nameProcess(process.pid),
    process: nameProcess(pid),
  };
}

interface Ended {
  readonly exit: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Nobody holds its output any more. */
  readonly silence: Promise<void>;
}

function follow({ process: child }: Child, onOutput: (chunk: Buffer, isWords: boolean) => void): Ended {
  child.stdout?.on('data', (chunk: Buffer) => onOutput(chunk, true));
  child.stderr?.on('data', (chunk: Buffer) => onOutput(chunk, false));
  return {
    exit: new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    }),
    silence: new Promise((resolve) => {
      child.once('close', () => resolve());
    }),
  };
}

/** On disk first, then told: a daemon that hears nothing finds it there. */
async function finish(
  exit: Exit,
  { agent, door, log, exitFile }: { agent: Counterpart; door: Door; log: OutputLog; exitFile: string },
): Promise<number> {
  log.close();
  const isWanted = (): boolean => existsSync(dirname(exitFile));
  if (!isWanted()) return 1;
  const write = (): void => writeWhole(exitFile, JSON.stringify(exit));
  if (!(await awaitRoom(write, { isWanted, onWait: reportWait }))) return 1;
  await agent.report({ kind: 'exited', ...exit });
  await Promise.race([agent.farewell(), sleep(FAREWELL_MS)]);
  await door.close(FAREWELL_MS);
  return 0;
}
