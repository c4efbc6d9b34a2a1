import { checkShape } from '../../protocol/shape/check-shape.ts';
import type { Finding } from '../../protocol/shape/finding.ts';
import type { ListNode, Node, ObjectNode } from '../../protocol/text/node.ts';
import { textPositionAt } from '../../protocol/shape/place.ts';
import { accepted, problem, refused, type Parsed, type Problem } from '../../protocol/shape/problem.ts';
import { parseJsonOrYaml } from '../../protocol/text/read-document.ts';
import { didYouMean } from '../../protocol/shape/suggest.ts';
import { STEPS_WITHOUT_INPUT, SHORTHAND_FIELDS, STEPS, type Script, type ScriptStep } from './script.ts';

/** The text of a script, as steps; or everything that is wrong with it, each with its place. */
export function parseScript(text: string): Parsed<Script> {
  const { read } = parseJsonOrYaml(text);
  if (!read.ok) {
    const { what, at, hint } = read.unreadable;
    return refused({ ...problem('invalid-script', what, hint), ...textPositionAt(text, at) });
  }
  const findings: Finding[] = [];
  const script = readScript(read.node, findings);
  const [first, ...rest] = findings.map((finding) => problemAt(finding, text));
  return first === undefined ? accepted(script) : refused(first, ...rest);
}

const PARTS = ['steps', 'on_block', 'on_message'];
const NAMES: readonly string[] = [...new Set([...Object.keys(STEPS), ...STEPS_WITHOUT_INPUT])];

function readScript(node: Node, findings: Finding[]): Script {
  // A list alone is the steps.
  const fields = node.kind === 'object' ? node.fields : new Map([['steps', { at: node.at, value: node }]]);
  for (const [name, { at }] of fields) {
    if (PARTS.includes(name)) continue;
    findings.push(
      invalid(name, at, `Unknown part: ${name}`, didYouMean(name, PARTS) ?? `The parts are: ${PARTS.join(', ')}.`),
    );
  }
  const part = (name: string): readonly ScriptStep[] | undefined => {
    const value = fields.get(name)?.value;
    if (value === undefined || value.kind === 'null') return undefined;
    if (value.kind === 'list') return readSteps(name, value, findings);
    findings.push(invalid(name, value.at, `${name} must be a list of steps`, HINT));
    return undefined;
  };
  const steps = part('steps');
  if (steps === undefined && findings.length === 0)
    findings.push(invalid('steps', node.at, 'The script has no steps', HINT));
  return { steps: steps ?? [], onBlock: part('on_block'), onMessage: part('on_message') ?? [] };
}

const HINT = 'Write a list, one step a line: `- say: Hello`.';

function readSteps(name: string, { items }: ListNode, findings: Finding[]): ScriptStep[] {
  return items.flatMap((item, index) => readStep(`${name}[${index}]`, item, findings) ?? []);
}

function readStep(path: string, node: Node, findings: Finding[]): ScriptStep | undefined {
  const [name, value, ...more] =
    node.kind === 'object' ? ([...node.fields].flat() as [string, ObjectField]) : [textOf(node)]; // oxlint-disable-line typescript/no-unsafe-type-assertion
  if (name === undefined || more.length > 0) {
    findings.push(invalid(path, node.at, 'A step is one thing to do', 'Begin each step with a dash of its own.'));
    return undefined;
  }
  if (!NAMES.includes(name)) {
    const hint = didYouMean(name, NAMES) ?? `The steps are: ${NAMES.join(', ')}.`;
    findings.push(invalid(path, value?.at ?? node.at, `Unknown step: ${name}`, hint));
    return undefined;
  }
  const isAlone = value === undefined || value.value.kind === 'null';
  if (isAlone && isBare(name)) return bare(name);
  if (!isStep(name)) {
    findings.push(invalid(path, value?.value.at ?? node.at, `${name} takes nothing`, `Write only: - ${name}`));
    return undefined;
  }
  return readValue(path, name, value?.value, node, findings);
}

interface ObjectField {
  readonly at: number;
  readonly value: Node;
}

/** The step's own shape judges what it is given. */
function readValue(
  path: string,
  name: keyof typeof STEPS,
  given: Node | undefined,
  node: Node,
  findings: Finding[],
): ScriptStep {
  const fields = new Map(given === undefined ? [] : [[name, { at: given.at, value: expand(name, given) }]]);
  const whole: ObjectNode = { kind: 'object', at: node.at, end: node.at, fields };
  const checked = checkShape({ kind: 'object', fields: { [name]: STEPS[name] } }, whole, 'Step');
  const { about } = STEPS[name];
  for (const finding of checked.findings) {
    // A script has no schema to look into; what a step takes is said where it is declared.
    const hint = finding.hint.includes('baton schema') ? about : finding.hint;
    findings.push({ ...finding, path: `${path}.${finding.path}`, hint });
  }
  // The shape has vouched for it; where it has not, nobody looks at the value.
  const value = (checked.value as Record<string, never> | undefined)?.[name]; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return { do: name, with: value } as unknown as ScriptStep; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** `signal: complete` is `signal: { kind: complete }`. */
function expand(name: string, given: Node): Node {
  const field = SHORTHAND_FIELDS[name];
  if (field === undefined || given.kind === 'object' || given.kind === 'list') return given;
  return { kind: 'object', at: given.at, end: given.at, fields: new Map([[field, { at: given.at, value: given }]]) };
}

function textOf(node: Node): string | undefined {
  return node.kind === 'text' ? node.text : undefined;
}

function isBare(name: string): name is (typeof STEPS_WITHOUT_INPUT)[number] {
  return STEPS_WITHOUT_INPUT.some((bare) => bare === name);
}

function bare(name: (typeof STEPS_WITHOUT_INPUT)[number]): ScriptStep {
  // One object for each name, which the type system does not see in a spread of names.
  return { do: name } as ScriptStep; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

function isStep(name: string): name is keyof typeof STEPS {
  return Object.hasOwn(STEPS, name);
}

function invalid(path: string, at: number, message: string, hint: string): Finding {
  return { code: 'invalid-script', message, path, at, hint };
}

function problemAt({ code, message, path, at, hint }: Finding, text: string): Problem {
  return { code, message, path, ...textPositionAt(text, at), hint };
}
