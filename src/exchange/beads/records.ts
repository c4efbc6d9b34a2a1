import type { ObjectNode } from '../../protocol/node.ts';
import type { Findings } from '../found.ts';
import { objectsIn, readJsonAt } from '../json.ts';

export interface BeadsRecord {
  readonly node: ObjectNode;
  /** Where the text begins that the offsets in the node count from. */
  readonly at: number;
}

export function readRecords(findings: Findings): BeadsRecord[] {
  const { text } = findings;
  if (!/^\s*\[/.test(text)) return linesOf(text).flatMap((line) => readLine(line, findings));
  const list = readJsonAt(text, 0, findings);
  const items = list?.kind === 'list' ? objectsIn(list, 'an issue', findings) : [];
  return items.map((node) => ({ node, at: 0 }));
}

export interface Line {
  readonly text: string;
  readonly at: number;
}

/** The lines, without what ends them. */
export function linesOf(text: string): Line[] {
  let at = 0;
  return text.split('\n').map((line) => {
    const found = { text: line.endsWith('\r') ? line.slice(0, -1) : line, at };
    at += line.length + 1;
    return found;
  });
}

function readLine({ text, at }: Line, findings: Findings): BeadsRecord[] {
  if (text.trim() === '') return [];
  const node = readJsonAt(text, at, findings);
  if (node === undefined) return [];
  if (node.kind === 'object') return [{ node, at }];
  findings.problem('import/not-a-task', 'a line that is not an object', at, 'See what is understood: docs/import.md');
  return [];
}
