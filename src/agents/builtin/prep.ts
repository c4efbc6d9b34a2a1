import { spawn } from 'node:child_process';
import type { RoleFacts, RoleSession } from './session.ts';

const STAGES = ['install', 'build', 'smoke'] as const;

/** Makes the worktree fit to work in: dependencies, build, a first sign of life. Then it is the implementer's. */
export async function runPrep(session: RoleSession): Promise<void> {
  const facts = await session.readTask();
  const cwd = facts.workspace ?? process.cwd();
  const words: Record<(typeof STAGES)[number], string> = { install: 'none', build: 'none', smoke: 'none' };
  for (const stage of STAGES) {
    const command = facts.commands[stage];
    if (command === undefined) continue;
    session.print(`${stage}: ${command}`);
    const port = facts.port === null ? {} : { PORT: String(facts.port) };
    const { passed, output } = await runShell(command, { cwd, env: port });
    if (!passed) return fail(session, facts, stage, command, output);
    words[stage] = DONE[stage];
  }
  await session.requireHandoffAndExit(
    {
      kind: 'handoff',
      from: 'prep-agent',
      to: 'implementer-agent',
      issue_url: facts.issue_url,
      issue_number: facts.issue_number,
      branch: facts.branch ?? 'HEAD',
      workspace_path: cwd,
      workspace_type: facts.workspace === null ? 'in-place' : 'worktree',
      ...(facts.port === null ? {} : { port: facts.port }),
      status: 'ready',
      validation: { dependencies: words.install, build: words.build, dev_server: words.smoke },
    },
    facts,
    `the worktree is ready${facts.branch === null ? '' : ` on ${facts.branch}`}`,
  );
}

const DONE = { install: 'installed', build: 'passing', smoke: 'verified' } as const;

/** What is installed comes over the network, and may come the next time. A build that fails will fail again. */
async function fail(
  session: RoleSession,
  facts: RoleFacts,
  stage: (typeof STAGES)[number],
  command: string,
  output: string,
): Promise<void> {
  await session.requireHandoffAndExit(
    {
      kind: 'handoff',
      from: 'prep-agent',
      to: 'orchestrator',
      issue_number: facts.issue_number,
      status: 'failure',
      error: {
        type: ERRORS[stage],
        message: `${stage} failed: ${command}`,
        details: stripInvalidXml(output),
        recoverable: stage === 'install',
        suggested_action: `Run it in a worktree of the main branch: ${command}`,
      },
    },
    facts,
    `${stage} failed`,
  );
}

const ERRORS = { install: 'DependencyError', build: 'BuildError', smoke: 'SmokeTestError' } as const;

/** What a program printed, without what XML cannot hold. */
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

/** Runs a command of the project where the role works. What it prints is shown as it comes, and its end is kept. */
export async function runShell(
  command: string,
  {
    cwd,
    env = {},
    timeoutMs,
  }: { readonly cwd: string; readonly env?: Record<string, string>; readonly timeoutMs?: number },
): Promise<ShellEnd> {
  const child = spawn('/bin/sh', ['-c', command], {
    cwd,
    // A command of the project is not the role: it has no business with the session.
    env: { ...withoutSession(process.env), CI: 'true', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: what takes too long is ended with everything that it has started.
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
    // It has just ended.
  }
}
