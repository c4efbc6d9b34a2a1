import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isLongLane } from '../../test/lanes.ts';
import { COMPILE_CACHE } from '../../test/package/where.ts';
import { runCli } from '../../test/run-cli.ts';
import type { InstallRequest } from './client.ts';
import { claudeHooks, geminiHooks } from './clients.ts';
import { codexHooks } from './codex.ts';
import { findMachine } from './command-line.ts';
import { isUnfinished } from './files/journal.ts';
import { installHooks, restoreUnfinished, uninstallHooks } from './install.ts';

/** A user with settings of every kind. Disposing removes the home folder. */
class Person implements Disposable {
  readonly home = mkdtempSync(join(tmpdir(), 'baton-hooks-'));

  constructor(files: Readonly<Record<string, string>> = FILES) {
    for (const [path, text] of Object.entries(files)) this.write(path, text);
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.home, path)), { recursive: true });
    writeFileSync(join(this.home, path), text);
  }

  read(path: string): string {
    return readFileSync(join(this.home, path), 'utf8');
  }

  wanted(options: Partial<InstallRequest['options']> = {}): InstallRequest {
    const machine = findMachine({ HOME: this.home, BATON_STATE_DIR: join(this.home, 'state') });
    return { scope: { kind: 'user' }, options: { onStop: 'signal', claim: false, ...options }, machine };
  }

  /** The content of every file except those in Baton's own folder. */
  all(): Readonly<Record<string, string>> {
    const paths = globSync(['**/*', '**/.*', '.*/**/*', '.*/**/.*'], { cwd: this.home, exclude: ['state/**'] });
    const files = paths.filter((path) => !path.startsWith('state') && statSync(join(this.home, path)).isFile());
    return Object.fromEntries([...new Set(files)].toSorted().map((path) => [path, this.read(path)]));
  }

  [Symbol.dispose](): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

const FILES = {
  '.claude/settings.json': '{\r\n\t// mine\r\n\t"model": "opus", /* why */\r\n\t"hooks": {"Stop": [ ]}\r\n}',
  '.claude.json': '{"numStartups": 3}\n',
  '.codex/config.toml': 'model = "x" # mine\n\n[[hooks.Stop]]\nhooks = [{ type = "command", command = "true" }]',
  '.gemini/settings.json': '{}',
};

const CLIENTS = [claudeHooks, codexHooks, geminiHooks];

describe.each(CLIENTS)('the files of $name', (client) => {
  it('are restored by an uninstall, and unchanged by a second install', () => {
    using person = new Person();
    const before = person.all();
    expect(installHooks(client, person.wanted())).toMatchObject({ ok: true, notes: [] });
    const installed = person.all();
    expect(installed).not.toEqual(before);
    expect(installHooks(client, person.wanted())).toMatchObject({ ok: true, changed: [] });
    expect(person.all()).toEqual(installed);
    installHooks(client, person.wanted({ claim: true, onStop: 'allow' }));
    expect(person.all()).not.toEqual(installed);
    uninstallHooks(client, person.wanted());
    expect(person.all()).toEqual(before);
    expect(uninstallHooks(client, person.wanted())).toMatchObject({ ok: true, changed: [] });
  });

  it('are removed if they did not exist before, with their folders', () => {
    using person = new Person({});
    installHooks(client, person.wanted());
    expect(Object.keys(person.all())).not.toEqual([]);
    uninstallHooks(client, person.wanted());
    expect(globSync('.*', { cwd: person.home })).toEqual([]);
  });

  it('are restored without the record of the install', () => {
    using person = new Person();
    const before = person.all();
    installHooks(client, person.wanted());
    rmSync(join(person.home, 'state'), { recursive: true });
    uninstallHooks(client, person.wanted());
    const after = person.all();
    for (const path of Object.keys(before)) expect(after[path]).not.toMatch(/baton/);
  });

  it('stay links, and keep their mode', () => {
    using person = new Person({});
    const files = client.files(person.wanted());
    for (const [n, { path, format }] of files.entries()) {
      person.write(`dotfiles/${n}`, format === 'json' ? '{\n}\n' : '');
      chmodSync(join(person.home, `dotfiles/${n}`), 0o640);
      mkdirSync(dirname(path), { recursive: true });
      symlinkSync(join(person.home, `dotfiles/${n}`), path);
    }
    const before = person.all();
    installHooks(client, person.wanted());
    for (const [n, { path }] of files.entries()) {
      expect(lstatSync(path).isSymbolicLink()).toBe(true);
      expect(statSync(path).mode & 0o777).toBe(0o640);
      expect(person.read(`dotfiles/${n}`)).toContain('baton');
    }
    uninstallHooks(client, person.wanted());
    expect(person.all()).toEqual(before);
  });

  it('are all unchanged if one of them is read-only, and the message names it', () => {
    using person = new Person();
    const [last] = client.files(person.wanted()).slice(-1);
    chmodSync(last?.path ?? '', 0o444);
    const before = person.all();
    const done = installHooks(client, person.wanted());
    expect(done).toMatchObject({ ok: false, what: `${last?.path}: it is read-only` });
    expect(person.all()).toEqual(before);
  });

  it('are unchanged if they cannot be parsed', () => {
    using person = new Person();
    const [first] = client.files(person.wanted());
    writeFileSync(first?.path ?? '', '{ "hooks": [\n = oops');
    const before = person.all();
    expect(installHooks(client, person.wanted())).toMatchObject({
      ok: false,
      what: expect.stringContaining(first?.path ?? ''),
    });
    expect(person.all()).toEqual(before);
  });
});

describe('an MCP server named baton that is not ours', () => {
  it('stays, and is reported', () => {
    using person = new Person({
      '.claude.json': '{"mcpServers": {"baton": {"command": "npx", "args": ["baton", "mcp"]}}}',
      '.codex/config.toml': '[mcp_servers.baton]\ncommand = "npx"\n',
    });
    const before = person.all();
    for (const client of [claudeHooks, codexHooks]) {
      expect(installHooks(client, person.wanted())).toMatchObject({
        ok: true,
        notes: [expect.stringContaining('already exists')],
      });
      uninstallHooks(client, person.wanted());
    }
    expect(person.all()).toEqual(before);
  });
});

const AT_ONCE = 4;
/** The step between the changes at which the install is killed; the long lane tries every change. */
const EVERY = isLongLane ? 1 : 3;

/** Kills an install before its `n`-th change, and returns the resulting state of the files. */
async function dieAt(n: number): Promise<'installed' | 'in the middle' | 'between'> {
  using person = new Person();
  const before = person.all();
  for (const client of CLIENTS) installHooks(client, person.wanted());
  const installed = person.all();
  for (const client of CLIENTS) uninstallHooks(client, person.wanted());
  if ((await installIn(person, n, 'SIGKILL')) === 'installed') return 'installed';
  const left = Object.entries(person.all()).filter(([path]) => !path.endsWith('.baton-draft'));
  for (const [path, text] of left) expect([before[path], installed[path]]).toContain(text);
  const isMidway = existsSync(join(person.home, 'state/hooks/journal.json'));
  expect(isUnfinished(join(person.home, 'state'))).toBe(isMidway);
  for (const client of CLIENTS) {
    const cleared = restoreUnfinished(person.wanted());
    expect(cleared).toMatchObject({ ok: true });
    uninstallHooks(client, person.wanted());
  }
  expect(person.all()).toEqual(before);
  return isMidway ? 'in the middle' : 'between';
}

/** Installs for all clients in a child process, sends it a signal before its `n`-th change, and returns its output. */
async function installIn(person: Person, n: number, signal: NodeJS.Signals): Promise<string> {
  const program = `
    import { installAndDie } from '${join(import.meta.dirname, 'killed.cases.ts')}';
    installAndDie('${person.home}', ${n}, '${signal}');`;
  const child = spawn(process.execPath, [QUIET, '--input-type=module', '-e', program], {
    env: { ...process.env, ...COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Standard output ends shortly before the process exits.
  const [pieces] = await Promise.all([child.stdout.setEncoding('utf8').toArray(), once(child, 'close')]);
  return pieces.join('');
}

const QUIET = '--disable-warning=ExperimentalWarning';

describe('an install that is killed', () => {
  it('before any change of the disk leaves each file whole, and the next run restores all of them', async () => {
    const ends: string[] = [];
    for (let first = 1; !ends.includes('installed'); first += AT_ONCE * EVERY) {
      const numbers = Array.from({ length: AT_ONCE }, (_, i) => first + i * EVERY);
      ends.push(...(await Promise.all(numbers.map(dieAt))));
    }
    // Enough installs died in the middle of a client's files, not only before the first change.
    expect(ends.filter((end) => end === 'in the middle').length).toBeGreaterThanOrEqual((3 * CLIENTS.length) / EVERY);
  }, 240_000);

  it('completes its changes if a user presses Ctrl-C or closes the terminal', async () => {
    using person = new Person();
    const before = person.all();
    // The 5th and 8th change are between the files of Claude Code.
    for (const [n, signal] of [
      [5, 'SIGINT'],
      [8, 'SIGHUP'],
      [8, 'SIGTERM'],
    ] as const) {
      expect(await installIn(person, n, signal)).toBe('installed');
      for (const client of CLIENTS) uninstallHooks(client, person.wanted());
      expect(person.all()).toEqual(before);
    }
  });

  it.each(CLIENTS)('is undone by the next run, even one for $name after a file was edited', (next) => {
    using person = new Person();
    const before = person.all();
    const state = join(person.home, 'state');
    installHooks(claudeHooks, person.wanted());
    const written = person.read('.claude/settings.json');
    // The state after a kill between the first and the second file.
    const path = join(person.home, '.claude/settings.json');
    const journal = {
      v: 1,
      process: null,
      changes: [{ path, before: before['.claude/settings.json'], afterHash: 'other' }],
      folders: [],
    };
    writeFileSync(join(state, 'hooks/journal.json'), JSON.stringify(journal));
    writeFileSync(path, written.replace('opus', 'sonnet'));
    utimesSync(path, 1, 1);
    expect(uninstallHooks(next, person.wanted())).toMatchObject({ ok: true });
    expect(person.read('.claude/settings.json')).not.toContain('baton');
    expect(person.read('.claude/settings.json')).toContain('sonnet');
    expect(existsSync(join(state, 'hooks/journal.json'))).toBe(false);
  });
});

describe('a repository that was deleted', () => {
  it.each(CLIENTS)(
    'does not prevent an install for $name elsewhere, and leaves nothing in the home',
    async (client) => {
      using person = new Person();
      const before = person.all();
      const root = join(person.home, 'clone');
      mkdirSync(join(root, '.git'), { recursive: true });
      const env = { HOME: person.home, BATON_STATE_DIR: join(person.home, 'state') };
      const run = async (...args: string[]) =>
        runCli(['hooks', ...args], '', { env, cwd: existsSync(root) ? root : person.home });
      expect(await run('install', client.name, '--repository')).toMatchObject({ code: 0 });
      rmSync(root, { recursive: true });
      expect(await run('install', client.name)).toMatchObject({
        code: 0,
        out: expect.stringContaining(`Removed for ${root}`),
      });
      expect(await run('uninstall', client.name)).toMatchObject({ code: 0 });
      expect(person.all()).toEqual(before);
    },
  );
});

describe('the command', () => {
  it('reports unknown arguments', async () => {
    expect(await runCli(['hooks', 'install', 'emacs'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('claude, codex, gemini'),
    });
    expect(await runCli(['hooks', 'install', 'claude', '--on-stop', 'nudge'])).toMatchObject({ code: 2 });
    expect(await runCli(['hooks', 'install', 'claude', '--user', '--repository'])).toMatchObject({ code: 2 });
  });
});
