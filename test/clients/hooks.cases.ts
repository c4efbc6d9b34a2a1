import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../processes/until.ts';
import { Terminal } from '../processes/terminal.ts';
import type { Asked, Reply, Turn } from '../models/script.ts';
import { says } from '../models/script.ts';
import { textIn } from './client.cases.ts';
import { blocks } from './door.ts';
import { Person } from './person.ts';
import { CLIENTS } from './run-agent.ts';
import { openWorld, type StartModel, type World } from './world.ts';
import { BATON } from '../package/where.ts';

/** The differences between clients in a user's own sessions. */
export interface OwnSessionCase {
  readonly name: 'claude' | 'codex' | 'gemini';
  readonly startModel: StartModel;
  readonly argv: readonly string[];
  readonly env: (world: World) => Readonly<Record<string, string>>;
  /** The user's files before the installation: comments, other hooks, odd line ends, links. */
  readonly setUp: (world: World) => void;
  /** The screen when the client waits for input. */
  readonly ready: RegExp;
  readonly shell: (command: string) => Reply;
  readonly claim: readonly Reply[];
  /** The command that ends the client. */
  readonly leave: string;
  /** The end of the output when the exit command works; absent if it always does. */
  readonly idle?: RegExp;
  /** The configuration files, below the home. */
  readonly configs: readonly string[];
  /** Files that the client itself writes. */
  readonly ownFiles: RegExp;
}

export function describeOwnSession(client: OwnSessionCase): void {
  describe(`${client.name}: a person's own session`, () => {
    it('gets the brief, is blocked while it holds a task, may stop after its signal; nothing stays behind', async () => {
      const script: Turn[] = [
        says('Hello to you.'),
        ...client.claim,
        says('I am done.'),
        (asked) => client.shell(signalFor(asked, world)),
        says('Now I am.'),
      ];
      await using world: World = await openWorld(client.startModel, script, blocks(0));
      const { baton, files } = person(client, world);
      try {
        baton('task', 'add', 'T1', '--title', 'Write the parser');
        const before = files();
        baton('hooks', 'install', client.name);
        const installed = files();
        expect([...installed].filter(([path, bytes]) => before.get(path) !== bytes)).not.toEqual([]);
        baton('hooks', 'install', client.name);
        expect(changed(installed, files(), client)).toEqual([]);
        await using terminal = new Terminal(client.argv, {
          cwd: world.project,
          env: environment(client, world),
          columns: 120,
          rows: 40,
        });
        using ada = new Person(terminal, world.model);
        await ada.sees(client.ready);
        await ada.asks('Hello.');
        await ada.sees(/Hellotoyou/);
        expect(JSON.stringify(world.model.asked[0]?.body)).toContain('Write the parser');
        await ada.asks('Write the parser.');
        await ada.sees(/NowIam/);
        expect(world.model.asked.filter(({ tools }) => tools.length > 1)).toHaveLength(script.length);
        expect(textIn(world.model.asked[client.claim.length + 2])).toContain('You must explicitly signal completion');
        expect(JSON.parse(baton('task', 'show', 'T1', '--json'))).toMatchObject({ phase: 'CI_PENDING', claim: null });
        await ada.leaves(client.leave, client.idle);
        baton('hooks', 'uninstall', client.name);
        const left = files();
        for (const path of changed(before, left, client)) expect(left.get(path)).toBe(before.get(path));
        for (const path of client.configs)
          expect(readFileSync(join(world.home, path), 'utf8')).not.toMatch(/BATON_HOOKS|hooks run/);
      } finally {
        endProcesses(world.home);
        baton('down');
      }
    }, 240_000);

    it('is blocked once for each message of the user, whatever it does in between', async () => {
      const script: Turn[] = [
        ...client.claim,
        says('I am done.'),
        client.shell('echo looked around'),
        says('I go.'),
        says('Well then.'),
        says('I really go.'),
      ];
      await using world = await openWorld(client.startModel, script, blocks(0));
      const { baton } = person(client, world);
      try {
        baton('task', 'add', 'T1', '--title', 'Write the parser');
        baton('hooks', 'install', client.name);
        const env = environment(client, world);
        await using terminal = new Terminal(client.argv, { cwd: world.project, env, columns: 120, rows: 40 });
        using ada = new Person(terminal, world.model);
        await ada.sees(client.ready);
        await ada.asks('Write the parser.');
        await ada.sees(/Igo\./);
        await ada.asks('Is that all?');
        await ada.sees(/Ireallygo\./);
        await ada.leaves(client.leave, client.idle);
        const turns = world.model.asked.filter(({ tools }) => tools.length > 1);
        expect(turns).toHaveLength(script.length);
        expect(textIn(turns[client.claim.length + 1])).toContain('You must explicitly signal completion');
        // Some clients quote a block more than once, so the test counts that there is one more than before.
        const quoted = turns.map((asked) => textIn(asked).split('You must explicitly signal completion').length);
        expect(quoted.at(-1)).toBeGreaterThan(quoted.at(-2) ?? 0);
        expect(JSON.parse(baton('task', 'show', 'T1', '--json'))).toMatchObject({ claim: { holder: 'ada' } });
      } finally {
        endProcesses(world.home);
        baton('down');
      }
    }, 240_000);

    it('claims the next task at its start if the user configured that, and releases it at its end', async () => {
      const script: Turn[] = [says('I see.'), says('I am done.')];
      await using world = await openWorld(client.startModel, script, blocks(0));
      const { baton } = person(client, world);
      try {
        baton('task', 'add', 'T1', '--title', 'Write the parser');
        baton('hooks', 'install', client.name, '--claim');
        const env = environment(client, world);
        await using terminal = new Terminal(client.argv, { cwd: world.project, env, columns: 120, rows: 40 });
        using ada = new Person(terminal, world.model);
        await ada.sees(client.ready);
        await ada.asks('Hello.');
        await ada.sees(/Iamdone\./);
        const turns = world.model.asked.filter(({ tools }) => tools.length > 1);
        expect(textIn(turns[0])).toContain('This session holds T1');
        expect(textIn(turns[1])).toContain('You must explicitly signal completion');
        expect(JSON.parse(baton('task', 'show', 'T1', '--json'))).toMatchObject({
          claim: { holder: expect.stringContaining(client.name) },
        });
        await ada.leaves(client.leave);
        // Codex reports the end of a session a minute later, when it unloads the session.
        const claim = (): unknown => JSON.parse(baton('task', 'show', 'T1', '--json')).claim;
        await until('the task is given back', () => claim() === null, 150_000);
        expect(JSON.parse(baton('task', 'show', 'T1', '--json'))).toMatchObject({
          endings: [{ how: 'released', reason: 'the session ended' }],
        });
      } finally {
        endProcesses(world.home);
        baton('down');
      }
    }, 240_000);
  });
}

type Files = ReadonlyMap<string, string>;

/** Paths whose bytes have changed, except for files that the client itself writes. */
function changed(before: Files, after: Files, client: OwnSessionCase): readonly string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter((path) => !client.ownFiles.test(path));
  return paths.filter((path) => before.get(path) !== after.get(path));
}

function person(client: OwnSessionCase, world: World) {
  const env = environment(client, world);
  const git = (...args: string[]) => execFileSync('git', args, { cwd: world.project, env });
  git('init', '--quiet', '--initial-branch', 'main');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '-m', 'first');
  client.setUp(world);
  const baton = (...args: string[]): string =>
    execFileSync(process.execPath, [BATON, ...args], { cwd: world.project, env, encoding: 'utf8' });
  // Files that only the client writes are not read, because clients keep whole programs in their homes.
  const files = (): Files => {
    const all = [world.home, world.project].flatMap((cwd) =>
      readdirSync(cwd, { recursive: true, encoding: 'utf8' }).map((path) => join(cwd, path)),
    );
    const ours = all.filter((path) => !client.ownFiles.test(path) && !path.startsWith(join(world.project, '.git')));
    return new Map(ours.filter(isFile).map((path) => [path, readFileSync(path, 'latin1')]));
  };
  return { baton, files };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Ends the client's background processes, such as the server of Codex, which outlives its windows. */
function endProcesses(home: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const isTheirs = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${home}`);
      const isDaemon = /daemon(?:\/main\.ts|\.cjs)/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
      if (isTheirs && !isDaemon) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // The process has exited, or belongs to another user.
    }
  }
}

function environment(client: OwnSessionCase, world: World): Record<string, string> {
  const bin = join(world.temporary, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'baton'), `#!/bin/sh\nexec '${process.execPath}' '${BATON}' "$@"\n`, { mode: 0o755 });
  return {
    HOME: world.home,
    PATH: [bin, CLIENTS, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
    TMPDIR: world.temporary,
    LANG: 'C.UTF-8',
    BATON_STATE_DIR: world.stateDir,
    ...client.env(world),
  };
}

/** The whole path of `baton`, because some clients run login shells, which reset the PATH. */
function signalFor(asked: Asked, { temporary }: World): string {
  const id = /--agent ([\w-]+)/.exec(textIn(asked))?.[1] ?? 'nobody';
  return `${temporary}/bin/baton emit agent:signal --agent ${id} '{"kind":"complete","message":"It parses."}'`;
}
