import { openSqliteStore } from '../../ledger/sqlite/open.ts';
import { nodeVerifier, openKeyFile } from '../../ledger/writer/keys.ts';
import { ledgerPlace, OutsideCopyFile } from '../../ledger/writer/ledger-files.ts';
import { openProject, type Project, type ProjectOptions } from './project.ts';

/** A project on SQLite without a daemon around it, where the daemon of the same state folder would look for it. */
export async function openBareProject(
  where: Pick<ProjectOptions, 'id' | 'path' | 'stateDir' | 'onMistake' | 'messages'>,
): Promise<Project> {
  const place = ledgerPlace(where.stateDir, where.id);
  const store = openSqliteStore(place.ledger, { mode: 'write' });
  const signer = openKeyFile(place.key);
  if (!store.ok || !signer.ok) throw new Error('the ledger cannot be opened');
  const opened = await openProject({
    ...where,
    rules: { ciGate: false, mergeGate: false },
    leaseTimes: { expiryMs: 900_000, renewalMs: 30_000, tickMs: 1000 },
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    ledger: {
      store: store.store,
      signer: signer.value,
      verifier: nodeVerifier,
      outside: new OutsideCopyFile(place.outside),
    },
  });
  if (!opened.ok) throw new Error(opened.problem.message);
  return opened.project;
}
