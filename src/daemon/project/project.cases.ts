import { basename } from 'node:path';
import { requireStore } from '../../../test/postgres/open-store.ts';
import { isPostgres, STORE_URL } from '../../../test/stores/chosen.ts';
import { openSqliteStore } from '../../ledger/sqlite/open.ts';
import type { Store } from '../../ledger/store.ts';
import { nodeVerifier, openKeyFile } from '../../ledger/writer/keys.ts';
import { ledgerPlace, OutsideCopyFile } from '../../ledger/writer/ledger-files.ts';
import { openProject } from './open-project.ts';
import type { ProjectOptions } from './project-options.ts';
import type { Project } from './project.ts';

/** A project without a daemon. On SQLite its ledger is where the daemon of the same state folder would look for it. */
export async function openBareProject(
  where: Pick<ProjectOptions, 'id' | 'path' | 'stateDir' | 'onMistake' | 'messages' | 'snapshotLimits' | 'onDiscarded'>,
): Promise<Project> {
  const place = ledgerPlace(where.stateDir, where.id);
  const signer = openKeyFile(place.key);
  if (!signer.ok) throw new Error('the key cannot be opened');
  const opened = await openProject({
    ...where,
    rules: { ciGate: false, mergeGate: false },
    leaseTimes: { expiryMs: 900_000, renewalMs: 30_000, tickMs: 1000 },
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    ledger: {
      store: await openStore(where.stateDir, where.id),
      signer: signer.value,
      verifier: nodeVerifier,
      outside: new OutsideCopyFile(place.outside),
    },
  });
  if (!opened.ok) throw new Error(opened.problem.message);
  return opened.project;
}

/** Many tests name their project `p`. On PostgreSQL they share a database, so the folder is part of the name there. */
async function openStore(stateDir: string, id: string): Promise<Store> {
  if (isPostgres) return requireStore({ url: STORE_URL, project: `${basename(stateDir)}/${id}` });
  const opened = openSqliteStore(ledgerPlace(stateDir, id).ledger, { mode: 'write' });
  if (!opened.ok) throw new Error(opened.problem.message);
  return opened.store;
}
