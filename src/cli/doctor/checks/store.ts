import { defineCheck, type Diagnosis, ok, problem, warning } from '../finding.ts';
import type { FoundProblem, LedgerFacts } from './ledger-facts.ts';

export interface StoreFacts {
  /** Null if the project is unknown, for example outside of a repository. */
  readonly ledger: LedgerFacts | null;
  /** Null for a project on SQLite. */
  readonly database: DatabaseFacts | null;
}

export interface DatabaseFacts {
  /** The URL without its user. */
  readonly url: string;
  readonly answer:
    | {
        readonly ok: true;
        readonly latencyMs: number;
        readonly entries: number;
        /** This machine's clock minus the database's. */
        readonly offsetMs: number;
        /** Whose role the daemon of this host uses. */
        readonly rights: 'owner' | 'own' | 'shared';
      }
    | ({ readonly ok: false } & FoundProblem);
}

export const storeCheck = defineCheck('store', 'The ledger of the project: opens, can be written, is undamaged', {
  opens: ok('The ledger opens, and can be written; its entries and its size'),
  new: ok('Nothing was recorded yet'),
  unreadable: problem('The ledger cannot be opened or read: damaged, of a newer Baton, locked, or gone'),
  'read-only': problem('The file of the ledger, or its folder, cannot be written'),
  damaged: problem('SQLite finds the file damaged, or its schema was changed'),
  'bad-key': problem('The signing key cannot be used, so no daemon opens the ledger'),
  'database-answers': ok('The PostgreSQL database answers'),
  'database-own-login': ok('The database gives this host a login of its own, for this project'),
  'database-shared-role': warning('The hosts share one role of the database, so it cannot tell them apart'),
  'database-owner': warning('The daemon uses the role that owns the tables, so the database refuses it nothing'),
  'database-away': problem('The PostgreSQL database does not answer, or refuses'),
});

export function diagnoseStore({ ledger, database }: StoreFacts): readonly Diagnosis[] {
  return [...(ledger === null ? [] : diagnoseLedger(ledger)), ...(database === null ? [] : describeDatabase(database))];
}

function diagnoseLedger({ path, bytes, isWritable, key, isNew, problem: trouble, inside }: LedgerFacts): Diagnosis[] {
  const found: Diagnosis[] = [];
  if (key !== null) found.push(storeCheck.found('bad-key', { detail: key.message, fix: key.hint }));
  if (trouble !== null) found.push(storeCheck.found('unreadable', { detail: trouble.message, fix: trouble.hint }));
  if (!isWritable) {
    const fix = 'Check the owner and the permissions of the file and its folder, and whether the disk is read-only.';
    found.push(storeCheck.found('read-only', { detail: `${path} cannot be written`, fix }));
  }
  const [first, ...more] = inside?.faults ?? [];
  if (first !== undefined) {
    const detail = `${path}: ${first}${more.length === 0 ? '' : ` (and ${more.length} more)`}`;
    const fix = 'Restore the ledger from a backup, and write nothing to it before that. See: baton ledger verify';
    found.push(storeCheck.found('damaged', { detail, fix }));
  }
  if (found.length > 0) return found;
  if (isNew || inside === null) return [storeCheck.found('new', { detail: 'nothing was recorded yet' })];
  const looked =
    inside.faults === null ? '; too large for a quick check of its pages, so run: baton ledger verify' : '';
  const what = inside.isReplica ? 'replica' : 'ledger';
  const detail = `${what} of ${inside.entries} entries, ${renderBytes(bytes ?? 0)}, ${path}${looked}`;
  return [storeCheck.found('opens', { detail })];
}

function describeDatabase({ url, answer }: DatabaseFacts): Diagnosis[] {
  if (!answer.ok) return [storeCheck.found('database-away', { detail: `${url}: ${answer.message}`, fix: answer.hint })];
  const detail = `${url} answers in ${answer.latencyMs} ms, ${answer.entries} entries`;
  return [storeCheck.found('database-answers', { detail }), describeRights(answer.rights)];
}

function describeRights(rights: 'owner' | 'own' | 'shared'): Diagnosis {
  if (rights === 'own') return storeCheck.found('database-own-login', { detail: 'this host has a login of its own' });
  if (rights === 'owner') {
    const detail = 'the daemon logs in as the owner of the tables: the database does not check what it appends';
    return storeCheck.found('database-owner', { detail, fix: 'Give it a role of its own: baton store init URL' });
  }
  const detail =
    'the hosts share one role: the database does not separate projects, and a removed host can log in until the password is changed';
  return storeCheck.found('database-shared-role', { detail, fix: 'For each host: baton store login URL HOST' });
}

/** Renders units of a thousand, as is usual for disks. */
export function renderBytes(bytes: number): string {
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, 'kB'] : bytes < 1e9 ? [bytes / 1e6, 'MB'] : [bytes / 1e9, 'GB'];
  return `${value < 10 && value % 1 !== 0 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}
