import { list, object, optional, text } from './shape/build-shape.ts';
import { defineMessage } from './shape/message.ts';
import type { ObjectShape, ValueOf } from './shape/shape.ts';
import { fileActions, filePath, phase, taskId } from './shape/shared-fields.ts';
import { parseJsonOrYaml, renderYaml } from './text/yaml.ts';

const sentences = (about: string) => optional(list(text), about);

export const evidenceShape = {
  kind: 'object',
  about: 'What a session can show for the phase it completed.',
  fields: {
    task_id: taskId,
    phase,
    head_sha: { kind: 'text', format: 'git-sha', expected: 'a commit hash', about: 'The commit this is about.' },
    commands: {
      about: 'What was run, and how it ended.',
      ...list(
        object({
          run: { kind: 'text', notEmpty: true, about: 'The command line.' },
          exit_code: { kind: 'number', min: 0, max: 255, whole: true, about: 'Its exit code.' },
          output_sha256: { kind: 'text', pattern: '^[0-9a-f]{64}$', about: 'SHA-256 of its output, 64 hex digits.' },
        }),
      ),
    },
    files: { about: 'What changed.', ...list(object({ path: filePath, action: fileActions })) },
    decisions: sentences('What was decided, and why.'),
    failed_approaches: sentences('What was tried and did not work.'),
    next_step: { kind: 'text', notEmpty: true, about: 'What the next session should do first.' },
  },
} as const satisfies ObjectShape;

export type EvidenceBundle = ValueOf<typeof evidenceShape>;
export const {
  parse: parseEvidenceBundle,
  validate: validateEvidenceBundle,
  schema: evidenceBundleSchema,
} = defineMessage({ title: 'Evidence bundle', shape: evidenceShape, read: parseJsonOrYaml });

export const renderEvidenceBundle: (bundle: EvidenceBundle) => string = renderYaml;
