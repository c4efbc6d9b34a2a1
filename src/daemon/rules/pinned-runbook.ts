import { type CommittedFile, type CommittedFiles, openHashedFiles } from '../../git/committed-files.ts';
import { findMainBranch } from '../../git/repository.ts';
import type { GitLocation, GitResult } from '../../git/run-git.ts';
import { toHex } from '../../ledger/format/bytes.ts';
import { canonicalJson, type JsonObject } from '../../ledger/format/canonical-json.ts';
import { redactJson } from '../../ledger/redact.ts';
import { findBlob, storeBlob } from '../../ledger/snapshots-and-blobs.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import { buildRunbook } from '../../runbook/build/build-runbook.ts';
import { examineRunbook } from '../../runbook/check/check-runbook.ts';
import { type GateFields, gateFieldsOf } from '../../runbook/gates/gate-fields.ts';
import { filePattern, type RuleFiles, type Texts } from '../../runbook/gates/rule-files.ts';
import { isRunbookPath, type ReadRunbook, RUNBOOK_PATHS } from '../../runbook/read/read-runbook.ts';
import { agentsOf, collectPrompts, type FileSource, openWorkingFiles } from '../../runbook/read/rule-files.ts';
import type { Runbook } from '../../runbook/runbook.ts';
import { RUNBOOK_LIMITS } from '../../runbook/shape/fields.ts';
import type { RunbookValue } from '../../runbook/shape/runbook-shape.ts';
import { collectDevcontainer } from '../../sandbox/container/devcontainer.ts';

export interface PinnedRunbook {
  readonly sha256: string;
  readonly text: string;
  readonly network: DefaultNetwork;
  readonly runbook: Runbook;
  readonly files: RuleFiles;
  /** False for an adoption before version 3, which recorded no scripts and no devcontainer. */
  readonly hasAllFiles: boolean;
  /** The hash of the same rules in the form before version 3. An adoption from before an upgrade names it. */
  readonly former: string;
  readonly fields: GateFields;
  /** A possible credential was redacted, so an agent would get another value than the file has. */
  readonly holdsCredential: boolean;
}

/** Fields that no runbook in force has: the store is chosen before there are rules. */
const LEFT_OUT: ReadonlySet<string> = new Set(['$schema', 'store']);

/**
 * The network of rules that name none. A project keeps the one that it began with, so that an upgrade does not change
 * its network.
 */
type DefaultNetwork = 'full' | 'dev';

type Hashing = Pick<Ledger, 'sha256' | 'secrets'> & { readonly network: DefaultNetwork };

export function pinRunbook(
  value: RunbookValue,
  files: RuleFiles,
  { sha256, secrets, network }: Hashing,
): PinnedRunbook | undefined {
  const counted = Object.fromEntries(Object.entries(value).filter(([name]) => !LEFT_OUT.has(name)));
  const defaults = network === 'dev' ? { default_network: network } : {};
  const content = canonicalJson({ v: 3, runbook: counted, ...files, ...defaults });
  if (!content.ok) return undefined;
  // Blobs are never deleted, so none may contain a credential.
  const redacted = canonicalJson(redactJson(JSON.parse(content.value) as JsonObject, secrets)); // oxlint-disable-line typescript/no-unsafe-type-assertion
  if (!redacted.ok) return undefined;
  return parsePinned(redacted.value, hashText(redacted.value, sha256), sha256);
}

/** Whether both have the same rules, even if one was adopted in an earlier form. */
export function isSameRules(pinned: PinnedRunbook, sha256: string | null | undefined): boolean {
  return pinned.sha256 === sha256 || pinned.former === sha256;
}

/** Whether an earlier version of Baton recorded the same rules without files that they name. */
export function hasMoreFiles({ files }: PinnedRunbook, { hasAllFiles, files: recorded }: PinnedRunbook): boolean {
  const count = ({ prompts, devcontainer }: RuleFiles): number =>
    Object.keys(prompts).length + Object.keys(devcontainer).length;
  return !hasAllFiles && count(files) > count(recorded);
}

export async function storePinned({ text }: PinnedRunbook, { store, sha256 }: Ledger): Promise<boolean> {
  return (await storeBlob(store, sha256, new TextEncoder().encode(text))).ok;
}

export async function findPinned(
  sha: string,
  { store, sha256 }: Pick<Ledger, 'store' | 'sha256'>,
): Promise<PinnedRunbook | undefined> {
  const bytes = await findBlob(store, sha256, `sha256:${sha}`);
  if (bytes === undefined) return undefined;
  return parsePinned(new TextDecoder().decode(bytes), sha, sha256);
}

/** Skips validation: the content was checked before it was stored, and its hash proves that it is unchanged. */
function parsePinned(text: string, sha: string, sha256: Ledger['sha256']): PinnedRunbook {
  const content = JSON.parse(text) as Content; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const { v = 1, runbook: value, prompts, devcontainer = {}, default_network: network = 'full' } = content;
  const built = buildRunbook(value);
  const runbook: Runbook = network === 'dev' ? built : { ...built, network: { ...built.network, fallback: 'full' } };
  const holdsCredential = JSON.stringify(value).includes('[redacted:');
  const files = { prompts, devcontainer };
  const hasAllFiles = v >= 3;
  const former = hasAllFiles ? formerHash(value, runbook, prompts, sha256) : sha;
  const fields = gateFieldsOf(runbook, files);
  return { sha256: sha, text, runbook, files, hasAllFiles, former, network, fields, holdsCredential };
}

/** Version 2 recorded the prompts, and no other file. */
function formerHash(value: RunbookValue, runbook: Runbook, texts: Texts, sha256: Ledger['sha256']): string {
  const patterns = agentsOf(runbook).flatMap(({ prompt_file: file }) => (file === undefined ? [] : filePattern(file)));
  const prompts = Object.entries(texts).filter(([path]) => patterns.some((pattern) => pattern.test(path)));
  const content = canonicalJson({ v: 2, runbook: value as JsonObject, prompts: Object.fromEntries(prompts) }); // oxlint-disable-line typescript/no-unsafe-type-assertion
  return content.ok ? hashText(content.value, sha256) : '';
}

function hashText(text: string, sha256: Ledger['sha256']): string {
  return toHex(sha256(new TextEncoder().encode(text)));
}

interface Content {
  readonly v?: number;
  readonly runbook: RunbookValue;
  readonly prompts: Texts;
  /** Since version 3. */
  readonly devcontainer?: Texts;
  /** Absent in rules that were adopted before there was `dev`, and in those that followed them. */
  readonly default_network?: 'dev';
}

/** Every file that the rules name. An adoption records them, and nothing reads them elsewhere. */
async function collectFiles(runbook: Runbook, source: FileSource): Promise<RuleFiles> {
  const [prompts, devcontainer] = await Promise.all([
    collectPrompts(runbook, source),
    collectDevcontainer(async (path) => source.read(path)),
  ]);
  return { prompts, devcontainer };
}

export async function readWorkingRules(
  projectDir: string,
  { checked, subject }: ReadRunbook,
  ledger: Hashing,
): Promise<PinnedRunbook | undefined> {
  if (!checked.ok) return undefined;
  return pinRunbook(subject.value, await collectFiles(checked.value, openWorkingFiles(projectDir)), ledger);
}

export interface CommittedRules {
  readonly commit: string;
  /** Undefined if the commit has no runbook, or one with errors. */
  readonly pinned: PinnedRunbook | undefined;
}

interface CommittedPlace {
  /** The branch that the project merges into, if it names one. */
  readonly into: string | undefined;
  readonly ledger: Hashing;
  /** The commit of the remote's main branch, in Baton's own repository. In a fleet this one counts. */
  readonly shared?: { readonly place: GitLocation; readonly commit: string } | undefined;
}

/**
 * Undefined without a main branch. Hashes every object, because an agent can overwrite them. Fails if one is damaged.
 */
export async function readCommittedRules(
  path: string,
  { into, ledger, shared }: CommittedPlace,
): Promise<GitResult<CommittedRules | undefined>> {
  const found = shared ?? (await findHere(path, into));
  if (found === undefined) return { ok: true, value: undefined };
  const { place, commit } = found;
  const files = openHashedFiles(place, commit);
  const listed = (await Promise.all(RUNBOOK_PATHS.map(async (each) => files.list(each)))).flat();
  const texts = await Promise.all(
    listed
      .filter(({ path: name }) => isRunbookPath(name))
      .sort((a, b) => Number(a.path.includes('/')) - Number(b.path.includes('/')) || (a.path < b.path ? -1 : 1))
      .map(async (file) => ({ path: file.path, text: await readText(files, file) })),
  );
  const readable = texts.flatMap(({ path: name, text }) => (text === null ? [] : [{ path: name, text }]));
  if (files.damage !== undefined) return files.damage;
  const none = { ok: true, value: { commit, pinned: undefined } } as const;
  if (readable.length === 0 || readable.length < texts.length) return none;
  const { checked, subject } = examineRunbook(readable);
  if (!checked.ok) return none;
  const named = await collectFiles(checked.value, openCommitted(path, files));
  return files.damage ?? { ok: true, value: { commit, pinned: pinRunbook(subject.value, named, ledger) } };
}

async function findHere(path: string, into: string | undefined): Promise<CommittedPlace['shared']> {
  const main = await findMainBranch(path, into);
  return main.ok ? { place: path, commit: main.value.sha } : undefined;
}

/** A file outside the repository is the same for every commit. */
function openCommitted(projectDir: string, files: CommittedFiles): FileSource {
  return {
    read: async (path) => {
      if (path.startsWith('/') || path.split('/').includes('..')) return openWorkingFiles(projectDir).read(path);
      const file = (await files.list(path)).find((each) => each.path === path);
      return file === undefined ? null : readText(files, file);
    },
    list: async (folder) => (await files.list(folder)).map(({ path }) => path),
  };
}

async function readText(files: CommittedFiles, file: CommittedFile): Promise<string | null> {
  if (file.isLink) return null;
  const read = await files.read(file);
  return read.ok && Buffer.byteLength(read.value) <= RUNBOOK_LIMITS.fileBytes ? read.value : null;
}
