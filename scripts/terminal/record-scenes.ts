import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { takeFrames } from './frames.ts';
import { record } from './record.ts';
import { renderSvg } from './render-svg.ts';
import { SCENES } from './scenes.ts';

/** Records scenes as `terminal-NAME.svg`: the named ones, or all. */
export async function recordScenes(folder: string, names: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const name of names.length === 0 ? Object.keys(SCENES) : names) {
    const scene = SCENES[name];
    if (scene === undefined) throw new Error(`no recording ${name}; there are: ${Object.keys(SCENES).join(', ')}`);
    const film = takeFrames(await record(scene), scene);
    const svg = renderSvg({ ...scene, film });
    const file = `terminal-${name}.svg`;
    writeFileSync(join(folder, file), svg);
    const seconds = Math.round(film.durationMs / 1000);
    process.stdout.write(`${file}: ${seconds} s, ${film.frames.length} frames, ${Math.round(svg.length / 1024)} kB\n`);
  }
}
