import { isBatonVariable } from '../environment.ts';
import { PROTOCOL_LIMITS } from '../limits.ts';
import { accepted, type Parsed, problem, type Problem, quote, refused } from '../shape/problem.ts';
import { quoteForShell } from './quote-for-shell.ts';
import { type ShellContext, shellContexts } from './shell-context.ts';
import { parseTemplate, type Slot, type TaskField, type Template, type TemplateFault } from './template.ts';
import { utf8Length } from './text-format.ts';

export interface TemplateContext {
  readonly vars?: Readonly<Record<string, string>>;
  /** Null for a run without a task. */
  readonly task?: Readonly<Partial<Record<TaskField, string | number | null>>> | null;
  readonly step?: string | null;
  readonly steps?: Readonly<Record<string, { readonly output?: string | null; readonly exit_code?: number | null }>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Fills a template. For the shell, each value becomes a variable in front of the command, so that it cannot end a quote
 * or start a command.
 */
export function renderTemplate(
  text: string,
  context: TemplateContext,
  options: { readonly quote: 'shell' | 'none' },
): Parsed<string> {
  const template = parseTemplate(text);
  const faults = options.quote === 'shell' ? [...template.faults, ...shellFaults(template)] : template.faults;
  const values = new Map<Slot, string>();
  const problems: Problem[] = faults.map(faultProblem);
  for (const slot of slotsOf(template)) {
    const value = valueOf(slot, context);
    if (value === undefined) problems.push(noValue(slot));
    else values.set(slot, value);
  }
  const [first, ...rest] = problems;
  if (first) return refused(first, ...rest);
  return options.quote === 'shell' ? renderForShell(template, values) : renderPlain(template, values);
}

export function slotsOf({ parts }: Template): Slot[] {
  return parts.filter((part) => part.kind === 'slot');
}

export function shellFaults(template: Template): TemplateFault[] {
  const places = shellContexts(template.parts);
  return slotsOf(template).flatMap(({ source, at }, index) => {
    const fault = UNFIT[places[index] ?? 'word'];
    return fault === undefined ? [] : [{ ...fault, source, at }];
  });
}

const UNFIT: Partial<Record<ShellContext, Pick<TemplateFault, 'what' | 'hint'>>> = {
  'single-quotes': {
    what: 'template in single quotes',
    hint: 'The shell expands nothing there: use double quotes, or none.',
  },
  'quoted-here-document': {
    what: 'template in a here-document whose end is quoted',
    hint: 'The shell expands nothing there: remove the quotes around the word after `<<`.',
  },
  arithmetic: {
    what: 'template in an arithmetic expression',
    hint: 'Some shells run commands inside it: assign the value to a variable, check that it is a number, and use the variable.',
  },
  escaped: { what: 'template after a backslash', hint: 'Write `$${` for a plain `${`.' },
};

function valueOf({ name, fallback }: Slot, context: TemplateContext): string | undefined {
  const value = lookUp(name, context);
  const isThere = value !== undefined && value !== null && (value !== '' || fallback === null);
  return isThere ? String(value) : (fallback ?? undefined);
}

function lookUp(name: Slot['name'], { vars = {}, task, step, steps = {}, env = {} }: TemplateContext) {
  switch (name.of) {
    case 'var':
      return own(vars, name.name);
    case 'env':
      return isBatonVariable(name.name) ? undefined : own(env, name.name);
    case 'task':
      return own(task ?? {}, name.name);
    case 'step':
      return step;
    case 'output':
    case 'exit_code':
      return own(steps, name.step)?.[name.of];
  }
}

function own<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function renderPlain(template: Template, values: ReadonlyMap<Slot, string>): Parsed<string> {
  return accepted(template.parts.map((part) => (part.kind === 'text' ? part.text : (values.get(part) ?? ''))).join(''));
}

function renderForShell(template: Template, values: ReadonlyMap<Slot, string>): Parsed<string> {
  const places = shellContexts(template.parts);
  const variables = new Map<string, string>();
  const assignments: string[] = [];
  for (const [{ source }, value] of values) {
    if (variables.has(source)) continue;
    if (value.includes('\0')) return refused(notForShell(source));
    const variable = `baton_${variables.size + 1}`;
    variables.set(source, variable);
    assignments.push(`${variable}=${quoteForShell(value)}\n`);
  }
  let slot = 0;
  const command = template.parts.map((part) => {
    if (part.kind === 'text') return part.text;
    const named = `\${${variables.get(part.source) ?? ''}}`;
    return places[slot++] === 'word' ? `"${named}"` : named;
  });
  const rendered = assignments.join('') + command.join('');
  const bytes = utf8Length(rendered);
  if (bytes > PROTOCOL_LIMITS.shellCommandBytes) return refused(tooLong(bytes));
  return accepted(rendered);
}

function faultProblem({ what, source, hint }: TemplateFault): Problem {
  return problem('invalid-template', `${what}: ${quote(source)}`, hint);
}

const WHERE_FROM: Record<Slot['name']['of'], string> = {
  var: 'Give the variable a value, or a default',
  env: 'Set it in the environment of the daemon, or give a default',
  task: 'Only runs under a claim have a task, and not every field of it is set; or give a default',
  step: 'Only steps of a pipeline have a name; or give a default',
  output: 'That step has not ended yet, or printed nothing; or give a default',
  exit_code: 'That step has not ended yet, or ran no command; or give a default',
};

function noValue({ source, name }: Slot): Problem {
  const hint = `${WHERE_FROM[name.of]}: \`\${…:-default}\`.`;
  return problem('missing-value', `no value for ${quote(source)}`, hint);
}

function notForShell(source: string): Problem {
  const hint = 'A shell cannot hold a NUL character: remove it from the value.';
  return problem('invalid-value', `the value of ${quote(source)} holds a NUL character`, hint);
}

function tooLong(bytes: number): Problem {
  const message = `command too long: ${bytes} bytes with its values > ${PROTOCOL_LIMITS.shellCommandBytes} bytes maximum`;
  return problem('too-large', message, 'Pass long texts in files.');
}
