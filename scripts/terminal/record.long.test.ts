import { expect, it } from 'vitest';
import { takeFrames } from './frames.ts';
import { record } from './record.ts';
import { SCENES } from './scenes.ts';

it('records what the product prints in a pseudo-terminal', async () => {
  const { tasks: scene } = SCENES;
  if (scene === undefined) throw new Error('there is no scene about tasks');
  const film = takeFrames(await record(scene, { keyMs: 0, thinkMs: 0 }), scene);
  const lines = film.frames.at(-1)?.view.lines.map((line) => line.map(({ char }) => char).join('')) ?? [];
  for (const [typed] of scene.typed) expect(lines).toContainEqual(`$ ${typed}`);
  expect(lines).toContainEqual(expect.stringContaining('Error: task P0.1.1 is claimed by ada'));
  expect(lines).toContainEqual(expect.stringContaining('Error: Writeback required'));
});
