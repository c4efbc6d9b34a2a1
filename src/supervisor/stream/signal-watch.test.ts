import { describe, expect, it } from 'vitest';
import { findSignal } from '../../protocol/exit-signal/find-signals.ts';
import { OutputSignalFinder } from './signal-scanner.ts';

const signal = (reason: string): string =>
  JSON.stringify(
    { protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed: 'REVIEW', exit_reason: reason },
    null,
    2,
  );
const noise = (bytes: number): string => 'a line of { output }\n'.repeat(bytes / 21);

/** The result if the text arrives in pieces of `size`. */
function watch(text: string, size = 1000): ReturnType<OutputSignalFinder['end']> {
  const watched = new OutputSignalFinder();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) watched.push(bytes.subarray(at, at + size));
  return watched.end();
}

describe('the signal finder', () => {
  it.each([
    ['alone', signal('completed')],
    ['in prose', `Done.\n\`\`\`json\n${signal('blocked')}\n\`\`\`\nBye.`],
    ['the last of several', `${signal('blocked')}\n${signal('completed')}`],
    ['inside a document', `{"example": ${signal('completed')}}`],
    ['broken', signal('completed').replace('REVIEW', 'Review')],
    ['only named', 'the protocol is apm2_agent_exit'],
    ['behind noise', `${noise(400_000)}${signal('completed')}`],
    ['before noise', `${signal('completed')}\n${noise(400_000)}`],
    ['taken back behind noise', `${signal('completed')}\n${noise(400_000)}${signal('oops')}`],
    ['with a wide character before it', `${'é'.repeat(70_000)}${signal('completed')}`],
  ])('finds what a full parse finds: %s', (_, text) => {
    const expected = findSignal(text);
    for (const size of [1, 7, 1000, 65_536, 1_000_000]) expect(watch(text, size)).toEqual(expected);
  });

  it('starts again with every turn', () => {
    const watched = new OutputSignalFinder();
    watched.push(Buffer.from(signal('completed').slice(0, 50)));
    expect(watched.end()).toEqual({ kind: 'none' });
    watched.push(Buffer.from(signal('completed').slice(50)));
    expect(watched.end()).toEqual({ kind: 'none' });
    watched.push(Buffer.from(signal('completed')));
    expect(watched.end()).toMatchObject({ kind: 'signal' });
  });
});
