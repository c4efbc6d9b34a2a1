import { checkShape } from '../../protocol/shape/check-shape.ts';
import type { Finding } from '../../protocol/shape/finding.ts';
import { didYouMean } from '../../protocol/shape/problem.ts';
import type { Node, ObjectNode } from '../../protocol/text/node.ts';
import { type Bare, type ScriptStep, SHORTHAND_FIELDS, STEPS, STEPS_WITHOUT_INPUT } from './steps.ts';

/** Reads one step. If it has a mistake, adds it to `findings` and returns undefined. */
export function readStep(path: string, node: Node, findings: Finding[]): ScriptStep | undefined {
  const text = node.kind === 'text' ? node.text : undefined;
  const [name, value, ...more] = node.kind === 'object' ? ([...node.fields].flat() as [string, ObjectField]) : [text]; // oxlint-disable-line typescript/no-unsafe-type-assertion
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
  // The type system cannot follow a spread of names.
  if (isAlone && isBare(name)) return { do: name } as ScriptStep; // oxlint-disable-line typescript/no-unsafe-type-assertion
  if (!isStep(name)) {
    findings.push(invalid(path, value?.value.at ?? node.at, `${name} takes nothing`, `Write only: - ${name}`));
    return undefined;
  }
  return readValue(path, name, value?.value, node, findings);
}

const NAMES: readonly string[] = [...new Set([...Object.keys(STEPS), ...STEPS_WITHOUT_INPUT])];

interface ObjectField {
  readonly at: number;
  readonly value: Node;
}

function readValue(
  path: string,
  name: keyof typeof STEPS,
  given: Node | undefined,
  node: Node,
  findings: Finding[],
): ScriptStep | undefined {
  const fields = new Map(given === undefined ? [] : [[name, { at: given.at, value: expand(name, given) }]]);
  const whole: ObjectNode = { kind: 'object', at: node.at, end: node.at, fields };
  const checked = checkShape({ kind: 'object', fields: { [name]: STEPS[name] } }, whole, 'Step');
  const { about } = STEPS[name];
  for (const finding of checked.findings) {
    // Scripts have no published schema: the hint is the step's own description.
    const hint = finding.hint.includes('baton schema') ? about : finding.hint;
    findings.push({ ...finding, path: `${path}.${finding.path}`, hint });
  }
  if (checked.findings.length > 0) return undefined;
  // The shape has already checked this.
  const value = (checked.value as Record<string, never>)[name]; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return { do: name, with: value } as unknown as ScriptStep; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** `signal: complete` is `signal: { kind: complete }`. */
function expand(name: string, given: Node): Node {
  const field = SHORTHAND_FIELDS[name];
  if (field === undefined || given.kind === 'object' || given.kind === 'list') return given;
  return { kind: 'object', at: given.at, end: given.at, fields: new Map([[field, { at: given.at, value: given }]]) };
}

function isBare(name: string): name is Bare {
  return STEPS_WITHOUT_INPUT.some((bare) => bare === name);
}

function isStep(name: string): name is keyof typeof STEPS {
  return Object.hasOwn(STEPS, name);
}

export function invalid(path: string, at: number, message: string, hint: string): Finding {
  return { code: 'invalid-script', message, path, at, hint };
}
