import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { UsageEvent } from '../../streams/stream-event.ts';
import { UsageMeter } from './usage-meter.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-usage-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const said = (of: UsageEvent['of'], input: number): UsageEvent => {
  return { kind: 'usage', of, usage: { input, output: 1, cacheRead: 2, cacheWrite: 0, costMillicents: null } };
};
const open = (): UsageMeter => new UsageMeter(join(folder, 'usage.json'));

describe('what an agent has used', () => {
  it('adds up over its turns and its processes, and is reported when it has changed', () => {
    const first = open();
    expect(first.takeReport()).toBeUndefined();
    first.setConversation('c1');
    first.setModel('m');
    first.add(said('turn', 10), false);
    first.turnEnded();
    expect(first.takeReport()).toMatchObject({
      input_tokens: 10,
      output_tokens: 1,
      cached_tokens: 2,
      turns: 1,
      model: 'm',
    });
    expect(first.takeReport()).toBeUndefined();
    const second = open();
    second.add(said('turn', 5), false);
    second.turnEnded();
    expect(second.takeReport()).toMatchObject({ conversation_id: 'c1', input_tokens: 15, turns: 2, waiting_tokens: 0 });
  });

  it.runIf(existsSync('/dev/full'))('is reported even on a full disk, and written when there is room', () => {
    const draft = join(folder, 'usage.json.draft');
    symlinkSync('/dev/full', draft);
    const meter = open();
    meter.setConversation('c1');
    meter.add(said('turn', 10), false);
    meter.turnEnded();
    expect(meter.takeReport()).toMatchObject({ input_tokens: 10, turns: 1 });
    rmSync(draft);
    meter.add(said('turn', 5), false);
    meter.turnEnded();
    meter.takeReport();
    expect(open().tokens).toBe(meter.tokens);
  });

  it('of a client that counts whole conversations is not counted twice, and adds up over conversations', () => {
    const meter = open();
    meter.setConversation('c1');
    meter.add(said('conversation', 10), false);
    meter.add(said('conversation', 30), false);
    meter.turnEnded();
    expect(meter.takeReport()).toMatchObject({ input_tokens: 30 });
    const next = open();
    next.setConversation('c2');
    next.add(said('conversation', 7), false);
    next.turnEnded();
    expect(next.takeReport()).toMatchObject({ input_tokens: 37, conversation_id: 'c2' });
  });

  it('in an interrupted turn is that of its messages, or what the record still adds', () => {
    const message = { ...said('message', 10), id: 'm1' };
    const cut = open();
    cut.setConversation('c1');
    cut.add(message, false);
    cut.takeReport();
    expect(cut.countedAt).toBeNull();
    const next = open();
    next.add(said('turn', 5), false);
    next.turnEnded();
    expect(next.takeReport()).toMatchObject({ input_tokens: 15 });
    const told = new UsageMeter(join(folder, 'other.json'));
    told.setConversation('c1');
    told.add(message, false);
    told.takeReport();
    const attended = new UsageMeter(join(folder, 'other.json'), { closes: false });
    attended.add(said('turn', 12), false);
    attended.turnEnded();
    expect(attended.takeReport()).toMatchObject({ input_tokens: 12 });
  });

  it('is reported within a turn, even for a client that names no conversation', () => {
    const meter = open();
    expect(meter.takeReport()).toBeUndefined();
    meter.add(said('turn', 10), false);
    expect(meter.takeReport()).toMatchObject({ conversation_id: null, input_tokens: 10, turns: 0 });
  });

  it('while it waited is counted separately', () => {
    const meter = open();
    meter.add(said('turn', 10), false);
    meter.turnEnded();
    meter.add(said('turn', 20), true);
    expect(meter.takeReport()).toMatchObject({ input_tokens: 30, waiting_tokens: 23 });
  });

  it('in turns without a price is reported separately from turns with one', () => {
    const meter = open();
    const priced = said('turn', 10);
    meter.add({ ...priced, usage: { ...priced.usage, costMillicents: 40 } }, false);
    meter.turnEnded();
    expect(meter.takeReport()).toMatchObject({ cost_millicents: 40, open_input_tokens: 0, unpriced_tokens: 0 });
    // A second process, in a user's terminal.
    const next = open();
    next.add(said('turn', 5), false);
    next.turnEnded();
    expect(next.takeReport()).toMatchObject({
      cost_millicents: 40,
      open_input_tokens: 5,
      open_output_tokens: 1,
      open_cached_tokens: 2,
      unpriced_tokens: 8,
    });
    // A turn that was interrupted.
    next.add({ ...said('message', 3), id: 'a' }, false);
    next.takeReport();
    const last = open();
    last.turnEnded();
    expect(last.takeReport()).toMatchObject({ open_input_tokens: 8, unpriced_tokens: 14 });
  });

  it('is what Baton has measured where it injects the key, whatever the client says', () => {
    const earlier = open();
    earlier.add(said('turn', 10), false);
    earlier.turnEnded();
    earlier.takeReport();
    const meter = new UsageMeter(join(folder, 'usage.json'), { isMeasured: true });
    meter.setModel('forged');
    const priced = said('turn', 1);
    meter.add({ ...priced, usage: { ...priced.usage, costMillicents: 1 } }, false);
    meter.addMeasured({ model: 'm', input: 500, output: 40, cached: 3 }, true);
    expect(meter.takeReport()).toMatchObject({
      model: 'm',
      input_tokens: 510,
      output_tokens: 41,
      cached_tokens: 5,
      cost_millicents: null,
      waiting_tokens: 543,
      client_tokens: 17,
      open_input_tokens: 0,
      unpriced_tokens: 0,
    });
    // Without the key the client's count goes on from there.
    const later = open();
    later.add(said('turn', 100), false);
    expect(later.takeReport()).toMatchObject({ input_tokens: 610, output_tokens: 42, cached_tokens: 7 });
  });

  it('includes what measured requests in progress may use, also before the first has ended', () => {
    const meter = new UsageMeter(join(folder, 'usage.json'), { isMeasured: true });
    expect(meter.takeReport()).toBeUndefined();
    meter.setReserved({ input: 7, output: 1000 });
    expect(meter.takeReport()).toMatchObject({ reserved_input_tokens: 7, reserved_output_tokens: 1000 });
    meter.setReserved({ input: 0, output: 0 });
    meter.addMeasured({ model: null, input: 1, output: 1, cached: 0 }, false);
    expect(meter.takeReport()).toMatchObject({ reserved_output_tokens: 0, input_tokens: 1 });
  });
});
