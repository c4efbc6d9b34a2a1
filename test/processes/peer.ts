import { spawnSync } from 'node:child_process';
import type { CallOptions } from '../../src/api/client/client.ts';
import { createClient } from '../../src/api/client/connect.ts';
import { perform } from './deeds.ts';

/** A worker, or the process that renews its claim: it calls the daemon, runs git, and renews. */
const client = createClient({ as: 'worker', autostart: false, projectPath: process.env['WORLD_REPOSITORY'] ?? '' });
let renewing: NodeJS.Timeout | undefined;
const renewals = { heard: 0, refused: 0 };

perform({
  ready: async () => (await client.reach()) === undefined,
  call: async (operation: string, input: unknown, options: CallOptions) => client.forward(operation, input, options),
  git: async (cwd: string, args: readonly string[]) => {
    const { status, stderr, stdout } = spawnSync('git', args, { cwd, encoding: 'utf8' });
    return { code: status, said: `${stdout}${stderr}` };
  },
  renew: async (task_id: string, token: string, everyMs: number) => {
    const beat = async (): Promise<void> => {
      const { ok } = await client.call('task_heartbeat', { task_id }, { token });
      renewals[ok ? 'heard' : 'refused'] += 1;
    };
    renewing = setInterval(() => void beat(), everyMs);
    await beat();
  },
  renewals: async () => renewals,
  stopRenewing: async () => clearInterval(renewing),
});
