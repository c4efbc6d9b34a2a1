import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { probeBubblewrap } from '../../src/sandbox/probe.ts';
import { personalFile } from '../processes/personal.ts';
import { PATIENCE_MS, RunWorld } from '../processes/run-world.ts';
import { type Registries, startRegistries } from './package-registries.ts';

const bubblewrap = await probeBubblewrap();
const unless = bubblewrap.works ? '' : ` (NOT RUN: ${bubblewrap.reason})`;

/** Commands that install from the registry that the project names, each with a command that shows the tool. */
const TOOLS = {
  npm: ['npm --version', 'npm ci --no-audit --no-fund --fetch-retries=0 && ls node_modules/answer'],
  pip: ['python3 -m pip --version', 'PIP_CONFIG_FILE=pip.conf python3 -m pip install --target deps answer==1.0.0'],
  cargo: ['cargo --version', 'cargo fetch && cargo build'],
} as const;

const AGENTS = Object.entries(TOOLS).map(([name, [, command]]) => `[agents.${name}]\nrun = '${command}'\n`);

describe.skipIf(!bubblewrap.works)(`the network dev${unless}`, { timeout: 3 * PATIENCE_MS }, () => {
  let registries: Registries;
  let world: RunWorld;
  beforeAll(async () => {
    registries = await startRegistries();
    const lost = `[agents.lost]\nrun = 'curl -sS https://example.invalid/; curl -sS http://127.0.0.1:9/ || true'\n`;
    world = await RunWorld.open({
      runbook: `sandbox = "bubblewrap"\n${AGENTS.join('')}${lost}`,
      scripts: registries.project,
    });
    prepareHome(world.world.folder);
  }, PATIENCE_MS);
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await registries[Symbol.asyncDispose]();
  });

  const ended = async (name: string) => {
    const shown = await world.gone(await world.run(name));
    return { code: shown.exit?.code, said: readFileSync(shown.log, 'utf8'), shown };
  };

  it('does not reach a registry that only files of the repository name', async () => {
    expect((await ended('npm')).code).not.toBe(0);
  });

  it('names a refused host once, with the line that allows it', async () => {
    const { said, shown } = await ended('lost');
    expect(said.match(/network policy refused example\.invalid.*/g)).toEqual([
      expect.stringContaining('network = { policy = "dev", hosts = ["example.invalid"] }'),
    ]);
    expect(shown).toMatchObject({ sandbox: { network: 'dev' } });
  });

  for (const [name, [probe]] of Object.entries(TOOLS)) {
    const works = spawnSync('/bin/sh', ['-c', probe]).status === 0;
    const missing = works ? '' : ` (NOT RUN: \`${probe}\` does not work here)`;
    it.skipIf(!works)(`installs with ${name} from a registry that the person names${missing}`, async () => {
      const personal = personalFile(world.world.folder);
      const hosts = `[network]\nhosts = ["127.0.0.1:${registries.port}"]\n`;
      if (!readFileSync(personal, 'utf8').includes(hosts)) appendFileSync(personal, hosts);
      const { code, said } = await ended(name);
      expect({ code, said }).toEqual({ code: 0, said: expect.any(String) });
    });
  }
});

/** A home with the toolchains of this machine's user. */
function prepareHome(folder: string): void {
  for (const name of ['.pyenv', '.rustup', '.cargo/bin']) {
    const own = join(homedir(), name);
    if (!existsSync(own) || existsSync(join(folder, name))) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    symlinkSync(own, join(folder, name));
  }
  writeFileSync(join(folder, '.gitconfig'), '[user]\nname = Grace\nemail = grace@example.org\n');
}
