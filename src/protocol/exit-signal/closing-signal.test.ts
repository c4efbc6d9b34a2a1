import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findClosingSignal } from './find-signals.ts';

const signal = {
  protocol: 'apm2_agent_exit',
  version: '1.0.0',
  phase_completed: 'IMPLEMENTATION',
  exit_reason: 'completed',
};
const other = { ...signal, exit_reason: 'blocked' };
const line = JSON.stringify(signal);
const pretty = JSON.stringify(signal, null, 2);
const found = { kind: 'signal', signal };
const fenced = (text: string, fence = '```', info = 'json'): string => `${fence}${info}\n${text}\n${fence}`;

describe('a signal that ends the message counts', () => {
  it.each([
    ['on one line', line],
    ['over several lines', pretty],
    ['after prose on the same line', `I am done: ${line}`],
    ['after prose and an empty line', `Done.\n\n${pretty}`],
    ['before white space', `${line} \n\t\r\n`],
    ['in a code fence', `Done.\n\n${fenced(pretty)}\n`],
    ['in a fence without a language', fenced(line, '```', '')],
    ['in a fence of tildes', fenced(line, '~~~')],
    ['in a fence on one line', `\`\`\`json ${line} \`\`\``],
    ['in a fence that is never closed', `\`\`\`json\n${pretty}`],
    ['in a list', `- tests pass\n- ${line}`],
    ['after an example of another one', `An example:\n${fenced(JSON.stringify(other))}\nAnd now:\n${line}`],
    ['after an object that is never closed', `{"a": [ ${line}`],
    ['after a quotation', `> ${JSON.stringify(other)}\n\n${line}`],
    ['with Windows line ends', `Done.\r\n\r\n${fenced(pretty).replaceAll('\n', '\r\n')}\r\n`],
  ])('%s', (_, message) => {
    expect(findClosingSignal(message)).toEqual(found);
  });

  it('reports a problem if the signal is not valid', () => {
    expect(findClosingSignal(`Done.\n${line.replace('1.0.0', '2.0.0')}`)).toMatchObject({
      kind: 'invalid',
      problem: { message: "unsupported version: expected '1.x', got '2.0.0'" },
    });
  });
});

describe('a quoted example does not count', () => {
  it.each([
    ['between prose', `Print ${line} when you are done.`],
    ['before prose on the next line', `${line}\nThat is how it ends.`],
    ['before a full stop', `End with ${line}.`],
    ['in a fence, before prose', `${fenced(pretty)}\nI go on with the tests now.`],
    ['in inline code', `The format is \`${line}\``],
    ['in inline code, before a full stop', `The format is \`${line}\`.`],
    ['in a block quotation', `The manual says:\n\n> ${line}`],
    ['in a nested block quotation', `> > ${line}`],
    ['in a list in brackets', `[${line}]`],
    ['at the end of a fenced document', fenced(`# How to exit\n\nPrint this:\n${line}`, '```', 'markdown')],
    ['in a fence inside a longer fence', fenced(fenced(line), '````', 'markdown')],
    ['in a fence of another kind than the one that closes', `~~~\n${line}\n\`\`\``],
    ['before an empty code block', `${line}\n\`\`\`\n\`\`\``],
    ['before an object that is something else', `${line}\n{"files": 3}`],
    ['before a signal that is cut off', `${line}\n${pretty.slice(0, -2)}`],
    ['in quotation marks', `Print "${line}"`],
  ])('%s', (_, message) => {
    expect(findClosingSignal(message)).toEqual({ kind: 'early' });
  });

  it.each([
    ['inside a larger object', `{"example": ${line}}`],
    ['as a text inside an object', JSON.stringify({ text: line })],
    ['as a name only', 'The protocol is apm2_agent_exit.'],
    ['nowhere', 'Done.'],
  ])('is not reported to the agent: %s', (_, message) => {
    expect(findClosingSignal(message)).toEqual({ kind: 'none' });
  });

  it('does not count if visible text follows it', () => {
    const more = fc.string({ unit: 'grapheme' }).filter((text) => !/^\s*(?:`{3,}|~{3,})?\s*$/.test(text));
    fc.assert(
      fc.property(more, (text) => {
        expect(findClosingSignal(`${line}${text}`).kind).not.toBe('signal');
      }),
    );
  });
});

it('reads only the end of a long message', () => {
  expect(findClosingSignal(`${'{"a":'.repeat(2_000_000)}\n${line}`)).toEqual(found);
  expect(findClosingSignal(`${line}${' x'.repeat(1_000_000)}`)).toEqual({ kind: 'none' });
});
