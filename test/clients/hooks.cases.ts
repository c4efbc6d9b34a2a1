import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Terminal } from '../processes/terminal.ts';
import { until } from '../processes/until.ts';
import type { Asked, Reply, Turn } from '../models/script.ts';
import { says } from '../models/script.ts';
import { textIn } from './client.cases.ts';
import { blocks } from './door.ts';
import { openWorld, type StartModel, type World } from './world.ts';

/** What differs between the clients when a person sits in front of them. */
export interface OwnSessionCase {
  readonly name: 'claude' | 'codex' | 'gemini';
  readonly startModel: StartModel;
  readonly argv: readonly string[];
  readonly env: (world: World) => Readonly<Record<string, string>>;
  /** The person's files, as they were before they heard of Baton: comments, other hooks, odd line ends, links. */
  readonly setUp: (world: World) => void;
  /** What the screen shows when it waits for words. */
  readonly ready: RegExp;
  readonly shell: (command: string) => Reply;
  readonly claim: readonly Reply[];
  /** The words that end the client. */
  readonly leave: string;
  /** Where it is configured, below the home. */
  readonly configs: readonly string[];
  /** Files that the client itself writes. */
  readonly ownFiles: RegExp;
}

const ROOT = join(import.meta.dirname, '../..');
const BATON = join(ROOT, 'bin/baton.cjs');

export function describeOwnSession(client: OwnSessionCase): void {
  describe(`${client.name}: a person's own session`, () => {
    it('hears the brief, is held while it has a task, leaves after its signal; nothing stays behind', async () => {
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
        using _ = answering(terminal);
        await shows(terminal, client.ready);
        await ask(terminal, world, 'Hello.');
        await shows(terminal, /Hellotoyou/);
        expect(JSON.stringify(world.model.asked[0]?.body)).toContain('Write the parser');
        await ask(terminal, world, 'Write the parser.');
        await shows(terminal, /NowIam/, 50_000);
        expect(world.model.asked.filter(({ tools }) => tools.length > 1)).toHaveLength(script.length);
        expect(textIn(world.model.asked[client.claim.length + 2])).toContain('You must explicitly signal completion');
        expect(JSON.parse(baton('task', 'show', 'T1', '--json'))).toMatchObject({ phase: 'CI_PENDING', claim: null });
        await leave(terminal, client.leave);
        baton('hooks', 'uninstall', client.name);
        const left = files();
        for (const path of changed(before, left, client)) expect(left.get(path)).toBe(before.get(path));
        for (const path of client.configs)
          expect(readFileSync(join(world.home, path), 'utf8')).not.toMatch(/BATON_HOOKS|hooks run/);
      } finally {
        endProcesses(world.home);
        baton('down');
      }
    }, 120_000);

    it('is held once for each thing that the person says, whatever it does in between', async () => {
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
        using _ = answering(terminal);
        await shows(terminal, client.ready);
        await ask(terminal, world, 'Write the parser.');
        await shows(terminal, /Igo\./, 50_000);
        await ask(terminal, world, 'Is that all?');
        await shows(terminal, /Ireallygo\./, 50_000);
        await leave(terminal, client.leave);
        const turns = world.model.asked.filter(({ tools }) => tools.length > 1);
        expect(turns).toHaveLength(script.length);
        expect(textIn(turns[client.claim.length + 1])).toContain('You must explicitly signal completion');
        // Some clients quote a block more than once: it counts that there is one more than before.
        const quoted = turns.map((asked) => textIn(asked).split('You must explicitly signal completion').length);
        expect(quoted.at(-1)).toBeGreaterThan(quoted.at(-2) ?? 0);
        expect(JSON.parse(baton('task', 'show', 'T1', '--json'))).toMatchObject({ claim: { holder: 'ada' } });
      } finally {
        endProcesses(world.home);
        baton('down');
      }
    }, 120_000);
  });
}

type Files = ReadonlyMap<string, string>;

/** Paths whose bytes are not what they were, but for those that the client itself writes. */
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
  const files = (): Files => {
    const all = [world.home, world.project].flatMap((cwd) =>
      globSync(['**/*', '**/.*', '.*/**/*', '.*/**/.*'], { cwd, exclude: ['.git/**'] }).map((path) => join(cwd, path)),
    );
    return new Map(all.filter((path) => statSync(path).isFile()).map((path) => [path, readFileSync(path, 'latin1')]));
  };
  return { baton, files };
}

/** What a client leaves running in the background: Codex has a server of its own, which outlives its windows. */
function endProcesses(home: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const isTheirs = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${home}`);
      const isDaemon = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('src/daemon/main.ts');
      if (isTheirs && !isDaemon) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended, or is not ours to look at.
    }
  }
}

function environment(client: OwnSessionCase, world: World): Record<string, string> {
  const bin = join(world.temporary, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'baton'), `#!/bin/sh\nexec '${process.execPath}' '${BATON}' "$@"\n`, { mode: 0o755 });
  return {
    HOME: world.home,
    PATH: [bin, join(ROOT, '.cache/clients/bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
    TMPDIR: world.temporary,
    LANG: 'C.UTF-8',
    BATON_STATE_DIR: world.stateDir,
    ...client.env(world),
  };
}

/**
 * Words first, the key that sends them a moment later: together they would be taken for pasted text. A client that is not all there yet
 * does not hear them: a person would type them again.
 */
async function say(terminal: Terminal, words: string): Promise<void> {
  const sought = new RegExp(RegExp.escape(words.replaceAll(' ', '')));
  for (let tries = 1; ; tries++) {
    terminal.type(words);
    try {
      await shows(terminal, sought, 4000);
      break;
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
  terminal.type('\r');
}

/** The key may be pressed while the client is still busy with its hooks, and be lost: a person sees that, and presses it again. */
async function ask(terminal: Terminal, { model }: World, words: string): Promise<void> {
  const before = model.asked.length;
  await say(terminal, words);
  for (let tries = 1; ; tries++) {
    try {
      await until('the model is asked', () => model.asked.length > before, 6000);
      return;
    } catch (error) {
      if (tries === 6) throw error;
      terminal.type('\r');
    }
  }
}

/** A menu may open over the words, and take the key for itself. */
async function leave(terminal: Terminal, words: string): Promise<void> {
  let hasLeft = false;
  void terminal.exit().then(() => (hasLeft = true));
  await say(terminal, words);
  for (let tries = 1; ; tries++) {
    try {
      await until('the client has left', () => hasLeft, 5000);
      return;
    } catch (error) {
      if (tries === 8)
        throw new Error(`${String(error)}; it has written:\n${plain(terminal.written).slice(-2000)}`, { cause: error });
      terminal.type(tries % 2 === 0 ? `${words}\r` : '\r');
    }
  }
}

/** Clients draw word by word, each at its place: what they wrote is read without places and spaces. */
async function shows(terminal: Terminal, words: RegExp, deadlineMs?: number): Promise<void> {
  try {
    await until(
      `the terminal shows ${words}`,
      () => words.test(plain(terminal.written)) || words.test(drawn(terminal)),
      deadlineMs,
    );
  } catch (error) {
    throw new Error(`${String(error)}; it has written:\n${plain(terminal.written).slice(-2000)}`, { cause: error });
  }
}

function drawn(terminal: Terminal): string {
  return terminal.picture.join('').replaceAll(/\s+/g, '');
}

/** Clients ask the terminal where its cursor is and what it can do, and some wait for that. */
function answering(terminal: Terminal): Disposable {
  let heard = 0;
  const timer = setInterval(() => {
    const asked = terminal.written.split('\u001B[6n').length - 1;
    for (; heard < asked; heard++) terminal.type('\u001B[1;1R\u001B[?62c');
  }, 20);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function plain(written: string): string {
  return written.replaceAll(SEQUENCES, '').replaceAll(/\s+/g, '');
}

// oxlint-disable-next-line no-control-regex
const SEQUENCES = /\u001B\[[^A-Za-z]*[A-Za-z]|\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)|\u001B./g;

/** With its whole path: some clients run login shells, which forget the PATH that they were given. */
function signalFor(asked: Asked, { temporary }: World): string {
  const id = /--agent ([\w-]+)/.exec(textIn(asked))?.[1] ?? 'nobody';
  return `${temporary}/bin/baton emit agent:signal --agent ${id} '{"kind":"complete","message":"It parses."}'`;
}
