import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { readProcessName } from '../api/process-identity.ts';
import { writeFileAtomically } from '../api/files.ts';
import { isDiskFaultText, isShortageText } from '../protocol/shortage.ts';
import { redactTokens, secretForms } from '../protocol/redact-tokens.ts';
import { superviseInTerminal } from './process/run-in-terminal.ts';
import { retryWhileFull } from './disk-room.ts';
import { childEnvironment, environmentMark, startChild, type Child } from './process/child.ts';
import { filesIn, type Exit, type Running } from './contract.ts';
import type { AgentHost } from './agent-host.ts';
import type { HookServer } from './hooks/hook-server.ts';
import { prepareStart, returnStart, logDiskWait } from './get-ready.ts';
import type { OutputLog } from './process/output.ts';
import { endProcesses } from './process/process-tree.ts';
import { sleep } from './sleep.ts';
import { TokenFilter } from './process/token-filter.ts';

/**
 * Runs one process from its start to its end, and is its only counterpart meanwhile. What is written into the folder, and when, is what
 * a daemon that comes later relies on: see `contract.ts`. Resolves to the exit code of the supervisor itself.
 */
export async function supervise(folder: string, start: number): Promise<number> {
  const files = filesIn(folder);
  const ready = await prepareStart(files, start);
  if (typeof ready === 'number') return ready;
  const { launch, agent, line, door, url, log } = ready;
  const announce = async (running: Running): Promise<void> => {
    const isWanted = (): boolean => existsSync(files.folder);
    await retryWhileFull(() => ready.running.fill(JSON.stringify(running)), { isWanted, onWait: logDiskWait });
  };
  if (line !== undefined) {
    const exit = await superviseInTerminal({ launch, files, agent, line, port: door.port, announce });
    return recordExit(exit, { agent, door, log, exitFile: files.exit(start) });
  }
  const spawned = await startChild(launch, childEnvironment(launch, files.bin, url));
  if (!spawned.ok && (isShortageText(spawned.reason) || isDiskFaultText(spawned.reason)))
    return returnStart(files, start);
  if (!spawned.ok) {
    log.write(Buffer.from(`baton: ${spawned.reason}\n`));
    // As a shell would say it.
    return recordExit(
      { ...NOT_STARTED, start, output: spawned.reason },
      { agent, door, log, exitFile: files.exit(start) },
    );
  }
  const { child } = spawned;
  const { tail } = ready;
  const known = [launch.token, launch.agent_token].flatMap(secretForms);
  const kept = keepOutput(known, log);
  const ended = followChild(child, (chunk, isWords) => {
    (isWords ? kept.words : kept.errors).push(chunk);
    agent.onOutput(chunk, isWords);
  });
  const running: Running = { start, ...identitiesOf(child), port: door.port };
  const tree = { leader: child.pid, mark: environmentMark(launch) };
  agent.onEnd(async () => endProcesses(tree, launch.kill_after_ms));
  await announce(running);
  agent.begin(child, running);
  // A state folder that was removed has no daemon any more, and nobody else could ever find this agent.
  const watching = setInterval(() => existsSync(files.folder) || void agent.end(), FOLDER_MS);
  const { code, signal } = await ended.exit;
  clearInterval(watching);
  await agent.onProcessGone();
  // Whatever it has left behind goes with it; then its last words are out.
  await endProcesses(tree, launch.kill_after_ms);
  await Promise.race([ended.silence, sleep(SILENCE_MS)]);
  kept.words.end();
  kept.errors.end();
  const { timedOut, wasLetGo } = await agent.conclude(code);
  const exit = {
    start,
    code,
    signal,
    timed_out: timedOut,
    blocks_used: wasLetGo,
    output: redactTail(tail.text(), known),
  };
  return recordExit(exit, { agent, door, log, exitFile: files.exit(start) });
}

/** The log has no token of Baton's in it: people copy from it, and pass it on. Each stream may end in the middle of a word of its own. */
function keepOutput(known: readonly string[], log: OutputLog) {
  const filter = (): TokenFilter => new TokenFilter(known, (chunk) => log.write(chunk));
  return { words: filter(), errors: filter() };
}

/** The tail may begin in the middle of a token, where no pattern knows it: its secret part is looked for. */
function redactTail(text: string | null, known: readonly string[]): string | null {
  return text === null ? null : redactTokens(text, known);
}

const SILENCE_MS = 2000;
const RESPONSE_GRACE_MS = 1000;
const FOLDER_MS = 5000;
const NOT_STARTED = { code: 127, signal: null, timed_out: false, blocks_used: false } as const;

/** One that has ended already has no identity: its number alone tells that it was there. */
function identitiesOf({ pid }: Child): Pick<Running, 'supervisor' | 'process'> {
  return {
    supervisor: readProcessName(process.pid),
    process: readProcessName(pid),
  };
}

interface ChildEnd {
  readonly exit: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Nobody holds its output any more. */
  readonly silence: Promise<void>;
}

function followChild({ process: child }: Child, onOutput: (chunk: Buffer, isWords: boolean) => void): ChildEnd {
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
async function recordExit(
  exit: Exit,
  { agent, door, log, exitFile }: { agent: AgentHost; door: HookServer; log: OutputLog; exitFile: string },
): Promise<number> {
  log.close();
  const isWanted = (): boolean => existsSync(dirname(exitFile));
  if (!isWanted()) return 1;
  const write = (): void => writeFileAtomically(exitFile, JSON.stringify(exit));
  if (!(await retryWhileFull(write, { isWanted, onWait: logDiskWait }))) return 1;
  await agent.report({ kind: 'exited', ...exit });
  await Promise.race([agent.finishResponses(), sleep(RESPONSE_GRACE_MS)]);
  await door.close(RESPONSE_GRACE_MS);
  return 0;
}
