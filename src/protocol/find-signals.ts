import { parseExitSignal } from './exit-signal.ts';
import type { ExitSignal } from './exit-signal-shape.ts';
import { EXIT_PROTOCOL } from './exit-signal-shape.ts';
import { PROTOCOL_LIMITS } from './limits.ts';
import type { Node } from './text/node.ts';
import type { Problem } from './shape/problem.ts';
import { parseJsonTree } from './text/json.ts';
import { createObjectScanner } from './text/scan-objects.ts';
import { utf8Length } from './text/utf8.ts';

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
