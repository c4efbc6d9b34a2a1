import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { createStory, OPEN } from './given.cases.ts';
import { publicProjection } from './public-projection.ts';
import * as say from './say.cases.ts';

it('folds entries in a browser, without a module or a global of Node', async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `export * from './state.ts'; export * from './json-form.ts'; export * from './public-projection.ts';`,
      resolveDir: import.meta.dirname,
      loader: 'ts',
    },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    globalName: 'baton',
    logLevel: 'silent',
    legalComments: 'none',
  });
  const source = outputFiles[0]?.text ?? '';
  expect(source).not.toMatch(/["']node:|\brequire\(|__require/);
  const browser = createContext({ TextEncoder, TextDecoder, atob, btoa });
  runInContext(source, browser);
  const story = createStory(OPEN);
  story.say(say.create('A'), say.operator);
  const script = `const state = baton.restoreState({}); for (const entry of ${JSON.stringify(story.entries)}) baton.foldEntry(state, entry); JSON.stringify(baton.publicProjection(state))`;
  expect(JSON.parse(String(runInContext(script, browser)))).toEqual(publicProjection(story.state));
});
