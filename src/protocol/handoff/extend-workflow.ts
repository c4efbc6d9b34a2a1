import { accepted, refused, type Parsed, type Problem } from '../shape/problem.ts';
import { quote } from '../shape/quote.ts';
import { didYouMean } from '../shape/suggest.ts';
import { badDeclaration, checkDeclaredElements } from './check-declared-element.ts';
import { declarationMessage } from './declaration-shape.ts';
import type { Edge, Role } from './edge.ts';

/** All roles and edges there are: the built-in ones and what a runbook says about them. */
export interface Workflow {
  readonly roles: readonly Role[];
  readonly edges: readonly Edge[];
}

/**
 * A declaration comes from a file that a person wrote, so it is checked as strictly as a message. What can only be meant in
 * one way may be left out: the next role is the receiver's.
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

/** Takes built-in edges away, so that nobody can walk around an added role. */
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
