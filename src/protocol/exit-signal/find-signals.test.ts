import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samples } from '../../../test/lanes.ts';
import { createExitSignal } from './exit-signal-shape.ts';
import { createSignalFinder, findSignal } from './find-signals.ts';
import { PROTOCOL_LIMITS } from '../limits.ts';

const signal = {
  ...JSON.parse(JSON.stringify(createExitSignal('IMPLEMENTATION', 'completed').withNotes('größer 🎉 { "a" }'))),
};
const other = { ...signal, exit_reason: 'blocked' };
const line = JSON.stringify(signal);
const pretty = JSON.stringify(signal, null, 2);
const found = { kind: 'signal', signal };

describe('an exit signal is found', () => {
  it.each([
    ['in one line', line],
    ['over many lines', pretty],
    ['in a fence', `Done.\n\n\`\`\`json\n${pretty}\n\`\`\`\n`],
    ['in a fence without a language', `\`\`\`\n${line}\n\`\`\``],
    ['between prose', `I am done: ${line} and that is all.`],
    ['with Windows line ends', pretty.replaceAll('\n', '\r\n')],
    ['after a brace in prose', `Use { to open a block. ${line}`],
    ['after an unclosed object on the same line', `{"a": 1, ${line}`],
    ['after an unclosed string on the same line', `He wrote {"x ${line}`],
    ['after an unclosed string on the line before', `{"x\n${line}`],
    ['after an object that is never closed', `{"a": {"b": [\n${line}\n`],
    ['after code', `if (a) { b({c: "d"}) } else { ${line} }`],
    ['after an object that is something else', `{"protocol": "http"} ${line}`],
    ['directly after another object', `{}${line}`],
    ['after braces without end', `${'{'.repeat(500)}${line}`],
    ['after an oversized string that never ends', `{"notes":"${'x'.repeat(70_000)}${line}`],
  ])('%s', (_, text) => {
    expect(findSignal(text)).toEqual(found);
  });

  it('wherever the stream is cut, at any byte', () => {
    const bytes = new TextEncoder().encode(`Hällo 🎉 {"x ${pretty} bye`);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const finder = createSignalFinder();
      finder.push(bytes.subarray(0, cut));
      finder.push(bytes.subarray(cut));
      expect(finder.end()).toEqual(found);
    }
  });

  it('in chunks of one byte, after an oversized candidate', () => {
    const finder = createSignalFinder();
    const bytes = new TextEncoder().encode(`{"a":"${'é'.repeat(80_000)}${line}`);
    for (const byte of bytes) finder.push(Uint8Array.of(byte));
    expect(finder.end()).toEqual(found);
  });

  it('as the last of several', () => {
    expect(findSignal(`${line}\n${JSON.stringify(other)}\n`)).toEqual({ kind: 'signal', signal: other });
  });

  it('if it is complete: an unfinished signal after it does not count', () => {
    expect(findSignal(`${line}\n${pretty.slice(0, -3)}`)).toEqual(found);
  });

  it('up to 64 KiB, and not one byte past it', () => {
    const filler = (bytes: number) => `{${' '.repeat(bytes - line.length)}${line.slice(1)}`;
    const size = new TextEncoder().encode(line).length - line.length;
    expect(findSignal(filler(PROTOCOL_LIMITS.exitSignalBytes - size))).toEqual(found);
    expect(findSignal(filler(PROTOCOL_LIMITS.exitSignalBytes + 1))).toEqual({ kind: 'none' });
  });
});

describe('no exit signal', () => {
  it.each([
    ['in an empty stream', ''],
    ['in prose', 'I have completed the IMPLEMENTATION phase.'],
    ['in an object of another protocol', '{"protocol":"other","version":"1.0.0"}'],
    ['in a document that contains one', `{"examples": [${line}], "more": {"signal": ${line}}}`],
    ['in a text that quotes one', JSON.stringify({ text: line })],
    ['in one that is cut off', pretty.slice(0, -1)],
  ])('%s', (_, text) => {
    expect(findSignal(text)).toEqual({ kind: 'none' });
  });

  it('in a document larger than a signal may be', () => {
    expect(findSignal(`{"padding": "${'x'.repeat(100_000)}", "example": ${line}}`)).toEqual({ kind: 'none' });
  });
});

describe('a signal that is not valid', () => {
  it('is reported with its problem', () => {
    const result = findSignal(`Done.\n${JSON.stringify({ ...signal, version: '2.0.0' })}`);
    expect(result).toMatchObject({
      kind: 'invalid',
      problem: { message: "unsupported version: expected '1.x', got '2.0.0'", line: 1 },
    });
  });
});

describe('a later signal that cannot be read', () => {
  const twice = line.replace('"exit_reason":"completed"', '"exit_reason":"blocked","exit_reason":"blocked"');

  it('replaces the earlier signal, and its problem is reported', () => {
    expect(findSignal(`${line}\n${twice}`)).toMatchObject({
      kind: 'invalid',
      problem: { message: expect.stringContaining('duplicate field `exit_reason`') },
    });
  });

  it('is ignored if it is an example in a document', () => {
    expect(findSignal(`${line}\n{"a": 1, "a": 2, "example": ${line}}`)).toEqual(found);
  });
});

describe('in bounded time', () => {
  it('is found after thousands of decoys of every kind', () => {
    const decoys = [
      '{',
      '{"',
      '{"a":',
      '{"a":{"b":[',
      `{"protocol":"${'x'.repeat(50)}`,
      '{"x":"\\',
      '[{',
      '{}',
      '}{',
      '"{"',
    ];
    const text = Array.from({ length: 20_000 }, (_, i) => decoys[i % decoys.length]).join(' ');
    expect(findSignal(text + line)).toEqual(found);
  });

  it.each(['{"a":'.repeat(30), '{"{":"{"', `{"a":"${'{'.repeat(100)}`, '[{"a":[{"a":', '{"a":1,', '{"a":"\\"{', '{'])(
    'is found behind 2 MB of %j, for which a quadratic search would take hours',
    (unit) => {
      expect(findSignal(`${unit.repeat(Math.ceil(2_000_000 / unit.length))}\n${line}`)).toEqual(found);
    },
  );

  it('is found after any text, however the stream is split', () => {
    const noise = fc.array(
      fc.constantFrom('{', '}', '"', '[', ']', ':', ',', '\\', '\n', ' ', 'a', '1', '{"', '{}', 'é'),
    );
    fc.assert(
      fc.property(noise, fc.array(fc.nat(400)), (pieces, cuts) => {
        const text = `${pieces.join('')}\n${line}\n`;
        const finder = createSignalFinder();
        let at = 0;
        for (const cut of cuts.toSorted((a, b) => a - b)) {
          finder.push(text.slice(at, cut));
          at = Math.max(at, cut);
        }
        finder.push(text.slice(at));
        expect(finder.end()).toEqual(found);
      }),
      { numRuns: samples(2_000) },
    );
  });
});

describe('a turn', () => {
  it("does not contain the previous turn's signal", () => {
    const finder = createSignalFinder();
    finder.push(`${line}{"open`);
    expect(finder.end()).toEqual(found);
    expect(finder.end()).toEqual({ kind: 'none' });
    finder.push(line);
    expect(finder.end()).toEqual(found);
  });
});
