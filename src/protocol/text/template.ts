import { didYouMean } from '../shape/problem.ts';

/** `${var.title}`, `${task.id}`, `${env.HOME:-/root}`; `$${` is a plain `${`. Values are not expanded again. */
export type TemplatePart = { readonly kind: 'text'; readonly text: string } | Slot;

export interface Slot {
  readonly kind: 'slot';
  readonly name: SlotName;
  readonly fallback: string | null;
  /** The slot as it was written; `at` is its offset. */
  readonly source: string;
  readonly at: number;
}

type SlotName =
  | { readonly of: 'var'; readonly name: string }
  | { readonly of: 'task'; readonly name: TaskField }
  | { readonly of: 'env'; readonly name: string }
  | { readonly of: 'step' }
  | { readonly of: 'output'; readonly step: string }
  | { readonly of: 'exit_code'; readonly step: string };

export const TASK_FIELDS = [
  'id',
  'n',
  'title',
  'slug',
  'phase',
  'role',
  'priority',
  'branch',
  'prompt_file',
  'epic_id',
  'prd_id',
  /** The most urgent part of the context packet, in Markdown. */
  'context',
] as const;
export type TaskField = (typeof TASK_FIELDS)[number];

export interface TemplateFault {
  readonly what: string;
  readonly hint: string;
  /** The wrong part of the text; `at` is its offset. */
  readonly source: string;
  readonly at: number;
}

export interface Template {
  readonly parts: readonly TemplatePart[];
  readonly faults: readonly TemplateFault[];
}

export function parseTemplate(text: string): Template {
  const parts: TemplatePart[] = [];
  const faults: TemplateFault[] = [];
  let plain = '';
  let from = 0;
  for (let at = text.indexOf('${'); at !== -1; at = text.indexOf('${', from)) {
    plain += text.slice(from, at);
    if (text[at - 1] === '$' && at - 1 >= from) {
      plain += '{';
      from = at + 2;
      continue;
    }
    const end = endOfSlot(text, at);
    const source = text.slice(at, end);
    const slot = source.endsWith('}') ? slotOf(source, at) : unclosed(source, at);
    if ('what' in slot) {
      faults.push(slot);
    } else {
      if (plain !== '') parts.push({ kind: 'text', text: plain });
      plain = '';
      parts.push(slot);
    }
    from = end;
  }
  plain += text.slice(from);
  if (plain !== '') parts.push({ kind: 'text', text: plain });
  return { parts, faults };
}

function endOfSlot(text: string, at: number): number {
  const stop = /[}\n]/g;
  stop.lastIndex = at;
  const found = stop.exec(text);
  if (found === null) return text.length;
  return found[0] === '}' ? found.index + 1 : found.index;
}

const FORM = /^\$\{([^:}]*)(?::-([^}]*))?\}$/;

function slotOf(source: string, at: number): Slot | TemplateFault {
  const form = FORM.exec(source);
  if (form === null) return { ...MALFORMED, source, at };
  const [, path = '', fallback] = form;
  const name = nameOf(path);
  if ('what' in name) return { ...name, source, at };
  return { kind: 'slot', name, fallback: fallback ?? null, source, at };
}

const MALFORMED = {
  what: 'not a template',
  hint: 'A template is `${var.NAME}` or `${var.NAME:-default}`; write `$${` for a plain `${`.',
};

function unclosed(source: string, at: number): TemplateFault {
  return { what: 'template without end', hint: 'Close it with `}`; write `$${` for a plain `${`.', source, at };
}

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const SOURCES = ['var', 'task', 'step', 'env'];
type Misnamed = Pick<TemplateFault, 'what' | 'hint'>;

function nameOf(path: string): SlotName | Misnamed {
  const [source = '', name = '', field, ...more] = path.split('.');
  if (!SOURCES.includes(source)) return unknownSource(path, source);
  if (!NAME.test(name) || more.length > 0 || (field !== undefined && source !== 'step')) return MALFORMED;
  switch (source) {
    case 'var':
    case 'env':
      return { of: source, name };
    case 'task':
      return taskFieldOf(name);
    default:
      return stepFieldOf(name, field);
  }
}

function unknownSource(path: string, source: string): Misnamed {
  const meant = didYouMean(source, SOURCES);
  const shell = NAME.test(path) ? ` For the shell's own variable write \`$${path}\` or \`$\${${path}}\`.` : '';
  return {
    what: 'unknown name',
    hint: `${meant ?? 'There are `var`, `task`, `step` and `env`, as in `${var.NAME}`.'}${shell}`,
  };
}

function taskFieldOf(name: string): SlotName | Misnamed {
  const known = TASK_FIELDS.find((field) => field === name);
  if (known !== undefined) return { of: 'task', name: known };
  return {
    what: 'unknown field of a task',
    hint: didYouMean(name, TASK_FIELDS) ?? `There are: ${TASK_FIELDS.join(', ')}.`,
  };
}

function stepFieldOf(step: string, field: string | undefined): SlotName | Misnamed {
  if (field === 'output' || field === 'exit_code') return { of: field, step };
  if (step === 'name' && field === undefined) return { of: 'step' };
  const fields = ['output', 'exit_code'];
  const hint = `There are \`\${step.NAME.output}\`, \`\${step.NAME.exit_code}\` and \`\${step.name}\`.`;
  return { what: 'unknown field of a step', hint: didYouMean(field ?? '', fields) ?? hint };
}
