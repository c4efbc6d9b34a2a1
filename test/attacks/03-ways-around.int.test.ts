import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../src/daemon/running.cases.ts';
import { RunScene } from '../../src/daemon/runs.cases.ts';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';

const bubblewrap = await probeBubblewrap();

/** The session sees this folder, unless it is the person's HOME. */
const OUTSIDE = '/opt';
let home: string;
let world: RunScene;
beforeEach(async () => {
  world = new RunScene();
  world.agrees = false;
  home = realpathSync(await mkdtemp(join(existsSync(OUTSIDE) ? OUTSIDE : '/var/lib', 'baton-home-')));
  for (const name of ['.ssh', '.config', 'other']) mkdirSync(join(home, name));
  writeFileSync(join(home, '.ssh/key'), 'PRIVATE');
});
afterEach(async () => {
  await world.end();
  await rm(home, { recursive: true });
});

/** Runs a command as a standalone agent after the person has agreed to everything. Returns what it printed. */
async function printedBy(command: string, rules: string, prepare = (): void => {}): Promise<string> {
  world.write(`${rules}\n[agents.helper]\nrun = '(${command}) > printed 2>&1'\n`);
  await world.start({ HOME: home });
  await world.adopt();
  prepare();
  const { id } = await world.ask<{ id: string }>('run_start', { name: 'helper', kind: 'agent' });
  await until(async () => (await world.agent(id)).process !== 'running', 'it has ended');
  return readFileSync(join(world.repository, 'printed'), 'utf8');
}

describe.skipIf(!bubblewrap.works)('a sandbox that adopted rules open in one place', { timeout: 60_000 }, () => {
  it('does not follow a linked folder that an agent has replaced by a link into HOME', async () => {
    const link = (): void => symlinkSync(join(home, '.ssh'), join(world.repository, 'shared'));
    const printed = await printedBy(`cat shared/key ${home}/.ssh/key`, '[workspace]\nlink = ["shared"]\n', link);
    expect(printed).not.toContain('PRIVATE');
  });

  it('hides the HOME of the person from an agent with another HOME', async () => {
    const rules = `[agents.other]\nrun = "cat ${home}/.ssh/key > printed 2>&1"\nenv = { HOME = "/opt" }\n`;
    world.write(rules);
    await world.start({ HOME: home });
    expect(await world.call('run_start', { name: 'other', kind: 'agent' })).toMatchObject({
      error: { code: 'rules-loosened' },
    });
    await world.adopt();
    const { id } = await world.ask<{ id: string }>('run_start', { name: 'other', kind: 'agent' });
    await until(async () => (await world.agent(id)).process !== 'running', 'it has ended');
    expect(readFileSync(join(world.repository, 'printed'), 'utf8')).toContain('No such file');
  });

  it("keeps the person's own configuration closed, also if it does not exist yet", async () => {
    const write = 'mkdir -p ~/.config/baton; echo "[review]" > ~/.config/baton/config.toml; touch ~/.config/made';
    await printedBy(write, '[sandbox]\nwrite = ["~/.config"]\n');
    expect(existsSync(join(home, '.config/made'))).toBe(true);
    expect(existsSync(join(home, '.config/baton/config.toml'))).toBe(false);
  });

  it("keeps the person's own configuration closed, also if it is a link to a file elsewhere", async () => {
    mkdirSync(join(home, '.config/baton'));
    writeFileSync(join(home, 'other/baton.toml'), '[review]\nunseparated = "ask"\n');
    symlinkSync('../../other/baton.toml', join(home, '.config/baton/config.toml'));
    await printedBy('echo > ~/other/baton.toml; touch ~/other/made', '[sandbox]\nwrite = ["~/other"]\n');
    expect(existsSync(join(home, 'other/made'))).toBe(true);
    expect(readFileSync(join(home, 'other/baton.toml'), 'utf8')).toContain('"ask"');
  });
});

describe('files that adopted rules name', { timeout: 60_000 }, () => {
  const RULES = `sandbox = "none"
[agents.told]
run = 'cat "$BATON_PROMPT_FILE" > "$SEEN"'
prompt_file = "told.md"
[agents.played]
run = "scripted played.yaml"
[workers.told]
phases = ["IMPLEMENTATION"]
run = { agent = "told" }
`;

  it.each([
    ['told', 'told.md', 'Do something else.'],
    ['played', 'played.yaml', '- run: touch ran-else\n- stop\n'],
  ])('an edit of what the agent %s follows starts nothing before a person agrees', async (name, path, text) => {
    const seen = join(home, 'seen');
    world.write(RULES.replace('$SEEN', seen));
    writeFileSync(join(world.repository, 'told.md'), 'Do this.');
    writeFileSync(join(world.repository, 'played.yaml'), '- stop\n');
    await world.start();
    await world.adopt();
    writeFileSync(join(world.repository, path), text);
    const refused = await world.call('run_start', { name, kind: 'agent' });
    expect(refused).toMatchObject({
      error: { code: 'rules-loosened', message: expect.stringMatching(/agents\.\w+\.(?:prompt|script)/) },
    });
    // A worker starts by itself, by what was adopted.
    await world.ask('task_create', { task_id: 'A', title: 'work', phase: 'IMPLEMENTATION' });
    await until(() => existsSync(seen) && readFileSync(seen, 'utf8') !== '', 'the worker has run', 30_000);
    expect(readFileSync(seen, 'utf8')).toContain('Do this.');
    expect(existsSync(join(world.repository, 'ran-else'))).toBe(false);
  });

  it.skipIf(!bubblewrap.works)('a prompt that is changed in a sandbox names no variable of the daemon', async () => {
    world.write('[agents.told]\nrun = "cat > /dev/null"\nprompt_file = "told.md"\n');
    writeFileSync(join(world.repository, 'told.md'), 'Do this.');
    await world.start({ SECRET: 'hunter2' });
    writeFileSync(join(world.repository, 'told.md'), 'Do this with ${env.SECRET}.');
    const { id } = await world.ask<{ id: string }>('run_start', { name: 'told', kind: 'agent' });
    await until(async () => (await world.agent(id)).status === 'failed', 'it is refused');
    expect((await world.agent(id)).reason).toContain('env_pass');
  });
});
