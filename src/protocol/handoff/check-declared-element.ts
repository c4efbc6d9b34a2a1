import { problem, type Parsed, type Problem } from '../shape/problem.ts';
import { quote } from '../shape/quote.ts';
import { didYouMean } from '../shape/suggest.ts';
import { elementMessages } from './declaration-shape.ts';
import type { Element, Elements, Scalar } from './element.ts';

/** Groups in groups: far below the depth of a handoff. */
const GROUP_DEPTH = 4;

/** Names with a meaning of their own. `kind` tells a handoff from the end of a workflow in value form. */
const RESERVED = ['kind', 'from', 'to', 'data'];

type Declared = Readonly<Record<string, unknown>>;

/** The declared elements of an edge or of a group; what is wrong is added to the problems and left out. */
export function checkDeclaredElements(declared: Declared, path: string, problems: Problem[], depth = 1): Elements {
  if (depth > GROUP_DEPTH) {
    problems.push(badDeclaration(path, `Groups are more than ${GROUP_DEPTH} deep`, 'Make them flatter.'));
    return {};
  }
  const elements: [string, Element][] = [];
  for (const [name, input] of Object.entries(declared)) {
    const where = `${path}.${quote(name)}`;
    checkName(name, depth === 1 ? RESERVED : [], where, problems);
    const element = checkElement(input, where, problems, depth);
    if (element) elements.push([name, element]);
  }
  const checked = Object.fromEntries(elements);
  for (const [name, element] of elements) checkCounted(element, checked, `${path}.${name}`, problems);
  return checked;
}

function checkElement(input: unknown, path: string, problems: Problem[], depth: number): Element | undefined {
  switch (kindOf(input)) {
    case 'group': {
      const group = valueOrReport(elementMessages.group.parse(input), path, problems);
      if (!group) return undefined;
      return {
        ...group,
        elements: checkDeclaredElements(group.elements, `${path}.elements`, problems, depth + 1),
      };
    }
    case 'list': {
      const list = valueOrReport(elementMessages.list.parse(input), path, problems);
      if (!list) return undefined;
      const { attributes, ...rest } = list;
      if (!attributes) return rest;
      return { ...rest, attributes: checkAttributes(attributes, `${path}.attributes`, problems) };
    }
    case 'count':
      return valueOrReport(elementMessages.count.parse(input), path, problems);
    case 'flag':
      return valueOrReport(elementMessages.flag.parse(input), path, problems);
    default:
      return checkText(input, path, problems, Object.keys(elementMessages));
  }
}

/** An item's own text is called `text` beside its attributes, so no attribute can be. */
function checkAttributes(declared: Declared, path: string, problems: Problem[]): Record<string, Scalar> {
  const attributes: [string, Scalar][] = [];
  for (const [name, input] of Object.entries(declared)) {
    const where = `${path}.${quote(name)}`;
    checkName(name, ['text'], where, problems);
    const attribute = checkText(input, where, problems, ['text', 'choice']);
    if (attribute) attributes.push([name, attribute]);
  }
  return Object.fromEntries(attributes);
}

function checkText(input: unknown, path: string, problems: Problem[], kinds: readonly string[]): Scalar | undefined {
  const kind = kindOf(input);
  if (kind === 'text') return valueOrReport(elementMessages.text.parse(input), path, problems);
  if (kind === 'choice') return valueOrReport(elementMessages.choice.parse(input), path, problems);
  const hint = didYouMean(typeof kind === 'string' ? kind : '', kinds) ?? 'Write for example {"kind": "text"}.';
  problems.push(badDeclaration(`${path}.kind`, `Field kind must be one of ${kinds.join(', ')}`, hint));
  return undefined;
}

/** A count of something that is not there would never refuse anything. */
function checkCounted(element: Element, elements: Elements, path: string, problems: Problem[]): void {
  if (element.kind !== 'count' || !element.counts) return;
  const { list, attribute } = element.counts;
  const counted = Object.hasOwn(elements, list) ? elements[list] : undefined;
  if (counted?.kind === 'list' && Object.hasOwn(counted.attributes ?? {}, attribute)) return;
  const message = `There is no list ${quote(list)} with the attribute ${quote(attribute)} to count`;
  problems.push(badDeclaration(`${path}.counts`, message, 'Name a list beside it and one of its attributes.'));
}

function checkName(name: string, reserved: readonly string[], path: string, problems: Problem[]): void {
  if (/^[a-z][a-z0-9_]{0,63}$/.test(name) && !reserved.includes(name)) return;
  const message = reserved.includes(name) ? `Name is reserved: ${name}` : `Invalid name: ${quote(name)}`;
  const hint = 'Choose another one, in lower case letters, digits and _, such as risk_level.';
  problems.push(badDeclaration(path, message, hint));
}

function kindOf(input: unknown): unknown {
  return typeof input === 'object' && input !== null && 'kind' in input ? input.kind : undefined;
}

function valueOrReport<T>(parsed: Parsed<T>, path: string, problems: Problem[]): T | undefined {
  if (parsed.ok) return parsed.value;
  for (const found of parsed.problems) {
    problems.push(badDeclaration(found.path === '' ? path : `${path}.${found.path}`, found.message, found.hint));
  }
  return undefined;
}

/** Every problem of a declaration has the same code, and names its place in the sentence: people see it in a runbook. */
export function badDeclaration(path: string, message: string, hint: string): Problem {
  return { ...problem('handoff/bad-declaration', path === '' ? message : `${path}: ${message}`, hint), path };
}
