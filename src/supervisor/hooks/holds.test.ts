import { describe, expect, it } from 'vitest';
import { HeldToolCalls } from './budget-hold.ts';

describe('a held tool call', () => {
  it('continues when released, together with all others', async () => {
    const holds = new HeldToolCalls();
    const held = [holds.hold(), holds.hold()];
    expect(holds.release()).toBe(true);
    expect(await Promise.all(held)).toEqual([true, true]);
    expect(holds.release()).toBe(false);
  });

  it('is refused if the agent no longer has an owner', async () => {
    const holds = new HeldToolCalls();
    const held = holds.hold();
    holds.cancel();
    expect(await held).toBe(false);
  });

  it("ends the turn before the client's hook times out and the tool runs", async () => {
    const held = new HeldToolCalls(1).hold();
    // The hold's timer is unref'ed and would not keep the test running.
    const kept = setTimeout(() => {}, 30_000);
    expect(await held).toBe(false);
    clearTimeout(kept);
  });
});
