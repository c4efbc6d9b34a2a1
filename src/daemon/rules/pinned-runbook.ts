import { canonicalJson, type JsonObject } from '../../ledger/format/canonical-json.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import { toHex } from '../../ledger/format/bytes.ts';
import { findBlob, storeBlob } from '../../ledger/snapshots-and-blobs.ts';
import { redactJson } from '../../ledger/redact.ts';
import { gateFieldsOf, type GateFields, type Prompts } from '../../runbook/gates/gate-fields.ts';
import { buildRunbook } from '../../runbook/build/build-runbook.ts';
import type { Runbook } from '../../runbook/runbook.ts';
import type { RunbookValue } from '../../runbook/shape/runbook-shape.ts';

/** A runbook with the prompts that its workers give to agents, as one content with one name. */
export interface PinnedRunbook {
  /** Of `text`, which is canonical JSON. */
  readonly sha256: string;
  readonly text: string;
  readonly runbook: Runbook;
  readonly prompts: Prompts;
  readonly fields: GateFields;
  /** Something in a definition looked like a credential and was taken out: an agent would get another value than was meant. */
  readonly holdsCredential: boolean;
}

/** Fields that have no part in a gate: they follow the working file. */
const FOLLOWED_FIELDS = ['$schema', 'exit_protocol', 'store', 'notify', 'commands', 'workspace'] as const;

/** Undefined if the content cannot be written as canonical JSON. */
export function pinRunbook(
  value: RunbookValue,
  prompts: Prompts,
  { sha256, secrets }: Pick<Ledger, 'sha256' | 'secrets'>,
): PinnedRunbook | undefined {
  const counted = Object.fromEntries(
    Object.entries(value).filter(([name]) => !FOLLOWED_FIELDS.some((followed) => followed === name)),
  );
  const content = canonicalJson({ v: 1, runbook: counted, prompts });
  if (!content.ok) return undefined;
  // The ledger never forgets, so that no credential may get into the blob.
  const redacted = canonicalJson(redactJson(JSON.parse(content.value) as JsonObject, secrets)); // oxlint-disable-line typescript/no-unsafe-type-assertion
  if (!redacted.ok) return undefined;
  return parsePinned(redacted.value, toHex(sha256(new TextEncoder().encode(redacted.value))));
}

export async function storePinned({ text }: PinnedRunbook, { store, sha256 }: Ledger): Promise<boolean> {
  return (await storeBlob(store, sha256, new TextEncoder().encode(text))).ok;
}

/** The runbook that an entry names; undefined if the store has lost it. */
export async function findPinned(sha: string, { store, sha256 }: Ledger): Promise<PinnedRunbook | undefined> {
  const bytes = await findBlob(store, sha256, `sha256:${sha}`);
  if (bytes === undefined) return undefined;
  return parsePinned(new TextDecoder().decode(bytes), sha);
}

/** The content was checked before it was kept, and its hash vouches for it. */
function parsePinned(text: string, sha256: string): PinnedRunbook {
  const { runbook: value, prompts } = JSON.parse(text) as { runbook: RunbookValue; prompts: Prompts }; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const runbook = buildRunbook(value);
  const holdsCredential = JSON.stringify(value).includes('[redacted:');
  return { sha256, text, runbook, prompts, fields: gateFieldsOf(runbook, prompts), holdsCredential };
}
