import { EXIT_PROTOCOL } from './exit-signal-shape.ts';
import { parseSignalObject, type FoundSignal } from './find-signals.ts';
import { PROTOCOL_LIMITS } from './limits.ts';
import { createObjectScanner } from './text/scan-objects.ts';

/** `early`: there is a signal, but the agent wrote more after it, or quoted it. It does not count, and the agent should learn why. */
export type ClosingSignal = FoundSignal | { readonly kind: 'early' };

/**
 * The exit signal that ends a message. An agent may show the format of a signal in its own words, so a signal counts only as the last thing
 * of the message: white space and the closing fence of a code block that contains nothing else may follow. A signal in inline code, in a
 * block quotation or at the end of a longer fenced document is a quotation.
 */
export function findClosingSignal(message: string): ClosingSignal {
  if (!message.includes(EXIT_PROTOCOL)) return { kind: 'none' };
  const { body, fence } = stripClosingFence(message.trimEnd().slice(-CLOSING_CHARACTERS));
  const objects = objectsIn(body);
  const last = objects.at(-1);
  const isLast = last !== undefined && body.endsWith(last) && standsAlone(body.slice(0, -last.length), fence);
  const closing = isLast ? parseSignalObject(last) : undefined;
  if (closing !== undefined) return closing;
  return objects.some((text) => parseSignalObject(text) !== undefined) ? { kind: 'early' } : { kind: 'none' };
}

/** How much of the end of a message is read: twice the largest signal, so that an object around it is seen too. */
export const CLOSING_CHARACTERS = 2 * PROTOCOL_LIMITS.exitSignalBytes;

interface Body {
  readonly body: string;
  /** The closing fence that followed the body; empty if there was none. */
  readonly fence: string;
}

function stripClosingFence(text: string): Body {
  const fence = /(?:`{3,}|~{3,})$/.exec(text)?.[0] ?? '';
  return { body: fence === '' ? text : text.slice(0, -fence.length).trimEnd(), fence };
}

/** Judges what precedes the object: a closed fence must have opened directly before it, and its line must not be a quotation. */
function standsAlone(before: string, fence: string): boolean {
  const line = before.slice(before.lastIndexOf('\n') + 1);
  if (/^\s*>/.test(line)) return false;
  if (fence === '') return true;
  const opening = /(`{3,}|~{3,})[\w+-]*\s*$/.exec(before);
  return opening?.[1] === fence;
}

function objectsIn(text: string): readonly string[] {
  const objects: string[] = [];
  const scanner = createObjectScanner((object) => {
    if (object.includes(EXIT_PROTOCOL) || text.endsWith(object)) objects.push(object);
  });
  scanner.push(text);
  scanner.end();
  return objects;
}
