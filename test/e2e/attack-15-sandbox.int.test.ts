import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';
import { AttackWorld } from '../attacks/sandbox/attack-world.ts';
import { type Attempts, findSuccesses, MUST_FAIL, readAttempts } from '../attacks/sandbox/must-fail.ts';
import { findLedgerFault } from '../processes/ledger.ts';
import { PATIENCE_MS, type Shown } from '../processes/run-world.ts';

const bubblewrap = await probeBubblewrap();
const unless = bubblewrap.works ? '' : ` (NOT RUN: ${bubblewrap.reason})`;

describe.skipIf(!bubblewrap.works)(`an agent in a sandbox cannot${unless}`, { timeout: PATIENCE_MS }, () => {
  let world: AttackWorld;
  let attempts: Attempts;
  let [attacker, survivor, filler, spender]: Shown[] = [];

  beforeAll(async () => {
    world = await AttackWorld.open({
      mode: 'bubblewrap',
      agents: {
        ATTACK: 'run = "claude"\nprompt = "go"\nnetwork = "model"',
        SPEND: 'run = "claude"\nprompt = "go"\nenv = { ATTACK = "node spend.mjs" }\nbudget = { tokens = 1000 }',
        SURVIVE: 'run = "sh survive.sh"\ntimeout = "2s"',
        // Fills its package cache.
        FILL: `run = 'sh fill-disk.sh "$npm_config_cache"'`,
      },
    });
    const ids = await Promise.all(['ATTACK', 'SURVIVE', 'FILL', 'SPEND'].map(async (task) => world.start(task)));
    [attacker, survivor, filler, spender] = await Promise.all(ids.map(async (id) => world.run.gone(id)));
    attempts = readAttempts(world.worktreeOf('ATTACK'), attacker?.log ?? '');
  }, PATIENCE_MS);
  afterAll(async () => world[Symbol.asyncDispose]());

  it.each(Object.entries(MUST_FAIL))('%s', (_, names) => {
    expect(findSuccesses(attempts, names)).toEqual([]);
  });

  it('print a secret, or leave one in its worktree', () => {
    const [folder, log] = [world.worktreeOf('ATTACK'), readFileSync(attacker?.log ?? '', 'utf8')];
    const files = readdirSync(folder, { withFileTypes: true }).filter((each) => each.isFile());
    const texts = [log, ...files.map(({ name }) => readFileSync(join(folder, name), 'utf8')), ...world.received];
    expect(world.authorized).toContain('GET /v1/models');
    const found = Object.entries(world.secrets()).filter(([, secret]) => texts.some((text) => text.includes(secret)));
    expect(found.map(([name]) => name)).toEqual([]);
  });

  it('change the main checkout, another worktree, .git/config, hooks, info/attributes, main, replace refs, or HOME', () => {
    expect(world.changes()).toEqual([]);
  });

  it("corrupt an object of the user's repository", () => {
    expect(world.damagedObjects()).toEqual([]);
  });

  it('write the ledger, or end the daemon', async () => {
    expect(await world.run.ask('pipeline_list')).toEqual({ pipelines: [] });
    expect(await findLedgerFault(world.run.world)).toBeUndefined();
  });

  it('replace the session folder', () => {
    const folder = world.worktreeOf('ATTACK');
    const isFolder = (name: string): boolean => lstatSync(join(folder, name)).isDirectory();
    expect(['.baton', '.baton/session'].filter(isFolder)).toEqual(['.baton', '.baton/session']);
    expect(readFileSync(join(folder, '.git'), 'utf8')).toContain('/.git/worktrees/');
  });

  it('survive its timeout: setsid, nohup, double fork, cleared environment, closed streams, SIGSTOP, ignored SIGTERM', () => {
    const beats = readdirSync(world.worktreeOf('SURVIVE')).filter((name) => name.startsWith('beat-'));
    expect(beats).toEqual(['cleared', 'forked', 'ignores', 'nohup', 'setsid', 'silent'].map((name) => `beat-${name}`));
    expect(survivor).toMatchObject({ exit: { timed_out: true } });
    expect(world.leftProcesses()).toEqual([]);
  });

  it('fill the disk', () => {
    const files = readdirSync(world.worktreeOf('FILL'));
    expect(files.filter((name) => /^fill(?:ing|ed)$/.test(name))).toEqual(['filling']);
    expect(readFileSync(filler?.log ?? '', 'utf8')).toContain('(sandbox.disk)');
  });

  it('spend more than its budget with the injected key, use it for another purpose, or hide what it spent', async () => {
    expect(world.authorized.filter((request) => request.startsWith('POST /v1/messages'))).toHaveLength(10);
    expect(world.authorized.filter((request) => request.includes('organizations'))).toEqual([]);
    const notes = readFileSync(spender?.log ?? '', 'utf8').match(/the key ANTHROPIC_API_KEY is not used for .*/g);
    expect(notes).toEqual([expect.stringContaining('paths = ["GET /v1/organizations/users"]')]);
    const row = { name: 'on_SPEND', input_tokens: 1000, output_tokens: 100, measured_tokens: 1100, client_tokens: 110 };
    const costs = await world.run.ask('costs_get', { by: 'agent' });
    expect(costs).toMatchObject({ rows: expect.arrayContaining([expect.objectContaining(row)]) });
  });
});
