import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { personalFile } from '../../test/processes/personal.ts';
import { RunScene } from './runs.cases.ts';

let world: RunScene;
beforeEach(() => {
  world = new RunScene();
});
afterEach(async () => world.end());

const DONE = `baton emit agent:signal '{\\"kind\\":\\"complete\\"}'`;

it("an edit of the person's own configuration applies to the next start, without a restart of the daemon", async () => {
  const file = personalFile(world.scene.folder);
  writeFileSync(file, '[floor]\nsandbx = "user"\n');
  world.write(`[agents.a]\nrun = "touch ran; ${DONE}"`);
  await world.start();
  const refused = await world.agent(await world.run('a'));
  expect(refused.reason).toContain(`${file}:2:1`);
  expect(existsSync(join(world.repository, 'ran'))).toBe(false);
  writeFileSync(file, '');
  expect(await world.agent(await world.run('a'))).toMatchObject({ status: 'done' });
  expect(existsSync(join(world.repository, 'ran'))).toBe(true);
});
