import { accepted, didYouMean, type Parsed, type Problem, problem, quote, refused } from '../shape/problem.ts';
import { fieldOf, textOf } from '../shape/read-unknown.ts';
import type { Element, Elements, Scalar } from '../shape/shape.ts';
import { declarationMessage, elementMessages } from './declaration-shape.ts';
import type { Edge, Role } from './edges.ts';

export interface Workflow {
  readonly roles: readonly Role[];
  readonly edges: readonly Edge[];
}

/**
 * Adds declared roles and edges. The declaration is checked as strictly as a message, because a person wrote it. `next`
 * defaults to the receiver's role.
 */
export function extendWorkflow(builtIn: Workflow, input: unknown): Parsed<Workflow> {
  const parsed = declarationMessage.parse(input);
  if (!parsed.ok) {
    const [first, ...rest] = parsed.problems;
    return refused(asDeclarationProblem(first), ...rest.map(asDeclarationProblem));
  }
  const { roles: added = [], edges: declared = [], without = [] } = parsed.value;
  const problems: Problem[] = [];
  refuseTakenNames(added, builtIn.roles, problems);
  const roles = [...builtIn.roles, ...added];
  const edges = withoutThese(builtIn.edges, without, problems);
  for (const [i, edge] of declared.entries()) {
    const path = `edges[${i}]`;
    const elements = checkDeclaredElements(edge.elements ?? {}, `${path}.elements`, problems);
    const next = edge.next ?? roles.find((role) => role.agent === edge.to)?.name ?? null;
    const complete = { when: 'declared in a runbook', ...edge, next, elements };
    checkEnds(complete, roles, path, problems);
    if (edges.some((other) => hasSameEnds(other, edge))) {
      const hint = 'List it in `without` to replace the built-in one.';
      problems.push(badDeclaration(path, `Edge is already there: ${edge.from} → ${edge.to}`, hint));
    }
    edges.push(complete);
  }
  const [first, ...rest] = problems;
  return first ? refused(first, ...rest) : accepted({ roles, edges });
}

function asDeclarationProblem({ path, message, hint }: Problem): Problem {
  return { ...badDeclaration('', message, hint), path };
}

function refuseTakenNames(added: readonly Role[], builtIn: readonly Role[], problems: Problem[]): void {
  const taken = new Set(['same', 'orchestrator', ...builtIn.flatMap(({ name, agent }) => [name, agent])]);
  for (const [i, { name, agent }] of added.entries()) {
    for (const word of new Set([name, agent])) {
      const message = `Name is already taken: ${word}`;
      if (taken.has(word)) problems.push(badDeclaration(`roles[${i}]`, message, 'Choose another name.'));
      taken.add(word);
    }
  }
}

interface EdgeEnds {
  readonly from: string;
  readonly to: string | null;
}

function hasSameEnds(a: EdgeEnds, b: EdgeEnds): boolean {
  return a.from === b.from && a.to === b.to;
}

/** Removes built-in edges, so that work cannot bypass an added role. */
function withoutThese(edges: readonly Edge[], without: readonly EdgeEnds[], problems: Problem[]): Edge[] {
  for (const [i, way] of without.entries()) {
    if (edges.some((edge) => hasSameEnds(edge, way))) continue;
    const ways = edges.map(({ from, to }) => `${from} → ${to}`).join(', ');
    const message = `There is no built-in edge ${way.from} → ${way.to}`;
    problems.push(badDeclaration(`without[${i}]`, message, `There are: ${ways}.`));
  }
  return edges.filter((edge) => !without.some((way) => hasSameEnds(edge, way)));
}

function checkEnds(edge: Edge, roles: readonly Role[], path: string, problems: Problem[]): void {
  const agents = roles.map((role) => role.agent);
  const names = roles.map((role) => role.name);
  const check = (field: string, what: string, given: string | null, known: readonly string[]) => {
    if (given === null || known.includes(given)) return;
    const hint = didYouMean(given, known) ?? `Declare it in \`roles\`, or choose one of: ${known.join(', ')}.`;
    problems.push(badDeclaration(`${path}.${field}`, `Unknown ${what}: ${quote(given)}`, hint));
  };
  check('from', 'agent', edge.from, agents);
  check('to', 'agent', edge.to, agents);
  check('next', 'role', edge.next, names);
}

/** The limit on nested groups, far below the depth of a handoff. */
const GROUP_DEPTH = 4;
/** Reserved names. In value form, `kind` distinguishes a handoff from the end of a workflow. */
const RESERVED = ['kind', 'from', 'to', 'data'];
type Declared = Readonly<Record<string, unknown>>;

function checkDeclaredElements(declared: Declared, path: string, problems: Problem[], depth = 1): Elements {
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
  const kind = fieldOf(input, 'kind');
  switch (kind) {
    case 'group': {
      const group = valueOrReport(elementMessages.group.parse(input), path, problems);
      if (!group) return undefined;
      const elements = checkDeclaredElements(group.elements, `${path}.elements`, problems, depth + 1);
      return { ...group, elements };
    }
    case 'list': {
      const list = valueOrReport(elementMessages.list.parse(input), path, problems);
      if (!list) return undefined;
      const { attributes, ...rest } = list;
      return attributes ? { ...rest, attributes: checkAttributes(attributes, `${path}.attributes`, problems) } : rest;
    }
    case 'count':
    case 'flag':
      return valueOrReport<Scalar>(elementMessages[kind].parse(input), path, problems);
    default:
      return checkText(input, path, problems, Object.keys(elementMessages));
  }
}

/** Refuses an attribute called `text`, because an item's value has its text under that name. */
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
  const kind = fieldOf(input, 'kind');
  if (kind === 'text' || kind === 'choice')
    return valueOrReport<Scalar>(elementMessages[kind].parse(input), path, problems);
  const hint = didYouMean(textOf(kind), kinds) ?? 'Write for example {"kind": "text"}.';
  problems.push(badDeclaration(`${path}.kind`, `Field kind must be one of ${kinds.join(', ')}`, hint));
  return undefined;
}

/** Refuses a count of a list or attribute that does not exist, because the count would never refuse a handoff. */
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

function valueOrReport<T>(parsed: Parsed<T>, path: string, problems: Problem[]): T | undefined {
  if (parsed.ok) return parsed.value;
  for (const found of parsed.problems) {
    problems.push(badDeclaration(found.path === '' ? path : `${path}.${found.path}`, found.message, found.hint));
  }
  return undefined;
}

/**
 * The problem of a declaration. All have one code, and the message names the path, because people see it in a runbook.
 */
function badDeclaration(path: string, message: string, hint: string): Problem {
  return { ...problem('handoff/bad-declaration', path === '' ? message : `${path}: ${message}`, hint), path };
}
