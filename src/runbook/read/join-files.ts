import type { Finding } from '../../protocol/shape/finding.ts';
import { quote, textPositionAt } from '../../protocol/shape/problem.ts';
import type { Node, ObjectField, ObjectNode } from '../../protocol/text/node.ts';
import type { RunbookFile, RunbookProblem } from '../runbook.ts';

/** Offsets continue from file to file, so that an offset alone determines file, line and column. */
export interface JoinedFiles {
  readonly node: ObjectNode;
  readonly findings: readonly Finding[];
}

export interface ParsedFile {
  readonly file: RunbookFile;
  readonly base: number;
  readonly node: ObjectNode;
}

export function fileOffsets(files: readonly RunbookFile[]): number[] {
  let next = 0;
  return files.map(({ text }) => {
    const base = next;
    // Plus one, so that the end of a file differs from the start of the next.
    next += text.length + 1;
    return base;
  });
}

export function joinFiles(read: readonly ParsedFile[], files: readonly RunbookFile[]): JoinedFiles {
  const findings: Finding[] = [];
  const sections = new Map<string, ObjectField>();
  for (const { base, node } of read) {
    for (const [name, field] of node.fields) {
      // Every file may name its schema for editors, so `$schema` may occur in each.
      if (name === '$schema') continue;
      addSection(sections, name, moved(field, base), files, findings);
    }
  }
  const end = (read[0]?.base ?? 0) + (read[0]?.node.end ?? 0);
  return { node: { kind: 'object', at: end, end, fields: sections }, findings };
}

/** Adds a section. The definitions of a section may be spread over files; every other field may occur once. */
function addSection(
  sections: Map<string, ObjectField>,
  name: string,
  field: ObjectField,
  files: readonly RunbookFile[],
  findings: Finding[],
): void {
  const known = sections.get(name);
  if (known === undefined) {
    sections.set(name, field);
  } else if (known.value.kind === 'object' && field.value.kind === 'object') {
    const fields = new Map(known.value.fields);
    for (const [inner, value] of field.value.fields) {
      const first = fields.get(inner);
      if (first === undefined) fields.set(inner, value);
      else findings.push(definedTwice(`${name}.${inner}`, first, value, files));
    }
    sections.set(name, { at: known.at, value: { ...known.value, fields } });
  } else {
    findings.push(definedTwice(name, known, field, files));
  }
}

function definedTwice(path: string, first: ObjectField, second: ObjectField, files: readonly RunbookFile[]): Finding {
  const { file, line, column } = positionIn(files, first.at);
  return {
    code: 'runbook/defined-twice',
    message: `${quote(path)} is defined twice: first at ${file}:${line}:${column}`,
    path,
    at: second.at,
    hint: 'Remove one of the two, or give it another name.',
  };
}

function moved(field: ObjectField, by: number): ObjectField {
  return by === 0 ? field : { at: field.at + by, value: movedNode(field.value, by) };
}

function movedNode(node: Node, by: number): Node {
  const at = node.at + by;
  if (node.kind === 'list') return { ...node, at, items: node.items.map((item) => movedNode(item, by)) };
  if (node.kind !== 'object') return { ...node, at };
  const fields = new Map([...node.fields].map(([name, field]) => [name, moved(field, by)] as const));
  return { ...node, at, end: node.end + by, fields };
}

export function positionIn(
  files: readonly RunbookFile[],
  at: number,
): { readonly file: string; readonly line: number; readonly column: number } {
  const bases = fileOffsets(files);
  const index = Math.max(
    0,
    bases.findLastIndex((base) => base <= at),
  );
  const file = files[index];
  return { file: file?.path ?? '', ...textPositionAt(file?.text ?? '', at - (bases[index] ?? 0)) };
}

export function problemOf({ code, message, path, at, hint }: Finding, files: readonly RunbookFile[]): RunbookProblem {
  return { code, message, path, ...positionIn(files, at), hint };
}
