import { parseAst } from 'vitest/node';

/** A change of one place in a file. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  /** What the change does, in a few words. */
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  readonly from: string;
  readonly to: string;
}

type Change = Pick<Mutant, 'kind' | 'start' | 'end' | 'to'>;

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** Every mutant of a TypeScript file, in the order of the text. Types are left alone: no test can see them. */
export function findMutants(file: string, code: string): readonly Mutant[] {
  const changes: Change[] = [];
  const visit = (node: Node, parent: Node | undefined): void => {
    if (node.type.startsWith('TS') && !RUNTIME_TYPES.has(node.type)) return;
    changes.push(...changesOf(node, parent, code));
    for (const child of childrenOf(node)) visit(child, node);
  };
  visit(parseAst(code, { lang: 'ts' }) as unknown as Node, undefined); // oxlint-disable-line typescript/no-unsafe-type-assertion
  return changes
    .filter(({ start, end, to }) => code.slice(start, end) !== to)
    .toSorted((a, b) => a.start - b.start)
    .map((change) => {
      const line = code.slice(0, change.start).split('\n').length;
      return { file, line, ...change, from: code.slice(change.start, change.end) };
    });
}

export function applyMutant(code: string, { start, end, to }: Pick<Mutant, 'start' | 'end' | 'to'>): string {
  return code.slice(0, start) + to + code.slice(end);
}

/** Expressions inside of these are run. */
const RUNTIME_TYPES: ReadonlySet<string> = new Set([
  'TSAsExpression',
  'TSNonNullExpression',
  'TSSatisfiesExpression',
  'TSInstantiationExpression',
]);

function childrenOf(node: Node): readonly Node[] {
  return Object.entries(node)
    .filter(([field]) => field !== 'typeAnnotation' && field !== 'typeArguments' && field !== 'returnType')
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter(isNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function changesOf(node: Node, parent: Node | undefined, code: string): readonly Change[] {
  const textOf = ({ start, end }: Node): string => code.slice(start, end);
  const change = (kind: string, to: string, at: Node = node): Change => {
    return { kind, start: at.start, end: at.end, to };
  };
  const part = (field: string): Node => node[field] as Node; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const parts = (field: string): readonly Node[] => (node[field] as (Node | null)[]).filter((each) => each !== null); // oxlint-disable-line typescript/no-unsafe-type-assertion
  switch (node.type) {
    case 'IfStatement':
      return [
        change('condition is always false', 'false', part('test')),
        change('condition is always true', 'true', part('test')),
      ];
    case 'ConditionalExpression':
      return [change('other branch', `!(${textOf(part('test'))})`, part('test'))];
    case 'LogicalExpression': {
      const [left, right, operator] = [textOf(part('left')), textOf(part('right')), String(node['operator'])];
      if (operator === '??') return [change('no default', `(${left})`)];
      const swapped = operator === '&&' ? '||' : '&&';
      return [
        change(`${operator} is ${swapped}`, `((${left}) ${swapped} (${right}))`),
        change(`without the left of ${operator}`, `(${right})`),
        change(`without the right of ${operator}`, `(${left})`),
      ];
    }
    case 'BinaryExpression': {
      const operator = String(node['operator']);
      const isText = [part('left'), part('right')].some((each) => isTextNode(each));
      const other = COMPARISONS[operator] ?? (isText ? undefined : SUMS[operator]);
      if (other === undefined) return [];
      return [change(`${operator} is ${other}`, `${textOf(part('left'))} ${other} ${textOf(part('right'))}`)];
    }
    case 'UnaryExpression':
      return node['operator'] === '!' ? [change('no negation', `(${textOf(part('argument'))})`)] : [];
    case 'Literal':
      if (typeof node['value'] === 'boolean') return [change('other constant', String(!node['value']))];
      if (typeof node['value'] === 'number') return [change('number + 1', String(node['value'] + 1))];
      return [];
    case 'ExpressionStatement':
      // A directive, or the whole body of the file.
      return parent?.type === 'Program' ? [] : [change('no statement', ';')];
    case 'ContinueStatement':
    case 'BreakStatement':
      return parent?.type === 'SwitchCase' ? [] : [change('no statement', ';')];
    case 'ArrayExpression': {
      const items = parts('elements');
      return items.length === 0 ? [] : [change('no items', '[]'), ...dropped(items, node, textOf, change)];
    }
    case 'ObjectExpression': {
      const spread = parts('properties').filter(({ type }) => type === 'SpreadElement');
      return spread.map((each) => change('no spread fields', '...{}', each));
    }
    case 'CallExpression':
      return changesOfCall(node, code, change);
    default:
      return [];
  }
}

function changesOfCall(node: Node, code: string, change: (kind: string, to: string, at?: Node) => Change) {
  const callee = node['callee'] as Node; // oxlint-disable-line typescript/no-unsafe-type-assertion
  if (callee.type !== 'MemberExpression') return [];
  const [object, property] = [callee['object'] as Node, callee['property'] as Node]; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const name = code.slice(property.start, property.end);
  const other = METHODS[name];
  if (other !== undefined) return [change(`${name} is ${other}`, other, property)];
  return name === 'filter' ? [change('no filter', code.slice(object.start, object.end))] : [];
}

/** Arrays of two to four items, each without one of them. */
function dropped(
  items: readonly Node[],
  array: Node,
  textOf: (node: Node) => string,
  change: (kind: string, to: string, at?: Node) => Change,
): readonly Change[] {
  if (items.length < 2 || items.length > 4) return [];
  return items.map((item) =>
    change(
      `without ${textOf(item).slice(0, 30)}`,
      `[${items
        .filter((other) => other !== item)
        .map(textOf)
        .join(', ')}]`,
      array,
    ),
  );
}

function isTextNode({ type, value }: Node): boolean {
  return type === 'TemplateLiteral' || (type === 'Literal' && typeof value === 'string');
}

const COMPARISONS: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
};
const SUMS: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*' };
const METHODS: Readonly<Record<string, string>> = { some: 'every', every: 'some' };
