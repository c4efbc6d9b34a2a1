import type { Node } from '../text/node.ts';
import type { EitherShape, Shape } from './shape.ts';
import { findNearest } from './suggest.ts';

/** The shape that somebody who sent this value had in mind, or, where none fits, what they may have misspelt. */
export function chooseOption({ options }: EitherShape, node: Node): Shape | { readonly hint: string | undefined } {
  const ofKind = options.filter(({ kind }) => KINDS[kind].includes(node.kind));
  const [only, another] = ofKind;
  if (only !== undefined && another === undefined) return only;
  const chosen = ofKind.find((option) => option.kind !== 'object' || isMarked(option.mark, node));
  if (chosen !== undefined) return chosen;
  // Unquoted in YAML, `5` is a text where a text may stand.
  const text = 'plain' in node && node.plain ? options.find(({ kind }) => kind === 'text') : undefined;
  return text ?? { hint: misspelt(ofKind, node) };
}

const KINDS: Record<Shape['kind'], readonly Node['kind'][]> = {
  text: ['text'],
  choice: ['text'],
  number: ['number'],
  flag: ['boolean'],
  list: ['list'],
  object: ['object'],
  map: ['object'],
  either: [],
  any: ['text', 'number', 'boolean', 'list', 'object', 'null'],
};

function isMarked(mark: string | undefined, node: Node): boolean {
  return mark === undefined || (node.kind === 'object' && node.fields.has(mark));
}

function misspelt(options: readonly Shape[], node: Node): string | undefined {
  if (node.kind !== 'object') return undefined;
  const marks = options.flatMap((option) =>
    option.kind === 'object' && option.mark !== undefined ? [option.mark] : [],
  );
  const meant = [...node.fields.keys()].map((name) => findNearest(name, marks)).find((mark) => mark !== undefined);
  return meant === undefined ? undefined : `Did you mean \`${meant}\`?`;
}
