import { connect, createClient } from '../../api/client/connect.ts';
import { reportWhenSlow } from '../ask.ts';
import { type CliCommand, EXIT } from '../command.ts';
import { printable } from '../text.ts';

export const upCommand: CliCommand = {
  examples: ['baton up', 'baton up --foreground', 'baton up --install-service'],
  args: [],
  options: [
    { name: 'foreground', about: 'Stay in this terminal until it is stopped' },
    {
      name: 'install-service',
      about: 'Write a systemd user unit or launchd plist that runs it, and say how to undo it',
    },
    { name: 'uninstall-service', about: 'Remove that file' },
  ],
  async run({ options }, io) {
    if (options.has('install-service') || options.has('uninstall-service')) {
      const { changeService } = await import('./service.ts');
      return changeService(options.has('uninstall-service') ? 'uninstall' : 'install', io);
    }
    if (options.has('foreground')) {
      // The daemon's own program: it ends this process when it ends.
      await import('../../daemon/main.ts');
      return new Promise(() => undefined);
    }
    using _slow = reportWhenSlow(io);
    const client = await connect({ env: io.env });
    const health = await client.health();
    client.close();
    if (!health.ok) {
      io.err(`Error: ${health.error.message}\n  hint: ${health.error.hint}\n`);
      return EXIT.failed;
    }
    const { pid, version, started, state_dir } = health.result;
    io.out(`Baton ${version} is up: process ${pid}, since ${started}, in ${printable(state_dir)}.\n`);
    return EXIT.ok;
  },
};

export const downCommand: CliCommand = {
  examples: ['baton down'],
  args: [],
  options: [],
  async run(_, io) {
    using _slow = reportWhenSlow(io);
    const client = createClient({ env: io.env, autostart: false });
    const stopped = await client.stop();
    client.close();
    if (!stopped.ok) {
      io.err(`Error: ${stopped.error.message}\n  hint: ${stopped.error.hint}\n`);
      return EXIT.failed;
    }
    io.out(describeEnd(stopped.result));
    return EXIT.ok;
  },
};

function describeEnd({ wasRunning, agents }: { readonly wasRunning: boolean; readonly agents: number }): string {
  if (!wasRunning) return 'Baton was not running.\n';
  if (agents === 0) return 'Baton is down.\n';
  const who = agents === 1 ? '1 agent goes on without it' : `${agents} agents go on without it`;
  const them = agents === 1 ? 'it' : 'them';
  return `Baton is down. ${who}; the next baton up finds ${them} again.\n`;
}
