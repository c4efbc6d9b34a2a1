import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Answer } from '../../api/answer.ts';
import type { InputOf, OperationName, ResultOf } from '../../api/operations/registry.ts';
import type {
  ApiQuery,
  FromHub,
  HubCall,
  Job,
  JobReport,
  Loaded,
  Query,
  Standing,
  ToHub,
  VerifyHow,
} from '../hub/messages.ts';
import { noAnswerError } from '../hub/no-answer.ts';
import type { StateViews } from '../model/state-views.ts';
import { openHub } from './open-hub.ts';
import { project, takeCode } from './router.ts';

/** The connection's state as the hub last sent it. The status line shows it in every view. */
export const standing: Signal<Standing> = signal({ link: { kind: 'starting' }, projects: [] });

const port = openHub(receive);
let nextId = 1;
const answers = new Map<number, (answer: Answer) => void>();
const jobs = new Map<number, (report: JobReport) => void>();

interface Watched {
  readonly id: number;
  readonly loaded: Signal<Loaded<unknown>>;
  users: number;
}
const watched = new Map<string, Watched>();
const byId = new Map<number, Watched>();

/** The hub sends its state every second. */
const HUB_SILENT_MS = 5000;
let heardAt = Date.now();
setInterval(() => {
  const { link } = standing.peek();
  if (Date.now() - heardAt < HUB_SILENT_MS || link.kind !== 'live') return;
  standing.value = {
    ...standing.peek(),
    link: { kind: 'away', why: 'hung', since: heardAt, shownAt: link.at },
  };
}, 1000);

export function startHub(): void {
  send({ kind: 'hello', ...takeCode() });
  addEventListener('pagehide', () => send({ kind: 'bye' }));
  // A page restored from the browser's cache registers as a tab again.
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    send({ kind: 'hello' });
    for (const [name, { id }] of watched) send({ kind: 'watch', id, query: JSON.parse(name) });
  });
  // `baton web` opens an address with a new code in a browser that may already show the page.
  addEventListener('hashchange', () => {
    const given = takeCode();
    if (given.code !== undefined) send({ kind: 'hello', ...given });
  });
}

function send(message: ToHub): void {
  port.postMessage(message);
}

function receive(message: FromHub): void {
  heardAt = Date.now();
  if (message.kind === 'standing') standing.value = message.standing;
  if (message.kind === 'loaded') {
    const known = byId.get(message.id);
    if (known !== undefined) known.loaded.value = message.loaded;
  }
  if (message.kind === 'answer') {
    answers.get(message.id)?.(message.answer);
    answers.delete(message.id);
  }
  if (message.kind === 'report') {
    jobs.get(message.id)?.(message.report);
    if (message.report.isDone) jobs.delete(message.id);
  }
}

export interface CallOptions {
  /** The project's id, if it is not the one in the address. */
  readonly project?: string;
  /** The idempotency key: a repeat with the same key has no second effect. */
  readonly key?: string;
}

/** Longer than the hub waits for the daemon. */
const HUB_ANSWER_MS = 25_000;

/** Calls an operation once. Never throws: if the daemon does not answer, the error has the code `no-answer`. */
export async function call<N extends OperationName>(
  operation: N,
  input: InputOf<N>,
  options: CallOptions = {},
): Promise<Answer<ResultOf<N>>> {
  const id = (nextId += 1);
  const { project: own = project.peek(), key } = options;
  const asked: HubCall = {
    operation,
    input: Object(input),
    ...(own === undefined ? {} : { project: own }),
    ...(key === undefined ? {} : { key }),
  };
  const answer = await new Promise<Answer>((resolve) => {
    answers.set(id, resolve);
    setTimeout(() => resolve({ ok: false, error: noAnswerError('hung') }), HUB_ANSWER_MS);
    send({ kind: 'call', id, call: asked });
  });
  answers.delete(id);
  return answer as Answer<ResultOf<N>>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the daemon's declared result
}

/** Returns the answer of an operation, and keeps it up to date. If `input` is undefined, it sends no request. */
export function useApi<N extends OperationName>(
  operation: N,
  input: InputOf<N> | undefined,
  options: Pick<ApiQuery, 'on' | 'everyMs'> & { readonly project?: string | null } = {},
): Loaded<ResultOf<N>> {
  const { project: named, ...when } = options;
  const own = named === null ? undefined : (named ?? project.value);
  const isReady = input !== undefined && (own !== undefined || named === null);
  const query: Query | undefined = isReady
    ? { kind: 'api', operation, input: Object(input), ...when, ...(own === undefined ? {} : { project: own }) }
    : undefined;
  return useQuery(query) as Loaded<ResultOf<N>>; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** Returns a view of the state that the hub folds (`model/state-views.ts`). */
export function useStateView<V extends keyof StateViews>(
  view: V,
  params: StateViews[V]['params'] | undefined,
): Loaded<StateViews[V]['result']> {
  const own = project.value;
  const query: Query | undefined =
    own === undefined || params === undefined ? undefined : { kind: 'state', project: own, view, params };
  return useQuery(query) as Loaded<StateViews[V]['result']>; // oxlint-disable-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-assertion
}

export function verifyChain(id: string, how: VerifyHow = 'on'): void {
  send({ kind: 'verify', project: id, how });
}

/** Starts a job in the hub. Returns a function that stops it; no report follows after that. */
export function startJob(job: Job, onReport: (report: JobReport) => void): () => void {
  const id = (nextId += 1);
  jobs.set(id, onReport);
  send({ kind: 'job', id, job });
  return () => {
    if (jobs.delete(id)) send({ kind: 'stop', id });
  };
}

const NOTHING: Loaded<unknown> = {};

function useQuery(query: Query | undefined): Loaded<unknown> {
  const name = query === undefined ? undefined : JSON.stringify(query);
  const found = useMemo(() => (name === undefined ? undefined : findWatched(name)), [name]);
  useEffect(() => (name === undefined ? undefined : hold(name)), [name]);
  return found?.loaded.value ?? NOTHING;
}

function findWatched(name: string): Watched {
  const known = watched.get(name);
  if (known !== undefined) return known;
  const made: Watched = { id: (nextId += 1), loaded: signal<Loaded<unknown>>({}), users: 0 };
  watched.set(name, made);
  byId.set(made.id, made);
  send({ kind: 'watch', id: made.id, query: JSON.parse(name) });
  return made;
}

/** Results are kept this long after their last use, so that going back shows them at once. */
const LINGER_MS = 10_000;

function hold(name: string): () => void {
  const used = findWatched(name);
  used.users += 1;
  return () => {
    used.users -= 1;
    setTimeout(() => {
      if (used.users > 0 || watched.get(name) !== used) return;
      watched.delete(name);
      byId.delete(used.id);
      send({ kind: 'unwatch', id: used.id });
    }, LINGER_MS);
  };
}
