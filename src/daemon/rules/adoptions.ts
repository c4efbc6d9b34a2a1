import type { ApiError, OrError } from '../../api/answer.ts';
import type { OwnRepositoryImporter } from '../../git/own/transfer-commits.ts';
import type { GitResult } from '../../git/run-git.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import { compareRules, hasLoosening, type RuleDifference } from '../../runbook/gates/compare-rules.ts';
import { gateFieldsOf } from '../../runbook/gates/gate-fields.ts';
import type { ReadRunbook } from '../../runbook/read/read-runbook.ts';
import { hasSessions } from '../../state/adopt-runbook.ts';
import type { Command } from '../../state/decide.ts';
import { findSharedRemote } from '../../state/fleet/fleet.ts';
import { acceptedMain, findMain } from '../../state/main/main-branch.ts';
import { findAdoption } from '../../state/rules.ts';
import type { State } from '../../state/state.ts';
import { causeOf, type Log } from '../log.ts';
import type { CommandLoop } from '../loop/command-loop.ts';
import {
  type CommittedRules,
  hasMoreFiles,
  isSameRules,
  type PinnedRunbook,
  readCommittedRules,
  readWorkingRules,
  storePinned,
} from './pinned-runbook.ts';
import { renderDifferences } from './render-differences.ts';
import { NO_RUNBOOK, type Rulebook, runbookError } from './rulebook.ts';
import type { RunbookWatch } from './runbook-watch.ts';

interface AdoptionsOptions {
  readonly project: {
    readonly id: string;
    readonly path: string;
    readonly own: OwnRepositoryImporter;
    readonly ledger: Ledger;
    readonly commandLoop: CommandLoop;
  };
  readonly working: RunbookWatch;
  readonly rulebook: Rulebook;
  /** Whether the operator wrote these files with `baton init`, so that they have agreed to them. */
  readonly isAgreed: (read: ReadRunbook) => boolean;
  readonly operator: string;
  readonly newId: () => string;
  readonly log: Log;
}

interface Proposal {
  readonly pinned: PinnedRunbook;
  readonly differences: readonly RuleDifference[];
}

/** Adopts the committed runbook if it loosens nothing, and the working file at an operator's command. */
export class Adoptions {
  readonly #options: AdoptionsOptions;
  #last: Promise<unknown> = Promise.resolve();
  #tried: { readonly read: ReadRunbook; readonly besideSession: boolean } | undefined;
  #first: Promise<void> | undefined;

  constructor(options: AdoptionsOptions) {
    this.#options = options;
  }

  async propose(): Promise<OrError<{ readonly proposal: Proposal; readonly committed: CommittedRules | undefined }>> {
    const { project, working, rulebook } = this.#options;
    const read = working.read();
    if (!read.checked.ok) return { ok: false, error: runbookError(read.checked.problems) };
    const pinned = await readWorkingRules(project.path, read, this.#hashing);
    if (pinned === undefined) return { ok: false, error: INVALID_RUNBOOK };
    const found = await this.#readCommitted(rulebook.inForce ?? pinned);
    if (!found.ok) return { ok: false, error: found.problem };
    return { ok: true, proposal: { pinned, differences: await rulebook.compare(pinned) }, committed: found.value };
  }

  /** Empty if the working file has errors, and before the first adoption if a person need not agree to it. */
  async readDifferences(): Promise<readonly RuleDifference[]> {
    const { project, working, rulebook } = this.#options;
    const pinned = await readWorkingRules(project.path, working.read(), this.#hashing);
    const differences = pinned === undefined ? [] : await rulebook.compare(pinned);
    const isOpen = hasLoosening(differences) && !this.#options.isAgreed(working.read());
    return rulebook.inForce !== undefined || isOpen ? differences : [];
  }

  /** Puts the working file in force. If it loosens the rules, the operator must name its hash. */
  async adoptWorking(by: string, accepted: string | undefined): Promise<OrError<Proposal>> {
    return this.#inTurn(async () => {
      const unchanged = await this.#findUnchanged();
      if (unchanged !== undefined) return { ok: true, pinned: unchanged, differences: [] };
      const proposed = await this.propose();
      if (!proposed.ok) return proposed;
      const { pinned, differences } = proposed.proposal;
      const isFirst = this.#options.rulebook.inForce === undefined;
      if (pinned.holdsCredential) return { ok: false, error: HOLDS_CREDENTIAL };
      const isAgreed = accepted === pinned.sha256 || (isFirst && this.#options.isAgreed(this.#options.working.read()));
      if (hasLoosening(differences) && !isAgreed)
        return { ok: false, error: loosenedError(pinned.sha256, differences, isFirst) };
      const adopted = await this.#adopt(pinned, proposed.committed, by);
      return adopted ? { ok: true, pinned, differences } : { ok: false, error: ADOPTION_NOT_RECORDED };
    });
  }

  /** The runbook in force if the working file has the same content. */
  async #findUnchanged(): Promise<PinnedRunbook | undefined> {
    const { project, working, rulebook } = this.#options;
    const { inForce } = rulebook;
    const pinned = inForce && (await readWorkingRules(project.path, working.read(), this.#hashing));
    return pinned !== undefined && isSameRules(pinned, inForce?.sha256) ? inForce : undefined;
  }

  /**
   * Before the first task: adopts the committed runbook, or the working file if it has the same rules or nothing is
   * committed. While a session is live only the committed one is adopted, because the session may have written the
   * file. A runbook that asks for more than the defaults waits for a person, unless a person wrote it with `baton init`.
   */
  async adoptFirst(): Promise<void> {
    const { working, rulebook } = this.#options;
    if (rulebook.inForce !== undefined) return;
    if (this.#first !== undefined) return this.#first;
    const tried = working.read() === this.#tried?.read ? this.#tried : undefined;
    if (tried !== undefined && (!tried.besideSession || rulebook.hasSessions)) return;
    this.#first = this.#tryFirst().finally(() => {
      this.#first = undefined;
    });
    await this.#first;
  }

  get firstUnderWay(): Promise<void> | undefined {
    return this.#first;
  }

  async #tryFirst(): Promise<void> {
    const { project, working, rulebook } = this.#options;
    await this.#inTurn(async () => {
      const state = await this.#state();
      if (state === undefined || findAdoption(state) !== undefined) return;
      const besideSession = hasSessions(state);
      const read = working.read();
      this.#tried = { read, besideSession };
      const pinned = await readWorkingRules(project.path, read, this.#hashing);
      const committed = requireFound(await this.#readCommitted(pinned));
      const isSame =
        !besideSession &&
        pinned !== undefined &&
        (committed?.pinned === undefined || compareRules(committed.pinned.fields, pinned.fields, 'none').length === 0);
      const first = isSame ? pinned : committed?.pinned;
      if (first === undefined || !hasRules(first)) return;
      const isAgreed = first === pinned && this.#options.isAgreed(read);
      if (!isAgreed && hasLoosening(await rulebook.compare(first))) return;
      // A session can commit too, but its commit must not loosen the gates of its own task.
      if (besideSession && state.tasks.size > 0 && rulebook.loosensFollowed(first.runbook)) return;
      await this.#adopt(first, committed, isAgreed ? `operator:${this.#options.operator}` : 'system:daemon');
    }).catch((error: unknown) => this.#log('the first runbook cannot be adopted', error));
  }

  async adoptForTasks(): Promise<void> {
    const state = await this.#state();
    if (state !== undefined && state.tasks.size > 0) await this.adoptFirst();
  }

  /** Adopts the main branch's runbook if it loosens nothing. Otherwise asks a person. */
  async followMain(): Promise<void> {
    if (this.#options.rulebook.inForce === undefined) {
      await this.#first;
      this.#tried = undefined;
      await this.adoptForTasks();
    }
    await this.#inTurn(async () => {
      const { rulebook, newId } = this.#options;
      const state = await this.#state();
      const adoption = state === undefined ? undefined : findAdoption(state);
      const { inForce } = rulebook;
      if (adoption === undefined || inForce === undefined) return;
      const committed = requireFound(await this.#readCommitted(inForce));
      const pinned = committed?.pinned;
      if (committed === undefined || pinned === undefined || isSameRules(pinned, inForce.sha256)) {
        await this.#submit({ kind: 'drop-adoption-questions', command: null });
        // The same rules again, with the files that an earlier version of Baton did not record.
        if (committed !== undefined && pinned !== undefined && hasMoreFiles(pinned, inForce))
          await this.#adopt(pinned, committed, adoption.by);
        return;
      }
      if (isSameRules(pinned, adoption.committed)) return;
      const differences = await rulebook.compare(pinned);
      if (!hasLoosening(differences)) {
        await this.#adopt(pinned, committed, 'system:daemon');
        return;
      }
      if (!(await this.#keep(pinned))) return;
      const { sha256 } = pinned;
      const { commit } = committed;
      const words = renderDifferences(differences);
      await this.#submit({
        kind: 'ask-adoption',
        command: { decisionId: newId(), sha256, former: pinned.former, commit, differences: words },
      });
    }).catch((error: unknown) => this.#log('the runbook of the main branch cannot be followed', error));
  }

  async #adopt(pinned: PinnedRunbook, committed: CommittedRules | undefined, by: string): Promise<boolean> {
    if (!(await this.#keep(pinned))) return false;
    const isCommitted = committed?.pinned?.sha256 === pinned.sha256;
    const command = {
      sha256: pinned.sha256,
      commit: isCommitted ? committed.commit : null,
      committed: committed?.pinned?.sha256 ?? null,
      by,
    };
    return this.#submit({ kind: 'adopt-runbook', command });
  }

  /** Stores the runbook and loads its rules before an entry names it. */
  async #keep(pinned: PinnedRunbook): Promise<boolean> {
    const kept = await storePinned(pinned, this.#options.project.ledger);
    if (kept) this.#options.rulebook.add(pinned);
    return kept;
  }

  get #hashing() {
    const { project, rulebook } = this.#options;
    const { sha256, secrets } = project.ledger;
    return { sha256, secrets, network: rulebook.inForce?.network ?? ('dev' as const) };
  }

  async #submit(command: Command): Promise<boolean> {
    const settled = await this.#options.project.commandLoop.submitCommand(command, { kind: 'system', name: 'daemon' });
    return settled.ok;
  }

  async #state(): Promise<State | undefined> {
    const settled = await this.#options.project.commandLoop.read(({ state }) => state);
    return settled.ok ? settled.answer : undefined;
  }

  async #readCommitted(by: PinnedRunbook | undefined): Promise<GitResult<CommittedRules | undefined>> {
    const { path } = this.#options.project;
    const state = await this.#state();
    const into = by?.runbook.merge?.into ?? (state === undefined ? undefined : acceptedMain(state)?.branch);
    const sha = state === undefined || findSharedRemote(state) === null ? undefined : findMain(state)?.sha;
    const own = sha === undefined ? undefined : await this.#options.project.own.with(sha);
    if (own?.ok === false) return own;
    const shared = own === undefined || sha === undefined ? undefined : { place: own.value, commit: sha };
    return readCommittedRules(path, { into, ledger: this.#hashing, shared });
  }

  /** Runs one adoption at a time, because two would compare with the same predecessor. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work, work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  #log(message: string, error: unknown): void {
    const { log, project } = this.#options;
    log.error(message, { project: project.id, cause: causeOf(error) });
  }
}

/** While the repository is damaged nothing is adopted, and the log has the reason. */
function requireFound(found: GitResult<CommittedRules | undefined>): CommittedRules | undefined {
  if (!found.ok) throw new Error(found.problem.message);
  return found.value;
}

function hasRules({ fields }: PinnedRunbook): boolean {
  return compareRules(NO_RULES, fields, 'none').length > 0;
}

const NO_RULES = gateFieldsOf(NO_RUNBOOK);

function loosenedError(sha256: string, differences: readonly RuleDifference[], isFirst: boolean): ApiError {
  const what = isFirst ? 'the runbook asks for more than the defaults' : 'the working file loosens the rules in force';
  const loosening = differences.filter(({ effect }) => effect === 'loosens');
  return {
    code: 'rules-loosened',
    message: `${what}:\n${renderDifferences(isFirst ? loosening : differences)}`,
    hint: `If that is what you want, run the same command with: --accept-rules ${sha256}`,
    rules: { sha256, differences },
  };
}

const INVALID_RUNBOOK: ApiError = {
  code: 'bad-runbook',
  message: 'the runbook cannot be recorded: it holds a value that has no canonical form',
  hint: 'Check the runbook: baton runbook check',
};

const ADOPTION_NOT_RECORDED: ApiError = {
  code: 'store-unavailable',
  message: 'the store cannot keep the runbook',
  hint: 'Read daemon.log in the state folder, make room on the disk, and try again.',
};

const HOLDS_CREDENTIAL: ApiError = {
  code: 'credential-in-plan',
  message: 'the runbook holds what looks like a password or a token, and a ledger never forgets',
  hint: 'Put the secret into the environment of the daemon, and write ${env.NAME} in its place.',
};
