import type { Answer } from '../../api/answer.ts';
import type { Caller } from '../../state/caller.ts';
import { type Log } from '../log.ts';
import { refusalOf } from '../operations/call.ts';
import type { Project } from '../project/project.ts';
import type { Projects } from '../project/projects.ts';
import type { PageKey, RevokedKey } from './key-file.ts';
import type { PageAccess } from './page-access.ts';
import type { CodeUse } from './page-codes.ts';
import { BAD_KEY } from './page-refusals.ts';

/** The parts of the daemon that concern pages. */
export interface PageDoor {
  readonly pages: PageAccess;
  readonly ledgers: PageLedgers;
}

interface PageLedgersOptions {
  readonly pages: PageAccess;
  readonly projects: Projects;
  /** The person for whom pages act. */
  readonly operator: Caller;
  readonly log: Log;
}

/** Records in the ledgers of projects which page keys act there, and which were revoked. */
export class PageLedgers {
  readonly #options: PageLedgersOptions;

  constructor(options: PageLedgersOptions) {
    this.#options = options;
    // Keys may have been revoked while the project was closed.
    options.projects.onOpened(({ project }) => void this.#recordRevoked(project, options.pages.revoked, SYSTEM));
  }

  /** Records keys that were revoked earlier in the projects that are already open. */
  async recordEarlier(): Promise<void> {
    const { pages, projects } = this.#options;
    for (const { project } of projects.opened()) await this.#recordRevoked(project, pages.revoked, SYSTEM);
  }

  /**
   * Names the key in the project in which `baton web` was run. If that fails, the key is named before its first write.
   */
  async nameAtOpening(key: PageKey, { projectPath }: CodeUse): Promise<void> {
    const { projects, log } = this.#options;
    const found = projectPath === undefined ? undefined : await projects.findByPath(projectPath);
    if (found?.ok !== true) return;
    const named = await this.#name(found.open.project, key);
    if (!named.ok)
      log.info('the key of a page is not named yet', { key: key.id, cause: refusalOf(named).error.message });
  }

  /** Returns undefined if the caller may write, because it is not a page or the ledger names its key. */
  async nameBeforeWrite(project: Project, caller: Caller): Promise<(Answer & { readonly ok: false }) | undefined> {
    const via = caller.kind === 'operator' ? caller.via : undefined;
    if (via === undefined || isNamed(project, via)) return undefined;
    const key = this.#options.pages.findKey(via);
    if (key === undefined) return BAD_KEY;
    const named = await this.#name(project, key);
    return named.ok ? undefined : refusalOf(named);
  }

  /** Revokes the keys at once, and records it in every ledger that names them. */
  async revoke(isMeant: (key: PageKey) => boolean, reason: string, caller: Caller): Promise<readonly RevokedKey[]> {
    const { pages, projects } = this.#options;
    const revoked = pages.revoke(isMeant, reason);
    await Promise.all(projects.opened().map(async ({ project }) => this.#recordRevoked(project, revoked, caller)));
    return revoked;
  }

  async #name(project: Project, { id: key_id, name, public_key, origin }: PageKey) {
    const command = { key_id, name, public_key, origin };
    return project.commandLoop.submitCommand({ kind: 'add-page-key', command }, this.#options.operator);
  }

  async #recordRevoked(project: Project, revoked: readonly RevokedKey[], caller: Caller): Promise<void> {
    for (const { id: key_id, reason } of revoked) {
      if (!isNamed(project, key_id)) continue;
      const command = { key_id, reason };
      const recorded = await project.commandLoop.submitCommand({ kind: 'revoke-page-key', command }, caller);
      if (recorded.ok) continue;
      const cause = refusalOf(recorded).error.message;
      this.#options.log.error('a revoked key is not recorded', { project: project.id, key: key_id, cause });
    }
  }
}

function isNamed(project: Pick<Project, 'read'>, id: string): boolean {
  return project.read(({ pageKeys }) => pageKeys.get(id)?.revoked === null);
}

const SYSTEM: Caller = { kind: 'system', name: 'daemon' };
