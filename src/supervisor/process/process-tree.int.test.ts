import { spawn, spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { until } from '../../../test/processes/until.ts';
import { endProcesses, findAlive } from './process-tree.ts';

const BWRAP = ['--unshare-user', '--unshare-pid', '--bind', '/', '/', '--proc', '/proc', '--die-with-parent'];
const works = spawnSync('bwrap', [...BWRAP, '--', 'true']).status === 0;
const KILL_AFTER_MS = 30_000;

/** In a user's terminal, another process leads the group. */
it.skipIf(!works).each(['in a terminal', 'in a session of its own'])(
  'a client in bubblewrap, %s, has time to end, and is asked at once (does not run without bubblewrap)',
  async (where) => {
    const isTerminal = where === 'in a terminal';
    const id = `process-tree-${process.pid}-${isTerminal}`;
    const script = 'trap "echo ended; exit 0" TERM; echo begun; while :; do sleep 0.05; done';
    const argv = [...BWRAP, ...(isTerminal ? [] : ['--new-session']), '--', 'sh', '-c', script];
    const child = spawn('bwrap', argv, {
      env: { PATH: process.env['PATH'], BATON_AGENT_ID: id },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: !isTerminal,
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => void (said += text));
    await until('it has begun', () => said === 'begun\n');
    const tree = { leader: isTerminal ? -1 : (child.pid ?? 0), mark: `BATON_AGENT_ID=${id}`, isNamespace: true };
    const before = performance.now();
    await endProcesses(tree, KILL_AFTER_MS);
    // Processes outside the client's group get their signal only after half of the time.
    expect(performance.now() - before).toBeLessThan(KILL_AFTER_MS / 2);
    await until('all was said', () => said === 'begun\nended\n', 5000);
    expect(findAlive(tree)).toEqual([]);
  },
);
