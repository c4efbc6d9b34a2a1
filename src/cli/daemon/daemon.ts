import { connect, createClient } from '../../api/client/connect.ts';
import { findDaemon } from '../../api/client/reach.ts';
import { findStateDir } from '../../api/state-folder.ts';
import { findStoreUrlProblem } from '../../protocol/store-url.ts';
import { reportWhenSlow } from '../ask.ts';
import { type CliCommand, EXIT, type Io } from '../command.ts';
import { reportProblem } from '../problems.ts';
import { printable } from '../text.ts';

export const upCommand: CliCommand = {
  examples: ['baton up', 'baton up --foreground', 'baton up --install-service'],
  args: [],
  options: [
    { name: 'foreground', about: 'Run in this terminal until stopped' },
    {
      name: 'store',
      value: 'URL',
      about: 'The PostgreSQL database for new projects whose runbook names no store',
    },
    { name: 'install-service', about: 'Write a systemd user unit or launchd plist that runs the daemon' },
    { name: 'uninstall-service', about: 'Remove that file' },
  ],
  ownsTerminal: ({ options }) => options.has('foreground'),
  async run({ options }, io) {
    if (options.has('install-service') || options.has('uninstall-service')) {
      const { changeService } = await import('./service.ts');
      return changeService(options.has('uninstall-service') ? 'uninstall' : 'install', io);
    }
    const store = options.get('store');
    const wrong = store === undefined ? undefined : findStoreUrlProblem(store);
    if (wrong !== undefined) return reportProblem(wrong, io);
    if (options.has('foreground')) {
      if (store !== undefined) process.env['BATON_STORE'] = store;
      // The daemon exits this process itself.
      await import('../../daemon/main.ts');
      return new Promise(() => undefined);
    }
    using _slow = reportWhenSlow(io);
    if (store !== undefined && (await isDaemonUp(io))) return reportProblem(ALREADY_UP, io);
    const client = await connect({ env: store === undefined ? io.env : { ...io.env, BATON_STORE: store } });
    const health = await client.health();
    client.close();
    if (!health.ok) return reportProblem(health.error, io);
    const { pid, version, started, state_dir } = health.result;
    io.out(`Baton ${version} is up: process ${pid}, since ${started}, in ${printable(state_dir)}.\n`);
    return EXIT.ok;
  },
};

async function isDaemonUp({ env }: Io): Promise<boolean> {
  const connection = await findDaemon(findStateDir(env));
  connection?.close();
  return connection !== undefined;
}

const ALREADY_UP = {
  code: 'daemon-runs',
  message: 'a daemon already runs, and --store takes effect only when a daemon starts',
  hint: 'baton down, then the same command again',
} as const;

export const downCommand: CliCommand = {
  examples: ['baton down'],
  args: [],
  options: [],
  async run(_, io) {
    using _slow = reportWhenSlow(io);
    const client = createClient({ env: io.env, autostart: false });
    const stopped = await client.stop();
    client.close();
    if (!stopped.ok) return reportProblem(stopped.error, io);
    io.out(describeEnd(stopped.result));
    return EXIT.ok;
  },
};

function describeEnd({ wasRunning, agents }: { readonly wasRunning: boolean; readonly agents: number }): string {
  if (!wasRunning) return 'Baton was not running.\n';
  if (agents === 0) return 'Baton is down.\n';
  const running = agents === 1 ? '1 agent keeps running' : `${agents} agents keep running`;
  return `Baton is down. ${running}; the next baton up reconnects.\n`;
}
