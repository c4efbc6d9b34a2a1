import { readFile, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { ApiError } from '../api/answer.ts';
import { parseEvidenceBundle } from '../protocol/evidence.ts';

/** The rest of check 8: the bundle is there, inside the workspace after every link is followed, and is a valid one. */
export async function checkEvidence(workspace: string, ref: string): Promise<ApiError | undefined> {
  const bytes = await readInside(workspace, ref);
  if (bytes === undefined) {
    const hint = 'Write the bundle into the workspace before you send the exit signal.';
    return { code: 'evidence-not-found', message: `evidence_bundle_ref not found: '${ref}'`, hint };
  }
  const parsed = parseEvidenceBundle(bytes);
  if (parsed.ok) return undefined;
  const [{ message, hint }] = parsed.problems;
  return { code: 'invalid-evidence', message: `invalid evidence bundle: ${message}`, hint };
}

async function readInside(workspace: string, ref: string): Promise<Uint8Array | undefined> {
  try {
    const [folder, file] = await Promise.all([realpath(workspace), realpath(join(workspace, ref))]);
    return file.startsWith(folder + sep) ? await readFile(file) : undefined;
  } catch {
    return undefined;
  }
}
