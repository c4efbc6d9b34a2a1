import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { delay } from '../api/client/http.ts';
import { writeFileAtomically } from '../api/files.ts';
import { readProcessIdentity, readProcessName } from '../api/processes.ts';
import type { Exit } from '../protocol/agent-report.ts';
import { redactTokens, secretForms } from '../protocol/redact-tokens.ts';
import { isDiskFaultText, isShortageText } from '../protocol/resource-faults.ts';
import { AgentHost } from './agent-host.ts';
import {
  EXIT_ALREADY_SUPERVISED,
  EXIT_NO_ROOM,
  filesIn,
  type Launch,
  requireLaunch,
  type Running,
} from './contract.ts';
import { isShortOfResources, ReservedFile, retryWhileFull } from './disk-room.ts';
import { type HookServer, startHookServer } from './hooks/hook-server.ts';
import { type Child, childEnvironment, environmentMark, fillUrl, startChild } from './process/child.ts';
import { claimStartFile } from './process/claim-start.ts';
import { Freezer } from './process/freeze.ts';
import { OutputLog, Tail, TokenFilter } from './process/output.ts';
import { endProcesses } from './process/process-tree.ts';
import { superviseInTerminal } from './process/run-in-terminal.ts';
import { TerminalSession } from './process/terminal.ts';
import { printNotes } from './sandbox/print-notes.ts';
import { SandboxedRun } from './sandbox/sandboxed-run.ts';

/**
 * Supervises one process. A later daemon relies on its files and their order (`contract.ts`). Resolves to the
 * supervisor's exit code.
 */
export async function supervise(folder: string, start: number): Promise<number> {
  const files = filesIn(folder);
  const ready = await prepareStart(files, start);
  if (typeof ready === 'number') return ready;
  const { launch, agent, line, door, url, log, sandboxed } = ready;
  const announce = async (running: Running): Promise<void> => {
    const isWanted = (): boolean => existsSync(files.folder);
    await retryWhileFull(() => ready.running.fill(JSON.stringify(running)), isWanted, logDiskWait);
  };
  const finish = async (exit: Exit): Promise<number> => recordExit(exit, agent, door, log, files.exit(start));
  // The process does not run without its sandbox.
  if (ready.refusal !== undefined) {
    log.write(Buffer.from(`baton: ${ready.refusal}\n`));
    return finish({ ...NOT_STARTED, start, output: ready.refusal });
  }
  if (line !== undefined) {
    const exit = await superviseInTerminal({ launch, files, agent, line, port: door.port, url, announce, sandboxed });
    return finish({ ...exit, ...(await closeSandbox(sandboxed)) });
  }
  const env = childEnvironment(launch, files.bin, url);
  const wrapping = sandboxed && {
    wrap: (argv: readonly string[]) => sandboxed.command(argv, launch.cwd, env),
    hasProgramsOfMachine: sandboxed.hasProgramsOfMachine,
  };
  const spawned = await startChild(launch, env, wrapping);
  if (!spawned.ok) await closeSandbox(sandboxed);
  if (!spawned.ok && (isShortageText(spawned.reason) || isDiskFaultText(spawned.reason)))
    return returnStart(files, start);
  if (!spawned.ok) {
    log.write(Buffer.from(`baton: ${spawned.reason}\n`));
    // The exit code that a shell would report.
    return finish({ ...NOT_STARTED, start, output: spawned.reason });
  }
  const { child } = spawned;
  const { tail } = ready;
  const known = [launch.token, launch.agent_token].flatMap(secretForms);
  const kept = keepOutput(known, log);
  const ended = followChild(child, (chunk, isWords) => {
    (isWords ? kept.words : kept.errors).push(chunk);
    agent.onOutput(chunk, isWords);
    sandboxed?.onOutput(chunk);
  });
  const record = sandboxed?.record ?? launch.sandbox_record;
  const running: Running = {
    start,
    supervisor: readProcessName(process.pid),
    process: readProcessName(child.pid),
    port: door.port,
    ...(record === undefined ? {} : { sandbox: record }),
    ...(launch.judge === undefined ? {} : { judge: launch.judge }),
  };
  const tree = { leader: child.pid, mark: environmentMark(launch), isNamespace: sandboxed?.isNamespace === true };
  agent.freezer = new Freezer(tree, sandboxed && (async (isFrozen) => sandboxed.freeze(isFrozen)));
  agent.onEnd(async () => {
    await endProcesses(tree, agent.killAfterMs);
    await sandboxed?.end();
  });
  await announce(running);
  agent.begin(child, running);
  sandboxed?.begin(() => void agent.end(), child.pid);
  // Ends the agent if the state folder was deleted, because no daemon or other program could find it.
  const watching = setInterval(() => existsSync(files.folder) || void agent.end(), FOLDER_MS);
  const { code, signal } = sandboxed?.exitOf(await ended.exit) ?? (await ended.exit);
  clearInterval(watching);
  await agent.onProcessGone();
  // Ends every process that is left; then the output is complete.
  await endProcesses(tree, agent.killAfterMs);
  await sandboxed?.end();
  await Promise.race([ended.silence, delay(SILENCE_MS)]);
  kept.words.end();
  kept.errors.end();
  await sandboxed?.syncGit();
  const { timedOut, wasLetGo } = await agent.conclude(code);
  const hosts = await closeSandbox(sandboxed);
  const text = [tail.text(), sandboxed?.explainExit(code)].filter(Boolean).join('\n') || null;
  // The tail may begin in the middle of a token, which no pattern matches, so the secret part is searched for.
  const output = text === null ? null : redactTokens(text, known);
  return finish({ start, code, signal, timed_out: timedOut, blocks_used: wasLetGo, output, ...hosts });
}

/**
 * Closes the sandbox and returns how often each host was requested, for the ledger. A failure must not hide the exit.
 */
async function closeSandbox(sandboxed: SandboxedRun | undefined): Promise<Pick<Exit, 'hosts'>> {
  try {
    const hosts = await sandboxed?.close();
    return hosts === undefined || hosts.length === 0 ? {} : { hosts };
  } catch (error) {
    process.stderr.write(`${new Date().toISOString()} the sandbox was not closed: ${String(error)}\n`);
    return {};
  }
}

/** Removes Baton's tokens from the log, because people share logs. Each stream may end in the middle of a token. */
function keepOutput(known: readonly string[], log: OutputLog) {
  const filter = (): TokenFilter => new TokenFilter(known, (chunk) => log.write(chunk));
  return { words: filter(), errors: filter() };
}

const RESPONSE_GRACE_MS = 1000;
const FOLDER_MS = 5000;
const NOT_STARTED = { code: 127, signal: null, timed_out: false, blocks_used: false } as const;

function followChild({ process: child }: Child, onOutput: (chunk: Buffer, isWords: boolean) => void) {
  child.stdout?.on('data', (chunk: Buffer) => onOutput(chunk, true));
  child.stderr?.on('data', (chunk: Buffer) => onOutput(chunk, false));
  return {
    exit: new Promise<{ code: number | null; signal: string | null }>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    }),
    /** Resolves when no process has the output open any more. */
    silence: new Promise<void>((resolve) => {
      child.once('close', () => resolve());
    }),
  };
}

/** Writes the exit to disk before reporting it, so that a daemon that misses the report finds the file. */
async function recordExit(
  exit: Exit,
  agent: AgentHost,
  door: HookServer,
  log: OutputLog,
  exitFile: string,
): Promise<number> {
  log.close();
  const isWanted = (): boolean => existsSync(dirname(exitFile));
  if (!isWanted()) return 1;
  const write = (): void => writeFileAtomically(exitFile, JSON.stringify(exit));
  if (!(await retryWhileFull(write, isWanted, logDiskWait))) return 1;
  await agent.report({ kind: 'exited', ...exit });
  await Promise.race([agent.finishResponses(), delay(RESPONSE_GRACE_MS)]);
  await door.close(RESPONSE_GRACE_MS);
  return 0;
}

type Files = ReturnType<typeof filesIn>;

/**
 * Prepares a start. Returns an exit code if another supervisor has it, or the disk is full; in that case the start is
 * given back.
 */
async function prepareStart(files: Files, start: number) {
  let door: HookServer | undefined;
  let isTaken = false;
  try {
    isTaken = claimStartFile(files.taken(start), readProcessIdentity(process.pid) ?? String(process.pid));
    if (!isTaken) return EXIT_ALREADY_SUPERVISED;
    // The space is reserved, so that a full disk cannot hide a running process.
    const running = new ReservedFile(files.running(start));
    const launch = requireLaunch(files.launch(start));
    const log = new OutputLog(files.log, launch.log_bytes);
    if (start > 1) log.markStart(start, new Date().toISOString());
    const { env_dropped: dropped = [] } = launch;
    if (launch.names_dropped === true && dropped.length > 0) log.write(Buffer.from(describeDropped(dropped)));
    const tail = new Tail(TAIL_BYTES);
    const agent = new AgentHost(launch, files, tail);
    // Installed early: a SIGTERM before the start ends the process as soon as it runs.
    process.on('SIGTERM', () => void agent.end());
    const line = launch.terminal === true ? new TerminalSession() : undefined;
    door = await startHookServer({
      agentToken: launch.agent_token,
      supervisorToken: launch.token,
      routes: agent,
      ...(line === undefined ? {} : { terminal: async (request, response) => line.serve(request, response) }),
    });
    const print = (text: string): void => log.write(Buffer.from(`${text}\n`));
    agent.print = print;
    if (launch.sandbox_record?.kind === 'none') printNotes(launch.sandbox_record, print);
    const opened = await SandboxedRun.open({
      launch,
      folder: files.folder,
      print,
      onRequest: door.serve,
      meter: agent.stream.requests,
    });
    const refusal = typeof opened === 'string' ? opened : undefined;
    const sandboxed = typeof opened === 'string' ? undefined : opened;
    if (sandboxed !== undefined) {
      agent.beforeJudging = async () => sandboxed.syncGit();
      agent.beforeMessage = async () => sandboxed.refreshGit();
    }
    const url = sandboxed?.url ?? `http://127.0.0.1:${door.port}`;
    writeFiles(launch, url);
    return { launch, log, tail, agent, line, door, url, running, sandboxed, refusal };
  } catch (error) {
    if (!isShortOfResources(error)) throw error;
    logDiskWait(error);
    await door?.close(0);
    return isTaken ? returnStart(files, start) : EXIT_NO_ROOM;
  }
}

/** Gives the start back after nothing was run: the daemon finds it unclaimed and repeats it later. */
function returnStart(files: Files, start: number): number {
  rmSync(`${files.running(start)}.draft`, { force: true });
  rmSync(files.taken(start), { force: true });
  return EXIT_NO_ROOM;
}

function logDiskWait(error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${new Date().toISOString()} disk full, will retry: ${why}\n`);
}

/** Explains dropped variables to users whose check lacks a variable of their shell. */
function describeDropped(names: readonly string[]): string {
  return `baton: environment variables that the agent does not get (env_pass adds them): ${names.join(', ')}\n`;
}

function writeFiles({ files = [], folders = [] }: Launch, url: string): void {
  for (const folder of folders) mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const { path, content, link, mode = 0o600 } of files) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (link === undefined) writeFileSync(path, fillUrl(content, url), { mode });
    else {
      rmSync(path, { force: true });
      symlinkSync(link, path);
    }
  }
}

const SILENCE_MS = 2000;
const TAIL_BYTES = 8192;
