import { describe, expect, it } from 'vitest';
import { HeldToolCalls } from './budget-hold.ts';

describe('a tool call that is held', () => {
  it('goes on when it is let, all that wait at once', async () => {
    const holds = new HeldToolCalls();
    const held = [holds.hold(), holds.hold()];
    expect(holds.release()).toBe(true);
    expect(await Promise.all(held)).toEqual([true, true]);
    expect(holds.release()).toBe(false);
  });

  it('is not made where nobody waits for the agent any more', async () => {
    const holds = new HeldToolCalls();
    const held = holds.hold();
    holds.cancel();
    expect(await held).toBe(false);
  });

  it('ends the turn before the client would give up on its hook, and run the tool', async () => {
    const held = new HeldToolCalls(1).hold();
    // The hold's timer is unref'ed and would not keep the test running.
    const kept = setTimeout(() => {}, 30_000);
    expect(await held).toBe(false);
    clearTimeout(kept);
  });
});
