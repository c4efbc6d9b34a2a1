import type { Standing } from '../protocol/standing.ts';

/** An agent's attempts to stop and the expected answers, whichever program decides. */
export interface StopCase {
  readonly name: string;
  /** The content of `config.json`; undefined if the file is missing. */
  readonly config: string | undefined;
  /** The daemon's view of the agent; undefined if the daemon is away. */
  readonly standing?: Standing;
  /** A call in the outbox under the agent's token. */
  readonly kept?: { readonly operation: string; readonly input: string };
  readonly owes?: readonly string[];
  readonly stops: readonly { readonly input: string; readonly says: 'signal' | 'idle' | 'escalate' | null }[];
  /** What must be recorded afterwards, by the daemon or in the outbox. */
  readonly records?: readonly ('idle' | 'stop')[];
}

/** Beginnings of the block reasons. In a case, `null` allows the stop. */
export const TEXTS = {
  signal: 'You must explicitly signal completion before stopping. Run: baton emit agent:signal --agent ',
  idle: 'Stop hook: on_idle handler invoked. Continue working or signal completion.',
  escalate: 'A human has been notified. Wait for instructions or signal completion.',
} as const;

const FIRST = '{"stop_hook_active":false}';
const AGAIN = '{"stop_hook_active":true}';
const WORKS: Standing = { has_signalled: false, is_owned: true, is_parked: false, missing: [] };

/** Cases that run against the supervisor's server, the command that asks a supervisor, and the command alone. */
export const STOP_CASES: readonly StopCase[] = [
  { name: 'signal blocks', config: '{"on_stop":"signal"}', standing: WORKS, stops: [{ input: FIRST, says: 'signal' }] },
  {
    name: 'the flag of the client guards against loops',
    config: '{"on_stop":"signal"}',
    standing: WORKS,
    stops: [
      { input: FIRST, says: 'signal' },
      { input: AGAIN, says: null },
    ],
  },
  {
    name: 'with attempts only the count does, whatever the flag is',
    config: '{"on_stop":"signal","attempts":2}',
    standing: WORKS,
    stops: [
      { input: AGAIN, says: 'signal' },
      { input: FIRST, says: 'signal' },
      { input: FIRST, says: null },
    ],
  },
  {
    name: 'forever never allows a stop',
    config: '{"on_stop":"signal","attempts":"forever"}',
    standing: WORKS,
    stops: [FIRST, AGAIN, AGAIN, AGAIN].map((input) => ({ input, says: 'signal' }) as const),
  },
  {
    name: 'limits.blocks limits even forever',
    config: '{"on_stop":"signal","attempts":"forever","max_blocks":3,"blocks_before":1}',
    standing: WORKS,
    stops: [
      { input: FIRST, says: 'signal' },
      { input: FIRST, says: 'signal' },
      { input: FIRST, says: null },
    ],
  },
  {
    name: 'each block counts once',
    config: '{"on_stop":"signal","attempts":"forever","max_blocks":5}',
    standing: WORKS,
    stops: [
      ...Array.from({ length: 5 }, () => ({ input: FIRST, says: 'signal' as const })),
      { input: FIRST, says: null },
    ],
  },
  {
    name: 'blocks recorded by the daemon count',
    config: '{"on_stop":"signal","attempts":"forever"}',
    standing: { ...WORKS, blocks: 25 },
    stops: [{ input: FIRST, says: null }],
  },
  {
    name: 'a client with an unreliable flag is blocked once',
    config: '{"on_stop":"signal","ignores_flag":true}',
    standing: WORKS,
    stops: [
      { input: FIRST, says: 'signal' },
      { input: FIRST, says: null },
    ],
  },
  {
    name: 'idle is recorded before the answer',
    config: '{"on_stop":"idle"}',
    standing: WORKS,
    stops: [{ input: FIRST, says: 'idle' }],
    records: ['idle'],
  },
  {
    name: 'idle is kept while the daemon is away',
    config: '{"on_stop":"idle","attempts":3}',
    stops: [
      { input: FIRST, says: 'idle' },
      { input: AGAIN, says: 'idle' },
    ],
    records: ['idle', 'idle'],
  },
  {
    name: 'escalate calls a person, and the next stop is allowed, while the daemon is away too',
    config: '{"on_stop":"escalate","attempts":"forever"}',
    stops: [
      { input: FIRST, says: 'escalate' },
      { input: FIRST, says: null },
    ],
    records: ['stop'],
  },
  {
    name: 'escalate calls a person',
    config: '{"on_stop":"escalate"}',
    standing: WORKS,
    stops: [{ input: FIRST, says: 'escalate' }],
    records: ['stop'],
  },
  {
    name: 'a parked agent may stop',
    config: '{"on_stop":"escalate"}',
    standing: { ...WORKS, is_parked: true },
    stops: [{ input: FIRST, says: null }],
    records: [],
  },
  {
    name: 'an agent that has signalled may stop, whatever the action',
    config: '{"on_stop":"escalate"}',
    standing: { ...WORKS, has_signalled: true },
    stops: [{ input: FIRST, says: null }],
    records: [],
  },
  {
    name: 'an agent without an owner may stop',
    config: '{"on_stop":"idle"}',
    standing: { ...WORKS, is_owned: false },
    stops: [{ input: FIRST, says: null }],
    records: [],
  },
  {
    name: 'a signal in the outbox counts',
    config: '{"on_stop":"signal"}',
    kept: { operation: 'agent_signal', input: '{"kind":"complete"}' },
    stops: [{ input: FIRST, says: null }],
  },
  {
    name: 'an exit signal in the outbox counts too',
    config: '{"on_stop":"signal"}',
    kept: { operation: 'exit_signal', input: '{"protocol":"apm2_agent_exit"}' },
    stops: [{ input: FIRST, says: null }],
  },
  {
    name: 'a continue signal does not count',
    config: '{"on_stop":"signal"}',
    kept: { operation: 'agent_signal', input: '{"kind":"continue"}' },
    stops: [{ input: FIRST, says: 'signal' }],
  },
  { name: 'no config means signal', config: undefined, standing: WORKS, stops: [{ input: FIRST, says: 'signal' }] },
  { name: 'half a config means signal', config: '{"on_st', standing: WORKS, stops: [{ input: FIRST, says: 'signal' }] },
  {
    name: 'an unknown action means signal',
    config: '{"on_stop":"nudge"}',
    standing: WORKS,
    stops: [{ input: FIRST, says: 'signal' }],
  },
  {
    name: 'input that is not JSON has no flag',
    config: '{"on_stop":"signal"}',
    standing: WORKS,
    stops: [{ input: 'stop_hook_active: true', says: 'signal' }],
  },
  { name: 'no input has no flag', config: '{"on_stop":"signal"}', stops: [{ input: '', says: 'signal' }] },
  {
    name: 'a flag of another type does not count',
    config: '{"on_stop":"signal"}',
    stops: [{ input: '{"stop_hook_active":"true"}', says: 'signal' }],
  },
  {
    name: 'the block names what is missing',
    config: '{"on_stop":"signal"}',
    owes: ['an exit signal', 'a result'],
    stops: [{ input: FIRST, says: 'signal' }],
  },
];
