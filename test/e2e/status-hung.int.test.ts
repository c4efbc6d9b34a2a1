import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';
import { BATON } from '../package/where.ts';

interface Status {
  readonly all_clear: boolean;
  readonly summary: string;
  readonly attention: readonly { readonly kind: string }[];
}

it(
  'status reports a daemon that hangs, within seconds, and that it hung when it continues',
  { timeout: 90_000 },
  async () => {
    await using world = await World.open({ BATON_ANSWER_MS: '4000', BATON_LOOP_LAG_MS: '1000' });
    expect(world.baton(['status']).out).toBe('Nothing needs you, nothing runs.\n');
    const watch = spawn(process.execPath, [BATON, 'status', '--watch', '--json'], {
      cwd: world.repository,
      env: world.env,
    });
    let watched = '';
    watch.stdout.setEncoding('utf8').on('data', (text: string) => void (watched += text));
    try {
      await until('the watch has begun', () => watched.includes('"all_clear":true'));
      const pid = world.daemonPid;
      process.kill(pid, 'SIGSTOP');
      try {
        const hung = world.baton(['status']);
        expect(hung).toEqual({
          code: 1,
          out: '',
          err: `Error: the daemon does not answer (pid ${pid}) [no-answer]\n  hint: The process is stopped. Let it continue: kill -CONT ${pid}\n`,
        });
        await until('the watch reports it', () =>
          watched.includes(`{"away":"the daemon does not answer (pid ${pid})"`),
        );
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      const slow = JSON.parse(world.baton(['status', '--json']).out) as Status;
      expect(slow).toMatchObject({
        all_clear: false,
        summary: '1 slow daemon needs you, nothing runs.',
        attention: [{ kind: 'loop' }],
      });
    } finally {
      watch.kill('SIGKILL');
    }
  },
);
