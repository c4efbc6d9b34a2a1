import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentSignalShape, parseAgentSignal, renderAgentSignal } from '../../src/protocol/agent-signal.ts';
import { evidenceShape, parseEvidenceBundle, renderEvidenceBundle } from '../../src/protocol/evidence.ts';
import { exitSignalShape } from '../../src/protocol/exit-signal/exit-signal-shape.ts';
import { parseExitSignal, renderExitSignal } from '../../src/protocol/exit-signal/exit-signal.ts';
import { parseHandoff, renderHandoff } from '../../src/protocol/handoff/index.ts';
import { missionShape, parseMission, renderMission } from '../../src/protocol/mission.ts';
import type { Parsed } from '../../src/protocol/shape/problem.ts';
import { parseResult, renderResult, resultShape } from '../../src/protocol/result.ts';
import type { ObjectShape } from '../../src/protocol/shape/shape.ts';
import {
  parseStopHookInput,
  parseStopHookOutput,
  renderStopHookInput,
  renderStopHookOutput,
  stopHookBlockShape,
  stopHookInputShape,
} from '../../src/protocol/stop-hook.ts';
import { parseTaskUpdate, renderTaskUpdate, taskUpdateShape } from '../../src/protocol/task-update.ts';
import { parseThoughtRecord, renderThoughtRecord, thoughtRecordShape } from '../../src/protocol/thought-record.ts';

/** The part of a dialect that tests use, without its type, so that all dialects fit into one table. */
export interface TestedDialect {
  readonly name: string;
  readonly syntax: 'JSON' | 'YAML or JSON' | 'XML';
  /** Absent if the dialect is not declared as a shape. */
  readonly shape?: ObjectShape;
  /** Parses a text. */
  readonly parse: (input: string | Uint8Array) => Parsed<unknown>;
  /** Renders a value that `parse` returned. */
  readonly render: (value: unknown) => string;
  /** Valid messages, like files that a user could have written. */
  readonly samples: readonly Sample[];
}

interface Sample {
  readonly file: string;
  readonly text: string;
}

export const DIALECTS: readonly TestedDialect[] = [
  dialect('exit', 'JSON', exitSignalShape, parseExitSignal, renderExitSignal),
  dialect('mission', 'YAML or JSON', missionShape, parseMission, renderMission),
  dialect('result', 'YAML or JSON', resultShape, parseResult, renderResult),
  dialect('evidence', 'YAML or JSON', evidenceShape, parseEvidenceBundle, renderEvidenceBundle),
  dialect('thought', 'YAML or JSON', thoughtRecordShape, parseThoughtRecord, renderThoughtRecord),
  dialect('task-update', 'JSON', taskUpdateShape, parseTaskUpdate, renderTaskUpdate),
  dialect('handoff', 'XML', undefined, parseHandoff, renderHandoff),
  dialect('agent-signal', 'JSON', agentSignalShape, parseAgentSignal, renderAgentSignal),
  dialect('stop-hook/input', 'JSON', stopHookInputShape, parseStopHookInput, renderStopHookInput),
  dialect('stop-hook/output', 'JSON', stopHookBlockShape, parseStopHookOutput, renderStopHookOutput),
];

/** Dialects that are declared as a shape, in JSON or YAML. */
export const DECLARED_DIALECTS = DIALECTS.filter(({ shape }) => shape !== undefined);

/** Excludes hook input, whose parser accepts what others must refuse: see `parseStopHookInput`. */
export const STRICT_DIALECTS = DECLARED_DIALECTS.filter(({ name }) => name !== 'stop-hook/input');

function dialect<T>(
  name: string,
  syntax: TestedDialect['syntax'],
  shape: ObjectShape | undefined,
  parse: (input: string) => Parsed<T>,
  render: (value: T) => string,
): TestedDialect {
  return {
    name,
    syntax,
    ...(shape === undefined ? {} : { shape }),
    // Each row's render only gets the result of the same row's parse, which the table's type cannot express.
    /* oxlint-disable typescript/no-unsafe-type-assertion */
    parse: (input) => parse(input as string),
    render: (value) => render(value as T),
    /* oxlint-enable typescript/no-unsafe-type-assertion */
    samples: readSamples(name),
  };
}

function readSamples(folder: string): Sample[] {
  const root = join(import.meta.dirname, '../fixtures', folder);
  return globSync('*', { cwd: root })
    .sort()
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
}
