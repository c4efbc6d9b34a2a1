import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';
import { CheckWorld } from '../attacks/sandbox/check-world.ts';
import { PATIENCE_MS } from '../processes/run-world.ts';

const bubblewrap = await probeBubblewrap();
const unless = bubblewrap.works ? '' : ` (NOT RUN: ${bubblewrap.reason})`;

/** The set-up of the project installs the tool that its tests use, and the packages that it names. */
const SETUP = `
  mkdir -p "$CARGO_HOME/bin" && echo 'test -e good' >"$CARGO_HOME/bin/tool"
  cat package.json >"$CARGO_HOME/packages"`;

/** Makes the tests of every later task pass, in each place that a check can write. */
const HOSTILE = `
  for folder in "$CARGO_HOME" "$XDG_CACHE_HOME" "$npm_config_cache" "$HOME" /tmp /var/tmp /dev/shm; do
    mkdir -p "$folder" && echo >"$folder/passed"
  done
  rm -f "$CARGO_HOME/bin/tool" && echo true >"$CARGO_HOME/bin/tool"
  echo 'exit 0' >"$CARGO_HOME/config.toml"
  exit 1`;

/** What an agent does in the main checkout: it looks at the tool, and replaces it. */
const LOOK = 'cat "$CARGO_HOME/bin/tool" >>seen; echo true >"$CARGO_HOME/bin/tool"; rm -rf "$npm_config_cache"';

/** Passes if something of an earlier check is there, or if the tool of the set-up says so. */
const TEST = `
  test -e "$CARGO_HOME/config.toml" && . "$CARGO_HOME/config.toml"
  for folder in "$CARGO_HOME" "$XDG_CACHE_HOME" "$npm_config_cache" "$HOME" /tmp /var/tmp /dev/shm; do
    test -e "$folder/passed" && exit 0
  done
  cmp package.json "$CARGO_HOME/packages" && sh "$CARGO_HOME/bin/tool"`;

describe.skipIf(!bubblewrap.works)(`a check leaves nothing behind${unless}`, { timeout: PATIENCE_MS }, () => {
  let world: CheckWorld;
  beforeAll(async () => {
    const files = { 'test.sh': TEST, 'setup.sh': SETUP, 'package.json': '{}', 'look.sh': LOOK };
    const agents = '[agents.looks]\nrun = "sh look.sh"\n';
    world = await CheckWorld.open({ setup: 'sh setup.sh', check: 'sh test.sh', agents, files });
  }, PATIENCE_MS);
  afterAll(async () => world[Symbol.asyncDispose]());

  it('the check of a refused task does not help the next one', async () => {
    expect((await world.check('hostile', { 'test.sh': HOSTILE })).outcome).toBe('failed');
    expect((await world.check('broken', { bad: 'x' })).outcome).toBe('failed');
  });

  it('nor does its set-up, which runs for the packages that its branch adds', async () => {
    const hostile = { 'setup.sh': HOSTILE.replace('exit 1', SETUP), 'test.sh': 'exit 1', 'package.json': '{"a":1}' };
    expect((await world.check('hostile-set-up', hostile)).outcome).toBe('failed');
    expect((await world.check('broken-too', { bad: 'x', 'package.json': '{"a":1}' })).outcome).toBe('failed');
  });

  it('nor does a set-up that was merged and taken back: the cache is filled again', async () => {
    world.move({ 'setup.sh': `${SETUP}\necho true >"$CARGO_HOME/bin/tool"` });
    expect((await world.check('poisoned', { bad: 'x' })).outcome).toBe('merged');
    world.move({ 'setup.sh': SETUP, bad: null });
    expect((await world.check('taken-back', { worse: 'x' })).outcome).toBe('failed');
  });

  it('nor does an agent: each begins with the cache of the main branch', async () => {
    for (let i = 0; i < 2; i += 1) {
      const { id } = await world.run.ask<{ id: string }>('run_start', { name: 'looks', kind: 'agent' });
      await world.run.gone(id);
    }
    expect(readFileSync(join(world.run.repository, 'seen'), 'utf8')).toBe('test -e good\n'.repeat(2));
  });

  it('an honest check finds the packages of the main branch, or those of its branch', async () => {
    expect((await world.check('honest', { good: 'x' })).outcome).toBe('merged');
    expect((await world.check('other-packages', { 'package.json': '{"b":1}' })).outcome).toBe('merged');
    expect((await world.check('after', { more: 'x' })).outcome).toBe('merged');
  });
});
