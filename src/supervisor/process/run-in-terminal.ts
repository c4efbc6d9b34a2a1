import { existsSync } from 'node:fs';
import { delay } from '../../api/client/http.ts';
import { readProcessName } from '../../api/processes.ts';
import type { Exit } from '../../protocol/agent-report.ts';
import type { AgentHost } from '../agent-host.ts';
import type { filesIn, Launch, Running } from '../contract.ts';
import { childEnvironment, dropTerminalVariables, environmentMark, fillUrl } from './child.ts';
import { Freezer } from './freeze.ts';
import { endProcesses } from './process-tree.ts';
import type { SandboxedRun } from '../sandbox/sandboxed-run.ts';
import type { AttachedTerminal, TerminalEnd, TerminalSession } from './terminal.ts';

export interface TerminalSupervision {
  readonly launch: Launch;
  readonly files: ReturnType<typeof filesIn>;
  readonly agent: AgentHost;
  readonly line: TerminalSession;
  readonly port: number;
  /** The supervisor's address as the process sees it. */
  readonly url: string;
  readonly sandboxed: SandboxedRun | undefined;
  readonly announce: (running: Running) => Promise<void>;
}

/**
 * Supervises a process in a user's terminal: the user's `baton agent attach` starts it, because only a child of the
 * terminal's shell can own the terminal. This handles its hooks, calls and claim. When the user leaves or the
 * connection breaks, all started processes are ended, and Baton continues the conversation.
 */
export async function superviseInTerminal(given: TerminalSupervision): Promise<Exit> {
  const { launch, files, agent, line, port, announce, sandboxed } = given;
  const { start } = launch;
  const supervisor = readProcessName(process.pid);
  const record = sandboxed?.record ?? launch.sandbox_record;
  const sandbox = record === undefined ? {} : { sandbox: record };
  const running: Running = { start, supervisor, process: NO_PROCESS, port, ...sandbox };
  await announce(running);
  agent.begin(undefined, running);
  sandboxed?.begin(() => void agent.end());
  // No process group is ended, because the user's command and shell may be in it.
  const tree = { leader: -1, mark: environmentMark(launch), isNamespace: sandboxed?.isNamespace === true };
  const ended = Promise.withResolvers<'ended'>();
  agent.freezer = new Freezer(tree, sandboxed && (async (isFrozen) => sandboxed.freeze(isFrozen)));
  agent.onEnd(async () => {
    await endProcesses(tree, agent.killAfterMs);
    ended.resolve('ended');
  });
  const watching = setInterval(() => existsSync(files.folder) || void agent.end(), FOLDER_MS);
  const terminal = await Promise.race([line.arrival, delay(launch.arrival_ms ?? ARRIVAL_MS), ended.promise]);
  const gone = typeof terminal === 'object' ? await runInTerminal(terminal, given, ended.promise) : undefined;
  clearInterval(watching);
  await agent.onProcessGone();
  await endProcesses(tree, agent.killAfterMs);
  const how = typeof gone === 'object' ? gone.how : gone === 'ended' || terminal === 'ended' ? 'ended' : 'absent';
  await sandboxed?.syncGit();
  await agent.conclude(null);
  await agent.report({ kind: 'detached', start, how, talked: agent.stream.hadTurnInTerminal });
  if (typeof terminal === 'object') terminal.close();
  const code = typeof gone === 'object' && gone.how === 'left' ? gone.code : null;
  const signal = code === null ? (how === 'absent' ? null : 'SIGHUP') : null;
  return { start, code: how === 'absent' ? 0 : code, signal, timed_out: false, blocks_used: false, output: null };
}

const FOLDER_MS = 5000;
const NO_PROCESS = '?/0/?';
/** Usually the terminal connects within milliseconds. */
const ARRIVAL_MS = 30_000;

async function runInTerminal(
  terminal: AttachedTerminal,
  { launch, files, agent, url, sandboxed }: TerminalSupervision,
  ended: Promise<'ended'>,
): Promise<TerminalEnd | 'ended'> {
  const ofAgent = childEnvironment(launch, files.bin, url, dropTerminalVariables(process.env));
  const own = { argv: launch.argv.map((word) => fillUrl(word, url)), env: { ...ofAgent, ...terminal.env } };
  const wrapped = sandboxed?.command(own.argv, launch.cwd, own.env, true) ?? { ok: true, ...own };
  if (!wrapped.ok) {
    process.stderr.write(`${wrapped.reason}\n`);
    return { how: 'lost' };
  }
  const { argv } = wrapped;
  const env = Object.entries(wrapped.env);
  // Recorded before the client can act.
  await agent.report({ kind: 'attached', start: launch.start, by: terminal.by });
  terminal.open({
    argv,
    cwd: launch.cwd,
    env: Object.fromEntries(env.filter((pair): pair is [string, string] => pair[1] !== undefined)),
  });
  agent.messages.onTerminalOpened();
  return Promise.race([terminal.gone, ended]);
}
