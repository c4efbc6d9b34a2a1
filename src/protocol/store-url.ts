import { accepted, type Parsed, type Problem, problem, refused } from './shape/problem.ts';

export interface StoreUrl {
  readonly url: string;
  readonly host: string;
  readonly database: string;
  /** Whether the operator declared a pooler in between, which keeps one server session per client. */
  readonly hasSessionPooler: boolean;
}

/** Checks the address of a PostgreSQL store. Messages never quote the text, because it may contain a password. */
export function checkStoreUrl(text: string): Parsed<StoreUrl> {
  if (!/^postgres(?:ql)?:\/\//.test(text) || !URL.canParse(text)) return refused(problem('store/bad-url', BAD, FORM));
  const url = new URL(text);
  const host = url.searchParams.get('host') ?? decode(url.hostname);
  const database = decode(url.pathname.slice(1));
  if (host === undefined || database === undefined) return refused(problem('store/bad-url', BAD, FORM));
  if (url.password !== '' || PASSWORDS.some((name) => url.searchParams.has(name))) {
    return refused(problem('store/password-in-url', 'the URL of the store contains a password', ELSEWHERE));
  }
  const pooler = url.searchParams.get('pooler');
  if (pooler !== null && pooler !== 'session') {
    return refused(problem('store/bad-url', 'pooler in the URL of the store must be session', POOLER));
  }
  if (database === '') return refused(problem('store/bad-url', 'the URL of the store names no database', FORM));
  return accepted({ url: text, host, database, hasSessionPooler: pooler === 'session' });
}

/** Returns undefined if the text is not percent-encoded correctly. */
function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

const BAD = 'the store is not the URL of a PostgreSQL database';
const FORM = 'Write it as postgres://USER@HOST:PORT/DATABASE.';
const PASSWORDS = ['password', 'sslpassword'];
const ELSEWHERE =
  'Remove it from the URL. Give it to the daemon in PGPASSWORD, or in the file that PGPASSFILE names (~/.pgpass).';
const POOLER = 'Remove the parameter, or write ?pooler=session for a pooler in session mode.';

/** Returns why the text cannot be a project's store; undefined if it can. */
export function findStoreUrlProblem(text: string): Problem | undefined {
  const checked = checkStoreUrl(text);
  return checked.ok ? undefined : checked.problems[0];
}

/** Renders host, port and database, which identify the store without its password. */
export function renderStoreUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null) return 'postgres://…';
  const socket = url.searchParams.get('host');
  const host = url.host === '' && socket !== null ? socket : (decode(url.host) ?? '…');
  return `postgres://${host}${url.pathname}`;
}

/** A project's name, chosen by people; every host of a fleet uses the same. */
export const PROJECT_NAME = {
  pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
  expected: 'lower-case letters, digits and -, at most 63, the first a letter or a digit',
} as const;
