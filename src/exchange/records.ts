import type { ObjectNode } from '../protocol/text/node.ts';
import type { ImportFindings } from './findings.ts';
import { objectsIn, parseJsonAt } from './json.ts';

export interface BeadsRecord {
  readonly node: ObjectNode;
  /** Where the text begins that the offsets in the node count from. */
  readonly at: number;
}

export function parseRecords(findings: ImportFindings): BeadsRecord[] {
  const { text } = findings;
  if (!/^\s*\[/.test(text)) return splitBeadsLines(text).flatMap((line) => readLine(line, findings));
  const list = parseJsonAt(text, 0, findings);
  const items = list?.kind === 'list' ? objectsIn(list, 'an issue', findings) : [];
  return items.map((node) => ({ node, at: 0 }));
}

export interface Line {
  readonly text: string;
  readonly at: number;
}

/** The lines, without what ends them. */
export function splitBeadsLines(text: string): Line[] {
  let at = 0;
  return text.split('\n').map((line) => {
    const found = { text: line.endsWith('\r') ? line.slice(0, -1) : line, at };
    at += line.length + 1;
    return found;
  });
}

function readLine({ text, at }: Line, findings: ImportFindings): BeadsRecord[] {
  if (text.trim() === '') return [];
  const node = parseJsonAt(text, at, findings);
  if (node === undefined) return [];
  if (node.kind === 'object') return [{ node, at }];
  findings.problem('import/not-a-task', 'a line that is not an object', at, 'See what is understood: docs/import.md');
  return [];
}
