import { type Finding, problemAt } from '../../protocol/shape/finding.ts';
import { accepted, didYouMean, type Parsed, problem, refused, textPositionAt } from '../../protocol/shape/problem.ts';
import type { Node, ObjectNode } from '../../protocol/text/node.ts';
import { parseJsonOrYaml } from '../../protocol/text/yaml.ts';
import { invalid, readStep } from './read-step.ts';
import { needsAcp, type ScriptStep } from './steps.ts';

export interface Script {
  readonly steps: readonly ScriptStep[];
  /** Steps played after each blocked stop, before the next attempt. If absent, the script continues after the stop. */
  readonly onBlock: readonly ScriptStep[] | undefined;
  /** Steps played for each message after the last step. */
  readonly onMessage: readonly ScriptStep[];
  /** Who runs commands and reads and writes files: the agent, or the ACP client. */
  readonly tools: 'own' | 'client';
  /** Whether tool calls ask the ACP client for permission. */
  readonly permissions: 'none' | 'ask';
}

/** `isAcp`: the script is played over ACP. Some steps and options work only there. */
export function parseScript(text: string, { isAcp = false } = {}): Parsed<Script> {
  const { read } = parseJsonOrYaml(text);
  if (!read.ok) {
    const { what, at, hint } = read.unreadable;
    return refused({ ...problem('invalid-script', what, hint), ...textPositionAt(text, at) });
  }
  const findings: Finding[] = [];
  const script = readScript(read.node, isAcp, findings);
  const [first, ...rest] = findings.map((finding) => problemAt(finding, text));
  return first === undefined ? accepted(script) : refused(first, ...rest);
}

const STEP_PARTS = ['steps', 'on_block', 'on_message'] as const;
const OPTIONS = { tools: ['own', 'client'], permissions: ['none', 'ask'] } as const;
const PARTS: readonly string[] = [...STEP_PARTS, ...Object.keys(OPTIONS)];

function readScript(node: Node, isAcp: boolean, findings: Finding[]): Script {
  // A plain list is a script with only steps.
  const fields = node.kind === 'object' ? node.fields : new Map([['steps', { at: node.at, value: node }]]);
  for (const [name, { at }] of fields) {
    if (PARTS.includes(name)) continue;
    const hint = didYouMean(name, PARTS) ?? `The parts are: ${PARTS.join(', ')}.`;
    findings.push(invalid(name, at, `Unknown part: ${name}`, hint));
  }
  const part = (name: string): readonly ScriptStep[] | undefined => {
    const value = fields.get(name)?.value;
    if (value === undefined || value.kind === 'null') return undefined;
    if (value.kind === 'list')
      return value.items.flatMap((item, index) => readPlayable(`${name}[${index}]`, item, isAcp, findings) ?? []);
    findings.push(invalid(name, value.at, `${name} must be a list of steps`, HINT));
    return undefined;
  };
  const steps = part('steps');
  if (steps === undefined && findings.length === 0)
    findings.push(invalid('steps', node.at, 'The script has no steps', HINT));
  return {
    steps: steps ?? [],
    onBlock: part('on_block'),
    onMessage: part('on_message') ?? [],
    tools: readOption('tools', fields, isAcp, findings),
    permissions: readOption('permissions', fields, isAcp, findings),
  };
}

const HINT = 'Write a list, one step a line: `- say: Hello`.';

function readPlayable(path: string, node: Node, isAcp: boolean, findings: Finding[]): ScriptStep | undefined {
  const step = readStep(path, node, findings);
  const what = step === undefined || isAcp ? undefined : needsAcp(step);
  if (what !== undefined) findings.push(onlyAcp(path, node.at, what));
  return step;
}

function readOption<K extends keyof typeof OPTIONS>(
  name: K,
  fields: ObjectNode['fields'],
  isAcp: boolean,
  findings: Finding[],
): (typeof OPTIONS)[K][number] {
  const values: readonly (typeof OPTIONS)[K][number][] = OPTIONS[name];
  const field = fields.get(name);
  if (field === undefined) return OPTIONS[name][0];
  const given = field.value.kind === 'text' ? field.value.text : field.value.kind;
  const known = values.find((value) => value === given);
  if (known === undefined)
    findings.push(invalid(name, field.value.at, `Invalid ${name}: ${given}`, `Write one of: ${values.join(', ')}.`));
  else if (!isAcp) findings.push(onlyAcp(name, field.at, name));
  return known ?? OPTIONS[name][0];
}

function onlyAcp(path: string, at: number, what: string): Finding {
  return invalid(path, at, `${what} works only with ACP`, 'Play the script with: baton agent play --acp');
}
