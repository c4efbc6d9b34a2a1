import { describe, expect, it } from 'vitest';
import { validateEvidenceBundle } from './evidence.ts';

const COMMAND = { run: 'npm test', exit_code: 0, output_sha256: 'e'.repeat(64) };
const VALID = {
  task_id: 'W-00042',
  phase: 'IMPLEMENTATION',
  head_sha: 'abc123d',
  commands: [COMMAND],
  files: [{ path: 'src/a.ts', action: 'created' }],
  next_step: 'Wait for CI',
};

describe('evidence bundle', () => {
  it.each([
    {},
    { commands: [], files: [] },
    { decisions: ['a'], failed_approaches: [] },
    { decisions: null },
    { head_sha: 'A'.repeat(64) },
    { commands: [{ ...COMMAND, exit_code: 255 }] },
  ])('accepts %j', (fields) => {
    expect(validateEvidenceBundle({ ...VALID, ...fields })).toEqual([]);
  });

  it.each(Object.keys(VALID))('requires %s', (name) => {
    expect(validateEvidenceBundle({ ...VALID, [name]: undefined })).toEqual([`Missing required field: ${name}`]);
  });

  it.each<[fields: Record<string, unknown>, error: string]>([
    [
      { phase: 'implementation' },
      'Invalid phase: implementation (expected: DRAFT, IMPLEMENTATION, CI_PENDING, READY_FOR_REVIEW, REVIEW, READY_FOR_MERGE, COMPLETED, BLOCKED)',
    ],
    [{ head_sha: 'main' }, 'Invalid head_sha: main (expected a commit hash)'],
    [{ head_sha: '' }, 'Invalid head_sha:  (expected a commit hash)'],
    [{ head_sha: 'a'.repeat(65) }, `Invalid head_sha: ${'a'.repeat(65)} (expected a commit hash)`],
    [{ head_sha: 12_345 }, 'Field head_sha must be a string'],
    [{ commands: [{ ...COMMAND, run: '' }] }, 'commands[0]: missing run'],
    [
      { commands: [{ ...COMMAND, exit_code: 256 }] },
      'Field commands[0].exit_code must be a whole number from 0 to 255',
    ],
    [{ commands: [{ ...COMMAND, exit_code: -1 }] }, 'Field commands[0].exit_code must be a whole number from 0 to 255'],
    [
      { commands: [{ ...COMMAND, exit_code: 0.5 }] },
      'Field commands[0].exit_code must be a whole number from 0 to 255',
    ],
    [{ commands: [{ ...COMMAND, output_sha256: 'E3' }] }, "commands[0]: invalid output_sha256 'E3'"],
    [{ files: [{ path: '/etc/passwd', action: 'created' }] }, 'files[0]: path must be relative'],
    [{ files: [{ path: 'a', action: 'moved' }] }, "files[0]: invalid action 'moved'"],
    [{ decisions: 'a' }, 'Field decisions must be an array'],
    [{ failed_approaches: [{}] }, 'Field failed_approaches[0] must be a string'],
    [{ next_step: '' }, 'Field next_step must not be empty'],
    [{ nextstep: 'x' }, 'Unknown field: nextstep'],
  ])('%j: %s', (fields, error) => {
    expect(validateEvidenceBundle({ ...VALID, ...fields })).toEqual([error]);
  });
});
