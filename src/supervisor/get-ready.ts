import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { readProcessIdentity } from '../api/process-identity.ts';
import { isShortOfResources } from './disk-room.ts';
import { fillUrl } from './process/child.ts';
import { EXIT_NO_ROOM, EXIT_ALREADY_SUPERVISED, type filesIn, type Launch } from './contract.ts';
import { AgentHost } from './agent-host.ts';
import { startHookServer, type HookServer } from './hooks/hook-server.ts';
import { OutputLog } from './process/output.ts';
import { requireLaunch } from './read-launch.ts';
import { ReservedFile } from './reserved-file.ts';
import { Tail } from './process/tail.ts';
import { claimStartFile } from './process/claim-start.ts';
import { TerminalSession } from './process/terminal.ts';

type Files = ReturnType<typeof filesIn>;

export interface PreparedStart {
  readonly launch: Launch;
  readonly log: OutputLog;
  readonly tail: Tail;
  readonly agent: AgentHost;
  readonly line: TerminalSession | undefined;
  readonly door: HookServer;
  readonly url: string;
  /** Where it is written that the process runs: a full disk must not hide a process that does. */
  readonly running: ReservedFile;
}

/**
 * Takes the start and writes all that the process needs. Returns an exit code if somebody else has the start, or if there is no room: then the
 * start is given back.
 */
export async function prepareStart(files: Files, start: number): Promise<PreparedStart | number> {
  let door: HookServer | undefined;
  let isTaken = false;
  try {
    isTaken = claimStartFile(files.taken(start), readProcessIdentity(process.pid) ?? String(process.pid));
    if (!isTaken) return EXIT_ALREADY_SUPERVISED;
    const running = new ReservedFile(files.running(start));
    const launch = requireLaunch(files.launch(start));
    const log = new OutputLog(files.log, launch.log_bytes);
    const { env_dropped: dropped = [] } = launch;
    if (launch.names_dropped === true && dropped.length > 0) log.write(Buffer.from(describeDropped(dropped)));
    const tail = new Tail(TAIL_BYTES);
    const agent = new AgentHost(launch, files, tail);
    // From the start: whoever is told to end before there is anything to end does so as soon as there is.
    process.on('SIGTERM', () => void agent.end());
    const line = launch.terminal === true ? new TerminalSession() : undefined;
    door = await startHookServer({
      agentToken: launch.agent_token,
      supervisorToken: launch.token,
      routes: agent,
      ...(line === undefined ? {} : { terminal: async (request, response) => line.serve(request, response) }),
    });
    const url = `http://127.0.0.1:${door.port}`;
    writeFiles(launch, url);
    return { launch, log, tail, agent, line, door, url, running };
  } catch (error) {
    if (!isShortOfResources(error)) throw error;
    logDiskWait(error);
    await door?.close(0);
    return isTaken ? returnStart(files, start) : EXIT_NO_ROOM;
  }
}

/** Nothing was run: the daemon finds the start untaken, and makes it later. */
export function returnStart(files: Files, start: number): number {
  rmSync(`${files.running(start)}.draft`, { force: true });
  rmSync(files.taken(start), { force: true });
  return EXIT_NO_ROOM;
}

const TAIL_BYTES = 8192;

/** Into the log of the supervisor, if that has room. */
export function logDiskWait(error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${new Date().toISOString()} no room, and tried again later: ${why}\n`);
}

/** For somebody who wonders why a check does not see what their shell has. */
function describeDropped(names: readonly string[]): string {
  return `baton: environment variables that do not pass (env_pass adds them): ${names.join(', ')}\n`;
}

function writeFiles({ files = [] }: Launch, url: string): void {
  for (const { path, content, link, mode = 0o600 } of files) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (link === undefined) writeFileSync(path, fillUrl(content, url), { mode });
    else replaceByLink(path, link);
  }
}

function replaceByLink(path: string, target: string): void {
  rmSync(path, { force: true });
  symlinkSync(target, path);
}
