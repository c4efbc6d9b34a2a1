import { EXIT_PROTOCOL, type ExitSignal } from './exit-signal-shape.ts';
import { parseExitSignal } from './exit-signal.ts';
import { PROTOCOL_LIMITS } from '../limits.ts';
import type { Problem } from '../shape/problem.ts';
import { parseJsonTree } from '../text/json.ts';
import type { Node } from '../text/node.ts';
import { createObjectScanner } from '../text/scan-objects.ts';
import { utf8Length } from '../text/text-format.ts';

export type FoundSignal =
  | { readonly kind: 'none' }
  | { readonly kind: 'signal'; readonly signal: ExitSignal }
  /** The last object that names the exit protocol is invalid; the agent should learn why. */
  | { readonly kind: 'invalid'; readonly problem: Problem };

export interface SignalFinder {
  push(chunk: string | Uint8Array): void;
  end(): FoundSignal;
}

/**
 * Finds exit signals in an agent's output. Only complete top-level JSON objects count: an object inside another one is
 * part of a document.
 */
export function createSignalFinder(): SignalFinder {
  let last: FoundSignal = { kind: 'none' };
  const scanner = createObjectScanner((text) => {
    last = parseSignalObject(text) ?? last;
  });
  const decoder = new TextDecoder();
  return {
    push(chunk) {
      scanner.push(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }));
    },
    end() {
      scanner.push(decoder.decode());
      scanner.end();
      const found = last;
      last = { kind: 'none' };
      return found;
    },
  };
}

export function findSignal(text: string): FoundSignal {
  const finder = createSignalFinder();
  finder.push(text);
  return finder.end();
}

function parseSignalObject(text: string): FoundSignal | undefined {
  if (utf8Length(text) > PROTOCOL_LIMITS.exitSignalBytes) return undefined;
  const read = parseJsonTree(text);
  const isSignal = read.ok ? namesProtocol(read.node) : mentionsProtocol(text);
  if (!isSignal) return undefined;
  const parsed = parseExitSignal(text);
  if (parsed.ok) return { kind: 'signal', signal: parsed.value };
  const [problem] = parsed.problems;
  return { kind: 'invalid', problem };
}

function namesProtocol(node: Node): boolean {
  const protocol = node.kind === 'object' ? node.fields.get('protocol')?.value : undefined;
  return protocol?.kind === 'text' && protocol.text === EXIT_PROTOCOL;
}

/**
 * Reports whether invalid JSON may be meant as a signal, which then replaces an earlier one. The protocol's name in a
 * nested object does not count.
 */
function mentionsProtocol(text: string): boolean {
  const found = /"protocol"\s*:\s*"apm2_agent_exit"/.exec(text);
  if (found === null) return false;
  const before = text.slice(0, found.index).replaceAll(/"(?:[^"\\]|\\.)*"/g, '');
  return before.split('{').length - before.split('}').length === 1;
}

/**
 * `early`: the agent wrote more text after the signal, or quoted it. The signal does not count, and the agent should
 * learn why.
 */
export type ClosingSignal = FoundSignal | { readonly kind: 'early' };

/**
 * Finds a signal at the end of a message. Only white space and a closing fence may follow it: elsewhere, in inline code
 * or in a quotation, it is an example.
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

/** The length of the message's end that is searched: twice the largest signal, to include an enclosing object. */
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

/**
 * Reports whether the text before the object allows a signal: its fence opens directly before it, and its line is not a
 * quotation.
 */
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
