import { type AuditedEntry, partOf, textOf, wordOf } from './entry.ts';

type Report = (invariant: 'done', text: string) => void;

/** Who gives approvals: code that a judge runs must not, and where a person confirms them, no agent does. */
export class VerdictAudit {
  /** Sessions in whose name code of the branch has sent an approval. */
  readonly forged = new Set<string>();
  judges: 'accepted' | 'proven' | 'asked' = 'accepted';
  /** Sessions of agents, apart from those that Baton itself performs. */
  readonly #clients = new Set<string>();
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  read(entry: AuditedEntry): void {
    const { type, actor } = entry;
    if (type === 'AgentRequested' && !wordOf(partOf(entry, 'plan'), 'run').startsWith('builtin:'))
      this.#clients.add(wordOf(partOf(entry, 'task'), 'session_id'));
    const moves = type === 'PhaseMoved' && JUDGED.has(textOf(entry, 'from')) && APPROVED.has(textOf(entry, 'to'));
    if (!moves && type !== 'MergeRequested') return;
    const session = actor.startsWith('session:') ? actor.slice('session:'.length) : '';
    const about = `${textOf(entry, 'task_id')} is approved by session ${session}`;
    if (this.judges === 'proven' && this.forged.has(session))
      this.#report('done', `${about}, and its client did not say so`);
    if (this.judges === 'asked' && session !== '' && this.#clients.has(session))
      this.#report('done', `${about}, and nobody confirmed it`);
  }
}

const JUDGED: ReadonlySet<string> = new Set(['READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE']);
const APPROVED: ReadonlySet<string> = new Set(['READY_FOR_MERGE', 'COMPLETED']);
