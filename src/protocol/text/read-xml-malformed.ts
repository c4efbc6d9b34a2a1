import type { Unreadable } from './node.ts';
import { quote } from '../shape/quote.ts';

export const MALFORMED_HINT =
  'Close every element, quote every attribute, and write &amp; for & and &lt; for < in text.';

/** Sentences of the parser that deserve a code of their own, since a sender can act on each in another way. */
const NAMED: readonly (readonly [RegExp, string, string])[] = [
  [/^Duplicate attribute/, 'xml/duplicate-attribute', 'Keep one of the two.'],
  [/^Missing end tag for element (\S+)/, 'xml/not-closed', 'Close it with </$1>.'],
  [/^Unclosed/, 'xml/not-closed', MALFORMED_HINT],
  [/^Extra content/, 'xml/more-than-one-root', 'Send one message at a time, with nothing after its end tag.'],
  [/^Root element/, 'xml/no-root', 'Start with <handoff> or <workflow-complete>.'],
];

/** The parser's messages end in an excerpt, which is the sender's text and may be anything: only the first line is kept. */
export function describeMalformation(message: string): Omit<Unreadable, 'at'> {
  const sentence = (message.split('\n')[0] ?? '').replace(/ \(line \d+, column \d+\)$/, '');
  const what = quote(sentence);
  for (const [pattern, code, hint] of NAMED) {
    const found = pattern.exec(sentence);
    if (found) return { code, what, hint: hint.replace('$1', () => quote(found[1] ?? '')) };
  }
  return { code: 'xml/not-well-formed', what, hint: MALFORMED_HINT };
}
