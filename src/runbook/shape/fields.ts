import type {
  EitherShape,
  ListShape,
  MapShape,
  NumberShape,
  ObjectShape,
  Shape,
  TextShape,
} from '../../protocol/shape/shape.ts';

export const NAME_RULE = {
  pattern: '^[A-Za-z][A-Za-z0-9_-]{0,63}$',
  expected: 'a letter, then letters, digits, _ and -, at most 64',
} as const;

export function optional<const S extends Shape>(shape: S, about: string) {
  return { ...shape, optional: true as const, about };
}

export const flagField = { kind: 'flag' } as const satisfies Shape;
export const textField = { kind: 'text', notEmpty: true } as const satisfies TextShape;
export const referenceField = { kind: 'text', notEmpty: true } as const satisfies TextShape;

export const durationField = {
  kind: 'text',
  pattern: '^[1-9][0-9]{0,5}(ms|s|m|h|d)$',
  expected: 'a duration such as 500ms, 10s, 5m, 2h or 1d',
} as const satisfies TextShape;
/** A duration that may be zero. */
export const pauseField = { ...durationField, pattern: '^(0|[1-9][0-9]{0,5})(ms|s|m|h|d)$' } as const;
export const commandField = { kind: 'text', notEmpty: true } as const satisfies TextShape;
export const countField = { kind: 'number', whole: true, min: 1, max: 1_000_000 } as const satisfies NumberShape;

const VARIABLE_NAMES = {
  pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,63}$',
  expected: 'a letter or _, then letters, digits, _ and -, at most 64',
} as const;

export const variablesField = {
  kind: 'either',
  optional: true,
  expected: 'a list of names, or a table of names with their defaults',
  about: 'Variables: a list of required ones, or a table of names with their defaults.',
  options: [
    { kind: 'list', of: { kind: 'text', ...VARIABLE_NAMES } },
    {
      kind: 'map',
      names: VARIABLE_NAMES,
      of: {
        kind: 'either',
        expected: 'a default, or { required = true }',
        about: 'Its default, or `{ required = true }` where it must be given.',
        options: [{ kind: 'text' }, { kind: 'object', fields: { required: { kind: 'flag', only: true } } }],
      },
    },
  ],
} as const satisfies EitherShape;

const givenVariablesField = {
  kind: 'map',
  optional: true,
  names: VARIABLE_NAMES,
  of: { kind: 'text' },
  about: 'Values for the variables of the pipeline; templates are filled in.',
} as const satisfies MapShape;

export const environmentField = {
  kind: 'map',
  optional: true,
  names: {
    pattern: '^(?!BATON_)[A-Za-z_][A-Za-z0-9_]{0,127}$',
    expected: 'letters, digits and _, not beginning with BATON_',
  },
  of: { kind: 'text' },
  about: 'Environment variables for the agent; templates are filled in.',
} as const satisfies MapShape;

/**
 * Variables passed on from the daemon's environment. A prefix needs a letter, because a lone `*` would pass everything.
 */
export const environmentPassField = {
  kind: 'list',
  optional: true,
  max: 100,
  of: {
    kind: 'text',
    pattern: '^(?!BATON_)[A-Za-z_][A-Za-z0-9_]{0,126}\\*?$',
    expected: 'a variable or a prefix such as PREFIX_*, not beginning with BATON_',
  },
  about: 'Variables of the daemon that pass in addition to the default list: names, or prefixes as in "PREFIX_*".',
} as const satisfies ListShape;

export const runnableField = {
  kind: 'either',
  expected: 'a shell command, { agent = "NAME" } or { pipeline = "NAME" }',
  about: 'What to run: a shell command, `{ agent = "NAME" }` or `{ pipeline = "NAME", vars = { … } }`.',
  options: [
    commandField,
    { kind: 'object', mark: 'agent', fields: { agent: { ...referenceField, about: 'The name of an agent.' } } },
    {
      kind: 'object',
      mark: 'pipeline',
      fields: { pipeline: { ...referenceField, about: 'The name of a pipeline.' }, vars: givenVariablesField },
    },
  ],
} as const satisfies EitherShape;

export function definitionsField<const S extends ObjectShape>(of: S, about: string) {
  const { definitions: max } = RUNBOOK_LIMITS;
  return { kind: 'map', optional: true, names: NAME_RULE, max, of, about } as const satisfies Shape;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Converts a checked duration, such as `500ms`, `10s`, `5m`, `2h` or `1d`, to milliseconds. */
export function parseDuration(text: string): number {
  const [, amount, unit = ''] = /^([0-9]+)(ms|s|m|h|d)$/.exec(text) ?? [];
  return Number(amount) * (UNIT_MS[unit] ?? Number.NaN);
}

/** Converts dollars to thousandths of a cent: `$2.50` is 250,000. Computed from digits to avoid rounding. */
export function parseMillicents(text: string): number {
  const [dollars = '0', fraction = ''] = text.replace('$', '').split('.');
  return Number(dollars) * 100_000 + Number(fraction.padEnd(5, '0'));
}

export const RUNBOOK_LIMITS = {
  fileBytes: 256 * 1024,
  /** Files of a project, and their total size. */
  files: 100,
  totalBytes: 1024 * 1024,
  /** The limit of each section: agents, pipelines, commands, workers. */
  definitions: 200,
  steps: 200,
  nesting: 16,
  promptFileBytes: 256 * 1024,
  /** A plan is recorded in one ledger entry, which holds 65,535 bytes. */
  planBytes: 60_000,
} as const;
