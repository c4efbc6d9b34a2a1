import { connect, createClient } from '../api/connect.ts';
import type { Command } from './command.ts';
import { EXIT } from './command.ts';

export const up: Command = {
  name: 'up',
  summary: 'Start the daemon',
  examples: ['baton up', 'baton up --foreground'],
  args: [],
  options: [{ name: 'foreground', about: 'Stay in this terminal until it is stopped' }],
  async run({ options }, io) {
    if (options.has('foreground')) {
      // The daemon's own program: it ends this process when it ends.
      await import('../daemon/main.ts');
      return new Promise(() => undefined);
    }
    const client = await connect({ env: io.env });
    const health = await client.health();
    client.close();
    if (!health.ok) {
      io.err(`Error: ${health.error.message}\n  hint: ${health.error.hint}\n`);
      return EXIT.failed;
    }
    io.out(`Baton is up: ${JSON.stringify(health.result)}\n`);
    return EXIT.ok;
  },
};

export const down: Command = {
  name: 'down',
  summary: 'Stop the daemon, and wait until it is down',
  examples: ['baton down'],
  args: [],
  options: [],
  async run(_, io) {
    const client = createClient({ env: io.env, autostart: false });
    const stopped = await client.stop();
    client.close();
    if (!stopped.ok) {
      io.err(`Error: ${stopped.error.message}\n  hint: ${stopped.error.hint}\n`);
      return EXIT.failed;
    }
    io.out(stopped.result.wasRunning ? 'Baton is down.\n' : 'Baton was not running.\n');
    return EXIT.ok;
  },
};
