import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { readFileIfPresent } from '../api/files.ts';
import { isEqualSecret } from '../api/http/request.ts';
import { stateFiles } from '../api/state-folder.ts';
import { secretForms } from '../protocol/redact-tokens.ts';
import type { Caller } from '../state/caller.ts';

/** The caller of a token. A session's token names its project; an operator's token works for every project. */
export interface CallerIdentity {
  readonly caller: Caller;
  readonly project?: string;
}

export interface SessionClaim {
  readonly project: string;
  readonly sessionId: string;
  readonly taskId: string;
  readonly epoch: number;
}

export interface RunRef {
  readonly project: string;
  readonly id: string;
}

/**
 * Tokens of the operator, of unnamed workers and for metrics are random and stored in files. All others name their
 * bearer and carry an HMAC.
 */
export class AccessTokens {
  readonly #operator: string;
  readonly #worker: string;
  readonly #metrics: string;
  readonly #secret: KeyObject;
  readonly #operatorIdentity: { readonly caller: Extract<Caller, { kind: 'operator' }> };
  readonly #known = new Map<string, CallerIdentity>();

  constructor(stateDir: string) {
    const { operatorToken, workerToken, metricsToken, sessionSecret } = stateFiles(stateDir);
    this.#operator = readOrCreateSecret(operatorToken, 'o.');
    this.#worker = readOrCreateSecret(workerToken, 'w.');
    this.#metrics = readOrCreateSecret(metricsToken, 'm.');
    this.#secret = createSecretKey(Buffer.from(readOrCreateSecret(sessionSecret, '')));
    this.#operatorIdentity = { caller: { kind: 'operator', name: operatorName() } };
  }

  get operator(): CallerIdentity {
    return this.#operatorIdentity;
  }

  /** The identity of the operator through a page. */
  ofPage(keyId: string): CallerIdentity {
    return { caller: { ...this.#operatorIdentity.caller, via: keyId } };
  }

  issueSession({ project, sessionId, taskId, epoch }: SessionClaim): string {
    const claim = encodeClaim({ p: project, s: sessionId, t: taskId, e: epoch });
    const token = `s.${claim}.${this.#sign(claim)}`;
    this.#remember(token, { caller: { kind: 'session', sessionId, taskId, epoch }, project });
    return token;
  }

  issueAgent({ project, id }: RunRef): string {
    return this.#issue('a', { p: project, r: id });
  }

  issueSupervisor({ project, id }: RunRef): string {
    return this.#issue('v', { p: project, r: id });
  }

  /** Issues a token for a principal that an operator names, so that its claims stay its own after a reconnect. */
  issueWorker(principal: string): string {
    return this.#issue('w', { n: principal });
  }

  /** Whether this is the token for `/metrics`. It identifies no caller, and every other request with it is refused. */
  isForMetrics(token: string): boolean {
    return isEqualSecret(token, this.#metrics);
  }

  identify(token: string): CallerIdentity | undefined {
    if (/^[sav]\.|^w\.[^.]*\./.test(token)) return this.#identifySigned(token);
    if (isEqualSecret(token, this.#operator)) return this.#operatorIdentity;
    return isEqualSecret(token, this.#worker) ? WORKER : undefined;
  }

  /** Cached, because checking a signature costs more than a small request. */
  #identifySigned(token: string): CallerIdentity | undefined {
    const known = this.#known.get(token);
    if (known !== undefined) return known;
    const identity = this.#read(token);
    if (identity !== undefined) this.#remember(token, identity);
    return identity;
  }

  #remember(token: string, identity: CallerIdentity): void {
    if (this.#known.size >= MAX_CACHED_IDENTITIES) this.#known.clear();
    this.#known.set(token, identity);
  }

  #read(token: string): CallerIdentity | undefined {
    const [kind = '', claim = '', signature = '', ...rest] = token.split('.');
    const signed = kind === 's' ? claim : `${kind}.${claim}`;
    if (rest.length > 0 || !isEqualSecret(signature, this.#sign(signed))) return undefined;
    // The HMAC proves that a daemon of this folder wrote it.
    const { p: project, s, t, e, r, n } = JSON.parse(Buffer.from(claim, 'base64url').toString()) as SignedClaim; // oxlint-disable-line typescript/no-unsafe-type-assertion
    if (kind === 's') return { caller: { kind: 'session', sessionId: s, taskId: t, epoch: e }, project };
    if (kind === 'w') return { caller: { kind: 'worker', name: n } };
    return { caller: { kind: kind === 'a' ? 'agent' : 'supervisor', agentId: r }, project };
  }

  /** Signs the kind too, so that no token can be turned into another kind. */
  #issue(kind: 'a' | 'v' | 'w', claim: Partial<SignedClaim>): string {
    const signed = `${kind}.${encodeClaim(claim)}`;
    return `${signed}.${this.#sign(signed)}`;
  }

  #sign(claim: string): string {
    return createHmac('sha256', this.#secret).update(claim).digest('base64url');
  }
}

/** Which fields a token has depends on its kind. */
interface SignedClaim {
  readonly p: string;
  readonly s: string;
  readonly t: string;
  readonly e: number;
  readonly r: string;
  readonly n: string;
}

function encodeClaim(claim: Partial<SignedClaim>): string {
  return Buffer.from(JSON.stringify(claim)).toString('base64url');
}

export const SHARED_WORKER = 'worker';
const WORKER: CallerIdentity = { caller: { kind: 'worker', name: SHARED_WORKER } };

/** Reads a 256-bit secret from its own file, or creates it at the first start, while the folder is locked. */
function readOrCreateSecret(path: string, prefix: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    const secret = `${prefix}${randomBytes(32).toString('base64url')}`;
    writeFileSync(path, `${secret}\n`, { mode: 0o600, flush: true });
    return secret;
  }
  if ((found.mode & 0o077) !== 0) throw new Error(`${path} can be read by other users. Run: chmod 600 ${path}`);
  const secret = readFileSync(path, 'utf8').trim();
  if (secret.length !== prefix.length + 43)
    throw new Error(`${path} is damaged. Remove the file: Baton makes a new one.`);
  return secret;
}

/** The name of the user who runs the daemon. */
export function operatorName(): string {
  try {
    return (
      userInfo()
        .username.replaceAll(/[^A-Za-z0-9._@-]/g, '_')
        .slice(0, 64) || 'operator'
    );
  } catch {
    return 'operator';
  }
}

/**
 * The secrets of this state folder that no pattern matches: the random part of tokens and the signing secret, plain and
 * in base64.
 */
export function readOwnSecrets(stateDir: string): readonly string[] {
  const { operatorToken, workerToken, metricsToken, sessionSecret } = stateFiles(stateDir);
  return [operatorToken, workerToken, metricsToken, sessionSecret].flatMap((path) =>
    secretForms(readFileIfPresent(path).trim()),
  );
}

const MAX_CACHED_IDENTITIES = 10_000;
