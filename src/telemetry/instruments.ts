/** Each metric of Baton. OpenTelemetry uses the name unchanged; `prometheusName` derives the Prometheus name. */
export const INSTRUMENTS = {
  'baton.handoff.latency': {
    kind: 'histogram',
    unit: 's',
    labels: ['project', 'role'],
    buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 1800, 3600],
    about: 'Time from when a handoff makes a task claimable until the next session claims it',
  },
  'baton.claims': { kind: 'counter', unit: '{claim}', labels: ['project', 'role'], about: 'Claims of tasks' },
  'baton.claims.ended': {
    kind: 'counter',
    unit: '{claim}',
    labels: ['project', 'role', 'outcome'],
    about: 'Claims that ended, by how they ended',
  },
  'baton.stops.blocked': {
    kind: 'counter',
    unit: '{stop}',
    labels: ['project', 'agent'],
    about: 'Stops of agents that Baton blocked',
  },
  'baton.tasks.blocked': {
    kind: 'counter',
    unit: '{task}',
    labels: ['project', 'cause'],
    about: 'Moves of tasks into the phase BLOCKED, by cause',
  },
  'baton.decisions.opened': {
    kind: 'counter',
    unit: '{decision}',
    labels: ['project', 'source'],
    about: 'Decisions that people were asked for',
  },
  'baton.decisions.closed': {
    kind: 'counter',
    unit: '{decision}',
    labels: ['project', 'source', 'outcome'],
    about: 'Decisions that were resolved or withdrawn',
  },
  'baton.decision.wait': {
    kind: 'histogram',
    unit: 's',
    labels: ['project', 'source'],
    buckets: [1, 10, 60, 300, 900, 3600, 14_400, 86_400],
    about: 'Time from the opening of a decision until its answer took effect',
  },
  'baton.tokens': {
    kind: 'counter',
    unit: '{token}',
    labels: ['project', 'agent', 'kind'],
    about: 'Tokens that agents used, as their clients report them',
  },
  'baton.cost': {
    kind: 'counter',
    unit: '{dollar}',
    labels: ['project', 'agent'],
    about: 'Cost of agents in US dollars, without tokens of unknown price',
  },
  'baton.check.duration': {
    kind: 'histogram',
    unit: 's',
    labels: ['project', 'check', 'outcome'],
    buckets: [0.5, 1, 5, 15, 30, 60, 120, 300, 600, 1800],
    about: 'Time that a required check of a commit took',
  },
  'baton.pipeline.duration': {
    kind: 'histogram',
    unit: 's',
    labels: ['project', 'pipeline', 'outcome'],
    buckets: [1, 5, 15, 60, 300, 900, 3600, 14_400],
    about: 'Time from the start of a pipeline until it finished',
  },
} as const satisfies Record<string, Instrument>;

export type InstrumentName = keyof typeof INSTRUMENTS;

export interface Instrument {
  readonly kind: 'counter' | 'histogram';
  /** A UCUM unit; braces contain the counted noun. */
  readonly unit: string;
  readonly labels: readonly string[];
  /** The upper bounds of a histogram. */
  readonly buckets?: readonly number[];
  readonly about: string;
}

export interface Measurement {
  readonly instrument: InstrumentName;
  readonly value: number;
  /** One value for each label of the instrument. */
  readonly labels: Readonly<Record<string, string>>;
}

export const INSTRUMENT_NAMES = Object.keys(INSTRUMENTS) as InstrumentName[]; // oxlint-disable-line typescript/no-unsafe-type-assertion

export function instrumentOf(name: InstrumentName): Instrument {
  return INSTRUMENTS[name];
}

/**
 * The Prometheus name, as OpenTelemetry's exporters translate it: dots become underscores, the unit follows, and a
 * counter ends with `_total`.
 */
export function prometheusName(name: InstrumentName): string {
  const { kind, unit } = instrumentOf(name);
  const suffix = unit === 's' ? '_seconds' : unit === '{dollar}' ? '_dollars' : '';
  return `${name.replaceAll('.', '_')}${suffix}${kind === 'counter' ? '_total' : ''}`;
}
