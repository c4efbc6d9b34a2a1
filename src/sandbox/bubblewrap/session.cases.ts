import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { LimitsSpec, SandboxPlan } from '../../protocol/sandbox.ts';
import { openLimits } from '../limits/open-limits.ts';
import { readMachine } from '../machine.ts';
import { planCaches } from '../plan/caches.ts';
import { findPrograms } from '../plan/home-rules.ts';
import { planMounts } from '../plan/plan-mounts.ts';
import { probeBubblewrap } from '../probe.ts';
import { writeCopies } from '../write-copies.ts';
import { prepareBubblewrap } from './prepare-bubblewrap.ts';

export interface TestSession {
  readonly root: string;
  readonly script: string;
  readonly plan?: SandboxPlan;
  readonly limits?: LimitsSpec;
}

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly limits: string;
}

export const TEST_LIMITS: LimitsSpec = { processes: 60, memory_bytes: 192 * 1024 * 1024, disk_bytes: 8 * 1024 * 1024 };

/** Creates a home with secrets, a project in it, and a state folder. */
export function makeScene(root: string): void {
  const files = {
    'home/.ssh/id': 'private key',
    'home/.gitconfig': '[user]\n\tname = Ada\n[github]\n\ttoken = s3cr3t\n',
    'home/.nvm/bin/tool': '#!/bin/sh\necho a tool\n',
    'home/app/main.txt': 'main checkout',
    'home/app/.git/config': 'git configuration',
    'home/app/.worktrees/W-2/other.txt': 'another worktree',
    'home/app/.worktrees/W-1/.baton/session/task.md': 'the task',
    'home/app/.worktrees/W-1/own.txt': 'own worktree',
    'home/.local/state/baton/key.pem': 'key of the ledger',
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content, { mode: 0o755 });
  }
  for (const folder of ['agents/1/home', 'agents/1/tmp', 'agents/1/bwrap', 'caches/app']) {
    mkdirSync(join(root, 'home/.local/state/baton', folder), { recursive: true });
  }
}

/** Starts a shell in a sandbox in the same way as an agent. */
export async function startSession({ root, script, plan = {}, limits = TEST_LIMITS }: TestSession): Promise<{
  readonly child: ChildProcess;
  readonly outcome: Promise<Outcome>;
}> {
  const [home, stateDir, repository] = [
    join(root, 'home'),
    join(root, 'home/.local/state/baton'),
    join(root, 'home/app'),
  ];
  const bwrap = await probeBubblewrap();
  if (!bwrap.works) throw new Error(bwrap.reason);
  const machine = readMachine({ HOME: home, PATH: `${home}/.nvm/bin:/usr/bin:/bin` });
  const [own, cache, worktree] = [
    join(stateDir, 'agents/1'),
    join(stateDir, 'caches/app'),
    join(repository, '.worktrees/W-1'),
  ];
  const closed = [stateDir, repository];
  const planned = planMounts(
    machine,
    {
      home: join(own, 'home'),
      tmp: join(own, 'tmp'),
      worktree,
      sessionFolder: '.baton/session',
      stateDir,
      repository,
      worktrees: join(repository, '.worktrees'),
      commonDir: join(repository, '.git'),
      files: [join(worktree, '.baton/session/task.md')],
      linked: [],
      programs: findPrograms(machine, [process.execPath], closed),
      cache: { at: cache, from: cache },
      mounts: [],
    },
    plan,
  );
  if (!planned.ok) throw new Error(planned.problem.message);
  const caches = planCaches(machine, cache);
  writeCopies([...planned.value.copies, ...caches.copies]);
  const open = openLimits(limits, 'test');
  const start = prepareBubblewrap({
    spec: { ...planned.value, nested: false, limits },
    bwrap,
    argv: ['/bin/sh', '-c', script],
    cwd: worktree,
    enter: [],
    unsharesNet: true,
    isTerminal: false,
    folder: join(own, 'bwrap'),
    resolvConf: null,
    procs: open.procs,
    prlimit: open.prlimit,
  });
  if (!start.ok) throw new Error(start.problem.message);
  const [program = '', ...args] = start.argv;
  const env = { PATH: machine.path.join(':'), ...planned.value.env, ...caches.env, MARK: root };
  const child = spawn(program, args, { cwd: worktree, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  const outcome = Promise.all([text(child.stdout), text(child.stderr), code]).then(async ([stdout, stderr, exit]) => {
    await open.close();
    return { stdout, stderr, code: exit, limits: open.kind };
  });
  return { child, outcome };
}

// Runs as a program for a session of the calling user.
if (process.argv[1] === import.meta.filename) {
  const session = JSON.parse(process.argv[2] ?? '{}') as TestSession;
  makeScene(session.root);
  const { outcome } = await startSession(session);
  process.stdout.write(JSON.stringify(await outcome));
}
