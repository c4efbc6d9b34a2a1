import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { Answer, ApiError } from '../../../api/answer.ts';
import type { ListedProjectView } from '../../../api/operations/project.ts';
import type { StatusView } from '../../../api/run-views.ts';
import { StoreProblem } from '../../../ledger/store.ts';
import { INTERNAL_ERROR } from '../../http/refusals.ts';
import { causeOf } from '../../log.ts';
import type { Project } from '../../project/project.ts';
import type { ListedState, OpenProject, Projects } from '../../project/projects.ts';
import { type Refused, storeUnavailableError } from '../call.ts';
import { readStatusWithin } from '../status.ts';

/**
 * Lists every project. One that does not answer in time or is not open is listed with the reason, so that it never
 * looks calm.
 */
export async function listProjects(projects: Pick<Projects, 'listed'>): Promise<readonly ListedProjectView[]> {
  return Promise.all(projects.listed().map(async (listed) => listProject(listed)));
}

/** Short, so that one locked ledger does not delay the others. */
const STATUS_MS = 1000;

async function listProject({ id, path, open, error }: ListedState): Promise<ListedProjectView> {
  const shown = { id, name: basename(path), path };
  if (open === undefined) return { ...shown, is_open: false, seq: null, ...closedView(error ?? notOpen(path)) };
  const status = await readStatusNow(open);
  const seq = open.project.ledger.head.size;
  if (!status.ok) return { ...shown, is_open: true, seq, ...closedView(status.error) };
  const { needs, running, all_clear, summary, store } = status.result;
  return { ...shown, is_open: true, seq: status.result.seq, needs, running, all_clear, summary, store };
}

/**
 * The page requests this about every second, and the status of 10,000 tasks takes 40 ms. So it is read again only after
 * new entries, and from time to time.
 */
async function readStatusNow(open: OpenProject): Promise<Answer<StatusView>> {
  const { project, services } = open;
  const nowMs = services.monotonicMs();
  const last = LAST_READ.get(project);
  const isThere = existsSync(project.path);
  const isSame =
    last?.seq === project.ledger.head.size && last.isWritable === project.isWritable && last.isThere === isThere;
  if (last !== undefined && nowMs - last.atMs < (isSame ? IDLE_MS : PACE_MS)) return last.status;
  const status = readStatusWithin(open, STATUS_MS).catch((error: unknown) => statusFailed(error, open));
  LAST_READ.set(project, {
    status,
    atMs: nowMs,
    seq: project.ledger.head.size,
    isWritable: project.isWritable,
    isThere,
  });
  return status;
}

/** One project's failure must not hide the others. */
function statusFailed(error: unknown, { project, services }: OpenProject): Refused {
  if (error instanceof StoreProblem) return { ok: false, error: storeUnavailableError(error.problem) };
  services.log.error('the status of a project failed', { project: project.id, cause: causeOf(error) });
  return { ok: false, error: INTERNAL_ERROR };
}

const LAST_READ = new WeakMap<Project, LastRead>();
const PACE_MS = 1000;
const IDLE_MS = 5000;

interface LastRead {
  readonly status: Promise<Answer<StatusView>>;
  readonly atMs: number;
  readonly seq: number;
  readonly isWritable: boolean;
  readonly isThere: boolean;
}

function closedView({ message: reason, hint }: Pick<ApiError, 'message' | 'hint'>) {
  const store = { writable: false, since: '', reason, hint } as const;
  return { needs: 1, running: 0, all_clear: false, summary: `Unknown: ${reason}`, store };
}

function notOpen(path: string): Pick<ApiError, 'message' | 'hint'> {
  return existsSync(path)
    ? { message: 'the daemon has not opened it yet', hint: 'Run `baton status` in its folder.' }
    : { message: `its folder is missing: ${path}`, hint: 'Bring the folder back, then run `baton status` in it.' };
}
