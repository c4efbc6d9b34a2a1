import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../src/daemon/running.cases.ts';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';
import { PATIENCE_MS } from '../processes/run-world.ts';
import { CheckWorld } from './sandbox/check-world.ts';

const bubblewrap = await probeBubblewrap();
const unless = bubblewrap.works ? '' : ` (NOT RUN: ${bubblewrap.reason})`;

const SETUP = `
  mkdir -p "$CARGO_HOME/bin" "$npm_config_cache/_npx/1" "$XDG_CACHE_HOME/kept" "$GOCACHE"
  echo 'test -e good' >"$CARGO_HOME/bin/tool"; chmod 755 "$CARGO_HOME/bin/tool"
  echo lower >"$npm_config_cache/_npx/1/bin"; echo lower >"$GOCACHE/result"
  ln -s "$CARGO_HOME/bin/tool" "$XDG_CACHE_HOME/kept/link"`;

/** Prints all that a check can see of its caches, HOME and temporary folders, and decides by the tool. */
const TEST = `
  for folder in "$CARGO_HOME" "$npm_config_cache" "$XDG_CACHE_HOME" "$GOCACHE" "$HOME" /tmp /var/tmp /dev/shm "$XDG_RUNTIME_DIR"; do
    echo "== $folder"
    (cd "$folder" && find . -xdev -name checkouts -prune -o -printf '%p %y %m %l\\n' | sort && find . -xdev -name checkouts -prune -o -type f -print | sort | xargs -r cksum)
  done
  echo "== git"; git status --porcelain; git config --list | sort; git rev-parse HEAD^{tree} >/dev/null && ls .git/hooks 2>&1
  echo "== processes"; ps -eo args= 2>/dev/null | grep -c left-behind
  echo "== end"
  sh "$CARGO_HOME/bin/tool"`;

const WRITES = {
  'a file of the cache is replaced': 'rm "$CARGO_HOME/bin/tool"; echo true >"$CARGO_HOME/bin/tool"',
  'a file of the cache is written in place': 'echo true >"$CARGO_HOME/bin/tool"',
  'a file of the cache is written through a hard link':
    'ln "$CARGO_HOME/bin/tool" "$CARGO_HOME/bin/second"; echo true >"$CARGO_HOME/bin/second"',
  'a file of the cache is written through a hard link in the checkout':
    'ln "$CARGO_HOME/bin/tool" second || cp "$CARGO_HOME/bin/tool" second; echo true >second',
  'a file of the cache is written through a link of the cache': 'echo true >"$XDG_CACHE_HOME/kept/link"',
  'a folder of the cache is replaced by a link': 'rm -rf "$CARGO_HOME"; ln -s "$PWD" "$CARGO_HOME"; echo true >tool',
  'the cache is emptied': 'rm -rf "$CARGO_HOME" "$npm_config_cache"',
  'a folder is emptied and made again':
    'rm -rf "$CARGO_HOME/bin"; mkdir "$CARGO_HOME/bin"; echo true >"$CARGO_HOME/bin/tool"',
  'settings of tools are added':
    'echo "[build]" >"$CARGO_HOME/config.toml"; echo "ignore-scripts=true" >~/.npmrc; git config --global core.pager true; mkdir -p ~/.config/pip ~/.gradle && echo x >~/.config/pip/pip.conf',
  'programs of npx are replaced': 'echo changed >"$npm_config_cache/_npx/1/bin"; mkdir -p "$npm_config_cache/_npx/2"',
  'results of tests are kept':
    'echo ok >"$GOCACHE/result"; mkdir -p "$XDG_CACHE_HOME/pytest" && echo ok >"$XDG_CACHE_HOME/pytest/lastfailed"',
  'whiteouts and marks of an overlay are made by hand':
    'mknod "$CARGO_HOME/bin/w" c 0 0; setfattr -n user.overlay.opaque -v y "$CARGO_HOME/bin"; setfattr -n user.overlay.whiteout -v y "$CARGO_HOME/bin/tool"; true',
  'permissions and attributes are taken away':
    'chmod 0 "$CARGO_HOME/bin/tool" "$CARGO_HOME/bin" "$CARGO_HOME"; chattr +i "$GOCACHE/result"; chmod 0 ~ /tmp; true',
  'temporary folders are filled':
    'for f in /tmp /var/tmp /dev/shm "$XDG_RUNTIME_DIR"; do mkfifo "$f/pipe"; echo x >"$f/left"; done',
  'a deep tree and odd names are left': `cd "$CARGO_HOME" && i=0; while [ $i -lt 60 ]; do mkdir dddddddddddddddddddddddddddddddddddddddd && cd dddddddddddddddddddddddddddddddddddddddd; i=$((i+1)); done; touch "$(printf 'a\\nb')" -- '-rf' 'c,d:e'`,
  'a process goes on after the end':
    '(setsid sh -c ": left-behind; while :; do echo true >\\"$CARGO_HOME/bin/tool\\"; echo x >~/left; done" >/dev/null 2>&1 &) ; sleep 0.2',
  'the git directory of the checkout is changed':
    'git config core.fsmonitor true; mkdir -p .git/hooks; echo exit 0 >.git/hooks/pre-commit; git update-index --assume-unchanged test.sh',
} as const;

describe.skipIf(!bubblewrap.works)(`what a check leaves behind${unless}`, { timeout: 3 * PATIENCE_MS }, () => {
  let world: CheckWorld;
  let alone = '';
  beforeAll(async () => {
    world = await CheckWorld.open({ setup: SETUP, check: 'sh test.sh', files: { 'test.sh': TEST } });
    alone = seenBy(await world.check('alone', { bad: 'x' }));
  }, PATIENCE_MS);
  afterAll(async () => world[Symbol.asyncDispose]());

  it('a check sees the cache of the main branch', () => {
    expect(alone).toContain('./bin/tool f 755');
    expect(alone).toContain('./_npx/1/bin f');
  });

  it.each(Object.entries(WRITES))('nothing, if %s', async (name, script) => {
    const id = `task-${Object.keys(WRITES).indexOf(name)}`;
    expect((await world.check(`${id}-1`, { 'test.sh': `${script}\nexit 1` })).outcome).toBe('failed');
    const next = await world.check(`${id}-2`, { bad: 'x' });
    expect(next.outcome).toBe('failed');
    expect(seenBy(next)).toBe(alone);
  });

  it('no layer, checkout or fetched package is left on the disk', () => {
    const folder = join(world.stateDir, 'caches');
    const project = readdirSync(folder).find((name) => existsSync(join(folder, name, 'filled'))) ?? '';
    expect(readdirSync(join(folder, project, 'filled'))).toHaveLength(1);
    expect(['filling', 'fetched'].flatMap((name) => list(join(folder, project, name)))).toEqual([]);
    expect(list(join(world.stateDir, 'checkouts'))).toEqual([]);
    const commands = list(join(world.stateDir, 'commands'));
    expect(commands.flatMap((id) => list(join(world.stateDir, 'commands', id, 'layers')))).toEqual([]);
  });
});

describe.skipIf(!bubblewrap.works)(`what an agent leaves behind${unless}`, { timeout: 2 * PATIENCE_MS }, () => {
  const HOSTILE = ['a file of the cache is replaced', 'settings of tools are added', 'the cache is emptied', 'results of tests are kept', 'a process goes on after the end'] as const; // prettier-ignore

  it('the next agent has the cache of the main branch, as it has alone', async () => {
    const world = new RunScene();
    try {
      const agents = HOSTILE.map(
        (name, i) => `[agents.hostile-${i}]\nrun = ${JSON.stringify(`${WRITES[name]}\ntouch done`)}\n`,
      );
      const look = TEST.replace('sh "$CARGO_HOME/bin/tool"', '').replace(/echo "== git"[^\n]*/, '');
      world.write(
        `${agents.join('')}[agents.looks]\nrun = ${JSON.stringify(`(${look}) >seen 2>&1; mv seen looked`)}\n`,
      );
      await world.start();
      const run = async (name: string, file: string): Promise<string> => {
        const { id } = await world.ask<{ id: string }>('run_start', { name, kind: 'agent' });
        await until(async () => (await world.agent(id)).process !== 'running', `${name} has ended`, PATIENCE_MS);
        const path = join(world.repository, file);
        const text = existsSync(path) ? readFileSync(path, 'utf8') : 'nothing';
        rmSync(path, { force: true });
        // The folder of the test may lie in one of the temporary folders.
        return text
          .replaceAll(id, 'ID')
          .split('\n')
          .filter((line) => !line.includes('/repo/'))
          .join('\n');
      };
      const alone = await run('looks', 'looked');
      expect(alone).toContain('== end');
      for (const [i, name] of HOSTILE.entries()) {
        expect([name, await run(`hostile-${i}`, 'done')]).toEqual([name, '']);
        expect([name, await run('looks', 'looked')]).toEqual([name, alone]);
      }
    } finally {
      await world.end();
    }
  });
});

function list(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function seenBy({ printed }: { readonly printed: string }): string {
  const [seen = ''] = /== [\s\S]*== end/.exec(printed) ?? [];
  expect(seen).not.toBe('');
  // The checkout and the run have names of their own.
  return seen.replaceAll(/merge-[0-9a-f-]{36}\.[0-9a-f]+(?:\.\d+)?/g, 'ID');
}
