import { describe, expect, it } from 'vitest';
import { type Late, LateCode } from './late-code.ts';

/** A placeholder for the script. */
const LATE = {} as Late; // oxlint-disable-line typescript/no-unsafe-type-assertion

function scene(answers: readonly (Late | undefined)[]) {
  let asked = 0;
  const code = new LateCode(async () => {
    const answer = answers[asked];
    asked += 1;
    if (answer === undefined) throw new TypeError('the script cannot be loaded');
    return answer;
  });
  return { code, asked: () => asked };
}

describe('the code that is loaded late', () => {
  it('is not loaded on demand: another program on the port could send its own script', async () => {
    const { code, asked } = scene([LATE]);
    const needed = code.loaded;
    expect(asked()).toBe(0);
    await code.load();
    expect(await needed).toBe(LATE);
  });

  it('is requested once, and again only if that failed', async () => {
    const { code, asked } = scene([undefined, LATE]);
    await code.load();
    await code.load();
    await code.load();
    expect(asked()).toBe(2);
    expect(await code.loaded).toBe(LATE);
  });
});
