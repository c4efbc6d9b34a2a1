import { EXIT_REASONS, PHASES } from '../../protocol/phase.ts';
import { AGENT_ERRORS } from '../../protocol/run-plan.ts';
import { checkShape } from '../../protocol/shape/check-shape.ts';
import { type Finding, problemAt } from '../../protocol/shape/finding.ts';
import { accepted, didYouMean, type Parsed, problem, refused, textPositionAt } from '../../protocol/shape/problem.ts';
import type { Shape, ValueOf } from '../../protocol/shape/shape.ts';
import type { Node, ObjectNode } from '../../protocol/text/node.ts';
import { parseJsonOrYaml } from '../../protocol/text/yaml.ts';

/** The steps of a scripted agent, as shapes: the fields of each step, and a sentence for people. */
export const STEPS = {
  say: { kind: 'text', about: 'Text of the agent itself; an exit signal in it counts.' },
  run: { kind: 'text', about: 'A command for the shell, as a tool call.' },
  write: {
    kind: 'object',
    about: 'Writes a file, as a tool call.',
    fields: {
      path: { kind: 'text', notEmpty: true, about: "Relative to the agent's working directory." },
      text: { kind: 'text', about: 'The whole content.' },
    },
  },
  read: { kind: 'text', notEmpty: true, about: 'Reads a file, as a tool call.' },
  commit: { kind: 'text', notEmpty: true, about: 'Commits everything with this message, as a tool call.' },
  signal: {
    kind: 'object',
    about: '`baton emit agent:signal`: complete, escalate or continue, alone or as `kind` with a `message`.',
    fields: {
      kind: { kind: 'choice', values: ['complete', 'escalate', 'continue'] },
      message: { kind: 'text', optional: true },
    },
  },
  exit: {
    kind: 'object',
    about: '`baton emit exit`: the phase that is completed, alone or with `reason`, `notes`, `pr_url`, `evidence`.',
    fields: {
      phase: { kind: 'choice', values: PHASES },
      reason: { kind: 'choice', values: EXIT_REASONS, optional: true },
      notes: { kind: 'text', optional: true },
      pr_url: { kind: 'text', optional: true },
      evidence: { kind: 'text', optional: true },
    },
  },
  handoff: { kind: 'text', notEmpty: true, about: '`baton handoff send FILE`.' },
  thought: { kind: 'text', notEmpty: true, about: '`baton thought record FILE`.' },
  result: { kind: 'text', notEmpty: true, about: '`baton result submit FILE`.' },
  use: {
    kind: 'object',
    about: 'Reports this usage of tokens; `cost` in dollars.',
    fields: {
      input: { kind: 'number', min: 0, whole: true, optional: true },
      output: { kind: 'number', min: 0, whole: true, optional: true },
      cached: { kind: 'number', min: 0, whole: true, optional: true },
      cost: {
        kind: 'text',
        optional: true,
        pattern: '^\\$?[0-9]+(\\.[0-9]{1,5})?$',
        expected: 'dollars such as $0.25',
      },
    },
  },
  plan: {
    kind: 'list',
    about: 'Shows a plan: texts, or `content` with a `status` and a `priority`.',
    of: {
      kind: 'either',
      expected: 'a text, or content with a status and a priority',
      options: [
        { kind: 'text', notEmpty: true },
        {
          kind: 'object',
          fields: {
            content: { kind: 'text', notEmpty: true },
            status: { kind: 'choice', values: ['pending', 'in_progress', 'completed'], optional: true },
            priority: { kind: 'choice', values: ['high', 'medium', 'low'], optional: true },
          },
        },
      ],
    },
  },
  mode: { kind: 'text', notEmpty: true, about: 'Changes to this mode, such as `plan`.' },
  ask: { kind: 'text', about: 'Shows a permission prompt, and waits for the answer.' },
  error: {
    kind: 'object',
    about: 'The turn ends with an API error: a kind, alone or with a `message` and a `reset_at`.',
    fields: {
      kind: { kind: 'choice', values: AGENT_ERRORS },
      message: { kind: 'text', optional: true },
      reset_at: { kind: 'text', format: 'iso-8601', optional: true },
    },
  },
  crash: {
    kind: 'number',
    min: 0,
    max: 255,
    whole: true,
    about: 'Ends at once, with this exit code; alone, with SIGKILL.',
  },
  print: { kind: 'text', about: 'Prints this unchanged, whatever the output format is.' },
  flood: { kind: 'number', min: 1, whole: true, about: 'Prints this many bytes.' },
  fork: {
    kind: 'object',
    about: 'Leaves a command running: alone, or as `run` with `setsid: true` for one that leaves the process group.',
    fields: { run: { kind: 'text', notEmpty: true }, setsid: { kind: 'flag', optional: true } },
  },
  ignore: { kind: 'choice', values: ['SIGTERM', 'SIGINT', 'SIGHUP'], about: 'Ignores this signal from now on.' },
} as const satisfies Readonly<Record<string, Shape>>;

export const STEPS_WITHOUT_INPUT = ['stop', 'wait', 'hang', 'crash'] as const;

/** The field that a plain text stands for. */
const SHORTHAND_FIELDS: Readonly<Record<string, string>> = {
  signal: 'kind',
  exit: 'phase',
  error: 'kind',
  fork: 'run',
  use: 'input',
};

type Bare = (typeof STEPS_WITHOUT_INPUT)[number];

export type ScriptStep =
  | {
      readonly [K in keyof typeof STEPS]: { readonly do: K; readonly with: ValueOf<(typeof STEPS)[K]> };
    }[keyof typeof STEPS]
  | { readonly [K in Bare]: { readonly do: K; readonly with?: undefined } }[Bare];

export interface Script {
  readonly steps: readonly ScriptStep[];
  /** Played after each blocked stop, before the next attempt; if absent, the script continues after the stop. */
  readonly onBlock: readonly ScriptStep[] | undefined;
  /** Played for each message after the last step. */
  readonly onMessage: readonly ScriptStep[];
}

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
  // A plain list is the steps.
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
    if (value.kind === 'list')
      return value.items.flatMap((item, index) => readStep(`${name}[${index}]`, item, findings) ?? []);
    findings.push(invalid(name, value.at, `${name} must be a list of steps`, HINT));
    return undefined;
  };
  const steps = part('steps');
  if (steps === undefined && findings.length === 0)
    findings.push(invalid('steps', node.at, 'The script has no steps', HINT));
  return { steps: steps ?? [], onBlock: part('on_block'), onMessage: part('on_message') ?? [] };
}

const HINT = 'Write a list, one step a line: `- say: Hello`.';

function readStep(path: string, node: Node, findings: Finding[]): ScriptStep | undefined {
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
): ScriptStep {
  const fields = new Map(given === undefined ? [] : [[name, { at: given.at, value: expand(name, given) }]]);
  const whole: ObjectNode = { kind: 'object', at: node.at, end: node.at, fields };
  const checked = checkShape({ kind: 'object', fields: { [name]: STEPS[name] } }, whole, 'Step');
  const { about } = STEPS[name];
  for (const finding of checked.findings) {
    // Scripts have no published schema: the hint is the step's own description.
    const hint = finding.hint.includes('baton schema') ? about : finding.hint;
    findings.push({ ...finding, path: `${path}.${finding.path}`, hint });
  }
  // The shape has checked it; if the check failed, the value is not used.
  const value = (checked.value as Record<string, never> | undefined)?.[name]; // oxlint-disable-line typescript/no-unsafe-type-assertion
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

function invalid(path: string, at: number, message: string, hint: string): Finding {
  return { code: 'invalid-script', message, path, at, hint };
}
