import { EXIT_PROTOCOL, type ExitSignal } from './exit-signal-shape.ts';
import { parseExitSignal } from './exit-signal.ts';
import { PROTOCOL_LIMITS } from './limits.ts';
import type { Problem } from './shape/problem.ts';
import { parseJsonTree } from './text/json.ts';
import type { Node } from './text/node.ts';
import { createObjectScanner } from './text/scan-objects.ts';
import { utf8Length } from './text/text-format.ts';

/** What an agent's words came to, as far as exit signals go. */
export type FoundSignal =
  | { readonly kind: 'none' }
  | { readonly kind: 'signal'; readonly signal: ExitSignal }
  /** The last thing that called itself an exit signal is not a valid one: its sender should hear why. */
  | { readonly kind: 'invalid'; readonly problem: Problem };

export interface SignalFinder {
  /** Takes the next piece of what the agent says, cut anywhere, as text or as bytes. */
  push(chunk: string | Uint8Array): void;
  /** The turn or the process has ended: only now does the last complete signal count. The next turn begins anew. */
  end(): FoundSignal;
}

/**
 * Finds exit signals in a stream of what an agent says: in one line or many, fenced or between prose. Only whole JSON
 * objects that stand by themselves count; one inside another object is part of a document, not a signal.
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

/** For text that is there as a whole. */
export function findSignal(text: string): FoundSignal {
  const finder = createSignalFinder();
  finder.push(text);
  return finder.end();
}

/** Undefined for most objects in prose: only an object that names the protocol itself, not in some inner part, is a signal. */
export function parseSignalObject(text: string): FoundSignal | undefined {
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
 * The same for an object that is whole but cannot be read, because a field occurs twice, for example. It takes back what was
 * signalled before, so it must be noticed; an example inside a larger object must not be taken for it.
 */
function mentionsProtocol(text: string): boolean {
  const found = /"protocol"\s*:\s*"apm2_agent_exit"/.exec(text);
  if (found === null) return false;
  const before = text.slice(0, found.index).replaceAll(/"(?:[^"\\]|\\.)*"/g, '');
  return before.split('{').length - before.split('}').length === 1;
}

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
