import { spawn } from 'node:child_process';
import type { WorkflowView } from '../../api/operations/workflow.ts';
import type { RoleSession } from './session.ts';

const STAGES = ['install', 'build', 'smoke'] as const;

/** Prepares the worktree: dependencies, build, smoke test. Then hands over to the implementer. */
export async function runPrep(session: RoleSession): Promise<void> {
  const task = await session.call('workflow_get', {});
  const cwd = task.workspace ?? process.cwd();
  const words: Record<(typeof STAGES)[number], string> = { install: 'none', build: 'none', smoke: 'none' };
  for (const stage of STAGES) {
    const command = task.commands[stage];
    if (command === undefined) continue;
    session.print(`${stage}: ${command}`);
    const port = task.port === null ? {} : { PORT: String(task.port) };
    const { passed, output } = await runShell(command, cwd, { env: port });
    if (!passed) return fail(session, task, stage, command, output);
    words[stage] = DONE[stage];
  }
  await session.requireHandoffAndExit(
    {
      kind: 'handoff',
      from: 'prep-agent',
      to: 'implementer-agent',
      issue_url: task.addresses.issue_url,
      issue_number: task.addresses.issue_number,
      branch: task.branch ?? 'HEAD',
      workspace_path: cwd,
      workspace_type: task.workspace === null ? 'in-place' : 'worktree',
      ...(task.port === null ? {} : { port: task.port }),
      status: 'ready',
      validation: { dependencies: words.install, build: words.build, dev_server: words.smoke },
    },
    task,
    `the worktree is ready${task.branch === null ? '' : ` on ${task.branch}`}`,
  );
}

const DONE = { install: 'installed', build: 'passing', smoke: 'verified' } as const;

/** An installation needs the network, and may succeed next time. A build that fails will fail again. */
async function fail(
  session: RoleSession,
  task: WorkflowView,
  stage: (typeof STAGES)[number],
  command: string,
  output: string,
): Promise<void> {
  await session.requireHandoffAndExit(
    {
      kind: 'handoff',
      from: 'prep-agent',
      to: 'orchestrator',
      issue_number: task.addresses.issue_number,
      status: 'failure',
      error: {
        type: ERRORS[stage],
        message: `${stage} failed: ${command}`,
        details: stripInvalidXml(output),
        recoverable: stage === 'install',
        suggested_action: `Run it in a worktree of the main branch: ${command}`,
      },
    },
    task,
    `${stage} failed`,
  );
}

const ERRORS = { install: 'DependencyError', build: 'BuildError', smoke: 'SmokeTestError' } as const;

/** The end of a program's output, without characters that XML cannot hold. */
export function stripInvalidXml(text: string): string {
  return (
    text
      .toWellFormed()
      // oxlint-disable-next-line no-control-regex
      .replaceAll(/\u001B\[[0-9;?]*[A-Za-z]/g, '')
      // oxlint-disable-next-line no-control-regex
      .replaceAll(/[\u0000-\u0008\u000B\u000C\u000D\u000E-\u001F\u007F\uFFFE\uFFFF]/g, '')
      .slice(-3000)
      .trim()
  );
}

export interface ShellEnd {
  readonly passed: boolean;
  /** The end of what it printed. */
  readonly output: string;
}

const KEPT_CHARACTERS = 8000;

/** Runs a command of the project. Its output is forwarded as it arrives, and the end of it is returned. */
export async function runShell(
  command: string,
  cwd: string,
  { env = {}, timeoutMs }: { readonly env?: Record<string, string>; readonly timeoutMs?: number | undefined } = {},
): Promise<ShellEnd> {
  const child = spawn('/bin/sh', ['-c', command], {
    cwd,
    // A command of the project does not act for the session.
    env: { ...withoutSession(process.env), CI: 'true', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own: a timeout ends everything that the command has started.
    detached: true,
  });
  const clock = timeoutMs === undefined ? undefined : setTimeout(() => endGroup(child.pid), timeoutMs);
  let output = '';
  const keep = (chunk: Buffer): void => {
    process.stdout.write(chunk);
    output = `${output}${chunk.toString('utf8')}`.slice(-KEPT_CHARACTERS);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ passed: false, output: error.message }));
    child.once('close', (code, signal) => {
      clearTimeout(clock);
      const end = signal === null ? '' : `\nended by ${signal}`;
      resolve({ passed: code === 0, output: `${output}${end}`.trim() });
    });
  });
}

function withoutSession(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { BATON_TOKEN: _token, BATON_URL: _url, ...rest } = env;
  return rest;
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has already exited.
  }
}
