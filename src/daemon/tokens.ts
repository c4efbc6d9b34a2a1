import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isEqualSecret } from '../api/http/request.ts';
import { stateFiles } from '../api/state-folder.ts';
import { secretForms } from '../protocol/redact-tokens.ts';
import type { Caller } from '../state/caller.ts';

/** The caller of a token. A session's token names its project; an operator's acts on any. */
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
  /** The id of an agent or a command. */
  readonly id: string;
}

const MAX_CACHED_IDENTITIES = 10_000;

/**
 * Issues and checks tokens. The tokens of the operator and of unnamed workers are random, in the state folder. All others are stateless:
 * they name their bearer, and an HMAC proves that a daemon of this folder made them.
 */
export class AccessTokens {
  readonly #operator: string;
  readonly #worker: string;
  readonly #secret: KeyObject;
  readonly #operatorIdentity: CallerIdentity;
  readonly #known = new Map<string, CallerIdentity>();

  constructor(stateDir: string) {
    const { operatorToken, workerToken, sessionSecret } = stateFiles(stateDir);
    this.#operator = readOrCreateSecret(operatorToken, 'o.');
    this.#worker = readOrCreateSecret(workerToken, 'w.');
    this.#secret = createSecretKey(Buffer.from(readOrCreateSecret(sessionSecret, '')));
    this.#operatorIdentity = { caller: { kind: 'operator', name: operatorName() } };
  }

  issueSession({ project, sessionId, taskId, epoch }: SessionClaim): string {
    const claim = Buffer.from(JSON.stringify({ p: project, s: sessionId, t: taskId, e: epoch })).toString('base64url');
    const token = `s.${claim}.${this.#sign(claim)}`;
    this.#remember(token, { caller: { kind: 'session', sessionId, taskId, epoch }, project });
    return token;
  }

  issueAgent(run: RunRef): string {
    return this.#issueRun('a', run);
  }

  issueSupervisor(run: RunRef): string {
    return this.#issueRun('v', run);
  }

  /** For a principal that an operator names: its claims stay its own after a reconnect. */
  issueWorker(principal: string): string {
    const name = `w.${Buffer.from(JSON.stringify({ n: principal })).toString('base64url')}`;
    return `${name}.${this.#sign(name)}`;
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

  #read(token: string): CallerIdentity | undefined {
    if (token.startsWith('s.')) return this.#readSession(token);
    return token.startsWith('w.') ? this.#readWorker(token) : this.#readRun(token);
  }

  #readWorker(token: string): CallerIdentity | undefined {
    const [kind = '', claim = '', signature = '', ...rest] = token.split('.');
    const isOurs = isEqualSecret(signature, this.#sign(`${kind}.${claim}`));
    if (rest.length > 0 || !isOurs) return undefined;
    const { n: name } = JSON.parse(Buffer.from(claim, 'base64url').toString()) as { readonly n: string }; // oxlint-disable-line typescript/no-unsafe-type-assertion
    return { caller: { kind: 'worker', name } };
  }

  #remember(token: string, identity: CallerIdentity): void {
    if (this.#known.size >= MAX_CACHED_IDENTITIES) this.#known.clear();
    this.#known.set(token, identity);
  }

  #readSession(token: string): CallerIdentity | undefined {
    const [, claim = '', signature = '', ...rest] = token.split('.');
    if (rest.length > 0 || !isEqualSecret(signature, this.#sign(claim))) return undefined;
    // The HMAC proves that this daemon wrote it.
    const {
      p: project,
      s: sessionId,
      t: taskId,
      e: epoch,
    } = JSON.parse(Buffer.from(claim, 'base64url').toString()) as SignedClaim; // oxlint-disable-line typescript/no-unsafe-type-assertion
    return { caller: { kind: 'session', sessionId, taskId, epoch }, project };
  }

  /** The kind is signed too, so that no token can be turned into another kind. */
  #issueRun(kind: 'a' | 'v', { project, id }: RunRef): string {
    const run = `${kind}.${Buffer.from(JSON.stringify({ p: project, r: id })).toString('base64url')}`;
    return `${run}.${this.#sign(run)}`;
  }

  #readRun(token: string): CallerIdentity | undefined {
    const [kind = '', run = '', signature = '', ...rest] = token.split('.');
    if (rest.length > 0 || !isEqualSecret(signature, this.#sign(`${kind}.${run}`))) return undefined;
    const { p: project, r: agentId } = JSON.parse(Buffer.from(run, 'base64url').toString()) as SignedRun; // oxlint-disable-line typescript/no-unsafe-type-assertion
    return { caller: { kind: kind === 'a' ? 'agent' : 'supervisor', agentId }, project };
  }

  #sign(claim: string): string {
    return createHmac('sha256', this.#secret).update(claim).digest('base64url');
  }
}

interface SignedClaim {
  readonly p: string;
  readonly s: string;
  readonly t: string;
  readonly e: number;
}

interface SignedRun {
  readonly p: string;
  readonly r: string;
}

/** The principal of all who use the worker token in the state folder. */
export const SHARED_WORKER = 'worker';

const WORKER: CallerIdentity = { caller: { kind: 'worker', name: SHARED_WORKER } };

/** A 256-bit secret in its own file, made at the first start, while the folder is locked. */
function readOrCreateSecret(path: string, prefix: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    const secret = `${prefix}${randomBytes(32).toString('base64url')}`;
    writeFileSync(path, `${secret}\n`, { mode: 0o600, flush: true });
    return secret;
  }
  if ((found.mode & 0o077) !== 0) throw new Error(`${path} can be read by others. Run: chmod 600 ${path}`);
  const secret = readFileSync(path, 'utf8').trim();
  if (secret.length !== prefix.length + 43) throw new Error(`${path} is damaged. Remove it: a new one is made.`);
  return secret;
}

/** The name of the user who runs the daemon. */
function operatorName(): string {
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

/** The secrets of this state folder that no pattern finds: the random part of tokens and the signing secret, as they are and in base64. */
export function readOwnSecrets(stateDir: string): readonly string[] {
  const { operatorToken, workerToken, sessionSecret } = stateFiles(stateDir);
  return [operatorToken, workerToken, sessionSecret].flatMap((path) => secretForms(readSecret(path)));
}

function readSecret(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
