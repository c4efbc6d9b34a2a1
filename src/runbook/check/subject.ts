import type { Finding } from '../../protocol/shape/finding.ts';
import { didYouMean } from '../../protocol/shape/problem.ts';
import type { Node, ObjectField, ObjectNode } from '../../protocol/text/node.ts';
import type { RunbookFile } from '../runbook.ts';
import type { RunbookValue } from '../shape/runbook-shape.ts';

export type Path = readonly (string | number)[];
export const NAMED_SECTIONS = ['agents', 'pipelines', 'commands', 'workers'] as const;
export type NamedSection = (typeof NAMED_SECTIONS)[number];

export class RunbookSubject {
  /** Only definitions with a valid shape. */
  readonly value: RunbookValue;
  readonly findings: Finding[] = [];
  readonly #root: ObjectNode;
  readonly files: readonly RunbookFile[];

  constructor(value: RunbookValue, root: ObjectNode, files: readonly RunbookFile[]) {
    this.value = value;
    this.#root = root;
    this.files = files;
  }

  /** The names in a section, including those of definitions with a wrong shape. */
  names(section: NamedSection): string[] {
    const found = this.#root.fields.get(section)?.value;
    return found?.kind === 'object' ? [...found.fields.keys()] : [];
  }

  /** Reports whether the runbook has this field, of whatever shape. */
  hasField(name: string): boolean {
    return this.#root.fields.has(name);
  }

  /** Whether every definition has a valid shape. Otherwise it is unknown what the invalid ones run. */
  get isWhole(): boolean {
    return NAMED_SECTIONS.every((section) =>
      this.names(section).every((name) => Object.hasOwn(this.value[section] ?? {}, name)),
    );
  }

  report(code: string, path: Path, message: string, hint: string, at = this.placeOf(path)): void {
    this.findings.push({ code, message, path: renderPath(path), at, hint });
  }

  /** Reports a problem at the name of a field instead of its value. */
  reportName(code: string, path: Path, message: string, hint: string): void {
    this.report(code, path, message, hint, this.#find(path).at);
  }

  reportUnknown(code: string, path: Path, message: string, given: string, known: readonly string[]): void {
    const others = known.length === 0 ? 'There are none.' : `There are: ${known.join(', ')}.`;
    this.report(code, path, message, didYouMean(given, known) ?? others);
  }

  /** The offset of the value at a path, or of the nearest parent. */
  placeOf(path: Path): number {
    return this.#find(path).value.at;
  }

  /** The offset of a part of a text, which may be lines below the start of the text. */
  placeInText(path: Path, part: string): number {
    const start = this.placeOf(path);
    let base = 0;
    for (const { text } of this.files) {
      if (start <= base + text.length) {
        const found = text.indexOf(part, start - base);
        return found === -1 ? start : base + found;
      }
      base += text.length + 1;
    }
    return start;
  }

  #find(path: Path): ObjectField {
    let found: ObjectField = { at: this.#root.at, value: this.#root };
    for (const part of path) {
      const next = childOf(found.value, part);
      if (next === undefined) return found;
      found = next;
    }
    return found;
  }
}

function childOf(node: Node, part: string | number): ObjectField | undefined {
  if (node.kind === 'object') return node.fields.get(String(part));
  if (node.kind !== 'list' || typeof part !== 'number') return undefined;
  const item = node.items[part];
  return item === undefined ? undefined : { at: item.at, value: item };
}

export function renderPath(path: Path): string {
  return path.map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i === 0 ? '' : '.'}${part}`)).join('');
}
